//! The position of a constant among the values of a column.
//!
//! A column of integers is compared with 2.5 or with 1e30 exactly, using integers only: 2.5 is just below 3, 1e30 above
//! all.

use arrow::buffer::BooleanBuffer;
use arrow::datatypes::i256;
use saltwing_types::value::Timestamp;
use saltwing_types::{CompareOp, Decimal, Value, text};

use crate::arrow_type::BARE_DECIMAL_SCALE;
use crate::bare_decimal;
use crate::bits::pack;

/// A constant's place in a column's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place<T> {
    BelowAll,
    /// It is this value.
    At(T),
    /// Below this value, and above the next smaller one.
    JustBelow(T),
    AboveAll,
}

impl Place<i64> {
    /// The same place among a narrower integer type's values.
    pub(crate) fn narrow<T: TryFrom<i64>>(self) -> Place<T> {
        match self {
            Place::BelowAll => Place::BelowAll,
            Place::AboveAll => Place::AboveAll,
            Place::At(value) => value.try_into().map_or(beyond(value < 0), Place::At),
            Place::JustBelow(value) => value.try_into().map_or(beyond(value < 0), Place::JustBelow),
        }
    }
}

impl<T: Copy + Ord> Place<T> {
    /// Which of `values`, each seen through `key`, compare with the constant as `op` says
    /// (IS DISTINCT as `<>`, its negation as `=`).
    pub(crate) fn test<V: Copy>(self, op: CompareOp, values: &[V], key: impl Fn(V) -> T) -> BooleanBuffer {
        use CompareOp::*;
        use Place::*;
        let all =
            |answer| if answer { BooleanBuffer::new_set(values.len()) } else { BooleanBuffer::new_unset(values.len()) };
        match (op, self) {
            (Eq | NotDistinct, At(x)) => pack(values, |v| key(v) == x),
            (NotEq | Distinct, At(x)) => pack(values, |v| key(v) != x),
            (Eq | NotDistinct, _) => all(false),
            (NotEq | Distinct, _) => all(true),
            (Lt | LtEq, AboveAll) | (Gt | GtEq, BelowAll) => all(true),
            (Lt | LtEq, BelowAll) | (Gt | GtEq, AboveAll) => all(false),
            (Lt, At(x)) | (Lt | LtEq, JustBelow(x)) => pack(values, |v| key(v) < x),
            (LtEq, At(x)) => pack(values, |v| key(v) <= x),
            (GtEq, At(x)) | (Gt | GtEq, JustBelow(x)) => pack(values, |v| key(v) >= x),
            (Gt, At(x)) => pack(values, |v| key(v) > x),
        }
    }
}

fn beyond<T>(negative: bool) -> Place<T> {
    if negative { Place::BelowAll } else { Place::AboveAll }
}

/// Among the integers of 64 bits.
pub(crate) fn among_integers(value: &Value) -> Option<Place<i64>> {
    Some(match value {
        Value::Int(i) => Place::At(*i),
        Value::Decimal(d) => match d.to_i64() {
            None => beyond(d.is_negative()),
            Some(whole) if d.is_integer() => Place::At(whole),
            Some(whole) if d.is_negative() => Place::JustBelow(whole),
            Some(whole) => whole.checked_add(1).map_or(Place::AboveAll, Place::JustBelow),
        },
        Value::Float(f) => float_among_integers((*f).into()),
        Value::Double(d) => float_among_integers(*d),
        _ => return None,
    })
}

fn float_among_integers(value: f64) -> Place<i64> {
    let end = 2f64.powi(63);
    if value.is_nan() || value >= end {
        Place::AboveAll
    } else if value < -end {
        Place::BelowAll
    } else if value.fract() == 0.0 {
        Place::At(value as i64)
    } else {
        // A float with a fraction is far below 2^63.
        Place::JustBelow(value.floor() as i64 + 1)
    }
}

/// Among milliseconds.
pub(crate) fn among_milliseconds(value: &Value) -> Option<Place<i64>> {
    let at = text::instant(value)?;
    Some(match at.nanos {
        0 => Place::At(at.ms),
        _ => at.ms.checked_add(1).map_or(Place::AboveAll, Place::JustBelow),
    })
}

/// Among the nanoseconds of 64 bits.
pub(crate) fn among_nanoseconds(value: &Value) -> Option<Place<i64>> {
    let nanos = total_nanos(text::instant(value)?);
    Some(i64::try_from(nanos).map_or(beyond(nanos < 0), Place::At))
}

pub(crate) fn total_nanos(at: Timestamp) -> i128 {
    i128::from(at.ms) * 1_000_000 + i128::from(at.nanos)
}

/// Among the unscaled values of DECIMAL(p, `scale`).
pub(crate) fn among_decimals(value: &Value, scale: i8) -> Option<Place<i128>> {
    let scale = i32::from(scale);
    Some(match number_as_decimal(value)? {
        Err(place) => place.cast(),
        Ok(d) => match (d.scale() <= scale, d.truncate(scale).unscaled_at(scale)) {
            (_, None) => beyond(d.is_negative()),
            (true, Some(exact)) => Place::At(exact),
            (false, Some(cut)) => Place::JustBelow(if d.is_negative() { cut } else { cut + 1 }),
        },
    })
}

/// Among the unscaled values of a bare DECIMAL.
pub(crate) fn among_bare_decimals(value: &Value) -> Option<Place<i256>> {
    let scale = i32::from(BARE_DECIMAL_SCALE);
    Some(match number_as_decimal(value)? {
        Err(place) => place.cast(),
        Ok(d) => match (d.scale() <= scale, bare_decimal::to_unscaled(d.truncate(scale))) {
            (_, None) => beyond(d.is_negative()),
            (true, Some(exact)) => Place::At(exact),
            (false, Some(cut)) if d.is_negative() => Place::JustBelow(cut),
            (false, Some(cut)) => Place::JustBelow(cut.wrapping_add(i256::ONE)),
        },
    })
}

impl Place<()> {
    fn cast<T>(self) -> Place<T> {
        if self == Place::BelowAll { Place::BelowAll } else { Place::AboveAll }
    }
}

/// A number as a decimal; an infinity or NaN as its place beyond all decimals.
fn number_as_decimal(value: &Value) -> Option<Result<Decimal, Place<()>>> {
    let below = |f: f64| beyond(f == f64::NEG_INFINITY);
    Some(match value {
        Value::Int(i) => Ok(Decimal::from(*i)),
        Value::Decimal(d) => Ok(*d),
        Value::Float(f) => Decimal::from_f32(*f).map_err(|_| below((*f).into())),
        Value::Double(f) => Decimal::from_f64(*f).map_err(|_| below(*f)),
        _ => return None,
    })
}

/// Among floats, by [`float_key`]; `None` for integers and decimals, which floats do not all represent.
pub(crate) fn among_floats(value: &Value) -> Option<Place<i64>> {
    match value {
        Value::Float(f) => Some(Place::At(float_key((*f).into()))),
        Value::Double(d) => Some(Place::At(float_key(*d))),
        _ => None,
    }
}

/// A number that orders floats as SQL does: -0.0 is 0.0, NaN is NaN and largest.
pub(crate) fn float_key(value: f64) -> i64 {
    if value.is_nan() {
        return i64::MAX;
    }
    // Adding 0.0 makes -0.0 of zero's own bits.
    let bits = (value + 0.0).to_bits() as i64;
    // Negative floats grow with their bits: all but the sign are turned over.
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tests::generators::any_value;
    use saltwing_types::SqlType;

    proptest! {
        #[test]
        fn float_keys_order_as_values(a in any_value(SqlType::Double), b in any_value(SqlType::Double)) {
            if let (Value::Double(x), Value::Double(y)) = (&a, &b) {
                prop_assert_eq!(Some(float_key(*x).cmp(&float_key(*y))), a.compare(&b));
            }
        }
    }

    #[test]
    fn constants_between_and_beyond() {
        let decimal = |text: &str| Value::Decimal(text.parse().unwrap());
        for (value, place) in [
            (decimal("2.5"), Place::JustBelow(3)),
            (decimal("-2.5"), Place::JustBelow(-2)),
            (decimal("0.001"), Place::JustBelow(1)),
            (decimal("-0.001"), Place::JustBelow(0)),
            (decimal("1e30"), Place::AboveAll),
            (Value::Double(-2.5), Place::JustBelow(-2)),
            (Value::Double(f64::NAN), Place::AboveAll),
            (Value::Double(-1e30), Place::BelowAll),
            (Value::Float(4.0), Place::At(4)),
        ] {
            assert_eq!(among_integers(&value), Some(place), "{value:?}");
        }
        assert_eq!(among_decimals(&decimal("1.555"), 2), Some(Place::JustBelow(156)));
        assert_eq!(among_decimals(&decimal("-1.555"), 2), Some(Place::JustBelow(-155)));
        assert_eq!(among_bare_decimals(&decimal("1e-39")), Some(Place::JustBelow(i256::ONE)));
        assert_eq!(among_bare_decimals(&decimal("-1e-39")), Some(Place::JustBelow(i256::ZERO)));
        assert_eq!(Place::At(200i64).narrow::<i8>(), Place::AboveAll);
        assert_eq!(Place::At(-200i64).narrow::<i8>(), Place::BelowAll);
    }
}
