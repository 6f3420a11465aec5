//! One line for each value, with a blank line between rows: for wide rows.

use std::io::Write;

use saltwing::ResultColumn;
use saltwing::arrow::array::RecordBatch;

use super::renderer::{Options, Renderer, write_text};
use super::text_width;
use crate::failure::Failure;

pub(super) struct Line {
    columns: Vec<ResultColumn>,
    options: Options,
    label_width: usize,
    is_first: bool,
}

impl Line {
    pub(super) fn new(columns: Vec<ResultColumn>, options: Options) -> Self {
        let label_width = columns.iter().map(|column| text_width(&column.label)).max().unwrap_or(0);
        Self { columns, options, label_width, is_first: true }
    }
}

impl Renderer for Line {
    fn batch(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> Result<(), Failure> {
        let mut field = String::new();
        for row in 0..batch.num_rows() {
            if !self.is_first {
                out.write_all(b"\n")?;
            }
            self.is_first = false;
            for (i, column) in self.columns.iter().enumerate() {
                field.clear();
                if !write_text(batch, row, i, column, &mut field)? {
                    field = self.options.paint.dim(&self.options.null_text);
                }
                let blanks = self.label_width.saturating_sub(text_width(&column.label));
                let label = self.options.paint.bold(&column.label);
                writeln!(out, "{:blanks$}{label} = {field}", "")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Mode;
    use super::super::sample::{batch, connection};

    #[test]
    fn labels_are_aligned_and_rows_apart() {
        let text = batch(&connection(), "SELECT k, s AS name FROM t WHERE k IN (1, 3)", Mode::Line);
        assert_eq!(text, "   k = 1\nname = plain\n\n   k = 3\nname = \n");
        assert_eq!(batch(&connection(), "SELECT k FROM t WHERE k = 9", Mode::Line), "");
    }
}
