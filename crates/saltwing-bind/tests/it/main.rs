//! Definitions bound to the catalog.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod alter_table;
mod engine;
mod query;
mod write;
