//! The parts that all renderers share.

use super::paint::Paint;
use crate::column_widths::ColumnWidths;
use crate::failure::Failure;
use saltwing::ResultColumn;
use saltwing::arrow::array::RecordBatch;
use std::io::Write;

/// The default separator of fields in the mode csv.
pub(crate) const COMMA: u8 = b',';
/// The separator of fields in the mode tsv.
pub(crate) const TAB: u8 = b'\t';

/// Settings of the shell and of its terminal.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The width of the terminal in cells, which tables must fit; `None` shows everything.
    pub(crate) width: Option<usize>,
    /// The widths that the user gave columns.
    pub(crate) widths: ColumnWidths,
    /// The text of NULL in the modes for terminals.
    pub(crate) null_text: String,
    /// Colours.
    pub(crate) paint: Paint,
    /// The names of the key columns of the result's tables.
    pub(crate) keys: Vec<String>,
    /// The separator of fields in the mode csv: an ASCII character.
    pub(crate) separator: u8,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            width: None,
            widths: ColumnWidths::default(),
            null_text: String::new(),
            paint: Paint::Off,
            keys: Vec::new(),
            separator: COMMA,
        }
    }
}

/// Writes one result: `start`, then the batches, then `finish`.
pub(crate) trait Renderer {
    /// Writes the text before the rows.
    fn start(&mut self, _out: &mut dyn Write) -> Result<(), Failure> {
        Ok(())
    }
    /// Writes rows.
    fn batch(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> Result<(), Failure>;
    /// Writes the text after the rows.
    fn finish(&mut self, _out: &mut dyn Write) -> Result<(), Failure> {
        Ok(())
    }
}

/// Appends the text of a value; `false` for NULL, which appends nothing.
pub(super) fn write_text(
    batch: &RecordBatch,
    row: usize,
    index: usize,
    column: &ResultColumn,
    out: &mut String,
) -> Result<bool, Failure> {
    let array = batch.column(index);
    Ok(saltwing::render::write_text(array, row, column.ty, out)?)
}

/// Whether the beginning of a value would mislead: numbers, instants, truth values.
pub(super) fn is_whole(column: &ResultColumn) -> bool {
    use saltwing::SqlType as T;
    let is_instant = matches!(
        column.ty,
        T::Date | T::Time | T::Timestamp | T::UnsignedDate | T::UnsignedTime | T::UnsignedTimestamp | T::Boolean
    );
    is_number(column) || is_instant
}

/// Whether the values of a column are numbers.
pub(super) fn is_number(column: &ResultColumn) -> bool {
    column.ty.is_integer() || column.ty.is_float() || matches!(column.ty, saltwing::SqlType::Decimal(_))
}
