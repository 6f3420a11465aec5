//! The packed layout against a map: random histories with merges and reopenings at any
//! moment, old views, and a fault in every write and every read of the store.

#![allow(clippy::unwrap_used, clippy::panic)]

mod definitions;
mod division;
mod durable;
mod estimates;
mod faults;
mod filtering;
mod history;
#[cfg(unix)]
mod killed;
mod long_values;
mod merging;
mod opened;
mod opening;
mod random_faults;
mod runs;
mod skipping;
mod storage;
#[path = "../support/mod.rs"]
mod support;
mod threads;
mod versions;
mod wide;
mod world;
