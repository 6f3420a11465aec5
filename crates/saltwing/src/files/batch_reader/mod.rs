//! Files that hold columns: their rows as Arrow batches.
//!
//! # Laws
//! 1. Bytes that are no such file, or a part of one, are an error: never a panic, and never fewer rows.
//! 2. Memory is allocated for what was read, or for what a batch may hold: no length in a file is believed.

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

/// Rows of a batch at most, so that a batch of wide rows is not large.
pub(crate) const BATCH_ROWS: usize = 1024;

/// Gives the batches of a file, from its first to its last.
pub(crate) trait BatchReader {
    /// All columns of the file.
    fn schema(&self) -> &SchemaRef;

    /// Asks for these columns alone, in ascending order, before the first batch.
    fn project(&mut self, columns: &[usize]);

    /// The next batch; `None` at the end.
    fn next(&mut self) -> Result<Option<RecordBatch>, BatchError>;

    /// About how many bytes of the file were read.
    fn bytes(&self) -> u64;
}

/// Why a file cannot be read on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BatchError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it is damaged, or no file of this format: {0}")]
    Damaged(String),
    #[error("{0}")]
    NotSupported(String),
    /// A timestamp that Arrow has no unit for.
    #[error(
        "column {column}: a timestamp of INT96 outside of the years 1677 to 2262 and with parts of a microsecond, or in a list"
    )]
    #[cfg_attr(not(feature = "parquet"), allow(dead_code))] // Parquet alone has such timestamps
    Timestamp { column: String },
    /// A line of a text that is no row.
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
/// There is none; `help` says how to do without the column.
pub(crate) fn type_of_field(file: &str, field: &Field, help: &str) -> Result<SqlType, Error> {
    column_type(field.data_type()).ok_or_else(|| {
        let text = format!("{file}, column {}: SQL has no type {}", field.name(), field.data_type());
        Error::new(ErrorCode::NotSupported, text).with_help(Some(help))
    })
}

/// The SQL type of a file's column, if there is one. The values of a dictionary are values like any other.
fn column_type(data_type: &DataType) -> Option<SqlType> {
    match data_type {
        DataType::Dictionary(_, values) => column_type(values),
        // Rows without bytes: their number is a claim of the file.
        DataType::FixedSizeBinary(0) | DataType::FixedSizeList(_, 0) => None,
        data_type => sql_type(data_type),
    }
}

/// The values of a dictionary's column.
pub(crate) fn plain(column: &ArrayRef) -> Result<ArrayRef, BatchError> {
    match column.data_type() {
        DataType::Dictionary(_, values) => plain(&guarded(|| cast(column, values))?),
        _ => Ok(column.clone()),
    }
}

/// Runs code of others over bytes of others: its panic is the file's fault.
fn guarded<T, E: Into<BatchError>>(read: impl FnOnce() -> Result<T, E>) -> Result<T, BatchError> {
    match foreign::quietly(read) {
        Ok(done) => done.map_err(Into::into),
        // Its text speaks of the reader's code, not of the file.
        Err(_) => Err(BatchError::damaged("its content contradicts itself")),
    }
}
