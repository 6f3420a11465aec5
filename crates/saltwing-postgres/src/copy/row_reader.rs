//! Rows of a client's bytes.

use saltwing::{SqlType, Value};

use super::binary_format::{BinaryRows, NextFields};
use super::csv_format::{self, ForcedNulls};
use super::error::{CopyError, RowError};
use super::fields::Fields;
use super::format::{CopyFormat, CsvFormat, Header, TextFormat};
use super::lines::{Lines, NextLine, Quoting};
use super::text_format;
use crate::values::{Format, WireType, decode};

/// Characters of a value or a line that an error shows.
const SHOWN_CHARS_MAX: usize = 100;

/// A column that a COPY FROM fills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadColumn {
    /// Its name.
    pub(crate) name: String,
    /// Its type; `None` if any value is taken, which arrives as a text.
    pub(crate) ty: Option<SqlType>,
}

/// OID of text: the type of a column that takes any value.
const TEXT: u32 = 25;

/// Reads the rows of a COPY FROM STDIN, in whatever parts their bytes come.
pub(crate) struct RowReader {
    rows: Rows,
    table: String,
    columns: Vec<ReadColumn>,
    /// The type of each column as the protocol names it.
    oids: Vec<u32>,
    fields: Fields,
    /// Whether the first line is still to be passed.
    header: Header,
    /// The number of the row in the binary format, from 1.
    row: u64,
}

/// The rows of a format.
enum Rows {
    Text(Lines, TextFormat),
    Csv(Lines, CsvFormat, ForcedNulls),
    Binary(BinaryRows),
}

/// What there is to take.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NextRow {
    /// A value for each column.
    Row(Vec<Value>),
    /// More bytes are needed.
    NeedsInput,
    /// There are no more rows.
    End,
}

impl RowReader {
    /// The reader of rows for a table, whose name errors show.
    ///
    /// # Errors
    /// [`CopyError::ForcedColumn`].
    pub(crate) fn new(format: &CopyFormat, table: &str, columns: Vec<ReadColumn>) -> Result<Self, CopyError> {
        let (rows, header) = match format {
            CopyFormat::Text(format) => (Rows::Text(Lines::new(Quoting::Backslash), format.clone()), format.header),
            CopyFormat::Csv(format) => {
                let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
                let forced = ForcedNulls {
                    not_null: format.force_not_null.of_columns("FORCE_NOT_NULL", &names)?,
                    null: format.force_null.of_columns("FORCE_NULL", &names)?,
                };
                let quoting = Quoting::Quotes { quote: format.quote, escape: format.escape };
                (Rows::Csv(Lines::new(quoting), format.clone(), forced), format.header)
            }
            CopyFormat::Binary => (Rows::Binary(BinaryRows::new(columns.len())), Header::Absent),
        };
        let oids = columns.iter().map(|column| column.ty.map_or(TEXT, |ty| WireType::of(ty).oid)).collect();
        Ok(Self { rows, table: table.to_owned(), columns, oids, fields: Fields::default(), header, row: 0 })
    }

    /// The format of all values.
    pub(crate) fn value_format(&self) -> Format {
        if matches!(self.rows, Rows::Binary(_)) { Format::Binary } else { Format::Text }
    }

    /// Adds bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        match &mut self.rows {
            Rows::Text(lines, _) | Rows::Csv(lines, ..) => lines.push(bytes),
            Rows::Binary(rows) => rows.push(bytes),
        }
    }

    /// Notes that all bytes have come.
    pub(crate) fn complete(&mut self) {
        match &mut self.rows {
            Rows::Text(lines, _) | Rows::Csv(lines, ..) => lines.complete(),
            Rows::Binary(rows) => rows.complete(),
        }
    }

    /// The number of the line that was taken last, from 1; of the row in the binary format.
    pub(crate) fn line(&self) -> u64 {
        match &self.rows {
            Rows::Text(lines, _) | Rows::Csv(lines, ..) => lines.number(),
            Rows::Binary(_) => self.row,
        }
    }

    /// Takes the next row.
    ///
    /// # Errors
    /// Bytes that are no row, and fields that are no values of their columns. No row may be taken after an error.
    pub(crate) fn next(&mut self) -> Result<NextRow, RowError> {
        loop {
            match self.next_fields()? {
                NextFields::Row if self.header != Header::Absent => self.pass_header()?,
                NextFields::Row => return self.values().map(NextRow::Row),
                NextFields::NeedsInput => return Ok(NextRow::NeedsInput),
                NextFields::End => return Ok(NextRow::End),
            }
        }
    }

    fn next_fields(&mut self) -> Result<NextFields, RowError> {
        let Self { rows, fields, .. } = self;
        let next = match rows {
            Rows::Binary(rows) => rows.next(fields),
            Rows::Text(lines, format) => fields_of(lines.next(), |line| text_format::split(line, format, fields)),
            Rows::Csv(lines, format, forced) => {
                fields_of(lines.next(), |line| csv_format::split(line, format, forced, fields))
            }
        };
        if !matches!(next, Ok(NextFields::NeedsInput | NextFields::End)) {
            self.row = self.row.saturating_add(1);
        }
        next.map_err(|error| self.failed(error))
    }

    /// Passes the first line.
    fn pass_header(&mut self) -> Result<(), RowError> {
        let header = std::mem::take(&mut self.header);
        if header != Header::Matching {
            return Ok(());
        }
        let (found, expected) = (self.fields.len(), self.columns.len());
        if found != expected {
            return Err(self.failed(CopyError::HeaderCount { found, expected }));
        }
        for (index, column) in self.columns.iter().enumerate() {
            let found = String::from_utf8_lossy(self.fields.get(index).unwrap_or_default());
            if found.to_lowercase() != column.name.to_lowercase() {
                let (found, expected) = (shortened(&found), column.name.clone());
                return Err(self.failed(CopyError::HeaderName { place: index.saturating_add(1), found, expected }));
            }
        }
        Ok(())
    }

    /// The values of the fields.
    fn values(&self) -> Result<Vec<Value>, RowError> {
        let (fields, columns, format) = (self.fields.len(), self.columns.len(), self.value_format());
        if fields > columns {
            return Err(self.failed(CopyError::ExtraField));
        }
        let mut values = Vec::with_capacity(columns);
        for (index, (column, oid)) in self.columns.iter().zip(&self.oids).enumerate() {
            if index >= fields {
                return Err(self.failed(CopyError::MissingField { column: column.name.clone() }));
            }
            let field = self.fields.get(index);
            let value = decode(field, format, *oid, column.ty);
            values.push(value.map_err(|error| self.bad_value(CopyError::Value(error), &column.name, field))?);
        }
        Ok(values)
    }

    fn failed(&self, error: CopyError) -> RowError {
        RowError { error, place: self.place() }
    }

    /// The place of the line that was taken last, for errors.
    pub(crate) fn place(&self) -> String {
        let unit = if self.value_format() == Format::Binary { "row" } else { "line" };
        format!("COPY {}, {unit} {}", self.table, self.line())
    }

    fn bad_value(&self, error: CopyError, column: &str, field: Option<&[u8]>) -> RowError {
        let value = match (self.value_format(), field) {
            (_, None) => ": null input".to_owned(),
            (Format::Binary, _) => String::new(),
            (Format::Text, Some(field)) => format!(": \"{}\"", shortened(&String::from_utf8_lossy(field))),
        };
        RowError { error, place: format!("{}, column {column}{value}", self.place()) }
    }
}

/// The fields of the next line.
fn fields_of(
    next: Result<NextLine, CopyError>,
    split: impl FnOnce(&[u8]) -> Result<(), CopyError>,
) -> Result<NextFields, CopyError> {
    match next? {
        NextLine::Line(line) => split(&line).map(|()| NextFields::Row),
        NextLine::NeedsInput => Ok(NextFields::NeedsInput),
        NextLine::End => Ok(NextFields::End),
    }
}

/// The beginning of a text.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
