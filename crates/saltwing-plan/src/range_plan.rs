//! The inputs of ranges, and the bytes of one combination of values.

use std::ops;
use std::sync::Arc;

use saltwing_rowkey::{Bound, ColumnSpan, KeyRange, RowKeyCodec};
use saltwing_types::key_form::key_form;
use saltwing_types::{SqlType, Value};

use crate::product::{End, Product, TailSpan};

/// A key column as ranges are made of it: the values' type, and the key's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnTypes {
    pub(crate) value: SqlType,
    pub(crate) key: SqlType,
}

/// The inputs of ranges.
pub(crate) struct Plan {
    pub(crate) codec: Arc<RowKeyCodec>,
    pub(crate) columns: Vec<ColumnTypes>,
    pub(crate) products: Arc<[Product]>,
    /// Whether every range is one key.
    pub(crate) points: bool,
    /// Whether each range lies in one bucket that its values tell.
    pub(crate) bucketed: bool,
}

impl Plan {
    /// A logical value in the type that the key keeps it in.
    ///
    /// `None` if it has no form there, which was checked when the plan was made: then all keys are read.
    pub(crate) fn key_value(&self, position: usize, value: &Value) -> Option<Value> {
        match self.columns.get(position) {
            Some(types) if types.value != types.key => {
                let form = key_form(value, types.value, types.key).ok();
                debug_assert!(form.is_some(), "{value:?} has no form in key column {position}");
                form
            }
            _ => Some(value.clone()),
        }
    }

    /// The keys of one combination. The outer `None` tells that a value was refused, the inner one that no row has such a key.
    pub(crate) fn range(&self, prefix: &[Value], tail: Option<&TailSpan>) -> Option<Option<KeyRange>> {
        let Some(tail) = tail else { return self.codec.prefix_range(prefix).ok() };
        let first = self.end_values(prefix, &tail.first)?;
        let last = self.end_values(prefix, &tail.last)?;
        let bound = |values: &'_ [Value], included| {
            if included { Included(values.to_vec()) } else { Excluded(values.to_vec()) }
        };
        let (first, last) = (bound(&first, tail.first.included), bound(&last, tail.last.included));
        let between = self.codec.bounds_range(first.as_bound(), last.as_bound()).ok()?;
        // By the span alone the codec knows closer ends, which a list of values cannot
        // name: after NULL, and before a value that separators would follow.
        let (Some(range), Some((lo, hi))) = (&between, &tail.values) else { return Some(between) };
        let position = prefix.len();
        let (lo, hi) = (self.bound_value(position, lo)?, self.bound_value(position, hi)?);
        let span = ColumnSpan { lo: as_ref(&lo), hi: as_ref(&hi), nulls: tail.nulls };
        let ranges = self.codec.span_ranges(prefix, &span).ok()?;
        Some(ranges.first().and_then(|closer| closer.intersect(range)))
    }

    fn end_values(&self, prefix: &[Value], end: &End) -> Option<Vec<Value>> {
        let tail = end.values.iter().enumerate().map(|(i, value)| self.key_value(prefix.len() + i, value));
        prefix.iter().cloned().map(Some).chain(tail).collect()
    }

    fn bound_value(&self, position: usize, bound: &ops::Bound<Value>) -> Option<ops::Bound<Value>> {
        Some(match bound {
            ops::Bound::Included(value) => ops::Bound::Included(self.key_value(position, value)?),
            ops::Bound::Excluded(value) => ops::Bound::Excluded(self.key_value(position, value)?),
            ops::Bound::Unbounded => ops::Bound::Unbounded,
        })
    }

    /// Start and end of the keys of a combination, in order with its neighbours' even where no row has such a key.
    pub(crate) fn extent(&self, prefix: &[Value], tail: Option<&TailSpan>) -> (Vec<u8>, Option<Vec<u8>>) {
        let (first, last) = match tail {
            Some(tail) => match (self.end_values(prefix, &tail.first), self.end_values(prefix, &tail.last)) {
                (Some(first), Some(last)) => (first, last),
                _ => return (Vec::new(), None),
            },
            None => (prefix.to_vec(), prefix.to_vec()),
        };
        let (first_in, last_in) = tail.map_or((true, true), |tail| (tail.first.included, tail.last.included));
        let start = if first_in { Bound::Included(&first) } else { Bound::Excluded(&first) };
        let end = if last_in { Bound::Included(&last) } else { Bound::Excluded(&last) };
        let from_start = self.codec.bounds_range(start, Bound::Unbounded).ok().flatten();
        let to_end = self.codec.bounds_range(Bound::Unbounded, end).ok();
        let start = from_start.map_or_else(Vec::new, |range| range.start().to_vec());
        let end = match to_end {
            // Refused, it counts as open.
            None => None,
            // No key at all lies before the end.
            Some(None) => Some(Vec::new()),
            Some(Some(range)) => range.end().map(<[u8]>::to_vec),
        };
        (start, end)
    }
}

enum OwnedBound {
    Included(Vec<Value>),
    Excluded(Vec<Value>),
}

use OwnedBound::{Excluded, Included};

impl OwnedBound {
    fn as_bound(&self) -> Bound<'_> {
        match self {
            Included(values) => Bound::Included(values),
            Excluded(values) => Bound::Excluded(values),
        }
    }
}

fn as_ref(bound: &ops::Bound<Value>) -> ops::Bound<&Value> {
    match bound {
        ops::Bound::Included(value) => ops::Bound::Included(value),
        ops::Bound::Excluded(value) => ops::Bound::Excluded(value),
        ops::Bound::Unbounded => ops::Bound::Unbounded,
    }
}
