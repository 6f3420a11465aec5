//! The RETURNING that is kept for a statement.

use std::sync::Arc;

use parking_lot::Mutex;
use saltwing_exec::Returning;

/// The RETURNING of a statement, made ready on one version of the catalog. Planning it takes longer than the write of a row.
#[derive(Default)]
pub(crate) struct KeptReturning(Mutex<Option<Known>>);

/// The version of the catalog, and what is known since: `None` for a statement without RETURNING.
type Known = (u64, Option<Arc<Returning>>);

impl KeptReturning {
    /// The RETURNING if it is known on this version; `Some(None)` for a statement without one.
    pub(crate) fn of(&self, version: u64) -> Option<Option<Arc<Returning>>> {
        self.0.lock().as_ref().filter(|known| known.0 == version).map(|known| known.1.clone())
    }

    pub(crate) fn put(&self, version: u64, returning: Option<Arc<Returning>>) {
        *self.0.lock() = Some((version, returning));
    }
}
