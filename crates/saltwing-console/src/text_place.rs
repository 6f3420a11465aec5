//! Places in a text as a browser counts them, in units of UTF-16.

use saltwing::{Position, Span, StatementText};

/// A statement of a text.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// From the end of the statement before it to its end.
    pub(crate) text: String,
    /// Where it begins.
    start: usize,
}

impl Part {
    /// A statement of the text `all`.
    pub(crate) fn of(all: &str, part: &StatementText<'_>) -> Self {
        Self { text: part.text.to_owned(), start: units(all.get(..part.offset).unwrap_or_default()) }
    }

    /// A text of its own.
    pub(crate) fn whole(text: &str) -> Self {
        Self { text: text.to_owned(), start: 0 }
    }

    /// Where the statement is in the text, without the blanks around it: the first unit, and the one after the last.
    pub(crate) fn place(&self) -> (usize, usize) {
        let blanks = self.text.len().saturating_sub(self.text.trim_start().len());
        let from = self.start + units(self.text.get(..blanks).unwrap_or_default());
        (from, from + units(self.text.trim()))
    }

    /// Where a piece of the statement is in the text.
    pub(crate) fn place_of(&self, span: Span) -> (usize, usize) {
        let from = self.start + units(before(&self.text, span.start));
        let last = before(&self.text, span.end);
        let end = self.text.get(last.len()..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf16);
        (from, (self.start + units(last) + end).max(from + 1))
    }
}

fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The text before a position; all of it if the text is shorter.
fn before(text: &str, at: Position) -> &str {
    let mut lines = text.split_inclusive('\n');
    let skipped: usize = lines.by_ref().take(at.line.saturating_sub(1) as usize).map(str::len).sum();
    let line = lines.next().unwrap_or_default();
    let column = at.column.saturating_sub(1) as usize;
    let in_line = line.char_indices().nth(column).map_or(line.len(), |(place, _)| place);
    text.get(..skipped + in_line).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use saltwing::{Position, Span, split_statements};

    use super::Part;

    proptest! {
        /// The place of a character is that which a browser gives.
        #[test]
        fn places_are_those_of_utf_16(text in "[ab\u{e4}\u{1f9c2}\n]{1,20}", index in any::<prop::sample::Index>()) {
            let chars: Vec<char> = text.chars().collect();
            let at = index.index(chars.len());
            let before: String = chars[..at].iter().collect();
            let line = before.matches('\n').count() as u32 + 1;
            let column = before.chars().rev().take_while(|c| *c != '\n').count() as u32 + 1;
            let position = Position { line, column };
            let expected = before.encode_utf16().count();
            let place = Part::whole(&text).place_of(Span { start: position, end: position });
            prop_assert_eq!(place, (expected, expected + chars[at].len_utf16()));
        }

        #[test]
        fn statements_are_where_they_are(texts in prop::collection::vec("[ \n]{0,2}SELECT '\u{1f9c2}\u{e4}'", 1..5)) {
            let all = texts.join(";");
            let units: Vec<u16> = all.encode_utf16().collect();
            for (part, expected) in split_statements(&all).zip(&texts) {
                let (from, to) = Part::of(&all, &part).place();
                let found = String::from_utf16(&units[from..to]).unwrap();
                prop_assert_eq!(found.trim_end_matches(';'), expected.trim());
            }
        }
    }
}
