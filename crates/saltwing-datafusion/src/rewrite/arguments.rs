//! Arguments that DataFusion takes without a word and computes nonsense with, or refuses without a place.

use saltwing_sql::expr_span;
use saltwing_types::{Expr as OwnExpr, Value as OwnValue, ValueError, number};
use sqlparser::ast::{Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Value};

use super::tree::Result;
use crate::RelationalError;
use crate::expression::operation_function::Operations;

/// # Errors
/// A constant that a function does not take: NTH_VALUE counts from 1, LAG and LEAD take a number of rows, percentiles a share.
pub(super) fn check(call: &Function, operations: &Operations) -> Result<()> {
    let Some(name) = call.name.0.last().and_then(|part| part.as_ident()) else { return Ok(()) };
    let name = name.value.to_uppercase();
    let place = match name.as_str() {
        "PERCENTILE_CONT" | "PERCENTILE_DISC" => 0,
        "NTH_VALUE" | "LAG" | "LEAD" => 1,
        _ => return Ok(()),
    };
    let FunctionArguments::List(list) = &call.args else { return Ok(()) };
    let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))) = list.args.get(place) else { return Ok(()) };
    let Some(value) = constant(argument, operations) else { return Ok(()) };
    let refused = |text: String| Err(RelationalError::from(ValueError::BadArgument(text)).at(expr_span(argument)));
    match (name.as_str(), &value) {
        ("NTH_VALUE", OwnValue::Int(number)) if *number < 1 => {
            let refused = refused(format!("NTH_VALUE counts from 1, and {number} is no place there"));
            refused.map_err(|error: RelationalError| error.help("of the last rows: ORDER BY .. DESC"))
        }
        ("LAG" | "LEAD", OwnValue::Text(text)) => {
            refused(format!("{name} takes a number of rows, and '{text}' is none"))
        }
        ("PERCENTILE_CONT" | "PERCENTILE_DISC", share) if !is_share(share) => {
            refused(format!("{name} takes a constant from 0 to 1, and {} is none", number::to_f64(share)))
        }
        _ => Ok(()),
    }
}

/// Whether a value is a number from 0 to 1; what is no number is left to the function.
fn is_share(value: &OwnValue) -> bool {
    let is_number = matches!(value, OwnValue::Int(_) | OwnValue::Float(_) | OwnValue::Double(_) | OwnValue::Decimal(_));
    !is_number || (0.0..=1.0).contains(&number::to_f64(value))
}

/// The value that an argument is; other literals than whole numbers and texts are constants of ours already.
fn constant(argument: &Expr, operations: &Operations) -> Option<OwnValue> {
    match argument {
        Expr::Value(value) => match &value.value {
            Value::Number(text, _) => text.parse().ok().map(OwnValue::Int),
            Value::SingleQuotedString(text) => Some(OwnValue::text(text.as_str())),
            _ => None,
        },
        Expr::Function(call) => match operations.constant(&call.name.0.first()?.as_ident()?.value)? {
            OwnExpr::Literal(value, _) => Some(value.clone()),
            _ => None,
        },
        _ => None,
    }
}
