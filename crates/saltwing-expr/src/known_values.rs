//! The values of a column that are not NULL, in loops that know whether there are NULLs before they begin.

use std::ops::Range;

use arrow::array::{Array, ArrowPrimitiveType, PrimitiveArray};

/// Calls `each` with the known values of some rows, as slices without gaps.
pub fn each_slice<T: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
    rows: Range<usize>,
    mut each: impl FnMut(&[T::Native]),
) {
    let Some(values) = array.values().get(rows.clone()) else { return };
    match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => each(values),
        Some(nulls) => {
            let known = nulls.slice(rows.start, values.len());
            for (start, end) in known.valid_slices() {
                each(values.get(start..end).unwrap_or_default());
            }
        }
    }
}

/// Calls `each` with the known values, each with its row's group.
pub fn each_value<T: ArrowPrimitiveType, G: Copy>(
    array: &PrimitiveArray<T>,
    groups: &[G],
    mut each: impl FnMut(G, T::Native),
) {
    match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => groups.iter().zip(array.values()).for_each(|(group, value)| each(*group, *value)),
        Some(known) => {
            for ((group, value), known) in groups.iter().zip(array.values()).zip(known) {
                if known {
                    each(*group, *value);
                }
            }
        }
    }
}
