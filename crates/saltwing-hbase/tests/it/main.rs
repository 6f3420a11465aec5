//! Phoenix's tables on a cluster in this process: the definitions and cells are those that Phoenix made.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod aggregates;
mod catalog;
mod golden;
mod golden_rows;
mod live;
mod phoenix_aggregates;
mod phoenix_server;
mod scans;
mod sql;
mod stops;
mod world;
mod writes;
