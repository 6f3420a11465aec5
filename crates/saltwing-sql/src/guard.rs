//! Refuses what would overflow the stack, or take for ever, before it is parsed.
//!
//! sqlparser's trees are dropped, cloned and printed by recursion, so their
//! height is a matter of safety: a statement comes from outside. One pass over
//! the tokens bounds it.
//!
//! Each bracket and each CASE opens a level. In a level, commas, clause words and
//! WHEN/THEN/ELSE separate pieces; a piece is at most as high as the operators in
//! it plus the highest level inside it. AND and OR separate pieces too, because
//! the dialect makes balanced trees of them: they add the logarithm of their
//! number. BETWEEN's AND does not separate. Heights are counted in the stack that
//! a level of that kind was measured to take in a debug build.
//!
//! # Laws
//! 1. A statement that passes can be parsed, cloned, printed, compared and dropped,
//!    and its span be found, on a stack of 2 MB in a debug build.
//! 2. Lists (VALUES, IN, chains of AND or of OR) may be as long as they like.
//!
//! Parsing takes ten times the stack of all later work, so a statement nested deeper than a few levels is parsed on a
//! thread with a large stack. The guard estimates that stack.
//!
//! The first law leans on the dialect: a reserved word is never a name, unless a
//! dot stands before it; so what separates here also separates there.

use std::fmt::Display;

use saltwing_types::Span;
use sqlparser::ast::{Visit, VisitMut};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Location, Token, TokenWithSpan};

use crate::error::SqlError;
use crate::phoenix::Dialect;
use crate::{lexer, place, sequence_value, tree_text, words};

/// Brackets and CASEs inside each other.
pub const NESTING_MAX: usize = 64;

/// Brackets inside each other that any stack has room for.
pub(crate) const SHALLOW_NESTING: usize = 4;

/// Queries in brackets inside each other.
pub const SUBQUERY_NESTING_MAX: usize = 16;

/// Prefix operators (NOT, signs, INTERVAL) in a row.
pub const PREFIX_RUN_MAX: usize = 32;

/// Prefix operators around one place, however far apart.
pub const PREFIX_NESTING_MAX: usize = 64;

/// Operators on one another: `a + b + c ..`, `a::int::int ..`.
pub const OPERATORS_MAX: usize = TREE_KB_MAX / OPERATOR_KB;

/// Stack that walking a tree may take, of the 2 MB that threads have.
const TREE_KB_MAX: usize = 1_850;

/// Stack for walking through one operator, one bracket, one query or one set
/// operator, measured on sqlparser 0.62 in a debug build (printing, visiting, or cloning a
/// query, takes most).
const OPERATOR_KB: usize = 12;
const BRACKET_KB: usize = 17;
const QUERY_KB: usize = 30;
const SET_OPERATOR_KB: usize = 18;

/// Stack for parsing one bracket, the extra stack of a query, and that of one prefix operator.
const PARSE_BRACKET_KB: usize = 165;
const PARSE_QUERY_KB: usize = 190;
const PARSE_PREFIX_KB: usize = 140;

/// Stack that parsing takes before the first bracket.
const PARSE_KB: usize = 320;

/// A build with optimisation takes a fifth.
const RELEASE_SHARE: usize = 5;

/// UNION, EXCEPT and INTERSECT in a statement.
pub const SET_OPERATORS_MAX: usize = 100;

/// JOINs in a statement.
pub const JOINS_MAX: usize = 100;

/// Dots in one name.
pub const NAME_DOTS_MAX: usize = 8;

/// How often sqlparser may read one piece of a FROM clause: it tries each of
/// several brackets in a row both as a query and as a join.
const FROM_TRIALS_MAX: usize = 64;

/// A level: the tokens between two brackets, or from CASE to END.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    is_case: bool,
    is_query: bool,
    /// Operators in the current piece.
    operators: usize,
    /// The highest level inside the current piece, in KB.
    inside_kb: usize,
    /// The highest finished piece, in KB.
    highest_kb: usize,
    ands: usize,
    ors: usize,
    set_operators: usize,
    /// BETWEENs that still wait for their AND.
    betweens: usize,
    /// Prefix operators in the current piece.
    prefixes: usize,
    /// Those of the levels around.
    prefixes_around: usize,
    /// In a FROM clause, so that a bracket may open a join.
    in_from: bool,
    /// Opened where a table may stand, as the nth bracket in a row.
    from_run: usize,
    /// Parse attempts in this level, and in the run of tokens that contains it.
    trials: usize,
    trials_before_run: usize,
}

impl Level {
    fn piece_kb(&self) -> usize {
        self.operators * OPERATOR_KB + self.inside_kb
    }

    fn end_piece(&mut self) {
        self.highest_kb = self.highest_kb.max(self.piece_kb());
        (self.operators, self.inside_kb, self.betweens, self.prefixes) = (0, 0, 0, 0);
    }

    /// Stack for walking the tree of this level, its brackets included.
    fn tree_kb(&self) -> usize {
        // n terms make a balanced tree of as many levels as n - 1 has bits.
        let bits = |n: usize| (usize::BITS - n.leading_zeros()) as usize;
        let connectives = bits(self.ands) + bits(self.ors);
        let around =
            BRACKET_KB + if self.is_query { QUERY_KB } else { 0 } + if self.from_run > 0 { OPERATOR_KB } else { 0 };
        self.highest_kb.max(self.piece_kb()) + connectives * OPERATOR_KB + self.set_operators * SET_OPERATOR_KB + around
    }
}

/// The findings of the guard about an accepted statement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passed {
    /// Stack that parsing takes at most, in KB.
    pub(crate) parse_kb: usize,
    size: TreeSize,
}

/// The size of a query's tree, in what the limits count.
#[derive(Clone, Copy, Debug, Default)]
pub struct TreeSize {
    /// Stack for walking it, in KB.
    height_kb: usize,
    /// Brackets inside each other.
    nesting: usize,
    /// Queries in brackets inside each other.
    queries: usize,
    joins: usize,
    set_operators: usize,
}

impl TreeSize {
    /// The size of a tree that passed the guard as a text.
    ///
    /// # Errors
    /// As for that text; `span` is its place.
    pub fn of<T: Visit + VisitMut + Clone + Display>(tree: &T, span: Span) -> Result<Self, SqlError> {
        // A tree may name the default schema, which has no name in texts: `"".t`.
        let text = tree_text(tree).replace("\"\".", "");
        let mut tokens = lexer::lex(&text, 0, Location::new(1, 1), Dialect::Saltwing)?.tokens;
        tokens.iter_mut().for_each(|token| token.span = place::token_span(span));
        Ok(check(&tokens)?.size)
    }

    /// The size of a tree that contains the tree of `inner`, which it counts once.
    ///
    /// # Errors
    /// A limit that a statement may not go beyond; `span` is the place of `inner`.
    pub fn around(self, inner: Self, span: Span) -> Result<Self, SqlError> {
        let size = Self {
            // A view is no bracket: an expression of it stands in the place of a name.
            height_kb: self.height_kb + inner.height_kb.saturating_sub(BRACKET_KB),
            nesting: self.nesting + inner.nesting,
            queries: self.queries + inner.queries,
            ..self.beside(inner, span)?
        };
        within("operators and brackets on one another", size.height_kb / OPERATOR_KB, OPERATORS_MAX, span)?;
        within("brackets inside brackets", size.nesting, NESTING_MAX, span)?;
        within("queries inside queries", size.queries, SUBQUERY_NESTING_MAX, span)?;
        Ok(size)
    }

    /// The size of a tree in which both stand beside one another.
    ///
    /// # Errors
    /// As [`TreeSize::around`].
    pub fn beside(self, other: Self, span: Span) -> Result<Self, SqlError> {
        let (joins, set_operators) = (self.joins + other.joins, self.set_operators + other.set_operators);
        within("UNION, EXCEPT and INTERSECT in a statement", set_operators, SET_OPERATORS_MAX, span)?;
        within("JOINs in a statement", joins, JOINS_MAX, span)?;
        let (height_kb, nesting) = (self.height_kb.max(other.height_kb), self.nesting.max(other.nesting));
        Ok(Self { height_kb, nesting, queries: self.queries.max(other.queries), joins, set_operators })
    }
}

/// The most tokens of the parts of a statement that are written several times, all copies together.
const COPIED_TOKENS_MAX: usize = 1_000_000;

/// Checks the tokens of all copies of parts of a statement, before they are made.
pub(crate) fn check_copies(tokens: usize, span: Span) -> Result<(), SqlError> {
    match tokens > COPIED_TOKENS_MAX {
        true => Err(SqlError::too_large("tokens in the copies of its queries", tokens, COPIED_TOKENS_MAX, span)),
        false => Ok(()),
    }
}

/// Checks the tokens of one statement.
pub(crate) fn check(tokens: &[TokenWithSpan]) -> Result<Passed, SqlError> {
    let outermost = Level { trials: 1, trials_before_run: 1, ..Level::default() };
    let mut guard = Guard {
        levels: vec![outermost],
        subqueries: 0,
        set_operators: 0,
        joins: 0,
        prefix_run: 0,
        name_dots: 0,
        parse_kb: 0,
        size: TreeSize::default(),
    };
    for index in 0..tokens.len() {
        guard.take(tokens, index)?;
    }
    let parse_kb = PARSE_KB + guard.parse_kb;
    let size = TreeSize {
        height_kb: guard.top().tree_kb(),
        joins: guard.joins,
        set_operators: guard.set_operators,
        ..guard.size
    };
    Ok(Passed { parse_kb: if cfg!(debug_assertions) { parse_kb } else { parse_kb / RELEASE_SHARE }, size })
}

struct Guard {
    /// The outermost level stays; so there is always a last one.
    levels: Vec<Level>,
    subqueries: usize,
    set_operators: usize,
    joins: usize,
    prefix_run: usize,
    name_dots: usize,
    parse_kb: usize,
    /// What was deepest so far.
    size: TreeSize,
}

impl Guard {
    fn take(&mut self, tokens: &[TokenWithSpan], index: usize) -> Result<(), SqlError> {
        let Some(TokenWithSpan { token, span }) = tokens.get(index) else { return Ok(()) };
        let span = place::span_of(*span).unwrap_or_else(place::origin);
        let around = Around { tokens, index };
        let keyword = match around.before(1) {
            // A part of a name.
            Some(Token::Period) => Keyword::NoKeyword,
            _ => around.keyword(0),
        };
        self.count_runs(&around, token, keyword, span)?;
        match token {
            Token::LParen => self.open(&around, span)?,
            Token::LBracket => {
                self.operator();
                self.open(&around, span)?;
            }
            Token::RParen | Token::RBracket => self.close(false),
            Token::Comma | Token::SemiColon => self.piece(),
            Token::Word(_) => self.word(&around, keyword, span)?,
            Token::Period if matches!(around.before(1), Some(Token::RParen | Token::RBracket)) => {
                return Err(SqlError::not_supported("a field behind a bracket", span));
            }
            Token::Number(..)
            | Token::TripleSingleQuotedString(_)
            | Token::SingleQuotedString(_)
            | Token::HexStringLiteral(_)
            | Token::Placeholder(_)
            | Token::Period => {}
            // All other tokens are operators.
            _ => {
                if matches!(token, Token::Minus | Token::Plus | Token::Tilde) && !around.follows_operand() {
                    self.prefix(span)?;
                }
                self.operator();
            }
        }
        let parse_kb = (self.levels.len() - 1) * PARSE_BRACKET_KB
            + self.subqueries * PARSE_QUERY_KB
            + self.prefixes() * PARSE_PREFIX_KB;
        self.parse_kb = self.parse_kb.max(parse_kb);
        let tree_kb = self.top().tree_kb();
        within("operators and brackets on one another", tree_kb / OPERATOR_KB, OPERATORS_MAX, span)
    }

    /// Prefix operators around the current place.
    fn prefixes(&mut self) -> usize {
        self.top().prefixes_around + self.top().prefixes
    }

    fn prefix(&mut self, span: Span) -> Result<(), SqlError> {
        self.top().prefixes += 1;
        within("signs and NOTs on one another", self.prefixes(), PREFIX_NESTING_MAX, span)
    }

    fn word(&mut self, around: &Around<'_>, keyword: Keyword, span: Span) -> Result<(), SqlError> {
        use Keyword::*;
        match keyword {
            NoKeyword if is_pattern_operator(around) => self.operator(),
            NoKeyword => {}
            CASE => {
                let trials = self.top().trials;
                self.push(Level { is_case: true, trials, trials_before_run: trials, ..Level::default() }, span)?;
            }
            END => self.close(true),
            AND if self.top().betweens > 0 => self.top().betweens -= 1,
            AND => {
                self.piece();
                self.top().ands += 1;
            }
            OR => {
                self.piece();
                self.top().ors += 1;
            }
            BETWEEN => {
                // BETWEEN SYMMETRIC becomes two of them, below an OR in brackets.
                let count = if around.is_symmetric() { 4 } else { 1 };
                (0..count).for_each(|_| self.operator());
                self.top().betweens += 1;
            }
            // Part of an operator: IS NOT, NOT LIKE.
            NOT if around.keyword(-1) == IS => {}
            NOT if matches!(around.keyword(1), IN | LIKE | ILIKE | SIMILAR | BETWEEN) => {}
            NOT | INTERVAL => {
                self.operator();
                self.prefix(span)?;
            }
            IS | IN | LIKE | ILIKE | SIMILAR | AT => self.operator(),
            // Part of an operator: IS [NOT] DISTINCT FROM.
            FROM if around.keyword(-1) == DISTINCT && matches!(around.keyword(-2), IS | NOT) => {}
            // Part of a value of a sequence: NEXT n VALUES FOR.
            VALUES if around.keyword(1) == FOR => {}
            // The whole value becomes a call, which has brackets.
            FOR if around.before(1).is_some_and(sequence_value::precedes_for) => {
                let top = self.top();
                top.inside_kb = top.inside_kb.max(BRACKET_KB);
            }
            // Functions.
            LEFT | RIGHT if matches!(around.after(1), Some(Token::LParen)) => {}
            UNION | EXCEPT | INTERSECT => {
                self.piece();
                self.top().in_from = false;
                self.top().set_operators += 1;
                self.set_operators += 1;
                within("UNION, EXCEPT and INTERSECT in a statement", self.set_operators, SET_OPERATORS_MAX, span)?;
            }
            keyword if words::is_clause_word(keyword) || matches!(keyword, SELECT | VALUES | WITH) => {
                self.piece();
                self.clause(keyword, span)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn clause(&mut self, keyword: Keyword, span: Span) -> Result<(), SqlError> {
        if keyword == Keyword::JOIN {
            self.joins += 1;
            within("JOINs in a statement", self.joins, JOINS_MAX, span)?;
        }
        match keyword {
            Keyword::FROM | Keyword::JOIN => self.top().in_from = true,
            Keyword::SELECT | Keyword::WITH | Keyword::VALUES => {
                self.top().in_from = false;
                if self.levels.len() > 1 && !self.top().is_query {
                    self.top().is_query = true;
                    self.subqueries += 1;
                    self.size.queries = self.size.queries.max(self.subqueries);
                    within("queries inside queries", self.subqueries, SUBQUERY_NESTING_MAX, span)?;
                }
            }
            Keyword::AS | Keyword::CROSS | Keyword::FULL | Keyword::INNER | Keyword::LEFT => {}
            Keyword::NATURAL | Keyword::OUTER | Keyword::RIGHT => {}
            _ => self.top().in_from = false,
        }
        Ok(())
    }

    /// Runs of prefix operators and of dots.
    fn count_runs(&mut self, around: &Around<'_>, token: &Token, keyword: Keyword, span: Span) -> Result<(), SqlError> {
        match token {
            Token::Minus | Token::Plus | Token::Tilde => self.prefix_run += 1,
            _ if matches!(keyword, Keyword::NOT | Keyword::INTERVAL) => self.prefix_run += 1,
            _ => self.prefix_run = 0,
        }
        match token {
            Token::Period => self.name_dots += 1,
            _ if matches!(around.before(1), Some(Token::Period)) => {}
            _ => self.name_dots = 0,
        }
        within("signs and NOTs in a row", self.prefix_run, PREFIX_RUN_MAX, span)?;
        within("dots in a name", self.name_dots, NAME_DOTS_MAX, span)
    }

    fn open(&mut self, around: &Around<'_>, span: Span) -> Result<(), SqlError> {
        let parent = *self.top();
        let in_row = parent.from_run > 0 && matches!(around.before(1), Some(Token::LParen));
        let first = parent.in_from
            && (matches!(around.before(1), Some(Token::Comma))
                || matches!(around.keyword(-1), Keyword::FROM | Keyword::JOIN));
        let mut level = Level { trials: parent.trials, trials_before_run: parent.trials, ..Level::default() };
        if in_row {
            level.from_run = parent.from_run + 1;
            level.trials_before_run = parent.trials_before_run;
            level.trials = parent.trials_before_run * level.from_run;
            within("brackets in a row in FROM", level.trials, FROM_TRIALS_MAX, span)?;
        } else if first {
            level.from_run = 1;
        }
        level.in_from = in_row || first;
        self.push(level, span)
    }

    fn push(&mut self, level: Level, span: Span) -> Result<(), SqlError> {
        let prefixes_around = self.prefixes();
        self.levels.push(Level { prefixes_around, ..level });
        self.size.nesting = self.size.nesting.max(self.levels.len() - 1);
        within("brackets inside brackets", self.levels.len() - 1, NESTING_MAX, span)
    }

    /// Ends the last level; a bracket or END that closes nothing is the parser's to report.
    fn close(&mut self, is_case: bool) {
        if self.levels.len() < 2 || self.top().is_case != is_case {
            return;
        }
        if let Some(level) = self.levels.pop() {
            self.subqueries -= usize::from(level.is_query);
            let parent = self.top();
            parent.inside_kb = parent.inside_kb.max(level.tree_kb());
        }
    }

    fn operator(&mut self) {
        self.top().operators += 1;
    }

    fn piece(&mut self) {
        self.top().end_piece();
    }

    #[allow(clippy::expect_used)] // `close` keeps the outermost level
    fn top(&mut self) -> &mut Level {
        self.levels.last_mut().expect("the outermost level stays")
    }
}

fn is_pattern_operator(around: &Around<'_>) -> bool {
    matches!(around.tokens.get(around.index), Some(TokenWithSpan { token: Token::Word(word), .. })
        if word.quote_style.is_none() && (words::pattern_function(&word.value).is_some() || word.value.eq_ignore_ascii_case("OVERLAPS")))
}

/// A token among its neighbours.
struct Around<'a> {
    tokens: &'a [TokenWithSpan],
    index: usize,
}

impl Around<'_> {
    fn at(&self, offset: isize) -> Option<&Token> {
        let index = self.index.checked_add_signed(offset)?;
        self.tokens.get(index).map(|token| &token.token)
    }

    fn before(&self, n: isize) -> Option<&Token> {
        self.at(-n)
    }

    fn after(&self, n: isize) -> Option<&Token> {
        self.at(n)
    }

    fn is_symmetric(&self) -> bool {
        matches!(self.after(1), Some(Token::Word(word)) if word.value.eq_ignore_ascii_case("SYMMETRIC"))
    }

    /// Whether a sign here is one between two operands.
    fn follows_operand(&self) -> bool {
        match self.before(1) {
            Some(Token::Word(word)) => {
                let part_of_name = matches!(self.before(2), Some(Token::Period));
                part_of_name || !words::is_reserved(word.keyword) || word.keyword == Keyword::END
            }
            Some(
                Token::Number(..)
                | Token::TripleSingleQuotedString(_)
                | Token::SingleQuotedString(_)
                | Token::HexStringLiteral(_)
                | Token::Placeholder(_)
                | Token::RParen
                | Token::RBracket,
            ) => true,
            _ => false,
        }
    }

    fn keyword(&self, offset: isize) -> Keyword {
        match self.at(offset) {
            Some(Token::Word(word)) => word.keyword,
            _ => Keyword::NoKeyword,
        }
    }
}

fn within(what: &'static str, count: usize, limit: usize, span: Span) -> Result<(), SqlError> {
    match count > limit {
        true => Err(SqlError::too_deep(what, limit, span)),
        false => Ok(()),
    }
}
