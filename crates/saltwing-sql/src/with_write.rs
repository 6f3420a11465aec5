//! WITH before INSERT, UPSERT, UPDATE, DELETE and MERGE: each query in the statement gets the queries that WITH names.

use std::ops::ControlFlow;

use saltwing_types::Span;
use sqlparser::ast::{
    Cte, Ident, ObjectName, Query, SetExpr, TableAlias, TableFactor, TableWithJoins, VisitMut, VisitorMut, With,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use crate::cursor::Cursor;
use crate::error::SqlError;
use crate::guard::TreeSize;
use crate::query;
use crate::statement::{ConflictAction, RowSource, Statement};

/// The number of the token with which the write behind WITH begins; `None` of a query.
pub(crate) fn write_start(cursor: &Cursor<'_>) -> Option<usize> {
    let mut depth = 0_usize;
    for index in cursor.index()..cursor.token_count() {
        match &cursor.token(index).token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            Token::Word(word) if depth == 0 && word.quote_style.is_none() => match word.keyword {
                Keyword::INSERT | Keyword::UPDATE | Keyword::DELETE | Keyword::MERGE => return Some(index),
                Keyword::SELECT | Keyword::VALUES | Keyword::TABLE => return None,
                _ if word.value.eq_ignore_ascii_case("UPSERT") => return Some(index),
                _ => {}
            },
            _ => {}
        }
    }
    None
}

/// Reads `WITH [RECURSIVE] name AS (query), ..`, which ends before token number `end`.
pub(crate) fn parse(cursor: &mut Cursor<'_>, end: usize) -> Result<With, SqlError> {
    query::check_words(cursor, end)?;
    cursor
        .with_clause(|parser: &mut Parser<'_>| {
            let with_token = parser.expect_keyword(Keyword::WITH)?.into();
            let recursive = parser.parse_keyword(Keyword::RECURSIVE);
            let cte_tables = parser.parse_comma_separated(Parser::parse_cte)?;
            Ok::<With, ParserError>(With { with_token, recursive, cte_tables })
        })
        .and_then(|with| match cursor.index() == end {
            true => Ok(with),
            false => Err(cursor.expected("INSERT, UPSERT, UPDATE, DELETE or MERGE behind the queries of WITH")),
        })
}

/// Puts the queries of a WITH into a statement that writes.
///
/// # Errors
/// A statement that is too large then.
pub(crate) fn put(statement: Statement, with: &With) -> Result<Statement, SqlError> {
    let mut named = Named { with, depth: 0 };
    let span = match &statement {
        Statement::Insert(it) | Statement::Upsert(it) => it.span,
        Statement::Update(it) => it.span,
        Statement::Delete(it) => it.span,
        Statement::Merge(it) => it.span,
        _ => return Err(SqlError::syntax("WITH stands before a query or a write", crate::place::origin())),
    };
    Ok(match statement {
        Statement::Insert(mut it) => {
            named.of_upsert(&mut it, span)?;
            Statement::Insert(it)
        }
        Statement::Upsert(mut it) => {
            named.of_upsert(&mut it, span)?;
            Statement::Upsert(it)
        }
        Statement::Update(mut it) => {
            for assignment in &mut it.assignments {
                named.of_tree(&mut assignment.value, span)?;
            }
            named.of_tree(&mut it.selection, span)?;
            named.of_tables(&mut it.from, span)?;
            Statement::Update(it)
        }
        Statement::Delete(mut it) => {
            named.of_tree(&mut it.selection, span)?;
            named.of_tables(&mut it.using, span)?;
            Statement::Delete(it)
        }
        Statement::Merge(mut it) => {
            named.of_tables(std::slice::from_mut(&mut it.source), span)?;
            Statement::Merge(it)
        }
        other => other,
    })
}

/// Gives queries the names of a WITH.
struct Named<'w> {
    with: &'w With,
    /// Queries around the current one.
    depth: usize,
}

impl Named<'_> {
    fn of_upsert(&mut self, upsert: &mut crate::statement::Upsert, span: Span) -> Result<(), SqlError> {
        match &mut upsert.source {
            RowSource::Query(query) => self.of_tree(query, span)?,
            RowSource::Values(rows) => {
                for value in rows.iter_mut().flat_map(|row| &mut row.values) {
                    self.of_tree(value, span)?;
                }
            }
        }
        if let Some(clause) = &mut upsert.conflict
            && let ConflictAction::Update { assignments, selection } = &mut clause.action
        {
            for assignment in assignments {
                self.of_tree(&mut assignment.value, span)?;
            }
            self.of_tree(selection, span)?;
        }
        Ok(())
    }

    /// Each outermost query in a tree gets the names.
    fn of_tree<T: VisitMut>(&mut self, tree: &mut T, span: Span) -> Result<(), SqlError> {
        self.depth = 0;
        let mut sizes = Vec::new();
        let mut visitor = QueryVisitor { named: self, sizes: &mut sizes, span };
        let _ = tree.visit(&mut visitor);
        sizes.into_iter().collect()
    }

    fn of_tables(&mut self, tables: &mut [TableWithJoins], span: Span) -> Result<(), SqlError> {
        for table in tables {
            self.of_tree(table, span)?;
            self.of_factor(&mut table.relation, span)?;
            for join in &mut table.joins {
                self.of_factor(&mut join.relation, span)?;
            }
        }
        Ok(())
    }

    /// An item of FROM that is one of the names becomes a query for it.
    fn of_factor(&mut self, factor: &mut TableFactor, span: Span) -> Result<(), SqlError> {
        let TableFactor::Table { name, alias, args: None, .. } = &*factor else { return self.of_tree(factor, span) };
        let Some(named) = self.is_named(name) else { return Ok(()) };
        let alias =
            alias.clone().unwrap_or_else(|| TableAlias { explicit: true, name: named, columns: Vec::new(), at: None });
        let Some(mut subquery) = all_of(name.clone()) else { return Ok(()) };
        subquery.with = Some(self.with.clone());
        TreeSize::of(&*subquery, span)?;
        *factor = TableFactor::Derived { lateral: false, subquery, alias: Some(alias), sample: None };
        Ok(())
    }

    fn is_named(&self, name: &ObjectName) -> Option<Ident> {
        let [part] = name.0.as_slice() else { return None };
        let name = part.as_ident()?;
        let is_it = |cte: &&Cte| cte.alias.name.value.eq_ignore_ascii_case(&name.value);
        self.with.cte_tables.iter().find(is_it).map(|_| name.clone())
    }
}

/// Gives each query that is in no other one the names.
struct QueryVisitor<'n, 'w> {
    named: &'n mut Named<'w>,
    sizes: &'n mut Vec<Result<(), SqlError>>,
    span: Span,
}

impl VisitorMut for QueryVisitor<'_, '_> {
    type Break = ();

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.named.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.named.depth -= 1;
        if self.named.depth == 0 {
            let mut with = self.named.with.clone();
            if let Some(own) = query.with.take() {
                // Of two queries of one name the inner one counts.
                let is_hidden = |cte: &Cte| own.cte_tables.iter().any(|known| known.alias.name == cte.alias.name);
                with.cte_tables.retain(|cte| !is_hidden(cte));
                with.cte_tables.extend(own.cte_tables);
                with.recursive |= own.recursive;
            }
            query.with = Some(with);
            self.sizes.push(TreeSize::of(query, self.span).map(drop));
        }
        ControlFlow::Continue(())
    }
}

/// `SELECT * FROM name`.
fn all_of(name: ObjectName) -> Option<Box<Query>> {
    // Its fields are many, and the parser knows them.
    let statement = Parser::parse_sql(&GenericDialect {}, "SELECT * FROM t").ok()?.pop()?;
    let sqlparser::ast::Statement::Query(mut query) = statement else { return None };
    let SetExpr::Select(select) = query.body.as_mut() else { return None };
    if let Some(TableWithJoins { relation: TableFactor::Table { name: table, .. }, .. }) = select.from.first_mut() {
        *table = name;
    }
    Some(query)
}
