//! Tables of the program: Arrow batches that queries read.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

/// Arrow batches under a name. Nothing of it is stored.
#[derive(Debug)]
pub struct ArrowTable {
    /// The name, as spelt.
    pub name: String,
    /// The columns. Each has the Arrow type of an SQL type.
    pub schema: SchemaRef,
    /// The rows.
    pub batches: Vec<RecordBatch>,
}
