//! Spans as text, in one notation:
//!
//! ```text
//! [('138', 9) .. ('138', 5)]     both ends inside; in key order, so DESC counts down
//! (('138') .. ('139'))           both ends outside
//! [('138') ..]                   to the last key
//! [..]                           every key
//! ```
//!
//! An end has the values of leading key columns, and represents all rows that begin with them.

use saltwing_types::{SqlType, Value, text};

use crate::cursor::TypedRange;
use crate::domain::Domain;
use crate::product::End;
use crate::range_plan::ColumnTypes;
use crate::span::{Cut, Span};
use crate::value_set::ValueSet;

/// A range by its typed ends.
pub(crate) fn range(range: &TypedRange, columns: &[ColumnTypes]) -> String {
    let Some((first, last)) = &range.ends else { return String::new() };
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

/// A column in a set of values, in value order: `c = 3`, `c IN (3, 5)`, `c [.. 3] (7 ..]`.
pub(crate) fn column_set(name: &str, set: &ValueSet, domain: &Domain) -> String {
    const SHOWN: usize = 8;
    let literal = |value: &Value| literal(value, domain.ty());
    let more = if set.spans().len() > SHOWN { ", …" } else { "" };
    if let Some(points) = set.as_points(domain) {
        let nulls = set.has_null().then(|| "NULL".to_owned());
        let values: Vec<String> = nulls.into_iter().chain(points.into_iter().take(SHOWN).map(literal)).collect();
        return match (set.has_null(), values.as_slice()) {
            (true, [_]) => format!("{name} IS NULL"),
            (false, [one]) => format!("{name} = {one}"),
            (_, values) => format!("{name} IN ({}{more})", values.join(", ")),
        };
    }
    let span = |span: &Span| {
        let lo = match &span.lo {
            Cut::Before(value) => format!("[{} ", literal(value)),
            Cut::After(value) => format!("({} ", literal(value)),
            Cut::Low | Cut::High => "[".to_owned(),
        };
        let hi = match &span.hi {
            Cut::After(value) => format!(" {}]", literal(value)),
            Cut::Before(value) => format!(" {})", literal(value)),
            Cut::Low | Cut::High => "]".to_owned(),
        };
        format!("{lo}..{hi}")
    };
    let nulls = if set.has_null() { "NULL " } else { "" };
    let spans: Vec<String> = set.spans().iter().take(SHOWN).map(span).collect();
    format!("{name} {nulls}{}{more}", spans.join(" "))
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
