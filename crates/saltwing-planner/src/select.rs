//! How a bound SELECT reads its table: which rows, and in which order.

use saltwing_plan::{Condition, OrderItem, RowLimit};
use saltwing_types::{CompareOp, Expr, KeySchema, SortOrder, typing};

use crate::access::{AccessRequest, TableAccess, plan, plan_in_turn};
use crate::error::Result;
use saltwing_bind::{AggregateCall, AggregateFunction, BoundSelect, Grouping, OrderColumn, Output};

/// A SELECT that the direct path runs, with how it reads its table.
pub struct PlannedSelect {
    /// The SELECT.
    pub bound: BoundSelect,
    /// Its access: what is judged and explained.
    pub access: TableAccess,
    /// Which rows of it are read.
    pub reading: ReadMode,
    /// Whether they, or the groups of them, come in the order asked for.
    pub in_order: bool,
}

/// Which rows of an access a SELECT reads.
pub enum ReadMode {
    /// All of them.
    Rows,
    /// All of them; rows of one group follow each other.
    Groups,
    /// One row for each combination of values in so many leading key columns.
    Prefixes(usize),
    /// The first row of each of these accesses: nothing but MIN and MAX of key columns is asked for.
    Ends(Vec<TableAccess>),
}

/// Plans how a SELECT reads its table; `None` when its rows would have to be sorted.
///
/// # Errors
/// As [`plan`].
pub fn plan_select(mut bound: BoundSelect) -> Result<Option<PlannedSelect>> {
    let planned = match &bound.output {
        Output::Rows(_) => {
            let order: Vec<OrderItem> = bound.order.iter().map(order_item).collect();
            let asked = Asked { order: &order, nulls_apart: true, limit: row_limit(&bound), ..Asked::of_rows() };
            let access = asked.plan(&bound)?;
            (order.is_empty() || access.is_ordered()).then_some((access, ReadMode::Rows, true))
        }
        Output::Groups(grouping) if grouping.keys.is_empty() => Some(all_rows(&bound, grouping)?),
        Output::Groups(grouping) => Some(groups(&bound, grouping)?),
    };
    if let (Output::Groups(grouping), Some((_, ReadMode::Prefixes(_), _))) = (&mut bound.output, &planned) {
        // Each value is met once.
        grouping.calls.iter_mut().for_each(|call| call.distinct = false);
    }
    Ok(planned.map(|(access, reading, in_order)| PlannedSelect { bound, access, reading, in_order }))
}

type Plan = (TableAccess, ReadMode, bool);

fn order_item(column: &OrderColumn) -> OrderItem {
    OrderItem { column: column.column.index, order: column.order, nulls_first: column.nulls_first }
}

fn row_limit(bound: &BoundSelect) -> RowLimit {
    match (bound.limit, bound.limit_open) {
        (_, true) => RowLimit::Unknown,
        (Some(rows), false) => RowLimit::Rows(rows),
        (None, false) => RowLimit::None,
    }
}

/// What an access is asked for, beside the SELECT's conditions.
struct Asked<'a> {
    condition: Option<Condition>,
    order: &'a [OrderItem],
    /// Whether the scan may come in two parts for the sake of the order.
    nulls_apart: bool,
    limit: RowLimit,
    grouped: bool,
    min_max: Option<usize>,
}

impl Asked<'_> {
    fn of_rows() -> Self {
        Self { condition: None, order: &[], nulls_apart: false, limit: RowLimit::None, grouped: false, min_max: None }
    }

    fn of_groups() -> Self {
        Self { grouped: true, ..Self::of_rows() }
    }

    fn plan(self, bound: &BoundSelect) -> Result<TableAccess> {
        let plan = if self.nulls_apart { plan_in_turn } else { plan };
        plan(AccessRequest {
            table: &bound.table,
            alias: bound.alias.clone(),
            span: bound.span,
            conditions: bound.conditions.iter().cloned().chain(self.condition).collect(),
            order: self.order,
            limit: self.limit,
            offset: if self.grouped { 0 } else { bound.offset },
            aggregate_or_distinct: self.grouped,
            min_max: self.min_max,
            single_table: true,
        })
    }
}

/// Aggregates over all rows.
fn all_rows(bound: &BoundSelect, grouping: &Grouping) -> Result<Plan> {
    if let Some(plan) = ends(bound, &grouping.calls)? {
        return Ok(plan);
    }
    if let [AggregateCall { function: AggregateFunction::Count, argument, distinct: true, filter: None, .. }] =
        grouping.calls.as_slice()
        && let Some(Expr::Column(column)) = argument
        && let Some(prefix) = Prefix::of(bound, &[column.index])
        && let Some((access, reading, _)) = prefix.plan(bound, &[], true)?
    {
        return Ok((access, reading, true));
    }
    Ok((Asked::of_groups().plan(bound)?, ReadMode::Rows, true))
}

/// MIN and MAX of key columns read the first row at either end, NULLs left out.
fn ends(bound: &BoundSelect, calls: &[AggregateCall]) -> Result<Option<Plan>> {
    let (mut accesses, mut columns) = (Vec::new(), Vec::new());
    for call in calls {
        let (Some(Expr::Column(column)), None) = (&call.argument, &call.filter) else { return Ok(None) };
        let order = match call.function {
            AggregateFunction::Min => SortOrder::Asc,
            AggregateFunction::Max => SortOrder::Desc,
            _ => return Ok(None),
        };
        let known = typing::not(typing::is_null(Expr::Column(column.clone())))?;
        let condition = column.nullable.then(|| Condition::new(known));
        let order = [OrderItem { column: column.index, order, nulls_first: true }];
        let end = Asked { condition, order: &order, limit: RowLimit::Rows(1), ..Asked::of_rows() };
        let access = end.plan(bound)?;
        if !access.is_ordered() {
            return Ok(None);
        }
        accesses.push(access);
        columns.push(column.index);
    }
    // Where rows are checked, each end may be far away: one is looked for, not several.
    if accesses.is_empty() || accesses.len() > 1 && accesses.iter().any(|end| !end.residual().is_empty()) {
        return Ok(None);
    }
    let min_max = columns.first().copied().filter(|first| columns.iter().all(|column| column == first));
    let access = Asked { min_max, ..Asked::of_groups() }.plan(bound)?;
    Ok(Some((access, ReadMode::Ends(accesses), true)))
}

/// Groups by keys.
fn groups(bound: &BoundSelect, grouping: &Grouping) -> Result<Plan> {
    let column = |key: &Expr| if let Expr::Column(column) = key { Some(column.index) } else { None };
    let columns: Option<Vec<usize>> = grouping.keys.iter().map(column).collect();
    let prefix = columns.as_ref().and_then(|columns| Prefix::of(bound, columns));
    if let (Some(columns), Some(prefix)) = (&columns, prefix) {
        let wanted: Option<Vec<OrderItem>> = grouping
            .order
            .iter()
            .map(|item| match &item.expr {
                Expr::Column(c) => {
                    let column = *columns.get(c.index)?;
                    Some(OrderItem { column, order: item.order, nulls_first: item.nulls_first })
                }
                _ => None,
            })
            .collect();
        let is_distinct = grouping.calls.is_empty();
        let sorted = wanted.as_ref().is_some_and(|wanted| !wanted.is_empty());
        if let Some(plan) = prefix.plan(bound, wanted.as_deref().unwrap_or_default(), is_distinct)?
            && (sorted || grouping.order.is_empty() || !is_salted(bound))
        {
            let (access, reading, in_order) = plan;
            return Ok((access, reading, grouping.order.is_empty() || sorted && in_order));
        }
    }
    Ok((Asked::of_groups().plan(bound)?, ReadMode::Rows, grouping.order.is_empty()))
}

fn is_salted(bound: &BoundSelect) -> bool {
    bound.table.codec().salt_column_count() > 0
}

/// Columns that are, with those that conditions fix to one value, the first ones of the key.
struct Prefix {
    /// How many leading key columns.
    columns: usize,
    /// Those of them that vary, in key order.
    open: Vec<usize>,
}

impl Prefix {
    fn of(bound: &BoundSelect, columns: &[usize]) -> Option<Self> {
        let key = &bound.table.def().key;
        let fixed: Vec<usize> = bound.conditions.iter().filter_map(|c| fixed_column(&c.expr)).collect();
        if columns.iter().any(|column| key.position(*column).is_none() && !fixed.contains(column)) {
            return None;
        }
        let is_known = |column: &usize| columns.contains(column) || fixed.contains(column);
        let is_open = |column: &usize| columns.contains(column) && !fixed.contains(column);
        let count = columns.iter().filter(|column| is_open(column)).count();
        let (mut open, mut reach) = (Vec::new(), 0);
        for (position, part) in key.columns.iter().enumerate() {
            if open.len() == count {
                break;
            }
            match part.column() {
                Some(column) if is_open(&column) => {
                    open.push(column);
                    reach = position + 1;
                }
                Some(column) if fixed.contains(&column) => {}
                // Rows that are equal in all that it is computed from are equal in it.
                None if part.computed().is_some_and(|e| e.columns().iter().all(is_known)) => {}
                _ => return None,
            }
        }
        Some(Self { columns: reach, open })
    }

    /// A plan in which rows of equal prefix follow each other, so that memory for one group is enough, in the
    /// order of `wanted` if that can be: the last part tells. Buckets over which a prefix is spread are merged.
    fn plan(&self, bound: &BoundSelect, wanted: &[OrderItem], is_distinct: bool) -> Result<Option<Plan>> {
        let key = &bound.table.def().key;
        let reading = || match is_distinct && self.columns < key.columns.len() {
            true => ReadMode::Prefixes(self.columns),
            false => ReadMode::Groups,
        };
        // Whether all rows of a prefix lie in one bucket.
        let undivided = bound.table.codec().salt_column_count() <= self.columns;
        if !wanted.is_empty() || !undivided {
            let order = self.order(key, wanted);
            let access = Asked { order: &order, ..Asked::of_groups() }.plan(bound)?;
            if access.is_ordered() {
                return Ok(Some((access, reading(), true)));
            }
        }
        if !undivided {
            return Ok(None);
        }
        Ok(Some((Asked::of_groups().plan(bound)?, reading(), wanted.is_empty())))
    }

    /// The order wanted, then the open columns that it does not name, the same way.
    fn order(&self, key: &KeySchema, wanted: &[OrderItem]) -> Vec<OrderItem> {
        let direction = |column: usize| key.position(column).and_then(|p| key.columns.get(p)).map(|part| part.order);
        let first = wanted.iter().find(|item| self.open.contains(&item.column));
        let reverse = first.is_some_and(|item| direction(item.column) != Some(item.order));
        let rest = self.open.iter().filter(|column| wanted.iter().all(|item| item.column != **column));
        let rest = rest.filter_map(|&column| {
            let order = match (direction(column)?, reverse) {
                (SortOrder::Asc, false) | (SortOrder::Desc, true) => SortOrder::Asc,
                _ => SortOrder::Desc,
            };
            Some(OrderItem { column, order, nulls_first: !reverse })
        });
        wanted.iter().copied().chain(rest).collect()
    }
}

/// The column that a condition fixes to one value.
fn fixed_column(condition: &Expr) -> Option<usize> {
    let is_value = |e: &Expr| matches!(e, Expr::Literal(..) | Expr::Param(..));
    match condition {
        Expr::Compare(CompareOp::Eq | CompareOp::NotDistinct, a, b) => match (&**a, &**b) {
            (Expr::Column(column), value) | (value, Expr::Column(column)) if is_value(value) => Some(column.index),
            _ => None,
        },
        Expr::IsNull(inner) => {
            if let Expr::Column(column) = &**inner {
                Some(column.index)
            } else {
                None
            }
        }
        _ => None,
    }
}
