//! Columns whose values are the times of rows: `ROW_TIMESTAMP` in a key, and the option `TTL_COLUMN`.

use saltwing_sql::statement::{CreateTable, OptionSpec, OptionValue};
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::table::{ColumnMatch, ROW_TIMESTAMP, TTL_COLUMN, TableOption, is_same_name};
use saltwing_types::{Span, SqlType, TableDef, Value};
use sqlparser::ast::Expr;

use crate::error::{BindError, BindErrorKind, Result, invalid};

/// What a column of times may be.
const TYPES: &str = "it is a DATE, TIME or TIMESTAMP, or milliseconds since 1970 as BIGINT or UNSIGNED_LONG";

/// Notes the column of times that a statement declares.
///
/// # Errors
/// A column of another type, or none; several.
pub(crate) fn set_time_column(
    def: &mut TableDef,
    statement: &CreateTable,
    ttl_column: Option<(String, Span)>,
) -> Result<()> {
    let row_timestamp = row_timestamp(def, statement)?;
    if let Some((column, span)) = row_timestamp {
        note(def, ROW_TIMESTAMP, column, span)?;
    }
    let Some((name, span)) = ttl_column else { return Ok(()) };
    let (family, bare) = match name.split_once('.') {
        Some((family, bare)) => (Some(family), bare),
        None => (None, name.as_str()),
    };
    let ColumnMatch::One(column) = def.find_column(family, bare) else {
        let error = BindErrorKind::NoSuchColumn { table: def.name.to_string(), column: name };
        return Err(BindError::from(error).at(Some(span)));
    };
    match row_timestamp {
        Some((other, _)) if other != column => {
            Err(invalid("TTL counts from the ROW_TIMESTAMP of a table that has one").at(Some(span)))
        }
        Some(_) => Ok(()),
        None => note(def, TTL_COLUMN, column, span),
    }
}

/// The name that the option TTL_COLUMN has as its value.
///
/// # Errors
/// A value that is no name.
pub(crate) fn column_text(spec: &OptionSpec) -> Result<String> {
    match &spec.value {
        OptionValue::Word(text) | OptionValue::Text(text) => Ok(text.clone()),
        _ => Err(invalid("TTL_COLUMN is the name of a column").at(Some(spec.value_span))),
    }
}

/// The key column that is declared as ROW_TIMESTAMP, by index.
fn row_timestamp(def: &TableDef, statement: &CreateTable) -> Result<Option<(usize, Span)>> {
    let inline = statement.columns.iter().filter_map(|column| {
        let key = column.primary_key.filter(|key| key.is_row_timestamp)?;
        Some((Some(column.name.name.text.as_str()), key.span))
    });
    let parts = statement.primary_key.iter().flat_map(|key| &key.parts).filter(|part| part.is_row_timestamp);
    let named = parts.map(|part| match &part.expr {
        Expr::Identifier(name) => (Some(name.value.as_str()), part.span),
        _ => (None, part.span),
    });
    let mut found = None;
    for (name, span) in inline.chain(named) {
        let is_named = |key: &&str| def.key.columns.iter().any(|k| k.column().is_some() && is_same_name(&k.name, key));
        let Some(name) = name.filter(is_named) else {
            return Err(invalid("ROW_TIMESTAMP is said of a column").at(Some(span)));
        };
        if found.is_some() {
            return Err(invalid("one column of a key is ROW_TIMESTAMP").at(Some(span)).phoenix(530));
        }
        found = def.column_index(name).map(|column| (column, span));
    }
    Ok(found)
}

fn note(def: &mut TableDef, option: &str, column: usize, span: Span) -> Result<()> {
    let Some(column) = def.columns.get(column) else { return Ok(()) };
    let is_time =
        column.ty.family() == TypeFamily::Instant || matches!(column.ty, SqlType::BigInt | SqlType::UnsignedLong);
    if !is_time {
        let text = format!("{} is {}, and {option} takes no such column", column.name, column.ty);
        return Err(invalid(text).at(Some(span)).help(TYPES).phoenix(530));
    }
    let value = Value::Text(def.path(column));
    def.options.push(TableOption { name: option.to_owned(), value, honoured: true });
    Ok(())
}

/// The option keeps up with another name of its column.
pub(crate) fn rename_time_column(def: &mut TableDef, before: &TableDef) {
    let Some(time) = before.time_column() else { return };
    let Some(path) = def.columns.get(time.column).map(|column| def.path(column)) else { return };
    let name = if time.is_row_timestamp { ROW_TIMESTAMP } else { TTL_COLUMN };
    if let Some(option) = def.options.iter_mut().find(|option| option.name == name) {
        option.value = Value::Text(path);
    }
}
