//! Names of WITH clauses in FROM.

use std::ops::ControlFlow;
use std::sync::Arc;

use saltwing_types::table::is_same_name;
use saltwing_types::{ColumnRef, Span};
use sqlparser::ast::{self, Cte, CteAsMaterialized, Query, SetExpr, SetQuantifier, TableAlias, visit_relations};

use crate::from::{Named, check_aliases, relabelled, renamed};
use crate::query::check_width;
use crate::query_binder::{Bound, CteScope, NamedCte, QueryBinder, SharedQuery, WorkTable, unsupported};
use crate::scope::Scope;
use crate::tree::{BoundQuery, Output, Relation, SetInput, SetOperator};

impl QueryBinder<'_> {
    /// The rows of a query of a WITH clause, under its name or an alias. Each name of it is a copy with columns of its own.
    pub(crate) fn named_cte(
        &self,
        named: &NamedCte<'_>,
        alias: Option<&TableAlias>,
        span: Option<Span>,
    ) -> Bound<Named> {
        let NamedCte { cte, scope } = named;
        let known = scope.shared.get(scope.visible);
        if let Some(shared) = known.and_then(|known| known.borrow().clone()) {
            return self.shared(&shared, cte, alias, span);
        }
        let binder = QueryBinder { ctes: Some(scope), outer: scope.outer, ..*self };
        check_aliases(&cte.query.body)?;
        let BoundQuery { relation, output } = match recursive_terms(cte, scope.is_recursive) {
            Some(terms) => binder.recursive(cte, scope, terms?)?,
            None => binder.query(&cte.query, &[])?,
        };
        // A copy would have other rows.
        let is_shared = relation.is_volatile() || cte.materialized == Some(CteAsMaterialized::Materialized);
        if let Some(known) = known.filter(|_| is_shared) {
            let (labels, columns) = output.into_iter().map(|output| (output.label, output.column)).unzip();
            let rows = Arc::new(SetInput { relation, columns });
            let shared = SharedQuery { number: self.ids.take(1), rows, labels };
            *known.borrow_mut() = Some(shared.clone());
            return self.shared(&shared, cte, alias, span);
        }
        let columns = relabelled(output, &cte.alias)?;
        Ok((relation, called(columns, &cte.alias.name.value, alias, span)?))
    }

    /// The rows of a query that several names share.
    fn shared(
        &self,
        SharedQuery { number, rows, labels }: &SharedQuery,
        cte: &Cte,
        alias: Option<&TableAlias>,
        span: Option<Span>,
    ) -> Bound<Named> {
        let first = self.ids.take(labels.len());
        let fresh = |(place, column): (usize, &ColumnRef)| {
            if let Some(data_type) = self.ids.opaque.get(column.index) {
                self.ids.opaque.put(first + place, data_type);
            }
            ColumnRef { index: first + place, ..column.clone() }
        };
        let columns: Vec<ColumnRef> = rows.columns.iter().enumerate().map(fresh).collect();
        let output = |(label, column): (&String, &ColumnRef)| Output { label: label.clone(), column: column.clone() };
        let output = relabelled(labels.iter().zip(&columns).map(output).collect(), &cte.alias)?;
        let relation = Relation::Shared { number: *number, rows: rows.clone(), columns };
        Ok((relation, called(output, &cte.alias.name.value, alias, span)?))
    }

    /// The rows of the round before, inside of a recursive query.
    pub(crate) fn work_table(
        &self,
        WorkTable { number, columns }: &WorkTable,
        name: &str,
        alias: Option<&TableAlias>,
        span: Option<Span>,
    ) -> Bound<Named> {
        let first = self.ids.take(columns.len());
        let fresh = |(place, column): (usize, &ColumnRef)| ColumnRef { index: first + place, ..column.clone() };
        let columns: Vec<ColumnRef> = columns.iter().enumerate().map(fresh).collect();
        let output = columns.iter().map(Output::of).collect();
        Ok((Relation::WorkTable { number: *number, columns }, called(output, name, alias, span)?))
    }

    /// A query that names itself: the first term, and the one for each further round.
    fn recursive(&self, cte: &Cte, scope: &CteScope<'_>, (first, next, distinct): Terms<'_>) -> Bound<BoundQuery> {
        let first = self.body(first, &[])?;
        let labelled = relabelled(first.output.clone(), &cte.alias)?;
        let number = self.ids.take(labelled.len());
        let column = |(place, output): (usize, &Output)| ColumnRef {
            index: number + place,
            name: output.label.clone(),
            nullable: true,
            ..output.column.clone()
        };
        let columns: Vec<ColumnRef> = labelled.iter().enumerate().map(column).collect();
        let output = columns.iter().map(Output::of).collect();
        let table = WorkTable { number, columns: columns.clone() };
        let scope = CteScope { work_table: Some(&table), ..*scope };
        let further = QueryBinder { ctes: Some(&scope), ..*self }.body(next, &[])?;
        check_width(SetOperator::Union, next, columns.len(), further.output.len())?;
        let next = self.set_input(further, &columns)?;
        let first_columns = first.output.into_iter().map(|output| output.column).collect();
        let first = SetInput { relation: first.relation, columns: first_columns };
        let (first, next, name) = (Box::new(first), Box::new(next), cte.alias.name.value.clone());
        Ok(BoundQuery { relation: Relation::Recursive { number, name, first, next, distinct, columns }, output })
    }
}

/// The names of columns under an alias, or under the name of what has them.
fn called(columns: Vec<Output>, name: &str, alias: Option<&TableAlias>, span: Option<Span>) -> Bound<Scope> {
    match alias {
        Some(alias) => renamed(columns, Some(alias)),
        None => Ok(Scope::of_query(columns, Some(name.to_owned()), span)),
    }
}

/// The two terms of a recursive query, and whether a row counts once.
type Terms<'a> = (&'a SetExpr, &'a SetExpr, bool);

/// The terms of a query that names itself; `None` of one that does not.
fn recursive_terms(cte: &Cte, is_recursive: bool) -> Option<Bound<Terms<'_>>> {
    let Query { with, body, order_by, limit_clause, .. } = &*cte.query;
    if !is_recursive || !names(&cte.query, &cte.alias.name.value) {
        return None;
    }
    let SetExpr::SetOperation { op: ast::SetOperator::Union, set_quantifier, left, right } = &**body else {
        return Some(unsupported("a recursive query that is no UNION"));
    };
    if with.is_some() || order_by.is_some() || limit_clause.is_some() {
        return Some(unsupported("a clause around a recursive UNION"));
    }
    match set_quantifier {
        SetQuantifier::All => Some(Ok((left, right, false))),
        SetQuantifier::Distinct | SetQuantifier::None => Some(Ok((left, right, true))),
        _ => Some(unsupported("BY NAME")),
    }
}

/// Whether a query has a table of this name anywhere.
fn names(query: &Query, name: &str) -> bool {
    let found = visit_relations(query, |relation| match relation.0.as_slice() {
        [part] if part.as_ident().is_some_and(|ident| is_same_name(&ident.value, name)) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    found.is_break()
}
