//! CREATE TABLE AS: the columns of a query as those of a table.

use std::ops::ControlFlow;

use saltwing_catalog::CatalogReader;
use saltwing_sql::statement::{ColumnSpec, CreateTable, CreateTableAs};
use saltwing_sql::{ColumnName, Name, quote_name};
use saltwing_types::SqlType;
use saltwing_types::table::is_same_name;
use sqlparser::ast::visit_relations;

use crate::error::{BindError, BindErrorKind, Result};
use crate::lookups::Lookups;
use crate::output::ResultColumn;

/// The CREATE TABLE of a table for the rows of a query that gives these columns.
///
/// `advice` names the columns that would serve as the key, if the caller knows them.
///
/// # Errors
/// More names than columns, a column without a type, no primary key: the error then names columns that would serve.
pub fn create_table_as(
    statement: &CreateTableAs,
    given: &[ResultColumn],
    catalog: &dyn CatalogReader,
    advice: Option<&str>,
) -> Result<CreateTable> {
    let CreateTableAs { table, names, query } = statement;
    if let Some(name) = names.get(given.len()) {
        let error = BindErrorKind::Syntax(format!("the query gives {} columns, and this is one more", given.len()));
        return Err(BindError::from(error).at(Some(name.span)));
    }
    let mut table = table.clone();
    for (place, column) in given.iter().enumerate() {
        let label = || Name { text: column.label.clone(), quoted: true, span: query.span };
        let name = names.get(place).cloned().unwrap_or_else(label);
        if column.ty == SqlType::Null {
            let error = BindErrorKind::InvalidDefinition(format!("column {name} of the query has no type"));
            return Err(BindError::from(error).at(Some(name.span)).help("give it one: CAST(NULL AS VARCHAR)"));
        }
        let span = name.span;
        let name = ColumnName { family: None, name };
        table.columns.push(ColumnSpec::new(name, column.ty, span));
    }
    if table.primary_key.is_none() {
        let error = BindErrorKind::InvalidDefinition("the table needs a primary key".into());
        let advice = match advice {
            Some(advice) => advice.to_owned(),
            None => key_advice(&table, statement, given, catalog)?,
        };
        return Err(BindError::from(error).at(Some(table.table.span())).help(advice));
    }
    Ok(table)
}

/// The key of a table of the query if it is selected, else the columns that are never NULL.
fn key_advice(
    table: &CreateTable,
    statement: &CreateTableAs,
    given: &[ResultColumn],
    catalog: &dyn CatalogReader,
) -> Result<String> {
    let lookups = Lookups::new(catalog);
    let listed = |names: Vec<&str>| names.into_iter().map(quote_name).collect::<Vec<_>>().join(", ");
    let mut advice = None;
    let _ = visit_relations(&statement.query.query, |name| {
        let parts: Vec<&str> = name.0.iter().filter_map(|part| part.as_ident()).map(|it| it.value.as_str()).collect();
        let source = match parts.as_slice() {
            [name] => lookups.table(None, name),
            [schema, name] => lookups.table(Some(schema), name),
            _ => return ControlFlow::Continue(()),
        };
        let Some(source) = source else { return ControlFlow::Continue(()) };
        let keys = source.def().key.columns.iter().filter(|key| key.column().is_some());
        let keys: Vec<&str> = keys.map(|key| key.name.as_str()).collect();
        let is_selected = |key: &&str| given.iter().any(|column| is_same_name(&column.label, key));
        if keys.is_empty() || !keys.iter().all(is_selected) {
            return ControlFlow::Continue(());
        }
        let place = |key: &str| given.iter().position(|column| is_same_name(&column.label, key));
        let own = keys.iter().filter_map(|key| Some(table.columns.get(place(key)?)?.name.name.text.as_str()));
        advice = Some(format!("PRIMARY KEY ({}) is the key of {}", listed(own.collect()), source.def().name));
        ControlFlow::Break(())
    });
    let never_null = || {
        let columns = table.columns.iter().zip(given).filter(|(_, column)| !column.nullable);
        let names: Vec<&str> = columns.map(|(spec, _)| spec.name.name.text.as_str()).collect();
        match names.is_empty() {
            true => "PRIMARY KEY (column, ..) before AS; each column of the query may be NULL".to_owned(),
            false => format!("PRIMARY KEY (column, ..) before AS; these are never NULL: {}", listed(names)),
        }
    };
    lookups.finish()?;
    Ok(advice.unwrap_or_else(never_null))
}
