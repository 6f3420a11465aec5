//! Rows that wait for a block or a run of their own.

use crate::engine::block_ref::BlockRef;
use crate::engine::entry::Entry;
use crate::engine::overflow::OverflowValue;
use crate::engine::run::{RUNS_MAX, RunPart};
use crate::format::fix_part::FixPart;
use crate::format::stored_row::StoredRow;
use saltwing_access::TableError;
use saltwing_store::Bytes;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// How many of the blocks added last may be one that is added again: an entry has as many runs, and a block.
const PLACES_LOOKED_AT: usize = 2 * RUNS_MAX + 2;

/// A row of a block to be made.
pub(super) enum RowRef {
    /// That of another block, by its place in [`Pending::blocks`].
    Block {
        block: usize,
        row: usize,
        bytes: usize,
    },
    Delta {
        key: Bytes,
        row: StoredRow,
        bytes: usize,
    },
    /// Says that the row of the key is deleted: for a run.
    Deleted {
        key: Bytes,
    },
}

/// Rows that wait for a block of their own.
#[derive(Default)]
pub(super) struct Pending {
    pub(in crate::engine) rows: Vec<RowRef>,
    pub(super) bytes: usize,
    pub(super) blocks: Vec<Arc<BlockRef>>,
    pub(super) leads: Vec<Arc<FixPart>>,
    /// Values by themselves that the blocks name.
    pub(super) overflow: HashMap<u64, Arc<OverflowValue>>,
}

impl RowRef {
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Block { bytes, .. } | Self::Delta { bytes, .. } => *bytes,
            Self::Deleted { key } => key.len(),
        }
    }
}

impl Pending {
    /// The index of a block that supplies rows. Neighbours share runs, so a recently added block is searched first.
    pub(super) fn place(&mut self, block: &Arc<BlockRef>) -> Result<usize, TableError> {
        let mut newest = self.blocks.iter().enumerate().rev().take(PLACES_LOOKED_AT);
        if let Some((place, _)) = newest.find(|(_, known)| known.id == block.id) {
            return Ok(place);
        }
        self.leads.push(block.lead()?);
        self.blocks.push(block.clone());
        Ok(self.blocks.len() - 1)
    }

    /// Bytes of a row of one of the blocks, about.
    pub(super) fn row_bytes(&self, place: usize) -> usize {
        let Some(BlockRef { summary, .. }) = self.blocks.get(place).map(|block| &**block) else { return 0 };
        summary.bytes as usize / summary.rows.max(1) as usize
    }

    /// The keys of some of the rows.
    pub(super) fn keys(&self, rows: Range<usize>) -> impl Iterator<Item = Bytes> {
        self.rows.get(rows).unwrap_or_default().iter().filter_map(|row| match row {
            RowRef::Delta { key, .. } | RowRef::Deleted { key } => Some(key.clone()),
            RowRef::Block { block, row, .. } => {
                let (prefix, suffix) = self.leads.get(*block)?.key(*row);
                Some(Bytes::fused(prefix, suffix))
            }
        })
    }
}

/// Rows that wait for the run of some neighbouring entries.
#[derive(Default)]
pub(super) struct Stream {
    pub(super) pending: Pending,
    pub(super) parts: Vec<StreamPart>,
}

/// Those of one of them.
pub(super) struct StreamPart {
    pub(super) index: usize,
    pub(super) entry: Arc<Entry>,
    /// How many of the entry's newest runs have their rows here.
    pub(super) taken: usize,
    /// Where its rows end.
    pub(super) end: usize,
}

impl StreamPart {
    /// Those of the entry's runs whose rows are here, newest first.
    pub(super) fn runs_taken(&self) -> &[RunPart] {
        self.entry.runs.get(..self.taken).unwrap_or_default()
    }
}
