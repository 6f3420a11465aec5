//! The engine: commits go into memtables (deltas), which compactions merge into immutable blocks of columns.
//!
//! ```text
//!   commit ──> delta, active ──rotate──> delta, frozen ──merge──> blocks
//!                  │                         │                      │
//!              generation g             generation g-1         directory: fence -> block
//! ```
//! A commit writes its rows to the space of the active generation, and puts them into the map in memory, which readers use. A full
//! map is frozen, and merged from left to right into blocks.
//!
//! # Laws
//! 1. A [`TableMap`] never changes: it has exactly the commits made before it was taken.
//! 2. Newest wins: active delta, then frozen delta, then runs, then block.
//! 3. A merge changes where rows are stored, never the set of rows, except for expired rows, which no reader sees.
//! 4. After a crash in any step the rows are those of the acknowledged commits, and the merge resumes.
//!
//! # Locks
//! Taken in this order: `merging` (one merge step, sweep or purge at a time), `commits` (one commit, or change of
//! a definition, at a time), `rows` (held while memory changes, never while the store works), `tables`.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use imbl::OrdMap;
use parking_lot::{Mutex, RwLock};
use saltwing_access::{Clock, StorageError, Table, TableError};
use saltwing_heat::{KeyPrefix, Room};
use saltwing_store::{Announced, Durability, OrderedKv, StoreError, Waits, WriteBatch};
use saltwing_types::TableId;

use crate::engine::block_store::BlockStore;
use crate::engine::failure::Failures;
use crate::engine::options::{LayoutOptions, Merging};
use crate::engine::signal::MergeSignal;
use crate::engine::stored_table::{OpenTables, StoredTable};
use crate::engine::table_rows::TableRows;
use crate::format::delta_record::{Record, keyed_rows};
use crate::format::meta::Meta;
use crate::format::spaces::{META, META_KEY, delta_space, id_key};
use crate::format::versions::Stamp;

/// The rows of all tables as of one commit.
pub(crate) type TableMap = OrdMap<u32, TableRows>;

/// The storage of one key-value store.
pub(crate) struct StorageEngine {
    pub(crate) kv: Arc<dyn OrderedKv>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(super) options: LayoutOptions,
    pub(super) blocks: Arc<BlockStore>,
    pub(crate) tables: Arc<OpenTables>,
    pub(crate) merging: Mutex<MergeState>,
    pub(crate) commits: Mutex<CommitState>,
    pub(crate) rows: RwLock<TableMap>,
    /// Rows in blocks of all tables.
    pub(super) base_rows: AtomicU64,
    /// Merges that ended.
    pub(super) merges: AtomicU64,
    /// Why no merge is tried until the store is opened again: one could not be written, or may or may not have been written.
    pub(super) stalled: OnceLock<String>,
    /// Waits of commits for a merge.
    pub(super) merge_waits: Waits,
    pub(super) failures: Failures,
    /// The memory of the counts of accesses by key.
    pub(super) access_room: Arc<Room>,
    pub(super) signal: MergeSignal,
}

/// The state that merges share; the lock `merging` guards it.
pub(crate) struct MergeState {
    pub(super) meta: Meta,
    /// Rows and bytes in the records of the frozen generation, if there is one: those merged already count too.
    pub(super) frozen_size: (u64, u64),
    /// Whether the space of the next generation may hold what a dead one left.
    pub(super) clear_next: bool,
}

/// The state that commits share; the lock `commits` guards it.
pub(crate) struct CommitState {
    /// The generation that takes writes.
    pub(crate) active: u64,
    /// Rows and bytes in it.
    pub(crate) rows: u64,
    pub(super) bytes: u64,
    /// The number of its next record.
    pub(crate) next_record: u64,
    /// Whether the store has a [`Meta`].
    pub(super) has_meta: bool,
    /// The last stamp of a commit of versions in this process.
    pub(super) last_stamp: Stamp,
}

impl CommitState {
    /// These records are in the active generation.
    pub(super) fn count(&mut self, records: &[Record]) {
        self.next_record += records.len() as u64;
        self.rows += records.iter().map(|record| record.rows).sum::<u64>();
        self.bytes += records.iter().map(|record| record.bytes.len() as u64).sum::<u64>();
    }
}

impl StorageEngine {
    /// All rows committed so far, and the result of `read` before the next commit.
    pub(crate) fn freeze_tables<T>(&self, read: impl FnOnce() -> T) -> (TableMap, T) {
        let rows = self.rows.read();
        (rows.clone(), read())
    }

    /// The result of `of` for a table's current rows. It must not wait for anything, because the memtables are locked
    /// meanwhile.
    pub(crate) fn with_rows<T>(&self, table: TableId, of: impl FnOnce(&TableRows) -> Option<T>) -> Option<T> {
        self.rows.read().get(&table.0).and_then(of)
    }

    /// Writes rows atomically: `prepare` may refuse them or add to their batch, and `record` is called once they are
    /// visible. For a synced write the caller must wait for the returned sync.
    ///
    /// Neither another commit nor a snapshot falls between `prepare` and `record`.
    pub(crate) fn write<T>(
        &self,
        records: &[Record],
        durability: Durability,
        prepare: impl FnOnce(&mut CommitState, &mut WriteBatch) -> Result<(), TableError>,
        record: impl FnOnce() -> T,
    ) -> Result<(T, Option<Announced<'_>>), TableError> {
        self.wait_for_room();
        // Before the lock, so that a writer waiting for it shares the sync of the writer before it.
        let mut announced = (durability == Durability::Synced).then(|| self.kv.announce());
        let (recorded, full) = {
            let mut commits = self.commits.lock();
            let mut batch = WriteBatch::with_capacity(records.len() + 1);
            prepare(&mut commits, &mut batch)?;
            let space = delta_space(commits.active);
            for (number, record) in (commits.next_record..).zip(records) {
                batch.put(space, id_key(record.table, number), record.bytes.clone());
            }
            if !commits.has_meta {
                batch.put(META, META_KEY, Meta::default().write());
            }
            self.kv.write(batch, Durability::Buffered).map_err(StorageError::from)?;
            commits.has_meta = true;
            commits.count(records);
            (self.insert(records, record), self.is_full(&commits))
        };
        // A merge that follows here may sync too.
        announced.iter_mut().for_each(Announced::written);
        match self.options.merging {
            Merging::Background => self.signal.committed(full),
            // The commit stands even if the merge fails; a later commit tries again.
            Merging::WithCommits => {
                if let Err(error) = self.compact_inline(full) {
                    self.note_failure("merge", &error);
                }
            }
        }
        Ok((recorded, announced))
    }

    pub(super) fn insert<T>(&self, records: &[Record], record: impl FnOnce() -> T) -> T {
        let mut tables = self.rows.write();
        for record in records {
            let of_table = tables.entry(record.table.0).or_default();
            let counters = self.blocks.counters(record.table);
            counters.rows_written.fetch_add(record.rows, Relaxed);
            counters.bytes_written.fetch_add(record.bytes.len() as u64, Relaxed);
            if let Some(accesses) = counters.accesses() {
                // The first rows of a table that was opened without any.
                if of_table.accesses.is_none() {
                    of_table.accesses = Some(accesses.clone());
                }
                let mut rows = keyed_rows(&record.bytes).zip(0..);
                accesses.write(record.rows as usize, |index| {
                    rows.find(|(_, at)| *at == index).map(|((key, _), _)| KeyPrefix::of(key))
                });
            }
            of_table.add(record);
        }
        record()
    }

    pub(super) fn is_full(&self, commits: &CommitState) -> bool {
        self.is_above_limits(commits.rows, commits.bytes)
    }

    /// Whether so many recent rows, and bytes of their records, are to be merged.
    pub(super) fn is_above_limits(&self, rows: u64, bytes: u64) -> bool {
        let rows_max = self.options.delta_rows.max(self.base_rows.load(Relaxed) / 8);
        rows >= rows_max || bytes >= self.options.delta_bytes
    }

    /// Waits while the delta is twice as large as it should be and a merge is on its way: writers must not
    /// outrun it for ever. A batch is never waited for before it is there itself.
    pub(super) fn wait_for_room(&self) {
        let is_crowded = || {
            let commits = self.commits.lock();
            let rows_max = self.options.delta_rows.max(self.base_rows.load(Relaxed) / 8);
            commits.rows >= 2 * rows_max || commits.bytes >= 2 * self.options.delta_bytes
        };
        if is_crowded() {
            self.merge_waits.timed(|| self.signal.wait_for_merge(|| is_crowded() && !self.is_stalled()));
        }
    }

    /// Whether no more rows should come: the rest of the device is kept for what gives space back.
    pub(super) fn is_nearly_full(&self) -> bool {
        self.kv.room() == Some(0)
    }

    pub(crate) fn refuse_when_nearly_full(&self) -> Result<(), TableError> {
        if self.is_nearly_full() {
            return Err(StorageError::from(StoreError::NearlyFull { path: self.kv.place() }).into());
        }
        Ok(())
    }

    /// Logs and keeps what failed in the background.
    pub(crate) fn note_failure(&self, task: &'static str, error: &dyn std::error::Error) {
        self.failures.note(task, self.clock.now_ms(), error);
    }

    /// Whether merges are given up until the store is opened again.
    pub(super) fn is_stalled(&self) -> bool {
        self.stalled.get().is_some()
    }

    /// Opens a table, or puts another definition in the place of the one before, between two commits.
    pub(crate) fn open_table(&self, table: Arc<Table>) {
        let _between_commits = self.commits.lock();
        let id = table.def().id;
        let before = self.table(id);
        let accesses = self.blocks.counters(id).count_accesses(id, &self.clock, &self.access_room);
        {
            let mut tables = self.rows.write();
            if table.version() > 0 {
                tables.entry(id.0).or_default().definition = table.version();
            }
            if let Some(rows) = tables.get_mut(&id.0) {
                rows.accesses = Some(accesses.clone());
            }
        }
        let opened = StoredTable::opened(table, before.as_deref(), accesses, self.clock.now_ms());
        self.tables.write().insert(id, Arc::new(opened));
    }

    /// An open table.
    pub(crate) fn table(&self, id: TableId) -> Option<Arc<StoredTable>> {
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
