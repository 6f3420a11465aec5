//! The store on redb: the contract of stores, damaged files, full devices and space that comes back.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod contract;
mod damage;
#[cfg(unix)]
mod full_device;
#[cfg(unix)]
mod reclaim;
