//! Random statements over random tables.
//!
//! Each table is made twice: `t` with a key (of random types, directions and salt), and `u` without
//! one, where nothing but the filter decides.
//!
//! `SLT_SEED=n` takes another seed, `SLT_ROUNDS=n` more tables.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod conditions;
mod groups;
mod keyed_as_unkeyed;
mod tables;
