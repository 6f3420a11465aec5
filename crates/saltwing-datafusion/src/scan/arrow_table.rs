//! Batches of the program as a table.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema};
use datafusion::catalog::{MemTable, TableProvider};
use datafusion::common::Result;
use saltwing_catalog::ArrowTable;

/// The table, whose columns have their names in lower case. Its reads are not judged: they cost no storage.
pub(crate) fn batches_as_table(table: &ArrowTable) -> Result<Arc<dyn TableProvider>> {
    let field = |field: &Arc<Field>| Field::clone(field).with_name(field.name().to_lowercase());
    let schema = Arc::new(Schema::new(table.schema.fields().iter().map(field).collect::<Vec<_>>()));
    let renamed = |batch: &RecordBatch| RecordBatch::try_new(schema.clone(), batch.columns().to_vec());
    let batches = table.batches.iter().map(renamed).collect::<std::result::Result<Vec<_>, _>>()?;
    Ok(Arc::new(MemTable::try_new(schema, vec![batches])?))
}
