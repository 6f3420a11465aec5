//! Reads records of comma-separated values.
//!
//! This reader is our own, because existing ones do not distinguish `""` from an empty
//! field. `""` is the empty text; an empty field is NULL.

use std::io::{self, BufRead};

/// The byte order mark, which may precede a text and is not part of any value.
pub(crate) const MARK: &[u8] = "\u{feff}".as_bytes();

/// Most bytes of one record.
pub(crate) const RECORD_BYTES_MAX: usize = 64 << 20;

/// The characters that separate and quote fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    pub(crate) delimiter: u8,
    pub(crate) quote: u8,
    /// The escape character for quotes inside quotes; by default the quote itself.
    pub(crate) escape: u8,
}

/// One field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field<'a> {
    pub(crate) text: &'a str,
    /// Whether the field was quoted, and so is never NULL.
    pub(crate) quoted: bool,
}

/// The error of a record.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordError {
    #[error("the file cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("a quote is never closed")]
    OpenQuote,
    #[error("a field goes on after its closing quote")]
    AfterQuote,
    #[error("the text is not UTF-8")]
    NotUtf8,
    #[error("a record is longer than {RECORD_BYTES_MAX} bytes")]
    TooLong,
}

/// Reads records in order.
pub(crate) struct RecordReader<R> {
    input: Replayed<R>,
    format: Format,
    /// Whether an empty line is a record: one empty field.
    has_empty_records: bool,
    /// The bytes of the record's fields, unquoted and concatenated.
    content: Vec<u8>,
    /// Where each field ends in `content`, and whether it was quoted.
    ends: Vec<(usize, bool)>,
    /// The text of the record after its first line, as in the file.
    tail: Vec<u8>,
    line: u64,
    record_line: u64,
    bytes: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum At {
    Start,
    Plain,
    Quoted,
    /// After a quote inside quotes: the end of the quoted part, or the first half of a pair.
    QuoteSeen,
    /// After an escape character inside quotes.
    EscapeSeen,
}

enum Step {
    Go,
    Record,
}

/// Input with pushback.
struct Replayed<R> {
    again: io::Cursor<Vec<u8>>,
    input: R,
}

impl<R: BufRead> Replayed<R> {
    fn bytes(&mut self) -> io::Result<&[u8]> {
        if self.again.fill_buf()?.is_empty() { self.input.fill_buf() } else { self.again.fill_buf() }
    }

    fn consume(&mut self, count: usize) -> io::Result<()> {
        if self.again.fill_buf()?.is_empty() {
            self.input.consume(count)
        } else {
            self.again.consume(count)
        }
        Ok(())
    }

    fn give_back(&mut self, mut bytes: Vec<u8>) -> io::Result<()> {
        bytes.extend_from_slice(self.again.fill_buf()?);
        self.again = io::Cursor::new(bytes);
        Ok(())
    }
}

impl<R: BufRead> RecordReader<R> {
    pub(crate) fn new(input: R, format: Format) -> Self {
        let input = Replayed { again: io::Cursor::default(), input };
        Self {
            input,
            format,
            has_empty_records: false,
            content: Vec::new(),
            ends: Vec::new(),
            tail: Vec::new(),
            line: 1,
            record_line: 1,
            bytes: 0,
        }
    }

    /// The next bytes of the file; empty at the end.
    pub(crate) fn peek(&mut self) -> io::Result<&[u8]> {
        self.input.bytes()
    }

    /// The line on which the last record began, from 1.
    pub(crate) fn first_line(&self) -> u64 {
        self.record_line
    }

    /// Bytes read so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// From now on an empty line is a record. Files with one field a record need this: an empty line is their only form of NULL.
    pub(crate) fn keep_empty_records(&mut self) {
        self.has_empty_records = true;
    }

    /// Reads the next record; `false` at the end of the file. Empty lines are skipped, unless [`Self::keep_empty_records`] was called.
    ///
    /// After an error that is not one of reading, the next call continues after the first line of the record, so that a
    /// quote without an end spoils no other line.
    pub(crate) fn read(&mut self) -> Result<bool, RecordError> {
        if self.bytes == 0 {
            self.pass_mark()?;
        }
        loop {
            self.content.clear();
            self.ends.clear();
            self.tail.clear();
            self.record_line = self.line;
            match self.read_record() {
                Ok(true) => {}
                Err(error @ RecordError::Io(_)) => return Err(error),
                Err(error) => {
                    self.go_back()?;
                    return Err(error);
                }
                Ok(false) => return Ok(false),
            }
            if self.has_empty_records || self.ends.as_slice() != [(0, false)] {
                return Ok(true);
            }
        }
    }

    /// Skips the byte order mark, which may arrive in pieces.
    fn pass_mark(&mut self) -> io::Result<()> {
        let mut begin = Vec::new();
        while let Some(&expected) = MARK.get(begin.len())
            && self.input.bytes()?.first() == Some(&expected)
        {
            self.input.consume(1)?;
            begin.push(expected);
        }
        match begin.len() == MARK.len() {
            true => self.bytes = begin.len() as u64,
            false => self.input.give_back(begin)?,
        }
        Ok(())
    }

    /// Goes back to the second line of the record.
    fn go_back(&mut self) -> io::Result<()> {
        self.bytes -= self.tail.len() as u64;
        self.line = self.record_line + 1;
        self.input.give_back(std::mem::take(&mut self.tail))
    }

    fn read_record(&mut self) -> Result<bool, RecordError> {
        let mut at = At::Start;
        let mut any = false;
        let mut wrong = None;
        let mut spans_lines = false;
        loop {
            let chunk_bytes = self.input.bytes()?.len();
            if chunk_bytes == 0 {
                if !any {
                    return Ok(false);
                }
                if matches!(at, At::Quoted | At::EscapeSeen) {
                    return Err(RecordError::OpenQuote);
                }
                self.end_record(at);
                return wrong.map_or(Ok(true), Err);
            }
            any = true;
            let mut used = 0;
            let mut ended = false;
            let mut tail_from = spans_lines.then_some(0);
            while used < chunk_bytes {
                // A run of plain bytes is copied at once.
                let rest = self.input.bytes()?.get(used..).unwrap_or_default();
                let run = plain_run(rest, at, self.format);
                if run > 0 {
                    self.content.extend_from_slice(&rest[..run]);
                    used += run;
                    if at == At::Start {
                        at = At::Plain;
                    }
                    continue;
                }
                let Some(&byte) = rest.first() else { break };
                used += 1;
                match self.take(byte, &mut at) {
                    Ok(Step::Go) if byte == b'\n' => tail_from = tail_from.or(Some(used)),
                    Ok(Step::Go) => {}
                    Ok(Step::Record) => {
                        ended = true;
                        break;
                    }
                    Err(error) => wrong = wrong.or(Some(error)),
                }
            }
            if let Some(from) = tail_from {
                spans_lines = true;
                self.tail.extend_from_slice(self.input.bytes()?.get(from..used).unwrap_or_default());
            }
            self.input.consume(used)?;
            self.bytes += used as u64;
            if self.content.len() > RECORD_BYTES_MAX {
                return Err(if spans_lines { RecordError::OpenQuote } else { RecordError::TooLong });
            }
            if ended {
                return wrong.map_or(Ok(true), Err);
            }
        }
    }

    /// Processes one byte that is not plain.
    fn take(&mut self, byte: u8, at: &mut At) -> Result<Step, RecordError> {
        self.line += u64::from(byte == b'\n');
        let Format { delimiter, quote, escape } = self.format;
        match (*at, byte) {
            (At::EscapeSeen, byte) => {
                if byte != quote && byte != escape {
                    self.content.push(escape);
                }
                self.content.push(byte);
                *at = At::Quoted;
            }
            (At::Quoted, byte) if byte == escape && escape != quote => *at = At::EscapeSeen,
            (At::Quoted, byte) if byte == quote => *at = At::QuoteSeen,
            (At::Quoted, byte) => self.content.push(byte),
            (At::Start, byte) if byte == quote => *at = At::Quoted,
            (At::QuoteSeen, byte) if byte == quote && escape == quote => {
                self.content.push(quote);
                *at = At::Quoted;
            }
            (_, byte) if byte == delimiter => {
                self.end_field(*at);
                *at = At::Start;
            }
            (_, b'\n') => {
                self.end_record(*at);
                return Ok(Step::Record);
            }
            (At::QuoteSeen, b'\r') => {}
            (At::QuoteSeen, _) => return Err(RecordError::AfterQuote),
            (_, byte) => {
                self.content.push(byte);
                *at = At::Plain;
            }
        }
        Ok(Step::Go)
    }

    fn end_record(&mut self, at: At) {
        let start = self.ends.last().map_or(0, |(end, _)| *end);
        // A carriage return at the end of a line is not part of the last field.
        if at != At::QuoteSeen && self.content.len() > start && self.content.last() == Some(&b'\r') {
            self.content.pop();
        }
        self.end_field(at);
    }

    fn end_field(&mut self, at: At) {
        self.ends.push((self.content.len(), at == At::QuoteSeen));
    }

    /// The fields of the record that was read.
    ///
    /// # Errors
    /// [`RecordError::NotUtf8`].
    pub(crate) fn fields(&self) -> Result<Vec<Field<'_>>, RecordError> {
        let text = std::str::from_utf8(&self.content).map_err(|_| RecordError::NotUtf8)?;
        let mut start = 0;
        self.ends
            .iter()
            .map(|&(end, quoted)| {
                let field = text.get(start..end).ok_or(RecordError::NotUtf8)?;
                start = end;
                Ok(Field { text: field, quoted })
            })
            .collect()
    }
}

/// The number of bytes at the start of `rest` that are content: neither quotes, separators, escapes nor line ends.
fn plain_run(rest: &[u8], at: At, format: Format) -> usize {
    let special = |b: &u8| *b == format.quote || *b == format.escape || *b == b'\n';
    match at {
        At::Quoted => rest.iter().position(special),
        At::Start | At::Plain => {
            rest.iter().position(|b| *b == format.delimiter || *b == b'\n' || (at == At::Start && *b == format.quote))
        }
        At::QuoteSeen | At::EscapeSeen => Some(0),
    }
    .unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CSV: Format = Format { delimiter: b',', quote: b'"', escape: b'"' };

    fn read(text: &str, buffer_bytes: usize) -> Vec<Result<Vec<(String, bool)>, String>> {
        let mut reader = RecordReader::new(io::BufReader::with_capacity(buffer_bytes, text.as_bytes()), CSV);
        let mut records = Vec::new();
        loop {
            match reader.read() {
                Ok(false) => return records,
                Ok(true) => records.push(
                    reader
                        .fields()
                        .map(|fields| fields.iter().map(|f| (f.text.to_owned(), f.quoted)).collect())
                        .map_err(|e| e.to_string()),
                ),
                Err(error) => records.push(Err(error.to_string())),
            }
        }
    }

    fn plain(fields: &[&str]) -> Result<Vec<(String, bool)>, String> {
        Ok(fields.iter().map(|f| ((*f).to_owned(), false)).collect())
    }

    #[test]
    fn reads_records_whatever_the_buffer() {
        let text = "a,b\r\n1,\"x \"\"y\"\"\n,z\"\n\n,\"\"\nlast,é";
        let quoted = |text: &str| (text.to_owned(), true);
        for buffer_bytes in 1..20 {
            let records = read(text, buffer_bytes);
            assert_eq!(records[0], plain(&["a", "b"]));
            assert_eq!(records[1], Ok(vec![("1".into(), false), quoted("x \"y\"\n,z")]));
            assert_eq!(records[2], Ok(vec![(String::new(), false), quoted("")]));
            assert_eq!(records[3], plain(&["last", "é"]));
            assert_eq!(records.len(), 4);
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_value() {
        for buffer_bytes in 1..8 {
            assert_eq!(
                read("\u{feff}a,1\nb,\u{feff}2\n", buffer_bytes),
                [plain(&["a", "1"]), plain(&["b", "\u{feff}2"])]
            );
            // A part of the mark is a text that is not UTF-8.
            let mut reader =
                RecordReader::new(io::BufReader::with_capacity(buffer_bytes, b"\xef\xbba\nb".as_slice()), CSV);
            assert!(reader.read().unwrap() && reader.fields().is_err());
            assert!(reader.read().unwrap());
            assert_eq!((reader.fields().unwrap()[0].text, reader.first_line(), reader.bytes()), ("b", 2, 5));
        }
        // Inside quotes, the mark is a value.
        assert_eq!(read("\"\u{feff}a\"\n", 3), [Ok(vec![("\u{feff}a".to_owned(), true)])]);
        assert!(read("\u{feff}", 3).is_empty() && read("", 3).is_empty());
    }

    #[test]
    fn empty_lines_are_records_of_one_field() {
        for (text, fields) in [("a\n\nb\n", 3), ("a\r\n\r\nb", 3), ("\na", 2), ("a\n\n", 2), ("a\n", 1), ("", 0)] {
            let mut reader = RecordReader::new(text.as_bytes(), CSV);
            reader.keep_empty_records();
            let mut found = Vec::new();
            while reader.read().unwrap() {
                let record = reader.fields().unwrap();
                assert_eq!(record.len(), 1);
                found.push(record[0].clone().text.to_owned());
            }
            assert_eq!(found.len(), fields, "{text:?}");
            assert!(found.iter().all(|text| ["", "a", "b"].contains(&text.as_str())), "{found:?}");
        }
    }

    #[test]
    fn a_carriage_return_before_a_delimiter_is_a_value() {
        assert_eq!(read("a\r,b\r\n\r,\r", 4), [plain(&["a\r", "b"]), plain(&["\r", ""])]);
    }

    #[test]
    fn goes_on_behind_a_bad_record() {
        let records = read("1,\"a\"b\n2,c\n", 8);
        assert!(records[0].is_err());
        assert_eq!(records[1], plain(&["2", "c"]));
        // The second line of a broken record is read as a record.
        let records = read("1,\"a\n2,b\n3,\"c\n4,d\n", 8);
        assert!(records[0].is_err() && records[2].is_err());
        assert_eq!((&records[1], &records[3]), (&plain(&["2", "b"]), &plain(&["4", "d"])));
        assert_eq!(records.len(), 4);
    }

    #[test]
    fn an_open_quote_takes_one_line_whatever_the_buffer() {
        for buffer_bytes in 1..20 {
            let records = read("1,a\n7,\"a\n\n8,\"b\nb\"\n9,c", buffer_bytes);
            assert_eq!(records[0], plain(&["1", "a"]));
            assert!(records[1].is_err());
            // Nobody knows which of the two quotes is wrong, so the lines after the first are read again.
            assert_eq!(records[2], Ok(vec![("8".into(), false), ("b\nb".into(), true)]));
            assert_eq!(records[3], plain(&["9", "c"]));
            assert_eq!(records.len(), 4);
        }
        let mut reader = RecordReader::new("1,\"a\n2,b\n".as_bytes(), CSV);
        assert!(reader.read().is_err());
        assert_eq!(reader.first_line(), 1);
        assert!(reader.read().unwrap());
        assert_eq!((reader.first_line(), reader.bytes()), (2, 9));
    }

    #[test]
    fn counts_lines_where_records_begin() {
        let mut reader = RecordReader::new("a,\"b\nc\"\nd,e\n".as_bytes(), CSV);
        assert!(reader.read().unwrap());
        assert_eq!(reader.first_line(), 1);
        assert!(reader.read().unwrap());
        assert_eq!(reader.first_line(), 3);
    }
}
