//! Queries and the trees that they are bound to: `testdata/*.txt`. `UPDATE_GOLDEN=1` rewrites the outcomes.
//!
//! The trees of `decorrelated.txt` are those after decorrelation.
//!
//! A case is a statement: a CREATE TABLE or CREATE VIEW, whose table or view later statements of the file name, a query, or a write. The
//! outcome of a query is its tree, or the error with its place; that of a CREATE VIEW is the query that is stored, with
//! what it uses; that of a write is what it
//! writes, and the trees of its queries.

use std::cell::RefCell;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_bind::{BindError, Params, create_table, create_view, query};
use saltwing_catalog::{CatalogError, CatalogReader, PUBLIC_SCHEMA};
use saltwing_sql::Statement;
use saltwing_sql::statement::CreateView;
use saltwing_types::table::is_same_name;
use saltwing_types::{SchemaDef, SequenceDef, TableName, UserDef, ViewDef};

use crate::engine::TestEngine;
use crate::write::written;

/// Tables and views.
#[derive(Default)]
struct Definitions {
    tables: Vec<Arc<Table>>,
    views: Vec<Arc<ViewDef>>,
}

/// These definitions have no schema `public` of their own.
fn canonical(schema: &str) -> &str {
    if is_same_name(schema, PUBLIC_SCHEMA) { "" } else { schema }
}

fn is_named(name: &TableName, schema: Option<&str>, wanted: &str) -> bool {
    let schema = canonical(schema.unwrap_or_default());
    is_same_name(&name.name, wanted) && is_same_name(name.schema.as_deref().unwrap_or_default(), schema)
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

    fn canonical_schema<'s>(&self, schema: &'s str) -> Result<&'s str, CatalogError> {
        Ok(canonical(schema))
    }

    fn has_schema(&self, schema: &str) -> Result<bool, CatalogError> {
        Ok(self.tables.iter().any(|table| table.def().name.schema.as_deref() == Some(schema)))
    }

    fn tables(&self) -> Result<Vec<Arc<Table>>, CatalogError> {
        Ok(self.tables.clone())
    }

    fn sequence(&self, _: Option<&str>, name: &str) -> Result<Arc<SequenceDef>, CatalogError> {
        Err(CatalogError::NoSuchSequence { name: name.to_owned(), nearest: None })
    }

    fn sequences(&self) -> Result<Vec<Arc<SequenceDef>>, CatalogError> {
        Ok(Vec::new())
    }

    fn view(&self, schema: Option<&str>, name: &str) -> Result<Option<Arc<ViewDef>>, CatalogError> {
        Ok(self.views.iter().find(|view| is_named(&view.name, schema, name)).cloned())
    }

    fn views(&self) -> Result<Vec<Arc<ViewDef>>, CatalogError> {
        Ok(self.views.clone())
    }

    fn has_views(&self) -> bool {
        !self.views.is_empty()
    }

    fn schemas(&self) -> Result<Vec<Arc<SchemaDef>>, CatalogError> {
        Ok(Vec::new())
    }

    fn user(&self, _: &str) -> Result<Option<Arc<UserDef>>, CatalogError> {
        Ok(None)
    }

    fn users(&self) -> Result<Vec<Arc<UserDef>>, CatalogError> {
        Ok(Vec::new())
    }

    fn user_secret(&self) -> Result<Option<[u8; 32]>, CatalogError> {
        Ok(None)
    }
}

/// The definition of a new view.
fn view(create: &CreateView, catalog: &Definitions) -> Result<ViewDef, BindError> {
    let view = create_view(create, catalog, &TestEngine)?;
    let columns = query(&view.query, catalog, &TestEngine, Params::OPEN)?.query.columns();
    view.into_def(create, &columns)
}

/// The tree of a query, or its error; the query of a view that is created; of a CREATE TABLE nothing.
fn outcome(sql: &str, catalog: &RefCell<Definitions>, is_decorrelated: bool) -> String {
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
                    let text = definition_text(&view);
                    catalog.borrow_mut().views.push(Arc::new(view));
                    text
                }
                Err(error) => error_text(sql, &error),
            }
        }
        Statement::Query(statement) => {
            let params = if parsed.parameters.is_empty() { Params::NONE } else { Params::Later(&[]) };
            match query(&statement, &*catalog.borrow(), &TestEngine, params) {
                Ok(bound) if is_decorrelated => match bound.query.decorrelated() {
                    Ok(query) => query.to_string(),
                    Err(error) => error_text(sql, &error),
                },
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

/// The query of a view, and what it uses.
fn definition_text(view: &ViewDef) -> String {
    let mut text = format!("{}\n", view.query);
    for used in &view.uses {
        writeln!(text, "uses {} ({})", used.name, used.columns.join(", ")).unwrap();
    }
    text
}

fn error_text(sql: &str, error: &BindError) -> String {
    let mut text = format!("{} {error}\n", error.code().sqlstate());
    let span = error.span.unwrap_or_else(|| panic!("an error without a place: {sql}: {error}"));
    writeln!(text, "{}", saltwing_sql::render_caret(sql, span)).unwrap();
    if let Some(help) = &error.help {
        writeln!(text, "help: {help}").unwrap();
    }
    text
}

#[test]
fn queries_are_bound_as_written() {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    golden_files::assert_files(&testdata, |path, text| {
        let (catalog, is_decorrelated) = (RefCell::default(), path.ends_with("decorrelated.txt"));
        golden_files::with_outcomes(text, |sql| outcome(sql, &catalog, is_decorrelated))
    });
}

/// Each LATERAL copies those before it.
#[test]
fn copies_of_outer_queries_have_a_limit() {
    let catalog = RefCell::default();
    outcome("CREATE TABLE t (k INTEGER PRIMARY KEY)", &catalog, true);
    let lateral = |place: usize| {
        let before = if place == 0 { "t".to_owned() } else { format!("x{}", place - 1) };
        format!(", LATERAL (SELECT t.k FROM t WHERE t.k > {before}.k ORDER BY t.k LIMIT 1) AS x{place}")
    };
    let nested = |levels: usize| {
        let laterals: String = (0..levels).map(lateral).collect();
        outcome(&format!("SELECT t.k FROM t{laterals}"), &catalog, true)
    };
    assert!(nested(8).contains("ROW_NUMBER()"), "{}", nested(8));
    assert!(nested(40).starts_with("54000 correlated subqueries"), "{}", nested(40));
}
