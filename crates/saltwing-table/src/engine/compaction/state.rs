//! One step of a compaction while it is made: the table, and the changes so far.

use crate::engine::block_ids::BlockIdAllocator;
use crate::engine::block_ref::BlockRef;
use crate::engine::block_store::BlockContext;
use crate::engine::compaction::pending::Stream;
use crate::engine::compaction::plan::{CompactionReason, Planner};
use crate::engine::directory::Edits;
use crate::engine::options::BlockLimits;
use crate::engine::overflow::UncommittedOverflow;
use crate::engine::run::Run;
use crate::engine::storage_engine::StorageEngine;
use crate::engine::stored_table::StoredTable;
use crate::engine::table_rows::TableRows;
use crate::format::stored_row::StoredRow;
use saltwing_store::WriteBatch;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Entries that get a run in one step, for each block that it writes.
pub(super) const STEP_ENTRIES: usize = 8;

/// The compaction of one table in a step.
pub(super) struct Compaction<'a> {
    pub(super) numbers: &'a BlockIdAllocator,
    pub(super) packed: &'a StorageEngine,
    pub(super) table: Arc<StoredTable>,
    pub(super) context: Arc<BlockContext>,
    pub(in crate::engine) rows: TableRows,
    pub(super) limits: BlockLimits,
    /// Rows written at or before this are dropped.
    pub(super) limit_ms: Option<i64>,
    /// Ranges of entries, ascending, and their replacements.
    pub(super) edits: Edits,
    pub(super) batch: WriteBatch,
    pub(super) replaced: Vec<Arc<BlockRef>>,
    /// Rows of the next run, and their entries.
    pub(super) stream: Stream,
    /// Runs that the batch has, and those that entries do not name any more: how many.
    pub(super) runs: Vec<(Arc<Run>, u32)>,
    pub(super) left_runs: HashMap<u64, (Arc<Run>, u32)>,
    /// Whether the table is so large that runs are worth it.
    pub(super) has_runs: bool,
    /// Values that lie by themselves: those to be written with the batch, those that are written, and all that the
    /// new blocks name.
    pub(super) overflow: WriteBatch,
    pub(super) uncommitted: UncommittedOverflow,
    pub(super) named: HashSet<u64>,
    /// Blocks read and made.
    pub(super) blocks: usize,
    /// Entries that got a run, those whose runs went into their block, and rows in runs made.
    pub(super) appended: usize,
    pub(super) folded: u64,
    pub(super) run_rows: u64,
    /// Rows in blocks made, and the bytes of their parts.
    pub(super) made: (u64, u64),
    pub(super) expired: u64,
}

impl<'a> Compaction<'a> {
    pub(super) fn new(
        packed: &'a StorageEngine,
        numbers: &'a BlockIdAllocator,
        table: Arc<StoredTable>,
        rows: TableRows,
        limit_ms: Option<i64>,
    ) -> Self {
        let uncommitted = UncommittedOverflow::new(table.def().id, packed.blocks.clone());
        let (size, options) = (rows.directory.size(), &packed.options);
        let is_large = |held: u64, delta: u64| held >= options.run_deltas.saturating_mul(delta);
        Self {
            has_runs: is_large(size.rows, options.delta_rows) || is_large(size.bytes, options.delta_bytes),
            context: BlockContext::new(table.def().id, &packed.blocks),
            packed,
            limits: table.block_limits(&packed.options),
            table,
            rows,
            limit_ms,
            numbers,
            edits: Vec::new(),
            batch: WriteBatch::new(),
            replaced: Vec::new(),
            stream: Stream::default(),
            runs: Vec::new(),
            left_runs: HashMap::new(),
            overflow: WriteBatch::new(),
            uncommitted,
            named: HashSet::new(),
            blocks: 0,
            appended: 0,
            folded: 0,
            run_rows: 0,
            made: (0, 0),
            expired: 0,
        }
    }

    /// The planner of rewrites for this reason, besides those for new rows.
    pub(super) fn planner(&self, reason: CompactionReason) -> Planner<'_, impl Fn(&StoredRow) -> usize> {
        let reason = match reason {
            CompactionReason::Undersized(table) if table != self.table.def().id => CompactionReason::None,
            reason => reason,
        };
        Planner {
            directory: &self.rows.directory,
            frozen: &self.rows.frozen,
            limits: self.limits,
            limit_ms: self.limit_ms,
            run_share: self.has_runs.then_some(self.packed.options.run_share),
            reason,
            block_bytes: |row: &StoredRow| self.near_bytes(row),
        }
    }

    /// Whether the step has done enough.
    pub(super) fn is_enough(&self) -> bool {
        let most = self.packed.options.step_blocks;
        self.blocks >= 2 * most || self.appended >= STEP_ENTRIES * most
    }
}
