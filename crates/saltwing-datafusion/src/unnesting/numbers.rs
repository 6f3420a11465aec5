//! Numbers for the names that unnesting gives, and the error of what it cannot do.

use std::cell::Cell;

use datafusion::common::DataFusionError;

use crate::RelationalError;

/// Numbers for names that no statement has. One statement has one of them.
#[derive(Debug, Default)]
pub(crate) struct Numbers(Cell<usize>);

impl Numbers {
    pub(super) fn next(&self) -> usize {
        self.0.set(self.0.get() + 1);
        self.0.get()
    }
}

/// The error for what the rule cannot do.
pub(super) fn not_supported() -> DataFusionError {
    RelationalError::correlated().into()
}
