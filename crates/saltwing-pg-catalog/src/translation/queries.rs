//! Queries: WITH, set operations, ORDER BY and LIMIT around a SELECT.

use sqlparser::ast::{
    Cte, Expr, Join, JoinOperator, LimitClause, OrderBy, OrderByExpr, OrderByKind, Query, SetExpr, Statement,
    TableFactor, TableWithJoins, Values, With,
};

use super::build::{folded, name};
use super::scope::{Output, Scope, Type};
use super::translator::{Translator, not_supported};
use crate::CatalogError;
use crate::relations::{PG_CATALOG_NAME, Relation, relation_named};

/// Where a query stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Its rows go to the client.
    Top,
    Inside,
}

impl Translator<'_> {
    /// The query whose rows go to the client.
    pub(super) fn top(&mut self, query: &mut Query) -> Result<Vec<Output>, CatalogError> {
        self.query(query, Scope::default(), Place::Top)
    }

    /// A query inside of another one, whose columns it may name.
    pub(super) fn query(
        &mut self,
        query: &mut Query,
        outer: Scope<'_>,
        place: Place,
    ) -> Result<Vec<Output>, CatalogError> {
        let Query {
            with,
            body,
            order_by,
            limit_clause,
            fetch,
            locks,
            for_clause,
            settings,
            format_clause,
            pipe_operators,
        } = query;
        let is_plain =
            for_clause.is_none() && settings.is_none() && format_clause.is_none() && pipe_operators.is_empty();
        if !locks.is_empty() || !is_plain {
            return Err(not_supported("FOR UPDATE and clauses of other databases"));
        }
        let known = self.ctes.len();
        if let Some(with) = with {
            self.with(with, outer)?;
        }
        let outputs = self.body(body, outer, order_by.as_mut(), place)?;
        let limits = match limit_clause {
            Some(LimitClause::LimitOffset { limit, offset, limit_by }) if limit_by.is_empty() => {
                [limit.as_mut(), offset.as_mut().map(|offset| &mut offset.value)]
            }
            None => [None, None],
            Some(_) => return Err(not_supported("LIMIT of other databases")),
        };
        let fetched = fetch.as_mut().and_then(|fetch| fetch.quantity.as_mut());
        for limit in limits.into_iter().chain([fetched]).flatten() {
            self.expr(limit, outer)?;
        }
        self.ctes.truncate(known);
        Ok(outputs)
    }

    fn with(&mut self, with: &mut With, outer: Scope<'_>) -> Result<(), CatalogError> {
        for cte in &mut with.cte_tables {
            // Whether its rows are kept is the engine's choice.
            cte.materialized = None;
            end_of_recursion(&mut cte.query);
            let columns = match (with.recursive, &mut *cte.query.body) {
                (true, SetExpr::SetOperation { left, .. }) => {
                    // The second branch names the query, whose columns are those of the first.
                    let first = self.body(left, outer, None, Place::Inside)?;
                    let columns = named(cte, first)?;
                    self.ctes.push((folded(&cte.alias.name), columns.clone()));
                    self.second_branch(&mut cte.query, outer)?;
                    self.ctes.pop();
                    columns
                }
                _ => {
                    let outputs = self.query(&mut cte.query, outer, Place::Inside)?;
                    named(cte, outputs)?
                }
            };
            let alias = folded(&cte.alias.name);
            cte.alias.name = name(&alias);
            self.ctes.push((alias, columns));
        }
        Ok(())
    }

    fn second_branch(&mut self, query: &mut Query, outer: Scope<'_>) -> Result<(), CatalogError> {
        if query.with.is_some() || query.limit_clause.is_some() || query.order_by.is_some() {
            return Err(not_supported("WITH, ORDER BY and LIMIT in a recursive query"));
        }
        match &mut *query.body {
            SetExpr::SetOperation { right, .. } => self.body(right, outer, None, Place::Inside).map(|_| ()),
            _ => Ok(()),
        }
    }

    fn body(
        &mut self,
        body: &mut SetExpr,
        outer: Scope<'_>,
        order_by: Option<&mut OrderBy>,
        place: Place,
    ) -> Result<Vec<Output>, CatalogError> {
        match body {
            SetExpr::Select(select) => self.select(select, outer, order_by, place),
            SetExpr::Query(query) => {
                let outputs = self.query(query, outer, place)?;
                order_of_outputs(order_by, &outputs)?;
                Ok(outputs)
            }
            SetExpr::SetOperation { left, right, .. } => {
                let mut outputs = self.body(left, outer, None, place)?;
                let others = self.body(right, outer, None, place)?;
                for (output, other) in outputs.iter_mut().zip(others) {
                    if output.ty == Type::Open {
                        output.ty = other.ty;
                    }
                }
                order_of_outputs(order_by, &outputs)?;
                Ok(outputs)
            }
            SetExpr::Values(values) => {
                let outputs = self.values(values, outer)?;
                order_of_outputs(order_by, &outputs)?;
                Ok(outputs)
            }
            SetExpr::Insert(statement)
            | SetExpr::Update(statement)
            | SetExpr::Delete(statement)
            | SetExpr::Merge(statement) => Err(writes(statement)),
            SetExpr::Table(_) => Err(not_supported("TABLE as a query")),
        }
    }

    fn values(&mut self, values: &mut Values, outer: Scope<'_>) -> Result<Vec<Output>, CatalogError> {
        let mut types: Vec<Type> = Vec::new();
        for row in &mut values.rows {
            for (place, value) in row.content.iter_mut().enumerate() {
                let ty = self.expr(value, outer)?;
                match types.get_mut(place) {
                    Some(known) if *known == Type::Open => *known = ty,
                    Some(_) => {}
                    None => types.push(ty),
                }
            }
        }
        Ok(types.into_iter().zip(1..).map(|(ty, place)| Output::new(&format!("column{place}"), ty)).collect())
    }
}

fn writes(_: &Statement) -> CatalogError {
    not_supported("statements that write")
}

/// A second branch that reads what never has rows, and not by an outer join, ends the recursion before it begins.
fn end_of_recursion(query: &mut Query) {
    let SetExpr::SetOperation { left, right, .. } = &mut *query.body else { return };
    let has_no_rows = matches!(&**right, SetExpr::Select(select) if select.from.iter().any(never_has_rows));
    if has_no_rows {
        let first = std::mem::replace(
            &mut **left,
            SetExpr::Values(Values { explicit_row: false, value_keyword: false, rows: Vec::new() }),
        );
        *query.body = first;
    }
}

fn never_has_rows(table: &TableWithJoins) -> bool {
    let is_inner = |join: &&Join| {
        matches!(join.join_operator, JoinOperator::Join(_) | JoinOperator::Inner(_) | JoinOperator::CrossJoin(_))
    };
    let is_all_inner = table.joins.iter().all(|join| is_inner(&join));
    let factors = std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation));
    is_all_inner && factors.into_iter().any(is_empty_relation)
}

fn is_empty_relation(factor: &TableFactor) -> bool {
    let TableFactor::Table { name, args: None, .. } = factor else { return false };
    let path: Vec<String> = name.0.iter().filter_map(|part| part.as_ident()).map(folded).collect();
    let found = match path.as_slice() {
        [own] => relation_named(PG_CATALOG_NAME, own),
        [schema, own] => relation_named(schema, own),
        _ => None,
    };
    found.is_some_and(Relation::is_empty)
}

/// The columns of a query of WITH under the names that it gives them.
fn named(cte: &mut Cte, mut outputs: Vec<Output>) -> Result<Vec<Output>, CatalogError> {
    rename(&mut outputs, &cte.alias.columns.iter().map(|column| folded(&column.name)).collect::<Vec<_>>())?;
    for column in &mut cte.alias.columns {
        column.name = name(&folded(&column.name));
    }
    Ok(outputs)
}

/// Gives the first columns other names.
pub(super) fn rename(outputs: &mut [Output], names: &[String]) -> Result<(), CatalogError> {
    for (output, name) in outputs.iter_mut().zip(names) {
        if matches!(output.ty, Type::Record(_)) {
            return Err(not_supported("other names for a column that is a row"));
        }
        (output.name, output.physical) = (name.clone(), name.clone());
    }
    Ok(())
}

/// ORDER BY of a query that is no SELECT: by names or places of its columns.
fn order_of_outputs(order_by: Option<&mut OrderBy>, outputs: &[Output]) -> Result<(), CatalogError> {
    for key in order_keys(order_by)? {
        if let Expr::Identifier(ident) = &key.expr {
            let wanted = folded(ident);
            let output = outputs.iter().find(|output| output.name == wanted);
            let output = output.ok_or(CatalogError::NoColumn(wanted))?;
            key.expr = Expr::Identifier(name(&output.physical));
        }
        nulls_as_in_postgres(key);
    }
    Ok(())
}

/// The keys of an ORDER BY.
pub(super) fn order_keys(order_by: Option<&mut OrderBy>) -> Result<&mut [OrderByExpr], CatalogError> {
    match order_by {
        None => Ok(&mut []),
        Some(OrderBy { kind: OrderByKind::Expressions(keys), interpolate: None }) => Ok(keys),
        Some(_) => Err(not_supported("ORDER BY of other databases")),
    }
}

/// In PostgreSQL, NULLs are greater than all values.
pub(super) fn nulls_as_in_postgres(key: &mut OrderByExpr) {
    let is_ascending = key.options.asc.unwrap_or(true);
    key.options.nulls_first.get_or_insert(!is_ascending);
}
