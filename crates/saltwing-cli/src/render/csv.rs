//! RFC 4180 with LF, separated by commas or tabs. NULL is an empty field, the empty text is `""`.

use std::io::Write;

use saltwing::ResultColumn;
use saltwing::arrow::array::RecordBatch;

use super::renderer::{Renderer, write_text};
use crate::failure::Failure;

pub(super) struct Csv {
    columns: Vec<ResultColumn>,
    delimiter: u8,
    field: String,
    line: String,
}

impl Csv {
    pub(super) fn new(columns: Vec<ResultColumn>, delimiter: u8) -> Self {
        Self { columns, delimiter, field: String::new(), line: String::new() }
    }
}

impl Renderer for Csv {
    fn start(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        let mut line = String::new();
        for (i, column) in self.columns.iter().enumerate() {
            if i > 0 {
                line.push(self.delimiter.into());
            }
            push_field(&column.label, self.delimiter, &mut line);
        }
        line.push('\n');
        Ok(out.write_all(line.as_bytes())?)
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> Result<(), Failure> {
        for row in 0..batch.num_rows() {
            self.line.clear();
            for (i, column) in self.columns.iter().enumerate() {
                if i > 0 {
                    self.line.push(self.delimiter.into());
                }
                self.field.clear();
                if write_text(batch, row, i, column, &mut self.field)? {
                    push_field(&self.field, self.delimiter, &mut self.line);
                }
            }
            self.line.push('\n');
            out.write_all(self.line.as_bytes())?;
        }
        Ok(())
    }
}

/// Appends a field, in quotes if it would otherwise be read as another value.
fn push_field(field: &str, delimiter: u8, line: &mut String) {
    if !field.is_empty() && !field.bytes().any(|b| b == delimiter || matches!(b, b'"' | b'\n' | b'\r')) {
        line.push_str(field);
        return;
    }
    line.push('"');
    for (i, part) in field.split('"').enumerate() {
        if i > 0 {
            line.push_str("\"\"");
        }
        line.push_str(part);
    }
    line.push('"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Mode;
    use super::super::sample::{batch, connection};
    use super::*;

    #[test]
    fn values_have_the_texts_of_the_contract() {
        let text = batch(&connection(), "SELECT * FROM t WHERE k > 0", Mode::Csv);
        assert_eq!(
            text,
            "k,s,d,n,f,g,b,day,ts,bin\n\
             1,plain,1.50,100,1.0,0.1,true,2024-05-01,2024-05-01 10:00:00,00ff\n\
             2,\"\",-0.05,0.001,1e300,-2.5,false,2024-05-01 10:11:12.013,2024-05-01 10:00:00.123456,\"\"\n\
             3,,,,,,,,,\n\
             4,\"a,\"\"b\"\"\n\tc\\|\",,,NaN,,,,,\n"
        );
    }

    #[test]
    fn a_result_without_rows_has_its_header() {
        assert_eq!(batch(&connection(), "SELECT k, s AS \"a,b\" FROM t WHERE k = 9", Mode::Csv), "k,\"a,b\"\n");
    }

    #[test]
    fn tabs_may_stand_between() {
        let text = batch(&connection(), "SELECT k, s, d FROM t WHERE k > 0", Mode::Tsv);
        assert_eq!(text, "k\ts\td\n1\tplain\t1.50\n2\t\"\"\t-0.05\n3\t\t\n4\t\"a,\"\"b\"\"\n\tc\\|\"\t\n");
    }

    proptest! {
        #[test]
        fn other_readers_read_fields_back(
            fields in prop::collection::vec("[ -~\n\r\t\",é]{0,8}", 2..5),
            delimiter in prop::sample::select(b",\t".to_vec()),
        ) {
            let mut line = String::new();
            for (i, field) in fields.iter().enumerate() {
                if i > 0 { line.push(delimiter.into()); }
                push_field(field, delimiter, &mut line);
            }
            line.push('\n');
            let mut reader = ::csv::ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_reader(line.as_bytes());
            let read: Vec<_> = reader.records().map(Result::unwrap).collect();
            prop_assert_eq!(read.len(), 1);
            prop_assert_eq!(read[0].iter().collect::<Vec<_>>(), fields);
        }
    }
}
