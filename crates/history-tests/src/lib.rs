//! Histories: what concurrent transactions saw and wrote, and whether snapshot isolation explains it.
//!
//! ```text
//!  workload: random transactions ── run ──> database
//!                │                             │
//!                └── history: statements, answers, times ──> check: is there an order of beginnings and commits
//!                                                                   by which the model gives the same answers?
//! ```
//!
//! The check knows nothing of the database: the model is two maps, and snapshot isolation is a rule about the order. So a lost
//! update, a dirty or torn read, a phantom, a transaction that misses its own writes, a commit in part and a commit that
//! appears late are all the same finding: no order explains the history.
//!
//! Every written value is unique, so that an answer says whose writes it contains.
//!
//! With [`create_indexes`] the tables have indexes, and some statements read them by a hint. The model knows no index: it
//! looks at all rows, and at the values that must be unique.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod check;
mod history;
mod index;
mod model;
mod random;
mod state;
mod statement;
mod table;
mod workload;

pub use check::{Anomaly, check};
pub use history::{End, History, Span, Transaction};
pub use index::Index;
pub use random::Random;
pub use state::State;
pub use statement::{Answer, Statement};
pub use table::{Row, Table};
pub use workload::{
    Clock, INDEX_CHANGES, Load, change_indexes, contents, create_indexes, create_tables, found_by_indexes,
    wait_for_indexes,
};
