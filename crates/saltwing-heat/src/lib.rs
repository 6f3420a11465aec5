//! How often the keys of a relation are read and written: samples in bounded memory, for a picture with keys down and time across.
//!
//! ```text
//! access ──count──> one in a random gap ──> pending ──full, or next second──> slot of 1 s ──60 s old──> slot of 10 s ──> 1 min ──> 10 min
//!                   weight: the gap                                           at most 32 spans of keys in each, the lightest merged
//! ```
//! A [`Recorder`] counts the accesses of one relation. An access that is not sampled costs one atomic subtraction. [`Slot`]s are its
//! counts by time, and [`Picture`] divides them among rows of keys and columns of time. Keys are bytes in order; the crate knows
//! neither their columns nor a store.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod gaps;
mod key_prefix;
mod layers;
mod picture;
mod recorder;
mod room;
mod slot;

pub use key_prefix::{KEY_BYTES_MAX, KeyPrefix};
pub use layers::{DAY_S, SLOTS_MAX};
pub use picture::{Column, Picture, cuts_by_weight};
pub use recorder::{BYTES_MAX, Recorder};
pub use room::{Room, SPANS_MIN};
pub use slot::{SPANS_MAX, Slot, Span, Weights};
