//! The stored form of one value: in a row, and in a block before it is packed.
//!
//! Numbers are little endian. An array is of variable width:
//! ```text
//! count     4 bytes
//! nulls     a bit an element, lowest first; 1 is NULL
//! fixed     elements of fixed width, NULLs too      or
//! ends      4 bytes an element: where its bytes end, then the bytes
//! ```
//! Its elements are stored as values of columns are, so every element has a form: NULL, '', and any bytes.

use saltwing_types::value::Timestamp;
use saltwing_types::{Decimal, Interval as Length, SqlType, Value};

/// Bytes of a fixed-width value; `None` for variable width.
pub(crate) fn width(ty: SqlType) -> Option<usize> {
    use SqlType::*;
    Some(match ty {
        Boolean | TinyInt | UnsignedTinyInt => 1,
        SmallInt | UnsignedSmallInt => 2,
        Integer | UnsignedInt | Float | UnsignedFloat => 4,
        BigInt | UnsignedLong | Double | UnsignedDouble | Date | Time | UnsignedDate | UnsignedTime => 8,
        Timestamp | UnsignedTimestamp => 12,
        Decimal(Some(_)) | Interval => 16,
        Null | Decimal(None) | Char(_) | Varchar(_) | Binary(_) | Varbinary | VarbinaryEncoded | Uuid | Json
        | Array(..) | Opaque => {
            return None;
        }
    })
}

pub(crate) fn put_fixed(value: &Value, ty: SqlType, out: &mut [u8]) {
    match value {
        Value::Bool(b) => out[0] = u8::from(*b),
        Value::Int(i) => out.copy_from_slice(&i.to_le_bytes()[..out.len()]),
        Value::Date(ms) => out.copy_from_slice(&ms.to_le_bytes()),
        Value::Float(f) => out.copy_from_slice(&f.to_le_bytes()),
        Value::Double(d) => out.copy_from_slice(&d.to_le_bytes()),
        Value::Timestamp(at) => {
            out[..8].copy_from_slice(&at.ms.to_le_bytes());
            out[8..].copy_from_slice(&at.nanos.to_le_bytes());
        }
        Value::Interval(Length { months, days, nanos }) => {
            out[..4].copy_from_slice(&months.to_le_bytes());
            out[4..8].copy_from_slice(&days.to_le_bytes());
            out[8..].copy_from_slice(&nanos.to_le_bytes());
        }
        Value::Decimal(d) => {
            let scale = if let SqlType::Decimal(Some((_, scale))) = ty { scale.into() } else { 0 };
            // `number::assign` made the value fit, so that it has an unscaled form.
            out.copy_from_slice(&d.unscaled_at(scale).unwrap_or_default().to_le_bytes());
        }
        Value::Null | Value::Text(_) | Value::Bytes(_) | Value::Array(_) => {}
    }
}

pub(crate) fn put_variable(value: &Value, ty: SqlType, out: &mut Vec<u8>) {
    match value {
        Value::Text(text) => out.extend_from_slice(text.as_bytes()),
        Value::Bytes(bytes) => out.extend_from_slice(bytes),
        Value::Decimal(d) => {
            out.extend_from_slice(&(d.scale() as i16).to_le_bytes());
            out.extend_from_slice(&d.digits().to_le_bytes());
        }
        Value::Array(elements) => put_array(elements, ty.element().unwrap_or(SqlType::Null), out),
        _ => {}
    }
}

/// A value as the bytes of its slot; `None` for NULL.
pub(crate) fn slot_bytes(ty: SqlType, value: &Value) -> Option<Vec<u8>> {
    if value.is_null() {
        return None;
    }
    let mut out = Vec::new();
    match width(ty) {
        Some(width) => {
            out.resize(width, 0);
            put_fixed(value, ty, &mut out);
        }
        None => put_variable(value, ty, &mut out),
    }
    Some(out)
}

/// The value in a slot's bytes; `None` when they are no value of the type.
pub(crate) fn slot_value(ty: SqlType, bytes: &[u8]) -> Option<Value> {
    use SqlType::*;
    Some(match ty {
        Boolean => Value::Bool(*bytes.first()? != 0),
        Float | UnsignedFloat => Value::Float(f32::from_le_bytes(bytes.try_into().ok()?)),
        Double | UnsignedDouble => Value::Double(f64::from_le_bytes(bytes.try_into().ok()?)),
        Date | Time | UnsignedDate | UnsignedTime => Value::Date(slot_int(bytes)?),
        Timestamp | UnsignedTimestamp => Value::Timestamp(slot_timestamp(bytes)?),
        Interval => Value::Interval(slot_interval(bytes)?),
        Decimal(scale) => Value::Decimal(slot_decimal(scale, bytes)?),
        Char(_) | Varchar(_) | Json => Value::Text(std::str::from_utf8(bytes).ok()?.to_owned()),
        Binary(_) | Varbinary | VarbinaryEncoded | Uuid => Value::Bytes(bytes.to_vec()),
        Array(element, _) => Value::Array(array(element.sql_type(), bytes)?),
        Null => Value::Null,
        _ => Value::Int(slot_int(bytes)?),
    })
}

/// A little-endian integer of 1 to 8 bytes, sign extended.
pub(crate) fn slot_int(bytes: &[u8]) -> Option<i64> {
    Some(match bytes.len() {
        1 => i8::from_le_bytes(bytes.try_into().ok()?).into(),
        2 => i16::from_le_bytes(bytes.try_into().ok()?).into(),
        4 => i32::from_le_bytes(bytes.try_into().ok()?).into(),
        _ => i64::from_le_bytes(bytes.try_into().ok()?),
    })
}

/// A timestamp's slot.
pub(crate) fn slot_timestamp(bytes: &[u8]) -> Option<Timestamp> {
    Some(Timestamp {
        ms: i64::from_le_bytes(bytes.get(..8)?.try_into().ok()?),
        nanos: u32::from_le_bytes(bytes.get(8..)?.try_into().ok()?),
    })
}

/// An interval's slot: months, days, nanoseconds.
fn slot_interval(bytes: &[u8]) -> Option<Length> {
    let (months, rest) = bytes.split_first_chunk()?;
    let (days, nanos) = rest.split_first_chunk()?;
    Some(Length {
        months: i32::from_le_bytes(*months),
        days: i32::from_le_bytes(*days),
        nanos: i64::from_le_bytes(nanos.try_into().ok()?),
    })
}

/// A decimal's slot; `scale` is that of DECIMAL(p,s).
pub(crate) fn slot_decimal(scale: Option<(u8, u8)>, bytes: &[u8]) -> Option<Decimal> {
    match scale {
        Some((_, scale)) => Decimal::new(i128::from_le_bytes(bytes.try_into().ok()?), scale.into()).ok(),
        None => {
            let scale = i16::from_le_bytes(bytes.get(..2)?.try_into().ok()?);
            Decimal::new(i128::from_le_bytes(bytes.get(2..)?.try_into().ok()?), scale.into()).ok()
        }
    }
}

/// Appends an array.
fn put_array(elements: &[Value], ty: SqlType, out: &mut Vec<u8>) {
    out.extend_from_slice(&(elements.len() as u32).to_le_bytes());
    let nulls_at = out.len();
    let values_at = nulls_at + elements.len().div_ceil(8);
    let each = width(ty).unwrap_or(4);
    out.resize(values_at + elements.len() * each, 0);
    let variable_at = out.len();
    for (i, element) in elements.iter().enumerate() {
        let at = values_at + i * each;
        if element.is_null() {
            out[nulls_at + i / 8] |= 1 << (i % 8);
        } else if let Some(width) = width(ty) {
            put_fixed(element, ty, &mut out[at..at + width]);
        } else {
            put_variable(element, ty, out);
        }
        if width(ty).is_none() {
            let end = (out.len() - variable_at) as u32;
            out[at..at + 4].copy_from_slice(&end.to_le_bytes());
        }
    }
}

/// The elements of an array; `None` when the bytes are none.
fn array(ty: SqlType, bytes: &[u8]) -> Option<Vec<Value>> {
    let (count, rest) = bytes.split_first_chunk()?;
    let count = u32::from_le_bytes(*count) as usize;
    let (nulls, values) = rest.split_at_checked(count.div_ceil(8))?;
    let (slots, variable) = values.split_at_checked(count.checked_mul(width(ty).unwrap_or(4))?)?;
    let mut start = 0;
    let mut element = |(i, slot): (usize, &[u8])| {
        let stored = match width(ty) {
            Some(_) => slot,
            None => {
                let end = u32::from_le_bytes(slot.try_into().ok()?) as usize;
                variable.get(std::mem::replace(&mut start, end)..end)?
            }
        };
        let is_null = nulls.get(i / 8)? & (1 << (i % 8)) != 0;
        if is_null { Some(Value::Null) } else { slot_value(ty, stored) }
    };
    slots.chunks_exact(width(ty).unwrap_or(4)).enumerate().map(&mut element).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use saltwing_types::value::Timestamp;

    use super::*;

    fn element(ty: SqlType) -> BoxedStrategy<Value> {
        let some = match ty {
            SqlType::Integer => any::<i32>().prop_map(Value::from).boxed(),
            SqlType::Boolean => any::<bool>().prop_map(Value::from).boxed(),
            SqlType::Double => any::<f64>().prop_map(Value::from).boxed(),
            SqlType::Timestamp => (any::<i64>(), 0..1_000_000u32)
                .prop_map(|(ms, nanos)| Value::Timestamp(Timestamp { ms, nanos }))
                .boxed(),
            SqlType::Decimal(None) => any::<i64>().prop_map(|n| Value::Decimal(n.into())).boxed(),
            SqlType::Interval => any::<(i32, i32, i64)>()
                .prop_map(|(months, days, nanos)| Value::Interval(Length { months, days, nanos }))
                .boxed(),
            SqlType::Varbinary => prop::collection::vec(any::<u8>(), 0..4).prop_map(Value::Bytes).boxed(),
            _ => "[\0aé]{0,3}".prop_map(Value::Text).boxed(),
        };
        prop_oneof![1 => Just(Value::Null), 3 => some].boxed()
    }

    const TYPES: [SqlType; 8] = [
        SqlType::Integer,
        SqlType::Boolean,
        SqlType::Double,
        SqlType::Timestamp,
        SqlType::Decimal(None),
        SqlType::Interval,
        SqlType::Varbinary,
        SqlType::Varchar(None),
    ];

    proptest! {
        #[test]
        fn arrays_come_back((ty, elements) in prop::sample::select(TYPES.to_vec())
            .prop_flat_map(|ty| (Just(ty), prop::collection::vec(element(ty), 0..20))))
        {
            let mut bytes = Vec::new();
            put_array(&elements, ty, &mut bytes);
            prop_assert_eq!(array(ty, &bytes), Some(elements));
            for cut in 0..bytes.len() {
                let _ = array(ty, &bytes[..cut]);
            }
        }

        #[test]
        fn damaged_bytes_never_panic(bytes in prop::collection::vec(prop_oneof![Just(0u8), Just(3), any::<u8>()], 0..30)) {
            for ty in TYPES {
                let _ = array(ty, &bytes);
            }
        }
    }
}
