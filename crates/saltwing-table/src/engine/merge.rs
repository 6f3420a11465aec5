//! Merges as a whole: freezing a delta, finishing, sweeping expired rows, purging a table.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use saltwing_access::{StorageCause, StorageError, TableError};
use saltwing_store::{Direction, Durability, KeyBounds, Space, StoreError, WriteBatch, WriteStall};
use saltwing_types::{TableId, with_causes};

use crate::engine::block_ref::BlockRef;
use crate::engine::block_store::{BlockContext, Unread};
use crate::engine::compaction::plan::CompactionReason;
use crate::engine::memtable::Delta;
use crate::engine::storage_engine::{MergeState, StorageEngine};
use crate::engine::table_rows::TableRows;
use crate::format::directory_format::{StoredEntry, read_run};
use crate::format::meta::{Cursor, Meta};
use crate::format::spaces::{
    DIR, DIR_RUN, FIX, META, META_KEY, OVERFLOW, REPLACED, VAR, VERSIONS, delta_space, id_key, part_key, split_table,
    table_bounds,
};

/// Most keys that are deleted at once.
pub(super) const BATCH_KEYS: usize = 1000;

/// Interval at which a merge that waits for another one calls `go_on`.
const LOCK_WAIT: Duration = Duration::from_millis(20);

/// Says whether work shall go on.
pub(super) type GoOn<'a> = &'a dyn Fn() -> Result<(), TableError>;

const ALWAYS: GoOn<'static> = &|| Ok(());

impl StorageEngine {
    /// Brings every row into blocks.
    pub(crate) fn merge_all(&self) -> Result<(), TableError> {
        let mut merge = self.merging.lock();
        self.merge_recent(&mut merge, ALWAYS)?;
        self.delete_obsolete(&mut merge).map(drop)
    }

    /// Merges every row into blocks, and rewrites blocks of one table that are larger or much smaller than they should
    /// be. `go_on` is called while it waits and between steps; its error ends the compaction there, and no row is
    /// affected.
    pub(crate) fn compact(&self, table: TableId, go_on: GoOn<'_>) -> Result<(), TableError> {
        let mut merge = loop {
            go_on()?;
            if let Some(merge) = self.merging.try_lock_for(LOCK_WAIT) {
                break merge;
            }
        };
        self.merge_recent(&mut merge, go_on)?;
        // Repeated while there are fewer blocks than before: neighbours of new blocks may be sparse together with them.
        let mut blocks_before = u64::MAX;
        while let Some(blocks) = self.compact_once(&mut merge, table, go_on)?
            && blocks < blocks_before
        {
            blocks_before = blocks;
        }
        self.prune_versions(&mut merge, table, go_on)?;
        self.delete_obsolete(&mut merge)?;
        drop(merge);
        go_on()?;
        Ok(self.kv.reclaim(WriteStall::Allowed).map_err(StorageError::from)?)
    }

    /// One pass of COMPACT; returns the number of blocks if it rewrote any.
    fn compact_once(&self, merge: &mut MergeState, table: TableId, go_on: GoOn<'_>) -> Result<Option<u64>, TableError> {
        let (mut cursor, mut is_done) = (Cursor { table, ..Cursor::default() }, false);
        while self.step(merge, &mut cursor, CompactionReason::Undersized(table))?.is_some() {
            is_done = true;
            self.give_back_early(merge)?;
            go_on()?;
        }
        let blocks = self.with_rows(table, |rows| Some(rows.directory.size().blocks)).unwrap_or(0);
        Ok(is_done.then_some(blocks))
    }

    /// Brings recent rows into blocks if they are above the delta's limits: otherwise every opening would read them until
    /// some process lives long enough to merge them.
    pub(crate) fn merge_surplus(&self) -> Result<(), TableError> {
        if self.is_stalled() {
            return Ok(());
        }
        let mut merge = self.merging.lock();
        if merge.meta.frozen {
            let (rows, bytes) = merge.frozen_size;
            let is_surplus = {
                let commits = self.commits.lock();
                self.is_above_limits(rows + commits.rows, bytes + commits.bytes)
            };
            if is_surplus {
                self.finish_frozen(&mut merge, ALWAYS)?;
            }
        }
        let is_full = self.is_full(&self.commits.lock());
        if is_full {
            self.merge_recent(&mut merge, ALWAYS)?;
        }
        self.delete_obsolete(&mut merge).map(drop)
    }

    fn merge_recent(&self, merge: &mut MergeState, go_on: GoOn<'_>) -> Result<(), TableError> {
        self.finish_frozen(merge, go_on)?;
        self.rotate(merge)?;
        self.finish_frozen(merge, go_on).map(drop)
    }

    /// A step along with a commit.
    pub(super) fn compact_inline(&self, full: bool) -> Result<(), TableError> {
        let mut merge = self.merging.lock();
        if full && !merge.meta.frozen {
            self.rotate(&mut merge)?;
        }
        if merge.meta.frozen {
            self.step_or_finish(&mut merge)?;
        }
        self.delete_obsolete(&mut merge).map(drop)
    }

    /// Deletes expired rows: how many.
    pub(crate) fn sweep(&self) -> Result<u64, TableError> {
        let commits = self.signal.commits();
        let mut merge = self.merging.lock();
        let mut expired = self.finish_frozen(&mut merge, ALWAYS)?;
        if self.has_expired_delta() {
            self.rotate(&mut merge)?;
            expired += self.finish_frozen(&mut merge, ALWAYS)?;
        }
        let mut cursor = Cursor::default();
        while let Some(step) = self.step(&mut merge, &mut cursor, CompactionReason::Expired)? {
            expired += step;
        }
        let is_any_deleted = self.delete_obsolete(&mut merge)? | self.prune_all_versions(&mut merge)?;
        drop(merge);
        // This sweep also deletes blocks that readers still had at the last one.
        if is_any_deleted {
            self.kv.reclaim(self.stall_since(commits)).map_err(StorageError::from)?;
        }
        Ok(expired)
    }

    /// Rewrites blocks with many rows in runs, until `is_over`.
    pub(super) fn fold_runs(&self, is_over: impl Fn() -> bool) -> Result<(), TableError> {
        let mut cursor = Cursor::default();
        while !is_over() {
            let mut merge = self.merging.lock();
            let is_done = merge.meta.frozen || self.step(&mut merge, &mut cursor, CompactionReason::Runs)?.is_none();
            // At once, because the replaced blocks may be as large as the table.
            self.delete_obsolete(&mut merge)?;
            if is_done {
                break;
            }
        }
        Ok(())
    }

    fn has_expired_delta(&self) -> bool {
        let now_ms = self.clock.now_ms();
        let tables = self.rows.read().clone();
        tables.iter().any(|(id, rows)| {
            let limit_ms = self.table(TableId(*id)).and_then(|table| table.deletable_ms(now_ms));
            let expired =
                |limit_ms| rows.active.iter().filter_map(|(_, row)| row.as_ref()).any(|row| row.time_ms() <= limit_ms);
            limit_ms.is_some_and(expired)
        })
    }

    fn finish_frozen(&self, merge: &mut MergeState, go_on: GoOn<'_>) -> Result<u64, TableError> {
        let mut expired = 0;
        while merge.meta.frozen {
            go_on()?;
            expired += self.step_or_finish(merge)?;
            self.give_back_early(merge)?;
        }
        Ok(expired)
    }

    /// On a nearly full device, a merge frees the space of replaced blocks before it continues.
    fn give_back_early(&self, merge: &mut MergeState) -> Result<(), TableError> {
        if self.is_nearly_full() && self.delete_obsolete(merge)? {
            self.kv.reclaim(WriteStall::Allowed).map_err(StorageError::from)?;
        }
        Ok(())
    }

    /// Freezes the active delta: from now on writes go to the next generation.
    pub(super) fn rotate(&self, merge: &mut MergeState) -> Result<(), TableError> {
        if merge.clear_next {
            self.clear_next(merge)?;
        }
        let mut commits = self.commits.lock();
        if commits.rows == 0 {
            return Ok(());
        }
        let meta = Meta { active: merge.meta.active + 1, frozen: true, cursor: Cursor::default(), ..merge.meta };
        self.write_meta(&meta, WriteBatch::new())?;
        merge.frozen_size = (commits.rows, commits.bytes);
        (commits.active, commits.rows, commits.bytes, commits.next_record) = (meta.active, 0, 0, 0);
        merge.meta = meta;
        self.change_rows(|rows| rows.frozen = std::mem::take(&mut rows.active));
        Ok(())
    }

    /// Changes the rows of all tables.
    fn change_rows(&self, change: impl Fn(&mut TableRows)) {
        let mut tables = self.rows.write();
        let ids: Vec<u32> = tables.keys().copied().collect();
        for id in ids {
            if let Some(rows) = tables.get_mut(&id) {
                change(rows);
            }
        }
    }

    /// A step of the merge, or its end; how many expired rows were dropped.
    pub(super) fn step_or_finish(&self, merge: &mut MergeState) -> Result<u64, TableError> {
        let mut cursor = merge.meta.cursor.clone();
        match self.step(merge, &mut cursor, CompactionReason::None)? {
            Some(expired) => Ok(expired),
            None => self.finish(merge).map(|()| 0),
        }
    }

    /// The frozen generation is in blocks as a whole. Rows of tables that are not open, which were dropped, go with it.
    fn finish(&self, merge: &mut MergeState) -> Result<(), TableError> {
        let meta = Meta { frozen: false, cursor: Cursor::default(), ..merge.meta };
        self.write_meta(&meta, WriteBatch::new())?;
        merge.meta = meta;
        self.merges.fetch_add(1, Relaxed);
        merge.clear_next = true;
        self.change_rows(|rows| rows.frozen = Delta::default());
        self.signal.merged();
        self.clear_next(merge)
    }

    /// Empties the space of the next generation, which no record names.
    fn clear_next(&self, merge: &mut MergeState) -> Result<(), TableError> {
        self.refuse_when_stalled()?;
        self.kv.clear(delta_space(merge.meta.active + 1)).map_err(StorageError::from)?;
        merge.clear_next = false;
        Ok(())
    }

    /// Writes a batch with the record of generations as it will be.
    pub(super) fn write_meta(&self, meta: &Meta, mut batch: WriteBatch) -> Result<(), TableError> {
        batch.put(META, META_KEY, meta.write());
        self.write_layout(batch)
    }

    /// Refuses to continue after an unknown outcome.
    fn refuse_when_stalled(&self) -> Result<(), TableError> {
        match self.stalled.get() {
            None => Ok(()),
            Some(cause) => Err(stalled(cause.clone())),
        }
    }

    pub(super) fn write_layout(&self, batch: WriteBatch) -> Result<(), TableError> {
        self.refuse_when_stalled()?;
        self.kv.write(batch, Durability::Buffered).map_err(|error| {
            // The outcome is unknown: a second attempt might mix two different splits of the same rows.
            if matches!(error, StoreError::CommitUnknown { .. } | StoreError::DiskFull { .. }) {
                let _ = self.stalled.set(with_causes(&error));
            }
            StorageError::from(error).into()
        })
    }

    /// Deletes all keys of a space in bounds, where nobody writes. `add` adds to the batch that deletes a key.
    ///
    /// With one cursor: a new cursor for each batch would pass over all earlier deletions again. It sees the state before the
    /// deletions, and the store cannot free their space while it lives.
    fn delete_all(
        &self,
        space: Space,
        bounds: KeyBounds,
        mut add: impl FnMut(&[u8], &[u8], &mut WriteBatch),
    ) -> Result<(), TableError> {
        let mut cursor = self.kv.cursor(space, bounds, Direction::Forward).map_err(StorageError::from)?;
        loop {
            let mut batch = WriteBatch::new();
            while batch.len() < BATCH_KEYS
                && let Some((key, value)) = cursor.next().map_err(StorageError::from)?
            {
                add(&key, &value, &mut batch);
                batch.delete(space, key);
            }
            if batch.is_empty() {
                return Ok(());
            }
            self.write_layout(batch)?;
        }
    }

    /// Deletes the replaced blocks and the values that nobody reads any more; whether there were any.
    pub(super) fn delete_obsolete(&self, _merge: &mut MergeState) -> Result<bool, TableError> {
        let mut unread = self.blocks.take_unread();
        let is_any = !unread.is_empty();
        while !unread.is_empty() {
            let rest = unread.split_off(unread.len().min(BATCH_KEYS));
            let mut batch = WriteBatch::new();
            for Unread { table, id, families } in &unread {
                for &family in families {
                    batch.delete(FIX, part_key(*table, *id, family));
                    batch.delete(VAR, part_key(*table, *id, family));
                }
                if families.is_empty() {
                    batch.delete(OVERFLOW, id_key(*table, *id));
                }
                batch.delete(REPLACED, id_key(*table, *id));
            }
            if let Err(error) = self.write_layout(batch) {
                self.blocks.add_unread(unread.into_iter().chain(rest));
                return Err(error);
            }
            unread = rest;
        }
        Ok(is_any)
    }

    /// Deletes every row of a table. After an error the deletions so far stay.
    pub(crate) fn purge(&self, table: TableId) -> Result<(), TableError> {
        let commits = self.signal.commits();
        let mut merge = self.merging.lock();
        let context = BlockContext::new(table, &self.blocks);
        self.delete_all(DIR, table_bounds(table), |key, value, batch| {
            if split_table(key).is_some_and(|(_, rest)| rest.first() == Some(&DIR_RUN)) {
                if let Some((id, summary, ..)) = read_run(value) {
                    batch.put(REPLACED, id_key(table, id), summary.families());
                }
            } else if let Some(entry) = StoredEntry::read(value) {
                let block = BlockRef::of_stored(&entry, &context);
                batch.put(REPLACED, id_key(table, block.id), block.summary.families());
                block.overflow.iter().for_each(|overflow| batch.put(REPLACED, id_key(table, overflow.id), []));
            }
        })?;
        for space in [delta_space(0), delta_space(1), VERSIONS] {
            self.delete_all(space, table_bounds(table), |_, _, _| {})?;
        }
        // Now that the store says that they go: until then another try must find them here.
        let removed = self.rows.write().remove(&table.0);
        if let Some(rows) = &removed {
            let blocks = rows.directory.entries().filter_map(|entry| entry.block.as_ref());
            blocks.for_each(|block| {
                block.replace();
                block.overflow.iter().for_each(|overflow| overflow.leave());
            });
            rows.directory.visit_runs(|run| run.block.replace());
            self.base_rows.fetch_sub(rows.directory.size().rows, Relaxed);
        }
        drop(removed);
        // Last: reading its directory entries counts for it.
        self.blocks.forget_table(table);
        self.delete_obsolete(&mut merge)?;
        drop(merge);
        Ok(self.kv.reclaim(self.stall_since(commits)).map_err(StorageError::from)?)
    }
}

/// The outcome of an earlier merge is unknown.
#[derive(Debug, thiserror::Error)]
#[error(
    "rows cannot be merged into blocks before the database is closed and opened again, since a merge failed: {cause}"
)]
struct MergeStalled {
    /// The error that merges were given up for.
    cause: String,
}

/// The error of a merge after one whose outcome is unknown.
pub(super) fn stalled(cause: String) -> TableError {
    StorageError::new(StorageCause::Poisoned, MergeStalled { cause }).into()
}
