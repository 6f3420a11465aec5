//! SPLIT ON: the keys at which scans of a table are divided.

use saltwing_rowkey::RowKeyCodec;
use saltwing_types::table::{SPLIT_KEYS, SPLIT_ON, TableOption};
use saltwing_types::{Expr, TableDef, Value, eval, number, text};
use sqlparser::ast;

use crate::error::{BindError, BindErrorKind, Result, invalid};
use crate::lower::{Lowerer, Params};
use crate::scope::Scope;

/// Notes the points of SPLIT ON: as they are written, and the keys that they are. A point is a value of the first key column, or
/// a list in brackets with values of the first ones.
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
        let values = point_values(def, point)?;
        let range = codec.prefix_range(&values).map_err(|error| place(invalid(error.to_string())))?;
        let Some(range) = range else { return Err(place(invalid("no row can have this split point"))) };
        if keys.last().is_some_and(|last| range.start() <= last.as_slice()) || range.start().is_empty() {
            let error = place(invalid(format!("split point {point} does not come behind the one before it")));
            return Err(error.help("split points ascend as keys do: those of a DESC column descend"));
        }
        keys.push(range.start().to_vec());
    }
    let written: Vec<String> = points.iter().map(ToString::to_string).collect();
    let hex: Vec<String> = keys.iter().map(|key| text::hex(key)).collect();
    let option = |name: &str, value: String| TableOption { name: name.into(), value: value.into(), honoured: true };
    def.options.push(option(SPLIT_ON, format!("({})", written.join(", "))));
    def.options.push(option(SPLIT_KEYS, hex.join(",")));
    Ok(())
}

/// The values of a split point, each of its key column's type.
fn point_values(def: &TableDef, point: &ast::Expr) -> Result<Vec<Value>> {
    let parts = match point {
        ast::Expr::Tuple(parts) => parts.as_slice(),
        one => std::slice::from_ref(one),
    };
    if parts.len() > def.key.columns.len() {
        let text = format!("split point {point} has more values than the key has columns");
        return Err(invalid(text).at(saltwing_sql::expr_span(point)));
    }
    let scope = Scope::empty();
    let lowerer =
        Lowerer { scope: &scope, params: Params::Given(&[]), subqueries: &[], operands: &[], collector: None };
    let value = |(part, key): (&ast::Expr, &saltwing_types::KeyColumn)| {
        let place = |error: BindError| error.at(saltwing_sql::expr_span(part));
        let lowered: Expr = lowerer.lower(part).map_err(|error| place(error.into_error()))?;
        let wrong = |source| place(BindErrorKind::Value { column: Some(key.name.clone()), source }.into());
        let value = eval::eval(&lowered, &[]).and_then(|value| number::assign(value, key.ty)).map_err(wrong)?;
        if value.is_null() { Err(place(invalid("a split point is not NULL"))) } else { Ok(value) }
    };
    parts.iter().zip(&def.key.columns).map(value).collect()
}
