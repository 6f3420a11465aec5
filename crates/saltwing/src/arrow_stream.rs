//! Arrow's C stream interface: exports results to and imports rows from other languages, without copies.
//!
//! The structure and all unsafe code are Arrow's own. This module only converts between readers of batches and the structure.

#[cfg(feature = "datafusion")]
use arrow::array::RecordBatchReader;
use arrow::error::ArrowError;
use arrow::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use saltwing_types::ErrorCode;

use crate::Error;
use crate::appender::BlockingAppender;
use crate::rows::ArrowRows;

impl ArrowRows {
    /// The batches as a structure of Arrow's C stream interface, which Python's `__arrow_c_stream__` puts into its capsule. Pulling a batch
    /// blocks the thread until the batch is read. An error of the statement is the text of the stream's last error.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use saltwing::arrow::ffi_stream::ArrowArrayStreamReader;
    ///
    /// let connection = saltwing::Database::memory()?.connect().blocking();
    /// connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY)", ())?;
    /// connection.execute("UPSERT INTO t VALUES (1), (2)", ())?;
    /// let stream = connection.query_arrow("SELECT k FROM t WHERE k > 0", ())?.into_arrow_stream();
    /// let rows: usize = ArrowArrayStreamReader::try_new(stream)?.map(|batch| batch.map_or(0, |batch| batch.num_rows())).sum();
    /// assert_eq!(rows, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_arrow_stream(self) -> FFI_ArrowArrayStream {
        FFI_ArrowArrayStream::new(Box::new(self.into_reader()))
    }
}

impl BlockingAppender {
    /// Adds the rows of another program's stream, as [`append_batch`](BlockingAppender::append_batch) adds those of a batch.
    ///
    /// # Errors
    /// Those of that method; `bad_argument` for a stream that is not valid, or fails: the rows before the failure are added.
    pub fn append_arrow_stream(&mut self, stream: FFI_ArrowArrayStream) -> Result<(), Error> {
        for batch in reader_of(stream)? {
            self.append_batch(&batch.map_err(|error| stream_error(&error))?)?;
        }
        Ok(())
    }
}

#[cfg(feature = "datafusion")]
impl crate::blocking::Connection {
    /// Registers the batches of another program's stream as a table, as [`register_arrow`](crate::blocking::Connection::register_arrow) does.
    /// All batches are read at once.
    ///
    /// # Errors
    /// Those of that method; `bad_argument` for a stream that is not valid, or fails.
    pub fn register_arrow_stream(&self, name: &str, stream: FFI_ArrowArrayStream) -> Result<(), Error> {
        let reader = reader_of(stream)?;
        let schema = reader.schema();
        let batches = reader.collect::<Result<Vec<_>, _>>().map_err(|error| stream_error(&error))?;
        self.register_arrow(name, &schema, &batches)
    }
}

fn reader_of(stream: FFI_ArrowArrayStream) -> Result<ArrowArrayStreamReader, Error> {
    ArrowArrayStreamReader::try_new(stream).map_err(|error| stream_error(&error))
}

fn stream_error(error: &ArrowError) -> Error {
    Error::new(ErrorCode::BadArgument, format!("the Arrow stream cannot be read: {error}"))
}
