//! The dialect as sqlparser sees it: the grammar of queries and expressions.
//!
//! Three hooks do the work; crate-wide reasons stand in the [lexer](crate::lexer).
//!
//! * **prefix**: names, literals and typed strings (`DATE '..'`) are read here,
//!   which is faster than sqlparser's trial of a type at every operand, and a
//!   reserved word where an operand should stand is refused.
//! * **infix**: chains of AND and of OR are gathered into balanced trees, so that
//!   a hundred thousand terms are seventeen levels. `::` is read here for arrays of
//!   a type, as CAST is. `IS DISTINCT FROM` and LIKE are read here because sqlparser lets the first swallow the ANDs after it,
//!   and does not take our strings after ESCAPE.
//! * **precedence**: `NOT NULL` after a DEFAULT belongs to the column.
//!
//! sqlparser backtracks, in places once a level; a budget of steps turns a
//! statement that would take for ever into an error.

use std::cell::Cell;
use std::ops::ControlFlow;

use sqlparser::ast::{
    ArrayElemTypeDef, BinaryOperator, CastKind, DataType, Expr, Ident, ObjectName, ObjectNamePart, TimezoneInfo,
    TypedString, UnaryOperator, Value, visit_expressions,
};
use sqlparser::dialect::{Dialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Span, Token, Word};

use crate::call::{function_call, local_time};
use crate::dynamic_column::LIST_QUOTE;
use crate::{sequence_value, words};

/// Operands that may be read for each token before a statement counts as too deep.
const STEPS_PER_TOKEN: usize = 32;

/// Steps that any statement may take.
const STEPS_FREE: usize = 10_000;

/// That of `#`, `&&`, `@>` and `<@`, the one of `|`: above comparisons. sqlparser has some of them below.
const OTHER: Precedence = Precedence::Pipe;

/// Operands that all BETWEEN SYMMETRIC of a statement may write twice: one inside another doubles them.
const COPIES: usize = 100_000;

/// Our dialect, created for each statement.
#[derive(Debug)]
pub(crate) struct SaltwingDialect {
    steps_left: Cell<usize>,
    copies_left: Cell<usize>,
    in_default: Cell<bool>,
    /// Where a value of a sequence was read.
    sequence: Cell<Option<Span>>,
}

impl SaltwingDialect {
    /// For a statement of `token_count` tokens.
    pub(crate) fn new(token_count: usize) -> Self {
        let steps = STEPS_FREE.saturating_add(token_count.saturating_mul(STEPS_PER_TOKEN));
        Self {
            steps_left: Cell::new(steps),
            copies_left: Cell::new(COPIES),
            in_default: Cell::new(false),
            sequence: Cell::new(None),
        }
    }

    /// Whether `NOT NULL` ends the expression (a column's DEFAULT) instead of going on with it.
    pub(crate) fn set_in_default(&self, yes: bool) {
        self.in_default.set(yes);
    }

    /// The place of a value of a sequence that was read since the last call.
    pub(crate) fn take_sequence(&self) -> Option<Span> {
        self.sequence.take()
    }

    fn step(&self) -> Result<(), ParserError> {
        spend(&self.steps_left, 1)
    }

    /// Counts the expressions of a tree that will stand in the statement twice.
    fn copy(&self, tree: &Expr) -> Result<(), ParserError> {
        let visited = visit_expressions(tree, |_| match spend(&self.copies_left, 1) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        });
        match visited {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(error) => Err(error),
        }
    }
}

impl Dialect for SaltwingDialect {
    /// [`as_of`](crate::as_of) makes the words of the clause.
    fn supports_table_versioning(&self) -> bool {
        true
    }

    /// The [list of dynamic columns](crate::dynamic_column) after a table.
    fn is_identifier_generating_function_name(&self, ident: &Ident, _parts: &[ObjectNamePart]) -> bool {
        ident.quote_style == Some(LIST_QUOTE)
    }

    fn is_identifier_start(&self, c: char) -> bool {
        crate::scanner::is_name_start(c)
    }

    fn is_identifier_part(&self, c: char) -> bool {
        crate::scanner::is_name_part(c)
    }

    fn is_delimited_identifier_start(&self, c: char) -> bool {
        c == '"'
    }

    fn identifier_quote_style(&self, _name: &str) -> Option<char> {
        Some('"')
    }

    fn supports_array_typedef_with_brackets(&self) -> bool {
        true
    }

    fn supports_filter_during_aggregation(&self) -> bool {
        true
    }

    fn supports_group_by_expr(&self) -> bool {
        true
    }

    fn supports_window_function_null_treatment_arg(&self) -> bool {
        true
    }

    fn supports_window_clause_named_window_reference(&self) -> bool {
        true
    }

    fn supports_select_wildcard_except(&self) -> bool {
        true
    }

    fn supports_select_wildcard_exclude(&self) -> bool {
        true
    }

    fn supports_select_wildcard_replace(&self) -> bool {
        true
    }

    fn supports_order_by_all(&self) -> bool {
        true
    }

    fn supports_bitwise_shift_operators(&self) -> bool {
        true
    }

    fn supports_values_as_table_factor(&self) -> bool {
        true
    }

    fn supports_parens_around_table_factor(&self) -> bool {
        true
    }

    fn is_reserved_for_identifier(&self, keyword: Keyword) -> bool {
        // A special form that fails is not tried again as a call: two trials a
        // level would be 2^64 for a mistake at the bottom of 64 levels.
        keyword != Keyword::NoKeyword
    }

    fn is_select_item_alias(&self, explicit: bool, keyword: &Keyword, _parser: &mut Parser) -> bool {
        !words::is_reserved(*keyword) && (explicit || *keyword != Keyword::QUALIFY)
    }

    fn is_column_alias(&self, keyword: &Keyword, _parser: &mut Parser) -> bool {
        !words::is_reserved(*keyword)
    }

    fn is_table_factor_alias(&self, explicit: bool, keyword: &Keyword, _parser: &mut Parser) -> bool {
        // These two are keywords before JOIN alone.
        let is_join = !explicit && matches!(keyword, Keyword::SEMI | Keyword::ANTI);
        !is_join && !words::is_reserved(*keyword) && (explicit || *keyword != Keyword::QUALIFY)
    }

    fn is_table_alias(&self, keyword: &Keyword, _parser: &mut Parser) -> bool {
        !words::is_reserved(*keyword)
    }

    fn parse_prefix(&self, parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
        if let Err(error) = self.step() {
            return Some(Err(error));
        }
        match &parser.peek_token_ref().token {
            Token::Word(word) => {
                let read = word_prefix(parser, word.keyword);
                if let Some(Ok(expr)) = &read
                    && let Some(span) = sequence_value::call_span(expr)
                {
                    self.sequence.set(Some(span));
                }
                read
            }
            Token::Number(..) | Token::HexStringLiteral(_) | Token::Placeholder(_) => Some(plain_value(parser)),
            Token::TripleSingleQuotedString(_) => Some(string_value(parser).map(Expr::Value)),
            Token::Minus => Some(self.sign(parser, UnaryOperator::Minus, self.json_precedence())),
            Token::Plus => Some(self.sign(parser, UnaryOperator::Plus, self.json_precedence())),
            // Below `+`, above `&` and its kin.
            Token::Tilde => Some(self.sign(parser, UnaryOperator::BitwiseNot, self.prec_value(Precedence::Xor))),
            // sqlparser takes SELECT and WITH alone for the beginning of a query in brackets.
            Token::LParen if word_at(parser, 1) == Some(Keyword::VALUES) => Some(values_query(parser)),
            _ => None,
        }
    }

    fn parse_infix(&self, parser: &mut Parser, left: &Expr, precedence: u8) -> Option<Result<Expr, ParserError>> {
        if parser.peek_token_ref().token == Token::DoubleColon {
            return Some(double_colon_cast(parser, left));
        }
        match parser.peek_token_ref().token {
            Token::Sharp => return Some(self.other_operator(parser, left, BinaryOperator::PGBitwiseXor)),
            Token::Overlap => return Some(self.other_operator(parser, left, BinaryOperator::PGOverlap)),
            Token::Question => return Some(self.operator_call(parser, left, "JSON_HAS")),
            Token::QuestionPipe => return Some(self.operator_call(parser, left, "JSON_HAS_ANY")),
            Token::QuestionAnd => return Some(self.operator_call(parser, left, "JSON_HAS_ALL")),
            _ if power_tokens(parser) > 0 => return Some(self.power(parser, left)),
            _ => {}
        }
        if is_collate(parser) {
            return Some(collate(parser, left));
        }
        if is_overlaps(parser)
            && let Expr::Tuple(span) = left
        {
            return Some(self.overlaps(parser, span));
        }
        if let Some((negated, function)) = pattern_operator(parser) {
            return Some(self.pattern_call(parser, left, negated, function));
        }
        match word_at(parser, 0) {
            Some(Keyword::AND) => Some(gather(parser, left, BinaryOperator::And, Keyword::AND, precedence)),
            Some(Keyword::OR) => Some(gather(parser, left, BinaryOperator::Or, Keyword::OR, precedence)),
            Some(Keyword::IS) => is_json(parser, left).or_else(|| is_distinct_from(parser, left, precedence)),
            Some(Keyword::BETWEEN) if is_symmetric(parser, 1) => Some(self.between_symmetric(parser, left, false)),
            Some(Keyword::NOT) if word_at(parser, 1) == Some(Keyword::BETWEEN) && is_symmetric(parser, 2) => {
                Some(self.between_symmetric(parser, left, true))
            }
            Some(Keyword::LIKE | Keyword::ILIKE | Keyword::SIMILAR) => Some(self.like(parser, left, false)),
            Some(Keyword::NOT) => match word_at(parser, 1) {
                Some(Keyword::LIKE | Keyword::ILIKE | Keyword::SIMILAR) => Some(self.like(parser, left, true)),
                _ => None,
            },
            _ => None,
        }
    }

    fn get_next_precedence(&self, parser: &Parser) -> Option<Result<u8, ParserError>> {
        let word = |n| match &parser.peek_nth_token_ref(n).token {
            Token::Word(word) => word.keyword,
            _ => Keyword::NoKeyword,
        };
        if self.in_default.get() && word(0) == Keyword::NOT && word(1) == Keyword::NULL {
            return Some(Ok(self.prec_unknown()));
        }
        if !self.in_default.get() && is_collate(parser) {
            return Some(Ok(self.prec_value(Precedence::DoubleColon)));
        }
        if pattern_operator(parser).is_some() || is_overlaps(parser) {
            return Some(Ok(self.prec_value(Precedence::Like)));
        }
        match parser.peek_token_ref().token {
            Token::Sharp
            | Token::Overlap
            | Token::AtArrow
            | Token::ArrowAt
            | Token::Question
            | Token::QuestionPipe
            | Token::QuestionAnd => Some(Ok(self.prec_value(OTHER))),
            // JSON paths are not supported: a colon becomes an error later.
            Token::Colon => Some(Ok(self.prec_unknown())),
            Token::Arrow | Token::LongArrow | Token::HashArrow | Token::HashLongArrow => {
                Some(Ok(self.json_precedence()))
            }
            _ if power_tokens(parser) > 0 => Some(Ok(self.power_precedence())),
            _ => None,
        }
    }
}

impl SaltwingDialect {
    /// That of `->` and its kin: below `::`, so that a key may be cast, and signs, and above all other operators.
    /// sqlparser has them below comparisons.
    fn json_precedence(&self) -> u8 {
        self.prec_value(Precedence::DoubleColon) - 1
    }

    /// That of `^`: above `*`, below signs, as in PostgreSQL.
    fn power_precedence(&self) -> u8 {
        self.json_precedence() - 1
    }

    /// `base ^ exponent` and `base ** exponent` as `POWER(base, exponent)`; of several the left one binds, as in PostgreSQL.
    fn power(&self, parser: &mut Parser, base: &Expr) -> Result<Expr, ParserError> {
        (0..power_tokens(parser)).for_each(|_| parser.advance_token());
        let exponent = parser.parse_subexpr(self.power_precedence())?;
        Ok(function_call(Ident::new("POWER"), [base.clone(), exponent]))
    }

    /// A sign and its operand. Two signs in a row get a bracket between them:
    /// printed without one, `- -1` is the comment `--1`.
    fn sign(&self, parser: &mut Parser, op: UnaryOperator, precedence: u8) -> Result<Expr, ParserError> {
        parser.advance_token();
        let another = matches!(parser.peek_token_ref().token, Token::Minus | Token::Plus | Token::Tilde);
        let operand = Box::new(parser.parse_subexpr(precedence)?);
        let expr = if another { Box::new(Expr::Nested(operand)) } else { operand };
        Ok(Expr::UnaryOp { op, expr })
    }

    fn other_operator(&self, parser: &mut Parser, left: &Expr, op: BinaryOperator) -> Result<Expr, ParserError> {
        parser.advance_token();
        let right = Box::new(parser.parse_subexpr(self.prec_value(OTHER))?);
        Ok(Expr::BinaryOp { left: Box::new(left.clone()), op, right })
    }

    /// `json ? name` as `JSON_HAS(json, name)`: printed, the operator could be read as a parameter.
    fn operator_call(&self, parser: &mut Parser, left: &Expr, function: &str) -> Result<Expr, ParserError> {
        parser.advance_token();
        let right = parser.parse_subexpr(self.prec_value(OTHER))?;
        Ok(function_call(Ident::new(function), [left.clone(), right]))
    }

    /// `text GLOB pattern` as `GLOB(pattern, text)`, and `text REGEXP pattern` as `REGEXP_LIKE(text, pattern)`.
    fn pattern_call(
        &self,
        parser: &mut Parser,
        left: &Expr,
        negated: bool,
        function: &str,
    ) -> Result<Expr, ParserError> {
        (0..=usize::from(negated)).for_each(|_| parser.advance_token());
        let pattern = parser.parse_subexpr(self.prec_value(Precedence::Like))?;
        let args = if function == GLOB { [pattern, left.clone()] } else { [left.clone(), pattern] };
        let call = function_call(Ident::new(function), args);
        Ok(if negated { Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(call) } } else { call })
    }

    /// `(a, b) OVERLAPS (c, d)` as `OVERLAPS(a, b, c, d)`.
    fn overlaps(&self, parser: &mut Parser, span: &[Expr]) -> Result<Expr, ParserError> {
        parser.advance_token();
        let at = parser.peek_token();
        match parser.parse_subexpr(self.prec_value(Precedence::Like))? {
            Expr::Tuple(other) if span.len() == 2 && other.len() == 2 => {
                Ok(function_call(Ident::new("OVERLAPS"), span.iter().cloned().chain(other)))
            }
            _ => parser.expected("(start, end) OVERLAPS (start, end)", at),
        }
    }

    /// `x BETWEEN SYMMETRIC a AND b` as `(x BETWEEN a AND b OR x BETWEEN b AND a)`.
    fn between_symmetric(&self, parser: &mut Parser, left: &Expr, negated: bool) -> Result<Expr, ParserError> {
        (0..2 + usize::from(negated)).for_each(|_| parser.advance_token());
        let precedence = self.prec_value(Precedence::Between);
        let low = parser.parse_subexpr(precedence)?;
        parser.expect_keyword_is(Keyword::AND)?;
        let high = parser.parse_subexpr(precedence)?;
        [left, &low, &high].into_iter().try_for_each(|operand| self.copy(operand))?;
        let between = |low: &Expr, high: &Expr| {
            let (expr, low, high) = (Box::new(left.clone()), Box::new(low.clone()), Box::new(high.clone()));
            Box::new(Expr::Between { expr, negated, low, high })
        };
        let op = if negated { BinaryOperator::And } else { BinaryOperator::Or };
        let (left, right) = (between(&low, &high), between(&high, &low));
        Ok(Expr::Nested(Box::new(Expr::BinaryOp { left, op, right })))
    }

    fn like(&self, parser: &mut Parser, left: &Expr, negated: bool) -> Result<Expr, ParserError> {
        if negated {
            parser.advance_token();
        }
        let word = word_at(parser, 0);
        parser.advance_token();
        if word == Some(Keyword::SIMILAR) {
            parser.expect_keyword_is(Keyword::TO)?;
        }
        let any = word != Some(Keyword::SIMILAR) && parser.parse_keyword(Keyword::ANY);
        let expr = Box::new(left.clone());
        let pattern = Box::new(parser.parse_subexpr(self.prec_value(Precedence::Like))?);
        let escape_char = match parser.parse_keyword(Keyword::ESCAPE) {
            true => Some(string_value(parser)?),
            false => None,
        };
        Ok(match word {
            Some(Keyword::LIKE) => Expr::Like { negated, any, expr, pattern, escape_char },
            Some(Keyword::ILIKE) => Expr::ILike { negated, any, expr, pattern, escape_char },
            _ => Expr::SimilarTo { negated, expr, pattern, escape_char },
        })
    }
}

fn spend(left: &Cell<usize>, count: usize) -> Result<(), ParserError> {
    match left.get().checked_sub(count) {
        Some(rest) => {
            left.set(rest);
            Ok(())
        }
        // The one error that sqlparser does not try to recover from.
        None => Err(ParserError::RecursionLimitExceeded),
    }
}

/// The keyword of the `n`th next token, if it is a word.
fn word_at(parser: &Parser, n: usize) -> Option<Keyword> {
    match &parser.peek_nth_token_ref(n).token {
        Token::Word(word) => Some(word.keyword),
        _ => None,
    }
}

/// SQLite's function for its operator GLOB.
const GLOB: &str = "GLOB";

/// The function of an operator that is a word and no keyword, and whether NOT stands before it.
///
/// The word is a name unless an operand follows it.
fn pattern_operator(parser: &Parser) -> Option<(bool, &'static str)> {
    let negated = word_at(parser, 0) == Some(Keyword::NOT);
    let place = usize::from(negated);
    let function = match &parser.peek_nth_token_ref(place).token {
        Token::Word(word) if word.quote_style.is_none() => words::pattern_function(&word.value)?,
        _ => return None,
    };
    let is_operand = match &parser.peek_nth_token_ref(place + 1).token {
        Token::TripleSingleQuotedString(_) | Token::Placeholder(_) | Token::LParen => true,
        Token::Word(word) => {
            let is_value = matches!(word.keyword, Keyword::CAST | Keyword::CASE | Keyword::NULL);
            is_value || !words::is_reserved(word.keyword)
        }
        _ => false,
    };
    is_operand.then_some((negated, function))
}

/// The tokens of the operator of a power, if it comes next: `^`, or `**`, which is two.
fn power_tokens(parser: &Parser) -> usize {
    match (&parser.peek_nth_token_ref(0).token, &parser.peek_nth_token_ref(1).token) {
        (Token::Caret, _) => 1,
        (Token::Mul, Token::Mul) => 2,
        _ => 0,
    }
}

/// Whether COLLATE and a name come next.
fn is_collate(parser: &Parser) -> bool {
    let is_it = |word: &Word| word.quote_style.is_none() && word.value.eq_ignore_ascii_case("COLLATE");
    let is_name = |word: &Word| word.quote_style.is_some() || !words::is_reserved(word.keyword);
    matches!(&parser.peek_token_ref().token, Token::Word(word) if is_it(word))
        && matches!(&parser.peek_nth_token_ref(1).token, Token::Word(word) if is_name(word))
}

fn collate(parser: &mut Parser, left: &Expr) -> Result<Expr, ParserError> {
    parser.advance_token();
    let collation = parser.parse_object_name(false)?;
    Ok(Expr::Collate { expr: Box::new(left.clone()), collation })
}

/// Whether OVERLAPS and a bracket come next.
fn is_overlaps(parser: &Parser) -> bool {
    let is_word = matches!(&parser.peek_nth_token_ref(0).token, Token::Word(word)
        if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("OVERLAPS"));
    is_word && parser.peek_nth_token_ref(1).token == Token::LParen
}

/// Whether the word at this place is SYMMETRIC, and no name.
fn is_symmetric(parser: &Parser, place: usize) -> bool {
    let is_word = matches!(&parser.peek_nth_token_ref(place).token, Token::Word(word)
        if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("SYMMETRIC"));
    let ends = matches!(&parser.peek_nth_token_ref(place + 1).token, Token::Word(word) if word.keyword == Keyword::AND);
    is_word && !ends
}

/// `text IS [NOT] JSON` as `[NOT] JSON_VALID(text)`.
fn is_json(parser: &mut Parser, left: &Expr) -> Option<Result<Expr, ParserError>> {
    let negated = word_at(parser, 1) == Some(Keyword::NOT);
    if word_at(parser, 1 + usize::from(negated)) != Some(Keyword::JSON) {
        return None;
    }
    (0..2 + usize::from(negated)).for_each(|_| parser.advance_token());
    // A kind would be the name of the item.
    let kinds = ["VALUE", "SCALAR", "ARRAY", "OBJECT"];
    let is_kind = match &parser.peek_token_ref().token {
        Token::Word(word) => {
            word.quote_style.is_none() && kinds.iter().any(|kind| word.value.eq_ignore_ascii_case(kind))
        }
        _ => false,
    };
    if is_kind {
        let token = parser.peek_token();
        return Some(parser.expected("IS JSON without a kind", token));
    }
    let call = function_call(Ident::new("JSON_VALID"), [left.clone()]);
    Some(Ok(if negated { Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(call) } } else { call }))
}

/// Reads a string, which the lexer has dressed up, as a plain string value.
fn string_value(parser: &mut Parser) -> Result<sqlparser::ast::ValueWithSpan, ParserError> {
    let token = parser.next_token();
    match token.token {
        Token::TripleSingleQuotedString(text) => Ok(Value::SingleQuotedString(text).with_span(token.span)),
        _ => parser.expected("a string", token),
    }
}

/// Reads an operand that starts with a word; `None` leaves it to sqlparser.
fn word_prefix(parser: &mut Parser, keyword: Keyword) -> Option<Result<Expr, ParserError>> {
    let next = &parser.peek_nth_token_ref(1).token;
    let call = *next == Token::LParen;
    match keyword {
        Keyword::NoKeyword => Some(local_time_call(parser).unwrap_or_else(|| name_or_call(parser))),
        // These start an expression of their own.
        Keyword::CASE
        | Keyword::EXISTS
        | Keyword::FALSE
        | Keyword::NOT
        | Keyword::NULL
        | Keyword::TRUE
        | Keyword::CURRENT_DATE
        | Keyword::CURRENT_TIME
        | Keyword::CURRENT_TIMESTAMP => None,
        Keyword::CAST if call => Some(cast(parser)),
        Keyword::EXTRACT
        | Keyword::OVERLAY
        | Keyword::POSITION
        | Keyword::SUBSTR
        | Keyword::SUBSTRING
        | Keyword::TRIM
        | Keyword::TRY_CAST
            if call =>
        {
            None
        }
        Keyword::ARRAY if call || *next == Token::LBracket => None,
        Keyword::NEXT | Keyword::CURRENT if sequence_value::follows(parser) => Some(sequence_value::value(parser)),
        Keyword::INTERVAL if matches!(next, Token::TripleSingleQuotedString(_) | Token::Number(..)) => None,
        // DataFusion has functions of these names.
        Keyword::LEFT | Keyword::RIGHT if call => Some(name_or_call(parser)),
        // SQLite's `LIKE(pattern, text)`.
        Keyword::LIKE if call => Some(like_call(parser)),
        keyword if words::is_reserved(keyword) => {
            let token = parser.peek_token();
            Some(parser.expected("an expression", token))
        }
        keyword if words::is_type_word(keyword) && matches!(next, Token::TripleSingleQuotedString(_)) => {
            Some(typed_string(parser, keyword))
        }
        _ => Some(name_or_call(parser)),
    }
}

/// A number, bytes or a parameter. None of them has fields: `1 . 5` is no number.
fn plain_value(parser: &mut Parser) -> Result<Expr, ParserError> {
    let value = parser.parse_value()?;
    match parser.peek_token_ref().token {
        Token::Period => {
            let token = parser.peek_token();
            parser.expected("an operator", token)
        }
        _ => Ok(Expr::Value(value)),
    }
}

/// `(VALUES (..))` as an operand.
fn values_query(parser: &mut Parser) -> Result<Expr, ParserError> {
    parser.advance_token();
    let query = parser.parse_query()?;
    parser.expect_token(&Token::RParen)?;
    Ok(Expr::Subquery(query))
}

/// `LIKE(pattern, text [, escape])` as `text LIKE pattern [ESCAPE escape]`.
fn like_call(parser: &mut Parser) -> Result<Expr, ParserError> {
    parser.advance_token();
    parser.expect_token(&Token::LParen)?;
    let pattern = Box::new(parser.parse_expr()?);
    parser.expect_token(&Token::Comma)?;
    let expr = Box::new(parser.parse_expr()?);
    let escape_char = if parser.consume_token(&Token::Comma) { Some(string_value(parser)?) } else { None };
    parser.expect_token(&Token::RParen)?;
    Ok(Expr::Nested(Box::new(Expr::Like { negated: false, any: false, expr, pattern, escape_char })))
}

/// `LOCALTIMESTAMP(3)`, `LOCALTIME(3)`: no instant needs the precision. Without it the binder tells whether a column has the name.
fn local_time_call(parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
    let token = parser.peek_token_ref();
    let Token::Word(word) = &token.token else { return None };
    let now = local_time(&word.clone().into_ident(token.span))?;
    if parser.peek_nth_token_ref(1).token != Token::LParen {
        return None;
    }
    (0..2).for_each(|_| parser.advance_token());
    Some(parser.parse_literal_uint().and_then(|_| parser.expect_token(&Token::RParen)).map(|_| now))
}

fn name_or_call(parser: &mut Parser) -> Result<Expr, ParserError> {
    let token = parser.next_token();
    let Token::Word(word) = token.token else {
        return parser.expected("a name", token);
    };
    let name: Ident = Word::into_ident(word, token.span);
    match parser.peek_token_ref().token {
        Token::LParen => parser.parse_function(ObjectName::from(vec![name])),
        _ => Ok(Expr::Identifier(name)),
    }
}

/// `CAST(e AS type)`.
fn cast(parser: &mut Parser) -> Result<Expr, ParserError> {
    parser.advance_token();
    parser.expect_token(&Token::LParen)?;
    let expr = Box::new(parser.parse_expr()?);
    parser.expect_keyword_is(Keyword::AS)?;
    let data_type = type_of_cast(parser)?;
    parser.expect_token(&Token::RParen)?;
    Ok(Expr::Cast { kind: CastKind::Cast, expr, data_type, array: false, format: None })
}

/// The cast `left::type`, read from the `::` on.
fn double_colon_cast(parser: &mut Parser, left: &Expr) -> Result<Expr, ParserError> {
    parser.advance_token();
    let (expr, data_type) = (Box::new(left.clone()), type_of_cast(parser)?);
    Ok(Expr::Cast { kind: CastKind::DoubleColon, expr, data_type, array: false, format: None })
}

/// A type, and perhaps ARRAY or `ARRAY[n]` after it, which sqlparser takes for no part of the type.
fn type_of_cast(parser: &mut Parser) -> Result<DataType, ParserError> {
    let element = parser.parse_data_type()?;
    if !parser.parse_keyword(Keyword::ARRAY) {
        return Ok(element);
    }
    let mut length = None;
    if parser.consume_token(&Token::LBracket) {
        length = Some(parser.parse_literal_uint()?);
        parser.expect_token(&Token::RBracket)?;
    }
    Ok(DataType::Array(ArrayElemTypeDef::SquareBracket(Box::new(element), length)))
}

/// `DATE '..'`, `JSON '..'`, `TIME '..'`, `TIMESTAMP '..'`, `UUID '..'`.
fn typed_string(parser: &mut Parser, keyword: Keyword) -> Result<Expr, ParserError> {
    let data_type = match keyword {
        Keyword::DATE => DataType::Date,
        Keyword::JSON => DataType::JSON,
        Keyword::UUID => DataType::Uuid,
        Keyword::TIME => DataType::Time(None, TimezoneInfo::None),
        Keyword::TIMESTAMP => DataType::Timestamp(None, TimezoneInfo::None),
        _ => {
            let token = parser.peek_nth_token(1);
            return parser.expected("CAST('..' AS type) for a string with a type", token);
        }
    };
    parser.advance_token();
    let value = string_value(parser)?;
    Ok(Expr::TypedString(TypedString { data_type, value, uses_odbc_syntax: false }))
}

/// Reads the rest of a chain of one connective and makes a balanced tree of it.
fn gather(
    parser: &mut Parser,
    left: &Expr,
    op: BinaryOperator,
    keyword: Keyword,
    precedence: u8,
) -> Result<Expr, ParserError> {
    let mut terms = vec![left.clone()];
    while parser.parse_keyword(keyword) {
        terms.push(parser.parse_subexpr(precedence)?);
    }
    balanced(terms, &op).ok_or_else(|| ParserError::ParserError("a connective without terms".to_owned()))
}

/// `terms` joined by `op` in their order, as flat a tree as can be.
fn balanced(mut terms: Vec<Expr>, op: &BinaryOperator) -> Option<Expr> {
    while terms.len() > 1 {
        let mut next = Vec::with_capacity(terms.len().div_ceil(2));
        let mut pairs = terms.into_iter();
        while let Some(left) = pairs.next() {
            next.push(match pairs.next() {
                Some(right) => Expr::BinaryOp { left: Box::new(left), op: op.clone(), right: Box::new(right) },
                None => left,
            });
        }
        terms = next;
    }
    terms.pop()
}

/// `IS [NOT] DISTINCT FROM`; `None` for any other IS.
fn is_distinct_from(parser: &mut Parser, left: &Expr, precedence: u8) -> Option<Result<Expr, ParserError>> {
    let negated = word_at(parser, 1) == Some(Keyword::NOT);
    let at = 1 + usize::from(negated);
    if word_at(parser, at) != Some(Keyword::DISTINCT) || word_at(parser, at + 1) != Some(Keyword::FROM) {
        return None;
    }
    for _ in 0..at + 2 {
        parser.advance_token();
    }
    Some(parser.parse_subexpr(precedence).map(|right| {
        let (left, right) = (Box::new(left.clone()), Box::new(right));
        match negated {
            true => Expr::IsNotDistinctFrom(left, right),
            false => Expr::IsDistinctFrom(left, right),
        }
    }))
}
