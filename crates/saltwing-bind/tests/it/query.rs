//! Queries and the trees that they are bound to: `testdata/*.txt`. `UPDATE_GOLDEN=1` rewrites the outcomes.
//!
//! A case is a statement: a CREATE TABLE or CREATE VIEW, whose table or view later statements of the file name, a query, or a write. The
//! outcome of a query is its tree, or the error with its place; that of a CREATE VIEW is the query that is stored; that of a write is what it
//! writes, and the trees of its queries.

use std::cell::RefCell;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_bind::{BindError, Params, create_table, create_view, query};
use saltwing_catalog::{CatalogError, CatalogReader};
use saltwing_sql::Statement;
use saltwing_sql::statement::CreateView;
use saltwing_types::table::is_same_name;
use saltwing_types::{SequenceDef, TableName, ViewDef};

use crate::engine::TestEngine;
use crate::write::written;

/// Tables and views.
#[derive(Default)]
struct Definitions {
    tables: Vec<Arc<Table>>,
    views: Vec<Arc<ViewDef>>,
}

fn is_named(name: &TableName, schema: Option<&str>, wanted: &str) -> bool {
    is_same_name(&name.name, wanted) && name.schema.as_deref().map(str::to_lowercase) == schema.map(str::to_lowercase)
}

impl CatalogReader for Definitions {
    fn version(&self) -> u64 {
        1
    }

    fn resolve(&self, schema: Option<&str>, name: &str) -> Result<Arc<Table>, CatalogError> {
        let missing = || CatalogError::NoSuchTable { name: name.to_owned(), nearest: None };
        let found = self.tables.iter().find(|table| is_named(&table.def().name, schema, name));
        found.cloned().ok_or_else(missing)
    }

    fn has_schema(&self, schema: &str) -> bool {
        self.tables.iter().any(|table| table.def().name.schema.as_deref() == Some(schema))
    }

    fn tables(&self) -> Vec<Arc<Table>> {
        self.tables.clone()
    }

    fn sequence(&self, _: Option<&str>, name: &str) -> Result<Arc<SequenceDef>, CatalogError> {
        Err(CatalogError::NoSuchSequence { name: name.to_owned(), nearest: None })
    }

    fn sequences(&self) -> Vec<Arc<SequenceDef>> {
        Vec::new()
    }

    fn view(&self, schema: Option<&str>, name: &str) -> Option<Arc<ViewDef>> {
        self.views.iter().find(|view| is_named(&view.name, schema, name)).cloned()
    }

    fn views(&self) -> Vec<Arc<ViewDef>> {
        self.views.clone()
    }

    fn has_views(&self) -> bool {
        !self.views.is_empty()
    }

    fn schemas(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The definition of a new view.
fn view(create: &CreateView, catalog: &Definitions) -> Result<ViewDef, BindError> {
    let view = create_view(create, catalog)?;
    let columns = query(&view.query, catalog, &TestEngine, Params::OPEN)?.query.columns();
    view.into_def(create, &columns)
}

/// The tree of a query, or its error; the query of a view that is created; of a CREATE TABLE nothing.
fn outcome(sql: &str, catalog: &RefCell<Definitions>) -> String {
    let parsed = match saltwing_sql::parse_one(sql) {
        Ok(parsed) => parsed,
        Err(error) => return error_text(sql, &error.into()),
    };
    match parsed.statement {
        Statement::CreateTable(create) => {
            let def = create_table(&create, None).unwrap().def;
            catalog.borrow_mut().tables.push(Arc::new(Table::new(Arc::new(def)).unwrap()));
            String::new()
        }
        Statement::CreateView(create) => {
            let made = view(&create, &catalog.borrow());
            match made {
                Ok(view) => {
                    let text = view.query.clone();
                    catalog.borrow_mut().views.push(Arc::new(view));
                    text
                }
                Err(error) => error_text(sql, &error),
            }
        }
        Statement::Query(statement) => {
            let params = if parsed.parameters.is_empty() { Params::NONE } else { Params::Later(&[]) };
            match query(&statement, &*catalog.borrow(), &TestEngine, params) {
                Ok(bound) => bound.to_string(),
                Err(error) => error_text(sql, &error),
            }
        }
        write => {
            let params = if parsed.parameters.is_empty() { Params::NONE } else { Params::OPEN };
            written(&write, &*catalog.borrow(), params).unwrap_or_else(|error| error_text(sql, &error))
        }
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
        let catalog = RefCell::default();
        golden_files::with_outcomes(text, |sql| outcome(sql, &catalog))
    });
}
