//! The batches of a source, read where its reads hold up nothing else.

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, stream};
use saltwing_access::TableError;

use crate::RelationalError;

/// The threads on which a source is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadPlace {
    /// The worker of the runtime that wants the batch: for reads that are short and never wait.
    Worker,
    /// The runtime's pool for work that blocks. A scan that waits for a disk or a network, or reads many rows before one passes its filter,
    /// holds no worker there, and other queries go on. Between two batches it holds no thread at all.
    Pool,
}

/// The batches that `next` gives, up to `None`, with the columns named and typed as `schema` says. Each is read when an operator wants
/// it.
pub(crate) fn batches(
    mut next: impl FnMut() -> Result<Option<RecordBatch>> + Send + 'static,
    place: ReadPlace,
    schema: SchemaRef,
) -> SendableRecordBatchStream {
    let read = match place {
        ReadPlace::Worker => stream::iter(std::iter::from_fn(move || next().transpose())).boxed(),
        ReadPlace::Pool => pooled(next).boxed(),
    };
    let renamed = {
        let schema = schema.clone();
        move |batch: RecordBatch| {
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            let (_, columns, _) = batch.into_parts();
            Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
        }
    };
    Box::pin(RecordBatchStreamAdapter::new(schema, read.map(move |batch| batch.and_then(&renamed))))
}

fn pooled(
    next: impl FnMut() -> Result<Option<RecordBatch>> + Send + 'static,
) -> impl stream::Stream<Item = Result<RecordBatch>> + Send {
    stream::try_unfold(next, async |mut next| {
        match tokio::task::spawn_blocking(move || next().map(|batch| batch.map(|batch| (batch, next)))).await {
            Ok(read) => read,
            // A panic is reported where the whole query runs.
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            // The runtime ends, with the database.
            Err(_) => Err(DataFusionError::from(RelationalError::from(TableError::Cancelled))),
        }
    })
}
