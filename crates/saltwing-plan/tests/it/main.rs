//! Conditions to ranges: golden plans, brute force over random tables, and Phoenix's own ranges.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod forms;
mod golden;
mod keys;
mod long_conditions;
mod long_lists;
mod no_row_lost;
mod open_values;
mod phoenix_ranges;
mod skipping;
mod support;
