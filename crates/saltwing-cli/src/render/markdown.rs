//! A table in GitHub's markdown. Numbers are right-aligned.

use std::io::Write;

use saltwing::ResultColumn;
use saltwing::arrow::array::RecordBatch;

use super::renderer::{Renderer, is_number, write_text};
use crate::failure::Failure;

pub(super) struct Markdown {
    columns: Vec<ResultColumn>,
    field: String,
    line: String,
}

impl Markdown {
    pub(super) fn new(columns: Vec<ResultColumn>) -> Self {
        Self { columns, field: String::new(), line: String::new() }
    }
}

impl Renderer for Markdown {
    fn start(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        let mut text = String::from("|");
        for column in &self.columns {
            push_cell(&column.label, &mut text);
        }
        text.push_str("\n|");
        for column in &self.columns {
            text.push_str(if is_number(column) { "---:|" } else { "---|" });
        }
        text.push('\n');
        Ok(out.write_all(text.as_bytes())?)
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> Result<(), Failure> {
        for row in 0..batch.num_rows() {
            self.line.clear();
            self.line.push('|');
            for (i, column) in self.columns.iter().enumerate() {
                self.field.clear();
                write_text(batch, row, i, column, &mut self.field)?;
                push_cell(&self.field, &mut self.line);
            }
            self.line.push('\n');
            out.write_all(self.line.as_bytes())?;
        }
        Ok(())
    }
}

fn push_cell(field: &str, line: &mut String) {
    line.push(' ');
    for c in field.chars() {
        match c {
            '|' => line.push_str("\\|"),
            '\\' => line.push_str("\\\\"),
            '\n' => line.push_str("<br>"),
            '\r' => {}
            c => line.push(c),
        }
    }
    line.push_str(" |");
}

#[cfg(test)]
mod tests {
    use super::super::Mode;
    use super::super::sample::{batch, connection};

    #[test]
    fn a_table_that_others_render() {
        let text = batch(&connection(), "SELECT k, s FROM t WHERE k > 2", Mode::Markdown);
        assert_eq!(text, "| k | s |\n|---:|---|\n| 3 |  |\n| 4 | a,\"b\"<br>\tc\\\\\\| |\n");
        assert_eq!(batch(&connection(), "SELECT k FROM t WHERE k = 9", Mode::Markdown), "| k |\n|---:|\n");
    }
}
