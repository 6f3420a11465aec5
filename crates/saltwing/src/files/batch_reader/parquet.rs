//! Reads Parquet: row group by row group, a page of each column at a time.

use std::fs::File;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaDataReader;

use super::int96::{Int96Columns, Int96Reader};
use super::parquet_footer::footer;
use super::{BATCH_ROWS, BatchError, BatchReader, guarded};

/// Reads the batches of a Parquet file.
pub(crate) struct ParquetReader {
    state: State,
    schema: SchemaRef,
    size: u64,
    rows: u64,
    rows_total: u64,
}

enum State {
    Opened(Box<ParquetRecordBatchReaderBuilder<File>>, Option<Box<Int96Columns>>),
    Reading(ParquetRecordBatchReader, Option<Int96Reader>),
    /// Reading failed, or reached the end.
    Ended,
}

impl ParquetReader {
    /// Reads the footer.
    ///
    /// # Errors
    /// The file is not Parquet, or cannot be read.
    pub(crate) fn open(mut file: File) -> Result<Self, BatchError> {
        let size = file.metadata()?.len();
        let footer = footer(&mut file, size)?;
        let metadata = guarded(|| {
            let metadata = Arc::new(ParquetMetaDataReader::decode_metadata(&footer)?);
            ArrowReaderMetadata::try_new(metadata, ArrowReaderOptions::default())
        })?;
        let int96 = Int96Columns::of(&file, &metadata)?.map(Box::new);
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
        let rows = builder.metadata().file_metadata().num_rows();
        let rows_total = u64::try_from(rows).map_err(|_| BatchError::Damaged(format!("it would have {rows} rows")))?;
        let schema = builder.schema().clone();
        Ok(Self {
            state: State::Opened(Box::new(builder.with_batch_size(BATCH_ROWS)), int96),
            schema,
            size,
            rows: 0,
            rows_total,
        })
    }

    fn read(&mut self) -> Result<Option<RecordBatch>, BatchError> {
        let (mut reader, mut int96) = match std::mem::replace(&mut self.state, State::Ended) {
            State::Opened(builder, int96) => (guarded(|| builder.build())?, int96.map(|it| it.read()).transpose()?),
            State::Reading(reader, int96) => (reader, int96),
            State::Ended => return Ok(None),
        };
        let Some(mut batch) = guarded(|| reader.next().transpose())? else {
            if self.rows != self.rows_total {
                let text = format!("it has {} rows instead of {}", self.rows, self.rows_total);
                return Err(BatchError::Damaged(text));
            }
            return Ok(None);
        };
        if let Some(int96) = &mut int96 {
            batch = int96.corrected(batch)?;
        }
        self.rows += batch.num_rows() as u64;
        self.state = State::Reading(reader, int96);
        Ok(Some(batch))
    }
}

impl BatchReader for ParquetReader {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn project(&mut self, columns: &[usize]) {
        if let State::Opened(builder, int96) = std::mem::replace(&mut self.state, State::Ended) {
            let mask = ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied());
            let int96 = int96.and_then(|it| it.project(columns)).map(Box::new);
            self.state = State::Opened(Box::new(builder.with_projection(mask)), int96);
        }
    }

    fn next(&mut self) -> Result<Option<RecordBatch>, BatchError> {
        self.read()
    }

    fn bytes(&self) -> u64 {
        let part = self.rows as f64 / self.rows_total.max(1) as f64;
        (self.size as f64 * part) as u64
    }
}

impl From<ParquetError> for BatchError {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::NYI(text) => Self::NotSupported(text),
            ParquetError::External(error) => match error.downcast() {
                Ok(error) => Self::Io(*error),
                Err(error) => Self::Damaged(error.to_string()),
            },
            error => Self::Damaged(error.to_string()),
        }
    }
}
