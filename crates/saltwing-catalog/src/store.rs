//! The border between statements and a catalog.
//!
//! Statements read definitions from a [`CatalogReader`], change them by a [`CatalogChange`], and take values of sequences. So another
//! system's catalog can stand here; [`Catalog`](crate::Catalog) keeps its definitions as rows. A session's temporary tables and attached
//! databases lie over any of them ([`SessionCatalog`](crate::SessionCatalog)).
//!
//! # Laws
//! 1. A snapshot stays as it is. [`CatalogStore::version`] is that of the last snapshot until this catalog knows of a change, its own or a
//!    foreign one; then it is another one, which no earlier snapshot has. Kept plans hold for one version: that is how they are invalidated.
//! 2. A change is there whole or not at all. After an error it is not there, unless the error is
//!    [`ErrorCode::CommitUnknown`](saltwing_types::ErrorCode::CommitUnknown).
//! 3. A change that was made of an earlier state of its object is refused with [`CatalogError::Changed`], and the next snapshot has the
//!    newer state: who makes the change again from there gets on ([`change`](crate::change)).
//! 4. No value of a sequence is given out twice, and no id of rows. An object keeps its number
//!    ([`ObjectId`](saltwing_types::ObjectId)) until it is dropped, and no later one gets it.
//!
//! The module `conformance` holds every implementation to them (feature `conformance`).

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_types::{SequenceDef, TableId, Value};

use crate::{Applied, CatalogChange, CatalogError, CatalogReader, ChangeError};

/// What statements need of a catalog. Calls may wait for another machine, except where it is said.
pub trait CatalogStore: Send + Sync {
    /// The version of the last snapshot if nothing has changed since, else another one. Every cached statement asks for it: an answer from memory, without waiting.
    fn version(&self) -> u64;

    /// The definitions of this moment. They may be read lazily, by the calls of the reader.
    ///
    /// # Errors
    /// The store's.
    fn snapshot(&self) -> Result<Arc<dyn CatalogReader>, CatalogError>;

    /// Makes a change.
    ///
    /// # Errors
    /// Those of the variant; [`CatalogError::Changed`]; the store's.
    fn apply(&self, change: CatalogChange<'_>) -> Result<Applied, ChangeError>;

    /// Takes `count` values for each of `rows` rows: of each row the first one. The values of a row follow each other.
    ///
    /// # Errors
    /// [`CatalogError::SequenceLimit`]; [`CatalogError::NoSuchSequence`] if it was dropped meanwhile; the store's. Values that
    /// were taken before the error are skipped.
    fn next_values(&self, def: &SequenceDef, count: u64, rows: usize) -> Result<Vec<i64>, CatalogError>;

    /// The value that the next row would take, without taking it; `None` if there is none left. Another process may take it first.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchSequence`] if it was dropped meanwhile; the store's.
    fn next_value_of(&self, def: &SequenceDef) -> Result<Option<i64>, CatalogError>;

    /// Gives back the reserved values that were not given out, so that the next process starts with them.
    ///
    /// # Errors
    /// The store's: then these values are skipped.
    fn return_sequence_values(&self) -> Result<(), CatalogError>;

    /// New ids, for tables of which this catalog has no definition: those of a session. The rows under an id are deleted after
    /// [`CatalogStore::release_ids`], and after the end of the process.
    ///
    /// # Errors
    /// The store's.
    fn lease_ids(&self, count: usize) -> Result<Vec<TableId>, CatalogError>;

    /// Ends the lease of ids. [`CatalogStore::finish_drops`] deletes the rows. Does not wait.
    fn release_ids(&self, ids: &[TableId]);

    /// Deletes the rows under an id that no definition has, and that nobody has leased.
    ///
    /// # Errors
    /// The store's: then [`CatalogStore::finish_drops`] deletes them.
    fn purge(&self, id: TableId) -> Result<(), CatalogError>;

    /// Deletes the rows of tables whose drop did not come to its end, which takes time: nobody can see them meanwhile. Those of sessions
    /// that have ended are among them.
    ///
    /// # Errors
    /// The store's. What is left then is left to the next call.
    fn finish_drops(&self) -> Result<(), CatalogError>;

    /// The key of the last row whose entry a build of an index has committed; `None` if it has committed none.
    ///
    /// # Errors
    /// [`CatalogError::Corrupt`] for something that is no key; the store's.
    fn index_progress(&self, entries: TableId) -> Result<Option<Vec<u8>>, CatalogError>;

    /// The row, and its table, by which a build notes the key of the last row whose entry it commits; `None` if a build that is cut short
    /// does not go on where it stopped.
    fn index_progress_row(&self, entries: TableId, last: &[u8]) -> Option<(Arc<Table>, Vec<Value>)>;
}

/// Applies the change that `make` makes of the catalog, or none; again if another change came first.
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
