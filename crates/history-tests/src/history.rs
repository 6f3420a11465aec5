//! What is known of a run: for each thread its transactions, in order.

use serde::{Deserialize, Serialize};

use crate::state::State;
use crate::statement::{Answer, Statement};
use crate::table::Table;

/// The transactions of each thread, in the order in which the thread ran them.
pub type History = Vec<Vec<Transaction>>;

/// When a call was sent and when its answer came, by a clock that all threads share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Nothing that the call does happened before this.
    pub sent: u64,
    /// All that the call does has happened by then.
    pub answered: u64,
}

/// The outcome of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// COMMIT was acknowledged.
    Committed,
    /// COMMIT was refused: another commit came first.
    Conflict,
    /// By the transaction itself, or after an error that is not a conflict.
    RolledBack,
    /// Nobody knows.
    Unknown,
}

/// A transaction. One statement outside BEGIN .. COMMIT is one, too: it begins and ends in the same call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transaction {
    /// The call that took its snapshot.
    pub began: Span,
    /// Its statements and their answers.
    pub statements: Vec<(Statement, Answer)>,
    /// The call that committed it, or would have.
    pub ended: Span,
    /// What became of it.
    pub end: End,
}

impl Transaction {
    /// A transaction that reads all rows of both tables and finds these.
    pub fn reading(rows: &State, span: Span) -> Self {
        let read = |table: &Table| {
            let rows = rows.rows(*table).iter().map(|(key, [v, w])| vec![Some(*key), *v, *w]);
            (Statement::all(*table), Answer::Rows(rows.collect()))
        };
        let statements = Table::ALL.iter().map(read).collect();
        Self { began: span, statements, ended: span, end: End::Committed }
    }
}
