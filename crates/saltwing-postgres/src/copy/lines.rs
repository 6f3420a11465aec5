//! The lines of the formats `text` and `csv`.
//!
//! A line ends with a line feed, or with a carriage return and a line feed, as the first line does. In `text` a backslash makes the next byte plain,
//! a line feed as well; in `csv` line ends in quotes are plain. The line `\.` ends the data: all bytes after it are passed over.

use bytes::{Buf, Bytes, BytesMut};

use super::error::{CopyError, ROW_BYTES_MAX};

/// How bytes are made plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quoting {
    /// By a backslash before a byte.
    Backslash,
    /// By quotes around bytes.
    Quotes {
        /// The quote.
        quote: u8,
        /// What makes a quote inside of quotes plain.
        escape: u8,
    },
}

/// The end of each line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineEnd {
    LineFeed,
    CarriageReturnLineFeed,
}

/// The lines of bytes that come in parts.
#[derive(Debug)]
pub(super) struct Lines {
    quoting: Quoting,
    input: BytesMut,
    /// The bytes of `input` that hold no line end.
    scanned: usize,
    /// Whether the byte after them is plain, because an escape is before it.
    is_escaped: bool,
    is_in_quotes: bool,
    line_end: Option<LineEnd>,
    /// Whether all bytes have come.
    is_complete: bool,
    /// Whether `\.` has come.
    has_ended: bool,
    /// The number of the line that was taken last, from 1.
    number: u64,
    /// Line ends inside of quotes in the next line, and escaped ones.
    inner_ends: u64,
}

/// What there is to take.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NextLine {
    /// A line without its end.
    Line(Bytes),
    /// More bytes are needed.
    NeedsInput,
    /// There are no more lines.
    End,
}

impl Lines {
    pub(super) fn new(quoting: Quoting) -> Self {
        Self {
            quoting,
            input: BytesMut::new(),
            scanned: 0,
            is_escaped: false,
            is_in_quotes: false,
            line_end: None,
            is_complete: false,
            has_ended: false,
            number: 0,
            inner_ends: 0,
        }
    }

    /// Adds bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if !self.has_ended {
            self.input.extend_from_slice(bytes);
        }
    }

    /// Notes that all bytes have come. Before that there is no end of the lines, even after `\.`.
    pub(super) fn complete(&mut self) {
        self.is_complete = true;
    }

    /// The number of the line that was taken last, or that an error is about, from 1. A line end in quotes counts.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Takes the next line.
    ///
    /// # Errors
    /// A line end of another kind than that of the first line; a quote without an end; a line that is too long.
    pub(super) fn next(&mut self) -> Result<NextLine, CopyError> {
        if self.has_ended {
            return Ok(if self.is_complete { NextLine::End } else { NextLine::NeedsInput });
        }
        match self.scan() {
            Ok(Some((length, _))) if length > ROW_BYTES_MAX => Err(self.failed(CopyError::RowTooLong)),
            Ok(Some((length, end))) => {
                let line = self.input.split_to(length).freeze();
                self.input.advance(end);
                Ok(self.taken(line))
            }
            Ok(None) if self.scanned > ROW_BYTES_MAX => Err(self.failed(CopyError::RowTooLong)),
            Ok(None) if !self.is_complete => Ok(NextLine::NeedsInput),
            Ok(None) if self.input.is_empty() => {
                self.has_ended = true;
                Ok(NextLine::End)
            }
            Ok(None) if self.is_in_quotes => Err(self.failed(CopyError::UnterminatedQuote)),
            Ok(None) => {
                let line = self.input.split().freeze();
                Ok(self.taken(line))
            }
            Err(error) => Err(self.failed(error)),
        }
    }

    fn taken(&mut self, line: Bytes) -> NextLine {
        self.count();
        (self.scanned, self.is_escaped, self.is_in_quotes) = (0, false, false);
        if &*line == b"\\." {
            self.has_ended = true;
            self.input = BytesMut::new();
            return if self.is_complete { NextLine::End } else { NextLine::NeedsInput };
        }
        NextLine::Line(line)
    }

    fn failed(&mut self, error: CopyError) -> CopyError {
        self.count();
        self.has_ended = true;
        error
    }

    fn count(&mut self) {
        self.number = self.number.saturating_add(1).saturating_add(self.inner_ends);
        self.inner_ends = 0;
    }

    /// Looks for the end of the next line: the bytes of the line, and those of its end.
    fn scan(&mut self) -> Result<Option<(usize, usize)>, CopyError> {
        let in_csv = self.quoting != Quoting::Backslash;
        loop {
            let rest = self.input.get(self.scanned..).unwrap_or_default();
            let special = match self.quoting {
                Quoting::Backslash => rest.iter().position(|byte| matches!(byte, b'\n' | b'\r' | b'\\')),
                Quoting::Quotes { quote, escape } => {
                    rest.iter().position(|byte| matches!(byte, b'\n' | b'\r') || *byte == quote || *byte == escape)
                }
            };
            // Only the byte right after an escape is plain.
            let special = if self.is_escaped { (!rest.is_empty()).then_some(0) } else { special };
            let Some(special) = special else {
                self.scanned = self.input.len();
                return Ok(None);
            };
            let (at, byte) = (self.scanned + special, rest.get(special).copied());
            let is_line_end = match (byte, self.quoting) {
                (Some(b'\n'), _) if self.is_escaped || self.is_in_quotes => {
                    self.inner_ends += 1;
                    false
                }
                (_, Quoting::Backslash) if self.is_escaped => false,
                (Some(b'\n' | b'\r'), _) => !self.is_in_quotes,
                _ => false,
            };
            if !is_line_end {
                self.note_special(byte.unwrap_or_default());
                self.scanned = at + 1;
                continue;
            }
            self.scanned = at;
            if byte == Some(b'\n') {
                return match self.line_end.get_or_insert(LineEnd::LineFeed) {
                    LineEnd::LineFeed => Ok(Some((at, 1))),
                    LineEnd::CarriageReturnLineFeed => Err(CopyError::Newline { in_csv }),
                };
            }
            return match self.input.get(at + 1) {
                None if !self.is_complete => Ok(None),
                Some(b'\n') => match self.line_end.get_or_insert(LineEnd::CarriageReturnLineFeed) {
                    LineEnd::CarriageReturnLineFeed => Ok(Some((at, 2))),
                    LineEnd::LineFeed => Err(CopyError::CarriageReturn { in_csv }),
                },
                _ => Err(CopyError::CarriageReturn { in_csv }),
            };
        }
    }

    /// Passes a byte that ends no line.
    fn note_special(&mut self, byte: u8) {
        match self.quoting {
            Quoting::Backslash => self.is_escaped = !self.is_escaped && byte == b'\\',
            Quoting::Quotes { quote, escape } if quote == escape => {
                if byte == quote {
                    self.is_in_quotes = !self.is_in_quotes;
                }
            }
            Quoting::Quotes { quote, escape } => {
                if byte == quote && !self.is_escaped {
                    self.is_in_quotes = !self.is_in_quotes;
                }
                self.is_escaped = self.is_in_quotes && byte == escape && !self.is_escaped;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CSV: Quoting = Quoting::Quotes { quote: b'"', escape: b'"' };

    fn lines(quoting: Quoting, parts: &[&[u8]]) -> (Vec<String>, Option<CopyError>, u64) {
        let (mut lines, mut found) = (Lines::new(quoting), Vec::new());
        let mut parts = parts.iter();
        loop {
            match lines.next() {
                Ok(NextLine::Line(line)) => found.push(String::from_utf8_lossy(&line).into_owned()),
                Ok(NextLine::NeedsInput) => match parts.next() {
                    Some(part) => lines.push(part),
                    None => lines.complete(),
                },
                Ok(NextLine::End) => return (found, None, lines.number()),
                Err(error) => return (found, Some(error), lines.number()),
            }
        }
    }

    #[test]
    fn line_ends_end_lines_unless_they_are_plain() {
        for (quoting, text, expected, number) in [
            (Quoting::Backslash, &b"a\nb"[..], &["a", "b"][..], 2),
            (Quoting::Backslash, b"a\r\nb\r\n", &["a", "b"], 2),
            (Quoting::Backslash, b"a\\\nb\nc\n", &["a\\\nb", "c"], 3),
            (Quoting::Backslash, b"a\\\\\nb\n", &["a\\\\", "b"], 2),
            (Quoting::Backslash, b"\n\n", &["", ""], 2),
            (Quoting::Backslash, b"", &[], 0),
            (Quoting::Backslash, b"a\n\\.\nb\n", &["a"], 2),
            (Quoting::Backslash, b"\"a\nb\"\n", &["\"a", "b\""], 2),
            (CSV, b"\"a\nb\",c\nd\n", &["\"a\nb\",c", "d"], 3),
            (CSV, b"\"a\r\nb\"\nd\n", &["\"a\r\nb\"", "d"], 3),
            (CSV, b"\"a\"\"\nb\"\nd\n", &["\"a\"\"\nb\"", "d"], 3),
            (CSV, b"a\\\nb\n", &["a\\", "b"], 2),
            (CSV, b"a\n\\.\nb\n", &["a"], 2),
            (CSV, b"\"\\.\"\n", &["\"\\.\""], 1),
            (Quoting::Quotes { quote: b'\'', escape: b'\\' }, b"'a\\'\nb'\nd\n", &["'a\\'\nb'", "d"], 3),
            (Quoting::Quotes { quote: b'\'', escape: b'\\' }, b"'a\\\\'\nd\n", &["'a\\\\'", "d"], 2),
        ] {
            let shown = String::from_utf8_lossy(text);
            for cut in 0..=text.len() {
                let (first, second) = text.split_at(cut);
                let found = lines(quoting, &[first, second]);
                assert_eq!(
                    found,
                    (expected.iter().map(ToString::to_string).collect(), None, number),
                    "{shown} at {cut}"
                );
            }
        }
    }

    #[test]
    fn line_ends_of_other_kinds_are_errors() {
        let carriage_return = |in_csv| Some(CopyError::CarriageReturn { in_csv });
        for (quoting, text, error) in [
            (Quoting::Backslash, &b"a\nb\r\n"[..], carriage_return(false)),
            (Quoting::Backslash, b"a\rb\r", carriage_return(false)),
            (Quoting::Backslash, b"a\r\nb\n", Some(CopyError::Newline { in_csv: false })),
            (CSV, b"a\nb\rc\n", carriage_return(true)),
            (CSV, b"a\r\nb\n", Some(CopyError::Newline { in_csv: true })),
            (CSV, b"a\n\"b\n", Some(CopyError::UnterminatedQuote)),
        ] {
            for cut in 0..=text.len() {
                let (first, second) = text.split_at(cut);
                assert_eq!(lines(quoting, &[first, second]).1, error, "{text:?} at {cut}");
            }
        }
    }

    #[test]
    fn a_line_beyond_the_limit_is_refused() {
        let mut lines = Lines::new(Quoting::Backslash);
        let part = vec![b'x'; 1 << 20];
        let parts = ROW_BYTES_MAX >> 20;
        for _ in 0..parts {
            lines.push(&part);
            assert_eq!(lines.next(), Ok(NextLine::NeedsInput));
        }
        lines.push(b"y");
        assert_eq!(lines.next(), Err(CopyError::RowTooLong));
    }
}
