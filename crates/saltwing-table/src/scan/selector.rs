//! Which rows of a scan's segments are worth decoding.

use std::sync::Arc;

use saltwing_access::TableError;
use saltwing_store::Direction;

use crate::engine::stored_table::StoredTable;
use crate::scan::block_parts::BlockParts;
use crate::scan::condition::Truth;
use crate::scan::conditions::Conditions;
use crate::scan::cursor::segment::RowSegment;
use crate::scan::selection::Selection;

/// Holds segments to the conditions that decide before anything is decoded.
pub(crate) struct Selector {
    conditions: Arc<Conditions>,
    parts: BlockParts,
    /// Of the segment selected from last, where it is of a block.
    selection: Selection,
    /// The result for the row, if it is from a delta.
    row: Option<Truth>,
}

impl Selector {
    pub(crate) fn new(conditions: Arc<Conditions>) -> Self {
        Self { conditions, parts: BlockParts::default(), selection: Selection::default(), row: None }
    }

    /// How many rows of a segment are to be decoded.
    pub(crate) fn select(&mut self, table: &StoredTable, segment: &RowSegment) -> Result<usize, TableError> {
        self.row = None;
        match segment {
            RowSegment::Pruned(_) => Ok(0),
            RowSegment::Row { key, row } => {
                let truth = self.conditions.of_row(table, key, row)?;
                self.row = Some(truth);
                Ok(usize::from(truth != Truth::False))
            }
            RowSegment::Block { block, rows, .. } => {
                self.selection.begin(rows.clone());
                self.conditions.keep(block, &mut self.parts, &mut self.selection)?;
                Ok(self.selection.len())
            }
        }
    }

    /// The rows of the segment selected from last, which was one of a block, where they are not all.
    pub(crate) fn some(&self, segment: &RowSegment) -> Option<&Selection> {
        let is_some = matches!(segment, RowSegment::Block { .. }) && self.selection.len() < self.selection.len_of_all();
        is_some.then_some(&self.selection)
    }

    /// The same, with the parts of the block that were read for it.
    pub(crate) fn parts_and_some(&mut self, segment: &RowSegment) -> (&mut BlockParts, Option<&Selection>) {
        let is_some = self.some(segment).is_some();
        (&mut self.parts, is_some.then_some(&self.selection))
    }

    /// The same as a list, in the direction of the scan.
    pub(crate) fn list(&mut self, segment: &RowSegment, direction: Direction) -> Option<&[u32]> {
        self.some(segment).is_some().then(|| self.selection.list(direction))
    }

    /// Adds at which places the rows of the segment selected from last are unknown, where the first of them has the place `shift`.
    pub(crate) fn unknown(&self, segment: &RowSegment, direction: Direction, shift: usize, out: &mut Vec<usize>) {
        match segment {
            RowSegment::Row { .. } if self.row == Some(Truth::Unknown) => out.push(shift),
            RowSegment::Block { .. } => self.selection.unknown(direction, shift, out),
            RowSegment::Row { .. } | RowSegment::Pruned(_) => {}
        }
    }
}
