//! What is kept for a cached statement from one run to the next.

use parking_lot::Mutex;

/// A value that was made on one version of the catalog, and holds for that version alone.
pub(crate) struct Kept<T>(Mutex<Option<(u64, T)>>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: Clone> Kept<T> {
    /// The value that was put for this version of the catalog.
    pub(crate) fn of(&self, version: u64) -> Option<T> {
        self.0.lock().as_ref().filter(|kept| kept.0 == version).map(|kept| kept.1.clone())
    }

    pub(crate) fn put(&self, version: u64, value: T) {
        *self.0.lock() = Some((version, value));
    }
}
