//! Tables that are not stored: Arrow batches of the program, and files.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, SchemaRef};
use saltwing_types::{ErrorCode, SqlType};

/// Arrow batches under a name. Nothing of it is stored.
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
    /// The columns: names, types, and whether they can be NULL. An Arrow type of no SQL type is [`SqlType::Opaque`].
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
    /// A source that each scan reads from its first row on.
    Source(Arc<dyn ArrowSource>),
}

/// Gives batches, from the first each time.
pub trait ArrowSource: fmt::Debug + Send + Sync {
    /// Begins to read. The batches have the schema of the table.
    ///
    /// # Errors
    /// That there is nothing to be read.
    fn open(&self) -> Result<ArrowBatches, ArrowSourceError>;
}

/// The batches of an [`ArrowSource`].
pub type ArrowBatches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowSourceError>> + Send>;

/// Why a source cannot be read.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{text}")]
pub struct ArrowSourceError {
    /// The stable code.
    pub code: ErrorCode,
    /// What is wrong, and where.
    pub text: String,
    /// What the user can do about it.
    pub help: Option<String>,
}
