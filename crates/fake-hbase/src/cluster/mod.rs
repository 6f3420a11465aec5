//! A cluster for tests.

mod contents;
mod faults;
mod handle;
mod regions;
mod servers;

pub use handle::Cluster;
