//! Fields of instants that neither we nor DataFusion know. DataFusion refuses them while the query runs, without a place.

use std::str::FromStr;

use arrow::compute::kernels::cast_utils::IntervalUnit;
use saltwing_sql::expr_span;
use saltwing_types::{Span, ValueError};
use sqlparser::ast::{Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Value};

use super::tree::Result;
use crate::RelationalError;

/// # Errors
/// `EXTRACT(field FROM ..)` of an unknown field. The error stands at the operand, as sqlparser keeps no place of the field.
pub(super) fn check_extract(field: &str, operand: &Expr) -> Result<()> {
    if is_known(field) { Ok(()) } else { Err(unknown("EXTRACT", field, expr_span(operand))) }
}

/// # Errors
/// `DATE_PART('field', ..)` of an unknown field.
pub(super) fn check_call(call: &Function) -> Result<()> {
    let Some(name) = call.name.0.last().and_then(|part| part.as_ident()) else { return Ok(()) };
    if !matches!(name.value.to_ascii_uppercase().as_str(), "DATE_PART" | "DATEPART") {
        return Ok(());
    }
    let FunctionArguments::List(list) = &call.args else { return Ok(()) };
    match list.args.first() {
        Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(argument @ Expr::Value(value)))) => match &value.value {
            Value::SingleQuotedString(field) if !is_known(field) => {
                Err(unknown("DATE_PART", field, expr_span(argument)))
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

fn unknown(function: &str, field: &str, span: Option<Span>) -> RelationalError {
    let error = ValueError::BadArgument(format!("{function} has no field {}", field.to_uppercase()));
    let help = "there are YEAR, QUARTER, MONTH, WEEK, DAY, DOY, DOW, ISODOW, ISOYEAR, HOUR, MINUTE, SECOND, MILLISECOND, MICROSECOND and EPOCH";
    RelationalError::from(error).at(span).help(help)
}

/// Whether DataFusion's DATE_PART takes the field: it knows those of ours, too.
fn is_known(field: &str) -> bool {
    match IntervalUnit::from_str(field) {
        Ok(unit) => !matches!(unit, IntervalUnit::Century | IntervalUnit::Decade),
        Err(_) => matches!(
            field.to_ascii_lowercase().as_str(),
            "isoyear" | "qtr" | "quarter" | "doy" | "dow" | "isodow" | "epoch"
        ),
    }
}
