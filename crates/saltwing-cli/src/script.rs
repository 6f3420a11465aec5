//! Cuts input into statements and dot commands, with their positions.
//!
//! Input is read line by line, so that a program that writes statements into a pipe
//! gets each result at once, and `COPY t FROM STDIN` finds its data on the
//! following lines.
//!
//! # Laws
//! 1. The statements are those of [`split_statements`] over the whole input.
//! 2. A statement's line and column are those of its first character in the input.
//! 3. Memory is bounded by the longest statement and the longest line.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read};

use saltwing::syntax::STATEMENT_BYTES_MAX;
use saltwing::{Dialect, split_statements_in};

/// Longest line.
const LINE_BYTES_MAX: u64 = 64 << 20;
/// Most characters before a statement on its line that are kept for messages.
const PREFIX_CHARS_MAX: usize = 200;

/// A statement or a dot command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// SQL, up to its `;` or the end of the input.
    Statement(StatementText),
    /// A line that starts with `.` or `\`, and its number.
    Dot { text: String, line: u32 },
}

/// A statement and its position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StatementText {
    /// The text.
    pub(crate) sql: String,
    /// The line of its first character, from 1.
    pub(crate) line: u32,
    /// The number of characters before the statement on that line.
    pub(crate) column_offset: u32,
    /// The characters before the statement on that line; empty if they are too many.
    pub(crate) prefix: String,
}

/// Appends the next line of the input with its line end; 0 means the end of the input.
type ReadLine<'a> = Box<dyn FnMut(&mut Vec<u8>) -> io::Result<usize> + 'a>;

/// Input that is cut into statements.
pub(crate) struct Script<'a> {
    read_line: ReadLine<'a>,
    /// The input after the last complete statement.
    pending: String,
    /// The position at which `pending` starts.
    at: At,
    ready: VecDeque<Item>,
    lines_read: u32,
    ended: bool,
    /// The dialect of `pending`.
    dialect: Dialect,
}

/// A position in the input.
#[derive(Clone, Debug, Default)]
struct At {
    line: u32,
    column_offset: u32,
    prefix: String,
}

impl At {
    /// Moves to the end of `text`.
    fn advance(&mut self, text: &str) {
        let rest = match text.rsplit_once('\n') {
            None => text,
            Some((before, rest)) => {
                let lines = before.matches('\n').count() + 1;
                self.line = self.line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
                self.column_offset = 0;
                self.prefix.clear();
                rest
            }
        };
        let chars = u32::try_from(rest.chars().count()).unwrap_or(u32::MAX);
        self.column_offset = self.column_offset.saturating_add(chars);
        if self.column_offset as usize <= PREFIX_CHARS_MAX {
            self.prefix.push_str(rest);
        } else {
            self.prefix.clear();
        }
    }

    fn statement(&self, sql: &str) -> Item {
        let At { line, column_offset, prefix } = self.clone();
        Item::Statement(StatementText { sql: sql.to_owned(), line, column_offset, prefix })
    }
}

impl<'a> Script<'a> {
    /// A script from a reader.
    pub(crate) fn new(mut input: impl BufRead + 'a) -> Self {
        Self::of_lines(Box::new(move |line| input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', line)))
    }

    /// A script from stdin, which is locked only for one line at a time, because COPY FROM STDIN reads it, too.
    pub(crate) fn stdin() -> Self {
        Self::of_lines(Box::new(|line| io::stdin().lock().take(LINE_BYTES_MAX).read_until(b'\n', line)))
    }

    fn of_lines(read_line: ReadLine<'a>) -> Self {
        let at = At { line: 1, ..At::default() };
        Self {
            read_line,
            pending: String::new(),
            at,
            ready: VecDeque::new(),
            lines_read: 0,
            ended: false,
            dialect: Dialect::Saltwing,
        }
    }

    /// The next statement or dot command, from lines in this dialect; `None` at the end.
    ///
    /// # Errors
    /// The read error; a line that is too long or not UTF-8.
    pub(crate) fn next(&mut self, dialect: Dialect) -> io::Result<Option<Item>> {
        self.dialect = dialect;
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Ok(Some(item));
            }
            if self.ended {
                return Ok(None);
            }
            match self.line()? {
                None => {
                    self.ended = true;
                    self.cut(true);
                }
                Some(line) => self.take(&line),
            }
        }
    }

    fn line(&mut self) -> io::Result<Option<String>> {
        let mut bytes = Vec::new();
        let count = (self.read_line)(&mut bytes)?;
        self.lines_read = self.lines_read.saturating_add(1);
        let bad = |what| io::Error::new(io::ErrorKind::InvalidData, format!("line {} {what}", self.lines_read));
        if count as u64 >= LINE_BYTES_MAX {
            return Err(bad("is too long"));
        }
        let text = String::from_utf8(bytes).map_err(|_| bad("is not UTF-8"))?;
        let text = match text.strip_prefix('\u{feff}') {
            Some(rest) if self.lines_read == 1 => rest.to_owned(),
            _ => text,
        };
        Ok((count > 0).then_some(text))
    }

    fn take(&mut self, line: &str) {
        let text = line.trim();
        if text.starts_with(['.', '\\']) && split_statements_in(&self.pending, self.dialect).next().is_none() {
            // The pending input has only blanks and comments.
            let pending = std::mem::take(&mut self.pending);
            self.at.advance(&pending);
            self.ready.push_back(Item::Dot { text: text.to_owned(), line: self.at.line });
            self.at.advance(line);
            return;
        }
        self.pending.push_str(line);
        // Only a `;` can end a statement, so a line without one needs no search.
        if line.contains(';') || self.pending.len() > STATEMENT_BYTES_MAX {
            self.cut(false);
        }
    }

    /// Takes the complete statements out of the pending input; at the end of the input, the last statement is complete, too.
    fn cut(&mut self, at_end: bool) {
        let pending = std::mem::take(&mut self.pending);
        let mut done = 0;
        for piece in split_statements_in(&pending, self.dialect) {
            // A statement that is too long is run, so that the library reports the error.
            if piece.complete || at_end || piece.text.len() > STATEMENT_BYTES_MAX {
                self.at.advance(pending.get(done..piece.offset).unwrap_or(""));
                self.ready.push_back(self.at.statement(piece.text));
                self.at.advance(piece.text);
                done = piece.offset + piece.text.len();
            }
        }
        let rest = pending.get(done..).unwrap_or("");
        if split_statements_in(rest, self.dialect).next().is_some() {
            self.pending.push_str(rest);
        } else {
            // Only blanks and comments are left, so they need not be kept.
            self.at.advance(rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use saltwing::split_statements;

    use super::*;

    fn items(text: &str) -> Vec<Item> {
        let mut script = Script::new(text.as_bytes());
        std::iter::from_fn(|| script.next(Dialect::Saltwing).unwrap()).collect()
    }

    fn statements(text: &str) -> Vec<StatementText> {
        items(text)
            .into_iter()
            .filter_map(|item| match item {
                Item::Statement(statement) => Some(statement),
                Item::Dot { .. } => None,
            })
            .collect()
    }

    #[test]
    fn statements_know_their_lines() {
        let all = statements("SELECT 1; SELECT\n 2;\n-- c\nSELECT ';'\n;\n\nSELECT 3");
        let shown: Vec<_> = all.iter().map(|s| (s.sql.as_str(), s.line, s.prefix.as_str())).collect();
        assert_eq!(
            shown,
            [
                ("SELECT 1;", 1, ""),
                (" SELECT\n 2;", 1, "SELECT 1;"),
                ("-- c\nSELECT ';'\n;", 3, ""),
                ("\n\nSELECT 3", 5, ";")
            ]
            .map(|(sql, line, prefix)| match line {
                // The line feed after a `;` is blank, and was already dropped.
                5 => ("\nSELECT 3", 6, ""),
                _ => (sql, line, prefix),
            })
        );
    }

    #[test]
    fn dot_commands_stand_on_lines_of_their_own_between_statements() {
        let all = items(".mode json\n-- c\n  \\d t\nSELECT\n.5;\n/* \n.x\n*/ .y\n");
        let dots: Vec<_> = all
            .iter()
            .filter_map(|item| match item {
                Item::Dot { text, line } => Some((text.as_str(), *line)),
                Item::Statement(_) => None,
            })
            .collect();
        assert_eq!(dots, [(".mode json", 1), ("\\d t", 3)]);
        assert_eq!(all.len(), 4);
    }

    #[test]
    fn results_do_not_wait_for_the_end_of_input() {
        let mut lines = ["SELECT 1;\n", "SELECT 2;\n"].into_iter();
        let read = std::cell::Cell::new(0);
        let mut script = Script::of_lines(Box::new(|line| {
            read.set(read.get() + 1);
            let text = lines.next().unwrap_or("");
            line.extend_from_slice(text.as_bytes());
            Ok(text.len())
        }));
        assert!(matches!(script.next(Dialect::Saltwing).unwrap(), Some(Item::Statement(s)) if s.sql == "SELECT 1;"));
        assert_eq!(read.get(), 1);
    }

    #[test]
    fn what_is_no_text_is_refused_with_its_line() {
        let mut script = Script::new(&b"SELECT 1;\n\xff\n"[..]);
        script.next(Dialect::Saltwing).unwrap();
        assert_eq!(script.next(Dialect::Saltwing).unwrap_err().to_string(), "line 2 is not UTF-8");
        assert_eq!(items("\u{feff}SELECT 1").len(), 1);
    }

    proptest! {
        /// Laws 1 and 2.
        #[test]
        fn statements_are_those_of_the_whole_text(
            parts in prop::collection::vec(
                prop::sample::select(vec!["a", "é", " ", "\n", ";", "'", "\"", "--", "/*", "*/", "\r\n", "x ;\n"]), 0..40)
        ) {
            let text = parts.concat();
            let got = statements(&text);
            let expected: Vec<_> = split_statements(&text).collect();
            prop_assert_eq!(got.len(), expected.len());
            for (got, expected) in got.iter().zip(&expected) {
                // Leading blanks and comments may be left out; the position accounts for them.
                prop_assert!(expected.text.ends_with(&got.sql), "{:?} {:?}", expected, got);
                let offset = expected.offset + expected.text.len() - got.sql.len();
                let before = &text[..offset];
                let line_start = before.rfind('\n').map_or(0, |at| at + 1);
                prop_assert_eq!(got.line as usize, before.matches('\n').count() + 1);
                prop_assert_eq!(&got.prefix, &text[line_start..offset]);
                prop_assert_eq!(got.column_offset as usize, got.prefix.chars().count());
            }
        }
    }
}
