//! Portals: prepared statements with values for their parameters, and cursors.

use std::sync::Arc;

use saltwing::Value;

use super::row_stream::{ColumnForms, OpenRows};
use super::statement::Prepared;

/// A portal.
pub(super) struct Portal {
    pub(super) prepared: Arc<Prepared>,
    pub(super) values: Vec<Value>,
    /// The bytes of the values as the client sent them.
    pub(super) value_bytes: usize,
    /// The codes of the formats of its columns, for a statement whose columns only a run tells.
    pub(super) format_codes: Vec<i16>,
    /// Its columns in these formats, as far as they are known.
    pub(super) columns: Option<ColumnForms>,
    pub(super) state: PortalState,
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
