//! The words of a statement, one after the other.
//!
//! The lexemes are the library's. They are read as far as a statement needs them, and not kept, so that a long statement inside of
//! PREPARE costs no memory.

use std::collections::VecDeque;
use std::ops::Range;

use saltwing::Dialect;
use saltwing::syntax::{Lexeme, lexemes_in};

use super::error::TokenError;
use super::quoted;
use crate::settings::{TextAt, shortened};

/// The lexemes of a text but blanks and comments.
type Lexemes<'a> = Box<dyn Iterator<Item = (Lexeme, Range<usize>)> + 'a>;

/// A statement that is a part of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Body {
    /// Its text, as it was written.
    pub(crate) sql: String,
    /// The characters before it. An error at a position of the part is at the sum of both.
    pub(crate) offset: usize,
}

/// A reader of one statement.
pub(crate) struct Tokens<'a> {
    sql: &'a str,
    dialect: Dialect,
    lexemes: Lexemes<'a>,
    /// Lexemes that were looked at and not taken.
    ahead: VecDeque<(Lexeme, Range<usize>)>,
    /// The byte after the last lexeme that was taken, and the characters before it.
    end: usize,
    end_chars: usize,
}

impl<'a> Tokens<'a> {
    /// Begins at the first word.
    pub(crate) fn new(sql: &'a str, dialect: Dialect) -> Self {
        let is_token = |(lexeme, _): &(Lexeme, _)| !matches!(lexeme, Lexeme::Blank | Lexeme::Comment | Lexeme::Hint);
        let lexemes = Box::new(lexemes_in(sql, dialect).filter(is_token));
        Self { sql, dialect, lexemes, ahead: VecDeque::new(), end: 0, end_chars: 0 }
    }

    /// The lexeme `index` places ahead, with its text.
    pub(crate) fn peek(&mut self, index: usize) -> Option<(Lexeme, &'a str)> {
        let (lexeme, range) = self.ahead_at(index)?;
        Some((lexeme, self.sql.get(range)?))
    }

    /// Whether the word `index` places ahead is this one, in any case.
    pub(crate) fn is_word(&mut self, index: usize, word: &str) -> bool {
        matches!(self.peek(index), Some((Lexeme::Word, text)) if text.eq_ignore_ascii_case(word))
    }

    /// Whether these words follow.
    pub(crate) fn at(&mut self, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(index, word)| self.is_word(index, word))
    }

    /// Takes these words if they follow.
    pub(crate) fn eat(&mut self, words: &[&str]) -> bool {
        let follow = self.at(words);
        if follow {
            words.iter().for_each(|_| self.skip());
        }
        follow
    }

    /// Takes a symbol if it follows.
    pub(crate) fn eat_symbol(&mut self, symbol: &str) -> bool {
        let follows = self.at_symbol(symbol);
        if follows {
            self.skip();
        }
        follows
    }

    /// Whether a symbol follows.
    pub(crate) fn at_symbol(&mut self, symbol: &str) -> bool {
        self.peek(0) == Some((Lexeme::Symbol, symbol))
    }

    /// Takes these words.
    pub(crate) fn expect(&mut self, words: &[&str]) -> Result<(), TokenError> {
        match self.eat(words) {
            true => Ok(()),
            false => Err(self.expected(&words.join(" "))),
        }
    }

    /// Takes a symbol.
    pub(crate) fn expect_symbol(&mut self, symbol: &str) -> Result<(), TokenError> {
        match self.eat_symbol(symbol) {
            true => Ok(()),
            false => Err(self.expected(&format!("\"{symbol}\""))),
        }
    }

    /// Takes the next lexeme.
    pub(crate) fn skip(&mut self) {
        if self.ahead_at(0).is_some()
            && let Some((_, range)) = self.ahead.pop_front()
        {
            self.end_chars = self.end_chars.saturating_add(self.chars_from_end_to(range.end));
            self.end = range.end;
        }
    }

    /// Takes a name: in lower case, unless it stands in quotes. `expected` names it in errors.
    pub(crate) fn name(&mut self, expected: &str) -> Result<TextAt, TokenError> {
        let position = self.position();
        let text = match self.peek(0) {
            Some((Lexeme::Word, word)) => word.to_ascii_lowercase(),
            Some((lexeme @ Lexeme::QuotedName, written)) => self.text_of(lexeme, written)?,
            _ => return Err(self.expected(expected)),
        };
        self.skip();
        Ok(TextAt { text, position: Some(position) })
    }

    /// Takes a name if one follows: without its quotes, otherwise as it was written.
    pub(crate) fn eat_name(&mut self) -> Option<String> {
        let name = match self.peek(0)? {
            (Lexeme::Word, word) => word.to_owned(),
            (lexeme @ Lexeme::QuotedName, written) => self.text_of(lexeme, written).ok()?,
            _ => return None,
        };
        self.skip();
        Some(name)
    }

    /// Takes a string if one follows.
    pub(crate) fn eat_string(&mut self) -> Result<Option<TextAt>, TokenError> {
        let position = self.position();
        let Some((lexeme @ (Lexeme::Text | Lexeme::EscapedText), written)) = self.peek(0) else { return Ok(None) };
        let text = self.text_of(lexeme, written)?;
        self.skip();
        Ok(Some(TextAt { text, position: Some(position) }))
    }

    /// Takes an unsigned number if one follows.
    pub(crate) fn eat_number(&mut self) -> Option<&'a str> {
        let Some((Lexeme::Number, number)) = self.peek(0) else { return None };
        self.skip();
        Some(number)
    }

    /// Whether nothing follows but the `;` at the end.
    pub(crate) fn is_at_end(&mut self) -> bool {
        matches!(self.peek(0), None | Some((Lexeme::Symbol, ";")))
    }

    /// Takes the end of the statement.
    pub(crate) fn finish(&mut self) -> Result<(), TokenError> {
        while self.eat_symbol(";") {}
        match self.peek(0) {
            None => Ok(()),
            Some(_) => Err(self.expected("the end of the statement")),
        }
    }

    /// Takes all up to the end of the statement, as it was written. `expected` names it in errors.
    pub(crate) fn body(&mut self, expected: &str) -> Result<Body, TokenError> {
        if self.is_at_end() {
            return Err(self.expected(expected));
        }
        let offset = self.position().saturating_sub(1);
        let start = self.start();
        while !self.is_at_end() {
            self.skip();
        }
        Ok(Body { sql: self.text_from(start).to_owned(), offset })
    }

    /// The place of the next lexeme, or of the end: in characters from 1.
    pub(crate) fn position(&mut self) -> usize {
        let start = self.start();
        self.end_chars.saturating_add(self.chars_from_end_to(start)).saturating_add(1)
    }

    /// The byte at which the next lexeme begins, or the end of the text.
    pub(crate) fn start(&mut self) -> usize {
        self.ahead_at(0).map_or(self.sql.len(), |(_, range)| range.start)
    }

    /// The text from a byte up to the last lexeme that was taken.
    pub(crate) fn text_from(&self, start: usize) -> &'a str {
        self.sql.get(start..self.end).unwrap_or("")
    }

    /// The bytes of the next lexeme in the text.
    pub(crate) fn range(&mut self) -> Option<Range<usize>> {
        self.ahead_at(0).map(|(_, range)| range)
    }

    /// The whole text.
    pub(crate) fn sql(&self) -> &'a str {
        self.sql
    }

    /// The error of the next lexeme, in whose place something else must stand.
    pub(crate) fn expected(&mut self, expected: &str) -> TokenError {
        let position = self.position();
        let bad = |reason| TokenError::Malformed { reason, position };
        let found = match self.peek(0) {
            None => "the end of the statement".to_owned(),
            Some((Lexeme::Unterminated(_), _)) => return bad("a string, a quoted name or a comment is not closed"),
            Some((Lexeme::BadNumber, _)) => {
                return bad("a number runs into a word; a value with a unit stands in quotes");
            }
            Some((_, text)) => format!("\"{}\"", shortened(text)),
        };
        TokenError::Expected { expected: expected.to_owned(), found, position }
    }

    /// The characters between the last lexeme that was taken and a later byte. So places are counted once along the text.
    fn chars_from_end_to(&self, byte: usize) -> usize {
        let text = self.sql.get(self.end..byte).unwrap_or("");
        #[cfg(test)]
        BYTES_COUNTED.with(|bytes| bytes.set(bytes.get() + text.len()));
        text.chars().count()
    }

    fn text_of(&mut self, lexeme: Lexeme, written: &str) -> Result<String, TokenError> {
        let position = self.position();
        quoted::text_of(lexeme, written, self.dialect).map_err(|reason| TokenError::Malformed { reason, position })
    }

    fn ahead_at(&mut self, index: usize) -> Option<(Lexeme, Range<usize>)> {
        while self.ahead.len() <= index {
            self.ahead.push_back(self.lexemes.next()?);
        }
        self.ahead.get(index).cloned()
    }
}

#[cfg(test)]
thread_local! {
    /// The bytes whose characters this thread has counted: the work of a reader beside the lexemes, which it takes once.
    pub(crate) static BYTES_COUNTED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}
