//! The cluster in a process: the contract of the border, and SQL over it.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod calls;
mod conformance;
mod rows;
mod sql;
mod stops;
