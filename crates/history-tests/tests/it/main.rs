//! The checker of histories, and histories on each store.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod checker;
mod stores;
