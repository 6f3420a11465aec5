//! Portals: prepared statements with values for their parameters, and cursors.

use std::sync::Arc;
use std::time::SystemTime;

use saltwing::Value;

use super::row_stream::{ColumnForms, OpenRows};
use super::statement::Prepared;

/// The code of the binary format.
pub(super) const BINARY: i16 = 1;

/// A portal.
pub(super) struct Portal {
    pub(super) prepared: Arc<Prepared>,
    /// The text of its statement, or of its DECLARE.
    pub(super) text: Arc<str>,
    pub(super) opened_at: SystemTime,
    pub(super) values: Vec<Value>,
    /// The bytes of the values as the client sent them.
    pub(super) value_bytes: usize,
    /// The codes of the formats of its columns, for a statement whose columns only a run tells.
    pub(super) format_codes: Vec<i16>,
    /// Its columns in these formats, as far as they are known.
    pub(super) columns: Option<ColumnForms>,
    pub(super) state: PortalState,
}

impl Portal {
    /// Whether all its rows are sent in binary form.
    pub(super) fn is_binary(&self) -> bool {
        !self.format_codes.is_empty() && self.format_codes.iter().all(|code| *code == BINARY)
    }
}

/// How far a portal has run.
pub(super) enum PortalState {
    /// It has not run.
    Bound,
    /// Rows are left.
    Open(Box<OpenRows>),
    /// All its rows were sent.
    Ended,
    /// It ran, and gives no rows: it does not run again.
    Done,
}
