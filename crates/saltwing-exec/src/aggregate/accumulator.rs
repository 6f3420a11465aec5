//! What is kept of each group for one call of an aggregate function.

use std::ops::Range;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray};
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

    /// The results of the first `groups` groups, which are given up: the others move down.
    fn take(&mut self, groups: usize) -> Result<ArrayRef, ValueError>;

    /// Memory held.
    fn bytes(&self) -> usize;
}

pub(crate) fn unexpected(ty: SqlType) -> ValueError {
    ValueError::TypeMismatch(format!("no aggregate over {ty}"))
}

pub(crate) fn wrong_array(array: &dyn Array) -> ValueError {
    ValueError::TypeMismatch(format!("no aggregate over an array of {}", array.data_type()))
}

/// The known values of some rows, as slices without gaps.
pub(crate) fn each_slice<T: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
    rows: Range<usize>,
    mut see: impl FnMut(&[T::Native]),
) {
    let Some(values) = array.values().get(rows.clone()) else { return };
    match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => see(values),
        Some(nulls) => {
            let known = nulls.slice(rows.start, values.len());
            for (start, end) in known.valid_slices() {
                see(values.get(start..end).unwrap_or_default());
            }
        }
    }
}

/// The known values, each with its group.
pub(crate) fn each_row<T: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
    groups: &[u32],
    mut see: impl FnMut(usize, T::Native),
) {
    match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => groups.iter().zip(array.values()).for_each(|(group, value)| see(*group as usize, *value)),
        Some(known) => {
            for ((group, value), known) in groups.iter().zip(array.values()).zip(known) {
                if known {
                    see(*group as usize, *value);
                }
            }
        }
    }
}
