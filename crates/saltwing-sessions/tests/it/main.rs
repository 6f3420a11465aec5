//! Sessions over a database in memory.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod owner;
