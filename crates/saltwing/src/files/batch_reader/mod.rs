//! Reads the rows of files as Arrow batches.
//!
//! # Laws
//! 1. Bytes that are not a whole file of the format are an error: never a panic, and never fewer rows.
//! 2. Memory is allocated for bytes that were read, or up to the limits of a batch: no length in a file is trusted.

#[cfg(feature = "parquet")]
mod int96;
mod ipc;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_footer;
mod text;

use std::io;

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, SchemaRef};
use arrow::error::ArrowError;
use saltwing_expr::sql_type;
use saltwing_types::{ErrorCode, SqlType, foreign};

use super::reader::RecordError;
use crate::Error;

pub(crate) use self::ipc::IpcReader;
#[cfg(feature = "parquet")]
pub(crate) use self::parquet::ParquetReader;
pub(crate) use self::text::{Lines, TextColumn, TextReader, text_schema};

/// Most rows of a batch, so that a batch of wide rows is not large.
pub(crate) const BATCH_ROWS: usize = 1024;

/// Reads the batches of a file in order.
pub(crate) trait BatchReader {
    /// All columns of the file.
    fn schema(&self) -> &SchemaRef;

    /// Restricts the batches to these columns, in ascending order; to be called before the first batch.
    fn project(&mut self, columns: &[usize]);

    /// The next batch; `None` at the end.
    fn next(&mut self) -> Result<Option<RecordBatch>, BatchError>;

    /// The approximate number of bytes of the file that were read.
    fn bytes(&self) -> u64;
}

/// The reason why the reading of a file cannot continue.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BatchError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it is damaged, or no file of this format: {0}")]
    Damaged(String),
    #[error("{0}")]
    NotSupported(String),
    /// A timestamp that fits no unit of Arrow.
    #[error(
        "column {column}: a timestamp of INT96 outside of the years 1677 to 2262 and with parts of a microsecond, or in a list"
    )]
    #[cfg_attr(not(feature = "parquet"), allow(dead_code))] // only Parquet has such timestamps
    Timestamp { column: String },
    /// A line of a text that is not a valid row.
    #[error("line {line}: {text}")]
    Line { line: u64, column: Option<String>, code: ErrorCode, text: String },
}

impl BatchError {
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::Io(_) => ErrorCode::Io,
            Self::Damaged(_) => ErrorCode::BadText,
            Self::NotSupported(_) => ErrorCode::NotSupported,
            Self::Timestamp { .. } => ErrorCode::DatetimeOverflow,
            Self::Line { code, .. } => *code,
        }
    }

    fn damaged(reason: &str) -> Self {
        Self::Damaged(reason.to_owned())
    }
}

impl From<RecordError> for BatchError {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::Io(error) => Self::Io(error),
            error => Self::Damaged(error.to_string()),
        }
    }
}

impl From<ArrowError> for BatchError {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::IoError(_, error) => Self::Io(error),
            ArrowError::NotYetImplemented(text) => Self::NotSupported(text),
            error => Self::Damaged(error.to_string()),
        }
    }
}

/// The SQL type of a column of a file.
///
/// # Errors
/// SQL has no such type; `help` tells how to leave the column out.
pub(crate) fn type_of_field(file: &str, field: &Field, help: &str) -> Result<SqlType, Error> {
    column_type(field.data_type()).ok_or_else(|| {
        let text = format!("{file}, column {}: SQL has no type {}", field.name(), field.data_type());
        Error::new(ErrorCode::NotSupported, text).with_help(Some(help))
    })
}

/// The SQL type of a file's column, if there is one; for a dictionary, the type of its values.
fn column_type(data_type: &DataType) -> Option<SqlType> {
    match data_type {
        DataType::Dictionary(_, values) => column_type(values),
        // Rows of such a column have no bytes, so nothing would bound the number of rows that the file states.
        DataType::FixedSizeBinary(0) | DataType::FixedSizeList(_, 0) => None,
        data_type => sql_type(data_type),
    }
}

/// The column, with a dictionary replaced by its values.
pub(crate) fn plain(column: &ArrayRef) -> Result<ArrayRef, BatchError> {
    match column.data_type() {
        DataType::Dictionary(_, values) => plain(&guarded(|| cast(column, values))?),
        _ => Ok(column.clone()),
    }
}

/// Runs third-party code over the bytes of a file: a panic means that the file is damaged.
fn guarded<T, E: Into<BatchError>>(read: impl FnOnce() -> Result<T, E>) -> Result<T, BatchError> {
    match foreign::quietly(read) {
        Ok(done) => done.map_err(Into::into),
        // The panic's text is about the reader's code, not about the file.
        Err(_) => Err(BatchError::damaged("its content contradicts itself")),
    }
}
