//! Queries: sqlparser's grammar, without what it reads wrongly.
//!
//! Before sqlparser sees a query, its words are looked through once. Some things
//! have to be refused there because the tree would not show them any more:
//! `FROM WHERE` would be a table named WHERE, and `(DELETE FROM t)` a query.

use std::ops::Range;

use saltwing_types::Span;
use sqlparser::ast::{Fetch, LimitClause, Query, Value, VisitMut, VisitorMut};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::cursor::Cursor;
use crate::error::SqlError;
use crate::parameter::parameter_place;
use crate::statement::{After, AfterToken, Hint, QueryStatement, SourceText};
use crate::{as_of, refused_word, sequence, sequence_value, ties, words};

/// Advice if ON CONFLICT or ON DUPLICATE KEY stands in a query.
const CONFLICT_PLACE: &str = "it stands behind the rows of INSERT INTO or UPSERT INTO";

/// Reads `(query)`, which other tokens may follow.
pub(crate) fn in_brackets(cursor: &mut Cursor<'_>, hints: Vec<Hint>) -> Result<QueryStatement, SqlError> {
    check_words(cursor, after_brackets(cursor, cursor.index()))?;
    cursor.expect_symbol(&Token::LParen)?;
    let start = cursor.index();
    let items = select_items(cursor);
    let query = parse(cursor)?;
    let span = cursor.span_from(start);
    cursor.expect_symbol(&Token::RParen)?;
    sequence::check_query(cursor, &query)?;
    Ok(QueryStatement { query, hints, items, after: None, span })
}

/// Reads a query to the end of the statement.
pub(crate) fn statement(cursor: &mut Cursor<'_>, hints: Vec<Hint>) -> Result<QueryStatement, SqlError> {
    let start = cursor.index();
    check_words(cursor, cursor.token_count())?;
    let items = select_items(cursor);
    let query = parse(cursor)?;
    sequence::check_query(cursor, &query)?;
    let span = cursor.span_from(start);
    Ok(QueryStatement { query, hints, items, after: None, span })
}

/// Whether a query begins here, in a statement that may have the name of a table in its place.
pub(crate) fn starts(cursor: &Cursor<'_>) -> bool {
    *cursor.peek(0) == Token::LParen || ["SELECT", "WITH", "VALUES"].iter().any(|word| cursor.at(&[word]))
}

/// Reads a query that is a statement by itself: its result may be one page.
pub(crate) fn page(cursor: &mut Cursor<'_>, hints: Vec<Hint>) -> Result<QueryStatement, SqlError> {
    let mut query = statement(cursor, hints)?;
    if query.query.limit_clause.is_some() && cursor.eat(&["AFTER"]) {
        let span = cursor.here();
        let token = match cursor.peek(0) {
            Token::TripleSingleQuotedString(text) => Some(AfterToken::Text(text.clone())),
            Token::Word(word) if word.keyword == Keyword::NULL => Some(AfterToken::None),
            Token::Placeholder(name) => parameter_place(name).map(AfterToken::Parameter),
            _ => None,
        };
        let Some(token) = token else { return Err(cursor.expected("the token of a page, NULL or a parameter")) };
        cursor.skip();
        query.after = Some(After { token, span });
    }
    Ok(query)
}

/// Reads a query whose words have been looked through.
pub(crate) fn parse(cursor: &mut Cursor<'_>) -> Result<Box<Query>, SqlError> {
    let start = cursor.index();
    let mut query = cursor.query()?;
    let fetch = (start..cursor.index()).find(|index| keyword(cursor, *index) == Keyword::FETCH);
    if let Some(index) = fetch {
        let mut limits = FetchAsLimit { refused: None };
        let _ = query.visit(&mut limits);
        if let Some(what) = limits.refused {
            return Err(SqlError::not_supported(what, cursor.span_at(index)));
        }
    }
    if reads_past(cursor, start) {
        as_of::compute_first(&mut query);
    }
    Ok(query)
}

/// Whether a table is read as it was at an instant, in the tokens from `start` up to here.
fn reads_past(cursor: &Cursor<'_>, start: usize) -> bool {
    (start..cursor.index()).any(|index| keyword(cursor, index) == Keyword::SYSTEM_TIME)
}

fn keyword(cursor: &Cursor<'_>, index: usize) -> Keyword {
    match index < cursor.token_count() {
        true => match &cursor.token(index).token {
            Token::Word(word) => word.keyword,
            _ => Keyword::NoKeyword,
        },
        false => Keyword::NoKeyword,
    }
}

/// `FETCH FIRST 10 ROWS ONLY` is `LIMIT 10`; the relational engine knows only the latter.
struct FetchAsLimit {
    refused: Option<&'static str>,
}

impl VisitorMut for FetchAsLimit {
    type Break = ();

    fn post_visit_query(&mut self, query: &mut Query) -> std::ops::ControlFlow<()> {
        let Some(Fetch { with_ties, percent, quantity }) = query.fetch.take() else {
            return std::ops::ControlFlow::Continue(());
        };
        let one = || sqlparser::ast::Expr::value(Value::Number("1".to_owned(), false));
        let count = Some(quantity.unwrap_or_else(one));
        let limit_clause = match query.limit_clause.take() {
            None => Some(LimitClause::LimitOffset { limit: count, offset: None, limit_by: Vec::new() }),
            Some(LimitClause::LimitOffset { limit: None, offset, limit_by }) => {
                Some(LimitClause::LimitOffset { limit: count, offset, limit_by })
            }
            Some(_) => None,
        };
        let limit_clause = match (with_ties, limit_clause) {
            (true, Some(LimitClause::LimitOffset { limit: Some(count), offset: None, limit_by }))
                if limit_by.is_empty() && !percent && ties::keep(query, count.clone()) =>
            {
                return std::ops::ControlFlow::Continue(());
            }
            (_, limit_clause) => limit_clause,
        };
        self.refused = self.refused.or(match (with_ties, percent, &limit_clause) {
            (true, ..) => Some("FETCH .. WITH TIES of this form"),
            (_, true, _) => Some("FETCH .. PERCENT"),
            (.., None) => Some("LIMIT and FETCH together"),
            _ => None,
        });
        query.limit_clause = limit_clause;
        std::ops::ControlFlow::Continue(())
    }
}

/// Writes `TABLE t`, where a query may start, as `SELECT * FROM t`.
///
/// sqlparser reads it without the quotes of the name, and DataFusion not at all.
pub(crate) fn rewrite_table(tokens: &mut Vec<TokenWithSpan>, ranges: &mut Vec<Range<usize>>) {
    let keyword = |tokens: &[TokenWithSpan], index: Option<usize>| match index.and_then(|index| tokens.get(index)) {
        Some(TokenWithSpan { token: Token::Word(word), .. }) => word.keyword,
        _ => Keyword::NoKeyword,
    };
    let writes = match tokens.first().map(|token| &token.token) {
        Some(Token::Word(word)) if word.quote_style.is_none() => {
            ["INSERT", "UPSERT"].iter().any(|verb| word.value.eq_ignore_ascii_case(verb))
        }
        _ => false,
    };
    let mut index = 0;
    while index < tokens.len() {
        let previous = index.checked_sub(1);
        // INSERT INTO t TABLE u.
        let follows_target = writes
            && matches!(
                previous.and_then(|previous| tokens.get(previous)).map(|token| &token.token),
                Some(Token::Word(_))
            )
            && keyword(tokens, previous) != Keyword::INTO;
        // CREATE VIEW v AS TABLE t.
        let follows_as = keyword(tokens, previous) == Keyword::AS && keyword(tokens, Some(0)) == Keyword::CREATE;
        let starts_query = match previous.and_then(|previous| tokens.get(previous)).map(|token| &token.token) {
            None | Some(Token::LParen | Token::RParen) => true,
            Some(_) if follows_as || follows_target => true,
            Some(_) => matches!(
                keyword(tokens, previous),
                Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT | Keyword::ALL | Keyword::DISTINCT
            ),
        };
        let name_follows = matches!(tokens.get(index + 1), Some(TokenWithSpan { token: Token::Word(_), .. }));
        if starts_query
            && name_follows
            && keyword(tokens, Some(index)) == Keyword::TABLE
            && let (Some(TokenWithSpan { span, .. }), Some(range)) = (tokens.get(index), ranges.get(index).cloned())
        {
            let span = *span;
            let written = [Token::make_keyword("SELECT"), Token::Mul, Token::make_keyword("FROM")];
            tokens.splice(index..=index, written.map(|token| TokenWithSpan { token, span }));
            ranges.splice(index..=index, std::iter::repeat_n(range, 3));
        }
        index += 1;
    }
}

/// Looks through all words from here up to token number `end`.
///
/// To be called once a statement, before its first query or condition is read.
pub(crate) fn check_words(cursor: &Cursor<'_>, end: usize) -> Result<(), SqlError> {
    for index in cursor.index()..end {
        let Token::Word(word) = &cursor.token(index).token else { continue };
        if word.quote_style.is_some() || before(cursor, index) == Some(&Token::Period) {
            continue;
        }
        let span = cursor.span_at(index);
        // A query may begin after any word: CREATE VIEW v AS SELECT.
        if index > cursor.index() {
            misplaced(cursor, index, word.keyword, span)?;
        }
        unknown_clause(cursor, index, &word.value, word.keyword, span)?;
    }
    Ok(())
}

fn before<'c>(cursor: &'c Cursor<'_>, index: usize) -> Option<&'c Token> {
    index.checked_sub(1).map(|previous| &cursor.token(previous).token)
}

fn is_word(cursor: &Cursor<'_>, index: usize, text: &str) -> bool {
    matches!(&cursor.token(index).token, Token::Word(word)
        if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(text))
}

/// A word that starts nothing, where something has to start.
fn misplaced(cursor: &Cursor<'_>, index: usize, keyword: Keyword, span: Span) -> Result<(), SqlError> {
    use Keyword::{
        AS, EXCEPT, FILTER, FROM, HAVING, JOIN, LEFT, ON, ORDER, OVER, RECURSIVE, RIGHT, SELECT, WHERE, WINDOW, WITH,
    };
    let word_back = |n: usize| index.checked_sub(n).map_or(Keyword::NoKeyword, |index| self::keyword(cursor, index));
    let next_is_bracket = cursor.token(index + 1).token == Token::LParen;
    if matches!(keyword, LEFT | RIGHT | Keyword::LIKE) && next_is_bracket {
        return Ok(());
    }
    let written = cursor.text(index, index + 1);
    let upper = written.to_uppercase();
    let starts_nothing = words::starts_nothing(keyword);
    let error = |message: String| SqlError::syntax(message, span);
    let quote = format!("if {upper} is meant as a name, quote it: \"{written}\"");
    Err(match before(cursor, index) {
        Some(Token::LParen) if words::is_clause_word(keyword) => {
            // Windows and filters: OVER (ORDER BY ..), FILTER (WHERE ..).
            if keyword == ORDER || (keyword == WHERE && word_back(2) == FILTER) {
                return Ok(());
            }
            error(format!("expected something between \"(\" and {upper}")).with_help(quote)
        }
        // sqlparser would take WITH for the name of a table.
        Some(Token::LParen) if keyword == WITH && !begins_named_query(cursor, index) => {
            error("expected the name of a query and AS behind WITH".to_owned()).with_help(quote)
        }
        Some(Token::Comma) if starts_nothing => {
            error(format!("expected something between \",\" and {upper}")).with_help("take the comma out")
        }
        Some(Token::Word(_)) if words::is_reserved(keyword) => match word_back(1) {
            AS if keyword != SELECT || !next_is_bracket => SqlError::reserved(written, "a name after AS", span),
            OVER | WINDOW => SqlError::reserved(written, "the name of a window", span),
            WITH | RECURSIVE if starts_nothing && keyword != RECURSIVE => SqlError::reserved(written, "a name", span),
            SELECT if keyword == FROM => {
                error("expected an expression before FROM".to_owned()).with_help("name the columns, or write * for all")
            }
            // `SELECT DISTINCT`, `SELECT ALL`.
            SELECT | ON | WHERE | Keyword::BY | HAVING if words::is_clause_word(keyword) => {
                error(format!("expected an expression before {upper}")).with_help(quote)
            }
            FROM | JOIN if keyword == SELECT => {
                error(format!("expected a table, found {upper}")).with_help("put the query in brackets")
            }
            FROM | JOIN if starts_nothing || (keyword == Keyword::VALUES && !next_is_bracket) => {
                error(format!("expected a table, found {upper}")).with_help(quote)
            }
            _ => return Ok(()),
        },
        // `* EXCEPT (a)`, `a.* EXCEPT (a)`: sqlparser's to read; `2 * FROM` is sqlparser's to refuse.
        Some(Token::Mul) if keyword == EXCEPT => return Ok(()),
        _ => return Ok(()),
    })
}

/// Whether `WITH [RECURSIVE] name AS` or `WITH [RECURSIVE] name (` stands here.
fn begins_named_query(cursor: &Cursor<'_>, index: usize) -> bool {
    let name = index + 1 + usize::from(is_word(cursor, index + 1, "RECURSIVE"));
    let is_name = matches!(cursor.token(name).token, Token::Word(_));
    is_name && (is_word(cursor, name + 1, "AS") || cursor.token(name + 1).token == Token::LParen)
}

/// Words that would be names, or worse, to sqlparser.
fn unknown_clause(cursor: &Cursor<'_>, index: usize, text: &str, keyword: Keyword, span: Span) -> Result<(), SqlError> {
    let previous_is = |text: &str| index > 0 && is_word(cursor, index - 1, text);
    let next_is = |text: &str| is_word(cursor, index + 1, text);
    let upper = text.to_uppercase();
    let refuse = |what: &str| Err(SqlError::not_supported(what, span));
    match keyword {
        Keyword::UPDATE if previous_is("FOR") => Err(SqlError::not_supported("SELECT .. FOR UPDATE", span).with_help(
            "transactions take no locks: of two that write the same row the second fails with 40001, and is run again",
        )),
        // The action of a MERGE.
        Keyword::INSERT | Keyword::UPDATE | Keyword::DELETE if previous_is("THEN") => Ok(()),
        Keyword::INSERT | Keyword::UPDATE | Keyword::DELETE | Keyword::MERGE => {
            Err(SqlError::not_supported(format!("{upper} inside another statement"), span)
                .with_help("write it by itself with RETURNING; a transaction holds several statements together"))
        }
        Keyword::INTO => Err(SqlError::not_supported("SELECT .. INTO", span)
            .with_help("write the rows with UPSERT INTO table SELECT ..")),
        Keyword::WITH if cursor.token(index + 1).token == Token::LParen => refuse("WITH (..) behind a table"),
        Keyword::ARRAY if matches!(cursor.token(index + 1).token, Token::Lt | Token::Neq | Token::ShiftLeft) => {
            refuse("the type ARRAY<..>")
        }
        Keyword::TIMESTAMP | Keyword::TIME if next_is("WITH") && is_word(cursor, index + 2, "TIME") => {
            Err(SqlError::not_supported(format!("{upper} WITH TIME ZONE"), span)
                .with_help("all instants are UTC; leave WITH TIME ZONE out"))
        }
        _ if upper == "DUPLICATE" && previous_is("ON") && next_is("KEY") => {
            Err(SqlError::not_supported("ON DUPLICATE KEY in a query", span).with_help(CONFLICT_PLACE))
        }
        // Without an action it is a column of that name in the condition of a join.
        _ if upper == "CONFLICT" && previous_is("ON") && conflict_action(cursor, index + 1).is_some() => {
            let span = cursor.span_at(index - 1);
            Err(SqlError::not_supported("ON CONFLICT in a query", span).with_help(CONFLICT_PLACE))
        }
        _ if upper == "OF" && previous_is("AS") && next_is("SYSTEM") => {
            Err(SqlError::not_supported("AS OF SYSTEM TIME", span).with_help("write AS OF TIMESTAMP expression"))
        }
        _ if upper == "SYSTEM_TIME" && previous_is("FOR") && !next_is("AS") => {
            Err(SqlError::not_supported("FOR SYSTEM_TIME without AS OF", span)
                .with_help("write t AS OF TIMESTAMP expression"))
        }
        _ => match refused_word::refusal(cursor, index, &upper) {
            Some((what, help)) => Err(SqlError::not_supported(what, span).with_help(help)),
            None => Ok(()),
        },
    }
}

/// The index of the action of an ON CONFLICT, if `index` follows one: `[(..) [WHERE ..]] DO action`.
pub(crate) fn conflict_action(cursor: &Cursor<'_>, mut index: usize) -> Option<usize> {
    if cursor.token(index).token == Token::LParen {
        index = after_brackets(cursor, index);
        if keyword(cursor, index) == Keyword::WHERE {
            index = end_of_condition(cursor, index + 1)?;
        }
    }
    is_word(cursor, index, "DO").then_some(index + 1)
}

/// The DO that ends the condition of an ON CONFLICT. A statement or a bracket that ends before, and another ON, show that there is
/// none.
fn end_of_condition(cursor: &Cursor<'_>, from: usize) -> Option<usize> {
    let mut depth = 0;
    for at in from..cursor.token_count() {
        let ends = cursor.token(at).token == Token::RParen || keyword(cursor, at) == Keyword::ON;
        if depth == 0 && ends {
            return None;
        }
        depth = depth_after(cursor, at, depth);
        let is_action = || ["NOTHING", "UPDATE"].iter().any(|word| is_word(cursor, at + 1, word));
        if depth == 0 && is_word(cursor, at, "DO") && is_action() {
            return Some(at);
        }
    }
    None
}

/// The items of the SELECT that names the result's columns, as written.
fn select_items(cursor: &Cursor<'_>) -> Vec<SourceText> {
    let Some(mut at) = first_select(cursor) else { return Vec::new() };
    at += 1;
    match keyword(cursor, at) {
        Keyword::ALL => at += 1,
        Keyword::DISTINCT if keyword(cursor, at + 1) == Keyword::ON => at = after_brackets(cursor, at + 2),
        Keyword::DISTINCT => at += 1,
        _ => {}
    }
    let (mut items, mut start, mut depth) = (Vec::new(), at, 0_usize);
    loop {
        let ends = at >= cursor.token_count() || (depth == 0 && ends_list(cursor, at));
        if ends || (depth == 0 && cursor.token(at).token == Token::Comma) {
            if at > start {
                let span = cursor.span_at(start).union(cursor.span_at(at - 1));
                items.push(SourceText { text: cursor.text(start, at).to_owned(), span });
            }
            start = at + 1;
        }
        if ends {
            return items;
        }
        depth = depth_after(cursor, at, depth);
        at += 1;
    }
}

/// Where the outermost SELECT stands that comes first; `None` for VALUES and TABLE.
fn first_select(cursor: &Cursor<'_>) -> Option<usize> {
    let (mut at, mut depth, mut in_with) = (cursor.index(), 0_usize, false);
    while at < cursor.token_count() {
        match (&cursor.token(at).token, keyword(cursor, at)) {
            (_, Keyword::SELECT) if depth == 0 => return Some(at),
            (_, Keyword::VALUES | Keyword::TABLE) if depth == 0 => return None,
            (_, Keyword::WITH) if depth == 0 => in_with = true,
            // The body itself stands in brackets: `(SELECT ..) UNION ..`, `WITH .. AS (..) (SELECT ..)`.
            (Token::LParen, _) if depth == 0 && (!in_with || before(cursor, at) == Some(&Token::RParen)) => {
                in_with = false;
            }
            _ => depth = depth_after(cursor, at, depth),
        }
        at += 1;
    }
    None
}

/// How many brackets and CASEs are open after token `at`.
fn depth_after(cursor: &Cursor<'_>, at: usize, depth: usize) -> usize {
    let part_of_name = before(cursor, at) == Some(&Token::Period);
    match (&cursor.token(at).token, keyword(cursor, at)) {
        (Token::LParen | Token::LBracket, _) => depth + 1,
        (Token::RParen | Token::RBracket, _) => depth.saturating_sub(1),
        (_, Keyword::CASE) if !part_of_name => depth + 1,
        (_, Keyword::END) if !part_of_name => depth.saturating_sub(1),
        _ => depth,
    }
}

fn after_brackets(cursor: &Cursor<'_>, mut at: usize) -> usize {
    let mut depth = 0;
    while at < cursor.token_count() {
        depth = depth_after(cursor, at, depth);
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at
}

/// Whether token `at` ends a SELECT's list.
fn ends_list(cursor: &Cursor<'_>, at: usize) -> bool {
    use Keyword::{EXCEPT, FETCH, FOR, FROM, GROUP, HAVING, INTERSECT, LIMIT, OFFSET, ORDER, UNION, WHERE, WINDOW};
    let previous = before(cursor, at);
    let distinct_from = at > 0 && keyword(cursor, at - 1) == Keyword::DISTINCT;
    let within_group = at > 0 && keyword(cursor, at - 1) == Keyword::WITHIN;
    match (&cursor.token(at).token, keyword(cursor, at)) {
        (Token::RParen | Token::SemiColon, _) => true,
        (_, EXCEPT) => previous != Some(&Token::Mul),
        (_, FOR) if previous.is_some_and(sequence_value::precedes_for) => false,
        (_, FROM) => previous != Some(&Token::Period) && !distinct_from,
        (_, GROUP) if within_group => false,
        (_, FETCH | FOR | GROUP | HAVING | INTERSECT | LIMIT | OFFSET | ORDER | UNION | WHERE | WINDOW) => {
            previous != Some(&Token::Period)
        }
        _ => false,
    }
}
