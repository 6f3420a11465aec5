//! Values in the form that clients read and send.
//!
//! A client chooses the field of a message by the type of the *column*, so each type has one form: DATE is days since 1970 and loses its time
//! of day, TIME is milliseconds of the day, TIMESTAMP is milliseconds and loses its nanoseconds, FLOAT travels as DOUBLE.
//!
//! # Laws
//! For a value of a type whose form loses nothing, `from_wire(to_wire(value)) == value`, where FLOAT comes back as DOUBLE of the same number.

use bytes::Bytes;
use saltwing::{Decimal, SqlType, Timestamp, Value, text};

use crate::error::AvaticaError;
use crate::jdbc_type::JdbcType;
use crate::messages::{ColumnValue, Rep, TypedValue};

const DAY_MS: i64 = 86_400_000;

/// A value of a column of this type.
///
/// # Errors
/// [`AvaticaError::ValueOutOfRange`] for a date whose days do not fit 32 bits.
pub(crate) fn to_wire(value: Value, ty: SqlType) -> Result<ColumnValue, AvaticaError> {
    match (value, ty.element()) {
        (Value::Array(elements), Some(element)) => {
            let array_value = elements.into_iter().map(|value| scalar(value, element)).collect::<Result<_, _>>()?;
            Ok(ColumnValue { array_value, has_array_value: true, scalar_value: None })
        }
        (value, _) => Ok(ColumnValue { scalar_value: Some(scalar(value, ty)?), ..ColumnValue::default() }),
    }
}

/// A value that is no array.
pub(crate) fn scalar(value: Value, ty: SqlType) -> Result<TypedValue, AvaticaError> {
    let empty = TypedValue::default();
    Ok(match value {
        Value::Null => TypedValue { r#type: Rep::Null.into(), null: true, ..empty },
        Value::Bool(bool_value) => TypedValue { r#type: Rep::Boolean.into(), bool_value, ..empty },
        Value::Int(number) => numeric(integer_rep(ty), number),
        Value::Float(number) => TypedValue { r#type: Rep::Double.into(), double_value: number.into(), ..empty },
        Value::Double(double_value) => TypedValue { r#type: Rep::Double.into(), double_value, ..empty },
        Value::Date(ms) => date(ms, ty)?,
        Value::Timestamp(at) => numeric(Rep::Long, at.ms),
        Value::Bytes(bytes) if ty != SqlType::Uuid => {
            TypedValue { r#type: Rep::ByteString.into(), bytes_value: Bytes::from(bytes), ..empty }
        }
        Value::Text(string_value) => TypedValue { r#type: Rep::String.into(), string_value, ..empty },
        Value::Decimal(_) => TypedValue { r#type: Rep::BigDecimal.into(), string_value: text_of(&value, ty), ..empty },
        Value::Interval(_) | Value::Bytes(_) | Value::Array(_) => {
            TypedValue { r#type: Rep::String.into(), string_value: text_of(&value, ty), ..empty }
        }
    })
}

fn text_of(value: &Value, ty: SqlType) -> String {
    text::format(value, ty).unwrap_or_default()
}

fn numeric(rep: Rep, number_value: i64) -> TypedValue {
    TypedValue { r#type: rep.into(), number_value, ..TypedValue::default() }
}

/// The form of an integer in a column of this type.
fn integer_rep(ty: SqlType) -> Rep {
    match JdbcType::of(ty).rep {
        rep @ (Rep::Byte | Rep::Short | Rep::Integer) => rep,
        _ => Rep::Long,
    }
}

/// Milliseconds of the day of a TIME, days of a DATE.
fn date(ms: i64, ty: SqlType) -> Result<TypedValue, AvaticaError> {
    if matches!(ty, SqlType::Time | SqlType::UnsignedTime) {
        return Ok(numeric(Rep::Integer, ms.rem_euclid(DAY_MS)));
    }
    let days = ms.div_euclid(DAY_MS);
    match i32::try_from(days) {
        Ok(_) => Ok(numeric(Rep::Integer, days)),
        Err(_) => Err(AvaticaError::ValueOutOfRange { value: text_of(&Value::Date(ms), ty), name: "DATE" }),
    }
}

/// The values of a statement's parameters.
///
/// # Errors
/// [`AvaticaError::BadParameter`] for a value that cannot be read.
pub(crate) fn parameters(values: &[TypedValue]) -> Result<Vec<Value>, AvaticaError> {
    let value = |(index, value): (usize, &TypedValue)| {
        from_wire(value).map_err(|reason| AvaticaError::BadParameter { place: index.saturating_add(1), reason })
    };
    values.iter().enumerate().map(value).collect()
}

/// A value that a client sends; the error says what is wrong with it.
pub(crate) fn from_wire(value: &TypedValue) -> Result<Value, String> {
    let rep = Rep::try_from(value.r#type).map_err(|_| format!("there is no form {} of values", value.r#type))?;
    if value.null || value.implicitly_null {
        return Ok(Value::Null);
    }
    let number = value.number_value;
    Ok(match rep {
        Rep::Null => Value::Null,
        Rep::PrimitiveBoolean | Rep::Boolean => Value::Bool(value.bool_value),
        Rep::PrimitiveByte | Rep::Byte | Rep::PrimitiveShort | Rep::Short => Value::Int(number),
        Rep::PrimitiveInt | Rep::Integer | Rep::PrimitiveLong | Rep::Long => Value::Int(number),
        Rep::PrimitiveFloat | Rep::Float => float(value)?,
        Rep::PrimitiveDouble | Rep::Double => Value::Double(value.double_value),
        Rep::JavaSqlDate => Value::Date(number.checked_mul(DAY_MS).ok_or_else(|| format!("there is no day {number}"))?),
        Rep::JavaSqlTime | Rep::JavaUtilDate => Value::Date(number),
        Rep::JavaSqlTimestamp => Value::Timestamp(Timestamp { ms: number, nanos: 0 }),
        Rep::ByteString => Value::Bytes(value.bytes_value.to_vec()),
        Rep::PrimitiveChar | Rep::Character | Rep::String => Value::Text(value.string_value.clone()),
        Rep::Number if value.string_value.is_empty() => Value::Int(number),
        Rep::Number | Rep::BigDecimal => decimal(&value.string_value)?,
        Rep::BigInteger if value.string_value.is_empty() => big_integer(&value.bytes_value)?,
        Rep::BigInteger => decimal(&value.string_value)?,
        Rep::Array => array(value)?,
        Rep::Object | Rep::Struct | Rep::Multiset => {
            return Err(format!("values of the form {rep:?} are not supported"));
        }
    })
}

/// A FLOAT of Java is the bits of the number; other clients may give it as a double.
fn float(value: &TypedValue) -> Result<Value, String> {
    if value.number_value == 0 {
        return Ok(Value::Double(value.double_value));
    }
    let bits =
        i32::try_from(value.number_value).map_err(|_| format!("{} are no 32 bits of a FLOAT", value.number_value))?;
    Ok(Value::Float(f32::from_bits(bits.cast_unsigned())))
}

fn decimal(text: &str) -> Result<Value, String> {
    text.parse::<Decimal>().map(Value::Decimal).map_err(|error| error.to_string())
}

/// Java's bytes of a BigInteger: two's complement, the highest byte first.
fn big_integer(bytes: &[u8]) -> Result<Value, String> {
    let Some(first) = bytes.first() else { return Err("a BigInteger has at least one byte".to_owned()) };
    let sign = if *first >= 0x80 { -1 } else { 0 };
    if bytes.len() > 16 {
        return Err(format!("a BigInteger of {} bytes is out of range", bytes.len()));
    }
    let digits = bytes.iter().fold(sign, |digits: i128, byte| (digits << 8) | i128::from(*byte));
    Decimal::new(digits, 0).map(Value::Decimal).map_err(|error| error.to_string())
}

/// An element without a form of its own has that of the array.
fn array(value: &TypedValue) -> Result<Value, String> {
    let element = |element: &TypedValue| {
        if element.r#type == Rep::PrimitiveBoolean as i32 && element != &TypedValue::default() {
            return from_wire(&TypedValue { r#type: value.component_type, ..element.clone() });
        }
        from_wire(element)
    };
    value.array_value.iter().map(element).collect::<Result<_, _>>().map(Value::Array)
}

#[cfg(test)]
mod tests;
