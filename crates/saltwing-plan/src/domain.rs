//! The values that a key column can hold, and the position of a constant among them.
//!
//! Conditions compare a column with constants of any type of its family. Here
//! such a constant is brought into the column's own values **once**: it is one
//! of them, or it lies in a gap between two. From then on spans hold the
//! column's own values only, and no bound is ever lost or widened by a cast:
//!
//! ```text
//! INTEGER   against 2.5           a gap after 2
//! INTEGER   against 99999999999   a gap above every value
//! FLOAT     against 1e300         a gap after the largest finite value
//! CHAR(3)   against 'abcd'        a gap after 'abc'
//! ```

use std::cmp::Ordering;

use saltwing_rowkey::ValueCodec;
use saltwing_types::datetime::CALENDAR_MS;
use saltwing_types::value::Timestamp;
use saltwing_types::{Decimal, KeyColumn, SortOrder, SqlType, Value};

/// The values of one key column.
///
/// They are the *logical* ones, of the table column's type. An index may keep
/// them in another type (INTEGER as DECIMAL); [`crate::key_form`] knows which.
#[derive(Clone, Debug)]
pub(crate) struct Domain {
    ty: SqlType,
    nullable: bool,
    /// Whether '' is a value: where NULL can be stored its bytes are NULL's, and it is refused.
    empty_text: bool,
    /// Whether text may hold NUL bytes: only a last, ascending column has no separator that they would be taken for.
    nul_text: bool,
    /// Whether text compares as it is although it is kept as CHAR: a computed part, whose values have no padding.
    unpadded: bool,
    ascending: bool,
    is_last: bool,
    min: Option<Value>,
    max: Option<Value>,
}

impl Domain {
    /// The values of an index's column as conditions know them: NULL and '' are two.
    pub(crate) fn of_index(column: &KeyColumn, ty: SqlType, is_last: bool) -> Self {
        let (min, max) = extremes(ty, true);
        Self { empty_text: true, min, max, ..Self::new(column, ty, is_last) }
    }

    /// The values of `column`, whose table column has the type `ty`; `is_last` tells the last key column.
    pub(crate) fn new(column: &KeyColumn, ty: SqlType, is_last: bool) -> Self {
        let ascending = column.order == SortOrder::Asc;
        let (min, max) = extremes(ty, !column.nullable);
        Self {
            ty,
            nullable: column.nullable,
            empty_text: !column.nullable,
            nul_text: is_last && ascending,
            unpadded: column.computed().is_some(),
            ascending,
            is_last,
            min,
            max,
        }
    }

    /// The type of the values.
    pub(crate) fn ty(&self) -> SqlType {
        self.ty
    }

    /// Whether NULL can be stored.
    pub(crate) fn nullable(&self) -> bool {
        self.nullable
    }

    /// Whether '' is one of the values.
    pub(crate) fn has_empty_text(&self) -> bool {
        self.empty_text
    }

    /// The value whose bytes are those of NULL, if NULL can be stored and the type has such a value.
    pub(crate) fn empty(&self) -> Option<Value> {
        match self.ty {
            _ if !self.nullable => None,
            SqlType::Varchar(_) => Some(Value::text("")),
            SqlType::Varbinary | SqlType::VarbinaryEncoded => Some(Value::Bytes(Vec::new())),
            _ => None,
        }
    }

    /// Whether text with NUL bytes is among the values.
    pub(crate) fn has_nul_text(&self) -> bool {
        self.nul_text
    }

    /// Whether the values of CHAR have no padding, and compare without.
    pub(crate) fn is_unpadded(&self) -> bool {
        self.unpadded
    }

    /// Whether the key has the smallest value first.
    pub(crate) fn is_ascending(&self) -> bool {
        self.ascending
    }

    /// Whether binary values that begin with FF are refused: their bytes would begin like NULL's.
    pub(crate) fn reserves_ff(&self) -> bool {
        self.ty == SqlType::VarbinaryEncoded && self.nullable && !self.ascending && !self.is_last
    }

    /// The smallest value, where there is one.
    pub(crate) fn min(&self) -> Option<&Value> {
        self.min.as_ref()
    }

    /// The first text in key order, if there is one: '', or if that is not a value the character after NUL.
    pub(crate) fn first_text(&self) -> Option<Value> {
        let is_first =
            self.ascending && !self.nul_text && matches!(self.ty, SqlType::Varchar(limit) if limit != Some(0));
        is_first.then(|| Value::text(if self.empty_text { "" } else { "\u{1}" }))
    }

    /// The largest value, where there is one.
    pub(crate) fn max(&self) -> Option<&Value> {
        self.max.as_ref()
    }

    /// Order of two values of this domain: that of the key, ascending.
    pub(crate) fn compare(&self, a: &Value, b: &Value) -> Ordering {
        match (a, b) {
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::Array(_), Value::Array(_)) => {
                let order = self.codec().compare_arrays(a, b);
                if self.ascending { order } else { order.reverse() }
            }
            _ => a.compare_as(b, self.ty).unwrap_or(Ordering::Equal),
        }
    }

    /// The bytes of a value in the key; `None` if no row can have it.
    pub(crate) fn stored(&self, value: &Value) -> Option<Vec<u8>> {
        self.codec().stored(value)
    }

    fn codec(&self) -> ValueCodec {
        ValueCodec::new(self.ty, if self.ascending { SortOrder::Asc } else { SortOrder::Desc })
    }

    /// Whether a value is this end of the domain.
    pub(crate) fn is_extreme(&self, value: &Value, extreme: Option<&Value>) -> bool {
        extreme.is_some_and(|extreme| self.compare(value, extreme).is_eq())
    }

    /// Whether every value has a neighbour that is worth telling.
    pub(crate) fn is_discrete(&self) -> bool {
        use SqlType::{Boolean, Date, Time, Timestamp, UnsignedDate, UnsignedTime, UnsignedTimestamp};
        self.ty.is_integer()
            || matches!(self.ty, Boolean | Date | Time | Timestamp | UnsignedDate | UnsignedTime | UnsignedTimestamp)
    }

    /// The next value above, or below, if the domain is discrete there.
    pub(crate) fn neighbour(&self, value: &Value, above: bool) -> Option<Value> {
        let (last, step, first_nanos) = if above { (self.max(), 1, 0) } else { (self.min(), -1, NANOS_LAST) };
        if self.is_extreme(value, last) {
            return None;
        }
        match value {
            Value::Bool(b) => (*b != above).then_some(Value::Bool(above)),
            Value::Int(i) => i.checked_add(step).map(Value::Int),
            Value::Date(ms) => ms.checked_add(step).map(Value::Date),
            Value::Timestamp(Timestamp { ms, nanos }) => {
                let nanos = u32::try_from(i64::from(*nanos) + step).ok().filter(|nanos| *nanos <= NANOS_LAST);
                let (ms, nanos) = match nanos {
                    Some(nanos) => (*ms, nanos),
                    None => (ms.checked_add(step)?, first_nanos),
                };
                Some(Value::Timestamp(Timestamp { ms, nanos }))
            }
            _ => None,
        }
    }
}

/// Largest number of nanoseconds below a millisecond.
const NANOS_LAST: u32 = 999_999;

/// First and last millisecond of the instants that a column can hold: those that the calendar can say.
pub(crate) fn instants(ty: SqlType) -> (i64, i64) {
    (if ty.is_unsigned() { 0 } else { *CALENDAR_MS.start() }, *CALENDAR_MS.end())
}

/// The largest DECIMAL(p,s).
fn largest_decimal(precision: u8, scale: u8) -> Option<Decimal> {
    let digits = 10i128.checked_pow(precision.into())?.checked_sub(1)?;
    Decimal::new(digits, scale.into()).ok()
}

/// Smallest and largest value of a type, where it has them.
fn extremes(ty: SqlType, empty_text: bool) -> (Option<Value>, Option<Value>) {
    if let Some((min, max)) = ty.integer_range() {
        return (Some(Value::Int(min)), Some(Value::Int(max)));
    }
    let (first_ms, last_ms) = instants(ty);
    match ty {
        SqlType::Boolean => (Some(Value::Bool(false)), Some(Value::Bool(true))),
        SqlType::Float => (Some(Value::Float(f32::NEG_INFINITY)), Some(Value::Float(f32::NAN))),
        SqlType::UnsignedFloat => (Some(Value::Float(0.0)), Some(Value::Float(f32::NAN))),
        SqlType::Double => (Some(Value::Double(f64::NEG_INFINITY)), Some(Value::Double(f64::NAN))),
        SqlType::UnsignedDouble => (Some(Value::Double(0.0)), Some(Value::Double(f64::NAN))),
        SqlType::Date | SqlType::Time | SqlType::UnsignedDate | SqlType::UnsignedTime => {
            (Some(Value::Date(first_ms)), Some(Value::Date(last_ms)))
        }
        SqlType::Timestamp | SqlType::UnsignedTimestamp => (
            Some(Value::Timestamp(Timestamp { ms: first_ms, nanos: 0 })),
            Some(Value::Timestamp(Timestamp { ms: last_ms, nanos: NANOS_LAST })),
        ),
        SqlType::Decimal(Some((precision, scale))) => {
            let max = largest_decimal(precision, scale);
            (max.map(|max| Value::Decimal(max.negated())), max.map(Value::Decimal))
        }
        SqlType::Binary(_) | SqlType::Uuid => {
            let filled_with = |byte| ty.fixed_key_bytes().map(|width| Value::Bytes(vec![byte; width]));
            (filled_with(0), filled_with(0xff))
        }
        SqlType::Varchar(_) if empty_text => (Some(Value::text("")), None),
        SqlType::Varbinary | SqlType::VarbinaryEncoded if empty_text => (Some(Value::Bytes(Vec::new())), None),
        _ => (None, None),
    }
}
