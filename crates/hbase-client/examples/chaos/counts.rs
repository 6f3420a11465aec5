//! What happened to the operations.

use std::fmt;

/// What happened.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) operations: u64,
    pub(crate) rows_scanned: u64,
    pub(crate) refused: u64,
    pub(crate) unknown: u64,
    pub(crate) scanners_reopened: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, other: &Self) {
        self.operations += other.operations;
        self.rows_scanned += other.rows_scanned;
        self.refused += other.refused;
        self.unknown += other.unknown;
        self.scanners_reopened += other.scanners_reopened;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operations, rows_scanned, refused, unknown, scanners_reopened } = self;
        write!(
            f,
            "{operations} operations, {rows_scanned} rows scanned, {refused} writes refused, {unknown} unknown, "
        )?;
        write!(f, "{scanners_reopened} failures that scans survived")
    }
}
