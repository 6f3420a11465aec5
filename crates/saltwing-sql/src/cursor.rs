//! One statement's tokens, and the place where reading them stands.
//!
//! Our own clauses are read token by token; queries and expressions are handed
//! to sqlparser's parser, which stands on the same tokens and goes on from the
//! same place. What goes wrong is put into words in `mistake`.
//! Words are compared as text, because many of ours (UPSERT,
//! SALT_BUCKETS) are no keywords of sqlparser's.

use std::ops::{ControlFlow, Range};

use saltwing_types::Span;
use sqlparser::ast::{
    Cte, Expr, OrderBy, Query, SelectItem, TableWithJoins, Value, Visit, VisitMut, visit_relations_mut,
};
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use crate::dialect::SaltwingDialect;
use crate::error::SqlError;
use crate::name::{ColumnName, Name, TableRef, join_database, schema_of};
use crate::phoenix::{self, Dialect};
use crate::place;
use crate::print::tree_text;
use crate::words;

/// sqlparser's own limit on recursion. The [guard](crate::guard) is tighter; this is the net under it.
pub(crate) const RECURSION_MAX: usize = 256;

/// Reads one statement.
pub(crate) struct Cursor<'a> {
    sql: &'a str,
    ranges: &'a [Range<usize>],
    dialect: &'a SaltwingDialect,
    /// The language of the text.
    language: Dialect,
    pub(crate) parser: Parser<'a>,
    /// Just after the last token.
    end: Span,
    /// Whether there may be names of three parts.
    has_long_names: bool,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(
        sql: &'a str,
        tokens: Vec<TokenWithSpan>,
        ranges: &'a [Range<usize>],
        (dialect, language): (&'a SaltwingDialect, Dialect),
    ) -> Self {
        let end = tokens.last().and_then(|token| place::span_of(token.span)).map_or_else(place::origin, |last| {
            let mut at = last.end;
            at.column += 1;
            Span { start: at, end: at }
        });
        let is_period = |token: Option<&TokenWithSpan>| token.is_some_and(|token| token.token == Token::Period);
        let has_long_names = tokens.windows(4).any(|four| is_period(four.get(1)) && is_period(four.get(3)));
        let parser = Parser::new(dialect).with_recursion_limit(RECURSION_MAX).with_tokens_with_locations(tokens);
        Self { sql, ranges, dialect, language, parser, end, has_long_names }
    }

    // ---- looking ----

    /// The language of the text.
    pub(crate) fn language(&self) -> Dialect {
        self.language
    }

    /// Index of the next token.
    pub(crate) fn index(&self) -> usize {
        self.parser.index().min(self.ranges.len())
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.index() >= self.ranges.len()
    }

    /// The `n`th next token; `EOF` after the last.
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

    /// The text of a definition that is kept, from token number `start` to the last one read: as it was written, or of the
    /// tree that was read in another language than ours.
    pub(crate) fn kept_text<T: Visit + VisitMut + Clone + std::fmt::Display>(&self, start: usize, tree: &T) -> String {
        match self.language {
            Dialect::Saltwing => self.text_from(start).to_owned(),
            Dialect::Phoenix => tree_text(tree),
        }
    }

    /// A tree in our own language.
    fn in_ours<T: VisitMut>(&self, mut tree: T) -> T {
        if self.language == Dialect::Phoenix {
            phoenix::translate(&mut tree);
        }
        if self.has_long_names {
            let _ = visit_relations_mut(&mut tree, |name| {
                join_database(name);
                ControlFlow::<()>::Continue(())
            });
        }
        tree
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

    /// Takes the next token.
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
                if self.text(self.index(), self.index() + 1).eq_ignore_ascii_case(value) {
                    return Err(SqlError::reserved(value, what, span));
                }
                // The words of AS OF TIMESTAMP are others in the tree.
                let text = "AS OF TIMESTAMP stands behind a table in FROM, and nowhere else";
                return Err(SqlError::syntax(text, span).with_help("a statement writes the table as it is now"));
            }
            Token::Word(Word { value, quote_style, .. }) => (value.clone(), quote_style.is_some()),
            _ => return Err(self.expected(what)),
        };
        self.skip();
        Ok(Name { text, quoted, span })
    }

    /// Takes `t` or `schema.t`.
    pub(crate) fn table(&mut self) -> Result<TableRef, SqlError> {
        let too_many = "a table name has at most two parts: schema and table";
        self.qualified("a table name", too_many).map(|(schema, name)| TableRef { schema, name })
    }

    /// Takes the name of a table that is there: `t`, `schema.t`, or `database.schema.t` of an attached database.
    pub(crate) fn existing_table(&mut self) -> Result<TableRef, SqlError> {
        let mut parts = vec![self.name("a table name")?];
        while self.eat_symbol(&Token::Period) {
            parts.push(self.name_part("a table name")?);
        }
        self.table_of(parts)
    }

    /// A table of these parts of a name.
    pub(crate) fn table_of(&self, mut parts: Vec<Name>) -> Result<TableRef, SqlError> {
        let name = parts.pop().ok_or_else(|| self.expected("a table name"))?;
        let schema = match (parts.pop(), parts.pop(), parts.first()) {
            (schema, None, _) => schema,
            (Some(schema), Some(database), None) => Some(schema_of(&database, &schema)),
            (.., Some(first)) => {
                let text = "a table name has at most three parts: attached database, schema and table";
                return Err(SqlError::syntax(text, first.span));
            }
            (None, Some(database), None) => Some(database),
        };
        Ok(TableRef { schema, name })
    }

    /// Takes `c` or `family.c`.
    pub(crate) fn column(&mut self) -> Result<ColumnName, SqlError> {
        let too_many = "a column name has at most two parts here: family and column";
        self.qualified("a column name", too_many).map(|(family, name)| ColumnName { family, name })
    }

    /// Takes a name with another one before it, or none.
    fn qualified(&mut self, what: &str, too_many: &str) -> Result<(Option<Name>, Name), SqlError> {
        let first = self.name(what)?;
        if !self.eat_symbol(&Token::Period) {
            return Ok((None, first));
        }
        let name = self.name_part(what)?;
        if *self.peek(0) == Token::Period {
            return Err(SqlError::syntax(too_many, self.here()));
        }
        Ok((Some(first), name))
    }

    /// Takes a word after a dot, where reserved ones are names too.
    pub(crate) fn name_part(&mut self, what: &str) -> Result<Name, SqlError> {
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

    /// Takes a literal or a placeholder, if it comes next and stands alone before `,` or `)`.
    pub(crate) fn literal(&mut self) -> Option<Expr> {
        if !matches!(self.peek(1), Token::Comma | Token::RParen) {
            return None;
        }
        let TokenWithSpan { token, span } = self.token(self.index());
        let value = match token {
            Token::Number(digits, _) => Value::Number(digits.clone(), false),
            Token::TripleSingleQuotedString(text) => Value::SingleQuotedString(text.clone()),
            Token::HexStringLiteral(digits) => Value::HexStringLiteral(digits.clone()),
            Token::Placeholder(text) => Value::Placeholder(text.clone()),
            Token::Word(Word { keyword: Keyword::NULL, .. }) => Value::Null,
            Token::Word(Word { keyword: Keyword::TRUE, .. }) => Value::Boolean(true),
            Token::Word(Word { keyword: Keyword::FALSE, .. }) => Value::Boolean(false),
            _ => return None,
        };
        let value = value.with_span(*span);
        self.skip();
        Some(self.in_ours(Expr::Value(value)))
    }

    /// Takes an expression.
    pub(crate) fn expr(&mut self) -> Result<Expr, SqlError> {
        let expr = self.key_expr()?;
        Ok(self.in_ours(expr))
    }

    /// Takes an expression of a key, which all dialects read alike.
    pub(crate) fn key_expr(&mut self) -> Result<Expr, SqlError> {
        let start = self.index();
        let result = self.parser.parse_expr();
        result.map_err(|error| self.convert_deepest(error, start))
    }

    /// The place of a [value of a sequence](crate::sequence_call) that was read since the last call.
    ///
    /// Each part of the grammar in which one may stand calls this. A value that none takes is refused at the end of the statement.
    pub(crate) fn take_sequence(&self) -> Option<Span> {
        self.dialect.take_sequence().map(|span| place::span_of(span).unwrap_or_else(place::origin))
    }

    /// Takes a column's DEFAULT, which ends before NOT NULL.
    pub(crate) fn default_expr(&mut self) -> Result<Expr, SqlError> {
        self.dialect.set_in_default(true);
        let result = self.parser.parse_expr();
        self.dialect.set_in_default(false);
        // A DEFAULT may take values of sequences.
        self.take_sequence();
        result.map(|expr| self.in_ours(expr)).map_err(|error| self.convert(error, self.token_count()))
    }

    /// Takes a query.
    pub(crate) fn query(&mut self) -> Result<Box<Query>, SqlError> {
        let start = self.index();
        let result = self.parser.parse_query();
        result.map(|tree| self.in_ours(tree)).map_err(|error| self.convert_deepest(error, start))
    }

    /// Takes `name [(columns)] AS (query)`, one of the queries of a WITH.
    pub(crate) fn named_query(&mut self) -> Result<Cte, SqlError> {
        let start = self.index();
        let result = self.parser.parse_cte();
        result.map(|tree| self.in_ours(tree)).map_err(|error| self.convert_deepest(error, start))
    }

    /// Takes an item of a SELECT's list.
    pub(crate) fn select_item(&mut self) -> Result<SelectItem, SqlError> {
        let start = self.index();
        let result = self.parser.parse_select_item();
        result.map(|tree| self.in_ours(tree)).map_err(|error| self.convert_deepest(error, start))
    }

    /// Takes one item of a FROM: a table, or tables that are joined.
    pub(crate) fn table_and_joins(&mut self) -> Result<TableWithJoins, SqlError> {
        let start = self.index();
        let result = self.parser.parse_table_and_joins();
        result.map(|tree| self.in_ours(tree)).map_err(|error| self.convert_deepest(error, start))
    }

    /// Takes an ORDER BY if it comes next.
    pub(crate) fn order_by(&mut self) -> Result<Option<OrderBy>, SqlError> {
        let start = self.index();
        let result = self.parser.parse_optional_order_by();
        result.map(|tree| self.in_ours(tree)).map_err(|error| self.convert_deepest(error, start))
    }
}
