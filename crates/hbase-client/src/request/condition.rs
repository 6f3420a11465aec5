//! What must hold for a row to be written.

use bytes::Bytes;

use super::filter::{Comparator, Filter};
use crate::proto::{self, CompareType};

/// What must hold for a row to be written. The server checks it and writes in one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition(What);

#[derive(Clone, Debug, PartialEq)]
enum What {
    Column { family: Bytes, qualifier: Bytes, compare: CompareType, comparator: Comparator },
    Filter(Filter),
}

impl Condition {
    /// The row has no such column.
    pub fn absent(family: impl Into<Bytes>, qualifier: impl Into<Bytes>) -> Self {
        Self::compare(family, qualifier, CompareType::Equal, Comparator::absent())
    }

    /// The row has the column, with any value.
    pub fn present(family: impl Into<Bytes>, qualifier: impl Into<Bytes>) -> Self {
        Self::compare(family, qualifier, CompareType::NotEqual, Comparator::absent())
    }

    /// The column has this value.
    pub fn equals(family: impl Into<Bytes>, qualifier: impl Into<Bytes>, value: impl Into<Bytes>) -> Self {
        Self::compare(family, qualifier, CompareType::Equal, Comparator::bytes(value))
    }

    /// The comparator's value compares so with the column's: `Less` holds if the comparator's value is less.
    pub fn compare(
        family: impl Into<Bytes>,
        qualifier: impl Into<Bytes>,
        compare: CompareType,
        comparator: Comparator,
    ) -> Self {
        Self(What::Column { family: family.into(), qualifier: qualifier.into(), compare, comparator })
    }

    /// The filter leaves something of the row.
    pub fn filter(filter: Filter) -> Self {
        Self(What::Filter(filter))
    }

    pub(crate) fn message(&self, row: Bytes) -> proto::Condition {
        match self.0.clone() {
            What::Filter(filter) => {
                proto::Condition { row, filter: Some(filter.into_message()), ..proto::Condition::default() }
            }
            What::Column { family, qualifier, compare, comparator } => proto::Condition {
                row,
                family: Some(family),
                qualifier: Some(qualifier),
                compare_type: Some(compare as i32),
                comparator: Some(comparator.0),
                ..proto::Condition::default()
            },
        }
    }
}
