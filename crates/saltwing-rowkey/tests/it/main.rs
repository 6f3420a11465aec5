//! Row keys and key ranges: vectors, laws over random tables, refusals and damaged bytes.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod arrays;
mod corruption;
mod declared;
mod golden_keys;
mod nasty;
mod page;
mod range_laws;
mod range_vectors;
mod refusals;
mod row_laws;
mod value_laws;
mod vectors;
