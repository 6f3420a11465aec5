//! Columns of a definition.

use saltwing_types::{SortOrder, SqlType, Value};

/// A column, as Phoenix's catalog has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDefinition {
    /// Name. Columns of indexes are named after those of their table: `FAMILY:COLUMN`, or `:COLUMN` for a key column.
    pub name: String,
    /// Family of a value column; `None` for a key column.
    pub family: Option<String>,
    /// Type.
    pub ty: SqlType,
    /// Whether NULL may be written.
    pub nullable: bool,
    /// Direction in the key; ascending for value columns.
    pub order: SortOrder,
    /// SQL text: the DEFAULT in a table or view, what is indexed in an index.
    pub expression: Option<String>,
    /// Qualifier of its cells; `None` for a key column.
    pub qualifier: Option<Vec<u8>>,
    /// In a view, the value that all its rows have in this column.
    pub view_constant: Option<Value>,
    /// Whether the key column gives the cells their time.
    pub is_row_timestamp: bool,
}

impl ColumnDefinition {
    /// Whether it is part of the key.
    pub fn is_key(&self) -> bool {
        self.family.is_none()
    }
}
