//! Rows as cells and back.

mod cells;
mod codec;
mod decoding;
mod encoding;
mod format;
mod packed;

pub use cells::{CellRef, DeletedCell, RowCells, RowDelete, WrittenCell};
pub use codec::RowCodec;
pub use decoding::{EmptyCell, Row};
pub use format::{RowFormat, StorageScheme, ValueColumn};
