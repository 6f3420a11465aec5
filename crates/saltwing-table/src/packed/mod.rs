//! How rows lie: deltas in memory over immutable blocks of columns.
//!
//! ```text
//!   commit ──> delta, active ──rotate──> delta, frozen ──merge──> blocks
//!                  │                         │                      │
//!              generation g             generation g-1         directory: fence -> block
//! ```
//! A write goes to a generation's space of the store and to the map in memory, which is what reading
//! looks at. When the map is full it is frozen, and merged from left to right into blocks. The byte
//! layout of it all stands in `docs/packed-layout.md`.
//!
//! # Laws
//! 1. A [`Moment`] never changes: it holds exactly the commits made before it was taken.
//! 2. Newest wins: active delta, then frozen delta, then block.
//! 3. A merge changes where rows lie, never which rows there are; but for expired ones, which nobody can see.
//! 4. After a crash in any step the rows are those of the acknowledged commits, and the merge goes on.
//!
//! # Locks
//! Taken in this order: `merging` (one merge step, sweep or purge at a time), `commits` (one commit, or change of
//! a definition, at a time), `rows` (held while memory changes, never while the store works), `tables`.

mod bits;
pub(crate) mod block;
mod block_builder;
pub(crate) mod block_ref;
mod cut;
pub(crate) mod delta;
pub(crate) mod directory;
mod far;
mod merge;
mod meta;
mod options;
mod record;
mod recovery;
mod spaces;
mod stats;
mod step;
mod var_part;
mod worker;
mod zone;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use imbl::OrdMap;
use parking_lot::{Mutex, RwLock};
use saltwing_store::{Bytes, Durability, OrderedKv, WriteBatch};
use saltwing_types::TableId;

pub(crate) use block_ref::Summary;
pub(crate) use options::BlockLimits;
pub use options::{LayoutOptions, Merging};
pub use stats::{StorageStats, TableStorage};
pub(crate) use worker::Worker;
pub(crate) use zone::{Zone, decimal_number, float_number, int_number, text_number, timestamp_number};

use block_ref::Shelf;
use delta::{StoredRow, TableRows};
use meta::Meta;
use spaces::{META, META_KEY, TABLE_BYTES, delta_key, delta_space};
use worker::Signal;

use crate::{Clock, Table, TableError};

/// All tables' rows at one moment.
pub(crate) type Moment = OrdMap<u32, TableRows>;

/// The layout of one store.
pub(crate) struct Packed {
    kv: Arc<dyn OrderedKv>,
    clock: Arc<dyn Clock>,
    options: LayoutOptions,
    shelf: Arc<Shelf>,
    pub(crate) tables: RwLock<HashMap<TableId, Arc<Table>>>,
    merging: Mutex<Merge>,
    commits: Mutex<Commits>,
    rows: RwLock<Moment>,
    /// Rows in blocks of all tables.
    base_rows: AtomicU64,
    /// Merges that ended.
    merges: AtomicU64,
    /// A merge could not be written, or nobody knows whether it was: none is tried until the store is opened again.
    stalled: AtomicBool,
    signal: Signal,
}

/// What merges know.
struct Merge {
    meta: Meta,
    /// Whether the space of the next generation may hold what a dead one left.
    clear_next: bool,
}

/// What commits know.
struct Commits {
    /// The generation that takes writes.
    active: u64,
    /// Rows and bytes in it.
    rows: u64,
    bytes: u64,
    /// Whether the store has a [`Meta`].
    has_meta: bool,
}

/// One row to be written.
pub(crate) struct RowChange {
    pub(crate) table: TableId,
    pub(crate) key: Vec<u8>,
    /// The families of the row; `None` deletes it.
    pub(crate) families: Option<Vec<Vec<u8>>>,
}

/// A [`RowChange`] as the store and the map take it: both share its bytes.
struct Encoded {
    table: TableId,
    store_key: Bytes,
    value: Bytes,
}

/// First byte of a delta's value where the row is deleted, and where it is there.
const DELETED: u8 = 0;
const PRESENT: u8 = 1;

impl Encoded {
    fn new(change: &RowChange) -> Self {
        let mut value = Vec::new();
        match &change.families {
            None => value.push(DELETED),
            Some(families) => {
                value.push(PRESENT);
                StoredRow::write(families, &mut value);
            }
        }
        let store_key = Bytes::from(delta_key(change.table, &change.key));
        Self { table: change.table, store_key, value: Bytes::from(value) }
    }

    fn key(&self) -> Bytes {
        self.store_key.slice(TABLE_BYTES..)
    }

    fn row(&self) -> Option<StoredRow> {
        (self.value.first() == Some(&PRESENT)).then(|| StoredRow(self.value.slice(1..)))
    }

    fn bytes(&self) -> u64 {
        (self.store_key.len() + self.value.len()) as u64
    }
}

impl Packed {
    /// All rows committed so far, and what `also` gives of the same moment.
    pub(crate) fn moment<T>(&self, also: impl FnOnce() -> T) -> (Moment, T) {
        let rows = self.rows.read();
        (rows.clone(), also())
    }

    /// What `of` gives of a table's rows as they are now. It must not wait for anything: memory does not change meanwhile.
    pub(crate) fn with_rows<T>(&self, table: TableId, of: impl FnOnce(&TableRows) -> Option<T>) -> Option<T> {
        self.rows.read().get(&table.0).and_then(of)
    }

    /// Writes rows, all or none: `check` may refuse them, and `record` is called when they are there.
    ///
    /// Neither another commit nor a moment falls between `check` and `record`.
    pub(crate) fn write<T>(
        &self,
        changes: &[RowChange],
        check: impl FnOnce() -> Result<(), TableError>,
        record: impl FnOnce() -> T,
    ) -> Result<T, TableError> {
        let encoded: Vec<Encoded> = changes.iter().map(Encoded::new).collect();
        self.wait_for_room();
        let (recorded, full) = {
            let mut commits = self.commits.lock();
            check()?;
            let space = delta_space(commits.active);
            let mut batch = WriteBatch::with_capacity(encoded.len() + 1);
            encoded.iter().for_each(|row| batch.put(space, row.store_key.clone(), row.value.clone()));
            if !commits.has_meta {
                batch.put(META, META_KEY, Meta::default().write());
            }
            self.kv.write(batch, Durability::Buffered)?;
            commits.has_meta = true;
            commits.rows += encoded.len() as u64;
            commits.bytes += encoded.iter().map(Encoded::bytes).sum::<u64>();
            (self.insert(&encoded, record), self.is_full(&commits))
        };
        match self.options.merging {
            Merging::Background => self.signal.committed(full),
            // What was committed stays so, whatever becomes of the merge; a later commit tries again.
            Merging::WithCommits => drop(self.crawl(full)),
        }
        Ok(recorded)
    }

    fn insert<T>(&self, encoded: &[Encoded], record: impl FnOnce() -> T) -> T {
        let mut moment = self.rows.write();
        for rows in encoded.chunk_by(|a, b| a.table == b.table) {
            let Some(table) = rows.first().map(|row| row.table) else { continue };
            let of_table = moment.entry(table.0).or_default();
            let counters = self.shelf.counters(table);
            counters.rows_written.fetch_add(rows.len() as u64, Relaxed);
            counters.bytes_written.fetch_add(rows.iter().map(Encoded::bytes).sum(), Relaxed);
            for row in rows {
                let key = row.key();
                if let Some(entry) = of_table.directory.owner(&key) {
                    entry.mark_dirty();
                }
                of_table.active.insert(key, row.row());
            }
        }
        record()
    }

    fn is_full(&self, commits: &Commits) -> bool {
        let rows_max = self.options.delta_rows.max(self.base_rows.load(Relaxed) / 8);
        commits.rows >= rows_max || commits.bytes >= self.options.delta_bytes
    }

    /// Waits while the delta is twice as large as it should be and a merge is on its way: writers must not
    /// outrun it for ever. A batch is never waited for before it is there itself.
    fn wait_for_room(&self) {
        let is_crowded = || {
            let commits = self.commits.lock();
            let rows_max = self.options.delta_rows.max(self.base_rows.load(Relaxed) / 8);
            commits.rows >= 2 * rows_max || commits.bytes >= 2 * self.options.delta_bytes
        };
        if is_crowded() {
            self.signal.wait_for_merge(|| is_crowded() && !self.stalled.load(Relaxed));
        }
    }

    /// Whether merges are given up until the store is opened again.
    pub(crate) fn is_stalled(&self) -> bool {
        self.stalled.load(Relaxed)
    }

    /// Opens a table, or puts another definition in the place of the one before, between two commits.
    pub(crate) fn open_table(&self, table: Arc<Table>) {
        let _between_commits = self.commits.lock();
        let id = table.def().id;
        if table.version() > 0 {
            self.rows.write().entry(id.0).or_default().definition = table.version();
        }
        self.tables.write().insert(id, table);
    }

    /// An open table.
    fn table(&self, id: TableId) -> Option<Arc<Table>> {
        self.tables.read().get(&id).cloned()
    }

    pub(crate) fn is_merged_by_thread(&self) -> bool {
        self.options.merging == Merging::Background
    }

    pub(crate) fn kv(&self) -> &Arc<dyn OrderedKv> {
        &self.kv
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }
}
