//! Arguments that DataFusion takes without a word, and computes nonsense with.

use saltwing_sql::expr_span;
use saltwing_types::{Expr as OwnExpr, Value as OwnValue, ValueError};
use sqlparser::ast::{Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Value};

use super::tree::Result;
use crate::RelationalError;
use crate::expression::operation_function::Operations;

/// NTH_VALUE counts from 1.
///
/// # Errors
/// Another place.
pub(super) fn check(call: &Function, operations: &Operations) -> Result<()> {
    let name = call.name.0.last().and_then(|part| part.as_ident());
    if !name.is_some_and(|name| name.value.eq_ignore_ascii_case("nth_value")) {
        return Ok(());
    }
    let FunctionArguments::List(list) = &call.args else { return Ok(()) };
    let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(place))) = list.args.get(1) else { return Ok(()) };
    match number(place, operations) {
        Some(number) if number < 1 => {
            let text = format!("NTH_VALUE counts from 1, and {number} is no place there");
            let error = RelationalError::from(ValueError::BadArgument(text)).at(expr_span(place));
            Err(error.help("of the last rows: ORDER BY .. DESC"))
        }
        _ => Ok(()),
    }
}

/// The number that an argument is; one with a sign is a constant of ours already.
fn number(argument: &Expr, operations: &Operations) -> Option<i64> {
    match argument {
        Expr::Value(value) => match &value.value {
            Value::Number(text, _) => text.parse().ok(),
            _ => None,
        },
        Expr::Function(call) => match operations.constant(&call.name.0.first()?.as_ident()?.value)? {
            OwnExpr::Literal(OwnValue::Int(number), _) => Some(*number),
            _ => None,
        },
        _ => None,
    }
}
