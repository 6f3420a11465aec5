//! One statement's tokens, and the place where reading them stands.
//!
//! Our own clauses are read token by token; queries and expressions are handed
//! to sqlparser's parser, which stands on the same tokens and goes on from the
//! same place. Words are compared as text, because many of ours (UPSERT,
//! SALT_BUCKETS) are no keywords of sqlparser's.

use std::ops::Range;

use saltwing_types::Span;
use sqlparser::ast::{Expr, Query};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use crate::dialect::SaltwingDialect;
use crate::error::SqlError;
use crate::guard;
use crate::name::{ColumnName, Name, TableRef};
use crate::place;
use crate::words;

/// sqlparser's own limit on recursion. The [guard] is tighter; this is the net under it.
const RECURSION_MAX: usize = 256;

/// Reads one statement.
pub(crate) struct Cursor<'a> {
    sql: &'a str,
    ranges: &'a [Range<usize>],
    dialect: &'a SaltwingDialect,
    parser: Parser<'a>,
    /// Just behind the last token.
    end: Span,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(
        sql: &'a str,
        tokens: Vec<TokenWithSpan>,
        ranges: &'a [Range<usize>],
        dialect: &'a SaltwingDialect,
    ) -> Self {
        let end = tokens.last().and_then(|token| place::span_of(token.span)).map_or_else(place::origin, |last| {
            let mut at = last.end;
            at.column += 1;
            Span { start: at, end: at }
        });
        let parser = Parser::new(dialect).with_recursion_limit(RECURSION_MAX).with_tokens_with_locations(tokens);
        Self { sql, ranges, dialect, parser, end }
    }

    // ---- looking ----

    /// Index of the next token.
    pub(crate) fn index(&self) -> usize {
        self.parser.index().min(self.ranges.len())
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.index() >= self.ranges.len()
    }

    /// The `n`th next token; `EOF` behind the last.
    pub(crate) fn peek(&self, n: usize) -> &Token {
        &self.token(self.index() + n).token
    }

    /// Token number `index`.
    pub(crate) fn token(&self, index: usize) -> &TokenWithSpan {
        self.parser.token_at(index)
    }

    pub(crate) fn token_count(&self) -> usize {
        self.ranges.len()
    }

    /// The place of token number `index`; the end of the statement beyond the last.
    pub(crate) fn span_at(&self, index: usize) -> Span {
        match index < self.ranges.len() {
            true => place::span_of(self.token(index).span).unwrap_or(self.end),
            false => self.end,
        }
    }

    /// The place of the next token.
    pub(crate) fn here(&self) -> Span {
        self.span_at(self.index())
    }

    /// From token number `start` to the last one read.
    pub(crate) fn span_from(&self, start: usize) -> Span {
        match self.index().checked_sub(1) {
            Some(last) if last >= start => self.span_at(start).union(self.span_at(last)),
            _ => self.span_at(start),
        }
    }

    /// The text from token number `start` up to, not including, `end`.
    pub(crate) fn text(&self, start: usize, end: usize) -> &'a str {
        let first = self.ranges.get(start).map(|range| range.start);
        let last = end.checked_sub(1).and_then(|last| self.ranges.get(last)).map(|range| range.end);
        match (first, last) {
            (Some(first), Some(last)) => self.sql.get(first..last).unwrap_or(""),
            _ => "",
        }
    }

    /// The text from token number `start` to the last one read.
    pub(crate) fn text_from(&self, start: usize) -> &'a str {
        self.text(start, self.index())
    }

    /// The unquoted word at the `n`th next token.
    pub(crate) fn word(&self, n: usize) -> Option<&str> {
        match self.peek(n) {
            Token::Word(Word { value, quote_style: None, .. }) => Some(value),
            _ => None,
        }
    }

    /// Whether the next tokens are these words.
    pub(crate) fn at(&self, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(n, word)| self.word_is(n, word))
    }

    /// Whether the `n`th next token is this word.
    pub(crate) fn word_is(&self, n: usize, word: &str) -> bool {
        self.word(n).is_some_and(|found| found.eq_ignore_ascii_case(word))
    }

    // ---- reading ----

    /// Takes the next token, whatever it is.
    pub(crate) fn skip(&mut self) {
        if !self.is_at_end() {
            self.parser.advance_token();
        }
    }

    /// Takes all that is left.
    pub(crate) fn skip_to_end(&mut self) {
        while !self.is_at_end() {
            self.parser.advance_token();
        }
    }

    /// Takes these words if they come next.
    pub(crate) fn eat(&mut self, words: &[&str]) -> bool {
        let found = self.at(words);
        if found {
            words.iter().for_each(|_| self.parser.advance_token());
        }
        found
    }

    /// Takes these words.
    pub(crate) fn expect(&mut self, words: &[&str]) -> Result<(), SqlError> {
        for word in words {
            if !self.eat(&[word]) {
                return Err(self.expected_word(&[word]));
            }
        }
        Ok(())
    }

    /// Takes this token if it comes next.
    pub(crate) fn eat_symbol(&mut self, symbol: &Token) -> bool {
        self.parser.consume_token(symbol)
    }

    /// Takes this token.
    pub(crate) fn expect_symbol(&mut self, symbol: &Token) -> Result<(), SqlError> {
        match self.eat_symbol(symbol) {
            true => Ok(()),
            false => Err(self.expected(&format!("\"{symbol}\""))),
        }
    }

    /// Takes a name; `what` says of what, for the message.
    pub(crate) fn name(&mut self, what: &str) -> Result<Name, SqlError> {
        let span = self.here();
        let (text, quoted) = match self.peek(0) {
            Token::Word(Word { quote_style: None, keyword, value }) if words::is_reserved(*keyword) => {
                return Err(reserved(value, what, span));
            }
            Token::Word(Word { value, quote_style, .. }) => (value.clone(), quote_style.is_some()),
            _ => return Err(self.expected(what)),
        };
        self.skip();
        Ok(Name { text, quoted, span })
    }

    /// Takes `t` or `schema.t`.
    pub(crate) fn table(&mut self) -> Result<TableRef, SqlError> {
        let first = self.name("a table name")?;
        if !self.eat_symbol(&Token::Period) {
            return Ok(TableRef { schema: None, name: first });
        }
        let name = self.name_part("a table name")?;
        if *self.peek(0) == Token::Period {
            return Err(SqlError::syntax("a table name has at most two parts: schema and table", self.here()));
        }
        Ok(TableRef { schema: Some(first), name })
    }

    /// Takes `c` or `family.c`.
    pub(crate) fn column(&mut self) -> Result<ColumnName, SqlError> {
        let first = self.name("a column name")?;
        if !self.eat_symbol(&Token::Period) {
            return Ok(ColumnName { family: None, name: first });
        }
        let name = self.name_part("a column name")?;
        if *self.peek(0) == Token::Period {
            return Err(SqlError::syntax("a column name has at most two parts here: family and column", self.here()));
        }
        Ok(ColumnName { family: Some(first), name })
    }

    /// Takes a word behind a dot, where reserved ones are names too.
    fn name_part(&mut self, what: &str) -> Result<Name, SqlError> {
        let span = self.here();
        match self.peek(0) {
            Token::Word(Word { value, quote_style, .. }) => {
                let name = Name { text: value.clone(), quoted: quote_style.is_some(), span };
                self.skip();
                Ok(name)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// Takes `(item, ..)` with at least one item.
    pub(crate) fn in_brackets<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, SqlError>,
    ) -> Result<Vec<T>, SqlError> {
        self.expect_symbol(&Token::LParen)?;
        let items = self.list(&mut item)?;
        if !self.eat_symbol(&Token::RParen) {
            return Err(self.expected("\",\" or \")\""));
        }
        Ok(items)
    }

    /// Takes `item, ..` with at least one item.
    pub(crate) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, SqlError>,
    ) -> Result<Vec<T>, SqlError> {
        let mut items = vec![item(self)?];
        while self.eat_symbol(&Token::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Takes a string.
    pub(crate) fn string(&mut self, what: &str) -> Result<String, SqlError> {
        match self.peek(0) {
            Token::TripleSingleQuotedString(text) => {
                let text = text.clone();
                self.skip();
                Ok(text)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// Takes an expression.
    pub(crate) fn expr(&mut self) -> Result<Expr, SqlError> {
        let start = self.index();
        let result = self.parser.parse_expr();
        result.map_err(|error| self.convert_deepest(error, start))
    }

    /// Takes a column's DEFAULT, which ends before NOT NULL.
    pub(crate) fn default_expr(&mut self) -> Result<Expr, SqlError> {
        self.dialect.set_in_default(true);
        let result = self.parser.parse_expr();
        self.dialect.set_in_default(false);
        result.map_err(|error| self.convert(error, self.ranges.len()))
    }

    /// Takes a query.
    pub(crate) fn query(&mut self) -> Result<Box<Query>, SqlError> {
        let start = self.index();
        let result = self.parser.parse_query();
        result.map_err(|error| self.convert_deepest(error, start))
    }

    // ---- complaining ----

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
        match self.word(0).and_then(|found| words::suggest(found, words.iter().copied())) {
            Some(meant) => error.with_help(format!("did you mean {meant}?")),
            None => error,
        }
    }

    /// `expected {what}, found {token}` for token number `index`.
    fn expected_at(&self, what: &str, index: usize) -> SqlError {
        let span = self.span_at(index);
        let found = match index < self.ranges.len() {
            true => format!("\"{}\"", shorten(self.text(index, index + 1))),
            false => "the end of the statement".to_owned(),
        };
        let error = SqlError::syntax(format!("expected {what}, found {found}"), span);
        match self.advice(what, index) {
            Some(help) => error.with_help(help),
            None => error,
        }
    }

    /// What the writer may have meant at token number `index`.
    fn advice(&self, what: &str, index: usize) -> Option<String> {
        let word = |index: usize| match &self.token(index).token {
            Token::Word(word) if word.quote_style.is_none() => Some(word),
            _ => None,
        };
        let found = word(index);
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
                && let Some(meant) = words::suggest(&word.value, CLAUSES)
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
        if after_operand && index < self.ranges.len() && starts_operand(&self.token(index).token) {
            return Some("a comma or an operator may be missing before it".to_owned());
        }
        None
    }

    /// Ours from sqlparser's error about what starts at token number `start`.
    ///
    /// In FROM and behind IN, sqlparser tries a query in brackets as something
    /// else when it cannot read it, and then complains about that. So the queries
    /// in brackets are read once more, the innermost first, for the mistake itself.
    fn convert_deepest(&self, error: ParserError, start: usize) -> SqlError {
        if matches!(error, ParserError::RecursionLimitExceeded) {
            return self.convert(error, self.ranges.len());
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
                Ok(_) if read < inside.end || inside.end == self.ranges.len() => {
                    return self.expected_at("\")\"", read);
                }
                Ok(_) => {}
            }
        }
        self.convert(error, self.ranges.len())
    }

    /// The tokens inside each bracket from `start` on that opens a query, and how deep it is.
    fn queries_in_brackets(&self, start: usize) -> Vec<(usize, Range<usize>)> {
        let (mut open, mut queries) = (Vec::new(), Vec::new());
        let is_query = |index: usize| {
            matches!(&self.token(index).token, Token::Word(word)
                if matches!(word.keyword, Keyword::SELECT | Keyword::WITH | Keyword::VALUES))
        };
        for index in start..self.ranges.len() {
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
        queries.extend(unclosed.map(|(depth, first)| (depth, *first..self.ranges.len())));
        queries
    }

    /// Ours from sqlparser's error, which is a text with a place at its end; `end`
    /// is the token that it takes for the end of the text.
    fn convert(&self, error: ParserError, end: usize) -> SqlError {
        let message = match error {
            ParserError::RecursionLimitExceeded => {
                let span = self.here();
                return SqlError::TooDeep { what: "expressions inside each other", limit: guard::NESTING_MAX, span };
            }
            ParserError::ParserError(message) | ParserError::TokenizerError(message) => message,
        };
        let (message, place) = split_place(&message);
        let index = match place {
            Some(start) => (0..self.ranges.len())
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

/// sqlparser's word for what it wanted, in our words.
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

pub(crate) fn reserved(word: &str, what: &str, span: Span) -> SqlError {
    let upper = word.to_uppercase();
    SqlError::syntax(format!("expected {what}, found the reserved word {upper}"), span)
        .with_help(format!("to use it as a name, quote it: \"{word}\""))
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
