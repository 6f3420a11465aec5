//! Choosing the plan of a SELECT over one table.

use saltwing_bind::{AggregateCall, AggregateFunction, OutputColumn, RowCount};
use saltwing_plan::{AccessKind, Condition, OrderBy, OrderItem, RowLimit};
use saltwing_types::{Expr, SortOrder, typing};

use crate::access::TableAccess;
use crate::direct::{Aggregate, AggregateStrategy, DirectPlan, PlannedSelect, RowOutput, TotalOutput};
use crate::direct_query::{DirectOutput, DirectQuery, GroupOrder, Grouping};
use crate::error::Result;
use crate::fixed_column::fixed_column;
use crate::prefix::Prefix;
use crate::request::SelectRequest;

/// Plans a SELECT over one table; `None` if its rows would have to be sorted.
///
/// # Errors
/// As [`crate::plan`].
pub fn plan_select(bound: DirectQuery) -> Result<Option<PlannedSelect>> {
    let columns = bound.columns();
    let scanned = bound.output.table_columns();
    let (limit, offset, limit_open) = (bound.limit.rows(), bound.skipped(), bound.is_limit_open());
    let (access, plan) = match &bound.output {
        DirectOutput::Rows(outputs, order) => {
            let Some(access) = ordered_rows(&bound, order)? else { return Ok(None) };
            (access, DirectPlan::Scan(row_output(outputs, &scanned)))
        }
        DirectOutput::Groups(grouping) => {
            let choice = match grouping.keys.as_slice() {
                [] => all_rows(&bound, grouping)?,
                _ => groups(&bound, grouping)?,
            };
            let is_whole = offset == 0 && limit != Some(0) && !limit_open;
            (choice.access, aggregate(choice.reading, choice.in_order, grouping.clone(), is_whole.then_some(&scanned)))
        }
    };
    let mut planned = PlannedSelect { columns, access, scanned, limit, offset, plan };
    if !limit_open
        && planned.stored_columns().is_some()
        && let Some(key) = one_key(&bound, &planned.access)
        && let DirectPlan::Scan(RowOutput::Columns(places)) = planned.plan
    {
        planned.plan = DirectPlan::PointGet { key, places };
    }
    Ok(Some(planned))
}

/// The access of a SELECT of rows; `None` if they would have to be sorted.
fn ordered_rows(bound: &DirectQuery, order: &[OrderItem]) -> Result<Option<TableAccess>> {
    let limit = match bound.limit {
        _ if bound.is_limit_open() => RowLimit::Unknown,
        RowCount::Rows(rows) => RowLimit::Rows(rows),
        _ => RowLimit::None,
    };
    let request = SelectRequest { order, nulls_apart: true, limit, ..SelectRequest::of_rows() };
    let access = request.plan(bound)?;
    Ok((order.is_empty() || access.is_ordered()).then_some(access))
}

fn row_output(outputs: &[OutputColumn], scanned: &[usize]) -> RowOutput {
    let place = |output: &OutputColumn| match &output.expr {
        Expr::Column(column) => scanned.binary_search(&column.index).ok(),
        _ => None,
    };
    match outputs.iter().map(place).collect() {
        Some(places) => RowOutput::Columns(places),
        None => RowOutput::Computed(outputs.iter().map(|output| output.expr.clone()).collect()),
    }
}

/// The physical key of an access that reads one row by its whole key, if it is known: parameters may have no values yet.
fn one_key(bound: &DirectQuery, access: &TableAccess) -> Option<Option<Vec<u8>>> {
    let plan = access.access();
    if plan.kind != AccessKind::Point || !plan.residual.is_empty() || !access.is_by_table_key() {
        return None;
    }
    if !plan.ranges.is_known() {
        return bound.conditions.iter().all(|condition| fixed_column(&condition.expr).is_some()).then_some(None);
    }
    let mut ranges = plan.ranges.iter();
    let (only, None) = (ranges.next()?, ranges.next()) else { return None };
    let is_in_one_bucket = only.bucket.is_some() || bound.table.codec().bucket_bytes() == 0;
    is_in_one_bucket.then(|| Some(only.range.in_bucket(only.bucket).into_bounds().0))
}

/// The access of an aggregate, and how its rows lie.
struct Choice {
    access: TableAccess,
    reading: Reading,
    /// Whether groups come in the requested order.
    in_order: bool,
}

/// Which rows of an access an aggregate reads.
enum Reading {
    /// All of them, in any order.
    Rows,
    /// All of them; rows of a group follow each other.
    Runs,
    /// One row for each combination of values in this many leading key columns.
    Prefixes(usize),
    /// The first row of each of these accesses.
    Ends(Vec<TableAccess>),
}

/// The plan of an aggregate. `scanned` is there if the result is not cut by LIMIT and OFFSET.
fn aggregate(reading: Reading, in_order: bool, mut grouping: Grouping, scanned: Option<&Vec<usize>>) -> DirectPlan {
    if in_order {
        grouping.order.clear();
    }
    let is_ungrouped = grouping.keys.is_empty();
    if matches!(reading, Reading::Prefixes(_)) || is_ungrouped && matches!(reading, Reading::Runs) {
        // Each value comes once.
        grouping.calls.iter_mut().for_each(|call| call.distinct = false);
    }
    let are_runs = matches!(reading, Reading::Runs | Reading::Prefixes(_));
    let strategy = match is_ungrouped {
        true => AggregateStrategy::Ungrouped,
        // The values that a DISTINCT call has seen cannot be given up with their group.
        false if are_runs && !grouping.calls.iter().any(|call| call.distinct) => AggregateStrategy::Streaming,
        false => AggregateStrategy::Hash,
    };
    match reading {
        Reading::Ends(ends) => DirectPlan::KeyEnds { ends, aggregate: Aggregate { grouping, strategy } },
        Reading::Prefixes(columns) => {
            DirectPlan::DistinctPrefix { columns, aggregate: Aggregate { grouping, strategy } }
        }
        Reading::Rows | Reading::Runs => {
            let outputs = scanned.and_then(|scanned| totals(&grouping, scanned));
            let aggregate = Aggregate { grouping, strategy };
            match outputs {
                Some(outputs) => DirectPlan::Totals { outputs, aggregate },
                None => DirectPlan::Aggregate(aggregate),
            }
        }
    }
}

/// The outputs of a SELECT that adds up whole columns, with or without a filter; `None` of another one.
fn totals(grouping: &Grouping, scanned: &[usize]) -> Option<Box<[TotalOutput]>> {
    let Grouping { keys, calls, having, outputs, .. } = grouping;
    if !keys.is_empty() || !having.is_empty() {
        return None;
    }
    let output = |output: &OutputColumn| match &output.expr {
        Expr::Column(column) => total(calls.get(column.index)?, scanned),
        _ => None,
    };
    outputs.iter().map(output).collect()
}

fn total(call: &AggregateCall, scanned: &[usize]) -> Option<TotalOutput> {
    if call.distinct || call.filter.is_some() {
        return None;
    }
    let column = match &call.argument {
        None => return (call.function == AggregateFunction::Count).then_some(TotalOutput::Rows),
        Some(Expr::Column(column)) => column,
        Some(_) => return None,
    };
    let place = scanned.binary_search(&column.index).ok()?;
    match call.function {
        AggregateFunction::Count => Some(TotalOutput::Known(place)),
        AggregateFunction::Sum if column.ty.is_integer() => Some(TotalOutput::Sum(place)),
        AggregateFunction::WrappingSum if column.ty.is_integer() => Some(TotalOutput::WrappingSum(place)),
        AggregateFunction::Avg if column.ty.is_integer() => Some(TotalOutput::Average(place)),
        _ => None,
    }
}

/// Aggregates over all rows.
fn all_rows(bound: &DirectQuery, grouping: &Grouping) -> Result<Choice> {
    if let Some(choice) = ends(bound, &grouping.calls)? {
        return Ok(choice);
    }
    if let [AggregateCall { function: AggregateFunction::Count, argument, distinct: true, filter: None, .. }] =
        grouping.calls.as_slice()
        && let Some(Expr::Column(column)) = argument
    {
        if let Some(prefix) = Prefix::of(bound, &[column.index])
            && let Some((access, _)) = prefix.access(bound, &[])?
            && is_best(bound, &access)
        {
            return Ok(Choice { access, reading: reading(&prefix, true), in_order: true });
        }
        if let Some(choice) = distinct_by_index(bound, &[column.index], &[])? {
            return Ok(choice);
        }
    }
    Ok(Choice { access: SelectRequest::of_groups().plan(bound)?, reading: Reading::Rows, in_order: true })
}

/// MIN and MAX of key columns read the first row at either end, NULLs left out.
fn ends(bound: &DirectQuery, calls: &[AggregateCall]) -> Result<Option<Choice>> {
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
        let order = [OrderItem { by: OrderBy::Column(column.index), order, nulls_first: true }];
        let end = SelectRequest { condition, order: &order, limit: RowLimit::Rows(1), ..SelectRequest::of_rows() };
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
    let access = SelectRequest { min_max, ..SelectRequest::of_groups() }.plan(bound)?;
    Ok(Some(Choice { access, reading: Reading::Ends(accesses), in_order: true }))
}

/// Groups by keys.
fn groups(bound: &DirectQuery, grouping: &Grouping) -> Result<Choice> {
    let column = |key: &Expr| if let Expr::Column(column) = key { Some(column.index) } else { None };
    let columns: Option<Vec<usize>> = grouping.keys.iter().map(column).collect();
    let prefix = columns.as_ref().and_then(|columns| Prefix::of(bound, columns));
    let wanted = columns.as_deref().and_then(|columns| order_of_columns(grouping, columns));
    let is_distinct = grouping.calls.is_empty();
    let sorted = wanted.as_ref().is_some_and(|wanted| !wanted.is_empty());
    if let Some(prefix) = prefix
        && let Some((access, in_order)) = prefix.access(bound, wanted.as_deref().unwrap_or_default())?
        && (sorted || grouping.order.is_empty() || !is_salted(bound))
        && is_best(bound, &access)
    {
        let in_order = grouping.order.is_empty() || sorted && in_order;
        return Ok(Choice { access, reading: reading(&prefix, is_distinct), in_order });
    }
    if let (true, Some(columns), Some(wanted)) = (is_distinct, &columns, &wanted)
        && let Some(choice) = distinct_by_index(bound, columns, wanted)?
    {
        return Ok(choice);
    }
    let access = SelectRequest::of_groups().plan(bound)?;
    Ok(Choice { access, reading: Reading::Rows, in_order: grouping.order.is_empty() })
}

/// The order of the groups over the columns of the table, if they are ordered by columns alone.
fn order_of_columns(grouping: &Grouping, columns: &[usize]) -> Option<Vec<OrderItem>> {
    let item = |item: &GroupOrder| match &item.expr {
        Expr::Column(c) => {
            let column = *columns.get(c.index)?;
            Some(OrderItem { by: OrderBy::Column(column), order: item.order, nulls_first: item.nulls_first })
        }
        _ => None,
    };
    grouping.order.iter().map(item).collect()
}

/// The values of some columns in the entries of an index that begins with them: one entry of each is read. `None` if there is
/// no such index, or another key is better.
fn distinct_by_index(bound: &DirectQuery, columns: &[usize], wanted: &[OrderItem]) -> Result<Option<Choice>> {
    if bound.table.indexes().is_empty() {
        return Ok(None);
    }
    let best = SelectRequest::of_groups().plan(bound)?;
    for place in 0..bound.table.indexes().len() {
        let Some(prefix) = Prefix::of_index(bound, place, columns) else { continue };
        let ordered = prefix.access(bound, wanted)?;
        let in_order = ordered.is_some() || wanted.is_empty();
        let by_prefix = if in_order { ordered } else { prefix.access(bound, &[])? };
        let Some((access, _)) = by_prefix else { continue };
        let is_all = best.access().verdict.allowed != Some(true);
        if (is_all || best.index_place() == Some(place)) && access.access().covering {
            let access = if is_all { access.judged_as(best) } else { access };
            let access = access.for_groups();
            return Ok(Some(Choice { access, reading: reading(&prefix, true), in_order }));
        }
    }
    Ok(None)
}

/// How rows of one prefix after the other are read; if only the prefixes count, one row of each is enough.
fn reading(prefix: &Prefix<'_>, is_distinct: bool) -> Reading {
    if is_distinct && !prefix.is_whole_key() { Reading::Prefixes(prefix.columns) } else { Reading::Runs }
}

/// Whether groups are read in the order of the table's key: not where that reads the whole table, and an index might not.
fn is_best(bound: &DirectQuery, by_key: &TableAccess) -> bool {
    bound.table.indexes().is_empty() || by_key.access().verdict.allowed == Some(true)
}

fn is_salted(bound: &DirectQuery) -> bool {
    bound.table.codec().salt_column_count() > 0
}
