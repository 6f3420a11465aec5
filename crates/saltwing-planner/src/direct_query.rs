//! The pattern of a bound query that the direct path runs: one table, at most one grouping, one order.
//!
//! ```text
//! limit                  each at most once
//!   sort
//!     project            what is sorted by after DISTINCT
//!       distinct
//!         project
//!           filter       HAVING
//!             aggregate
//!               filter   WHERE
//!                 scan
//! ```
//!
//! In the place of a projection, of a filter, or of both there may be any number of both: those of views and of queries in brackets
//! ([`Relation::into_rows`]).
//!
//! Expressions of a [`DirectQuery`] have positions: over rows those of the table's columns, over groups those of the keys, then
//! those of the calls.

use std::fmt;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_bind::{
    AggregateCall, BoundQuery, CallColumn, ComputedColumn, GroupCall, Output, OutputColumn, Relation, ResultColumn,
    RowCount, Rows, Scan, SortItem, value_of,
};
use saltwing_plan::{Condition, OrderBy, OrderItem};
use saltwing_sql::statement::Hint;
use saltwing_types::{ColumnRef, Expr, KeySchema, SortOrder, Span};

/// A SELECT over one table: rows of it, or groups of rows.
#[derive(Clone)]
pub struct DirectQuery {
    pub(crate) table: Arc<Table>,
    /// How the statement calls it, where that is not its name.
    pub(crate) alias: Option<String>,
    /// Where the statement names it.
    pub(crate) span: Option<Span>,
    pub(crate) hints: Vec<Hint>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) output: DirectOutput,
    pub(crate) limit: RowCount,
    pub(crate) offset: RowCount,
    /// Whether its rows are a page: LIMIT .. AFTER.
    pub(crate) is_page: bool,
}

/// The output of a [`DirectQuery`].
#[derive(Clone)]
pub(crate) enum DirectOutput {
    /// One row for each row, in this order of columns and parts of the key.
    Rows(Vec<OutputColumn>, Vec<OrderItem>),
    /// One row for each group of rows.
    Groups(Grouping),
}

/// Rows in groups: `SELECT .. GROUP BY`, `SELECT DISTINCT`, or aggregates over all rows.
#[derive(Clone, Debug)]
pub struct Grouping {
    /// An aggregation over the table's columns. Without keys all rows form one group, even if there are none.
    pub keys: Vec<Expr>,
    /// The aggregate calls of each group.
    pub calls: Vec<AggregateCall>,
    /// Conditions on a group, over its keys and calls.
    pub having: Vec<Expr>,
    /// The output expressions of a group, over its keys and calls.
    pub outputs: Vec<OutputColumn>,
    /// The order of the groups, over their keys and calls.
    pub order: Vec<GroupOrder>,
}

impl Grouping {
    /// All expressions in it, over columns, keys and calls.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let calls = self.calls.iter().flat_map(AggregateCall::exprs);
        let outputs = self.outputs.iter().map(|output| &output.expr);
        let order = self.order.iter().map(|item| &item.expr);
        self.keys.iter().chain(calls).chain(&self.having).chain(outputs).chain(order)
    }
}

/// One item of the ORDER BY of groups.
#[derive(Clone, Debug)]
pub struct GroupOrder {
    /// The order of the groups, over keys and calls.
    pub expr: Expr,
    /// The direction.
    pub order: SortOrder,
    /// Whether NULLs come first.
    pub nulls_first: bool,
}

impl fmt::Display for GroupOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = if self.order == SortOrder::Desc { " desc" } else { "" };
        let nulls = if self.nulls_first { "" } else { " nulls last" };
        write!(f, "{}{direction}{nulls}", self.expr)
    }
}

impl DirectQuery {
    /// The query as the direct path runs it; `None` if it is none of its pattern.
    pub fn of(query: BoundQuery) -> Option<Self> {
        let mut is_of_engine = false;
        query.for_each_expr(&mut |expr| is_of_engine |= expr.is_of_engine());
        if is_of_engine {
            return None;
        }
        let BoundQuery { relation, output } = query;
        let (relation, limit, offset, is_page) = match relation {
            Relation::Limit { input, limit, offset, is_page } => (*input, limit, offset, is_page),
            other => (other, RowCount::None, RowCount::None, false),
        };
        let (relation, order) = match relation {
            Relation::Sort { input, items } => (*input, items),
            other => (other, Vec::new()),
        };
        let Rows { relation, conditions: filter, mut computed } = relation.into_rows()?;
        let (relation, filter, distinct) = match relation {
            Relation::Distinct { .. } if !filter.is_empty() => return None,
            Relation::Distinct { input, columns } => {
                let below = input.into_rows()?;
                computed.extend(below.computed);
                (below.relation, below.conditions, Some(columns))
            }
            other => (other, filter, None),
        };
        let (relation, aggregate, mut conditions, having) = match relation {
            Relation::Aggregate { input, mut keys, mut calls, sets: None } => {
                let below = input.into_rows()?;
                keys.iter_mut().try_for_each(|key| below.values_in(&mut key.expr))?;
                let values_in = |expr: &mut Expr| below.values_in(expr);
                calls.iter_mut().try_for_each(|call| call.call.exprs_mut().try_for_each(values_in))?;
                (below.relation, Some((keys, calls)), below.conditions, filter)
            }
            other => (other, None, filter, Vec::new()),
        };
        let Relation::Scan(Scan { table, as_of: _, alias, span, first_column, hints }) = relation else { return None };
        // Each of its places would compute another value.
        let is_repeated = |computed: &ComputedColumn| {
            let outputs = output.iter().map(|output| &output.column).chain(order.iter().map(|item| &item.column));
            computed.expr.is_volatile() && outputs.filter(|column| column.index == computed.column.index).count() > 1
        };
        if computed.iter().any(is_repeated) {
            return None;
        }
        let positions = Positions { table: &table, first_column };
        let groups = match (distinct, aggregate) {
            (Some(_), Some(_)) => return None,
            (Some(columns), None) => {
                let keys =
                    columns.into_iter().map(|column| ComputedColumn { expr: value_of(&column, &computed), column });
                Some(Groups { keys: keys.collect(), calls: Vec::new(), computed: &computed })
            }
            (None, Some((keys, calls))) => {
                let calls = calls.into_iter().map(OwnCall::of).collect::<Option<_>>()?;
                conditions.extend(having.iter().filter(|condition| is_of_keys(&condition.expr, &keys)).cloned());
                Some(Groups { keys, calls, computed: &computed })
            }
            (None, None) => None,
        };
        let output = match groups {
            Some(groups) => {
                let mut grouping = groups.grouping(having, output, order)?;
                let calls = grouping.calls.iter_mut().flat_map(AggregateCall::exprs_mut);
                grouping.keys.iter_mut().chain(calls).try_for_each(|expr| positions.put(expr).map(drop))?;
                DirectOutput::Groups(grouping)
            }
            None => {
                let value = |column: &ColumnRef| {
                    let mut value = value_of(column, &computed);
                    positions.put(&mut value).map(|_| value)
                };
                let order = order.into_iter().map(|item| order_item(item, &value, &table.def().key));
                let order = order.collect::<Option<_>>()?;
                let column = |it: Output| {
                    let expr = value(&it.column)?;
                    Some(OutputColumn { label: it.label, ty: it.column.ty, expr })
                };
                DirectOutput::Rows(output.into_iter().map(column).collect::<Option<_>>()?, order)
            }
        };
        conditions.iter_mut().try_for_each(|condition| positions.put_in(condition))?;
        Some(Self { table, alias, span, hints, conditions, output, limit, offset, is_page })
    }

    /// Whether LIMIT or OFFSET has no value yet.
    pub(crate) fn is_limit_open(&self) -> bool {
        self.limit.is_open() || self.offset.is_open()
    }

    /// The rows that OFFSET leaves out, as far as they are known.
    pub(crate) fn skipped(&self) -> u64 {
        self.offset.rows().unwrap_or(0)
    }

    /// The columns of the result.
    pub(crate) fn columns(&self) -> Arc<[ResultColumn]> {
        let column =
            |c: &OutputColumn| ResultColumn { label: c.label.clone(), ty: c.ty, nullable: c.expr.is_nullable() };
        self.output.columns().iter().map(column).collect()
    }
}

impl DirectOutput {
    /// The columns of the result.
    pub(crate) fn columns(&self) -> &[OutputColumn] {
        match self {
            Self::Rows(columns, _) => columns,
            Self::Groups(grouping) => &grouping.outputs,
        }
    }

    /// The columns of the table that it is computed from, each once, by index.
    pub(crate) fn table_columns(&self) -> Vec<usize> {
        let mut columns: Vec<usize> = match self {
            Self::Rows(outputs, _) => outputs.iter().flat_map(|output| output.expr.columns()).collect(),
            Self::Groups(grouping) => {
                let calls = grouping.calls.iter().flat_map(AggregateCall::exprs);
                grouping.keys.iter().chain(calls).flat_map(Expr::columns).collect()
            }
        };
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}

/// A column with a call that the direct path computes.
struct OwnCall {
    column: ColumnRef,
    call: AggregateCall,
}

impl OwnCall {
    fn of(CallColumn { column, call }: CallColumn) -> Option<Self> {
        match call {
            GroupCall::Own(call) => Some(Self { column, call }),
            GroupCall::Engine(_) => None,
        }
    }
}

/// Whether a condition of HAVING depends only on keys that are columns, and cannot fail. It then holds for all rows of a group or
/// for none, so it is also a condition on rows and can bound the scan.
fn is_of_keys(condition: &Expr, keys: &[ComputedColumn]) -> bool {
    let is_key = |column: &ColumnRef| keys.iter().any(|key| key.is_input_column() && key.column == *column);
    let (mut is_plain, mut has_column) = (true, false);
    condition.walk(&mut |e| match e {
        Expr::Column(column) => {
            has_column = true;
            is_plain &= is_key(column);
        }
        Expr::Arith(..) | Expr::Negate(..) | Expr::Cast(..) | Expr::Case { .. } | Expr::Call(..) => is_plain = false,
        _ => {}
    });
    is_plain && has_column
}

/// The table of the only scan.
struct Positions<'a> {
    table: &'a Table,
    /// The id of its first column.
    first_column: usize,
}

impl Positions<'_> {
    /// Gives the columns of an expression their positions and their names in the table; `None` if it names another column. Whether a view, or
    /// a query in brackets, has given one of them another name.
    fn put(&self, expr: &mut Expr) -> Option<bool> {
        if let Expr::Column(column) = expr {
            let position = column.index.checked_sub(self.first_column).filter(|index| *index < self.table.width());
            debug_assert!(position.is_some(), "column {} is none of the only scan", column.name);
            column.index = position?;
            let own = self.table.column_name(column.index).filter(|own| *own != column.name);
            if let Some(own) = own {
                column.name = own.to_owned();
            }
            return Some(own.is_some());
        }
        let (mut all, mut is_renamed) = (true, false);
        expr.for_each_child_mut(&mut |child| match self.put(child) {
            Some(renamed) => is_renamed |= renamed,
            None => all = false,
        });
        all.then_some(is_renamed)
    }

    fn put_in(&self, condition: &mut Condition) -> Option<()> {
        if self.put(&mut condition.expr)? {
            condition.text = condition.expr.to_string();
        }
        Some(())
    }
}

/// One item of an order of rows: a column, or a computed part of the key. `None` if it is another expression. `value` is that of a column
/// over those of the table.
fn order_item(item: SortItem, value: &dyn Fn(&ColumnRef) -> Option<Expr>, key: &KeySchema) -> Option<OrderItem> {
    let SortItem { column, order, nulls_first } = item;
    let by = match value(&column)? {
        Expr::Column(column) => OrderBy::Column(column.index),
        expr => OrderBy::KeyPart(key.columns.iter().position(|part| part.computed() == Some(&expr))?),
    };
    Some(OrderItem { by, order, nulls_first })
}

/// Keys and calls, whose places are positions in the row of a group.
struct Groups<'a> {
    keys: Vec<ComputedColumn>,
    calls: Vec<OwnCall>,
    /// The columns that projections above the groups add.
    computed: &'a [ComputedColumn],
}

impl Groups<'_> {
    fn grouping(self, having: Vec<Condition>, columns: Vec<Output>, order: Vec<SortItem>) -> Option<Grouping> {
        let having = having.into_iter().map(|condition| self.over_groups(condition.expr)).collect::<Option<_>>()?;
        let output = |Output { label, column }| {
            let ty = column.ty;
            Some(OutputColumn { label, ty, expr: self.over_groups(Expr::Column(column))? })
        };
        let outputs = columns.into_iter().map(output).collect::<Option<_>>()?;
        let item = |SortItem { column, order, nulls_first }| {
            Some(GroupOrder { expr: self.over_groups(Expr::Column(column))?, order, nulls_first })
        };
        let order = order.into_iter().map(item).collect::<Option<_>>()?;
        let keys = self.keys.into_iter().map(|key| key.expr).collect();
        let calls = self.calls.into_iter().map(|call| call.call).collect();
        Some(Grouping { keys, calls, having, outputs, order })
    }

    /// An expression with the positions of keys and calls; `None` if it names another column.
    fn over_groups(&self, mut expr: Expr) -> Option<Expr> {
        self.place(&mut expr).then_some(expr)
    }

    fn place(&self, expr: &mut Expr) -> bool {
        let Expr::Column(column) = expr else {
            let mut all = true;
            expr.for_each_child_mut(&mut |child| all = all && self.place(child));
            return all;
        };
        let keys = self.keys.iter().map(|key| &key.column);
        let mut known = keys.chain(self.calls.iter().map(|call| &call.column));
        if let Some(position) = known.position(|known| known.index == column.index) {
            column.index = position;
            return true;
        }
        let Some(computed) = self.computed.iter().find(|known| known.column.index == column.index) else {
            debug_assert!(false, "column {} is none of a group", column.name);
            return false;
        };
        *expr = computed.expr.clone();
        self.place(expr)
    }
}
