//! The queries of a WITH before a write, and which of them a part of the statement names.

use std::ops::ControlFlow;

use saltwing_types::table::is_same_name;
use sqlparser::ast::{Cte, ObjectName, Visit, Visitor};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;

use crate::cursor::Cursor;
use crate::derived;
use crate::error::SqlError;
use crate::{place, query};

/// The number of the token with which the write after WITH begins; `None` of a query.
pub(crate) fn write_start(cursor: &Cursor<'_>) -> Option<usize> {
    let mut depth = 0_usize;
    for index in cursor.index()..cursor.token_count() {
        match &cursor.token(index).token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            // The statement follows the bracket of the last query; a word in another place is a name.
            Token::Word(word) if depth == 0 && follows_bracket(cursor, index) && word.quote_style.is_none() => {
                return match word.keyword {
                    Keyword::INSERT | Keyword::UPDATE | Keyword::DELETE | Keyword::MERGE => Some(index),
                    // After the columns of a query.
                    Keyword::AS => continue,
                    _ => word.value.eq_ignore_ascii_case("UPSERT").then_some(index),
                };
            }
            _ => {}
        }
    }
    None
}

fn follows_bracket(cursor: &Cursor<'_>, index: usize) -> bool {
    index.checked_sub(1).is_some_and(|before| cursor.token(before).token == Token::RParen)
}

/// The queries of a WITH.
pub(crate) struct Named {
    pub(crate) is_recursive: bool,
    pub(crate) queries: Vec<NamedQuery>,
}

pub(crate) struct NamedQuery {
    pub(crate) cte: Cte,
    pub(crate) tokens: usize,
    /// The queries of the same WITH that it may name, by their places, and itself.
    pub(crate) needs: Vec<bool>,
    /// Whether a copy could have other rows.
    pub(crate) is_random: bool,
}

/// Reads `WITH [RECURSIVE] name AS (query), ..`, which ends before token number `end`.
pub(crate) fn parse(cursor: &mut Cursor<'_>, end: usize) -> Result<Named, SqlError> {
    query::check_words(cursor, end)?;
    cursor.expect(&["WITH"])?;
    let is_recursive = cursor.eat(&["RECURSIVE"]);
    let queries = cursor.list(|cursor| {
        let start = cursor.index();
        let cte = cursor.named_query()?;
        let is_random = derived::is_random(&cte.query);
        Ok(NamedQuery { cte, tokens: cursor.index() - start, needs: Vec::new(), is_random })
    })?;
    for (at, NamedQuery { cte, .. }) in queries.iter().enumerate() {
        let name = &cte.alias.name;
        let is_it = |known: &NamedQuery| is_same_name(&known.cte.alias.name.value, &name.value);
        if queries.get(..at).unwrap_or_default().iter().any(is_it) {
            let span = place::span_of(name.span).unwrap_or_else(place::origin);
            return Err(SqlError::syntax(format!("the name {name} stands twice in WITH"), span));
        }
    }
    match cursor.index() == end {
        true => Ok(Named { is_recursive, queries: with_needs(queries) }),
        false => Err(cursor.expected("INSERT, UPSERT, UPDATE, DELETE or MERGE after the queries of WITH")),
    }
}

/// Each query with the places of all that it needs.
fn with_needs(mut queries: Vec<NamedQuery>) -> Vec<NamedQuery> {
    let mut needs: Vec<Vec<bool>> = Vec::with_capacity(queries.len());
    for (place, query) in queries.iter().enumerate() {
        let mut own = places_named(&*query.cte.query, &queries);
        if let Some(itself) = own.get_mut(place) {
            *itself = true;
        }
        needs.push(own);
    }
    // What a needed query needs is needed, too.
    for through in 0..needs.len() {
        let Some(added) = needs.get(through).cloned() else { continue };
        for own in needs.iter_mut().filter(|own| own.get(through) == Some(&true)) {
            own.iter_mut().zip(&added).for_each(|(known, more)| *known |= more);
        }
    }
    queries.iter_mut().zip(needs).for_each(|(query, needs)| query.needs = needs);
    queries
}

/// Which of the queries a tree names, by their places; also a table of that name where the query is hidden.
pub(crate) fn places_named<T: Visit>(tree: &T, queries: &[NamedQuery]) -> Vec<bool> {
    let mut found = TableNames { queries, found: vec![false; queries.len()] };
    let _ = tree.visit(&mut found);
    found.found
}

struct TableNames<'n> {
    queries: &'n [NamedQuery],
    found: Vec<bool>,
}

impl Visitor for TableNames<'_> {
    type Break = ();

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
        if let Some(place) = place_of(self.queries, name)
            && let Some(found) = self.found.get_mut(place)
        {
            *found = true;
        }
        ControlFlow::Continue(())
    }
}

/// The place of the query that a table's name means; a list of dynamic columns after the name is no part of it.
pub(crate) fn place_of(queries: &[NamedQuery], name: &ObjectName) -> Option<usize> {
    let mut identifiers = name.0.iter().filter_map(|part| part.as_ident());
    let (first, None) = (identifiers.next()?, identifiers.next()) else { return None };
    queries.iter().position(|query| is_same_name(&query.cte.alias.name.value, &first.value))
}
