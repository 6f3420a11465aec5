//! How far a run is.

use serde_json::Value;

use crate::result_page::OpenResult;

/// How far a run is.
#[derive(Default)]
pub(crate) struct RunState {
    /// The results of the statements that have ended, until a call takes them.
    pub(crate) results: Vec<Value>,
    /// The place of the statement that runs, from 1.
    pub(crate) place: usize,
    /// How many statements the text has.
    pub(crate) count: usize,
    /// Whether all statements have ended.
    pub(crate) is_ended: bool,
    /// The bytes of the rows in the results.
    pub(crate) bytes: usize,
    /// The result with rows that are left: the last one, if it has some.
    pub(crate) open: Open,
}

/// The rows that are left of a run.
#[derive(Default)]
pub(crate) enum Open {
    /// None.
    #[default]
    Nothing,
    /// These.
    Result(Box<OpenResult>),
    /// A call reads some.
    Taken,
}
