//! The catalog over a store.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod catalog;
mod laws;
