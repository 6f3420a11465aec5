//! Scanners over the rows of a region.

mod batch;
mod filtered;
mod reader;

pub(crate) use batch::{Batch, Limits, Range};
pub(crate) use filtered::filtered;
pub(crate) use reader::Scanner;
