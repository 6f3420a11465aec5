//! Blocks of cells: each cell after its length, one after the other.

use bytes::{Buf, BufMut, Bytes, BytesMut};

use crate::cell::Cell;
use crate::wire_error::WireError;

/// The Java class of the form of a cell block, for the connection's header.
pub const CELL_CODEC: &str = "org.apache.hadoop.hbase.codec.KeyValueCodec";

/// Appends cells to a block.
pub fn put_cells<'c>(cells: impl IntoIterator<Item = &'c Cell>, block: &mut BytesMut) {
    for cell in cells {
        let bytes = cell.key_value();
        block.put_u32(bytes.len() as u32);
        block.put_slice(bytes);
    }
}

/// A block of these cells.
pub fn cell_block<'c>(cells: impl IntoIterator<Item = &'c Cell> + Clone) -> Bytes {
    let block_bytes = cells.clone().into_iter().map(|cell| 4 + cell.key_value().len()).sum();
    let mut block = BytesMut::with_capacity(block_bytes);
    put_cells(cells, &mut block);
    block.freeze()
}

/// The cells of a block, one after the other; they share its bytes.
#[derive(Clone, Debug)]
pub struct CellBlock {
    rest: Bytes,
}

impl CellBlock {
    /// The cells of a block.
    pub fn new(block: Bytes) -> Self {
        Self { rest: block }
    }

    /// The next cell; `None` at the end.
    ///
    /// # Errors
    /// [`WireError::Cell`].
    pub fn next_cell(&mut self) -> Result<Option<Cell>, WireError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let wrong = WireError::Cell { cell_bytes: self.rest.len() };
        if self.rest.len() < 4 {
            return Err(wrong);
        }
        let cell_bytes = self.rest.get_u32() as usize;
        if cell_bytes > self.rest.len() {
            return Err(wrong);
        }
        Cell::from_key_value(self.rest.split_to(cell_bytes)).map(Some)
    }

    /// The next `count` cells. Memory is taken for those that are there alone.
    ///
    /// # Errors
    /// [`WireError::Cell`], [`WireError::MissingCells`].
    pub fn take(&mut self, count: u64) -> Result<Vec<Cell>, WireError> {
        // A cell takes at least 24 bytes.
        let most = count.min(self.rest.len() as u64 / 24);
        let mut cells = Vec::with_capacity(most as usize);
        for taken in 0..count {
            match self.next_cell()? {
                Some(cell) => cells.push(cell),
                None => return Err(WireError::MissingCells { cells_missing: count - taken }),
            }
        }
        Ok(cells)
    }

    /// The number of bytes of the cells that are still to come.
    pub fn rest_bytes(&self) -> usize {
        self.rest.len()
    }
}
