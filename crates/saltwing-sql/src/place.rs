//! Places in text: sqlparser's, ours, and a caret under them.

use std::fmt::Write;

use saltwing_types::{Position, Span};
use sqlparser::tokenizer;

/// Ours from sqlparser's, whose end is the column *after* the last character.
///
/// `None` for the empty span that sqlparser gives to nodes without a position.
pub(crate) fn span_of(span: tokenizer::Span) -> Option<Span> {
    let position = |at: tokenizer::Location, back: u64| {
        let line = u32::try_from(at.line).unwrap_or(u32::MAX);
        let column = u32::try_from(at.column.saturating_sub(back)).unwrap_or(u32::MAX);
        Position { line, column: column.max(1) }
    };
    if span.start.line == 0 {
        return None;
    }
    let (start, end) = (position(span.start, 0), position(span.end, 1));
    Some(Span { start, end: end.max(start) })
}

/// Sqlparser's from ours: the inverse of [`span_of`].
pub(crate) fn token_span(Span { start, end }: Span) -> tokenizer::Span {
    let location = |at: Position, ahead: u64| tokenizer::Location::new(at.line.into(), u64::from(at.column) + ahead);
    tokenizer::Span::new(location(start, 0), location(end, 1))
}

/// The first character of the text.
pub(crate) fn origin() -> Span {
    Span::on_line(1, 1, 1)
}

/// Columns between tab stops, as terminals have them.
const TAB_COLUMNS: usize = 8;

/// The line of `sql` in which `span` starts, and a line with carets under the span.
///
/// ```text
/// SELECT * FORM t
///          ^^^^
/// ```
///
/// Both lines end without a line feed. Tabs become blanks, and characters that terminals draw two cells wide get two
/// carets, so that the carets line up. A span over several lines is marked to the end of its first line; a span beyond
/// the text gets a caret after the last character.
pub fn render_caret(sql: &str, span: Span) -> String {
    let line_index = (span.start.line as usize).saturating_sub(1);
    let line = sql.split('\n').nth(line_index).unwrap_or("").trim_end_matches('\r');
    let from = (span.start.column as usize).saturating_sub(1);
    let to = if span.end.line > span.start.line { usize::MAX } else { span.end.column as usize };

    let (mut text, mut blanks, mut carets, mut cells) = (String::new(), 0, 0, 0);
    for (index, c) in line.chars().enumerate() {
        let width = match c {
            '\t' => TAB_COLUMNS - cells % TAB_COLUMNS,
            c => cell_count(c),
        };
        match c {
            '\t' => text.extend(std::iter::repeat_n(' ', width)),
            c => text.push(c),
        }
        if index < from {
            blanks += width;
        } else if index < to {
            carets += width;
        }
        cells += width;
    }
    let mut out = text;
    // Writing to a String cannot fail.
    let _ = write!(out, "\n{:blanks$}{}", "", "^".repeat(carets.max(1)));
    out
}

/// Terminal cells of a character: 0 for combining marks, 2 for East Asian wide ones and emoji.
fn cell_count(c: char) -> usize {
    match u32::from(c) {
        0..=0x1f | 0x7f..=0x9f | 0x300..=0x36f | 0x200b..=0x200f | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0x303e
        | 0x3041..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1f64f
        | 0x1f680..=0x1f6ff
        | 0x1f900..=0x1f9ff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carets_stand_under_the_span() {
        assert_eq!(render_caret("a\nSELECT * FORM t\nb", Span::on_line(2, 10, 13)), "SELECT * FORM t\n         ^^^^");
        assert_eq!(render_caret("x", Span::on_line(1, 5, 5)), "x\n ^");
        assert_eq!(render_caret("", origin()), "\n^");
        assert_eq!(render_caret("ab\r\ncd", Span::on_line(1, 2, 2)), "ab\n ^");
    }

    #[test]
    fn tabs_and_wide_characters_count_cells() {
        assert_eq!(render_caret("\tab", Span::on_line(1, 2, 3)), "        ab\n        ^^");
        assert_eq!(render_caret("a\tb", Span::on_line(1, 3, 3)), "a       b\n        ^");
        assert_eq!(render_caret("'電話' x", Span::on_line(1, 6, 6)), "'電話' x\n       ^");
        assert_eq!(render_caret("'電話'", Span::on_line(1, 2, 3)), "'電話'\n ^^^^");
    }

    #[test]
    fn a_span_over_lines_is_marked_to_the_end_of_its_first() {
        let span = Span { start: Position { line: 1, column: 3 }, end: Position { line: 2, column: 1 } };
        assert_eq!(render_caret("abcd\ne", span), "abcd\n  ^^");
    }
}
