//! SPLIT ON: the keys at which scans of a table are divided.

use saltwing_rowkey::RowKeyCodec;
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::table::{SPLIT_KEYS, SPLIT_ON, TableOption};
use saltwing_types::{Expr, KeyColumn, TableDef, Value, ValueError, eval, number, text};
use sqlparser::ast;

use crate::error::{BindError, BindErrorKind, Result, invalid};
use crate::lower::{Lowerer, Params};
use crate::scope::Scope;

/// Notes the points of SPLIT ON: as they are written, and the keys that they are. A point is a value of the first key column, a list
/// in brackets with values of the first ones, or the bytes of a row key, as Phoenix takes them.
///
/// # Errors
/// A salted table; a value of another type; points that do not ascend as keys do.
pub(crate) fn set_split_points(def: &mut TableDef, codec: &RowKeyCodec, points: &[ast::Expr]) -> Result<()> {
    let Some(first) = points.first() else { return Ok(()) };
    if def.key.salt.is_some() {
        let error = invalid("SPLIT ON of a salted table: its buckets divide it").at(saltwing_sql::expr_span(first));
        return Err(error.phoenix(1022));
    }
    let mut keys: Vec<Vec<u8>> = Vec::with_capacity(points.len());
    for point in points {
        let place = |error: BindError| error.at(saltwing_sql::expr_span(point));
        let key = point_key(def, codec, point)?;
        if keys.last().is_some_and(|last| key <= *last) || key.is_empty() {
            let error = place(invalid(format!("split point {point} does not come behind the one before it")));
            return Err(error.help("split points ascend as keys do: those of a DESC column descend"));
        }
        keys.push(key);
    }
    let written: Vec<String> = points.iter().map(ToString::to_string).collect();
    let hex: Vec<String> = keys.iter().map(|key| text::hex(key)).collect();
    let option = |name: &str, value: String| TableOption { name: name.into(), value: value.into(), honoured: true };
    def.options.push(option(SPLIT_ON, format!("({})", written.join(", "))));
    def.options.push(option(SPLIT_KEYS, hex.join(",")));
    Ok(())
}

/// The first key that is not before a split point.
fn point_key(def: &TableDef, codec: &RowKeyCodec, point: &ast::Expr) -> Result<Vec<u8>> {
    let parts = match point {
        ast::Expr::Tuple(parts) => parts.as_slice(),
        one => std::slice::from_ref(one),
    };
    if parts.len() > def.key.columns.len() {
        let text = format!("split point {point} has more values than the key has columns");
        return Err(invalid(text).at(saltwing_sql::expr_span(point)));
    }
    let place = |error: BindError| error.at(saltwing_sql::expr_span(point));
    let mut values = Vec::with_capacity(parts.len());
    for (part, column) in parts.iter().zip(&def.key.columns) {
        match constant(part, column)? {
            Value::Bytes(key) if parts.len() == 1 && column.ty.family() != TypeFamily::Bytes => return Ok(key),
            value => values.push(assigned(value, part, column)?),
        }
    }
    let range = codec.prefix_range(&values).map_err(|error| place(invalid(error.to_string())))?;
    match range {
        Some(range) => Ok(range.start().to_vec()),
        None => Err(place(invalid("no row can have this split point"))),
    }
}

/// The value of a part of a split point.
fn constant(part: &ast::Expr, column: &KeyColumn) -> Result<Value> {
    let scope = Scope::empty();
    let lowerer = Lowerer::new(&scope, Params::NONE);
    let lowered: Expr = lowerer.lower(part).map_err(|error| error.into_error().at(saltwing_sql::expr_span(part)))?;
    eval::eval(&lowered, &[]).map_err(|source| wrong(source, part, column))
}

/// A value as one of its key column.
fn assigned(value: Value, part: &ast::Expr, column: &KeyColumn) -> Result<Value> {
    match number::assign(value, column.ty).map_err(|source| wrong(source, part, column))? {
        Value::Null => Err(invalid("a split point is not NULL").at(saltwing_sql::expr_span(part))),
        value => Ok(value),
    }
}

fn wrong(source: ValueError, part: &ast::Expr, column: &KeyColumn) -> BindError {
    let error: BindError = BindErrorKind::Value { column: Some(column.name.clone()), source }.into();
    error.at(saltwing_sql::expr_span(part))
}
