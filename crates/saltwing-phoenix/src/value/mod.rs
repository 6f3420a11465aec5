//! Values as the bytes of a cell.

mod array;
mod codec;
mod error;

pub use codec::CellCodec;
pub use error::{BadCell, CellTypeError, CellValueError};
