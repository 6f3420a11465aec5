//! Phoenix's tables on a cluster in this process: the definitions and cells are those that Phoenix made.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod aggregates;
mod catalog;
mod catalog_rows;
mod ddl;
mod golden;
mod golden_rows;
mod live;
mod live_ddl;
mod phoenix_aggregates;
mod phoenix_server;
mod scans;
mod sql;
mod stops;
mod views;
mod world;
mod writes;
