//! Reads texts as batches: records of CSV and JSON lines, whose columns and types are known.

use std::io::BufRead;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema, SchemaRef};
use saltwing_expr::{ColumnBuilder, arrow_type};
use saltwing_types::{ErrorCode, SqlType, Value, ValueError, text};

use super::super::json_lines::JsonLines;
use super::super::reader::{RecordError, RecordReader};
use super::{BATCH_ROWS, BatchError, BatchReader};

/// A column of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct TextColumn {
    pub(in super::super) name: String,
    pub(in super::super) ty: SqlType,
}

/// The schema of a text's columns, each of which may be NULL.
pub(in super::super) fn text_schema(columns: &[TextColumn]) -> SchemaRef {
    let field = |column: &TextColumn| Field::new(&column.name, arrow_type(column.ty), true);
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

/// Gives the lines of a text as rows.
pub(in super::super) enum Lines<R> {
    /// Records, and whether the first of them has the names.
    Csv(RecordReader<R>, bool),
    Json(JsonLines<R>),
}

/// Reads the batches of a text.
pub(in super::super) struct TextReader<R> {
    lines: Lines<R>,
    columns: Vec<TextColumn>,
    schema: SchemaRef,
}

impl<R: BufRead> TextReader<R> {
    pub(in super::super) fn new(lines: Lines<R>, columns: Vec<TextColumn>) -> Self {
        let schema = text_schema(&columns);
        Self { lines, columns, schema }
    }

    /// Adds the next row; whether there was one.
    fn add_row(&mut self, builders: &mut [ColumnBuilder]) -> Result<bool, BatchError> {
        let columns = &self.columns;
        match &mut self.lines {
            Lines::Csv(reader, has_header) => {
                if std::mem::take(has_header) && !read_record(reader)? {
                    return Ok(false);
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
                    let is_null = !field.quoted && field.text.is_empty();
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
                if let Some((key, _)) = object.iter().find(|(key, _)| columns.iter().all(|column| column.name != *key))
                {
                    return Err(at(line, ErrorCode::NoSuchColumn, &format!("the first lines have no key {key}")));
                }
                for (column, builder) in columns.iter().zip(builders) {
                    let value =
                        object.iter().rfind(|(key, _)| *key == column.name).and_then(|(_, value)| value.as_deref());
                    append(builder, value, column, line)?;
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

fn append(builder: &mut ColumnBuilder, field: Option<&str>, column: &TextColumn, line: u64) -> Result<(), BatchError> {
    let value = field.map_or(Ok(Value::Null), |field| text::parse(field, column.ty));
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
            Lines::Csv(reader, _) => reader.bytes(),
            Lines::Json(lines) => lines.bytes,
        }
    }
}
