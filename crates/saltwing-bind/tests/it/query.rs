//! Queries and the trees that they are bound to: `testdata/*.txt`. `UPDATE_GOLDEN=1` rewrites the outcomes.
//!
//! A case is a statement: a CREATE TABLE, whose table later queries of the file name, or a query. The outcome of a query is its tree,
//! or the error with its place.

use std::cell::RefCell;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_bind::{BindError, Params, create_table, query};
use saltwing_catalog::{CatalogError, CatalogReader};
use saltwing_sql::Statement;
use saltwing_types::table::is_same_name;
use saltwing_types::{SequenceDef, ViewDef};

use crate::engine::TestEngine;

/// Tables alone.
#[derive(Default)]
struct Tables(Vec<Arc<Table>>);

impl CatalogReader for Tables {
    fn version(&self) -> u64 {
        1
    }

    fn resolve(&self, schema: Option<&str>, name: &str) -> Result<Arc<Table>, CatalogError> {
        let is_it = |table: &&Arc<Table>| {
            let def = &table.def().name;
            is_same_name(&def.name, name)
                && def.schema.as_deref().map(str::to_lowercase) == schema.map(str::to_lowercase)
        };
        let missing = || CatalogError::NoSuchTable { name: name.to_owned(), nearest: None };
        self.0.iter().find(is_it).cloned().ok_or_else(missing)
    }

    fn has_schema(&self, schema: &str) -> bool {
        self.0.iter().any(|table| table.def().name.schema.as_deref() == Some(schema))
    }

    fn tables(&self) -> Vec<Arc<Table>> {
        self.0.clone()
    }

    fn sequence(&self, _: Option<&str>, name: &str) -> Result<Arc<SequenceDef>, CatalogError> {
        Err(CatalogError::NoSuchSequence { name: name.to_owned(), nearest: None })
    }

    fn sequences(&self) -> Vec<Arc<SequenceDef>> {
        Vec::new()
    }

    fn view(&self, _: Option<&str>, _: &str) -> Option<Arc<ViewDef>> {
        None
    }

    fn views(&self) -> Vec<Arc<ViewDef>> {
        Vec::new()
    }

    fn has_views(&self) -> bool {
        false
    }

    fn schemas(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The tree of a query, or its error; of a CREATE TABLE nothing.
fn outcome(sql: &str, tables: &RefCell<Tables>) -> String {
    let parsed = saltwing_sql::parse_one(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    match parsed.statement {
        Statement::CreateTable(create) => {
            let def = create_table(&create, None).unwrap().def;
            tables.borrow_mut().0.push(Arc::new(Table::new(Arc::new(def)).unwrap()));
            String::new()
        }
        Statement::Query(statement) => {
            let params = if parsed.parameters.is_empty() { Params::Given(&[]) } else { Params::Later };
            match query(&statement, &*tables.borrow(), &TestEngine, params) {
                Ok(bound) => bound.to_string(),
                Err(error) => error_text(sql, &error),
            }
        }
        _ => panic!("neither a table nor a query: {sql}"),
    }
}

fn error_text(sql: &str, error: &BindError) -> String {
    let mut text = format!("{} {error}\n", error.code().sqlstate());
    if let Some(span) = error.span {
        writeln!(text, "{}", saltwing_sql::render_caret(sql, span)).unwrap();
    }
    if let Some(help) = &error.help {
        writeln!(text, "help: {help}").unwrap();
    }
    text
}

#[test]
fn queries_are_bound_as_written() {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    golden_files::assert_files(&testdata, |_, text| {
        let tables = RefCell::default();
        golden_files::with_outcomes(text, |sql| outcome(sql, &tables))
    });
}
