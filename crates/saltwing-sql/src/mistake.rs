//! Syntax errors in our words, with exact positions.
//!
//! sqlparser's errors are texts: their position is only ` at Line: 1, Column: 8`, often one token late, and after two
//! attempts they describe the second. This module adds a span, the actual text, and advice for common slips.

use std::ops::Range;

use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use crate::cursor::{Cursor, RECURSION_MAX};
use crate::dialect::SaltwingDialect;
use crate::error::SqlError;
use crate::guard;
use crate::words;

impl Cursor<'_> {
    /// `expected {what}, found {next token}`.
    pub(crate) fn expected(&self, what: &str) -> SqlError {
        self.expected_at(what, self.index())
    }

    /// One of these words was expected; a slip of the pen gets advice.
    pub(crate) fn expected_word(&self, words: &[&str]) -> SqlError {
        let what = match words {
            [one] => (*one).to_owned(),
            [most @ .., last] => format!("{} or {last}", most.join(", ")),
            [] => "nothing".to_owned(),
        };
        let error = self.expected(&what);
        match self.word(0).and_then(|found| saltwing_types::suggest(found, words.iter().copied())) {
            Some(meant) => error.with_help(format!("did you mean {meant}?")),
            None => error,
        }
    }

    /// `expected {what}, found {token}` for token number `index`.
    fn expected_at(&self, what: &str, index: usize) -> SqlError {
        let span = self.span_at(index);
        let found = match index < self.token_count() {
            true => format!("\"{}\"", shorten(self.text(index, index + 1))),
            false => "the end of the statement".to_owned(),
        };
        let error = SqlError::syntax(format!("expected {what}, found {found}"), span);
        match self.advice(what, index) {
            Some(help) => error.with_help(help),
            None => error,
        }
    }

    /// The likely intention of the writer at token number `index`.
    fn advice(&self, what: &str, index: usize) -> Option<String> {
        let word = |index: usize| match &self.token(index).token {
            Token::Word(word) if word.quote_style.is_none() => Some(word),
            _ => None,
        };
        if let Some(advice) = self.advice_of_others(index) {
            return Some(advice.to_owned());
        }
        let found = word(index);
        let is_by = |index: usize| word(index).is_some_and(|word| word.keyword == Keyword::BY);
        if let Some(found) = found
            && matches!(found.keyword, Keyword::ORDER | Keyword::GROUP)
            && !is_by(index + 1)
        {
            return Some(format!("write {} BY", found.value.to_uppercase()));
        }
        if let Some(found) = found
            && words::is_reserved(found.keyword)
            && (what.contains("name") || what.contains("identifier") || what.contains("expression"))
        {
            let upper = found.value.to_uppercase();
            return Some(format!("{upper} is a reserved word; to use it as a name, quote it: \"{}\"", found.value));
        }
        if let Token::TripleSingleQuotedString(text) = &self.token(index).token
            && (what.contains("name") || what.contains("identifier"))
        {
            return Some(format!("names are quoted with double quotes: {}", crate::quote_name(text)));
        }
        // `SELECT a FORM t`: the slip was taken for a name, so the error comes one token late.
        for candidate in [Some(index), index.checked_sub(1)].into_iter().flatten() {
            if let Some(word) = word(candidate)
                && word.keyword == Keyword::NoKeyword
                && let Some(meant) = saltwing_types::suggest(&word.value, CLAUSES)
                && !word.value.eq_ignore_ascii_case(meant)
            {
                return Some(format!("did you mean {meant} instead of \"{}\"?", word.value));
            }
        }
        let starts_operand = |token: &Token| match token {
            Token::Word(word) => !words::is_reserved(word.keyword),
            Token::Number(..) | Token::TripleSingleQuotedString(_) | Token::HexStringLiteral(_) => true,
            Token::Placeholder(_) => true,
            _ => false,
        };
        let previous = index.checked_sub(1).map(|previous| &self.token(previous).token);
        let wants_separator = what.ends_with("the end of the statement") || what.contains("\",\"") || what == "\")\"";
        let after_operand =
            wants_separator && previous.is_some_and(|token| starts_operand(token) || *token == Token::RParen);
        if after_operand && index < self.token_count() && starts_operand(&self.token(index).token) {
            return Some("a comma or an operator may be missing before it".to_owned());
        }
        None
    }

    /// What to write for a form of other databases that token number `index` does not go on with.
    fn advice_of_others(&self, index: usize) -> Option<&'static str> {
        let token = &self.token(index).token;
        let previous = index.checked_sub(1).map(|previous| &self.token(previous).token);
        let is_word = |token: Option<&Token>, words: &[&str]| {
            matches!(token, Some(Token::Word(word)) if word.quote_style.is_none()
                && words.iter().any(|known| word.value.eq_ignore_ascii_case(known)))
        };
        Some(match token {
            Token::Colon => "there are no structs and maps: JSON_OBJECT('a', 1) makes JSON of values",
            Token::Placeholder(mark) if mark == "?" && previous.is_some_and(|token| !matches!(token, Token::Comma)) => {
                "? is a parameter; JSON_EXISTS(json, '$.a') tells whether there is a member"
            }
            Token::Word(_) if is_word(Some(token), &["COLUMNS"]) => {
                "json_array_elements(json) in FROM has the elements of an array, JSON_VALUE(value, '$.a') a part of one"
            }
            Token::TripleSingleQuotedString(_) if is_word(previous, &["TIMESTAMPTZ", "TIMETZ"]) => {
                "an instant has no zone of its own: TIMESTAMP '2024-01-01 00:00:00+02' is read as that instant in UTC"
            }
            _ => return None,
        })
    }

    /// Ours from sqlparser's error about what starts at token number `start`.
    ///
    /// In FROM and after IN, sqlparser tries a query in brackets as something
    /// else when it cannot read it, and then complains about that. So the queries
    /// in brackets are read once more, the innermost first, for the mistake itself.
    pub(crate) fn convert_deepest(&self, error: ParserError, start: usize) -> SqlError {
        if matches!(error, ParserError::RecursionLimitExceeded) {
            return self.convert(error, self.token_count());
        }
        let mut queries = self.queries_in_brackets(start);
        queries.sort_by_key(|(depth, _)| std::cmp::Reverse(*depth));
        for (_, inside) in queries {
            let tokens: Vec<_> = inside.clone().map(|index| self.token(index).clone()).collect();
            let dialect = SaltwingDialect::new(tokens.len());
            let mut parser =
                Parser::new(&dialect).with_recursion_limit(RECURSION_MAX).with_tokens_with_locations(tokens);
            let result = parser.parse_query();
            let read = inside.start + parser.index();
            match result {
                Err(error) => return self.convert(error, inside.end),
                // Something left, or nothing that closes the bracket.
                Ok(_) if read < inside.end || inside.end == self.token_count() => {
                    return self.expected_at("\")\"", read);
                }
                Ok(_) => {}
            }
        }
        self.convert(error, self.token_count())
    }

    /// The tokens inside each bracket from `start` on that opens a query, and how deep it is.
    fn queries_in_brackets(&self, start: usize) -> Vec<(usize, Range<usize>)> {
        let (mut open, mut queries) = (Vec::new(), Vec::new());
        let is_query = |index: usize| {
            matches!(&self.token(index).token, Token::Word(word)
                if matches!(word.keyword, Keyword::SELECT | Keyword::WITH | Keyword::VALUES))
        };
        for index in start..self.token_count() {
            match self.token(index).token {
                Token::LParen => open.push(index + 1),
                Token::RParen => {
                    if let Some(first) = open.pop()
                        && is_query(first)
                    {
                        queries.push((open.len(), first..index));
                    }
                }
                _ => {}
            }
        }
        // A bracket that nothing closes.
        let unclosed = open.iter().enumerate().filter(|(_, first)| is_query(**first));
        queries.extend(unclosed.map(|(depth, first)| (depth, *first..self.token_count())));
        queries
    }

    /// Ours from sqlparser's error, which is a text with a place at its end; `end`
    /// is the token that it takes for the end of the text.
    pub(crate) fn convert(&self, error: ParserError, end: usize) -> SqlError {
        let message = match error {
            ParserError::RecursionLimitExceeded => {
                let span = self.here();
                return SqlError::too_deep("expressions inside each other", guard::NESTING_MAX, span);
            }
            ParserError::ParserError(message) | ParserError::TokenizerError(message) => message,
        };
        let (message, place) = split_place(&message);
        let index = match place {
            Some(start) => (0..self.token_count())
                .find(|index| {
                    let at = self.token(*index).span.start;
                    (at.line, at.column) == start
                })
                .unwrap_or(end),
            None if message.ends_with("found: EOF") => end,
            None => self.index().saturating_sub(1),
        };
        match message.strip_prefix("Expected: ").and_then(|rest| rest.split_once(", found: ")) {
            Some((what, _)) => self.expected_at(&plain(what), index),
            None => SqlError::syntax(lower_first(message), self.span_at(index)),
        }
    }
}

/// Words with which a piece of a statement starts, for slips of the pen.
const CLAUSES: [&str; 22] = [
    "FROM",
    "WHERE",
    "GROUP",
    "ORDER",
    "HAVING",
    "LIMIT",
    "OFFSET",
    "JOIN",
    "INNER",
    "LEFT",
    "RIGHT",
    "UNION",
    "VALUES",
    "SELECT",
    "BETWEEN",
    "LIKE",
    "DISTINCT",
    "PRIMARY",
    "CONSTRAINT",
    "DEFAULT",
    "INTO",
    "USING",
];

/// sqlparser's name for the expected token, in our words.
fn plain(what: &str) -> String {
    match what {
        "identifier" => "a name".to_owned(),
        "an expression" | "an expression:" => "an expression".to_owned(),
        "SELECT, VALUES, or a subquery in the query body" => "a query".to_owned(),
        "a concrete value" | "a value" | "A value?" => "a value".to_owned(),
        symbol if !symbol.is_empty() && symbol.chars().all(|c| c.is_ascii_punctuation()) => format!("\"{symbol}\""),
        "an identifier after AS" => "a name after AS".to_owned(),
        other => lower_first(other),
    }
}

/// Cuts ` at Line: 1, Column: 8` off; line 0 is the end of the statement.
fn split_place(message: &str) -> (&str, Option<(u64, u64)>) {
    let Some((text, place)) = message.rsplit_once(" at Line: ") else { return (message, None) };
    let numbers = place
        .split_once(", Column: ")
        .and_then(|(line, column)| Some((line.parse::<u64>().ok()?, column.parse::<u64>().ok()?)));
    match numbers {
        Some(start) => (text, Some(start)),
        None => (message, None),
    }
}

fn lower_first(message: &str) -> String {
    let mut chars = message.chars();
    let second_is_upper = message.chars().nth(1).is_some_and(char::is_uppercase);
    match chars.next() {
        Some(first) if !second_is_upper => first.to_lowercase().chain(chars).collect(),
        _ => message.to_owned(),
    }
}

/// At most 40 characters of a token, for messages.
fn shorten(text: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 40;
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or("")),
    }
}
