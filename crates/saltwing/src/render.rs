//! The values of Arrow columns as text and as JSON, as the shell shows them.

use arrow::array::{Array, RecordBatch};

use crate::{Error, ResultColumn, SqlType};

/// Appends the text of a value to `out`; `false` for NULL, which appends nothing.
///
/// # Errors
/// The array has no such row; the value is not one of the type.
pub fn write_text(array: &dyn Array, row: usize, ty: SqlType, out: &mut String) -> Result<bool, Error> {
    Ok(saltwing_expr::write_text(array, row, ty, out)?)
}

/// Writes the rows of a result as JSON objects. The keys are the labels, in the order of the columns; a repeated label is a repeated
/// key.
///
/// Numbers keep all their digits; NaN and the infinities, which JSON lacks, are strings, as are dates and bytes.
///
/// ```
/// # fn main() -> Result<(), saltwing::Error> {
/// let connection = saltwing::Database::memory()?.connect().blocking();
/// let mut rows = connection.query_arrow("SELECT 1 AS a, 'x' AS b", ())?;
/// let mut objects = saltwing::render::JsonObjects::of(rows.columns());
/// let mut text = String::new();
/// while let Some(batch) = rows.next_blocking()? {
///     for row in 0..batch.num_rows() {
///         objects.write(&batch, row, &mut text)?;
///     }
/// }
/// assert_eq!(text, r#"{"a":1,"b":"x"}"#);
/// # Ok(())
/// # }
/// ```
pub struct JsonObjects(saltwing_expr::JsonObjects);

impl JsonObjects {
    /// A writer for rows with these columns.
    pub fn of(columns: &[ResultColumn]) -> Self {
        Self(saltwing_expr::JsonObjects::new(columns.iter().map(|column| (column.label.as_str(), column.ty))))
    }

    /// Appends the object of a row of a batch with these columns.
    ///
    /// # Errors
    /// As [`write_text`].
    pub fn write(&mut self, batch: &RecordBatch, row: usize, out: &mut String) -> Result<(), Error> {
        Ok(self.0.write(batch, row, out)?)
    }
}
