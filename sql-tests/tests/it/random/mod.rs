//! Random statements over random tables.
//!
//! Each table is made twice: `t` with a key (of random types, directions and salt), and `u` without
//! one, where nothing but the filter decides. One test gives `t` indexes, too. Statements over `t` alone are held to the other executor.
//!
//! `PROPTEST_RNG_SEED` and `PROPTEST_CASES` ask for other tables and for more.

mod answer;
mod conditions;
mod groups;
mod indexed_as_unindexed;
mod keyed_as_unkeyed;
mod lookups;
mod statements;
mod tables;
