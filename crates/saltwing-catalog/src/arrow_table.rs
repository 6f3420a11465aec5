//! Tables that are not stored: Arrow batches of the program, and files.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, SchemaRef};
use saltwing_types::{ErrorCode, SqlType};

/// Arrow batches with a name. They are not stored.
#[derive(Debug)]
pub struct ArrowTable {
    /// The name, as spelt.
    pub name: String,
    /// The columns. Each has the Arrow type of an SQL type.
    pub schema: SchemaRef,
    /// The rows.
    pub rows: ArrowRows,
}

impl ArrowTable {
    /// The columns: names, types, and whether they can be NULL. An Arrow type without an SQL type is [`SqlType::Opaque`].
    pub fn columns(&self) -> Vec<(String, SqlType, bool)> {
        let column = |field: &Arc<Field>| {
            let ty = saltwing_expr::sql_type(field.data_type()).unwrap_or(SqlType::Opaque);
            (field.name().clone(), ty, field.is_nullable())
        };
        self.schema.fields().iter().map(column).collect()
    }
}

/// The rows of an [`ArrowTable`].
#[derive(Debug)]
pub enum ArrowRows {
    /// In memory.
    Batches(Vec<RecordBatch>),
    /// A source that each scan reads from its first row.
    Source(Arc<dyn ArrowSource>),
}

/// A source of batches that can be read several times.
pub trait ArrowSource: fmt::Debug + Send + Sync {
    /// Begins to read from the first batch. The batches have the schema of the table.
    ///
    /// # Errors
    /// The source cannot be opened.
    fn open(&self) -> Result<ArrowBatches, ArrowSourceError>;
}

/// The batches of an [`ArrowSource`].
pub type ArrowBatches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowSourceError>> + Send>;

/// The reason why a source cannot be read.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{text}")]
pub struct ArrowSourceError {
    /// The stable code.
    pub code: ErrorCode,
    /// The description, with the position.
    pub text: String,
    /// Advice for the user.
    pub help: Option<String>,
}
