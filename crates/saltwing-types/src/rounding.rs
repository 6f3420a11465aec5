//! FLOOR, CEIL, ROUND and TRUNC of numbers.

use crate::{Decimal, SqlType, Value, ValueError, number};

/// The direction in which a value is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Down.
    Floor,
    /// Up.
    Ceil,
    /// To the nearest; halves away from zero, of instants to the later.
    Round,
    /// Toward zero; of instants down.
    Trunc,
}

impl Rounding {
    /// The name of its function.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Floor => "FLOOR",
            Self::Ceil => "CEIL",
            Self::Round => "ROUND",
            Self::Trunc => "TRUNC",
        }
    }
}

/// Most decimal places, before or after the point, that rounding distinguishes: no value has more digits.
const PLACES_MAX: i64 = 200;

/// FLOOR, CEIL, ROUND and TRUNC of a number to decimal places; below 0 they count before the point.
///
/// A float is rounded as the decimal that it is written as, so 0.29 to 2 places is 0.29.
///
/// # Errors
/// [`ValueError::OutOfRange`] for an integer that rounds beyond its type.
pub fn round_number(rounding: Rounding, value: &Value, places: i64) -> Result<Value, ValueError> {
    let places = places.clamp(-PLACES_MAX, PLACES_MAX) as i32;
    match value {
        Value::Int(_) if places >= 0 => Ok(value.clone()),
        Value::Int(i) => {
            let rounded = round_decimal(rounding, Decimal::from(*i), places)?;
            number::assign(Value::Decimal(rounded), SqlType::BigInt)
        }
        Value::Decimal(d) => round_decimal(rounding, *d, places).map(Value::Decimal),
        other => {
            let float = number::to_f64(other);
            let rounded = match (rounding, places) {
                _ if !float.is_finite() => float,
                (Rounding::Floor, 0) => float.floor(),
                (Rounding::Ceil, 0) => float.ceil(),
                (Rounding::Round, 0) => float.round(),
                (Rounding::Trunc, 0) => float.trunc(),
                _ => round_decimal(rounding, number::to_decimal(other)?, places)?.to_f64(),
            };
            // Adding 0.0 turns -0.0 into 0.0.
            Ok(Value::Double(rounded + 0.0))
        }
    }
}

fn round_decimal(rounding: Rounding, value: Decimal, places: i32) -> Result<Decimal, ValueError> {
    match rounding {
        Rounding::Floor => value.floor(places),
        Rounding::Ceil => value.ceil(places),
        Rounding::Round => value.round(places),
        Rounding::Trunc => Ok(value.truncate(places)),
    }
}
