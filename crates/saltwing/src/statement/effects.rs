//! The effects of statements besides reading rows by keys: the last lines of EXPLAIN, and `effects` in its JSON.

use crate::explained::Effect;

/// The effects of a statement.
pub(crate) struct Effects {
    /// The part of the library that runs the statement.
    pub(crate) executor: &'static str,
    pub(crate) lines: Vec<Effect>,
}

/// The text about rows for statements that change only definitions or settings.
pub(super) const NO_ROWS: &str = "none are read or written";
/// The text about rows for statements that remove all rows of a table.
pub(super) const ROWS_REMOVED: &str = "all are removed without being read";
/// The text about rows for statements that create an index.
pub(super) const ROWS_INDEXED: &str = "all are read, and an entry is written for each";

impl Effects {
    /// A change of the catalog, and the effect on rows.
    pub(super) fn catalog(change: String, rows: &str) -> Self {
        Self { executor: "catalog", lines: vec![("catalog", change), ("rows", rows.to_owned())] }
    }

    /// Work on the storage, and the effect on rows.
    pub(super) fn storage(work: String, rows: &str) -> Self {
        Self { executor: "storage", lines: vec![("storage", work), ("rows", rows.to_owned())] }
    }

    /// A change of the session or its transaction.
    pub(super) fn session(change: String) -> Self {
        Self { executor: "session", lines: vec![("session", change), ("rows", NO_ROWS.to_owned())] }
    }

    /// A list or a value that the statement shows.
    pub(super) fn shows(what: String) -> Self {
        Self { executor: "session", lines: vec![("shows", what), ("rows", NO_ROWS.to_owned())] }
    }

    /// An effect on the rows that the statement reads or has.
    pub(super) fn rows(verb: &'static str, what: String) -> Self {
        Self { executor: "direct", lines: vec![(verb, what)] }
    }

    /// A statement that only reads.
    pub(super) fn none() -> Self {
        Self { executor: "direct", lines: Vec::new() }
    }
}

/// Names, separated by commas.
pub(super) fn listed<T: ToString>(names: impl IntoIterator<Item = T>) -> String {
    names.into_iter().map(|name| name.to_string()).collect::<Vec<_>>().join(", ")
}
