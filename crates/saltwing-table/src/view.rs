//! What a statement sees.

use saltwing_access::{Table, TableError};
use saltwing_types::TableId;

use crate::packed::Moment;
use crate::packed::delta::TableRows;

/// One moment of all tables: it holds off nobody, and never changes.
///
/// What it sees cannot be reclaimed: keep it for a statement or a transaction, not for hours. Take it before the
/// definitions of the tables that it is read by: rows are read by their own definition or a later one, never by an
/// earlier one ([`TableError::DefinitionChanged`]).
pub struct ReadView {
    moment: Moment,
    now_ms: i64,
}

impl ReadView {
    pub(crate) fn new(moment: Moment, now_ms: i64) -> Self {
        Self { moment, now_ms }
    }

    /// A view of no rows, for what waits for a view: it holds nothing.
    pub fn nothing() -> Self {
        Self::new(Moment::new(), 0)
    }

    /// The time by which rows expire, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.now_ms
    }

    /// The rows of a table, for a reader who knows it by this definition.
    ///
    /// # Errors
    /// [`TableError::DefinitionChanged`] where the rows may be written by a later one.
    pub(crate) fn rows_for(&self, table: &Table) -> Result<TableRows, TableError> {
        let rows = self.rows(table.def().id);
        match rows.definition > table.version() {
            true => Err(TableError::DefinitionChanged { table: table.def().name.to_string() }),
            false => Ok(rows),
        }
    }

    /// The rows of a table.
    pub(crate) fn rows(&self, table: TableId) -> TableRows {
        self.moment.get(&table.0).cloned().unwrap_or_default()
    }
}
