//! Cuts SQL text into lexemes: where each one starts and ends, nothing more.
//!
//! All readers of raw text stand on this one: the [lexer](crate::lexer), which
//! makes tokens, [`crate::split_statements`], which looks for the `;` that
//! ends a statement, and a shell that colours and completes SQL. So a shell and the parser never disagree about what a
//! string, a quoted name or a comment is.
//!
//! | text | is |
//! |---|---|
//! | `-- ..`, `// ..` | a comment to the end of the line |
//! | `/* .. */` | a comment; comments nest; `/*! .. */` is no code |
//! | `/*+ .. */` | a hint |
//! | `'it''s'` | a string; a backslash is a backslash, except in Phoenix's [dialect](Dialect) |
//! | `E'a\n'` | a string with escapes |
//! | `U&'\00e4'` | a string with characters by their numbers in Unicode |
//! | `$$it's$$`, `$tag$..$tag$` | a string as it is |
//! | `X'00ff'` | bytes |
//! | `0xff`, `0o17`, `0b101`, `1_000` | numbers |
//! | `"a""b"` | a quoted name |
//! | `?`, `?1`, `$1`, `:1`, `:name` | a parameter |
//!
//! # Laws
//! 1. The lexemes follow each other without gaps and cover the whole text.
//! 2. No lexeme is empty, so scanning ends.

use std::ops::Range;

use crate::phoenix::Dialect;

/// The kind of a lexeme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lexeme {
    /// Blanks and line ends.
    Blank,
    /// Any comment but a hint.
    Comment,
    /// `/*+ .. */`.
    Hint,
    /// A name or a keyword.
    Word,
    /// `".."`.
    QuotedName,
    /// `'..'`.
    Text,
    /// `E'..'`.
    EscapedText,
    /// `U&'..'`.
    UnicodeText,
    /// `$$..$$` and `$tag$..$tag$`.
    DollarText,
    /// `X'..'`.
    Hex,
    /// An unsigned number.
    Number,
    /// A number that runs into a name: `12abc`.
    BadNumber,
    /// `?`, `?1`, `$1`, `:1`, `:name`.
    Parameter,
    /// An operator or a bracket.
    Symbol,
    /// A character that starts nothing.
    Stray,
    /// A string, name or comment that the text ends in.
    Unterminated(Open),
}

/// A lexeme that was opened but never closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// `/* ..`.
    Comment,
    /// `'..`.
    Text,
    /// `"..`.
    QuotedName,
    /// `$$..`.
    DollarText,
}

/// Longest first, so that the first match is the right one.
const SYMBOLS: [&str; 48] = [
    "->>", "->", "#>>", "#>", "#", "@>", "<@", "&&", "!~~*", "!~~", "!~*", "~~*", "!~", "~~", "~*", "::", "<=", "<>",
    "<<", ">=", ">>", "!=", "||", "=>", "==", "=", "<", ">", "+", "-", "*", "/", "%", "(", ")", "[", "]", ",", ".",
    ";", ":", "|", "&", "^", "~", "{", "}", "@",
];

/// The lexemes of `sql`, in order, each with its place in bytes.
pub fn lexemes(sql: &str) -> impl Iterator<Item = (Lexeme, Range<usize>)> {
    lexemes_in(sql, Dialect::Saltwing)
}

/// The same of a text in a dialect: a backslash in a string of Phoenix's escapes the character after it.
pub fn lexemes_in(sql: &str, dialect: Dialect) -> impl Iterator<Item = (Lexeme, Range<usize>)> {
    Scanner::new(sql, dialect)
}

/// An iterator over the lexemes of a text.
pub(crate) struct Scanner<'a> {
    sql: &'a str,
    at: usize,
    dialect: Dialect,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(sql: &'a str, dialect: Dialect) -> Self {
        Self { sql, at: 0, dialect }
    }

    fn rest(&self) -> &'a str {
        self.sql.get(self.at..).unwrap_or("")
    }
}

impl Iterator for Scanner<'_> {
    type Item = (Lexeme, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest();
        // After an operand, a colon belongs to a slice: `a[1:2]`.
        let before = || self.sql.get(..self.at).and_then(|before| before.chars().next_back());
        let is_slice = rest.starts_with(':')
            && rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit)
            && before().is_some_and(|c| is_name_part(c) || c == ')' || c == ']');
        let (kind, length) = if is_slice { (Lexeme::Symbol, 1) } else { lexeme(rest, self.dialect)? };
        let start = self.at;
        self.at = start + length;
        Some((kind, start..self.at))
    }
}

/// The first lexeme of `rest` and its length in bytes.
fn lexeme(rest: &str, dialect: Dialect) -> Option<(Lexeme, usize)> {
    let first = rest.chars().next()?;
    let bytes = rest.as_bytes();
    let second = bytes.get(1).copied();
    Some(match first {
        c if is_blank(c) => (Lexeme::Blank, length_while(rest, is_blank)),
        '-' if second == Some(b'-') => (Lexeme::Comment, to_line_end(rest)),
        '/' if second == Some(b'/') => (Lexeme::Comment, to_line_end(rest)),
        '/' if second == Some(b'*') => comment(bytes),
        '\'' => quoted(bytes, 0, b'\'', dialect == Dialect::Phoenix, Lexeme::Text, Open::Text),
        '"' => quoted(bytes, 0, b'"', false, Lexeme::QuotedName, Open::QuotedName),
        'e' | 'E' if second == Some(b'\'') => quoted(bytes, 1, b'\'', true, Lexeme::EscapedText, Open::Text),
        'u' | 'U' if rest.get(1..).is_some_and(|rest| rest.starts_with("&'")) => {
            quoted(bytes, 2, b'\'', false, Lexeme::UnicodeText, Open::Text)
        }
        'x' | 'X' if second == Some(b'\'') => quoted(bytes, 1, b'\'', false, Lexeme::Hex, Open::Text),
        c if is_name_start(c) => (Lexeme::Word, length_while(rest, is_name_part)),
        c if c.is_ascii_digit() => number(rest),
        '.' if second.is_some_and(|b| b.is_ascii_digit()) => number(rest),
        '?' => (Lexeme::Parameter, 1 + digits(bytes, 1)),
        '$' if second.is_some_and(|b| b.is_ascii_digit()) => parameter_number(rest),
        '$' if let Some(tag) = dollar_tag(rest) => dollar_text(rest, tag),
        ':' if second.is_some_and(|b| b.is_ascii_digit()) => parameter_number(rest),
        ':' if rest.get(1..).and_then(|r| r.chars().next()).is_some_and(is_name_start) => {
            (Lexeme::Parameter, 1 + length_while(&rest[1..], is_name_part))
        }
        c => match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            Some(symbol) => (Lexeme::Symbol, symbol.len()),
            None => (Lexeme::Stray, c.len_utf8()),
        },
    })
}

/// A blank, or the mark that some editors put in front of a file.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// Whether a name may start with `c`.
pub(crate) fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Whether a name may contain `c` after its first character.
pub(crate) fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

fn length_while(text: &str, accept: impl Fn(char) -> bool) -> usize {
    text.find(|c| !accept(c)).unwrap_or(text.len())
}

fn digits(bytes: &[u8], from: usize) -> usize {
    bytes.iter().skip(from).take_while(|b| b.is_ascii_digit()).count()
}

fn to_line_end(rest: &str) -> usize {
    rest.find('\n').unwrap_or(rest.len())
}

fn comment(bytes: &[u8]) -> (Lexeme, usize) {
    let kind = if bytes.get(2) == Some(&b'+') { Lexeme::Hint } else { Lexeme::Comment };
    let (mut at, mut depth) = (2, 1_usize);
    while depth > 0 {
        match bytes.get(at..at + 2) {
            Some(b"/*") => (at, depth) = (at + 2, depth + 1),
            Some(b"*/") => (at, depth) = (at + 2, depth - 1),
            Some(_) => at += 1,
            None => return (Lexeme::Unterminated(Open::Comment), bytes.len()),
        }
    }
    (kind, at)
}

/// A quoted piece whose opening quote stands at `open`; a doubled quote is one quote.
fn quoted(bytes: &[u8], open: usize, quote: u8, escapes: bool, kind: Lexeme, what: Open) -> (Lexeme, usize) {
    let mut at = open + 1;
    while let Some(byte) = bytes.get(at) {
        at += match byte {
            b'\\' if escapes => 2,
            b if *b == quote && bytes.get(at + 1) == Some(&quote) => 2,
            b if *b == quote => return (kind, at + 1),
            _ => 1,
        };
    }
    (Lexeme::Unterminated(what), bytes.len())
}

/// The tag of a string in dollars that begins here, with its dollars.
fn dollar_tag(rest: &str) -> Option<&str> {
    let name = rest.strip_prefix('$')?;
    let length = length_while(name, |c| is_name_part(c) && c != '$');
    let is_tag = name.get(length..)?.starts_with('$') && !name.starts_with(|c: char| c.is_ascii_digit());
    if is_tag { rest.get(..length + 2) } else { None }
}

fn dollar_text(rest: &str, tag: &str) -> (Lexeme, usize) {
    match rest.get(tag.len()..).and_then(|inside| inside.find(tag)) {
        Some(length) => (Lexeme::DollarText, length + 2 * tag.len()),
        None => (Lexeme::Unterminated(Open::DollarText), rest.len()),
    }
}

/// `0xff`, `0o17` and `0b101`; `None` of other numbers.
fn number_of_base(rest: &str) -> Option<(Lexeme, usize)> {
    let base = match rest.get(..2)? {
        "0x" | "0X" => 16,
        "0o" | "0O" => 8,
        "0b" | "0B" => 2,
        _ => return None,
    };
    let digits = rest.get(2..)?;
    let length = length_while(digits, |c| c.is_digit(base) || c == '_');
    let is_number = digits.starts_with(|c: char| c.is_digit(base)) && !ends_in_mark(digits.get(..length)?);
    is_number.then(|| unless_runs_into_name(rest, 2 + length, Lexeme::Number))
}

fn ends_in_mark(digits: &str) -> bool {
    digits.ends_with('_') || digits.contains("__")
}

/// Digits, with single marks between them.
fn marked_digits(rest: &str) -> usize {
    let length = length_while(rest, |c| c.is_ascii_digit() || c == '_');
    let has_marks = rest.get(..length).is_some_and(|digits| !ends_in_mark(digits) && !digits.starts_with('_'));
    if has_marks { length } else { digits(rest.as_bytes(), 0) }
}

/// `12`, `1_000`, `1.5`, `.5`, `1.`, `1e5`, `1.5e-3`.
fn number(rest: &str) -> (Lexeme, usize) {
    if let Some(number) = number_of_base(rest) {
        return number;
    }
    let bytes = rest.as_bytes();
    let mut at = marked_digits(rest);
    if bytes.get(at) == Some(&b'.') {
        at += 1 + digits(bytes, at + 1);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(bytes, at + 1 + sign);
        if exponent > 0 {
            at += 1 + sign + exponent;
        }
    }
    unless_runs_into_name(rest, at, Lexeme::Number)
}

fn parameter_number(rest: &str) -> (Lexeme, usize) {
    unless_runs_into_name(rest, 1 + digits(rest.as_bytes(), 1), Lexeme::Parameter)
}

fn unless_runs_into_name(rest: &str, at: usize, kind: Lexeme) -> (Lexeme, usize) {
    match rest.get(at..).map(|tail| length_while(tail, is_name_part)) {
        None | Some(0) => (kind, at),
        Some(extra) => (Lexeme::BadNumber, at + extra),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covers_the_text_without_gaps() {
        let sql = "SELECT /*+ h */ \"a\", 1.5, 'x' -- c\nFROM t WHERE é = ? AND b = 'open";
        let all: Vec<_> = lexemes(sql).collect();
        assert_eq!(all.iter().map(|(_, r)| &sql[r.clone()]).collect::<String>(), sql);
        let shown = |l| all.iter().filter(|(k, _)| *k == l).map(|(_, r)| &sql[r.clone()]).collect::<Vec<_>>();
        assert_eq!(shown(Lexeme::Hint), ["/*+ h */"]);
        assert_eq!(shown(Lexeme::Comment), ["-- c"]);
        assert_eq!(shown(Lexeme::Text), ["'x'"]);
        assert_eq!(shown(Lexeme::Unterminated(Open::Text)), ["'open"]);
        assert_eq!(shown(Lexeme::Word), ["SELECT", "FROM", "t", "WHERE", "é", "AND", "b"]);
    }
}
