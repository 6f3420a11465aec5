//! The store on sled.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod contract;
