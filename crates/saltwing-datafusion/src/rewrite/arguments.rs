//! Arguments that DataFusion takes without a word and computes nonsense with, or refuses without a place.

use std::ops::ControlFlow;

use saltwing_sql::expr_span;
use saltwing_types::{Expr as OwnExpr, Value as OwnValue, ValueError, number};
use sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Value,
    visit_expressions,
};

use super::tree::Result;
use crate::expression::operation_function::Operations;
use crate::{RelationalError, RelationalErrorKind};

/// # Errors
/// A star that does not count rows, and a constant that a function does not take: NTH_VALUE counts from 1, LAG and LEAD take a number of
/// rows, percentiles a share.
pub(super) fn check(call: &Function, operations: &Operations, has_one_table: bool) -> Result<()> {
    let Some(name) = call.name.0.last().and_then(|part| part.as_ident()) else { return Ok(()) };
    let (place, name) = (expr_span(&Expr::Identifier(name.clone())), name.value.to_uppercase());
    let FunctionArguments::List(list) = &call.args else { return Ok(()) };
    check_stars(&name, list, has_one_table).map_err(|error| error.at(place))?;
    let place = match name.as_str() {
        "PERCENTILE_CONT" | "PERCENTILE_DISC" => 0,
        "NTH_VALUE" | "LAG" | "LEAD" => 1,
        _ => return Ok(()),
    };
    let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))) = list.args.get(place) else { return Ok(()) };
    if matches!(name.as_str(), "LAG" | "LEAD") && names_column(argument) {
        let text = format!("{name} with a number of rows that is not the same for all rows");
        return Err(RelationalError::not_supported(text).at(expr_span(argument)));
    }
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

/// # Errors
/// `*` in another call than COUNT(*), where DataFusion has no meaning for it; and COUNT of `t.*`, which it takes for COUNT(*). That is
/// right where t is the only table, as all of its rows are there.
fn check_stars(name: &str, list: &FunctionArgumentList, has_one_table: bool) -> Result<()> {
    let is_distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
    for argument in &list.args {
        let (FunctionArg::Unnamed(argument) | FunctionArg::Named { arg: argument, .. }) = argument else { continue };
        let star = match argument {
            FunctionArgExpr::Wildcard | FunctionArgExpr::WildcardWithOptions(_) => "*".to_owned(),
            FunctionArgExpr::QualifiedWildcard(table) => format!("{table}.*"),
            FunctionArgExpr::Expr(star @ (Expr::Wildcard(_) | Expr::QualifiedWildcard(..))) => star.to_string(),
            FunctionArgExpr::Expr(_) => continue,
        };
        if name != "COUNT" || list.args.len() != 1 {
            let text = format!("{star} is no argument of {name}");
            return Err(RelationalError::from(RelationalErrorKind::Syntax(text)).help("COUNT(*) counts rows"));
        }
        if is_distinct || star != "*" && !has_one_table {
            let distinct = if is_distinct { "DISTINCT " } else { "" };
            let help = "COUNT(*) counts rows, COUNT(c) those where the column c is not NULL";
            return Err(RelationalError::not_supported(format!("COUNT({distinct}{star})")).help(help));
        }
    }
    Ok(())
}

/// Whether an expression has a column in it.
fn names_column(expr: &Expr) -> bool {
    let mut found = false;
    let _ = visit_expressions(expr, |part| {
        found |= matches!(part, Expr::Identifier(_) | Expr::CompoundIdentifier(_));
        ControlFlow::<()>::Continue(())
    });
    found
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
