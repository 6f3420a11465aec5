//! Row segments: the output of a cursor, without copies of the rows.

use std::ops::Range;
use std::sync::Arc;

use saltwing_access::TableError;
use saltwing_store::{Bytes, Direction};
use smallvec::SmallVec;

use crate::engine::block_ref::BlockRef;
use crate::format::row_order::take_first;
use crate::format::stored_row::StoredRow;

/// Visible rows that come one after the other.
#[derive(Clone)]
pub(crate) enum RowSegment {
    /// Rows of a block, never empty; read backwards in a reverse scan. `is_counted` says whether the block already
    /// counts as read: the reader may need only the directory's summary of a segment.
    Block { block: Arc<BlockRef>, rows: Range<usize>, is_counted: bool },
    /// A row of a delta.
    Row { key: Bytes, row: StoredRow },
    /// The number of rows that the zone map excludes.
    Pruned(usize),
}

/// RowSegments that come one after the other: mostly one.
pub(crate) type RowSegments = SmallVec<[RowSegment; 2]>;

impl RowSegment {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Block { rows, .. } => rows.len(),
            Self::Row { .. } => 1,
            Self::Pruned(rows) => *rows,
        }
    }

    /// Bytes of its rows as stored, about.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Block { block, rows, .. } => {
                rows.len() as u64 * u64::from(block.summary.bytes) / u64::from(block.summary.rows.max(1))
            }
            Self::Row { key, row } => (key.len() + row.0.len()) as u64,
            Self::Pruned(_) => 0,
        }
    }

    /// Whether its block is one more that counts as read, once a part of it is.
    pub(crate) fn is_uncounted(&self) -> bool {
        matches!(self, Self::Block { is_counted: false, .. })
    }

    /// Its block is not to be counted again.
    pub(crate) fn set_counted(&mut self) {
        if let Self::Block { is_counted, .. } = self {
            *is_counted = true;
        }
    }

    /// Takes the first `count` rows in the direction of the scan off; `count` is less than there are.
    pub(crate) fn split(&mut self, count: usize, direction: Direction) -> Self {
        match self {
            Self::Row { .. } => self.clone(),
            Self::Pruned(rows) => {
                *rows -= count;
                Self::Pruned(count)
            }
            Self::Block { block, rows, is_counted } => {
                // The rest is counted together with the taken rows.
                let is_counted = std::mem::replace(is_counted, true);
                Self::Block { block: block.clone(), rows: take_first(rows, direction, count), is_counted }
            }
        }
    }

    /// How many of its rows are before a place, in the direction of the scan; all rows of a pruned segment, whose keys
    /// were not read.
    pub(crate) fn rows_before(&self, place: &[u8], direction: Direction) -> Result<usize, TableError> {
        Ok(match (self, direction) {
            (Self::Row { key, .. }, Direction::Forward) => usize::from(**key < *place),
            (Self::Row { key, .. }, Direction::Reverse) => usize::from(*place <= **key),
            (Self::Block { block, rows, .. }, Direction::Forward) if *block.summary.last_key < *place => rows.len(),
            (Self::Block { block, rows, .. }, direction) => {
                let row = block.lead()?.lower_bound(place).clamp(rows.start, rows.end);
                if direction == Direction::Forward { row - rows.start } else { rows.end - row }
            }
            (Self::Pruned(rows), _) => *rows,
        })
    }

    /// The key of the first row in the direction of the scan, in place of what `key` held.
    pub(crate) fn first_key(&self, direction: Direction, key: &mut Vec<u8>) -> Result<(), TableError> {
        match self {
            Self::Row { key: stored, .. } => {
                key.clear();
                key.extend_from_slice(stored);
            }
            Self::Block { block, rows, .. } => {
                let row = if direction == Direction::Forward { rows.start } else { rows.end.saturating_sub(1) };
                block.lead()?.key_into(row, key);
            }
            Self::Pruned(_) => key.clear(),
        }
        Ok(())
    }
}
