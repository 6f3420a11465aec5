//! The numbers from 1 on, by which rewritten queries take arrays apart and count.

use super::cells::row;
use super::relation::Entry;

/// The greatest of the numbers: no array of the catalog is longer, as a table has 1,000 columns at most.
pub(crate) const NUMBERS_MAX: i32 = 1_664;

pub(super) static RELATIONS: &[Entry] =
    &[Entry::internal("numbers", "n int4", |_| Ok((1..=NUMBERS_MAX).map(|n| row![n]).collect()))];
