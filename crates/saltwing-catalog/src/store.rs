//! The border between statements and a catalog.
//!
//! Statements read definitions from a [`CatalogReader`], change them by a [`CatalogChange`], and take values of sequences. Another
//! system's catalog can implement the trait; [`Catalog`](crate::Catalog) stores its definitions as rows. A session's temporary tables and
//! attached databases are a layer over any implementation ([`SessionCatalog`](crate::SessionCatalog)).
//!
//! # Laws
//! 1. A snapshot never changes. [`CatalogStore::version`] is the version of the last snapshot until this catalog learns of a change, its own
//!    or a foreign one; then it is a version that no earlier snapshot has. Cached plans are valid for one version, so a change invalidates them.
//! 2. A change is made completely or not at all. After an error it is not made, unless the error is
//!    [`ErrorCode::CommitUnknown`](saltwing_types::ErrorCode::CommitUnknown).
//! 3. A change that was made from an earlier state of its object is refused with [`CatalogError::Changed`], and the next snapshot has the
//!    newer state: the caller can make the change again from there ([`change`](crate::change)).
//! 4. No value of a sequence and no id of rows is used twice. An object keeps its number
//!    ([`ObjectId`](saltwing_types::ObjectId)) until it is dropped, and no later object gets it.
//!
//! The module `conformance` tests these laws for every implementation (feature `conformance`).

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_types::{SequenceDef, TableId, Value};

use crate::{Applied, CatalogChange, CatalogError, CatalogReader, ChangeError};

/// A catalog, as statements use it. Calls may wait for another machine, unless their documentation excludes it.
pub trait CatalogStore: Send + Sync {
    /// The version of the last snapshot if nothing has changed since, else a new one. Every run of a cached statement calls this method, so it
    /// must answer from memory, without waiting.
    fn version(&self) -> u64;

    /// A snapshot of the current definitions. The reader may read them lazily.
    ///
    /// # Errors
    /// Errors of the store.
    fn snapshot(&self) -> Result<Arc<dyn CatalogReader>, CatalogError>;

    /// Makes a change.
    ///
    /// # Errors
    /// Those of the variant; [`CatalogError::Changed`]; errors of the store.
    fn apply(&self, change: CatalogChange<'_>) -> Result<Applied, ChangeError>;

    /// Takes `count` consecutive values for each of `rows` rows; returns the first value of each row.
    ///
    /// # Errors
    /// [`CatalogError::SequenceLimit`]; [`CatalogError::NoSuchSequence`] if it was dropped meanwhile; errors of the store. Values that
    /// were taken before the error are skipped.
    fn next_values(&self, def: &SequenceDef, count: u64, rows: usize) -> Result<Vec<i64>, CatalogError>;

    /// The value that the next row would take, without taking it; `None` if no value is left. Another process may take it first.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchSequence`] if it was dropped meanwhile; errors of the store.
    fn next_value_of(&self, def: &SequenceDef) -> Result<Option<i64>, CatalogError>;

    /// Returns the reserved values that are not used, so that the next process starts with them.
    ///
    /// # Errors
    /// Errors of the store: then these values are skipped.
    fn return_sequence_values(&self) -> Result<(), CatalogError>;

    /// New ids for tables without a definition in this catalog: temporary tables of a session. The rows under an id are deleted after
    /// [`CatalogStore::release_ids`], and after the end of the process.
    ///
    /// # Errors
    /// Errors of the store.
    fn lease_ids(&self, count: usize) -> Result<Vec<TableId>, CatalogError>;

    /// Ends the lease of ids. [`CatalogStore::finish_drops`] deletes the rows. Does not wait.
    fn release_ids(&self, ids: &[TableId]);

    /// Deletes the rows under an id that no definition has, and that no session has leased.
    ///
    /// # Errors
    /// Errors of the store: then [`CatalogStore::finish_drops`] deletes the rows.
    fn purge(&self, id: TableId) -> Result<(), CatalogError>;

    /// Deletes the rows of tables whose drop is not finished, and of temporary tables of ended sessions. This may take long; no statement
    /// can see the rows meanwhile.
    ///
    /// # Errors
    /// Errors of the store. The next call deletes the remaining rows.
    fn finish_drops(&self) -> Result<(), CatalogError>;

    /// The key of the last row whose entry a build of an index has committed; `None` if it has committed none.
    ///
    /// # Errors
    /// [`CatalogError::Corrupt`] if the stored text is not a key; errors of the store.
    fn index_progress(&self, entries: TableId) -> Result<Option<Vec<u8>>, CatalogError>;

    /// The row, with its table, that a build writes to store the key of the last row whose entry it commits; `None` if an interrupted build
    /// does not continue where it stopped.
    fn index_progress_row(&self, entries: TableId, last: &[u8]) -> Option<(Arc<Table>, Vec<Value>)>;
}

/// Applies the change that `make` makes from a snapshot, if it makes one; tries again if another change came first.
///
/// # Errors
/// Those of `make`, and of the change.
pub fn change<E: From<ChangeError>>(
    catalog: &dyn CatalogStore,
    mut make: impl FnMut(&dyn CatalogReader) -> Result<Option<CatalogChange<'static>>, E>,
) -> Result<(), E> {
    loop {
        let snapshot = catalog.snapshot().map_err(ChangeError::from)?;
        let Some(change) = make(&*snapshot)? else { return Ok(()) };
        match catalog.apply(change) {
            Err(ChangeError { error: CatalogError::Changed(_), .. }) => {}
            applied => return Ok(applied.map(drop)?),
        }
    }
}
