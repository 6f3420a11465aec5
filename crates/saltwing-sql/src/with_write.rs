//! WITH before INSERT, UPSERT, UPDATE, DELETE and MERGE: each query in the statement stands under the queries of WITH that it names.

use std::ops::ControlFlow;

use saltwing_types::Span;
use sqlparser::ast::{Cte, Ident, Query, SetExpr, TableAlias, TableFactor, VisitMut, VisitorMut, With};

use crate::derived;
use crate::error::SqlError;
use crate::guard::{self, TreeSize};
use crate::named_queries::{Named, place_of, places_named};
use crate::statement::{Assignment, ConflictAction, MergeAction, RowSource, Statement};

/// Puts the queries of a WITH into a statement that writes.
///
/// # Errors
/// A statement that is too large then.
pub(crate) fn put(statement: Statement, named: &Named) -> Result<Statement, SqlError> {
    let span = match &statement {
        Statement::Insert(it) | Statement::Upsert(it) => it.span,
        Statement::Update(it) => it.span,
        Statement::Delete(it) => it.span,
        Statement::Merge(it) => it.span,
        _ => return Err(SqlError::syntax("WITH stands before a query or a write", crate::place::origin())),
    };
    let mut put = Put { named, copied: vec![false; named.queries.len()], depth: 0, tokens: 0, error: None, span };
    let mut statement = statement;
    match &mut statement {
        Statement::Insert(it) | Statement::Upsert(it) => {
            put.in_source(&mut it.source)?;
            if let Some(clause) = &mut it.conflict
                && let ConflictAction::Update { assignments, selection } = &mut clause.action
            {
                put.in_assignments(assignments)?;
                put.in_tree(selection)?;
            }
            it.returning.iter_mut().try_for_each(|returning| put.in_tree(&mut returning.items))?;
        }
        Statement::Update(it) => {
            put.in_assignments(&mut it.assignments)?;
            put.in_tree(&mut it.from)?;
            put.in_tree(&mut it.selection)?;
            put.in_tree(&mut it.order_by)?;
            put.in_tree(&mut it.limit)?;
            it.returning.iter_mut().try_for_each(|returning| put.in_tree(&mut returning.items))?;
        }
        Statement::Delete(it) => {
            put.in_tree(&mut it.using)?;
            put.in_tree(&mut it.selection)?;
            put.in_tree(&mut it.order_by)?;
            put.in_tree(&mut it.limit)?;
            it.returning.iter_mut().try_for_each(|returning| put.in_tree(&mut returning.items))?;
        }
        Statement::Merge(it) => {
            put.in_tree(&mut it.source)?;
            put.in_tree(&mut it.on)?;
            for clause in &mut it.clauses {
                put.in_tree(&mut clause.condition)?;
                match &mut clause.action {
                    MergeAction::Update(assignments) => put.in_assignments(assignments)?,
                    MergeAction::Insert { values, .. } => put.in_tree(values)?,
                    MergeAction::Delete | MergeAction::Nothing => {}
                }
            }
            it.returning.iter_mut().try_for_each(|returning| put.in_tree(&mut returning.items))?;
        }
        _ => {}
    }
    Ok(statement)
}

/// Puts the queries of a WITH around each outermost query of trees.
struct Put<'n> {
    named: &'n Named,
    /// Which of the queries have a copy.
    copied: Vec<bool>,
    /// Queries around the current place.
    depth: usize,
    /// Tokens of the copies so far.
    tokens: usize,
    error: Option<SqlError>,
    span: Span,
}

impl Put<'_> {
    fn in_tree<T: VisitMut>(&mut self, tree: &mut T) -> Result<(), SqlError> {
        self.depth = 0;
        let _ = tree.visit(self);
        self.error.take().map_or(Ok(()), Err)
    }

    fn in_source(&mut self, source: &mut RowSource) -> Result<(), SqlError> {
        match source {
            RowSource::Query(query) => self.in_tree(query),
            RowSource::Values(rows) => rows.iter_mut().try_for_each(|row| self.in_tree(&mut row.values)),
        }
    }

    fn in_assignments(&mut self, assignments: &mut [Assignment]) -> Result<(), SqlError> {
        assignments.iter_mut().try_for_each(|assignment| self.in_tree(&mut assignment.value))
    }

    /// The queries that a query needs; `None` if it names none.
    fn needed_by(&mut self, query: &Query) -> Result<Option<With>, SqlError> {
        let queries = &self.named.queries;
        let mut needed = vec![false; queries.len()];
        let names = places_named(query, queries);
        for (query, _) in queries.iter().zip(names).filter(|(_, is_named)| *is_named) {
            needed.iter_mut().zip(&query.needs).for_each(|(known, more)| *known |= more);
        }
        for ((query, is_needed), is_copied) in queries.iter().zip(&needed).zip(&mut self.copied) {
            if query.is_random && *is_needed && *is_copied {
                let text =
                    format!("a query with random values, {}, for several queries of a write", query.cte.alias.name);
                return Err(SqlError::not_supported(text, self.span).with_help(
                    "write its rows into a temporary table first: each query would have values of its own",
                ));
            }
            *is_copied |= *is_needed;
        }
        let needed = || queries.iter().zip(&needed).filter(|(_, is_needed)| **is_needed).map(|(query, _)| query);
        self.tokens = needed().fold(self.tokens, |sum, query| sum.saturating_add(query.tokens));
        guard::check_copies(self.tokens, self.span)?;
        let cte_tables: Vec<Cte> = needed().map(|query| query.cte.clone()).collect();
        let with_token = sqlparser::ast::helpers::attached_token::AttachedToken::empty();
        let with = With { with_token, recursive: self.named.is_recursive, cte_tables };
        Ok(Some(with).filter(|with| !with.cte_tables.is_empty()))
    }

    fn wrap(&mut self, query: &mut Query) -> Result<(), SqlError> {
        let Some(with) = self.needed_by(query)? else { return Ok(()) };
        if query.with.is_some() {
            // A scope of its own: its queries hide those of the same names from itself alone.
            let own = std::mem::replace(query, derived::nothing());
            *query.body = SetExpr::Query(Box::new(own));
        }
        query.with = Some(with);
        TreeSize::of(query, self.span).map(drop)
    }

    fn keep(&mut self, result: Result<(), SqlError>) -> ControlFlow<()> {
        match result {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.error = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}

impl VisitorMut for Put<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.depth -= 1;
        if self.depth > 0 {
            return ControlFlow::Continue(());
        }
        let result = self.wrap(query);
        self.keep(result)
    }

    /// An item of FROM or USING that is one of the names becomes a query for it.
    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        let TableFactor::Table { name, alias, .. } = factor else { return ControlFlow::Continue(()) };
        let Some(place) = place_of(&self.named.queries, name).filter(|_| self.depth == 0) else {
            return ControlFlow::Continue(());
        };
        let Some(known) = self.named.queries.get(place) else { return ControlFlow::Continue(()) };
        let name = Ident { span: sqlparser::tokenizer::Span::empty(), ..known.cte.alias.name.clone() };
        let alias = alias.take().unwrap_or(TableAlias { explicit: true, name, columns: Vec::new(), at: None });
        let Some(mut subquery) = derived::of_factor("SELECT * FROM t", factor.clone()) else {
            return ControlFlow::Continue(());
        };
        let result = self.wrap(&mut subquery);
        *factor = TableFactor::Derived { lateral: false, subquery, alias: Some(alias), sample: None };
        self.keep(result)
    }
}
