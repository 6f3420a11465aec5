//! JSON: an array of objects for each result, or one object on each line, as COPY writes them.

use std::io::Write;

use saltwing::ResultColumn;
use saltwing::arrow::array::RecordBatch;
use saltwing::render::JsonObjects;

use super::renderer::Renderer;
use crate::failure::Failure;

/// The texts around the objects.
struct Marks {
    open: &'static str,
    between: &'static str,
    /// The text after each object.
    end: &'static str,
    close: &'static str,
}

pub(super) struct Json {
    objects: JsonObjects,
    marks: Marks,
    is_first: bool,
    line: String,
}

impl Json {
    /// One array of objects.
    pub(super) fn array(columns: &[ResultColumn]) -> Self {
        Self::new(columns, Marks { open: "[", between: ",\n", end: "", close: "]\n" })
    }

    /// One object on each line.
    pub(super) fn lines(columns: &[ResultColumn]) -> Self {
        Self::new(columns, Marks { open: "", between: "", end: "\n", close: "" })
    }

    fn new(columns: &[ResultColumn], marks: Marks) -> Self {
        let objects = JsonObjects::of(columns);
        Self { objects, marks, is_first: true, line: String::new() }
    }
}

impl Renderer for Json {
    fn start(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        Ok(out.write_all(self.marks.open.as_bytes())?)
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> Result<(), Failure> {
        for row in 0..batch.num_rows() {
            self.line.clear();
            if !self.is_first {
                self.line.push_str(self.marks.between);
            }
            self.is_first = false;
            self.objects.write(batch, row, &mut self.line)?;
            self.line.push_str(self.marks.end);
            out.write_all(self.line.as_bytes())?;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        Ok(out.write_all(self.marks.close.as_bytes())?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Mode;
    use super::super::sample::{batch, connection};

    #[test]
    fn numbers_are_numbers_and_null_is_null() {
        let text = batch(&connection(), "SELECT * FROM t WHERE k > 0", Mode::Json);
        let expected = r#"[{"k":1,"s":"plain","d":1.50,"n":100,"f":1.0,"g":0.1,"b":true,"day":"2024-05-01","ts":"2024-05-01 10:00:00","bin":"00ff"},
{"k":2,"s":"","d":-0.05,"n":0.001,"f":1e300,"g":-2.5,"b":false,"day":"2024-05-01 10:11:12.013","ts":"2024-05-01 10:00:00.123456","bin":""},
{"k":3,"s":null,"d":null,"n":null,"f":null,"g":null,"b":null,"day":null,"ts":null,"bin":null},
{"k":4,"s":"a,\"b\"\n\tc\\|","d":null,"n":null,"f":"NaN","g":null,"b":null,"day":null,"ts":null,"bin":null}]
"#;
        assert_eq!(text, expected);
        let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(parsed.as_array().unwrap().len(), 4);
    }

    #[test]
    fn an_array_for_each_result_and_an_object_a_line() {
        let connection = connection();
        assert_eq!(batch(&connection, "SELECT k FROM t WHERE k = 9", Mode::Json), "[]\n");
        assert_eq!(batch(&connection, "SELECT k FROM t WHERE k = 9", Mode::Jsonl), "");
        assert_eq!(batch(&connection, "SELECT k FROM t WHERE k < 3", Mode::Jsonl), "{\"k\":1}\n{\"k\":2}\n");
    }

    #[test]
    fn labels_may_repeat_and_are_escaped() {
        let text = batch(&connection(), "SELECT k AS \"a\"\"b\", k AS \"a\"\"b\" FROM t WHERE k = 1", Mode::Jsonl);
        assert_eq!(text, "{\"a\\\"b\":1,\"a\\\"b\":1}\n");
    }
}
