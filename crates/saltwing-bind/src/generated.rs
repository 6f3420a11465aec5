//! Generated columns: their definitions, and what statements may not do with them.
//!
//! A definition has the text of an expression, as a CHECK constraint has the text of a condition. A statement that writes
//! into such a table lowers it.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_sql::is_default;
use saltwing_sql::statement::{ColumnSpec, DefaultSpec};
use saltwing_types::table::{DefaultDef, DefaultKind};
use saltwing_types::{ColumnDef, Expr, Span, SqlType, TableDef};
use sqlparser::ast;

use crate::check::row_expr;
use crate::computed::expr_of;
use crate::error::{BindError, BindErrorKind, Result, invalid};
use crate::scope::table_of;

const PLACE: &str = "a generated column";

/// A generated column whose expression is ready.
#[derive(Debug)]
pub(crate) struct GeneratedColumn {
    /// Its index.
    pub(crate) index: usize,
    /// Its type.
    pub(crate) ty: SqlType,
    /// Its value over the table's other columns.
    pub(crate) value: Expr,
}

/// The definition of a generated column; [`check_generated`] checks it when all columns are known.
pub(crate) fn generated_default(generated: &DefaultSpec) -> DefaultDef {
    DefaultDef { text: generated.text.clone(), expr: Expr::NULL, kind: DefaultKind::Generated }
}

/// The generated columns of a table, made ready.
///
/// # Errors
/// A text that is no expression, which no statement causes.
pub(crate) fn generated_columns(table: &Arc<Table>) -> Result<Vec<GeneratedColumn>> {
    let columns = table.def().columns.iter().enumerate();
    let generated = columns.filter_map(|(index, column)| Some((index, column.ty, column.generated()?)));
    let ready = |(index, ty, text): (usize, SqlType, &str)| {
        Ok(GeneratedColumn { index, ty, value: row_expr(&expr_of(text)?, table, PLACE)? })
    };
    generated.map(ready).collect()
}

/// Checks the generated columns of a new definition.
///
/// # Errors
/// An expression that is none, of another type, or that reads another generated column; a key column.
pub(crate) fn check_generated(def: &TableDef, specs: &[ColumnSpec]) -> Result<()> {
    if !def.columns.iter().any(|column| column.generated().is_some()) {
        return Ok(());
    }
    let table = table_of(def.clone())?;
    for (index, spec) in specs.iter().enumerate() {
        let (Some(generated), Some(column)) = (&spec.generated, def.columns.get(index)) else { continue };
        let place = |error: BindError| error.at(Some(generated.span));
        if spec.default.is_some() {
            return Err(place(invalid(format!("{} has both a DEFAULT and an expression", column.name))));
        }
        if def.key.position(index).is_some() {
            let text = format!("{} is a key column, which cannot be generated", column.name);
            let help = "PRIMARY KEY takes expressions: PRIMARY KEY (LEFT(MD5(k), 2), k)";
            return Err(place(invalid(text)).help(help));
        }
        check_expression(column, &generated.expr, &table).map_err(place)?;
    }
    Ok(())
}

/// Checks the generated column at `index`.
///
/// # Errors
/// As [`check_generated`].
pub(crate) fn check_generated_column(def: &TableDef, index: usize) -> Result<()> {
    let Some((column, text)) = def.columns.get(index).and_then(|column| Some((column, column.generated()?))) else {
        return Ok(());
    };
    check_expression(column, &expr_of(text)?, &table_of(def.clone())?)
}

fn check_expression(column: &ColumnDef, expr: &ast::Expr, table: &Arc<Table>) -> Result<()> {
    let value = row_expr(expr, table, PLACE)?;
    let other = value.columns().into_iter().filter_map(|input| table.def().columns.get(input));
    if let Some(other) = other.into_iter().find(|input| input.generated().is_some()) {
        let text = format!("{} is generated, and {} cannot be computed from it", other.name, column.name);
        return Err(invalid(text).help("name the columns that it is computed from"));
    }
    let ty = value.sql_type().unwrap_or(SqlType::Null);
    if !is_assignable(ty, column.ty) {
        let text = format!("{} is {}, and its expression is {ty}", column.name, column.ty);
        return Err(invalid(text).help(format!("CAST(.. AS {})", column.ty)));
    }
    Ok(())
}

/// Whether values of a type can be values of a column of another one; texts are read.
fn is_assignable(from: SqlType, to: SqlType) -> bool {
    from.compares_with(SqlType::Varchar(None)) || from.compares_with(to)
}

/// The generated columns, by index, that are computed from one of these columns and are not among them.
pub(crate) fn generated_from(table: &Arc<Table>, columns: &[usize]) -> Result<Vec<usize>> {
    let reads_one = |column: &GeneratedColumn| column.value.columns().iter().any(|input| columns.contains(input));
    let generated = if table.has_generated() { generated_columns(table)? } else { Vec::new() };
    let found = generated.into_iter().filter(reads_one).map(|column| column.index);
    Ok(found.filter(|index| !columns.contains(index)).collect())
}

/// # Errors
/// The statement gives a generated column a value.
pub(crate) fn check_not_generated(def: &TableDef, columns: &[usize], span: Option<Span>) -> Result<()> {
    let generated = columns.iter().filter_map(|&column| def.columns.get(column));
    match generated.into_iter().find(|column| column.generated().is_some()) {
        Some(column) => Err(written(def, column, span)),
        None => Ok(()),
    }
}

/// Whether a value for a column is the DEFAULT of a generated column, which takes no other one.
///
/// # Errors
/// Another value for a generated column.
pub(crate) fn is_generated(def: &TableDef, column: &ColumnDef, value: &ast::Expr) -> Result<bool> {
    match (column.generated().is_some(), is_default(value)) {
        (true, false) => Err(written(def, column, saltwing_sql::expr_span(value))),
        (is_generated, _) => Ok(is_generated),
    }
}

fn written(def: &TableDef, column: &ColumnDef, span: Option<Span>) -> BindError {
    let text = format!("{}.{} is generated: its values are computed from other columns", def.name, column.name);
    BindError::from(BindErrorKind::GeneratedColumn(text)).at(span).help("leave it out, or give it DEFAULT")
}
