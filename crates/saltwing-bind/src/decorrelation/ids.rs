//! New ids of columns, and copies of relations under new ids.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use saltwing_types::{ColumnRef, Expr, Span, SqlType, interrupt};

use crate::error::{BindError, BindErrorKind, Result};
use crate::tree::{BoundQuery, JoinKind, Relation, group_columns};

/// Most relations of all copies in a statement. LATERAL in LATERAL, and a subquery in each of these, copy one another.
const COPIED_MAX: usize = 20_000;

/// The ids that no column of a statement has.
pub(super) struct FreshIds {
    next: Cell<usize>,
    /// How many relations have been copied.
    copied: Cell<usize>,
}

impl FreshIds {
    /// Those after all ids of a query.
    pub(super) fn after(query: &BoundQuery) -> Self {
        let mut next = 0;
        query.relation.for_each(&mut |relation| {
            for_each_given(relation, &mut |id| next = next.max(id + 1));
            relation.for_each_column(&mut |column| next = next.max(column.index + 1));
        });
        Self { next: Cell::new(next), copied: Cell::new(0) }
    }

    /// Takes `count` consecutive ids, and gives the first one.
    pub(super) fn take(&self, count: usize) -> usize {
        let first = self.next.get();
        self.next.set(first + count);
        first
    }

    /// A new column.
    pub(super) fn column(&self, name: &str, ty: SqlType, nullable: bool) -> ColumnRef {
        ColumnRef { index: self.take(1), name: name.to_owned(), ty, nullable, span: None }
    }

    /// A new column of the name and the type of another one.
    pub(super) fn like(&self, column: &ColumnRef) -> ColumnRef {
        ColumnRef { index: self.take(1), ..column.clone() }
    }

    /// A copy of a relation, and the new id of each of its columns.
    ///
    /// # Errors
    /// Too many copies, and a statement that must stop.
    pub(super) fn copy(&self, relation: &Relation) -> Result<(Relation, HashMap<usize, usize>)> {
        let (mut relations, mut new_ids) = (0, HashMap::new());
        relation.for_each(&mut |relation| {
            relations += 1;
            for_each_given(relation, &mut |id| {
                new_ids.entry(id).or_insert_with(|| self.take(1));
            });
        });
        interrupt::spend(relations).map_err(BindErrorKind::from)?;
        self.copied.set(self.copied.get() + relations);
        if self.copied.get() > COPIED_MAX {
            let text = "correlated subqueries whose outer queries would be copied too often".to_owned();
            return Err(BindError::from(BindErrorKind::TooLarge(text)).at(first_table(relation)));
        }
        let mut copy = relation.clone();
        copy.for_each_mut(&mut |relation| {
            for_each_column_mut(relation, &mut |column| {
                if let Some(id) = new_ids.get(&column.index) {
                    column.index = *id;
                }
            });
            let own_id = match relation {
                Relation::Scan(scan) => &mut scan.first_column,
                Relation::Join { kind: JoinKind::Mark { column }, .. } => column,
                _ => return,
            };
            if let Some(id) = new_ids.get(own_id) {
                *own_id = *id;
            }
        });
        Ok((copy, new_ids))
    }
}

/// The columns that a relation names and no part of it gives, by id: those of queries around it.
pub(super) fn foreign_columns(relation: &Relation) -> BTreeSet<usize> {
    let (mut named, mut given) = (BTreeSet::new(), BTreeSet::new());
    relation.for_each(&mut |relation| {
        relation.for_each_column(&mut |column| {
            named.insert(column.index);
        });
        for_each_given(relation, &mut |id| {
            given.insert(id);
        });
    });
    &named - &given
}

/// Calls `visit` with the id of each column that a relation gives and none of its inputs does.
fn for_each_given(relation: &Relation, visit: &mut dyn FnMut(usize)) {
    let mut all = |columns: &mut dyn Iterator<Item = &ColumnRef>| columns.for_each(|column| visit(column.index));
    match relation {
        Relation::Scan(scan) => (scan.first_column..scan.first_column + scan.table.width()).for_each(visit),
        Relation::External { columns, .. }
        | Relation::Values { columns, .. }
        | Relation::SetOperation { columns, .. }
        | Relation::Recursive { columns, .. }
        | Relation::WorkTable { columns, .. }
        | Relation::Shared { columns, .. } => all(&mut columns.iter()),
        Relation::Unnest { columns, .. } => all(&mut columns.iter().map(|it| &it.column)),
        Relation::Project { columns, .. } => all(&mut columns.iter().map(|it| &it.column)),
        Relation::Apply { subqueries, .. } => all(&mut subqueries.iter().map(|it| &it.column)),
        Relation::Window { calls, .. } => all(&mut calls.iter().map(|it| &it.column)),
        Relation::Aggregate { keys, calls, sets, .. } => {
            let groupings = sets.iter().flat_map(|sets| &sets.groupings).map(|grouping| &grouping.column);
            all(&mut group_columns(keys, calls).chain(groupings));
        }
        Relation::Join { kind: JoinKind::Mark { column }, .. } => visit(*column),
        Relation::Join { .. }
        | Relation::Filter { .. }
        | Relation::Distinct { .. }
        | Relation::DistinctOn { .. }
        | Relation::Sort { .. }
        | Relation::Limit { .. } => {}
    }
}

/// Calls `change` on each column that a relation names or gives, but for those of a scan and a mark.
fn for_each_column_mut(relation: &mut Relation, change: &mut dyn FnMut(&mut ColumnRef)) {
    relation.for_each_own_expr_mut(&mut |expr: &mut Expr| expr.map_columns(change));
    match relation {
        Relation::External { columns, .. }
        | Relation::Values { columns, .. }
        | Relation::WorkTable { columns, .. }
        | Relation::Distinct { columns, .. } => columns.iter_mut().for_each(change),
        Relation::SetOperation { inputs, columns, .. } => {
            columns.iter_mut().chain(inputs.iter_mut().flat_map(|input| &mut input.columns)).for_each(change);
        }
        Relation::Recursive { first, next, columns, .. } => {
            columns.iter_mut().chain(&mut first.columns).chain(&mut next.columns).for_each(change);
        }
        Relation::Shared { rows, columns, .. } => {
            columns.iter_mut().chain(&mut Arc::make_mut(rows).columns).for_each(change);
        }
        Relation::Unnest { columns, .. } => columns.iter_mut().for_each(|it| change(&mut it.column)),
        Relation::Project { columns, .. } => columns.iter_mut().for_each(|it| change(&mut it.column)),
        Relation::Window { calls, .. } => calls.iter_mut().for_each(|it| change(&mut it.column)),
        Relation::Aggregate { keys, calls, sets, .. } => {
            keys.iter_mut().for_each(|it| change(&mut it.column));
            calls.iter_mut().for_each(|it| change(&mut it.column));
            let groupings = sets.iter_mut().flat_map(|sets| &mut sets.groupings);
            groupings.for_each(|it| change(&mut it.column));
        }
        Relation::Join { same, .. } => same.iter_mut().flat_map(|(left, right)| [left, right]).for_each(change),
        Relation::DistinctOn { on, order, columns, .. } => {
            on.iter_mut().chain(columns).chain(order.iter_mut().map(|item| &mut item.column)).for_each(change);
        }
        Relation::Sort { items, .. } => items.iter_mut().for_each(|item| change(&mut item.column)),
        Relation::Apply { subqueries, .. } => subqueries.iter_mut().for_each(|subquery| {
            change(&mut subquery.column);
            subquery.query.output.iter_mut().for_each(|output| change(&mut output.column));
        }),
        Relation::Scan(_) | Relation::Filter { .. } | Relation::Limit { .. } => {}
    }
}

/// Where the statement names the first table of a relation.
fn first_table(relation: &Relation) -> Option<Span> {
    let mut span = None;
    relation.for_each(&mut |relation| {
        if let Relation::Scan(scan) = relation {
            span = span.or(scan.span);
        }
    });
    span
}
