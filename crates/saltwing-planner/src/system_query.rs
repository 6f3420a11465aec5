//! Queries over one system table, which run without the relational engine.
//!
//! The rows are made in memory and are few, so each relation above them is a step that takes all rows at once. Expressions name columns by
//! their ids.

use std::sync::Arc;

use saltwing_bind::{
    BoundQuery, CallColumn, ComputedColumn, ExternalSource, GroupCall, OutputColumn, Relation, ResultColumn, RowCount,
    SortItem, SystemTable,
};
use saltwing_types::{ColumnRef, Expr};

use crate::direct::{Aggregate, AggregateStrategy};
use crate::direct_query::{GroupOrder, Grouping};

/// A query over the rows of one system table.
pub struct SystemQuery {
    /// The table.
    pub table: &'static dyn SystemTable,
    /// The places of its columns that are read, ascending.
    pub read: Vec<usize>,
    /// What becomes of the rows, the first step first.
    pub steps: Vec<SystemStep>,
    /// The columns of the result.
    pub columns: Arc<[ResultColumn]>,
    /// Their ids.
    pub output: Vec<usize>,
    /// The columns of the table.
    of_table: Vec<ColumnRef>,
}

/// What becomes of all rows at once.
pub enum SystemStep {
    /// The rows that meet all conditions stay.
    Filter(Vec<Expr>),
    /// Columns are added, each over those before.
    Compute(Vec<ComputedColumn>),
    /// One row for each group takes the place of the rows.
    Group {
        /// Keys and calls. They are the outputs of a group, too.
        aggregate: Aggregate,
        /// The ids of the outputs.
        columns: Vec<usize>,
    },
    /// They are sorted.
    Sort(Vec<GroupOrder>),
    /// The rows of OFFSET go, and of those after them the rows of LIMIT stay.
    Limit {
        /// LIMIT.
        limit: RowCount,
        /// OFFSET.
        offset: RowCount,
    },
}

impl SystemQuery {
    /// The query as steps over a system table; `None` if it is none over one such table, or more than these steps.
    pub fn of(query: &BoundQuery) -> Option<Self> {
        let (table, of_table) = source(&query.relation)?;
        let mut is_of_engine = false;
        query.for_each_expr(&mut |expr| is_of_engine |= expr.is_of_engine());
        if is_of_engine {
            return None;
        }
        let (mut steps, mut relation) = (Vec::new(), &query.relation);
        while let Some(input) = input(relation) {
            steps.push(SystemStep::of(relation)?);
            relation = input;
        }
        steps.reverse();
        let output: Vec<usize> = query.output.iter().map(|output| output.column.index).collect();
        let mut named = output.clone();
        query.for_each_expr(&mut |expr| named.extend(expr.columns()));
        steps.iter().for_each(|step| named.extend(step.columns()));
        let is_read = |(_, column): &(usize, &ColumnRef)| named.contains(&column.index);
        let read = of_table.iter().enumerate().filter(is_read).map(|(place, _)| place).collect();
        Some(Self { table, read, steps, columns: query.columns(), output, of_table: of_table.to_vec() })
    }

    /// The columns of the table that are read.
    pub fn read_columns(&self) -> impl Iterator<Item = &ColumnRef> {
        self.read.iter().filter_map(|place| self.of_table.get(*place))
    }
}

/// The relation that a step is made on.
fn input(relation: &Relation) -> Option<&Relation> {
    match relation {
        Relation::Filter { input, .. }
        | Relation::Project { input, .. }
        | Relation::Aggregate { input, .. }
        | Relation::Distinct { input, .. }
        | Relation::Sort { input, .. }
        | Relation::Limit { input, .. } => Some(input),
        _ => None,
    }
}

/// The system table below all steps, and its columns.
fn source(relation: &Relation) -> Option<(&'static dyn SystemTable, &[ColumnRef])> {
    let mut relation = relation;
    while let Some(input) = input(relation) {
        relation = input;
    }
    match relation {
        Relation::External { source: ExternalSource::System(table), columns, .. } => Some((*table, columns)),
        _ => None,
    }
}

impl SystemStep {
    fn of(relation: &Relation) -> Option<Self> {
        Some(match relation {
            Relation::Filter { conditions, .. } => {
                Self::Filter(conditions.iter().map(|condition| condition.expr.clone()).collect())
            }
            Relation::Project { columns, .. } => Self::Compute(columns.clone()),
            Relation::Aggregate { keys, calls, sets: None, .. } => {
                let keys = keys.iter().map(|key| (key.expr.clone(), &key.column)).collect();
                Self::grouped(keys, calls)?
            }
            Relation::Distinct { columns, .. } => {
                let keys = columns.iter().map(|column| (Expr::Column(column.clone()), column)).collect();
                Self::grouped(keys, &[])?
            }
            Relation::Sort { items, .. } => Self::Sort(items.iter().map(order).collect()),
            Relation::Limit { limit, offset, .. } => Self::Limit { limit: *limit, offset: *offset },
            _ => return None,
        })
    }

    fn grouped(keys: Vec<(Expr, &ColumnRef)>, calls: &[CallColumn]) -> Option<Self> {
        let of_group: Vec<&ColumnRef> =
            keys.iter().map(|(_, column)| *column).chain(calls.iter().map(|call| &call.column)).collect();
        let output = |(place, column): (usize, &&ColumnRef)| {
            let expr = Expr::Column(ColumnRef { index: place, ..(*column).clone() });
            OutputColumn { label: column.name.clone(), ty: column.ty, expr }
        };
        let outputs = of_group.iter().enumerate().map(output).collect();
        let columns = of_group.iter().map(|column| column.index).collect();
        let own = |call: &CallColumn| match &call.call {
            GroupCall::Own(call) => Some(call.clone()),
            GroupCall::Engine(_) => None,
        };
        let calls = calls.iter().map(own).collect::<Option<_>>()?;
        let strategy = if keys.is_empty() { AggregateStrategy::Ungrouped } else { AggregateStrategy::Hash };
        let keys = keys.into_iter().map(|(key, _)| key).collect();
        let grouping = Grouping { keys, calls, having: Vec::new(), outputs, order: Vec::new() };
        Some(Self::Group { aggregate: Aggregate { grouping, strategy }, columns })
    }

    /// The columns that it names outside of the expressions of the tree.
    fn columns(&self) -> Vec<usize> {
        match self {
            Self::Sort(items) => items.iter().flat_map(|item| item.expr.columns()).collect(),
            // Of DISTINCT.
            Self::Group { aggregate, .. } => aggregate.grouping.keys.iter().flat_map(Expr::columns).collect(),
            Self::Filter(_) | Self::Compute(_) | Self::Limit { .. } => Vec::new(),
        }
    }
}

fn order(SortItem { column, order, nulls_first }: &SortItem) -> GroupOrder {
    GroupOrder { expr: Expr::Column(column.clone()), order: *order, nulls_first: *nulls_first }
}
