//! Properties of a relation, and relations built on another.

use std::sync::Arc;

use saltwing_plan::Condition;
use saltwing_types::{ColumnRef, Expr};

use super::{
    ComputedColumn, ExternalSource, JoinKind, Relation, SubqueryColumn, UnnestColumn, WindowColumn, group_columns,
};

impl Relation {
    /// One row without columns.
    pub(crate) fn one_row() -> Self {
        Self::Values { rows: vec![Vec::new()], columns: Vec::new() }
    }

    /// Whether it is that.
    pub(crate) fn is_one_row(&self) -> bool {
        matches!(self, Self::Values { rows, columns } if rows.len() == 1 && columns.is_empty())
    }

    /// The relations that it reads, those of its subqueries last; none of a scan.
    pub fn inputs(&self) -> Vec<&Relation> {
        match self {
            Self::Scan(_) | Self::External { .. } | Self::Values { .. } | Self::WorkTable { .. } => Vec::new(),
            Self::SetOperation { inputs, .. } => inputs.iter().map(|input| &input.relation).collect(),
            Self::Recursive { first, next, .. } => vec![&first.relation, &next.relation],
            Self::Shared { rows, .. } => vec![&rows.relation],
            Self::Join { left, right, .. } => vec![left, right],
            Self::Apply { input, subqueries } => {
                let subqueries = subqueries.iter().map(|subquery| &subquery.query.relation);
                std::iter::once(&**input).chain(subqueries).collect()
            }
            Self::Filter { input, .. }
            | Self::Aggregate { input, .. }
            | Self::Project { input, .. }
            | Self::Distinct { input, .. }
            | Self::DistinctOn { input, .. }
            | Self::Window { input, .. }
            | Self::Unnest { input, .. }
            | Self::Sort { input, .. }
            | Self::Limit { input, .. } => vec![input],
        }
    }

    /// Calls `visit` on every relation of the tree, those that others read first.
    pub fn for_each<'a>(&'a self, visit: &mut dyn FnMut(&'a Relation)) {
        self.inputs().into_iter().for_each(|input| input.for_each(visit));
        visit(self);
    }

    /// Calls `visit` on the columns that this relation names, without those of its input.
    pub(crate) fn for_each_column(&self, visit: &mut dyn FnMut(&ColumnRef)) {
        self.for_each_own_expr(&mut |expr| {
            expr.walk(&mut |part| {
                if let Expr::Column(column) = part {
                    visit(column);
                }
            });
        });
        match self {
            Self::Distinct { columns, .. } | Self::Values { columns, .. } => {
                columns.iter().for_each(visit);
            }
            Self::SetOperation { inputs, columns, .. } => {
                columns.iter().chain(inputs.iter().flat_map(|input| &input.columns)).for_each(visit);
            }
            Self::Recursive { first, next, columns, .. } => {
                columns.iter().chain(&first.columns).chain(&next.columns).for_each(visit);
            }
            Self::Shared { rows, columns, .. } => columns.iter().chain(&rows.columns).for_each(visit),
            Self::Sort { items, .. } => items.iter().for_each(|item| visit(&item.column)),
            Self::Join { same, .. } => same.iter().flat_map(|(left, right)| [left, right]).for_each(visit),
            Self::DistinctOn { on, order, columns, .. } => {
                on.iter().chain(columns).chain(order.iter().map(|item| &item.column)).for_each(visit);
            }
            Self::Apply { subqueries, .. } => {
                let outputs = subqueries.iter().flat_map(|subquery| &subquery.query.output);
                outputs.for_each(|output| visit(&output.column));
            }
            _ => {}
        }
    }

    /// Calls `visit` on the expressions of this relation, without those of its input.
    pub(super) fn for_each_own_expr<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        match self {
            Self::Filter { conditions, .. } | Self::Join { conditions, .. } => {
                conditions.iter().for_each(|condition| visit(&condition.expr))
            }
            Self::Project { columns, .. } => columns.iter().for_each(|column| visit(&column.expr)),
            Self::Aggregate { keys, calls, .. } => {
                keys.iter().for_each(|key| visit(&key.expr));
                calls.iter().flat_map(|it| it.call.exprs()).for_each(visit);
            }
            Self::Window { calls, .. } => calls.iter().flat_map(|it| it.call.exprs()).for_each(visit),
            Self::Values { rows, .. } => rows.iter().flatten().for_each(visit),
            Self::Apply { subqueries, .. } => subqueries.iter().flat_map(|it| it.values()).for_each(visit),
            Self::Unnest { columns, .. } => columns.iter().for_each(|column| visit(&column.array)),
            Self::External { source: ExternalSource::Function { args, .. }, .. } => args.iter().for_each(visit),
            Self::Scan(_)
            | Self::External { .. }
            | Self::Shared { .. }
            | Self::Recursive { .. }
            | Self::WorkTable { .. }
            | Self::SetOperation { .. }
            | Self::Distinct { .. }
            | Self::DistinctOn { .. }
            | Self::Sort { .. }
            | Self::Limit { .. } => {}
        }
    }

    /// The same relations, to change them.
    pub(crate) fn inputs_mut(&mut self) -> Vec<&mut Relation> {
        match self {
            Self::Scan(_) | Self::External { .. } | Self::Values { .. } | Self::WorkTable { .. } => Vec::new(),
            Self::SetOperation { inputs, .. } => inputs.iter_mut().map(|input| &mut input.relation).collect(),
            Self::Recursive { first, next, .. } => vec![&mut first.relation, &mut next.relation],
            Self::Shared { rows, .. } => vec![&mut Arc::make_mut(rows).relation],
            Self::Join { left, right, .. } => vec![left, right],
            Self::Apply { input, subqueries } => {
                let subqueries = subqueries.iter_mut().map(|subquery| &mut subquery.query.relation);
                std::iter::once(&mut **input).chain(subqueries).collect()
            }
            Self::Filter { input, .. }
            | Self::Aggregate { input, .. }
            | Self::Project { input, .. }
            | Self::Distinct { input, .. }
            | Self::DistinctOn { input, .. }
            | Self::Window { input, .. }
            | Self::Unnest { input, .. }
            | Self::Sort { input, .. }
            | Self::Limit { input, .. } => vec![input],
        }
    }

    /// Calls `change` on every relation of the tree, those that others read first.
    pub(crate) fn for_each_mut(&mut self, change: &mut dyn FnMut(&mut Relation)) {
        self.inputs_mut().into_iter().for_each(|input| input.for_each_mut(change));
        change(self);
    }

    /// Calls `change` on the expressions of this relation, without those of its input.
    pub(crate) fn for_each_own_expr_mut(&mut self, change: &mut dyn FnMut(&mut Expr)) {
        match self {
            Self::Filter { conditions, .. } | Self::Join { conditions, .. } => {
                for condition in conditions {
                    change(&mut condition.expr);
                    *condition = Condition::new(std::mem::replace(&mut condition.expr, Expr::NULL));
                }
            }
            Self::Project { columns, .. } => columns.iter_mut().for_each(|column| change(&mut column.expr)),
            Self::Aggregate { keys, calls, .. } => {
                keys.iter_mut().for_each(|key| change(&mut key.expr));
                calls.iter_mut().flat_map(|it| it.call.exprs_mut()).for_each(change);
            }
            Self::Window { calls, .. } => calls.iter_mut().flat_map(|it| it.call.exprs_mut()).for_each(change),
            Self::Values { rows, .. } => rows.iter_mut().flatten().for_each(change),
            Self::Apply { subqueries, .. } => subqueries.iter_mut().flat_map(|it| it.values_mut()).for_each(change),
            Self::Unnest { columns, .. } => columns.iter_mut().for_each(|column| change(&mut column.array)),
            Self::External { source: ExternalSource::Function { args, .. }, .. } => args.iter_mut().for_each(change),
            Self::Scan(_)
            | Self::External { .. }
            | Self::Shared { .. }
            | Self::Recursive { .. }
            | Self::WorkTable { .. }
            | Self::SetOperation { .. }
            | Self::Distinct { .. }
            | Self::DistinctOn { .. }
            | Self::Sort { .. }
            | Self::Limit { .. } => {}
        }
    }

    /// Whether an expression in it has another value each time it is computed.
    pub(crate) fn is_volatile(&self) -> bool {
        let mut is_volatile = false;
        self.for_each(&mut |relation| relation.for_each_own_expr(&mut |expr| is_volatile |= expr.is_volatile()));
        is_volatile
    }

    /// Whether it gives the column with this id.
    pub(crate) fn has_column(&self, id: usize) -> bool {
        match self {
            Self::Scan(scan) => (scan.first_column..scan.first_column + scan.table.width()).contains(&id),
            Self::Join { kind: JoinKind::Mark { column }, left, .. } => *column == id || left.has_column(id),
            Self::Join { kind, left, right, .. } => left.has_column(id) || kind.gives_right() && right.has_column(id),
            Self::Unnest { input, columns, .. } => {
                columns.iter().any(|column| column.column.index == id) || input.has_column(id)
            }
            Self::Project { input, columns } => {
                columns.iter().any(|column| column.column.index == id) || input.has_column(id)
            }
            Self::Apply { input, subqueries } => {
                subqueries.iter().any(|subquery| subquery.column.index == id) || input.has_column(id)
            }
            Self::Window { input, calls } => calls.iter().any(|call| call.column.index == id) || input.has_column(id),
            Self::Aggregate { keys, calls, sets, .. } => {
                let groupings = sets.iter().flat_map(|sets| &sets.groupings).map(|grouping| &grouping.column);
                group_columns(keys, calls).chain(groupings).any(|column| column.index == id)
            }
            Self::Distinct { columns, .. }
            | Self::DistinctOn { columns, .. }
            | Self::External { columns, .. }
            | Self::Recursive { columns, .. }
            | Self::WorkTable { columns, .. }
            | Self::Shared { columns, .. }
            | Self::Values { columns, .. }
            | Self::SetOperation { columns, .. } => columns.iter().any(|column| column.index == id),
            Self::Filter { input, .. } | Self::Sort { input, .. } | Self::Limit { input, .. } => input.has_column(id),
        }
    }

    /// The rows that meet all conditions; the same rows if there are none.
    pub(crate) fn filtered(self, conditions: Vec<Condition>) -> Self {
        match self {
            same if conditions.is_empty() => same,
            Self::Filter { input, conditions: mut of_input } => {
                of_input.extend(conditions);
                Self::Filter { input, conditions: of_input }
            }
            other => Self::Filter { input: Box::new(other), conditions },
        }
    }

    /// The rows with the values of subqueries; the same rows if there are none.
    pub(crate) fn applied(self, subqueries: Vec<SubqueryColumn>) -> Self {
        match subqueries.is_empty() {
            true => self,
            false => Self::Apply { input: Box::new(self), subqueries },
        }
    }

    /// The rows with the values of window functions; the same rows if there are none.
    pub(crate) fn windowed(self, calls: Vec<WindowColumn>) -> Self {
        match calls.is_empty() {
            true => self,
            false => Self::Window { input: Box::new(self), calls },
        }
    }

    /// The rows with the elements of arrays; the same rows if there are no arrays.
    pub(crate) fn unnested(self, columns: Vec<UnnestColumn>) -> Self {
        match columns.is_empty() {
            true => self,
            false => Self::Unnest { input: Box::new(self), columns, keeps_rows: false },
        }
    }

    /// The rows with those of the columns that are computed.
    pub(crate) fn projected(self, columns: impl IntoIterator<Item = ComputedColumn>) -> Self {
        let columns: Vec<ComputedColumn> = columns.into_iter().filter(|column| !column.is_input_column()).collect();
        match columns.is_empty() {
            true => self,
            false => Self::Project { input: Box::new(self), columns },
        }
    }
}
