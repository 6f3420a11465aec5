//! Aggregates that a store makes where the rows are.

use arrow::array::ArrayRef;

use crate::{ScanSpec, TableError, Total};

/// The aggregation of a scan's rows.
#[derive(Clone, Copy)]
pub struct Aggregation<'a> {
    /// The rows, and the columns that the aggregation reads.
    pub spec: &'a ScanSpec,
    /// The columns whose values make a group, by place among those of the scan. Without any all rows are one group.
    pub groups: &'a [usize],
    /// What is made of the rows of a group.
    pub calls: &'a [PartialCall],
}

/// What is made of the rows of a group. A column is a place among those of the scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialCall {
    /// How many rows there are.
    Rows,
    /// How many values of a column are not NULL.
    Known(usize),
    /// How many values of a column of integers are not NULL, and their sum.
    Total(usize),
    /// The least value of a column, by the order of its type in SQL.
    Min(usize),
    /// The greatest one.
    Max(usize),
}

impl PartialCall {
    /// The column whose values it reads; `None` if it counts rows.
    pub fn column(self) -> Option<usize> {
        match self {
            Self::Rows => None,
            Self::Known(place) | Self::Total(place) | Self::Min(place) | Self::Max(place) => Some(place),
        }
    }
}

/// What was made of some rows of some groups.
#[derive(Clone, Debug)]
pub struct PartialGroups {
    /// How many groups there are.
    pub rows: usize,
    /// The columns of the groups, as the scan puts them out.
    pub groups: Vec<ArrayRef>,
    /// For each call a value for each group.
    pub calls: Vec<PartialValues>,
}

/// What a call has made of some rows of groups.
#[derive(Clone, Debug)]
pub enum PartialValues {
    /// Of [`PartialCall::Rows`] and [`PartialCall::Known`].
    Counts(Vec<u64>),
    /// Of [`PartialCall::Total`].
    Totals(Vec<Total>),
    /// Of [`PartialCall::Min`] and [`PartialCall::Max`], as the scan puts the column out. NULL if the rows have no value.
    Ends(ArrayRef),
}

/// Groups as servers give them.
///
/// # Law
/// Each row of the scan is in one of them. A group may come several times, each time for other rows. A group without rows need not come.
pub trait PartialSource: Send {
    /// The next groups; `None` at the end.
    ///
    /// # Errors
    /// As [`RowSource::next_columns`](crate::RowSource::next_columns).
    fn next_groups(&mut self) -> Result<Option<PartialGroups>, TableError>;
}
