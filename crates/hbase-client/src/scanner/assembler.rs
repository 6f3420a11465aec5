//! Rows out of the pieces in which servers send them.

use crate::cell::Cell;
use crate::row::{Piece, Row};

/// Rows out of pieces. The pieces of one row follow each other; the last one is not marked as partial, or the next row begins.
#[derive(Default)]
pub(super) struct Assembler {
    cells: Vec<Cell>,
    cells_bytes: usize,
}

/// A row is larger than the limit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

impl Assembler {
    /// Adds a piece; the rows that are complete with it go to `rows`.
    pub(super) fn add(&mut self, piece: Piece, row_bytes_max: usize, rows: &mut Vec<Row>) -> Result<(), TooLarge> {
        let Some(first) = piece.cells.first() else { return Ok(()) };
        if self.cells.first().is_some_and(|cell| cell.row() != first.row()) {
            self.complete(rows);
        }
        if self.cells.is_empty() && !piece.is_partial {
            rows.push(Row::new(piece.cells));
            return Ok(());
        }
        self.cells_bytes += piece.cells.iter().map(|cell| cell.key_value().len()).sum::<usize>();
        if self.cells_bytes > row_bytes_max {
            return Err(TooLarge);
        }
        self.cells.extend(piece.cells);
        if !piece.is_partial {
            self.complete(rows);
        }
        Ok(())
    }

    /// The row of which there are pieces is complete: another row follows, or the region ends.
    pub(super) fn complete(&mut self, rows: &mut Vec<Row>) {
        self.cells_bytes = 0;
        if !self.cells.is_empty() {
            rows.push(Row::new(std::mem::take(&mut self.cells)));
        }
    }

    /// Forgets the pieces of a row that is not complete: the row is read again.
    pub(super) fn clear(&mut self) {
        self.cells_bytes = 0;
        self.cells.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cell::{CellKind, CellParts};

    fn cell(row: u8, qualifier: u8) -> Cell {
        let (row, qualifier) = (&[row][..], &[qualifier][..]);
        Cell::new(CellParts { row, family: b"f", qualifier, timestamp: 1, kind: CellKind::PUT, value: b"" }).unwrap()
    }

    #[test]
    fn a_row_beyond_the_limit_is_an_error() {
        let mut assembler = Assembler::default();
        let piece = |qualifier| Piece { cells: vec![cell(1, qualifier)], is_partial: true };
        assert_eq!(assembler.add(piece(1), 30, &mut Vec::new()), Ok(()));
        assert_eq!(assembler.add(piece(2), 30, &mut Vec::new()), Err(TooLarge));
    }

    proptest! {
        /// However rows are cut into pieces, and whether or not the last piece of a row says that it is partial, the rows are the same.
        #[test]
        fn pieces_make_rows(
            sizes in prop::collection::vec(1_u8..6, 1..8),
            cuts in prop::collection::vec(any::<bool>(), 48),
            flags in prop::collection::vec(any::<bool>(), 8),
        ) {
            let mut cuts = cuts.into_iter();
            let (mut assembler, mut rows, mut expected) = (Assembler::default(), Vec::new(), Vec::new());
            for (row, size) in sizes.iter().enumerate() {
                let all: Vec<Cell> = (0..*size).map(|qualifier| cell(row as u8, qualifier)).collect();
                expected.push(Row::new(all.clone()));
                let mut pieces: Vec<Vec<Cell>> = vec![Vec::new()];
                for cell in all {
                    let last = pieces.len() - 1;
                    if !pieces[last].is_empty() && cuts.next() == Some(true) {
                        pieces.push(vec![cell]);
                    } else {
                        pieces[last].push(cell);
                    }
                }
                let last = pieces.len() - 1;
                for (at, cells) in pieces.into_iter().enumerate() {
                    let piece = Piece { cells, is_partial: at < last || flags[row] };
                    prop_assert_eq!(assembler.add(piece, usize::MAX, &mut rows), Ok(()));
                }
            }
            assembler.complete(&mut rows);
            prop_assert_eq!(rows, expected);
        }
    }
}
