//! `instant AT TIME ZONE zone`.

use std::sync::Arc;

use arrow::array::Array;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, TimeUnit};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use saltwing_expr::{ColumnBuilder, value_at};
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::time_zone::TimeZone;
use saltwing_types::value::Timestamp;
use saltwing_types::{SqlType, Value, ValueError};

use crate::expression::sql_field::field_type;
use crate::{RelationalError, RelationalErrorKind};

/// The name, which no statement can write.
pub(crate) const AT_TIME_ZONE: &str = "__saltwing_at_time_zone";

pub(super) fn at_time_zone() -> ScalarUDF {
    ScalarUDF::new_from_impl(AtTimeZone { signature: Signature::any(2, Volatility::Immutable) })
}

/// A time without a zone is what the zone's clocks show, and becomes the instant. Of an instant, which is what AT TIME ZONE gives, the
/// result is the time that the zone's clocks show.
///
/// SQL types have no zone. Arrow's type of an instant has UTC as its zone, and so tells the one from the other.
#[derive(Debug, PartialEq, Eq, Hash)]
struct AtTimeZone {
    signature: Signature,
}

fn is_instant(ty: &DataType) -> bool {
    matches!(ty, DataType::Timestamp(_, Some(_)))
}

fn type_of(operand: &DataType) -> DataType {
    let zone = if is_instant(operand) { None } else { Some("UTC".into()) };
    DataType::Timestamp(TimeUnit::Nanosecond, zone)
}

impl ScalarUDFImpl for AtTimeZone {
    fn name(&self) -> &str {
        AT_TIME_ZONE
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        arg_types.first().map(type_of).ok_or_else(|| RelationalError::bug("AT TIME ZONE of nothing").into())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let is_of = |index: usize, is_taken: fn(SqlType) -> bool| {
            let ty = args.arg_fields.get(index).and_then(|field| field_type(field));
            ty.is_some_and(|ty| ty == SqlType::Null || is_taken(ty))
        };
        if !is_of(0, |ty| ty.family() == TypeFamily::Instant)
            || !is_of(1, |ty| matches!(ty, SqlType::Varchar(_) | SqlType::Char(_)))
        {
            let text = "AT TIME ZONE takes a DATE, TIME or TIMESTAMP, and the name of a time zone";
            return Err(RelationalError::from(RelationalErrorKind::TypeMismatch(text.into())).into());
        }
        let types: Vec<DataType> = args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        let nullable = args.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(self.name(), self.return_type(&types)?, nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let is_constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = if is_constant { 1 } else { args.number_rows };
        let types: Vec<SqlType> =
            args.arg_fields.iter().map(|field| field_type(field).unwrap_or(SqlType::Null)).collect();
        let arrays = args.args.iter().map(|arg| arg.to_array(rows)).collect::<Result<Vec<_>>>()?;
        let ([instants, zones], [ty, zone_ty]) = (arrays.as_slice(), types.as_slice()) else {
            return Err(RelationalError::bug("AT TIME ZONE takes two arguments").into());
        };
        let mut zone = LastZone::default();
        let mut results = ColumnBuilder::new(SqlType::Timestamp, rows);
        for row in 0..rows {
            let shown = value_at(instants, row, *ty)
                .and_then(|value| zone.shift(value, value_at(zones, row, *zone_ty)?, is_instant(instants.data_type())))
                .and_then(|value| results.append_value(&value));
            shown.map_err(RelationalError::from)?;
        }
        let results = cast(&results.finish(), &type_of(instants.data_type()))?;
        Ok(match is_constant {
            true => ColumnarValue::Scalar(ScalarValue::try_from_array(&results, 0)?),
            false => ColumnarValue::Array(results),
        })
    }
}

/// The zone of the row before: mostly that of all rows.
#[derive(Default)]
struct LastZone(Option<(String, TimeZone)>);

impl LastZone {
    fn by_name(&mut self, name: &str) -> std::result::Result<TimeZone, ValueError> {
        match &self.0 {
            Some((known, zone)) if known == name => Ok(*zone),
            _ => {
                let zone = TimeZone::by_name(name)?;
                self.0 = Some((name.to_owned(), zone));
                Ok(zone)
            }
        }
    }

    /// What the zone's clocks show at an instant, or the instant at which they show a time.
    fn shift(&mut self, value: Value, zone: Value, is_instant: bool) -> std::result::Result<Value, ValueError> {
        let (Value::Text(name), Some(at)) = (zone, timestamp(&value)) else { return Ok(Value::Null) };
        let zone = self.by_name(&name)?;
        let ms = match is_instant {
            true => at.ms.saturating_add(zone.offset_ms(at.ms)?),
            false => zone.instant_of(at.ms)?,
        };
        Ok(Value::Timestamp(Timestamp { ms, ..at }))
    }
}

fn timestamp(value: &Value) -> Option<Timestamp> {
    match value {
        Value::Date(ms) => Some(Timestamp { ms: *ms, nanos: 0 }),
        Value::Timestamp(at) => Some(*at),
        _ => None,
    }
}
