//! Statistics of storage: current sizes, and the work done so far.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use saltwing_store::{LeftOut, WaitStats};
use saltwing_types::TableId;

use crate::engine::failure::BackgroundFailure;
use crate::engine::memtable::{Delta, row_bytes};
use crate::engine::run::Run;
use crate::engine::storage_engine::StorageEngine;
use crate::engine::table_rows::TableRows;

/// The sizes and counters of the packed layout since the tables were opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StorageStats {
    /// The last work in the background that failed.
    pub last_failure: Option<BackgroundFailure>,
    /// Merges that ended: generations of recent rows that are in blocks as a whole.
    pub merges: u64,
    /// Waits of commits for a merge, because recent rows came faster than it took them.
    pub merge_waits: WaitStats,
    /// Checkpoints of the store, for which commits wait.
    pub checkpoints: WaitStats,
    /// Bytes of blocks in memory.
    pub cache_bytes: u64,
    /// The most there may be, about.
    pub cache_bytes_max: u64,
    /// The parts of the store's files that reads have found damaged, such as `page 5 of data/pages does not have its checksum`.
    pub damages: Vec<String>,
    /// The open tables, by number.
    pub tables: Vec<TableStorage>,
}

/// The sizes of one table, and its counters since it was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableStorage {
    /// Which table.
    pub table: TableId,
    /// Rows that are not in blocks yet, those that say that a row is deleted included.
    pub delta_rows: u64,
    /// Bytes of these, keys included.
    pub delta_bytes: u64,
    /// Blocks.
    pub blocks: u64,
    /// Rows in them, hidden by a recent one or not.
    pub block_rows: u64,
    /// Bytes of these rows as a delta has them: before they are packed, keys included.
    pub block_bytes: u64,
    /// Runs: small blocks of rows that are newer than the others.
    pub runs: u64,
    /// Rows in them that count, or say that a row is deleted.
    pub run_rows: u64,
    /// Bytes of these rows, about, as [`TableStorage::block_bytes`].
    pub run_bytes: u64,
    /// Rows committed, deletions included.
    pub rows_written: u64,
    /// Bytes of these, keys included.
    pub bytes_written: u64,
    /// Steps of merges that wrote blocks of the table.
    pub merge_steps: u64,
    /// Rows in the blocks and runs that were written.
    pub block_rows_written: u64,
    /// Bytes of these as stored.
    pub block_bytes_written: u64,
    /// Those of the rows that were written into runs.
    pub run_rows_written: u64,
    /// Blocks rewritten with the rows of their runs.
    pub folds: u64,
    /// Parts of blocks that a reader found in memory; where readers meet, some go uncounted.
    pub cache_hits: u64,
    /// Parts of blocks that were read from the store, by merges too.
    pub cache_misses: u64,
    /// The blocks that reads have found damaged, with the reasons; `None` if there are none.
    pub damage: Option<String>,
}

impl TableStorage {
    /// Bytes handed to the store for each byte committed: once with the commit, and again with each block that a
    /// row was written into. `None` before anything was committed.
    pub fn write_amplification(&self) -> Option<f64> {
        let written = self.bytes_written as f64;
        (self.bytes_written > 0).then(|| (written + self.block_bytes_written as f64) / written)
    }
}

fn damage_text(LeftOut { file, place, what }: LeftOut) -> String {
    format!("{place} of {file} {what}")
}

impl StorageEngine {
    /// Current sizes and counters. Walks over the recent rows to add up their bytes.
    pub(crate) fn storage_stats(&self) -> StorageStats {
        let tables = self.rows.read().clone();
        let ids: Vec<TableId> = self.tables.read().keys().copied().collect();
        let table = |id: &TableId| self.table_storage(*id, &tables.get(&id.0).cloned().unwrap_or_default());
        StorageStats {
            merges: self.merges.load(Relaxed),
            merge_waits: self.merge_waits.stats(),
            checkpoints: self.kv.checkpoints(),
            last_failure: self.failures.last(),
            cache_bytes: self.blocks.cache.bytes() as u64,
            cache_bytes_max: self.options.cache_bytes as u64,
            damages: self.kv.damages().into_iter().map(damage_text).collect(),
            tables: ids.iter().map(table).collect(),
        }
    }

    fn table_storage(&self, table: TableId, rows: &TableRows) -> TableStorage {
        let counters = self.blocks.counters(table);
        let size = rows.directory.size();
        let blocks = rows.directory.decoded_entries().filter_map(|entry| entry.block.as_ref());
        let mut runs: HashMap<u64, Arc<Run>> = HashMap::new();
        rows.directory.visit_runs(|run| {
            runs.entry(run.block.id).or_insert_with(|| run.clone());
        });
        let live_hits = blocks.chain(runs.values().map(|run| &run.block)).map(|block| block.hits());
        let delta_bytes = |delta: &Delta| -> u64 { delta.iter().map(row_bytes).sum() };
        TableStorage {
            table,
            delta_rows: (rows.active.len() + rows.frozen.len()) as u64,
            delta_bytes: delta_bytes(&rows.active) + delta_bytes(&rows.frozen),
            blocks: size.blocks,
            block_rows: size.rows,
            block_bytes: size.bytes,
            runs: runs.len() as u64,
            run_rows: size.run_rows,
            run_bytes: size.run_bytes,
            rows_written: counters.rows_written.load(Relaxed),
            bytes_written: counters.bytes_written.load(Relaxed),
            merge_steps: counters.merge_steps.load(Relaxed),
            block_rows_written: counters.block_rows_written.load(Relaxed),
            block_bytes_written: counters.block_bytes_written.load(Relaxed),
            run_rows_written: counters.run_rows_written.load(Relaxed),
            folds: counters.folds.load(Relaxed),
            cache_hits: counters.cache_hits.load(Relaxed) + live_hits.sum::<u64>(),
            cache_misses: counters.cache_misses.load(Relaxed),
            damage: counters.damage.text(),
        }
    }
}
