//! Rows on their way to the client.
//!
//! Each row is a message of its own, as PostgreSQL sends them: some drivers take a message for a row. The header of the binary format is a part of the
//! first message.

use bytes::{BufMut, BytesMut};
use pgwire::error::ErrorInfo;
use saltwing::{SqlType, ValueRef};

use super::binary_format::{SIGNATURE, TRAILER};
use super::csv_format;
use super::error::CopyError;
use super::format::{CopyFormat, Header};
use super::text_format;
use crate::messages::error;
use crate::values::{Format, WireError, encode_as};

/// A column that a COPY TO writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenColumn {
    /// Its name in the header.
    pub(crate) label: String,
    /// Its type.
    pub(crate) ty: SqlType,
    /// The OID of the type that it has for the client.
    pub(crate) oid: u32,
}

/// Writes the rows of a COPY TO STDOUT as messages.
pub(crate) struct RowWriter {
    format: CopyFormat,
    columns: Vec<WrittenColumn>,
    /// Whether the values of a column are always in quotes.
    forced: Vec<bool>,
    /// The number of columns, as the protocol has it.
    count: i16,
    /// The text of a value, after its length.
    scratch: BytesMut,
    /// Whether the binary header is still to be written.
    needs_header: bool,
}

impl RowWriter {
    /// The writer of rows of these columns.
    ///
    /// # Errors
    /// More columns than the protocol can count; an option that names a column that is not copied.
    pub(crate) fn new(format: &CopyFormat, columns: Vec<WrittenColumn>) -> Result<Self, Box<ErrorInfo>> {
        let count = i16::try_from(columns.len()).map_err(|_| error("54011", "COPY has more than 32767 columns"))?;
        let labels: Vec<&str> = columns.iter().map(|column| column.label.as_str()).collect();
        let forced = match format {
            CopyFormat::Csv(format) => format.force_quote.of_columns("FORCE_QUOTE", &labels)?,
            _ => vec![false; columns.len()],
        };
        let needs_header = *format == CopyFormat::Binary;
        Ok(Self { format: format.clone(), columns, forced, count, scratch: BytesMut::new(), needs_header })
    }

    /// The format of all values.
    pub(crate) fn value_format(&self) -> Format {
        if self.format == CopyFormat::Binary { Format::Binary } else { Format::Text }
    }

    /// The number of columns.
    pub(crate) fn column_count(&self) -> i16 {
        self.count
    }

    /// Adds the line of names, if the format has one.
    ///
    /// # Errors
    /// A message that is too long for the protocol.
    pub(crate) fn put_names(&mut self, out: &mut BytesMut) -> Result<(), Box<ErrorInfo>> {
        let header = match &self.format {
            CopyFormat::Text(format) => format.header,
            CopyFormat::Csv(format) => format.header,
            CopyFormat::Binary => Header::Absent,
        };
        if header == Header::Absent {
            return Ok(());
        }
        let Self { format, columns, .. } = self;
        in_message(out, |out| {
            for (index, column) in columns.iter().enumerate() {
                put_text_field(Some(column.label.as_bytes()), format, (index, columns.len()), false, out);
            }
            out.put_u8(b'\n');
            Ok(())
        })
    }

    /// Adds a row, whose values `value` gives by the places of the columns. If it fails, nothing is added.
    ///
    /// # Errors
    /// Those of `value`; a value, or a row, that is too long for the protocol.
    pub(crate) fn put_row<'a>(
        &mut self,
        out: &mut BytesMut,
        value: impl Fn(usize) -> Result<ValueRef<'a>, Box<ErrorInfo>>,
    ) -> Result<(), Box<ErrorInfo>> {
        let Self { format, columns, forced, count, scratch, needs_header } = self;
        in_message(out, |out| {
            if *format == CopyFormat::Binary {
                put_binary_header(needs_header, out);
                out.put_i16(*count);
                for (index, column) in columns.iter().enumerate() {
                    encode_as(&value(index)?, column.ty, column.oid, Format::Binary, out).map_err(bad_value)?;
                }
                return Ok(());
            }
            for (index, (column, is_forced)) in columns.iter().zip(forced.iter()).enumerate() {
                scratch.clear();
                encode_as(&value(index)?, column.ty, column.oid, Format::Text, scratch).map_err(bad_value)?;
                put_text_field(encoded_text(scratch), format, (index, columns.len()), *is_forced, out);
            }
            out.put_u8(b'\n');
            Ok(())
        })
    }

    /// Adds what follows the last row.
    ///
    /// # Errors
    /// None in practice: the message is short.
    pub(crate) fn finish(&mut self, out: &mut BytesMut) -> Result<(), Box<ErrorInfo>> {
        if self.format != CopyFormat::Binary {
            return Ok(());
        }
        let needs_header = &mut self.needs_header;
        in_message(out, |out| {
            put_binary_header(needs_header, out);
            out.put_slice(&TRAILER);
            Ok(())
        })
    }
}

/// Adds the header of the binary format, once.
fn put_binary_header(needs_header: &mut bool, out: &mut BytesMut) {
    if std::mem::take(needs_header) {
        out.put_slice(&SIGNATURE);
        // No flags, no extension.
        out.put_i64(0);
    }
}

/// Adds a field of `text` or `csv`; `place` is its place, and how many fields the row has.
fn put_text_field(
    field: Option<&[u8]>,
    format: &CopyFormat,
    place: (usize, usize),
    is_forced: bool,
    out: &mut BytesMut,
) {
    let (index, count) = place;
    match format {
        CopyFormat::Text(format) => {
            if index > 0 {
                out.put_u8(format.delimiter);
            }
            text_format::put_field(field, format, out);
        }
        CopyFormat::Csv(format) => {
            if index > 0 {
                out.put_u8(format.delimiter);
            }
            csv_format::put_field(field, format, is_forced, count == 1, out);
        }
        CopyFormat::Binary => debug_assert!(false, "the binary format has no texts"),
    }
}

/// The text of an encoded value, which follows its length; `None` is NULL.
fn encoded_text(encoded: &[u8]) -> Option<&[u8]> {
    let (length, text) = encoded.split_first_chunk::<4>()?;
    (i32::from_be_bytes(*length) >= 0).then_some(text)
}

fn bad_value(failed: WireError) -> Box<ErrorInfo> {
    CopyError::Value(failed).into()
}

/// Adds a CopyData message with the bytes that `put` adds. If it fails, nothing is added.
fn in_message(
    out: &mut BytesMut,
    put: impl FnOnce(&mut BytesMut) -> Result<(), Box<ErrorInfo>>,
) -> Result<(), Box<ErrorInfo>> {
    let start = out.len();
    out.put_u8(b'd');
    out.put_i32(0);
    let written = put(out).and_then(|()| {
        let length = out.len().checked_sub(start.saturating_add(1)).and_then(|length| i32::try_from(length).ok());
        let place = start.saturating_add(1)..start.saturating_add(5);
        match (length, out.get_mut(place)) {
            (Some(length), Some(field)) => {
                field.copy_from_slice(&length.to_be_bytes());
                Ok(())
            }
            _ => Err(error("54000", "a row has more than 2 GB in its form for the client")),
        }
    });
    if written.is_err() {
        out.truncate(start);
    }
    written
}
