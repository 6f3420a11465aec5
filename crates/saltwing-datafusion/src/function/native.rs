//! Functions that are not of our language: those of DataFusion that behave differently here, and AT TIME ZONE.

use std::sync::Arc;

use arrow::array::{AsArray, BinaryBuilder};
use arrow::datatypes::{DataType, FieldRef};
use chrono::format::{Item, StrftimeItems};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::functions_nested::replace::array_replace_all_udf;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility, create_udf,
};
use saltwing_expr::arrow_type;
use saltwing_types::{SqlType, ValueError};

use crate::RelationalError;
use crate::expression::sql_field::typed_field;
use crate::function::at_time_zone::at_time_zone;

/// These functions; each takes the place of DataFusion's of the same name.
pub(crate) fn functions() -> Vec<Arc<ScalarUDF>> {
    let date_format = DateFormat { native: datafusion::functions::datetime::to_char() };
    let text = || ScalarValue::from(concat!("Saltwing ", env!("CARGO_PKG_VERSION")));
    let run = Arc::new(move |_: &[ColumnarValue]| Ok(ColumnarValue::Scalar(text())));
    let version = create_udf("version", Vec::new(), DataType::Utf8, Volatility::Immutable, run);
    let constant = |name, value: &'static str| {
        let run = Arc::new(move |_: &[ColumnarValue]| Ok(ColumnarValue::Scalar(ScalarValue::from(value))));
        Arc::new(create_udf(name, Vec::new(), DataType::Utf8, Volatility::Immutable, run))
    };
    let random_uuid = RandomUuid { signature: Signature::nullary(Volatility::Volatile) };
    vec![
        Arc::new(ScalarUDF::new_from_impl(date_format)),
        Arc::new(version),
        // As information_schema has them.
        constant("current_database", "saltwing"),
        constant("current_schema", "public"),
        Arc::new(at_time_zone()),
        Arc::new(ScalarUDF::new_from_impl(random_uuid)),
        // All elements, as in PostgreSQL: DataFusion's function of this name replaces the first.
        Arc::new(array_replace_all_udf().as_ref().clone().with_aliases(["array_replace"])),
    ]
}

/// `gen_random_uuid()`: a UUID of version 4, another one for each row. DataFusion's `uuid()` is such a text.
#[derive(Debug, PartialEq, Eq, Hash)]
struct RandomUuid {
    signature: Signature,
}

impl ScalarUDFImpl for RandomUuid {
    fn name(&self) -> &str {
        "gen_random_uuid"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(arrow_type(SqlType::Uuid))
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::new(typed_field(self.name(), SqlType::Uuid, false)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let mut ids = BinaryBuilder::with_capacity(args.number_rows, args.number_rows * 16);
        for _ in 0..args.number_rows {
            let mut random = [0; 16];
            getrandom::fill(&mut random).map_err(|error| DataFusionError::External(Box::new(error)))?;
            // The version, 4, and the variant of RFC 9562.
            let id = u128::from_be_bytes(random) & !(0xf << 76) & !(0b11 << 62) | 4 << 76 | 0b10 << 62;
            ids.append_value(id.to_be_bytes());
        }
        Ok(ColumnarValue::Array(Arc::new(ids.finish())))
    }
}

/// `date_format(instant, pattern)`, which refuses patterns of other languages: DataFusion gives them back as they are.
///
/// It is DataFusion's `to_char`; our own TO_CHAR has Java's patterns.
#[derive(Debug, PartialEq, Eq, Hash)]
struct DateFormat {
    native: Arc<ScalarUDF>,
}

impl ScalarUDFImpl for DateFormat {
    fn name(&self) -> &str {
        "date_format"
    }

    fn signature(&self) -> &Signature {
        self.native.signature()
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.native.return_type(arg_types)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        if let Some(Some(ScalarValue::Utf8(Some(pattern)))) = args.scalar_arguments.get(1) {
            check_pattern(pattern)?;
        }
        self.native.return_field_from_args(args)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match args.args.get(1) {
            Some(ColumnarValue::Scalar(ScalarValue::Utf8(Some(pattern)))) => check_pattern(pattern)?,
            Some(ColumnarValue::Array(patterns)) => {
                if let Some(patterns) = patterns.as_string_opt::<i32>() {
                    let mut last = None;
                    for pattern in patterns.iter().flatten().filter(|pattern| last.replace(*pattern) != Some(*pattern))
                    {
                        check_pattern(pattern)?;
                    }
                }
            }
            _ => {}
        }
        self.native.invoke_with_args(args)
    }
}

/// # Errors
/// A pattern that says nothing of the instant, or has a `%` that stands for nothing.
fn check_pattern(pattern: &str) -> Result<(), RelationalError> {
    let (mut says_something, mut is_wrong) = (false, false);
    for item in StrftimeItems::new(pattern) {
        match item {
            Item::Error => is_wrong = true,
            Item::Numeric(..) | Item::Fixed(_) => says_something = true,
            _ => {}
        }
    }
    // Durations have a pattern of their own.
    let is_plain = !pattern.contains(char::is_alphanumeric) || pattern.eq_ignore_ascii_case("ISO8601");
    if !is_wrong && (says_something || is_plain) {
        return Ok(());
    }
    let text = format!("date_format takes patterns such as '%Y-%m-%d %H:%M:%S', and '{pattern}' is none");
    Err(RelationalError::from(ValueError::BadArgument(text)).help(
        "%Y year, %m month, %d day, %j day of the year, %H hour, %I of 12 hours, %p AM or PM, %M minute, %S second, \
         %3f milliseconds, %A and %a weekday, %B and %b month by name, %% a percent sign",
    ))
}

#[cfg(test)]
mod tests {
    use super::check_pattern;

    #[test]
    fn patterns_of_strftime_alone() {
        for pattern in ["%Y-%m-%d", "%H:%M:%S%.3f", "day %j", "%%%Y", "", "-", "%B %d", "%c"] {
            assert!(check_pattern(pattern).is_ok(), "{pattern}");
        }
        for pattern in ["YYYY-MM-DD", "yyyy-MM-dd HH:mm:ss", "%Q", "HH24:MI", "%%", "%"] {
            assert!(check_pattern(pattern).is_err() || pattern == "%%", "{pattern}");
        }
    }
}
