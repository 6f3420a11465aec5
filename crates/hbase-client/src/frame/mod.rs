//! What goes over a connection: its preamble, then frames, each with a header, a message and a block of cells.
//!
//! ```text
//! preamble   HBas 00 auth  [length] ConnectionHeader
//! frame      [length of all that follows]  [varint] header  [varint] message  cell block
//! ```
//!
//! | item | is |
//! |---|---|
//! | [`put_preamble`], [`take_preamble`] | the first bytes of a connection |
//! | [`take_frame`] | a whole frame out of the bytes that came |
//! | [`Request`], [`Response`] | a frame in its parts |
//! | [`put_cells`], [`CellBlock`] | a block of cells |
//!
//! Lengths are compared with the bytes that are there before anything is made of them: decoding allocates memory in proportion to the
//! bytes that came, whatever they say.

mod cell_block;
mod frames;
mod preamble;

pub use cell_block::{CELL_CODEC, CellBlock, cell_block, put_cells};
pub use frames::{FRAME_BYTES_MAX, Request, Response, take_frame};
pub use preamble::{AUTH_SIMPLE, PREAMBLE_BYTES_MAX, put_preamble, take_preamble};

#[cfg(test)]
mod tests;
