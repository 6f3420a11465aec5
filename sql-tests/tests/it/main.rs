//! The SQL files, random statements, and what Phoenix answered.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod compatibility;
mod first_statements;
mod golden_keys;
mod golden_results;
mod operators;
mod plan_names;
mod random;
mod read_ahead;
mod suite;
