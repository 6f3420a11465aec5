//! The servers, by messages of the protocol alone: nothing here has the logic of a client.

mod basics;
mod faults;
mod filters;
mod masters;
mod multis;
mod regions;
mod scans;
mod wire;
