//! Rows as a server gives them.

use bytes::Bytes;

use crate::cell::Cell;
use crate::frame::CellBlock;
use crate::proto::{RowResult, ScanResponse};
use crate::wire_error::WireError;

/// The cells of a row, in the order of families and qualifiers, the newest version of a column first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    cells: Vec<Cell>,
}

impl Row {
    /// A row of cells that belong to one row key.
    pub(crate) fn new(cells: Vec<Cell>) -> Self {
        debug_assert!(cells.windows(2).all(|two| two[0].row() == two[1].row()), "a row has one key");
        Self { cells }
    }

    /// The cells.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The cells, without the row around them.
    pub fn into_cells(self) -> Vec<Cell> {
        self.cells
    }

    /// Whether there are no cells: the row is not there, or no column of it was asked for.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The row key; empty if there are no cells.
    pub fn key(&self) -> &[u8] {
        self.cells.first().map_or(&[], Cell::row)
    }

    /// The newest value of a column.
    pub fn value(&self, family: &[u8], qualifier: &[u8]) -> Option<&[u8]> {
        let cell = self.cells.iter().find(|cell| cell.qualifier() == qualifier && cell.family() == family);
        cell.map(Cell::value)
    }
}

/// The row of a result, whose cells stand in the message, in the block, or in both.
///
/// # Errors
/// [`WireError::Cell`], [`WireError::MissingCells`].
pub(crate) fn row_of(result: &RowResult, block: &mut CellBlock) -> Result<Row, WireError> {
    let mut cells = Vec::with_capacity(result.cell.len());
    for cell in &result.cell {
        cells.push(Cell::from_message(cell)?);
    }
    let in_block = u64::try_from(result.associated_cell_count.unwrap_or(0)).unwrap_or(0);
    cells.append(&mut block.take(in_block)?);
    match is_of_one_row(&cells) {
        true => Ok(Row::new(cells)),
        false => Err(WireError::Cell { cell_bytes: 0 }),
    }
}

/// Cells of one row key out of the answer to a scan, and whether more cells of the row follow.
pub(crate) struct Piece {
    pub(crate) cells: Vec<Cell>,
    pub(crate) is_partial: bool,
}

/// The pieces of rows in the answer to a scan.
///
/// # Errors
/// [`WireError::Cell`], [`WireError::MissingCells`].
pub(crate) fn pieces_of(response: &ScanResponse, cells: Bytes) -> Result<Vec<Piece>, WireError> {
    let mut block = CellBlock::new(cells);
    let mut pieces = Vec::with_capacity(response.cells_per_result.len().max(response.results.len()));
    for (at, count) in response.cells_per_result.iter().enumerate() {
        let cells = block.take(u64::from(*count))?;
        if !is_of_one_row(&cells) {
            return Err(WireError::Cell { cell_bytes: 0 });
        }
        pieces.push(Piece { cells, is_partial: response.partial_flag_per_result.get(at) == Some(&true) });
    }
    for result in &response.results {
        let cells = row_of(result, &mut block)?.into_cells();
        pieces.push(Piece { cells, is_partial: result.partial == Some(true) });
    }
    Ok(pieces)
}

fn is_of_one_row(cells: &[Cell]) -> bool {
    cells.windows(2).all(|two| two[0].row() == two[1].row())
}
