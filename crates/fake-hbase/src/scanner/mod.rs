//! Scanners over the rows of a region.

mod batch;
mod filtered;
mod reader;

pub(crate) use batch::{Batch, Limits, Part, Range};
pub(crate) use filtered::filtered;
pub(crate) use reader::Scanner;
