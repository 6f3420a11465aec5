//! One SQL value, and how values compare.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use crate::sql_type::TypeFamily;
use crate::{Decimal, SqlType};

/// A value without its type: widths and limits are [`SqlType`]'s business.
///
/// `==` and hashing are those of grouping: NULL equals NULL, NaN equals NaN,
/// -0.0 equals 0.0, and intervals are equal by their parts. SQL's comparison, with NULL unknown and numbers of several
/// kinds, is [`Value::compare`].
#[derive(Debug)]
pub enum Value {
    /// NULL of any type.
    Null,
    /// BOOLEAN.
    Bool(bool),
    /// Any integer type.
    Int(i64),
    /// FLOAT, UNSIGNED_FLOAT.
    Float(f32),
    /// DOUBLE, UNSIGNED_DOUBLE.
    Double(f64),
    /// DECIMAL.
    Decimal(Decimal),
    /// DATE, TIME and unsigned: milliseconds since 1970-01-01T00:00Z.
    Date(i64),
    /// TIMESTAMP and unsigned.
    Timestamp(Timestamp),
    /// INTERVAL.
    Interval(Interval),
    /// CHAR (without padding) and VARCHAR.
    Text(String),
    /// BINARY (with its padding), VARBINARY, VARBINARY_ENCODED, UUID.
    Bytes(Vec<u8>),
    /// An array: its elements, which are NULL or of one type, and no arrays.
    Array(Vec<Value>),
}

/// Derived, it would be a call for each value, because arrays have values.
impl Clone for Value {
    #[inline]
    fn clone(&self) -> Self {
        match self {
            Self::Null => Self::Null,
            Self::Bool(value) => Self::Bool(*value),
            Self::Int(value) => Self::Int(*value),
            Self::Float(value) => Self::Float(*value),
            Self::Double(value) => Self::Double(*value),
            Self::Decimal(value) => Self::Decimal(*value),
            Self::Date(ms) => Self::Date(*ms),
            Self::Timestamp(at) => Self::Timestamp(*at),
            Self::Interval(length) => Self::Interval(*length),
            Self::Text(text) => Self::Text(text.clone()),
            Self::Bytes(bytes) => Self::Bytes(bytes.clone()),
            Self::Array(elements) => Self::Array(elements.clone()),
        }
    }
}

/// An instant to the nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    /// Milliseconds since 1970-01-01T00:00Z.
    pub ms: i64,
    /// Nanoseconds below the millisecond, 0..=999,999.
    pub nanos: u32,
}

impl Timestamp {
    /// Nanoseconds since 1970, where they fit 64 bits (the years 1677 to 2262).
    pub fn to_nanos(self) -> Option<i64> {
        self.ms.checked_mul(1_000_000)?.checked_add(self.nanos.into())
    }

    /// From nanoseconds since 1970.
    pub fn from_nanos(nanos: i64) -> Self {
        Self { ms: nanos.div_euclid(1_000_000), nanos: nanos.rem_euclid(1_000_000) as u32 }
    }
}

/// A length of time: three parts that do not turn into each other, as in PostgreSQL and in Arrow's MonthDayNano.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Interval {
    /// Calendar months.
    pub months: i32,
    /// Calendar days.
    pub days: i32,
    /// Nanoseconds: at most 2,562,047 hours.
    pub nanos: i64,
}

/// Days that a month counts for where intervals are compared.
pub(crate) const DAYS_PER_MONTH: i64 = 30;

impl Interval {
    /// Its length in nanoseconds, by which intervals compare: a month has 30 days, and a day 24 hours.
    pub fn span(self) -> i128 {
        const NANOS_PER_DAY: i128 = 86_400_000_000_000;
        let days = i128::from(self.months) * i128::from(DAYS_PER_MONTH) + i128::from(self.days);
        days * NANOS_PER_DAY + i128::from(self.nanos)
    }
}

impl Value {
    /// Whether this is NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// A text value.
    pub fn text(text: impl Into<String>) -> Self {
        Value::Text(text.into())
    }

    /// The text of a text value.
    pub fn as_text(&self) -> Option<&str> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }

    /// SQL's comparison of two values of one family; numbers of different kinds
    /// are compared by value, without rounding an integer or a decimal.
    ///
    /// A float is compared with a decimal as the shortest decimal that parses to the float. Arrays are compared element by
    /// element, and a shorter one comes before those that it begins; elements that are NULL are equal, and come first. `None`
    /// if either is NULL, or if the families differ.
    pub fn compare(&self, other: &Value) -> Option<Ordering> {
        use Value::*;
        Some(match (self, other) {
            (Null, _) | (_, Null) => return None,
            (Bool(a), Bool(b)) => a.cmp(b),
            (Text(a), Text(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Bytes(a), Bytes(b)) => a.cmp(b),
            (Array(a), Array(b)) => return compare_arrays(a, b),
            (Date(a), Date(b)) => a.cmp(b),
            (Timestamp(a), Timestamp(b)) => a.cmp(b),
            (Interval(a), Interval(b)) => a.span().cmp(&b.span()),
            (Date(a), Timestamp(b)) => (*a, 0).cmp(&(b.ms, b.nanos)),
            (Timestamp(a), Date(b)) => (a.ms, a.nanos).cmp(&(*b, 0)),
            _ => return self.compare_numbers(other),
        })
    }

    /// As [`Value::compare`], with CHAR padded by blanks when `ty` is CHAR.
    pub fn compare_as(&self, other: &Value, ty: SqlType) -> Option<Ordering> {
        match (self, other, ty) {
            (Value::Text(a), Value::Text(b), SqlType::Char(_)) => Some(compare_padded(a.as_bytes(), b.as_bytes())),
            _ => self.compare(other),
        }
    }

    /// Sort order of a column: NULL first, then [`Value::compare`]; total within one family.
    pub fn sort_cmp(&self, other: &Value) -> Ordering {
        self.compare(other).unwrap_or_else(|| other.is_null().cmp(&self.is_null()))
    }

    /// The family this value belongs to.
    pub fn family(&self) -> TypeFamily {
        match self {
            Value::Null => TypeFamily::Null,
            Value::Bool(_) => TypeFamily::Boolean,
            Value::Int(_) | Value::Float(_) | Value::Double(_) | Value::Decimal(_) => TypeFamily::Number,
            Value::Date(_) | Value::Timestamp(_) => TypeFamily::Instant,
            Value::Interval(_) => TypeFamily::Interval,
            Value::Text(_) => TypeFamily::Text,
            Value::Bytes(_) => TypeFamily::Bytes,
            Value::Array(_) => TypeFamily::Array,
        }
    }

    /// Bytes that the value takes beside itself: those of a text, of bytes, or of an array's elements.
    pub fn heap_bytes(&self) -> usize {
        match self {
            Value::Text(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            Value::Array(elements) => Value::bytes_of_row(elements),
            _ => 0,
        }
    }

    /// Bytes that the values of a row take in memory.
    pub fn bytes_of_row(row: &[Value]) -> usize {
        size_of_val(row) + row.iter().map(Value::heap_bytes).sum::<usize>()
    }

    fn compare_numbers(&self, other: &Value) -> Option<Ordering> {
        use Value::*;
        Some(match (self, other) {
            (Int(a), Int(b)) => a.cmp(b),
            (Decimal(a), Decimal(b)) => a.cmp(b),
            (Int(a), Decimal(b)) => crate::Decimal::from(*a).cmp(b),
            (Decimal(a), Int(b)) => a.cmp(&crate::Decimal::from(*b)),
            (Float(a), Float(b)) => compare_floats((*a).into(), (*b).into()),
            (Double(a), Double(b)) => compare_floats(*a, *b),
            (Float(a), Double(b)) => compare_floats((*a).into(), *b),
            (Double(a), Float(b)) => compare_floats(*a, (*b).into()),
            (Int(a), Float(b)) => compare_int_float(*a, (*b).into()),
            (Int(a), Double(b)) => compare_int_float(*a, *b),
            (Float(a), Int(b)) => compare_int_float(*b, (*a).into()).reverse(),
            (Double(a), Int(b)) => compare_int_float(*b, *a).reverse(),
            (Decimal(a), Double(b)) => compare_decimal_float(*a, *b, crate::Decimal::from_f64(*b).ok()),
            (Decimal(a), Float(b)) => compare_decimal_float(*a, (*b).into(), crate::Decimal::from_f32(*b).ok()),
            (Double(a), Decimal(b)) => compare_decimal_float(*b, *a, crate::Decimal::from_f64(*a).ok()).reverse(),
            (Float(a), Decimal(b)) => {
                compare_decimal_float(*b, (*a).into(), crate::Decimal::from_f32(*a).ok()).reverse()
            }
            _ => return None,
        })
    }
}

fn compare_arrays(a: &[Value], b: &[Value]) -> Option<Ordering> {
    for (a, b) in a.iter().zip(b) {
        let order = match (a, b) {
            (Value::Null, _) | (_, Value::Null) => b.is_null().cmp(&a.is_null()),
            _ => a.compare(b)?,
        };
        if order.is_ne() {
            return Some(order);
        }
    }
    Some(a.len().cmp(&b.len()))
}

/// NaN equals itself and is largest; -0.0 equals 0.0.
fn compare_floats(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

fn compare_int_float(a: i64, b: f64) -> Ordering {
    if b.is_nan() || b >= 2f64.powi(63) {
        return Ordering::Less;
    }
    if b < -(2f64.powi(63)) {
        return Ordering::Greater;
    }
    // Within 64 bits the whole part converts exactly; the fraction breaks the tie.
    a.cmp(&(b.trunc() as i64)).then_with(|| 0.0f64.partial_cmp(&b.fract()).unwrap_or(Ordering::Equal))
}

fn compare_decimal_float(a: Decimal, b: f64, exact: Option<Decimal>) -> Ordering {
    match exact {
        Some(b) => a.cmp(&b),
        None if b == f64::NEG_INFINITY => Ordering::Greater,
        None => Ordering::Less,
    }
}

/// Compares as if the shorter one went on with blanks.
fn compare_padded(a: &[u8], b: &[u8]) -> Ordering {
    let length = a.len().max(b.len());
    let byte = |s: &[u8], i: usize| s.get(i).copied().unwrap_or(b' ');
    (0..length).map(|i| byte(a, i).cmp(&byte(b, i))).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Array(a), Value::Array(b)) => a == b,
            (Value::Interval(a), Value::Interval(b)) => a == b,
            _ => {
                std::mem::discriminant(self) == std::mem::discriminant(other)
                    && self.compare(other) == Some(Ordering::Equal)
            }
        }
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Value::Null => {}
            Value::Bool(v) => v.hash(state),
            Value::Int(v) | Value::Date(v) => v.hash(state),
            Value::Float(v) => hash_float((*v).into(), state),
            Value::Double(v) => hash_float(*v, state),
            Value::Decimal(v) => v.hash(state),
            Value::Timestamp(v) => v.hash(state),
            Value::Interval(v) => v.hash(state),
            Value::Text(v) => v.hash(state),
            Value::Bytes(v) => v.hash(state),
            Value::Array(v) => v.hash(state),
        }
    }
}

fn hash_float<H: Hasher>(value: f64, state: &mut H) {
    let canonical = if value == 0.0 {
        0.0
    } else if value.is_nan() {
        f64::NAN
    } else {
        value
    };
    canonical.to_bits().hash(state);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_compare_by_value() {
        let decimal = |t: &str| Value::Decimal(t.parse().unwrap());
        let cases = [
            (Value::Int(2), decimal("2.5"), Ordering::Less),
            (Value::Int(i64::MAX), Value::Double(9.223_372_036_854_776e18), Ordering::Less),
            (Value::Int(-2), Value::Double(-2.5), Ordering::Greater),
            (Value::Int(2), Value::Double(2.5), Ordering::Less),
            (Value::Int(3), Value::Double(3.0), Ordering::Equal),
            (Value::Double(0.1), decimal("0.1"), Ordering::Equal),
            (Value::Float(0.1), decimal("0.1"), Ordering::Equal),
            (Value::Double(f64::NAN), Value::Double(f64::INFINITY), Ordering::Greater),
            (Value::Double(f64::NAN), decimal("1"), Ordering::Greater),
            (Value::Double(-0.0), Value::Double(0.0), Ordering::Equal),
        ];
        for (a, b, expected) in cases {
            assert_eq!(a.compare(&b), Some(expected), "{a:?} {b:?}");
            assert_eq!(b.compare(&a), Some(expected.reverse()), "{b:?} {a:?}");
        }
    }

    #[test]
    fn arrays_compare_by_element() {
        let array = |elements: &[Option<i64>]| Value::Array(elements.iter().map(|e| Value::from(*e)).collect());
        let ascending = [
            array(&[]),
            array(&[None]),
            array(&[None, Some(1)]),
            array(&[Some(1)]),
            array(&[Some(1), None]),
            array(&[Some(1), Some(-5)]),
            array(&[Some(2)]),
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(a.compare(b), Some(i.cmp(&j)), "{a:?} {b:?}");
            }
        }
        assert_eq!(array(&[Some(1)]).compare(&Value::Array(vec![Value::text("a")])), None);
        // Equal to SQL; not the same value, as 1 and 1.0 are not.
        let decimal = Value::Array(vec![Value::Decimal(1.into())]);
        assert_eq!(array(&[Some(1)]).compare(&decimal), Some(Ordering::Equal));
        assert_ne!(array(&[Some(1)]), decimal);
    }

    #[test]
    fn char_compares_padded() {
        let (short, long) = (Value::text("ab"), Value::text("ab\u{1}"));
        assert_eq!(short.compare_as(&long, SqlType::Char(5)), Some(Ordering::Greater));
        assert_eq!(short.compare(&long), Some(Ordering::Less));
    }
}
