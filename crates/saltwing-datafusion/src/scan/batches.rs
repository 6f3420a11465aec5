//! The batches of a source, read where its reads hold up nothing else.

use std::future::poll_fn;
use std::task::{Context, Poll};

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
    /// The runtime's pool for work that blocks, unless the source tells when it is ready. A scan that waits for a disk or a network, or reads many rows before one passes its filter,
    /// holds no worker there, and other queries go on. Between two batches it holds no thread at all.
    Pool,
}

/// A source of batches.
pub(crate) trait BatchSource: Send + 'static {
    /// As [`RowSource::poll_ready`](saltwing_access::RowSource::poll_ready).
    fn poll_ready(&mut self, task: &mut Context<'_>) -> Option<Poll<()>> {
        let _ = task;
        None
    }

    /// The next batch; `None` at the end.
    fn next(&mut self) -> Result<Option<RecordBatch>>;
}

impl<F: FnMut() -> Result<Option<RecordBatch>> + Send + 'static> BatchSource for F {
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        self()
    }
}

/// The batches that a source gives, with the columns named and typed as `schema` says. Each is read when an operator wants it.
pub(crate) fn batches(mut source: impl BatchSource, place: ReadPlace, schema: SchemaRef) -> SendableRecordBatchStream {
    let read = match place {
        ReadPlace::Worker => stream::iter(std::iter::from_fn(move || source.next().transpose())).boxed(),
        ReadPlace::Pool => pooled(source).boxed(),
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

/// A source that tells when it is ready is read on the worker then: it does not wait.
fn pooled(source: impl BatchSource) -> impl stream::Stream<Item = Result<RecordBatch>> + Send {
    stream::try_unfold(source, async |mut source| {
        let is_ready = poll_fn(|task| match source.poll_ready(task) {
            None => Poll::Ready(false),
            Some(ready) => ready.map(|()| true),
        });
        let read = |mut source| BatchSource::next(&mut source).map(|batch| batch.map(|batch| (batch, source)));
        if is_ready.await {
            return read(source);
        }
        match tokio::task::spawn_blocking(move || read(source)).await {
            Ok(read) => read,
            // A panic is reported where the whole query runs.
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            // The runtime ends, with the database.
            Err(_) => Err(DataFusionError::from(RelationalError::from(TableError::Cancelled))),
        }
    })
}
