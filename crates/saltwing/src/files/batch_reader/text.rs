//! Reads texts as batches: CSV records and JSON lines with known columns and types.

use std::collections::HashMap;
use std::io::BufRead;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema, SchemaRef};
use saltwing_expr::{ColumnBuilder, arrow_type};
use saltwing_types::{ErrorCode, SqlType, Value, ValueError, text};

use super::super::candidates::is_kept;
use super::super::header::header_names;
use super::super::json_lines::JsonLines;
use super::super::reader::{RecordError, RecordReader};
use super::{BATCH_ROWS, BatchError, BatchReader};

/// Most characters of a value that an error shows.
const SHOWN_CHARS: usize = 80;

/// A column of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextColumn {
    pub(crate) name: String,
    pub(crate) ty: SqlType,
}

/// The schema of a text's columns, all nullable.
pub(crate) fn text_schema(columns: &[TextColumn]) -> SchemaRef {
    let field = |column: &TextColumn| Field::new(&column.name, arrow_type(column.ty), true);
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

/// The lines of a text, to be read as rows.
pub(crate) enum Lines<R> {
    Csv {
        reader: RecordReader<R>,
        /// Whether the next record is the header.
        has_header: bool,
        /// The unquoted field that means NULL.
        null: String,
    },
    Json(JsonLines<R>),
}

/// Reads the batches of a text.
pub(crate) struct TextReader<R> {
    lines: Lines<R>,
    columns: Vec<TextColumn>,
    schema: SchemaRef,
}

impl<R: BufRead> TextReader<R> {
    pub(crate) fn new(lines: Lines<R>, columns: Vec<TextColumn>) -> Self {
        let schema = text_schema(&columns);
        Self { lines, columns, schema }
    }

    /// Adds the next row; returns whether there was one.
    fn add_row(&mut self, builders: &mut [ColumnBuilder]) -> Result<bool, BatchError> {
        let columns = &self.columns;
        match &mut self.lines {
            Lines::Csv { reader, has_header, null } => {
                if std::mem::take(has_header) && !read_header(reader, columns)? {
                    return Ok(false);
                }
                if columns.len() == 1 {
                    reader.keep_empty_records();
                }
                if !read_record(reader)? {
                    return Ok(false);
                }
                let line = reader.first_line();
                let fields = reader.fields().map_err(|error| at(line, ErrorCode::BadText, &error))?;
                if fields.len() != columns.len() {
                    let text = format!("{} fields for {} columns", fields.len(), columns.len());
                    return Err(at(line, ErrorCode::BadText, &text));
                }
                for ((field, column), builder) in fields.iter().zip(columns).zip(builders) {
                    let is_null = !field.quoted && field.text == *null;
                    append(builder, (!is_null).then_some(field.text), column, line)?;
                }
            }
            Lines::Json(lines) => {
                let line = lines.number + 1;
                if !lines.read().map_err(|error| at(line, error.code(), &error))? {
                    return Ok(false);
                }
                let line = lines.number;
                let object = lines.object().map_err(|error| at(line, error.code(), &error))?;
                // If a key occurs twice, the last value counts.
                let mut values: HashMap<&str, Option<&str>> =
                    object.iter().map(|(key, value)| (key.as_str(), value.as_deref())).collect();
                for (column, builder) in columns.iter().zip(builders) {
                    append(builder, values.remove(column.name.as_str()).flatten(), column, line)?;
                }
                if let Some((key, _)) = object.iter().find(|(key, _)| values.contains_key(key.as_str())) {
                    return Err(at(line, ErrorCode::NoSuchColumn, &format!("the first lines have no key {key}")));
                }
            }
        }
        Ok(true)
    }
}

fn read_record<R: BufRead>(reader: &mut RecordReader<R>) -> Result<bool, BatchError> {
    reader.read().map_err(|error| match error {
        RecordError::Io(error) => BatchError::Io(error),
        error => at(reader.first_line(), ErrorCode::BadText, &error),
    })
}

/// Reads the header, whose names must be those of the first file; `false` at the end of the file.
fn read_header<R: BufRead>(reader: &mut RecordReader<R>, columns: &[TextColumn]) -> Result<bool, BatchError> {
    if !read_record(reader)? {
        return Ok(false);
    }
    let line = reader.first_line();
    let fields = reader.fields().map_err(|error| at(line, ErrorCode::BadText, &error))?;
    let names = header_names(&fields.iter().map(|field| field.text.to_owned()).collect::<Vec<_>>());
    if !names.iter().map(|name| name.to_lowercase()).eq(columns.iter().map(|column| column.name.to_lowercase())) {
        let text = format!("the columns are {}, and those of the first file are others", names.join(", "));
        return Err(at(line, ErrorCode::NoSuchColumn, &text));
    }
    Ok(true)
}

fn append(builder: &mut ColumnBuilder, field: Option<&str>, column: &TextColumn, line: u64) -> Result<(), BatchError> {
    let value = field.map_or(Ok(Value::Null), |field| match text::parse(field, column.ty) {
        Ok(_) if !is_kept(field, column.ty) => {
            let shown: String = field.chars().take(SHOWN_CHARS).collect();
            Err(ValueError::BadArgument(format!("{} does not keep '{shown}' as it is written", column.ty)))
        }
        value => value,
    });
    let appended = value.and_then(|value| builder.append_value(&value));
    appended.map_err(|error: ValueError| BatchError::Line {
        line,
        column: Some(column.name.clone()),
        code: error.code(),
        text: error.to_string(),
    })
}

fn at(line: u64, code: ErrorCode, text: &dyn std::fmt::Display) -> BatchError {
    BatchError::Line { line, column: None, code, text: text.to_string() }
}

impl<R: BufRead> BatchReader for TextReader<R> {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn project(&mut self, _: &[usize]) {
        debug_assert!(false, "a text is read with all its columns");
    }

    fn next(&mut self) -> Result<Option<RecordBatch>, BatchError> {
        let mut builders: Vec<_> =
            self.columns.iter().map(|column| ColumnBuilder::new(column.ty, BATCH_ROWS)).collect();
        let mut rows = 0;
        while rows < BATCH_ROWS && self.add_row(&mut builders)? {
            rows += 1;
        }
        if rows == 0 {
            return Ok(None);
        }
        let arrays = builders.iter_mut().map(ColumnBuilder::finish).collect();
        Ok(Some(RecordBatch::try_new(self.schema.clone(), arrays)?))
    }

    fn bytes(&self) -> u64 {
        match &self.lines {
            Lines::Csv { reader, .. } => reader.bytes(),
            Lines::Json(lines) => lines.bytes,
        }
    }
}
