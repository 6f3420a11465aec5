//! The state of each group for one call of an aggregate function.

use std::ops::Range;

use arrow::array::{Array, ArrayRef};
use saltwing_access::PartialValues;
use saltwing_types::{SqlType, ValueError};

/// The state of one call, by group: groups are numbers from 0.
///
/// # Law
/// Whether rows come as runs or each with its group, and however they are cut into batches, the results are the
/// same: all but those of floats, whose sums round.
pub(crate) trait Accumulator: Send {
    /// Makes room for groups below `groups`.
    fn resize(&mut self, groups: usize);

    /// Adds some rows to one group.
    fn add_run(&mut self, group: usize, values: &dyn Array, rows: Range<usize>) -> Result<(), ValueError>;

    /// Adds each row to its group.
    fn add_rows(&mut self, groups: &[u32], values: &dyn Array) -> Result<(), ValueError>;

    /// Adds to each group what a store has made of some of its rows.
    fn add_partial(&mut self, groups: &[u32], partial: &PartialValues) -> Result<(), ValueError>;

    /// The results of the first `groups` groups, which are given up: the others move down.
    fn take(&mut self, groups: usize) -> Result<ArrayRef, ValueError>;

    /// Memory held.
    fn bytes(&self) -> usize;
}

pub(crate) fn unexpected(ty: SqlType) -> ValueError {
    ValueError::TypeMismatch(format!("no aggregate over {ty}"))
}

/// The error of values that no such call makes.
pub(crate) fn wrong_partial() -> ValueError {
    debug_assert!(false, "a store has made other values than those that were asked for");
    ValueError::TypeMismatch("the values of another aggregate".into())
}

pub(crate) fn wrong_array(array: &dyn Array) -> ValueError {
    ValueError::TypeMismatch(format!("no aggregate over an array of {}", array.data_type()))
}
