//! Rows as JSON objects.

use arrow::array::RecordBatch;
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::text::push_quoted;
use saltwing_types::{SqlType, ValueError};

use crate::text::write_text;

/// Writes rows as JSON objects whose keys stand in the order of the columns, and repeat where labels do.
///
/// Numbers keep all their digits; what JSON has no number for (NaN, the infinities) is a string, as dates and bytes are.
pub struct JsonObjects {
    /// Of each column its key with quotes, and its type.
    columns: Vec<(String, SqlType)>,
    text: String,
}

impl JsonObjects {
    /// Objects of columns with these labels.
    pub fn new<'c>(columns: impl IntoIterator<Item = (&'c str, SqlType)>) -> Self {
        let columns = columns.into_iter().map(|(label, ty)| {
            let mut key = String::new();
            push_quoted(&mut key, label);
            (key, ty)
        });
        Self { columns: columns.collect(), text: String::new() }
    }

    /// Adds a row of a batch of the columns.
    ///
    /// # Errors
    /// As [`write_text`].
    pub fn write(&mut self, batch: &RecordBatch, row: usize, out: &mut String) -> Result<(), ValueError> {
        out.push('{');
        for (index, ((key, ty), array)) in self.columns.iter().zip(batch.columns()).enumerate() {
            if index > 0 {
                out.push(',');
            }
            out.push_str(key);
            out.push(':');
            self.text.clear();
            let has_value = write_text(array, row, *ty, &mut self.text)?;
            // NaN and the infinities end in a letter.
            let is_finite = self.text.bytes().next_back().is_some_and(|byte| byte.is_ascii_digit());
            match ty.family() {
                _ if !has_value => out.push_str("null"),
                _ if *ty == SqlType::Json => push_line(out, &self.text),
                TypeFamily::Number if is_finite => out.push_str(&self.text),
                // The text of an array is JSON.
                TypeFamily::Boolean | TypeFamily::Array => out.push_str(&self.text),
                _ => push_quoted(out, &self.text),
            }
        }
        out.push('}');
        Ok(())
    }
}

/// Appends JSON as it is, but without line ends: an object of JSON lines is one line.
fn push_line(out: &mut String, json: &str) {
    // Within its strings JSON has no line ends.
    out.extend(json.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }));
}
