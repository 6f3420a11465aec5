//! What a caller asks for: rows to read, mutations, conditions, filters.

mod condition;
mod filter;
mod get;
mod mutation;
mod scan;
mod selection;

pub use condition::Condition;
pub use filter::{Comparator, Filter, RowRange};
pub use get::Get;
pub use mutation::{Delete, Increment, Mutation, Put};
pub use scan::Scan;
