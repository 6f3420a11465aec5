//! Writes records of comma-separated values, and lines of JSON.

use std::io::{self, Write};

use arrow::array::RecordBatch;
use saltwing_bind::ResultColumn;
use saltwing_expr::{JsonObjects, write_text};
use saltwing_types::ErrorCode;

use crate::Error;
use crate::files::reader::Format;

/// Writes labels and batches.
pub(crate) struct RecordWriter<W> {
    out: W,
    format: Format,
    null: String,
    field: String,
}

impl<W: Write> RecordWriter<W> {
    pub(crate) fn new(out: W, format: Format, null: String) -> Self {
        Self { out, format, null, field: String::new() }
    }

    /// Writes the line of labels.
    pub(crate) fn header(&mut self, columns: &[ResultColumn]) -> Result<(), Error> {
        for (i, column) in columns.iter().enumerate() {
            self.separate(i)?;
            self.field.clone_from(&column.label);
            self.put_field().map_err(unwritable)?;
        }
        self.out.write_all(b"\n").map_err(unwritable)
    }

    /// Writes one line for each row.
    pub(crate) fn batch(&mut self, columns: &[ResultColumn], batch: &RecordBatch) -> Result<(), Error> {
        for row in 0..batch.num_rows() {
            for (i, column) in columns.iter().enumerate() {
                self.separate(i)?;
                self.field.clear();
                match write_text(batch.column(i), row, column.ty, &mut self.field)? {
                    true => self.put_field().map_err(unwritable)?,
                    false => self.out.write_all(self.null.as_bytes()).map_err(unwritable)?,
                }
            }
            self.out.write_all(b"\n").map_err(unwritable)?;
        }
        Ok(())
    }

    fn separate(&mut self, index: usize) -> Result<(), Error> {
        if index > 0 { self.out.write_all(&[self.format.delimiter]).map_err(unwritable) } else { Ok(()) }
    }

    /// Writes the field, in quotes if it would otherwise be read as another value.
    fn put_field(&mut self) -> io::Result<()> {
        let Format { delimiter, quote, escape } = self.format;
        let special = |b: u8| b == delimiter || b == quote || b == b'\n' || b == b'\r';
        // Readers skip a byte order mark at the beginning of a file.
        let is_marked = self.field.starts_with('\u{feff}');
        if self.field != self.null && !self.field.is_empty() && !is_marked && !self.field.bytes().any(special) {
            return self.out.write_all(self.field.as_bytes());
        }
        self.out.write_all(&[quote])?;
        for byte in self.field.bytes() {
            if byte == quote || (byte == escape && escape != quote) {
                self.out.write_all(&[escape])?;
            }
            self.out.write_all(&[byte])?;
        }
        self.out.write_all(&[quote])
    }

    pub(crate) fn finish(mut self) -> Result<W, Error> {
        self.out.flush().map_err(unwritable)?;
        Ok(self.out)
    }
}

/// Writes batches as JSON objects, each on a line.
pub(crate) struct JsonWriter<W> {
    out: W,
    objects: JsonObjects,
    line: String,
}

impl<W: Write> JsonWriter<W> {
    pub(crate) fn new(out: W, columns: &[ResultColumn]) -> Self {
        let objects = JsonObjects::new(columns.iter().map(|column| (column.label.as_str(), column.ty)));
        Self { out, objects, line: String::new() }
    }

    pub(crate) fn batch(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        for row in 0..batch.num_rows() {
            self.line.clear();
            self.objects.write(batch, row, &mut self.line)?;
            self.line.push('\n');
            self.out.write_all(self.line.as_bytes()).map_err(unwritable)?;
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<W, Error> {
        self.out.flush().map_err(unwritable)?;
        Ok(self.out)
    }
}

/// Keeps its source, by which the shell distinguishes a pipe without a reader from a full disk.
#[derive(Debug, thiserror::Error)]
#[error("the file cannot be written: {0}")]
struct Unwritable(#[source] io::Error);

pub(super) fn unwritable(error: io::Error) -> Error {
    Error::wrap(ErrorCode::Io, Unwritable(error))
}
