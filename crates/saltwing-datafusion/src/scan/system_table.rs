//! System tables as tables of DataFusion.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use datafusion::catalog::{MemTable, TableProvider};
use datafusion::common::Result;
use saltwing_bind::{SystemFacts, SystemTable};
use saltwing_catalog::CatalogReader;
use saltwing_expr::columns_of_rows;

use crate::RelationalError;
use crate::expression::sql_field::typed_field;

/// The rows that a system table has now.
///
/// # Errors
/// The catalog's.
pub(crate) fn system_rows(table: &dyn SystemTable, catalog: &dyn CatalogReader) -> Result<Arc<dyn TableProvider>> {
    let columns = table.columns();
    let places: Vec<usize> = (0..columns.len()).collect();
    let rows = table.rows(&SystemFacts::of(catalog), &places).map_err(RelationalError::from)?;
    let fields: Vec<_> = columns.iter().map(|column| typed_field(column.name, column.ty, true)).collect();
    let types: Vec<_> = columns.iter().map(|column| column.ty).collect();
    let arrays = columns_of_rows(&types, &rows).map_err(RelationalError::from)?;
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?;
    Ok(Arc::new(MemTable::try_new(batch.schema(), vec![vec![batch]])?))
}
