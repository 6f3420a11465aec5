//! Calls of a table.

mod actions;
mod buffered_writer;
mod handle;
mod multi;
mod multi_call;
mod row_calls;
mod waiting;

pub use actions::Action;
pub use buffered_writer::{BufferedWriter, Failure, Written};
pub use handle::Table;
pub use row_calls::CoprocessorCall;
