//! Random changes of a cluster while clients work.

mod driver;
mod kinds;
mod random;

pub use driver::{Event, Schedule};
pub use kinds::Kind;
