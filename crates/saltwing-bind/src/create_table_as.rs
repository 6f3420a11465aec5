//! CREATE TABLE AS: the columns of a query as those of a table.

use saltwing_sql::statement::{ColumnSpec, CreateTable, CreateTableAs};
use saltwing_sql::{ColumnName, Name};
use saltwing_types::SqlType;

use crate::error::{BindError, BindErrorKind, Result};
use crate::output::ResultColumn;

/// The CREATE TABLE of a table for the rows of a query that gives these columns. Without a primary key it has a hidden one.
///
/// # Errors
/// More names than columns, a column without a type.
pub fn create_table_as(statement: &CreateTableAs, given: &[ResultColumn]) -> Result<CreateTable> {
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
    Ok(table)
}
