//! How large blocks, deltas and the memory of blocks are.

use std::time::Duration;

/// When deltas are brought into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merging {
    /// By a thread, from [`EmbeddedTables::start_merging`](crate::store::EmbeddedTables::start_merging) on.
    Background,
    /// A step after each commit, on the committer's thread: every run of a test is the same.
    WithCommits,
}

/// Sizes of the packed layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutOptions {
    /// Most rows of a block, where the table's definition does not say
    /// ([`BLOCK_ROWS`](saltwing_types::table::BLOCK_ROWS)).
    pub block_rows: usize,
    /// Bytes of rows, before compression, that a block is not made larger than, if it has more than one row; where
    /// the table's definition does not say ([`BLOCK_BYTES`](saltwing_types::table::BLOCK_BYTES)).
    pub block_bytes: usize,
    /// Values of this many bytes and more are overflow values; at least 16.
    pub value_bytes: usize,
    /// Rows in the delta from which on it is merged; an eighth of the rows in blocks, where that is more.
    pub delta_rows: u64,
    /// Bytes in the delta from which on it is merged.
    pub delta_bytes: u64,
    /// A table has runs once its blocks hold this many times the rows or bytes of a delta. Below, rewriting blocks is
    /// cheap and reads are faster without runs.
    pub run_deltas: u64,
    /// New rows of a block go into a run if they are fewer than one in this many of its rows.
    pub run_share: u64,
    /// Most bytes of blocks that are kept in memory.
    pub cache_bytes: usize,
    /// Blocks that one step of a merge rewrites, about.
    pub step_blocks: usize,
    /// How many threads make the blocks of one step, each those of some neighbouring entries; one at least.
    pub merge_threads: usize,
    /// Entries of directories that opening hands from thread to thread at a time; fewer in all are read by one thread.
    pub open_entries: usize,
    /// A delta is merged when nothing was written for so long.
    pub idle: Duration,
    /// When deltas are merged.
    pub merging: Merging,
}

/// How large the blocks of one table are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockLimits {
    /// Most rows.
    pub(crate) rows: usize,
    /// Bytes of rows, before compression, that a block is not made larger than, if it has more than one row.
    pub(crate) bytes: usize,
}

impl BlockLimits {
    /// Whether a block of this size is at least half as large as it may be.
    pub(crate) fn is_half(self, rows: usize, bytes: usize) -> bool {
        2 * rows >= self.rows || 2 * bytes >= self.bytes
    }

    /// Whether this many rows make few blocks that are less than seven eighths full, so that more rows would fill them.
    pub(crate) fn leave_room(self, rows: usize, bytes: usize) -> bool {
        let blocks = rows.div_ceil(self.rows).max(bytes.div_ceil(self.bytes));
        blocks < BLOCKS_TOGETHER && 8 * rows < 7 * blocks * self.rows && 8 * bytes < 7 * blocks * self.bytes
    }
}

/// Blocks that are made together, so that they are evenly full.
const BLOCKS_TOGETHER: usize = 8;

impl Default for LayoutOptions {
    /// [`LayoutOptions::standard`]; in builds for debugging those of [`LayoutOptions::tiny`] when the variable
    /// `SALTWING_TINY_LAYOUT` is set, so that whole test suites can be run with them.
    fn default() -> Self {
        if cfg!(debug_assertions) && std::env::var_os("SALTWING_TINY_LAYOUT").is_some() {
            return Self::tiny();
        }
        Self::standard()
    }
}

impl LayoutOptions {
    /// The sizes for use.
    pub fn standard() -> Self {
        Self {
            block_rows: 256,
            block_bytes: 256 << 10,
            value_bytes: (16 << 10) + 1,
            delta_rows: 256 << 10,
            delta_bytes: 128 << 20,
            run_deltas: 8,
            run_share: 8,
            cache_bytes: 256 << 20,
            step_blocks: 64,
            merge_threads: 1,
            open_entries: 2048,
            idle: Duration::from_secs(5),
            merging: Merging::Background,
        }
    }

    /// 4 rows a block, overflow values from 20 bytes, 16 rows a delta, runs from the first block on, and merges one
    /// step per commit: a few rows exercise every path.
    pub fn tiny() -> Self {
        Self {
            block_rows: 4,
            block_bytes: 4 << 10,
            value_bytes: 20,
            delta_rows: 16,
            delta_bytes: 64 << 10,
            run_deltas: 0,
            run_share: 1,
            cache_bytes: 2 << 10,
            step_blocks: 2,
            merge_threads: 1,
            open_entries: 4,
            idle: Duration::from_secs(5),
            merging: Merging::WithCommits,
        }
    }
}
