//! PostgreSQL's text format: tabs between, `\N` for NULL, `\t`, `\n`, `\r` and `\\` inside values.

use std::io::Write;

use saltwing::ResultColumn;
use saltwing::arrow::array::RecordBatch;

use super::{Renderer, write_text};
use crate::failure::Failure;

pub(super) struct Tsv {
    columns: Vec<ResultColumn>,
    field: String,
    line: String,
}

impl Tsv {
    pub(super) fn new(columns: Vec<ResultColumn>) -> Self {
        Self { columns, field: String::new(), line: String::new() }
    }
}

impl Renderer for Tsv {
    fn start(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        let mut line = String::new();
        for (i, column) in self.columns.iter().enumerate() {
            if i > 0 {
                line.push('\t');
            }
            push_field(&column.label, &mut line);
        }
        line.push('\n');
        Ok(out.write_all(line.as_bytes())?)
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> Result<(), Failure> {
        for row in 0..batch.num_rows() {
            self.line.clear();
            for (i, column) in self.columns.iter().enumerate() {
                if i > 0 {
                    self.line.push('\t');
                }
                self.field.clear();
                match write_text(batch, row, i, column, &mut self.field)? {
                    true => push_field(&self.field, &mut self.line),
                    false => self.line.push_str("\\N"),
                }
            }
            self.line.push('\n');
            out.write_all(self.line.as_bytes())?;
        }
        Ok(())
    }

    fn finish(&mut self, _out: &mut dyn Write) -> Result<(), Failure> {
        Ok(())
    }
}

fn push_field(field: &str, line: &mut String) {
    if !field.contains(['\t', '\n', '\r', '\\']) {
        line.push_str(field);
        return;
    }
    for c in field.chars() {
        match c {
            '\t' => line.push_str("\\t"),
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\\' => line.push_str("\\\\"),
            c => line.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Mode;
    use super::super::sample::{batch, connection};

    #[test]
    fn null_is_not_the_empty_text_and_separators_are_escaped() {
        let text = batch(&connection(), "SELECT k, s, d FROM t WHERE k > 0", Mode::Tsv);
        assert_eq!(text, "k\ts\td\n1\tplain\t1.50\n2\t\t-0.05\n3\t\\N\t\\N\n4\ta,\"b\"\\n\\tc\\\\|\t\\N\n");
    }

    #[test]
    fn a_result_without_rows_has_its_header() {
        assert_eq!(batch(&connection(), "SELECT k, s FROM t WHERE k = 9", Mode::Tsv), "k\ts\n");
    }
}
