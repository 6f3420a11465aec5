//! An entry of a directory: a block, the keys that it owns, and its newer rows in runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use saltwing_store::Bytes;

use crate::engine::block_ref::BlockRef;
use crate::engine::run::{REST_SHARE, RunPart};

/// One block and the keys that it owns.
pub(crate) struct Entry {
    pub(crate) fence: Bytes,
    /// `None` only in the first entry, if no block has the first keys.
    pub(crate) block: Option<Arc<BlockRef>>,
    /// Rows that are newer than the block, newest first.
    pub(crate) runs: Box<[RunPart]>,
    dirty: AtomicBool,
}

/// An entry and its block, which is found without a read of the entry: both are seldom in a cache.
#[derive(Clone, Copy)]
pub(crate) struct Owner<'d> {
    pub(crate) entry: &'d Arc<Entry>,
    pub(crate) block: Option<&'d Arc<BlockRef>>,
}

impl Owner<'_> {
    /// The reads of a prefetch in the two.
    pub(crate) fn prefetch(self) -> usize {
        usize::from(self.entry.is_dirty()) ^ self.block.map_or(0, |block| block.prefetch())
    }
}

impl Entry {
    pub(crate) fn new(fence: Bytes, block: Option<Arc<BlockRef>>) -> Self {
        Self { fence, block, runs: Box::default(), dirty: AtomicBool::new(false) }
    }

    /// An entry with runs, newest first, built from stored records.
    pub(crate) fn of_parts(fence: Bytes, block: Arc<BlockRef>, runs: Box<[RunPart]>, is_dirty: bool) -> Self {
        Self { fence, block: Some(block), runs, dirty: AtomicBool::new(is_dirty) }
    }

    /// The entry with a run that replaces the newest `taken` runs.
    pub(crate) fn with_run(&self, run: RunPart, taken: usize) -> Self {
        let kept = self.runs.get(taken..).unwrap_or_default();
        let mut runs = Vec::with_capacity(1 + kept.len());
        runs.push(run);
        runs.extend_from_slice(kept);
        Self { runs: runs.into(), ..Self::new(self.fence.clone(), self.block.clone()) }
    }

    /// Whether a delta may have a row of this entry. Read where the row map was taken: a write says so before
    /// its row can be in a map.
    pub(crate) fn is_dirty(&self) -> bool {
        self.dirty.load(Relaxed)
    }

    pub(crate) fn mark_dirty(&self) {
        self.dirty.store(true, Relaxed);
    }

    /// Its block, where that alone says which rows there are.
    pub(crate) fn lone_block(&self) -> Option<&Arc<BlockRef>> {
        self.block.as_ref().filter(|_| !self.is_dirty() && self.runs.is_empty())
    }

    /// The size of its block.
    pub(crate) fn size(&self) -> Size {
        let Some(block) = &self.block else { return Size::default() };
        let of_block = Size::of_block(block.summary.rows, block.summary.bytes);
        self.runs.iter().fold(of_block, |size, part| size.with_run(part))
    }

    /// When the oldest row of its block and runs was written.
    pub(crate) fn oldest_ms(&self) -> i64 {
        let runs = self.runs.iter().map(|part| &part.run.block);
        let times = self.block.iter().chain(runs).map(|block| block.summary.times_ms.0);
        times.min().unwrap_or(i64::MAX)
    }
}

/// The size of blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) blocks: u64,
    pub(crate) rows: u64,
    /// Bytes of rows as a delta has them, about.
    pub(crate) bytes: u64,
    /// Rows in runs that entries name, and their bytes.
    pub(crate) run_rows: u64,
    pub(crate) run_bytes: u64,
}

impl Size {
    pub(crate) fn of_block(rows: u32, bytes: u32) -> Self {
        Self { blocks: 1, rows: rows.into(), bytes: bytes.into(), ..Self::default() }
    }

    /// With an entry's rows in a run, deletions included.
    pub(crate) fn with_run(self, part: &RunPart) -> Self {
        let (run_rows, run_bytes) = (self.run_rows + part.rows().len() as u64, self.run_bytes + part.bytes());
        Self { run_rows, run_bytes, ..self }
    }

    /// Whether an entry's runs justify rewriting its block while nothing else is written.
    pub(crate) fn has_many_in_runs(self) -> bool {
        let Self { rows, bytes, run_rows, run_bytes, .. } = self;
        run_rows > 0 && (run_rows * REST_SHARE >= rows || run_bytes * REST_SHARE >= bytes)
    }

    pub(crate) fn add(self, other: Self) -> Self {
        Self {
            blocks: self.blocks + other.blocks,
            rows: self.rows + other.rows,
            bytes: self.bytes + other.bytes,
            run_rows: self.run_rows + other.run_rows,
            run_bytes: self.run_bytes + other.run_bytes,
        }
    }
}
