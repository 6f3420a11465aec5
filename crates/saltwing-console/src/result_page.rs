//! Rows of a result as pages of JSON, in bounded memory.

use std::sync::Arc;

use saltwing::{ResultColumn, Row, Rows, SqlType, Value as Cell, text};
use serde_json::{Value, json};

/// The bytes of a page, after which no further row is taken.
pub(crate) const PAGE_BYTES_MAX: usize = 4 << 20;
/// The characters of a value; what is longer is cut.
const VALUE_CHARS_MAX: usize = 20_000;

/// A result with rows that are left.
pub(crate) struct OpenResult {
    pub(crate) rows: Rows,
    /// The statement.
    pub(crate) text: Arc<str>,
    /// The first row of the next page.
    next: Option<Row>,
}

/// A page of rows.
#[derive(Debug)]
pub(crate) struct Page {
    /// A text for each value, null for NULL.
    pub(crate) rows: Vec<Value>,
    /// Whether there are more.
    pub(crate) has_more: bool,
    /// Values that were cut.
    pub(crate) cut_values: usize,
    /// The bytes of the values.
    pub(crate) bytes: usize,
}

impl OpenResult {
    /// No row is read yet.
    pub(crate) fn new(rows: Rows, text: Arc<str>) -> Self {
        Self { rows, text, next: None }
    }

    /// At most `rows_max` further rows, and none after their values have `bytes_max` bytes.
    ///
    /// # Errors
    /// Those of the rows.
    pub(crate) async fn page(&mut self, rows_max: usize, bytes_max: usize) -> Result<Page, saltwing::Error> {
        let mut page = Page { rows: Vec::new(), has_more: false, cut_values: 0, bytes: 0 };
        while let Some(row) = self.take().await? {
            if page.rows.len() >= rows_max || page.bytes >= bytes_max {
                self.next = Some(row);
                page.has_more = true;
                break;
            }
            let mut cells = Vec::with_capacity(row.columns().len());
            for (place, column) in row.columns().iter().enumerate() {
                let (cell, is_cut) = cell(&row.get::<Cell>(place)?, column.ty);
                page.bytes = page.bytes.saturating_add(cell.as_str().map_or(4, str::len));
                page.cut_values += usize::from(is_cut);
                cells.push(cell);
            }
            page.rows.push(Value::Array(cells));
        }
        Ok(page)
    }

    async fn take(&mut self) -> Result<Option<Row>, saltwing::Error> {
        match self.next.take() {
            Some(row) => Ok(Some(row)),
            None => self.rows.next().await,
        }
    }
}

/// The text of a value as the library writes it, and whether it was cut.
fn cell(value: &Cell, ty: SqlType) -> (Value, bool) {
    let Some(text) = text::format(value, ty) else { return (Value::Null, false) };
    match text.char_indices().nth(VALUE_CHARS_MAX).and_then(|(end, _)| text.get(..end)) {
        Some(beginning) => (Value::String(beginning.to_owned()), true),
        None => (Value::String(text), false),
    }
}

/// The columns of a result: labels, types, and what charts make of them.
pub(crate) fn columns(columns: &[ResultColumn]) -> Value {
    let column = |column: &ResultColumn| json!({ "label": column.label, "type": column.ty.to_string(), "kind": kind(column.ty) });
    columns.iter().map(column).collect()
}

fn kind(ty: SqlType) -> &'static str {
    use SqlType::{
        BigInt, Boolean, Date, Decimal, Double, Float, Integer, SmallInt, Time, Timestamp, TinyInt, UnsignedDate,
        UnsignedDouble, UnsignedFloat, UnsignedInt, UnsignedLong, UnsignedSmallInt, UnsignedTime, UnsignedTimestamp,
        UnsignedTinyInt,
    };
    match ty {
        TinyInt | SmallInt | Integer | BigInt | UnsignedTinyInt | UnsignedSmallInt | UnsignedInt | UnsignedLong
        | Float | Double | UnsignedFloat | UnsignedDouble | Decimal(_) => "number",
        Date | Time | Timestamp | UnsignedDate | UnsignedTime | UnsignedTimestamp => "time",
        Boolean => "truth",
        _ => "text",
    }
}

/// The page as a part of an answer.
pub(crate) fn described(page: Page, notices: &[String], keys_read: u64) -> Value {
    json!({
        "rows": page.rows, "more": page.has_more, "cut_values": page.cut_values, "notices": notices, "keys_read": keys_read,
    })
}
