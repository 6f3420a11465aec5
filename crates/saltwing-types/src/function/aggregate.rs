//! The registry of aggregate functions: what is known of each but the computation itself.
//!
//! The binder, both executors, `SHOW FUNCTIONS`, `docs/functions.md`, completion and the hints for misspelled names read the
//! entries; none of them has a list of names.
//!
//! A new function is a `static` [`AggregateEntry`], and a line in its list: in `own.rs` if the binder or both executors know it, and in
//! `engine.rs` if DataFusion's is meant, and in `composed.rs` if the binder makes it of other functions.

mod composed;
mod engine;
mod entry;
mod function;
mod own;
mod registry;

pub use engine::{ARRAY_AGG, BIT_XOR, FIRST_VALUE, STRING_AGG};
pub use entry::{
    AggregateEntry, AggregateForm, AggregateInput, AggregateMeaning, Composition, ConstantArgument, EXAMPLE_ROWS,
    Executors, HypotheticalValue,
};
pub use function::{AggregateFunction, AggregateState};
