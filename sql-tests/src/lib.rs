//! Runs sqllogictest files against a database.
//!
//! A file is a list of records: statements that succeed or fail, and queries with
//! the rows they give. Each file runs on a fresh database, so files know nothing
//! of each other. Every record is run, also after one that failed.
//!
//! # The dialect
//! What sqlite's corpus and the crate `sqllogictest` have in common, and:
//! * expected rows stand one row a line or one value a line, whichever matches
//!   (`control resultmode` insists on one); `N values hashing to H` is sqlite's;
//! * `statement error`, `query error` take a pattern over `sqlstate code: message`,
//!   as in `statement error 54F01`, or `error (54F01)` for the state alone;
//! * labels for `skipif` and `onlyif` are `saltwing`, the store's name, `relational` for a build with the relational
//!   engine, and `index_all` where every column gets an index; both may carry a comment, and go for a `halt` too;
//! * two queries with one label in one file must give the same rows;
//! * a file that starts with `_` is only run where another includes it.
//!
//! # Value texts
//! NULL, `(empty)`, else by the column's letter: `I` an integer (booleans are 1 and
//! 0, fractions are cut off), `R` a number with three decimals, anything else the
//! text that the shell shows. Control characters are shown as `@`.
//!
//! # Statements that people try first
//! `first_statements/` beside this package has statements of users of other systems, each with `works` or the words of its refusal.
//! `tests/it/first_statements.rs` runs them through the library; `UPDATE_GOLDEN=1 cargo test --release -p sql-tests first_statements` writes
//! the outcomes that have changed. Read the difference: what worked must still work.
//!
//! # Left to others
//! The files themselves: `slt/` beside this package, and the corpora that stay
//! outside the repository.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod answer;
mod files;
mod index_all;
mod report;
mod runner;
mod script;
mod target;
mod update;

pub use files::{Selection, select};
pub use report::{Failure, FileReport, Totals};
pub use runner::{run_file, run_files};
pub use target::{Executor, Options, Store, has_relational_engine};
pub use update::update_file;

/// What keeps a run from starting; a record that fails is a [`Failure`] instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A path that is not there, or that cannot be read.
    #[error("{path}")]
    File {
        /// The path.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file that is no sqllogictest.
    #[error("{0}")]
    Script(#[from] sqllogictest::ParseError),
    /// Includes that include each other.
    #[error("{path}: files include each other more than {limit} deep")]
    IncludeDepth {
        /// The innermost file.
        path: String,
        /// The limit.
        limit: usize,
    },
    /// A database that does not open.
    #[error("the database does not open")]
    Database(#[from] saltwing::Error),
}
