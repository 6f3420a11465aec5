//! Types of a statement's parameters, as far as the statement tells them.

use std::ops::ControlFlow;

use saltwing_sql::parameter_place;
use saltwing_types::{Expr, SqlType};
use sqlparser::ast::{self, LimitClause, Query, SelectItem, SetExpr, Visitor};

use crate::dml::UpsertTarget;
use crate::statement_query::StatementQuery;
use crate::tree::BoundQuery;

/// Types of parameters, by number from 0; the first place that tells a parameter's type counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParameterTypes(Vec<Option<SqlType>>);

impl ParameterTypes {
    /// The types of `count` parameters.
    pub fn into_types(mut self, count: usize) -> Vec<Option<SqlType>> {
        self.0.resize(count, None);
        self.0
    }

    /// Notes the type of a parameter.
    pub fn note(&mut self, index: usize, ty: SqlType) {
        if self.0.len() <= index {
            self.0.resize(index + 1, None);
        }
        if let Some(known) = self.0.get_mut(index) {
            known.get_or_insert(ty);
        }
    }

    /// Notes the types that another part of the statement tells.
    pub fn note_all(&mut self, others: &Self) {
        for (index, ty) in others.0.iter().enumerate() {
            ty.iter().for_each(|ty| self.note(index, *ty));
        }
    }

    /// Notes the types that the typing rules gave to parameters of an expression. A parameter in arithmetic has the
    /// type of the result.
    pub fn note_expr(&mut self, e: &Expr) {
        e.walk(&mut |part| match part {
            Expr::Param(index, Some(ty)) => self.note(*index, *ty),
            Expr::Arith(_, a, b, ty) => {
                for side in [a, b] {
                    if let Expr::Param(index, None) = **side {
                        self.note(index, *ty);
                    }
                }
            }
            _ => {}
        });
    }

    /// Notes what a query tells, without LIMIT and OFFSET.
    pub fn note_query(&mut self, bound: &BoundQuery) {
        bound.for_each_expr(&mut |e| self.note_expr(e));
    }

    /// Notes the items of a query that are parameters: each has the type of the column that it is written to.
    pub fn note_targets(&mut self, query: &Query, target: &UpsertTarget) {
        let SetExpr::Select(select) = &*query.body else { return };
        for (item, &column) in select.projection.iter().zip(&target.columns) {
            let item = match item {
                SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. } => parameter(e),
                // The items after a wildcard have no known place.
                _ => return,
            };
            if let (Some(index), Some(column)) = (item, target.column(column)) {
                self.note(index, column.ty);
            }
        }
    }

    /// Notes the parameters that LIMIT and OFFSET of a query and its subqueries are: they take BIGINT.
    pub fn note_row_counts(&mut self, query: StatementQuery<'_>) {
        for index in query.limit().into_iter().filter_map(parameter) {
            self.note(index, SqlType::BigInt);
        }
        let _ = query.visit(&mut RowCounts(self));
    }
}

struct RowCounts<'a>(&'a mut ParameterTypes);

impl Visitor for RowCounts<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let (limit, offset) = match &query.limit_clause {
            Some(LimitClause::LimitOffset { limit, offset, .. }) => (limit.as_ref(), offset.as_ref().map(|o| &o.value)),
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => (Some(limit), Some(offset)),
            None => (None, None),
        };
        for index in limit.into_iter().chain(offset).filter_map(parameter) {
            self.0.note(index, SqlType::BigInt);
        }
        ControlFlow::Continue(())
    }
}

/// The number, from 0, of the parameter that an expression is.
pub(crate) fn parameter(e: &ast::Expr) -> Option<usize> {
    match e {
        ast::Expr::Value(ast::ValueWithSpan { value: ast::Value::Placeholder(name), .. }) => parameter_place(name),
        _ => None,
    }
}
