//! Writes batches as Arrow IPC and Parquet.

use std::io::Write;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use saltwing_bind::ResultColumn;
use saltwing_exec::select::result_schema;
use saltwing_sql::statement::CopyCompression;
use saltwing_types::ErrorCode;

use super::writer::unwritable;
use crate::Error;
use crate::files::format::ArrowForm;

/// The schema of a file for the rows of a query.
///
/// # Errors
/// Two columns with one name.
pub(super) fn file_schema(columns: &[ResultColumn]) -> Result<SchemaRef, Error> {
    for (place, column) in columns.iter().enumerate() {
        if columns.iter().take(place).any(|other| other.label.eq_ignore_ascii_case(&column.label)) {
            let text = format!("two columns of the file would have the name {}", column.label);
            let help = "name one of them: SELECT .. AS ..";
            return Err(Error::new(ErrorCode::DuplicateColumn, text).with_help(Some(help)));
        }
    }
    Ok(result_schema(columns))
}

/// Writes Arrow IPC.
pub(super) enum IpcWriter<W: Write> {
    File(Box<FileWriter<W>>, SchemaRef),
    Stream(Box<StreamWriter<W>>, SchemaRef),
}

impl<W: Write> IpcWriter<W> {
    pub(super) fn new(
        out: W,
        columns: &[ResultColumn],
        form: ArrowForm,
        compression: Option<CopyCompression>,
    ) -> Result<Self, Error> {
        let schema = file_schema(columns)?;
        let compression = match compression {
            Some(CopyCompression::Zstd) => Some(CompressionType::ZSTD),
            Some(CopyCompression::Lz4) => Some(CompressionType::LZ4_FRAME),
            _ => None,
        };
        let options = IpcWriteOptions::default().try_with_compression(compression).map_err(arrow_error)?;
        Ok(match form {
            ArrowForm::File => {
                let writer = FileWriter::try_new_with_options(out, &schema, options).map_err(arrow_error)?;
                Self::File(Box::new(writer), schema)
            }
            ArrowForm::Stream => {
                let writer = StreamWriter::try_new_with_options(out, &schema, options).map_err(arrow_error)?;
                Self::Stream(Box::new(writer), schema)
            }
        })
    }

    pub(super) fn batch(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        match self {
            Self::File(writer, schema) => writer.write(&with_schema(batch, schema)?),
            Self::Stream(writer, schema) => writer.write(&with_schema(batch, schema)?),
        }
        .map_err(arrow_error)
    }

    pub(super) fn finish(self) -> Result<W, Error> {
        match self {
            Self::File(mut writer, _) => writer.finish().and_then(|()| writer.into_inner()),
            Self::Stream(mut writer, _) => writer.finish().and_then(|()| writer.into_inner()),
        }
        .map_err(arrow_error)
    }
}

/// The columns of a batch under the names of the file.
fn with_schema(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, Error> {
    RecordBatch::try_new(schema.clone(), batch.columns().to_vec()).map_err(arrow_error)
}

fn arrow_error(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, error) => unwritable(error),
        error => Error::new(ErrorCode::Bug, format!("the rows cannot be written: {error}")),
    }
}

#[cfg(feature = "parquet")]
pub(super) use self::in_parquet::ParquetWriter;

#[cfg(feature = "parquet")]
mod in_parquet {
    use std::io::{self, Write};
    use std::sync::Arc;

    use arrow::array::RecordBatch;
    use arrow::datatypes::SchemaRef;
    use parking_lot::Mutex;
    use parquet::arrow::ArrowWriter;
    use parquet::basic::{Compression, GzipLevel, ZstdLevel};
    use parquet::errors::ParquetError;
    use parquet::file::properties::WriterProperties;
    use saltwing_bind::ResultColumn;
    use saltwing_sql::statement::CopyCompression;
    use saltwing_types::ErrorCode;

    use super::super::writer::unwritable;
    use super::{file_schema, with_schema};
    use crate::Error;

    /// Most rows and bytes of a row group. A row group is written when it is complete, so these limits bound the memory.
    const GROUP_ROWS: usize = 128 << 10;
    const GROUP_BYTES: usize = 64 << 20;

    /// Writes Parquet.
    pub(in super::super) struct ParquetWriter<W> {
        out: W,
        writer: ArrowWriter<Written>,
        written: Written,
        schema: SchemaRef,
    }

    /// The bytes that the encoder has written and `out` has not. The encoder needs an output that is `Send`, and the caller's output may not be.
    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl<W: Write> ParquetWriter<W> {
        pub(in super::super) fn new(
            out: W,
            columns: &[ResultColumn],
            compression: Option<CopyCompression>,
        ) -> Result<Self, Error> {
            let schema = file_schema(columns)?;
            let compression = match compression.unwrap_or(CopyCompression::Snappy) {
                CopyCompression::None => Compression::UNCOMPRESSED,
                CopyCompression::Gzip => Compression::GZIP(GzipLevel::default()),
                CopyCompression::Zstd => Compression::ZSTD(ZstdLevel::default()),
                CopyCompression::Lz4 => Compression::LZ4_RAW,
                CopyCompression::Snappy => Compression::SNAPPY,
            };
            let properties = WriterProperties::builder()
                .set_compression(compression)
                .set_max_row_group_row_count(Some(GROUP_ROWS))
                .set_created_by(format!("saltwing {}", env!("CARGO_PKG_VERSION")))
                .build();
            let written = Written::default();
            let writer = ArrowWriter::try_new(written.clone(), schema.clone(), Some(properties)).map_err(failed)?;
            Ok(Self { out, writer, written, schema })
        }

        pub(in super::super) fn batch(&mut self, batch: &RecordBatch) -> Result<(), Error> {
            self.writer.write(&with_schema(batch, &self.schema)?).map_err(failed)?;
            if self.writer.in_progress_size() >= GROUP_BYTES {
                self.writer.flush().map_err(failed)?;
            }
            pass_on(&self.written, &mut self.out)
        }

        pub(in super::super) fn finish(mut self) -> Result<W, Error> {
            self.writer.close().map_err(failed)?;
            pass_on(&self.written, &mut self.out)?;
            Ok(self.out)
        }
    }

    fn pass_on(written: &Written, out: &mut impl Write) -> Result<(), Error> {
        let bytes = std::mem::take(&mut *written.0.lock());
        out.write_all(&bytes).map_err(unwritable)
    }

    fn failed(error: ParquetError) -> Error {
        match error {
            ParquetError::NYI(text) => {
                Error::new(ErrorCode::NotSupported, format!("Parquet has no form for it: {text}"))
            }
            error => Error::new(ErrorCode::Bug, format!("the rows cannot be written: {error}")),
        }
    }
}
