//! Values of columns as text (DESIGN section 11, "Text of values").

use arrow::array::Array;
use saltwing_types::{SqlType, ValueError, text};

use crate::value_at;

/// The text of a value; `None` for NULL.
///
/// # Errors
/// As [`value_at`].
pub fn text_at(array: &dyn Array, row: usize, ty: SqlType) -> Result<Option<String>, ValueError> {
    let mut text = String::new();
    Ok(write_text(array, row, ty, &mut text)?.then_some(text))
}

/// Appends the text of a value to `out`; `false` for NULL, which appends nothing.
///
/// # Errors
/// As [`value_at`].
pub fn write_text(array: &dyn Array, row: usize, ty: SqlType, out: &mut String) -> Result<bool, ValueError> {
    let text = text::format(&value_at(array, row, ty)?, ty);
    if let Some(text) = &text {
        out.push_str(text);
    }
    Ok(text.is_some())
}
