//! Short runs of the trials.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod small;
