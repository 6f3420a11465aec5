//! Single values out of Arrow columns.

use arrow::array::{Array, ArrayRef, AsArray, Int32Array, Int64Array, StringArray};
use arrow::datatypes::*;
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::value::Timestamp;
use saltwing_types::{Decimal, Interval, SqlType, Value, ValueError, number};

use crate::bare_decimal;

const MS_PER_DAY: i64 = 86_400_000;

/// The value of `array` at `row`, as a value of `ty`.
///
/// Accepts columns of [`crate::arrow_type()`]`(ty)`, and those that the relational engine makes of them: views, large
/// and fixed-size forms, unsigned integers, other units of time, other decimals. A value of another kind than the
/// type's is converted as on writing; [`SqlType::Null`] keeps it as it is.
///
/// # Errors
/// A type mismatch for an Arrow type without an SQL type;
/// [`ValueError::OutOfRange`] for a number beyond ours; [`ValueError::BadArgument`] for a row beyond the column.
pub fn value_at(array: &dyn Array, row: usize, ty: SqlType) -> Result<Value, ValueError> {
    if row >= array.len() {
        return Err(ValueError::BadArgument(format!("row {row} of a column of {} rows", array.len())));
    }
    if array.is_null(row) {
        return Ok(Value::Null);
    }
    let value = native(array, row)?;
    if is_of_kind(&value, ty) { Ok(value) } else { number::assign(value, ty) }
}

/// A borrowed value, for most types.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueRef<'a> {
    /// NULL.
    Null,
    /// Of an integer type.
    Int(i64),
    /// Text.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
    /// Any value: of the other types.
    Owned(Value),
}

impl<'a> ValueRef<'a> {
    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&'a str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The bytes, if it is of a binary type.
    pub fn as_bytes(&self) -> Option<&'a [u8]> {
        if let Self::Bytes(bytes) = self { Some(bytes) } else { None }
    }
}

impl ValueRef<'_> {
    /// The value, as one of the caller's own.
    pub fn into_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Int(value) => Value::Int(value),
            Self::Text(text) => Value::text(text),
            Self::Bytes(bytes) => Value::Bytes(bytes.to_vec()),
            Self::Owned(value) => value,
        }
    }
}

impl<'a> From<&'a Value> for ValueRef<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Int(value) => Self::Int(*value),
            Value::Text(text) => Self::Text(text),
            Value::Bytes(bytes) => Self::Bytes(bytes),
            value => Self::Owned(value.clone()),
        }
    }
}

/// A column whose values are read one by one: its type is resolved once, not for each value.
///
/// # Law
/// [`ValueColumn::get`] is [`value_at`] of the same array and type.
#[derive(Debug)]
pub struct ValueColumn {
    array: ArrayRef,
    ty: SqlType,
    common: Option<Common>,
}

/// The array downcast to a common type.
#[derive(Debug)]
enum Common {
    Int32(Int32Array),
    Int64(Int64Array),
    Text(StringArray),
}

impl ValueColumn {
    /// A column of values of `ty`.
    pub fn new(array: &ArrayRef, ty: SqlType) -> Self {
        let common = match array.data_type() {
            DataType::Int32 if ty.is_integer() => array.as_primitive_opt().cloned().map(Common::Int32),
            DataType::Int64 if ty.is_integer() => array.as_primitive_opt().cloned().map(Common::Int64),
            DataType::Utf8 if ty.family() == TypeFamily::Text => array.as_string_opt().cloned().map(Common::Text),
            _ => None,
        };
        Self { array: array.clone(), ty, common }
    }

    /// The value of a row.
    ///
    /// # Errors
    /// As [`value_at`].
    #[inline]
    pub fn get(&self, row: usize) -> Result<ValueRef<'_>, ValueError> {
        match &self.common {
            Some(Common::Int32(array)) if array.is_valid_row(row) => Ok(ValueRef::Int(array.value(row).into())),
            Some(Common::Int64(array)) if array.is_valid_row(row) => Ok(ValueRef::Int(array.value(row))),
            Some(Common::Text(array)) if array.is_valid_row(row) => Ok(ValueRef::Text(array.value(row))),
            _ => self.uncommon(row),
        }
    }

    fn uncommon(&self, row: usize) -> Result<ValueRef<'_>, ValueError> {
        Ok(match value_at(&self.array, row, self.ty)? {
            Value::Null => ValueRef::Null,
            value => ValueRef::Owned(value),
        })
    }
}

trait ValidRow: Array {
    /// Whether there is such a row, and it is not NULL.
    fn is_valid_row(&self, row: usize) -> bool {
        row < self.len() && self.is_valid(row)
    }
}

impl<A: Array> ValidRow for A {}

/// Whether `value` is what values of `ty` are; NULL is everywhere.
pub(crate) fn is_of_kind(value: &Value, ty: SqlType) -> bool {
    match value {
        Value::Null => true,
        _ if ty == SqlType::Null => true,
        Value::Bool(_) => ty == SqlType::Boolean,
        Value::Int(_) => ty.is_integer(),
        Value::Float(_) => ty.is_single_float(),
        Value::Double(_) => ty.is_float() && !ty.is_single_float(),
        Value::Decimal(_) => matches!(ty, SqlType::Decimal(_)),
        Value::Date(_) => ty.family() == value.family() && !ty.is_timestamp(),
        Value::Timestamp(_) => ty.is_timestamp(),
        Value::Text(_) | Value::Bytes(_) | Value::Interval(_) => ty.family() == value.family(),
        Value::Array(elements) => {
            ty.element().is_some_and(|element| elements.iter().all(|value| is_of_kind(value, element)))
        }
    }
}

/// The value as the Arrow type has it.
fn native(array: &dyn Array, row: usize) -> Result<Value, ValueError> {
    let timestamp = |nanos| Value::Timestamp(Timestamp::from_nanos(nanos));
    let data_type = array.data_type();
    let value = match data_type {
        DataType::Null => Some(Value::Null),
        DataType::Boolean => array.as_boolean_opt().map(|a| Value::Bool(a.value(row))),
        DataType::Int8 => primitive::<Int8Type>(array, row).map(|v| Value::Int(v.into())),
        DataType::Int16 => primitive::<Int16Type>(array, row).map(|v| Value::Int(v.into())),
        DataType::Int32 => primitive::<Int32Type>(array, row).map(|v| Value::Int(v.into())),
        DataType::Int64 => primitive::<Int64Type>(array, row).map(Value::Int),
        DataType::UInt8 => primitive::<UInt8Type>(array, row).map(|v| Value::Int(v.into())),
        DataType::UInt16 => primitive::<UInt16Type>(array, row).map(|v| Value::Int(v.into())),
        DataType::UInt32 => primitive::<UInt32Type>(array, row).map(|v| Value::Int(v.into())),
        DataType::UInt64 => primitive::<UInt64Type>(array, row).map(unsigned).transpose()?,
        DataType::Float32 => primitive::<Float32Type>(array, row).map(Value::Float),
        DataType::Float64 => primitive::<Float64Type>(array, row).map(Value::Double),
        DataType::Decimal32(_, s) => {
            primitive::<Decimal32Type>(array, row).map(|v| decimal(v.into(), *s)).transpose()?
        }
        DataType::Decimal64(_, s) => {
            primitive::<Decimal64Type>(array, row).map(|v| decimal(v.into(), *s)).transpose()?
        }
        DataType::Decimal128(_, s) => primitive::<Decimal128Type>(array, row).map(|v| decimal(v, *s)).transpose()?,
        DataType::Decimal256(_, s) => primitive::<Decimal256Type>(array, row)
            .map(|v| bare_decimal::from_unscaled(v, *s).map(Value::Decimal))
            .transpose()?,
        DataType::Date32 => primitive::<Date32Type>(array, row).map(|days| Value::Date(i64::from(days) * MS_PER_DAY)),
        DataType::Date64 => primitive::<Date64Type>(array, row).map(Value::Date),
        DataType::Timestamp(TimeUnit::Second, _) => {
            primitive::<TimestampSecondType>(array, row).map(|s| milliseconds(s.checked_mul(1000), 0)).transpose()?
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            primitive::<TimestampMillisecondType>(array, row).map(Value::Date)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => primitive::<TimestampMicrosecondType>(array, row)
            .map(|us| milliseconds(Some(us.div_euclid(1000)), us.rem_euclid(1000) as u32 * 1000))
            .transpose()?,
        DataType::Timestamp(TimeUnit::Nanosecond, _) => primitive::<TimestampNanosecondType>(array, row).map(timestamp),
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            primitive::<IntervalMonthDayNanoType>(array, row).map(|v| interval(v.months, v.days, v.nanoseconds))
        }
        DataType::Interval(IntervalUnit::YearMonth) => {
            primitive::<IntervalYearMonthType>(array, row).map(|months| interval(months, 0, 0))
        }
        DataType::Interval(IntervalUnit::DayTime) => primitive::<IntervalDayTimeType>(array, row)
            .map(|v| interval(0, v.days, i64::from(v.milliseconds) * 1_000_000)),
        DataType::Utf8 => array.as_string_opt::<i32>().map(|a| Value::text(a.value(row))),
        DataType::LargeUtf8 => array.as_string_opt::<i64>().map(|a| Value::text(a.value(row))),
        DataType::Utf8View => array.as_string_view_opt().map(|a| Value::text(a.value(row))),
        DataType::Binary => array.as_binary_opt::<i32>().map(|a| Value::Bytes(a.value(row).to_vec())),
        DataType::LargeBinary => array.as_binary_opt::<i64>().map(|a| Value::Bytes(a.value(row).to_vec())),
        DataType::BinaryView => array.as_binary_view_opt().map(|a| Value::Bytes(a.value(row).to_vec())),
        DataType::List(_) => array.as_list_opt::<i32>().map(|a| elements(&a.value(row))).transpose()?,
        DataType::LargeList(_) => array.as_list_opt::<i64>().map(|a| elements(&a.value(row))).transpose()?,
        DataType::FixedSizeList(..) => array.as_fixed_size_list_opt().map(|a| elements(&a.value(row))).transpose()?,
        DataType::FixedSizeBinary(_) => array.as_fixed_size_binary_opt().map(|a| Value::Bytes(a.value(row).to_vec())),
        _ => None,
    };
    value.ok_or_else(|| ValueError::TypeMismatch(format!("columns of {data_type} have no SQL type")))
}

fn primitive<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> Option<T::Native> {
    array.as_primitive_opt::<T>().map(|a| a.value(row))
}

fn interval(months: i32, days: i32, nanos: i64) -> Value {
    Value::Interval(Interval { months, days, nanos })
}

fn elements(items: &ArrayRef) -> Result<Value, ValueError> {
    (0..items.len()).map(|row| value_at(items, row, SqlType::Null)).collect::<Result<_, _>>().map(Value::Array)
}

fn unsigned(value: u64) -> Result<Value, ValueError> {
    value
        .try_into()
        .map(Value::Int)
        .map_err(|_| ValueError::OutOfRange { value: value.to_string(), target: SqlType::BigInt.to_string() })
}

fn decimal(unscaled: i128, scale: i8) -> Result<Value, ValueError> {
    Decimal::new(unscaled, scale.into()).map(Value::Decimal)
}

fn milliseconds(ms: Option<i64>, nanos: u32) -> Result<Value, ValueError> {
    ms.map(|ms| Value::Timestamp(Timestamp { ms, nanos })).ok_or_else(|| ValueError::DatetimeOverflow {
        value: "a second count".into(),
        target: SqlType::Timestamp.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::*;

    use super::*;
    use crate::sql_type;

    #[test]
    fn columns_of_the_engine() {
        let cases: Vec<(ArrayRef, Value)> = vec![
            (Arc::new(StringViewArray::from(vec!["héllo"])), Value::text("héllo")),
            (Arc::new(LargeStringArray::from(vec!["x"])), Value::text("x")),
            (Arc::new(UInt64Array::from(vec![7])), Value::Int(7)),
            (Arc::new(UInt8Array::from(vec![255])), Value::Int(255)),
            (Arc::new(Date32Array::from(vec![-1])), Value::Date(-MS_PER_DAY)),
            (Arc::new(Date64Array::from(vec![5])), Value::Date(5)),
            (
                Arc::new(TimestampMicrosecondArray::from(vec![-1])),
                Value::Timestamp(Timestamp { ms: -1, nanos: 999_000 }),
            ),
            (Arc::new(TimestampSecondArray::from(vec![2])), Value::Timestamp(Timestamp { ms: 2000, nanos: 0 })),
            (Arc::new(BinaryViewArray::from(vec![&b"ab"[..]])), Value::Bytes(b"ab".to_vec())),
            (Arc::new(Decimal64Array::from(vec![150]).with_precision_and_scale(5, 2).unwrap()), {
                Value::Decimal("1.5".parse().unwrap())
            }),
            (Arc::new(NullArray::new(1)), Value::Null),
        ];
        for (array, expected) in cases {
            let ty = sql_type(array.data_type()).unwrap();
            assert_eq!(value_at(&array, 0, ty).unwrap(), expected);
        }
    }

    #[test]
    fn a_column_gives_the_same_values() {
        let arrays: [ArrayRef; 5] = [
            Arc::new(Int32Array::from(vec![Some(-5), None])),
            Arc::new(Int64Array::from(vec![Some(i64::MIN), None])),
            Arc::new(StringArray::from(vec![Some("12"), None])),
            Arc::new(StringViewArray::from(vec![Some("12"), None])),
            Arc::new(Float64Array::from(vec![Some(1.0), None])),
        ];
        for array in &arrays {
            for ty in [SqlType::Integer, SqlType::BigInt, SqlType::Varchar(None), SqlType::Double, SqlType::Null] {
                let column = ValueColumn::new(array, ty);
                for row in 0..3 {
                    assert_eq!(
                        column.get(row).map(ValueRef::into_value),
                        value_at(array, row, ty),
                        "{array:?} as {ty}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_value_is_brought_to_the_requested_type() {
        let array = TimestampNanosecondArray::from(vec![-1]);
        assert_eq!(value_at(&array, 0, SqlType::Date).unwrap(), Value::Date(-1));
        assert_eq!(value_at(&Int32Array::from(vec![3]), 0, SqlType::Double).unwrap(), Value::Double(3.0));
    }

    #[test]
    fn refuses_what_sql_has_not() {
        let code = |array: &dyn Array, row| value_at(array, row, SqlType::Null).unwrap_err().code().sqlstate();
        assert_eq!(code(&Time32SecondArray::from(vec![1]), 0), "42804");
        assert_eq!(code(&UInt64Array::from(vec![u64::MAX]), 0), "22003");
        assert_eq!(code(&Int8Array::from(vec![1]), 1), "22023");
    }
}
