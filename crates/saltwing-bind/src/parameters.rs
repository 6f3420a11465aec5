//! Types of a statement's parameters, as far as the statement tells them.

use saltwing_types::{Expr, SqlType};

use crate::select::{BoundSelect, Output};

/// Types of parameters, by number from 0; the first place that tells a parameter's type counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParameterTypes(Vec<Option<SqlType>>);

impl ParameterTypes {
    /// `count` parameters of unknown types.
    pub fn new(count: usize) -> Self {
        Self(vec![None; count])
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The types.
    pub fn into_types(self) -> Vec<Option<SqlType>> {
        self.0
    }

    /// Notes the type of a parameter.
    pub fn note(&mut self, index: usize, ty: SqlType) {
        if let Some(known) = self.0.get_mut(index) {
            known.get_or_insert(ty);
        }
    }

    /// Notes the types that the typing rules gave to parameters of an expression.
    pub fn note_expr(&mut self, e: &Expr) {
        e.walk(&mut |part| {
            if let Expr::Param(index, Some(ty)) = part {
                self.note(*index, *ty);
            }
        });
    }

    /// Notes what a SELECT tells; LIMIT and OFFSET take BIGINT.
    pub fn note_select(&mut self, bound: &BoundSelect) {
        bound.conditions.iter().for_each(|condition| self.note_expr(&condition.expr));
        match &bound.output {
            Output::Rows(columns) => columns.iter().for_each(|column| self.note_expr(&column.expr)),
            Output::Groups(grouping) => grouping.exprs().for_each(|e| self.note_expr(e)),
        }
        let (limit, offset) = bound.limit_parameters;
        limit.into_iter().chain(offset).for_each(|index| self.note(index, SqlType::BigInt));
    }
}
