//! Which rows of a scan's pieces are worth decoding.

use std::sync::Arc;

use saltwing_access::TableError;
use saltwing_store::Direction;

use crate::engine::stored_table::StoredTable;
use crate::scan::block_parts::BlockParts;
use crate::scan::condition::Truth;
use crate::scan::conditions::Conditions;
use crate::scan::cursor::segment::RowSegment;
use crate::scan::selection::Selection;

/// Holds pieces to the conditions that decide before anything is decoded.
pub(crate) struct Selector {
    conditions: Arc<Conditions>,
    parts: BlockParts,
    /// Of the piece selected from last, where it is of a block.
    selection: Selection,
    /// The result for the row, if it is from a delta.
    row: Option<Truth>,
}

impl Selector {
    pub(crate) fn new(conditions: Arc<Conditions>) -> Self {
        Self { conditions, parts: BlockParts::default(), selection: Selection::default(), row: None }
    }

    /// How many rows of a piece are to be decoded.
    pub(crate) fn select(&mut self, table: &StoredTable, piece: &RowSegment) -> Result<usize, TableError> {
        self.row = None;
        match piece {
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

    /// The rows of the piece selected from last, which was one of a block, where they are not all.
    pub(crate) fn some(&self, piece: &RowSegment) -> Option<&Selection> {
        let is_some = matches!(piece, RowSegment::Block { .. }) && self.selection.len() < self.selection.len_of_all();
        is_some.then_some(&self.selection)
    }

    /// The same, with the parts of the block that were read for it.
    pub(crate) fn parts_and_some(&mut self, piece: &RowSegment) -> (&mut BlockParts, Option<&Selection>) {
        let is_some = self.some(piece).is_some();
        (&mut self.parts, is_some.then_some(&self.selection))
    }

    /// The same as a list, in the direction of the scan.
    pub(crate) fn list(&mut self, piece: &RowSegment, direction: Direction) -> Option<&[u32]> {
        self.some(piece).is_some().then(|| self.selection.list(direction))
    }

    /// Adds at which places the rows of the piece selected from last are unknown, where the first of them has the place `shift`.
    pub(crate) fn unknown(&self, piece: &RowSegment, direction: Direction, shift: usize, out: &mut Vec<usize>) {
        match piece {
            RowSegment::Row { .. } if self.row == Some(Truth::Unknown) => out.push(shift),
            RowSegment::Block { .. } => self.selection.unknown(direction, shift, out),
            RowSegment::Row { .. } | RowSegment::Pruned(_) => {}
        }
    }
}
