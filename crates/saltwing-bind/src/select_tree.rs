//! The tree of a SELECT, from its clauses.

use std::collections::HashSet;

use saltwing_plan::Condition;
use saltwing_types::{ColumnRef, Expr, SortOrder};

use crate::collector::Collector;
use crate::outer_join::without_extra_rows;
use crate::query_binder::{Bound, foreign};
use crate::row_count::RowCount;
use crate::tree::{
    BoundQuery, CallColumn, ColumnIds, ComputedColumn, Output, Relation, SortItem, SubqueryColumn, WindowColumn,
};

/// An item of the SELECT list.
pub(crate) struct Item {
    pub(crate) label: String,
    pub(crate) expr: Expr,
}

impl Item {
    /// The item that a column of a wildcard is.
    pub(crate) fn of_column(Output { label, column }: Output) -> Self {
        Self { label, expr: Expr::Column(column) }
    }
}

/// An item of ORDER BY.
pub(crate) struct OrderItem {
    pub(crate) by: OrderBy,
    pub(crate) order: SortOrder,
    pub(crate) nulls_first: bool,
}

pub(crate) enum OrderBy {
    /// The item of the SELECT list at this place.
    Item(usize),
    /// An expression.
    Expr(Expr),
}

/// The clauses of a SELECT, over the columns of the table and the calls of aggregate functions.
#[derive(Default)]
pub(crate) struct Clauses {
    pub(crate) items: Vec<Item>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) keys: Vec<Expr>,
    pub(crate) having: Vec<Expr>,
    pub(crate) qualify: Vec<Condition>,
    pub(crate) windows: Vec<WindowColumn>,
    pub(crate) is_distinct: bool,
    pub(crate) order: Vec<OrderItem>,
    pub(crate) limit: RowCount,
    pub(crate) offset: RowCount,
    pub(crate) is_page: bool,
}

/// The subqueries in the clauses of a SELECT.
pub(crate) struct Subqueries {
    pub(crate) of_where: Vec<SubqueryColumn>,
    pub(crate) others: Vec<SubqueryColumn>,
}

impl Clauses {
    /// The tree of the SELECT.
    pub(crate) fn bound(
        mut self,
        ids: &ColumnIds,
        collector: Collector<'_>,
        subqueries: Subqueries,
        from: Relation,
    ) -> Bound<BoundQuery> {
        let conditions = std::mem::take(&mut self.conditions);
        let Subqueries { of_where, others } = subqueries;
        // What is a column already, but none of the relation's, is computed: above, it is a column as all others are.
        let is_given: HashSet<usize> = others.iter().map(|subquery| subquery.column.index).collect();
        let passed = |column: &ColumnRef| !is_given.contains(&column.index) && !collector.is_outer_column(column);
        let column_of = |expr: Expr| match &expr {
            Expr::Column(column) if !passed(column) => ids.new_column_of(expr, Expr::to_string),
            _ => ids.column_of(expr, Expr::to_string),
        };
        let window_ids: HashSet<usize> = self.windows.iter().map(|window| window.column.index).collect();
        let values = others.iter().flat_map(|subquery| subquery.values());
        if values.flat_map(Expr::columns).any(|id| window_ids.contains(&id)) {
            return foreign("a window function before IN over a subquery");
        }
        let mut relation = without_extra_rows(from, &conditions).applied(of_where).filtered(conditions);
        if !self.keys.is_empty() || !self.having.is_empty() || !collector.is_empty() {
            relation = self.grouped(&column_of, &collector, others, relation)?;
        } else {
            relation = relation.applied(others);
        }
        relation = relation.windowed(self.windows).filtered(self.qualify);
        let (labels, items): (Vec<_>, Vec<_>) = self.items.into_iter().map(|item| (item.label, item.expr)).unzip();
        let items: Vec<ComputedColumn> = items.into_iter().map(&column_of).collect();
        let output = |(label, item): (String, &ComputedColumn)| Output { label, column: item.column.clone() };
        let output: Vec<Output> = labels.into_iter().zip(&items).map(output).collect();
        let (mut sort, mut sort_columns) = (Vec::new(), Vec::new());
        for OrderItem { by, order, nulls_first } in self.order {
            let column = match by {
                OrderBy::Item(place) => items.get(place).map(|item| item.column.clone()),
                OrderBy::Expr(mut expr) => {
                    if self.is_distinct && !replace(&mut expr, &items, &|_| false) {
                        return foreign("ORDER BY what DISTINCT leaves out");
                    }
                    sort_columns.push(column_of(expr));
                    sort_columns.last().map(|computed| computed.column.clone())
                }
            };
            let Some(column) = column else { return foreign("an ORDER BY position") };
            sort.push(SortItem { column, order, nulls_first });
        }
        if self.is_distinct {
            let mut columns: Vec<ColumnRef> = Vec::new();
            for Output { column, .. } in &output {
                if !columns.contains(column) {
                    columns.push(column.clone());
                }
            }
            relation = Relation::Distinct { input: Box::new(relation.projected(items)), columns };
            relation = relation.projected(sort_columns);
        } else {
            relation = relation.projected(items.into_iter().chain(sort_columns));
        }
        if !sort.is_empty() {
            relation = Relation::Sort { input: Box::new(relation), items: sort };
        }
        let (limit, offset, is_page) = (self.limit, self.offset, self.is_page);
        if is_page || limit != RowCount::None || offset != RowCount::None {
            relation = Relation::Limit { input: Box::new(relation), limit, offset, is_page };
        }
        Ok(BoundQuery { relation, output })
    }

    /// The groups of `input` that HAVING lets through. The clauses that follow are over keys and calls then.
    fn grouped(
        &mut self,
        column_of: &dyn Fn(Expr) -> ComputedColumn,
        collector: &Collector<'_>,
        subqueries: Vec<SubqueryColumn>,
        input: Relation,
    ) -> Bound<Relation> {
        let keys = std::mem::take(&mut self.keys);
        let calls = collector.calls();
        let (of_rows, mut of_groups) = subqueries_of(subqueries, &keys, &calls);
        let keys: Vec<ComputedColumn> = keys.into_iter().map(column_of).collect();
        let group_ids: HashSet<usize> = of_groups.iter().map(|subquery| subquery.column.index).collect();
        let window_ids: HashSet<usize> = self.windows.iter().map(|window| window.column.index).collect();
        let passes = |column: &ColumnRef| {
            collector.is_call(column)
                || collector.is_outer_column(column)
                || group_ids.contains(&column.index)
                || window_ids.contains(&column.index)
        };
        let over_groups = |expr: &mut Expr| match replace(expr, &keys, &passes) {
            true => Ok(()),
            false => foreign("a column that is neither grouped nor aggregated"),
        };
        self.items.iter_mut().try_for_each(|item| over_groups(&mut item.expr))?;
        self.having.iter_mut().try_for_each(over_groups)?;
        self.qualify.iter_mut().try_for_each(|condition| over_groups(&mut condition.expr))?;
        self.windows.iter_mut().flat_map(|window| window.call.exprs_mut()).try_for_each(over_groups)?;
        for item in &mut self.order {
            if let OrderBy::Expr(expr) = &mut item.by {
                over_groups(expr)?;
            }
        }
        for subquery in &mut of_groups {
            subquery.values_mut().iter_mut().try_for_each(over_groups)?;
            let is_group = |id: &usize| {
                keys.iter().any(|key| key.is_input_column() && key.column.index == *id)
                    || collector.is_outer_id(*id)
                    || calls.iter().any(|call| call.column.index == *id)
            };
            if !subquery.outer_columns().iter().all(is_group) {
                return foreign("a subquery that names a column which is not grouped");
            }
        }
        let having = std::mem::take(&mut self.having).into_iter().map(Condition::new).collect();
        let input = Box::new(input.applied(of_rows));
        Ok(Relation::Aggregate { input, keys, calls }.applied(of_groups).filtered(having))
    }
}

/// The subqueries that keys and calls of aggregate functions name, directly or by other subqueries, and the rest: these have a value for
/// each row, those for each group.
fn subqueries_of(
    subqueries: Vec<SubqueryColumn>,
    keys: &[Expr],
    calls: &[CallColumn],
) -> (Vec<SubqueryColumn>, Vec<SubqueryColumn>) {
    let exprs = keys.iter().chain(calls.iter().flat_map(|call| call.call.exprs()));
    let mut named: HashSet<usize> = exprs.flat_map(Expr::columns).collect();
    // One names those before it alone.
    for subquery in subqueries.iter().rev() {
        if named.contains(&subquery.column.index) {
            named.extend(subquery.values().iter().flat_map(Expr::columns));
        }
    }
    subqueries.into_iter().partition(|subquery| named.contains(&subquery.column.index))
}

/// Puts columns in the place of the expressions that give them. `false` if the expression then names another column than these and
/// those that `passes` lets through.
fn replace(expr: &mut Expr, columns: &[ComputedColumn], passes: &dyn Fn(&ColumnRef) -> bool) -> bool {
    if let Some(known) = columns.iter().find(|known| known.expr == *expr) {
        if !known.is_input_column() {
            *expr = Expr::Column(ColumnRef { span: expr.span(), ..known.column.clone() });
        }
        return true;
    }
    match expr {
        Expr::Column(column) => passes(column),
        other => {
            let mut all = true;
            other.for_each_child_mut(&mut |child| all = all && replace(child, columns, passes));
            all
        }
    }
}
