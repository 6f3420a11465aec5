//! The values of a key column by number, smallest first, so that the place where a function of
//! them passes a constant is found by halving.
//!
//! # Laws
//! 1. `value` is strictly monotone: of two ranks the larger has the larger value.
//! 2. Every value that the column can hold, NaN apart, has an ordinal from `first` to `last`.
//!
//! Text and binary values have no ranks: infinitely many values are between two of them.

use ethnum::I256;
use saltwing_types::value::Timestamp;
use saltwing_types::{Decimal, SqlType, Value};

use crate::domain::{Domain, instants};

/// The numbering of one column's values.
#[derive(Clone, Debug)]
pub(crate) struct ValueRanks {
    kind: Kind,
    pub(crate) first: I256,
    pub(crate) last: I256,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Boolean,
    Integer,
    /// Milliseconds.
    Date,
    /// Nanoseconds.
    Timestamp,
    /// By its bits: those of a positive float grow with it.
    Float,
    Double,
    /// Units of the last place.
    Decimal(i32),
    BareDecimal,
}

/// Digits of a decimal.
const DIGITS: u32 = 38;
/// The mantissas of bare decimals: numbers of 38 digits.
const MANTISSA_FIRST: i128 = 10i128.pow(DIGITS - 1);
const MANTISSAS: i128 = 9 * MANTISSA_FIRST;
/// Digits before the point of the largest and of the smallest positive number that a key holds.
const INTEGER_DIGITS_MAX: i128 = 126;
const INTEGER_DIGITS_MIN: i128 = -125;
const NANOS_PER_MS: i64 = 1_000_000;

impl ValueRanks {
    /// `None` for text and binary columns.
    pub(crate) fn of(domain: &Domain) -> Option<Self> {
        let ty = domain.ty();
        let (kind, first, last) = match ty {
            SqlType::Boolean => (Kind::Boolean, I256::ZERO, I256::ONE),
            _ if ty.is_integer() => {
                let (first, last) = ty.integer_range()?;
                (Kind::Integer, I256::from(first), I256::from(last))
            }
            SqlType::Date | SqlType::Time | SqlType::UnsignedDate | SqlType::UnsignedTime => {
                let (first, last) = instants(ty);
                (Kind::Date, I256::from(first), I256::from(last))
            }
            SqlType::Timestamp | SqlType::UnsignedTimestamp => {
                let nanos = |ms: i64| I256::from(ms) * I256::from(NANOS_PER_MS);
                let (first, last) = instants(ty);
                (Kind::Timestamp, nanos(first), nanos(last) + I256::from(NANOS_PER_MS - 1))
            }
            SqlType::Decimal(Some((precision, scale))) => {
                let last = I256::from(10i128.checked_pow(precision.into())? - 1);
                (Kind::Decimal(scale.into()), -last, last)
            }
            SqlType::Decimal(None) => {
                let last = I256::from(INTEGER_DIGITS_MAX - INTEGER_DIGITS_MIN + 1) * I256::from(MANTISSAS);
                (Kind::BareDecimal, -last, last)
            }
            _ if ty.is_float() => {
                let (kind, last) = match ty.is_single_float() {
                    true => (Kind::Float, I256::from(f32::INFINITY.to_bits())),
                    false => (Kind::Double, I256::from(f64::INFINITY.to_bits())),
                };
                (kind, if ty.is_unsigned() { I256::ZERO } else { -last }, last)
            }
            _ => return None,
        };
        Some(Self { kind, first, last })
    }

    /// The ordinal of the value 0 (FALSE, 1970), or of the smallest value above.
    pub(crate) fn zero(&self) -> I256 {
        I256::ZERO.max(self.first)
    }

    /// Whether NaN is after the last value.
    pub(crate) fn nan(&self) -> Option<Value> {
        match self.kind {
            Kind::Float => Some(Value::Float(f32::NAN)),
            Kind::Double => Some(Value::Double(f64::NAN)),
            _ => None,
        }
    }

    /// The value of an ordinal from `first` to `last`. `None` is a broken invariant: the caller then makes no ranges of the
    /// condition, and the filter checks each row.
    pub(crate) fn value(&self, ordinal: I256) -> Option<Value> {
        let narrow = ordinal.as_i64();
        let negative = ordinal.is_negative();
        let value = match self.kind {
            Kind::Boolean => Value::Bool(narrow != 0),
            Kind::Integer => Value::Int(narrow),
            Kind::Date => Value::Date(narrow),
            Kind::Timestamp => {
                let nanos = ordinal.as_i128();
                let per_ms = i128::from(NANOS_PER_MS);
                let ms = nanos.div_euclid(per_ms) as i64;
                Value::Timestamp(Timestamp { ms, nanos: nanos.rem_euclid(per_ms) as u32 })
            }
            Kind::Float => {
                let size = f32::from_bits(narrow.unsigned_abs() as u32);
                Value::Float(if negative { -size } else { size })
            }
            Kind::Double => {
                let size = f64::from_bits(narrow.unsigned_abs());
                Value::Double(if negative { -size } else { size })
            }
            Kind::Decimal(scale) => decimal(ordinal.as_i128(), scale)?,
            Kind::BareDecimal if ordinal == I256::ZERO => Value::Decimal(Decimal::ZERO),
            Kind::BareDecimal => {
                let position = ordinal.abs() - I256::ONE;
                let exponent = (position / I256::from(MANTISSAS)).as_i128() + INTEGER_DIGITS_MIN;
                let mantissa = MANTISSA_FIRST + (position % I256::from(MANTISSAS)).as_i128();
                let scale = i128::from(DIGITS) - exponent;
                decimal(if negative { -mantissa } else { mantissa }, scale as i32)?
            }
        };
        Some(value)
    }

    /// The first ordinal from `low` on, below `high`, for which `before` does not hold; it holds for a first part of them.
    /// `None` as for [`ValueRanks::value`].
    pub(crate) fn partition(&self, mut low: I256, mut high: I256, before: impl Fn(&Value) -> bool) -> Option<I256> {
        while low < high {
            let middle = low + (high - low) / 2;
            if before(&self.value(middle)?) { low = middle + 1 } else { high = middle }
        }
        Some(low)
    }
}

/// A decimal of a rank, which has at most as many digits as a decimal may have.
fn decimal(mantissa: i128, scale: i32) -> Option<Value> {
    let decimal = Decimal::new(mantissa, scale).ok();
    debug_assert!(decimal.is_some(), "a rank stands for {mantissa} with the scale {scale}");
    decimal.map(Value::Decimal)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use saltwing_types::{KeyColumn, KeySource, SortOrder};

    use super::*;

    const TYPES: [SqlType; 12] = [
        SqlType::Boolean,
        SqlType::TinyInt,
        SqlType::BigInt,
        SqlType::UnsignedLong,
        SqlType::Date,
        SqlType::UnsignedTimestamp,
        SqlType::Timestamp,
        SqlType::Float,
        SqlType::UnsignedDouble,
        SqlType::Double,
        SqlType::Decimal(Some((5, 2))),
        SqlType::Decimal(None),
    ];

    fn domain(ty: SqlType) -> Domain {
        let column =
            KeyColumn { source: KeySource::Column(0), name: "k".into(), ty, order: SortOrder::Asc, nullable: false };
        Domain::new(&column, ty, true)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 8))]

        /// Law 1.
        #[test]
        fn larger_ordinals_have_larger_values(ty in prop::sample::select(TYPES.to_vec()), a in any::<u128>(), step in 1u64..) {
            let (domain, ranks) = (domain(ty), ValueRanks::of(&domain(ty)).unwrap());
            let count = ranks.last - ranks.first;
            let a = ranks.first + I256::from(a) * I256::from(1_000_003) % count;
            let b = (a + I256::from(step)).min(ranks.last);
            prop_assert_eq!(domain.compare(&ranks.value(a).unwrap(), &ranks.value(b).unwrap()), a.cmp(&b));
        }
    }

    /// Law 2, at the ends: they are the column's, where it has such.
    #[test]
    fn the_ends_are_the_columns() {
        for ty in TYPES {
            let (domain, ranks) = (domain(ty), ValueRanks::of(&domain(ty)).unwrap());
            let is = |value: Option<&Value>, ordinal| {
                value.is_none_or(|v| domain.compare(v, &ranks.value(ordinal).unwrap()).is_eq())
            };
            assert!(is(domain.min(), ranks.first), "{ty}");
            assert!(
                is(ranks.nan().or(domain.max().cloned()).as_ref().filter(|_| ranks.nan().is_none()), ranks.last),
                "{ty}"
            );
        }
        let bare = ValueRanks::of(&domain(SqlType::Decimal(None))).unwrap();
        let text =
            |ordinal| saltwing_types::text::format(&bare.value(ordinal).unwrap(), SqlType::Decimal(None)).unwrap();
        assert_eq!(text(I256::ONE).trim_end_matches('1').len(), 127);
        assert_eq!(text(bare.last).len(), 126);
        assert!(text(bare.last).starts_with("99999999999999999999999999999999999999000"));
    }
}
