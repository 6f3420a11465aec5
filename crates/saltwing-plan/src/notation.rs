//! Spans as text, in one notation:
//!
//! ```text
//! [('138', 9) .. ('138', 5)]     both ends inside; in key order, so DESC counts down
//! (('138') .. ('139'))           both ends outside
//! [('138') ..]                   to the last key
//! [..]                           every key
//! ```
//!
//! An end names the values of leading key columns, and stands for all rows that begin with them.

use saltwing_types::{SqlType, Value, text};

use crate::cursor::Piece;
use crate::product::End;
use crate::ranges::ColumnTypes;

/// A range by its typed ends.
pub(crate) fn piece(piece: &Piece, columns: &[ColumnTypes]) -> String {
    let Some((first, last)) = &piece.ends else { return String::new() };
    let open = if first.included { '[' } else { '(' };
    let close = if last.included { ']' } else { ')' };
    let (first, last) = (tuple(first, columns), tuple(last, columns));
    match (first, last) {
        (None, None) => "[..]".into(),
        (Some(first), None) => format!("{open}{first} ..]"),
        (None, Some(last)) => format!("[.. {last}{close}"),
        (Some(first), Some(last)) => format!("{open}{first} .. {last}{close}"),
    }
}

/// The values in parentheses; `None` when there are none.
fn tuple(end: &End, columns: &[ColumnTypes]) -> Option<String> {
    if end.values.is_empty() {
        return None;
    }
    let types = columns.iter().map(|types| types.value).chain(std::iter::repeat(SqlType::Null));
    let values: Vec<String> = end.values.iter().zip(types).map(|(value, ty)| literal(value, ty)).collect();
    Some(format!("({})", values.join(", ")))
}

/// A value as SQL; the NUL bytes that fill a bound of CHAR(n) are not shown, control characters by their number.
fn literal(value: &Value, ty: SqlType) -> String {
    let plain = match (value, ty) {
        (Value::Text(filled), SqlType::Char(_)) => text::literal(&Value::text(filled.trim_end_matches('\0')), ty),
        _ => text::literal(value, ty),
    };
    if !plain.contains(char::is_control) {
        return plain;
    }
    let escaped = plain.chars().map(|c| match c {
        '\\' => "\\\\".to_owned(),
        c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    });
    format!("E{}", escaped.collect::<String>())
}
