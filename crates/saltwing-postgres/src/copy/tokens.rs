//! The words of a COPY statement. The lexemes are the library's.

use std::ops::Range;

use pgwire::error::ErrorInfo;
use saltwing::Dialect;
use saltwing::syntax::{Lexeme, lexemes_in};

use crate::messages::error;

/// Characters of the statement that an error shows.
const SHOWN_CHARS_MAX: usize = 40;

/// A reader of one statement.
pub(super) struct Tokens<'a> {
    sql: &'a str,
    dialect: Dialect,
    tokens: Vec<(Lexeme, Range<usize>)>,
    at: usize,
}

impl<'a> Tokens<'a> {
    /// The words of a statement after its first one; `None` if it begins with another word than `first`. Then the rest is not looked at.
    pub(super) fn after(first: &str, sql: &'a str, dialect: Dialect) -> Option<Self> {
        let is_token = |(kind, _): &(Lexeme, _)| !matches!(kind, Lexeme::Blank | Lexeme::Comment | Lexeme::Hint);
        let mut lexemes = lexemes_in(sql, dialect).filter(is_token);
        let (kind, range) = lexemes.next()?;
        if kind != Lexeme::Word || !sql.get(range)?.eq_ignore_ascii_case(first) {
            return None;
        }
        Some(Self { sql, dialect, tokens: lexemes.collect(), at: 0 })
    }

    /// The token so many places ahead.
    pub(super) fn peek(&self, ahead: usize) -> Option<(Lexeme, &'a str)> {
        let (kind, range) = self.tokens.get(self.at.checked_add(ahead)?)?;
        Some((*kind, self.sql.get(range.clone())?))
    }

    /// Passes a token.
    pub(super) fn skip(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    /// The next token, if it is a word, in upper case.
    pub(super) fn word(&self) -> Option<String> {
        match self.peek(0)? {
            (Lexeme::Word, word) => Some(word.to_ascii_uppercase()),
            _ => None,
        }
    }

    /// Whether these words follow, in any case.
    pub(super) fn at(&self, words: &[&str]) -> bool {
        let is_at = |(ahead, word): (usize, &&str)| matches!(self.peek(ahead), Some((Lexeme::Word, found)) if found.eq_ignore_ascii_case(word));
        words.iter().enumerate().all(is_at)
    }

    /// Takes these words if they follow.
    pub(super) fn eat(&mut self, words: &[&str]) -> bool {
        let follow = self.at(words);
        if follow {
            self.at = self.at.saturating_add(words.len());
        }
        follow
    }

    /// Whether a symbol follows.
    pub(super) fn at_symbol(&self, symbol: &str) -> bool {
        self.peek(0) == Some((Lexeme::Symbol, symbol))
    }

    /// Takes a symbol if it follows.
    pub(super) fn eat_symbol(&mut self, symbol: &str) -> bool {
        let follows = self.at_symbol(symbol);
        if follows {
            self.skip();
        }
        follows
    }

    /// Takes a name if one follows: without its quotes, otherwise as it was written.
    pub(super) fn eat_name(&mut self) -> Option<String> {
        let name = match self.peek(0)? {
            (Lexeme::Word, word) => word.to_owned(),
            (Lexeme::QuotedName, quoted) => inside(quoted, 1).replace("\"\"", "\""),
            _ => return None,
        };
        self.skip();
        Some(name)
    }

    /// Takes a string if one follows.
    ///
    /// # Errors
    /// A string whose escapes are no text.
    pub(super) fn eat_string(&mut self) -> Result<Option<String>, Box<ErrorInfo>> {
        let text = match self.peek(0) {
            Some((Lexeme::EscapedText, written)) => unescaped(inside(written, 2)),
            Some((Lexeme::Text, written)) if self.dialect == Dialect::Phoenix => unescaped(inside(written, 1)),
            Some((Lexeme::Text, written)) => Some(inside(written, 1).replace("''", "'")),
            _ => return Ok(None),
        };
        let text = text.ok_or_else(|| error("22021", "a string with escapes is no UTF-8"))?;
        self.skip();
        Ok(Some(text))
    }

    /// Whether nothing follows but the `;` at the end.
    pub(super) fn is_at_end(&self) -> bool {
        matches!(self.peek(0), None | Some((Lexeme::Symbol, ";")))
    }

    /// Where the next token begins, in bytes of the statement.
    pub(super) fn start(&self) -> usize {
        self.tokens.get(self.at).map_or(self.sql.len(), |(_, range)| range.start)
    }

    /// The text from a place up to the last token that was taken.
    pub(super) fn text_from(&self, start: usize) -> &'a str {
        let last = self.at.checked_sub(1).and_then(|last| self.tokens.get(last));
        last.and_then(|(_, range)| self.sql.get(start..range.end)).unwrap_or_default()
    }

    /// The error of the next token, in whose place something else must stand.
    pub(super) fn unexpected(&self) -> Box<ErrorInfo> {
        let found = match self.peek(0) {
            None => return error("42601", "syntax error at end of input"),
            Some((_, found)) => found,
        };
        let shown = match found.char_indices().nth(SHOWN_CHARS_MAX) {
            Some((end, _)) => format!("{}…", found.get(..end).unwrap_or_default()),
            None => found.to_owned(),
        };
        error("42601", format!("syntax error at or near \"{shown}\""))
    }
}

/// The text without the `open` bytes at its beginning and without its closing quote.
fn inside(written: &str, open: usize) -> &str {
    written.get(open..written.len().saturating_sub(1)).unwrap_or_default()
}

/// The text of a string with escapes by backslashes; `None` if it is no UTF-8.
fn unescaped(inside: &str) -> Option<String> {
    let mut text = Vec::with_capacity(inside.len());
    let mut rest = inside.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after.split_first()) {
            // The second of a doubled quote.
            (b'\'', Some((b'\'', after))) => {
                text.push(b'\'');
                rest = after;
            }
            (b'\\', Some((letter, after))) => {
                let (digits, radix, most) = match letter {
                    b'x' => (after, 16, 2),
                    b'0'..=b'7' => (rest, 8, 3),
                    _ => (after, 10, 0),
                };
                let is_digit = |byte: &&u8| char::from(**byte).is_digit(radix);
                let count = digits.iter().take(most).take_while(is_digit).count();
                let (number, after_number) = digits.split_at(count);
                let number = str::from_utf8(number).ok().and_then(|number| u8::from_str_radix(number, radix).ok());
                text.push(match number {
                    Some(number) => number,
                    None => control_character(*letter).unwrap_or(*letter),
                });
                rest = if number.is_some() { after_number } else { after };
            }
            _ => text.push(*byte),
        }
    }
    String::from_utf8(text).ok()
}

fn control_character(letter: u8) -> Option<u8> {
    Some(match letter {
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'f' => 12,
        b'r' => b'\r',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn string(written: &str, dialect: Dialect) -> String {
        let sql = format!("COPY {written}");
        Tokens::after("copy", &sql, dialect).unwrap().eat_string().unwrap().unwrap()
    }

    #[test]
    fn strings_have_their_escapes() {
        for (written, saltwing, phoenix) in [
            ("'it''s'", "it's", "it's"),
            ("'\\t'", "\\t", "\t"),
            ("E'\\t\\x41\\102\\q\\\\'", "\tABq\\", "\tABq\\"),
            ("E'it''s \\''", "it's '", "it's '"),
            ("E'\\xg\\u'", "xgu", "xgu"),
        ] {
            assert_eq!(string(written, Dialect::Saltwing), saltwing, "{written}");
            assert_eq!(string(written, Dialect::Phoenix), phoenix, "{written}");
        }
        let mut tokens = Tokens::after("COPY", "COPY E'\\xff'", Dialect::Saltwing).unwrap();
        assert_eq!(tokens.eat_string().unwrap_err().code, "22021");
    }

    #[test]
    fn only_the_first_word_decides() {
        assert!(Tokens::after("COPY", "/* c */ copy t", Dialect::Saltwing).is_some());
        for other in ["", "COPYX t", "\"COPY\" t", "'COPY'", "EXPLAIN COPY t"] {
            assert!(Tokens::after("COPY", other, Dialect::Saltwing).is_none(), "{other}");
        }
    }
}
