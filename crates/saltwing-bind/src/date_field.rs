//! Fields of instants that neither the language nor the engine knows. The engine would refuse them only for a row.

use std::str::FromStr;

use arrow::compute::kernels::cast_utils::IntervalUnit;
use saltwing_types::{Span, ValueError};

use crate::error::{BindError, Result};

/// # Errors
/// A field that `function`, EXTRACT or DATE_PART, does not have.
pub(crate) fn check_date_field(function: &str, field: &str, span: Option<Span>) -> Result<()> {
    if is_known(field) {
        return Ok(());
    }
    let error = ValueError::BadArgument(format!("{function} has no field {}", field.to_uppercase()));
    let help = "there are MILLENNIUM, CENTURY, DECADE, YEAR, QUARTER, MONTH, WEEK, DAY, DOY, DOW, ISODOW, ISOYEAR, \
                JULIAN, HOUR, MINUTE, SECOND, MILLISECOND, MICROSECOND and EPOCH";
    Err(BindError::from(error).at(span).help(help))
}

/// Whether the engine's DATE_PART takes the field: it knows those of the language, too.
fn is_known(field: &str) -> bool {
    match IntervalUnit::from_str(field) {
        Ok(unit) => !matches!(unit, IntervalUnit::Century | IntervalUnit::Decade),
        Err(_) => matches!(
            field.to_ascii_lowercase().as_str(),
            "isoyear" | "qtr" | "quarter" | "doy" | "dow" | "isodow" | "epoch"
        ),
    }
}
