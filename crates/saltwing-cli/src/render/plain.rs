//! Prints lines of text unchanged, for results that are text: plans and definitions.

use std::io::Write;

use saltwing::ResultColumn;
use saltwing::arrow::array::RecordBatch;

use super::renderer::{Renderer, write_text};
use crate::failure::Failure;

/// Shows the first column, one line for each row.
pub(crate) struct Plain {
    column: Option<ResultColumn>,
    /// The separator after each value.
    end: &'static str,
    /// Whether the label of the column is printed first.
    has_header: bool,
}

impl Plain {
    /// For a result with these columns, each value followed by `end`.
    pub(crate) fn new(columns: &[ResultColumn], end: &'static str) -> Self {
        Self { column: columns.first().cloned(), end, has_header: false }
    }

    /// The same, with the column's label first.
    pub(crate) fn with_header(self) -> Self {
        Self { has_header: true, ..self }
    }
}

impl Renderer for Plain {
    fn start(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        match &self.column {
            Some(column) if self.has_header => Ok(write!(out, "{}{}", column.label, self.end)?),
            _ => Ok(()),
        }
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> Result<(), Failure> {
        let Some(column) = &self.column else { return Ok(()) };
        for row in 0..batch.num_rows() {
            let mut line = String::new();
            write_text(batch, row, 0, column, &mut line)?;
            line.push_str(self.end);
            out.write_all(line.as_bytes())?;
        }
        Ok(())
    }
}
