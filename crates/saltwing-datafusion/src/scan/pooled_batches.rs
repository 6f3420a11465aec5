//! Batches that are read on the runtime's pool for work that blocks.

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::stream;
use saltwing_access::TableError;

use crate::RelationalError;

/// The batches that `next` gives, up to `None`, with the columns named and typed as `schema` says.
///
/// Each is read when an operator wants it, on the pool of the runtime for work that blocks. A scan that waits for a disk or a network, or
/// reads many rows before one passes its filter, holds no worker of the runtime, and other queries go on. Between two batches a scan holds no
/// thread at all.
pub(crate) fn pooled_batches(
    next: impl FnMut() -> Result<Option<RecordBatch>> + Send + 'static,
    schema: SchemaRef,
) -> SendableRecordBatchStream {
    let batches = stream::try_unfold((next, schema.clone()), async |(mut next, schema)| {
        let reading = tokio::task::spawn_blocking(move || next().map(|batch| batch.map(|batch| (batch, next))));
        let read = match reading.await {
            Ok(read) => read?,
            // A panic is reported where the whole query runs.
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            // The runtime ends, with the database.
            Err(_) => return Err(RelationalError::from(TableError::Cancelled).into()),
        };
        let Some((batch, next)) = read else { return Ok(None) };
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let (_, columns, _) = batch.into_parts();
        let batch = RecordBatch::try_new_with_options(schema.clone(), columns, &options)?;
        Ok::<_, DataFusionError>(Some((batch, (next, schema))))
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, batches))
}
