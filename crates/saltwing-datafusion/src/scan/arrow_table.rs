//! Batches of the program, and files, as tables.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::streaming::StreamingTable;
use datafusion::catalog::{MemTable, TableProvider};
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::streaming::PartitionStream;
use saltwing_catalog::{ArrowRows, ArrowSource, ArrowSourceError, ArrowTable};

use crate::scan::batches::{ReadPlace, batches};
use crate::{RelationalError, RelationalErrorKind};

/// The table. Its reads are not judged: they cost no storage.
pub(crate) fn batches_as_table(table: &ArrowTable) -> Result<Arc<dyn TableProvider>> {
    // Without the metadata of the whole schema, which batches of one table may not share.
    let schema = Arc::new(Schema::new(table.schema.fields().clone()));
    match &table.rows {
        ArrowRows::Batches(batches) => {
            let batches = batches.iter().map(|batch| with_schema(batch, &schema)).collect::<Result<Vec<_>>>()?;
            Ok(Arc::new(MemTable::try_new(schema, vec![batches])?))
        }
        ArrowRows::Source(source) => {
            let stream = SourceStream { source: source.clone(), schema: schema.clone() };
            Ok(Arc::new(StreamingTable::try_new(schema, vec![Arc::new(stream)])?))
        }
    }
}

fn with_schema(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    Ok(RecordBatch::try_new(schema.clone(), batch.columns().to_vec())?)
}

/// Reads a source.
#[derive(Debug)]
struct SourceStream {
    source: Arc<dyn ArrowSource>,
    schema: SchemaRef,
}

impl PartitionStream for SourceStream {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (source, mut opened) = (self.source.clone(), None);
        let next = move || {
            let opened = match &mut opened {
                Some(batches) => batches,
                None => opened.insert(source.open().map_err(failed)?),
            };
            opened.next().transpose().map_err(failed)
        };
        batches(next, ReadPlace::Pool, self.schema.clone())
    }
}

fn failed(error: ArrowSourceError) -> DataFusionError {
    let help = error.help.clone();
    let error = RelationalError::from(RelationalErrorKind::Source(error));
    DataFusionError::from(match help {
        Some(help) => error.help(help),
        None => error,
    })
}
