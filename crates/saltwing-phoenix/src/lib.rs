#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod offsets;
mod value;

pub use value::{BadCell, CellCodec, CellTypeError, CellValueError};
