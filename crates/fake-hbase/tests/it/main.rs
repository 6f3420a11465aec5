//! The servers, by messages of the protocol alone: nothing here has the logic of a client.

#![allow(clippy::unwrap_used, clippy::panic)]

mod basics;
mod faults;
mod filters;
mod masters;
mod multis;
mod regions;
mod scan_limits;
mod scans;
mod schedules;
mod wire;
