//! Made-up values that stand for parameters until they are bound.
//!
//! They keep away from the ends of their type, where a bound would leave out
//! nothing, and differ from each other where the type has room for it.

use saltwing_types::value::Timestamp;
use saltwing_types::{Decimal, SqlType, Value};

use crate::domain::Domain;

impl Domain {
    /// A typical value for the parameter of this index.
    pub(crate) fn sample(&self, index: usize) -> Value {
        sample(self.ty(), index)
    }
}

fn sample(ty: SqlType, index: usize) -> Value {
    use SqlType as T;
    // Apart from each other, so that a span between two of them is no single value.
    let number = 1000 + 10 * index as i64;
    if let Some((_, max)) = ty.integer_range() {
        return Value::Int(if number < max / 2 { number } else { 1 + index as i64 * 7 % 120 });
    }
    match ty {
        T::Boolean => Value::Bool(true),
        T::Float | T::UnsignedFloat => Value::Float(number as f32 + 0.5),
        T::Date | T::Time | T::UnsignedDate | T::UnsignedTime => Value::Date(number),
        T::Timestamp | T::UnsignedTimestamp => Value::Timestamp(Timestamp { ms: number, nanos: 0 }),
        T::Decimal(None) => Value::Decimal(Decimal::from(number)),
        T::Decimal(Some((_, scale))) => {
            Value::Decimal(Decimal::new(1 + index as i128 % 7, scale.into()).unwrap_or(Decimal::ZERO))
        }
        T::Char(limit) | T::Varchar(Some(limit)) => Value::Text(sample_text(index, limit as usize)),
        T::Varchar(None) => Value::Text(sample_text(index, usize::MAX)),
        T::Binary(_) | T::Uuid => {
            let width = ty.fixed_key_bytes().unwrap_or_default();
            let mut bytes = sample_text(index, width).into_bytes();
            bytes.resize(width, 0);
            Value::Bytes(bytes)
        }
        T::Varbinary | T::VarbinaryEncoded => Value::Bytes(sample_text(index, usize::MAX).into_bytes()),
        T::Array(element, _) => Value::Array(vec![sample(element.sql_type(), index)]),
        _ => Value::Double(number as f64 + 0.5),
    }
}

fn sample_text(index: usize, limit: usize) -> String {
    let letter = char::from(b'b' + (index % 24) as u8);
    format!("{letter}{index:04}").chars().take(limit).collect()
}
