//! One step of a compaction while it is made: the table, and the changes so far.

use crate::engine::block_ids::BlockIdAllocator;
use crate::engine::block_ref::BlockRef;
use crate::engine::block_store::BlockContext;
use crate::engine::compaction::pending::Stream;
use crate::engine::directory::{Directory, Edits};
use crate::engine::options::BlockLimits;
use crate::engine::overflow::UncommittedOverflow;
use crate::engine::run::Run;
use crate::engine::storage_engine::StorageEngine;
use crate::engine::stored_table::StoredTable;
use crate::engine::table_rows::TableRows;
use saltwing_store::WriteBatch;
use saltwing_types::TableId;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Entries that get a run in one step, for each block that it writes.
pub(crate) const STEP_ENTRIES: usize = 8;

/// What a step makes of one table.
pub(crate) struct Compaction<'a> {
    pub(crate) numbers: &'a BlockIdAllocator,
    pub(crate) packed: &'a StorageEngine,
    pub(crate) table: Arc<StoredTable>,
    pub(crate) context: Arc<BlockContext>,
    pub(crate) rows: TableRows,
    pub(crate) limits: BlockLimits,
    /// Rows written at or before this are dropped.
    pub(crate) limit_ms: Option<i64>,
    /// Ranges of entries, ascending, and what comes in their places.
    pub(crate) edits: Edits,
    pub(crate) batch: WriteBatch,
    pub(crate) replaced: Vec<Arc<BlockRef>>,
    /// Rows of the next run, and their entries.
    pub(crate) stream: Stream,
    /// Runs that the batch has, and those that entries do not name any more: how many.
    pub(crate) runs: Vec<(Arc<Run>, u32)>,
    pub(crate) left_runs: HashMap<u64, (Arc<Run>, u32)>,
    /// Whether the table is so large that runs are worth it.
    pub(crate) has_runs: bool,
    /// Values that lie by themselves: those to be written with the batch, those that are written, and all that the
    /// new blocks name.
    pub(crate) overflow: WriteBatch,
    pub(crate) uncommitted: UncommittedOverflow,
    pub(crate) named: HashSet<u64>,
    /// Blocks read and made.
    pub(crate) blocks: usize,
    /// Entries that got a run, those whose runs went into their block, and rows in runs made.
    pub(crate) appended: usize,
    pub(crate) folded: u64,
    pub(crate) run_rows: u64,
    /// Rows in blocks made, and the bytes of their parts.
    pub(crate) made: (u64, u64),
    pub(crate) expired: u64,
}

/// Which entries a walk over a table writes anew, beside those with rows of the frozen delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompactionReason {
    /// No others.
    None,
    /// Those with expired rows.
    Expired,
    /// Those with so many rows in runs that reading them pays for it.
    Runs,
    /// Those of this table that are larger than they should be, have runs, or would be fewer together.
    Undersized(TableId),
}

impl<'a> Compaction<'a> {
    pub(crate) fn new(
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

    pub(crate) fn directory(&self) -> &Arc<Directory> {
        &self.rows.directory
    }
}
