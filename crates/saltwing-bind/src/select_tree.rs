//! The tree of a SELECT, from its clauses.

use std::collections::HashSet;

use saltwing_plan::Condition;
use saltwing_types::{ColumnRef, Expr, SortOrder};

use crate::collector::Collector;
use crate::error::{BindError, BindErrorKind};
use crate::lower::LowerError;
use crate::outer_join::without_extra_rows;
use crate::query_binder::{Bound, unsupported};
use crate::row_count::RowCount;
use crate::sequence_collector::{SequenceCollector, around_value};
use crate::tree::{
    BoundQuery, CallColumn, ColumnIds, ComputedColumn, GroupingColumn, GroupingSets, Output, Relation, SortItem,
    SubqueryColumn, UnnestColumn, WindowColumn, each_once,
};

/// An item of the SELECT list.
pub(crate) struct Item {
    pub(crate) label: String,
    pub(crate) expr: Expr,
    /// Whether the statement gives it its label.
    pub(crate) has_alias: bool,
}

impl Item {
    /// The item that a column of a wildcard is.
    pub(crate) fn of_column(Output { label, column }: Output) -> Self {
        Self { label, expr: Expr::Column(column), has_alias: false }
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

/// The rows that DISTINCT leaves.
#[derive(Default)]
pub(crate) enum Distinct {
    /// All: there is no such clause.
    #[default]
    No,
    /// One of equal ones.
    Rows,
    /// DISTINCT ON: the first one of those that are equal in these.
    On(Vec<OrderBy>),
}

/// The clauses of a SELECT, over the columns of the table and the calls of aggregate functions.
#[derive(Default)]
pub(crate) struct Clauses<'a> {
    pub(crate) items: Vec<Item>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) keys: Vec<Expr>,
    /// The sets of keys that rows are grouped by, by position; without these all keys are one set.
    pub(crate) sets: Option<Vec<Vec<usize>>>,
    pub(crate) having: Vec<Expr>,
    pub(crate) qualify: Vec<Condition>,
    pub(crate) windows: Vec<WindowColumn>,
    /// The calls of UNNEST in the items.
    pub(crate) unnests: Vec<UnnestColumn>,
    /// The values of sequences in the items.
    pub(crate) sequences: Option<&'a SequenceCollector<'a>>,
    pub(crate) distinct: Distinct,
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

impl Clauses<'_> {
    /// The tree of the SELECT.
    pub(crate) fn bound(
        mut self,
        ids: &ColumnIds<'_>,
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
        let window_ids = self.window_ids();
        let values = others.iter().flat_map(|subquery| subquery.values());
        if values.flat_map(Expr::columns).any(|id| window_ids.contains(&id)) {
            return unsupported("a window function before IN over a subquery");
        }
        let mut relation = without_extra_rows(from, &conditions).applied(of_where).filtered(conditions);
        let is_grouped = !self.keys.is_empty() || !self.having.is_empty() || self.sets.is_some();
        if is_grouped || !collector.is_empty() {
            relation = self.grouped(ids, &column_of, &collector, others, relation)?;
        } else {
            relation = relation.applied(others);
        }
        relation = relation.windowed(self.windows).filtered(self.qualify).unnested(self.unnests);
        let (labels, items): (Vec<_>, Vec<_>) = self.items.into_iter().map(|item| (item.label, item.expr)).unzip();
        let items: Vec<ComputedColumn> = items.into_iter().map(&column_of).collect();
        let output = |(label, item): (String, &ComputedColumn)| Output { label, column: item.column.clone() };
        let output: Vec<Output> = labels.into_iter().zip(&items).map(output).collect();
        let mut columns = Columns { items, others: Vec::new(), column_of: &column_of };
        let is_distinct = matches!(self.distinct, Distinct::Rows);
        let mut sort = Vec::with_capacity(self.order.len());
        for OrderItem { by, order, nulls_first } in self.order {
            let column = if is_distinct { columns.item(by)? } else { columns.column(by)? };
            sort.push(SortItem { column, order, nulls_first });
        }
        let has_page = self.is_page || self.limit != RowCount::None || self.offset != RowCount::None;
        let is_one_row = relation.is_one_row() && sort.is_empty() && !has_page;
        let output = columns.drawn(self.sequences, output, is_one_row)?;
        let outputs = output.iter().map(|output| &output.column);
        relation = match self.distinct {
            Distinct::No => relation.projected(columns.items.into_iter().chain(columns.others)),
            Distinct::Rows => {
                let input = Box::new(relation.projected(columns.items));
                Relation::Distinct { input, columns: each_once(outputs) }.projected(columns.others)
            }
            Distinct::On(on) => {
                let on = on.into_iter().map(|by| columns.column(by)).collect::<Bound<Vec<_>>>()?;
                let order = order_of_first(&on, &sort)?;
                let sorted_by = order.iter().map(|item| &item.column);
                let (columns, computed) =
                    (each_once(outputs.chain(sorted_by.clone())), columns.items.into_iter().chain(columns.others));
                let on = each_once(sorted_by.filter(|column| on.contains(column)));
                Relation::DistinctOn { input: Box::new(relation.projected(computed)), on, order, columns }
            }
        };
        if !sort.is_empty() {
            relation = Relation::Sort { input: Box::new(relation), items: sort };
        }
        if has_page {
            let (limit, offset, is_page) = (self.limit, self.offset, self.is_page);
            relation = Relation::Limit { input: Box::new(relation), limit, offset, is_page };
        }
        Ok(BoundQuery { relation, output })
    }

    /// The groups of `input` that HAVING lets through. The clauses that follow are over keys and calls then.
    fn grouped(
        &mut self,
        ids: &ColumnIds<'_>,
        column_of: &dyn Fn(Expr) -> ComputedColumn,
        collector: &Collector<'_>,
        subqueries: Vec<SubqueryColumn>,
        input: Relation,
    ) -> Bound<Relation> {
        let mut keys = std::mem::take(&mut self.keys);
        if self.sets.is_none() {
            self.add_determined(&mut keys, collector, (&subqueries, &input));
        }
        let calls = collector.calls();
        let (of_rows, mut of_groups) = subqueries_of(subqueries, &keys, &calls);
        let sets = self.grouping_sets(&keys, collector)?;
        let keys: Vec<ComputedColumn> = match &sets {
            None => keys.into_iter().map(column_of).collect(),
            // A key is NULL in the groups of sets without it, so that it is another column than that of the rows.
            Some(_) => keys.into_iter().map(|key| nullable(ids.new_column_of(key, Expr::to_string))).collect(),
        };
        let group_ids: HashSet<usize> = of_groups.iter().map(|subquery| subquery.column.index).collect();
        let mut window_ids = self.window_ids();
        window_ids.extend(self.unnests.iter().map(|unnest| unnest.column.index));
        let sequences = self.sequences;
        let passes = |column: &ColumnRef| {
            collector.is_call(column)
                || collector.is_outer_column(column)
                || group_ids.contains(&column.index)
                || window_ids.contains(&column.index)
                || sequences.is_some_and(|sequences| sequences.is_value(column))
        };
        let over_groups = |expr: &mut Expr| replaced(expr, &keys, &passes).map_err(|column| not_grouped(&column));
        self.items.iter_mut().try_for_each(|item| over_groups(&mut item.expr))?;
        let having = |expr: &mut Expr| replaced(expr, &keys, &passes).map_err(|column| not_in_having(&column));
        self.having.iter_mut().try_for_each(having)?;
        self.unnests.iter_mut().try_for_each(|unnest| over_groups(&mut unnest.array))?;
        self.qualify.iter_mut().try_for_each(|condition| over_groups(&mut condition.expr))?;
        self.windows.iter_mut().flat_map(|window| window.call.exprs_mut()).try_for_each(over_groups)?;
        for item in &mut self.order {
            if let OrderBy::Expr(expr) = &mut item.by {
                over_groups(expr)?;
            }
        }
        for subquery in &mut of_groups {
            subquery.values_mut().iter_mut().try_for_each(over_groups)?;
            if !keys.iter().all(ComputedColumn::is_input_column) {
                subquery.query.relation.for_each_mut(&mut |relation| {
                    relation.for_each_own_expr_mut(&mut |expr| _ = replace(expr, &keys, &|_| true));
                });
            }
            let is_group = |id: &usize| {
                keys.iter().any(|key| key.column.index == *id)
                    || collector.is_outer_id(*id)
                    || calls.iter().any(|call| call.column.index == *id)
            };
            if !subquery.outer_columns().iter().all(is_group) {
                let text = "a subquery names a column that stands neither in GROUP BY nor in an aggregate".to_owned();
                return Err(BindError::from(BindErrorKind::Syntax(text)).at(subquery.column.span).into());
            }
        }
        let having = std::mem::take(&mut self.having).into_iter().map(Condition::new).collect();
        let input = Box::new(input.applied(of_rows));
        Ok(Relation::Aggregate { input, keys, calls, sets }.applied(of_groups).filtered(having))
    }

    /// Adds the columns that the keys determine and the clauses name: they are the same in all rows of a group.
    fn add_determined(
        &self,
        keys: &mut Vec<Expr>,
        collector: &Collector<'_>,
        (subqueries, input): (&[SubqueryColumn], &Relation),
    ) {
        let ids = |keys: &[Expr]| -> Vec<usize> {
            let column = |key: &Expr| if let Expr::Column(column) = key { Some(column.index) } else { None };
            keys.iter().filter_map(column).collect()
        };
        let of_keys = ids(keys);
        let of_windows = self.windows.iter().flat_map(|window| window.call.exprs());
        let of_order = self.order.iter().filter_map(|item| match &item.by {
            OrderBy::Expr(expr) => Some(expr),
            OrderBy::Item(_) => None,
        });
        let exprs = self.items.iter().map(|item| &item.expr).chain(&self.having).chain(of_windows).chain(of_order);
        let mut more: Vec<Expr> = Vec::new();
        let mut add = |column: &ColumnRef| {
            let part = Expr::Column(column.clone());
            if collector.is_input_column(column)
                && !keys.contains(&part)
                && !more.contains(&part)
                && input.is_determined(column.index, &of_keys)
            {
                more.push(part);
            }
        };
        for expr in exprs {
            expr.walk(&mut |part| {
                if let Expr::Column(column) = part {
                    add(column);
                }
            });
        }
        for subquery in subqueries {
            subquery.query.relation.for_each(&mut |relation| relation.for_each_column(&mut add));
        }
        keys.append(&mut more);
    }

    fn window_ids(&self) -> HashSet<usize> {
        self.windows.iter().map(|window| window.column.index).collect()
    }

    /// The sets of keys, and the calls of GROUPING. `None` if there are neither.
    fn grouping_sets(&mut self, keys: &[Expr], collector: &Collector<'_>) -> Bound<Option<GroupingSets>> {
        let mut groupings = Vec::new();
        for (column, named) in collector.groupings() {
            let place = |named: &Expr| keys.iter().position(|key| key == named);
            let Some(keys) = named.iter().map(place).collect() else {
                let text = "GROUPING takes expressions of GROUP BY, and this one is none".to_owned();
                return Err(BindError::from(BindErrorKind::Syntax(text)).at(column.span).into());
            };
            groupings.push(GroupingColumn { column, keys });
        }
        // One set without keys is all rows.
        let sets = self.sets.take().filter(|sets| !keys.is_empty() || sets.len() > 1);
        if sets.is_none() && groupings.is_empty() {
            return Ok(None);
        }
        let sets = sets.unwrap_or_else(|| vec![(0..keys.len()).collect()]);
        Ok(Some(GroupingSets { sets, groupings }))
    }
}

fn nullable(mut computed: ComputedColumn) -> ComputedColumn {
    computed.column.nullable = true;
    computed
}

/// The columns of the items of a SELECT, and of what it is sorted by.
struct Columns<'a> {
    items: Vec<ComputedColumn>,
    others: Vec<ComputedColumn>,
    column_of: &'a dyn Fn(Expr) -> ComputedColumn,
}

impl Columns<'_> {
    /// The column of an item, or of an expression that is computed for it.
    fn column(&mut self, by: OrderBy) -> Bound<ColumnRef> {
        match by {
            OrderBy::Item(_) => self.item(by),
            OrderBy::Expr(expr) => Ok(self.of_expr(expr)),
        }
    }

    fn of_expr(&mut self, expr: Expr) -> ColumnRef {
        let mut known = self.items.iter().chain(&self.others).filter(|_| !expr.is_volatile());
        match known.find(|known| known.expr == expr) {
            Some(known) => known.column.clone(),
            None => self.computed(expr),
        }
    }

    fn computed(&mut self, expr: Expr) -> ColumnRef {
        let computed = (self.column_of)(expr);
        let column = computed.column.clone();
        self.others.push(computed);
        column
    }

    /// Takes the items with values of sequences out of the columns, but for the parts of them that the query computes; the output of the
    /// query without them. It has a column at least, so that batches know how many rows they have, unless the query is nothing but one row.
    fn drawn(
        &mut self,
        sequences: Option<&SequenceCollector<'_>>,
        output: Vec<Output>,
        is_one_row: bool,
    ) -> Bound<Vec<Output>> {
        let Some(sequences) = sequences.filter(|sequences| sequences.calls() > 0) else { return Ok(output) };
        let items = std::mem::take(&mut self.items).into_iter();
        let (mut drawn, items): (Vec<_>, Vec<_>) = items.partition(|item| sequences.is_in(&item.expr));
        self.items = items;
        let is_drawn = |column: &ColumnRef| drawn.iter().any(|item| item.column.index == column.index);
        let mut given: Vec<ColumnRef> =
            output.iter().map(|output| output.column.clone()).filter(|column| !is_drawn(column)).collect();
        for item in &mut drawn {
            sequences.for_each_other_part(&mut item.expr, &mut |part| {
                let column = self.of_expr(std::mem::replace(part, Expr::NULL));
                given.push(column.clone());
                *part = Expr::Column(column);
            });
            if item.expr.is_of_engine() {
                return Err(around_value("an expression of structs or of arrays of arrays")
                    .at(item.expr.span())
                    .into());
            }
        }
        if given.is_empty() && !is_one_row {
            given.push(self.computed(Expr::boolean(true)));
        }
        sequences.put_result(drawn, output);
        Ok(each_once(given.iter()).iter().map(Output::of).collect())
    }

    /// The column of an item, or of an expression that is computed over items: there is nothing else after DISTINCT.
    fn item(&mut self, by: OrderBy) -> Bound<ColumnRef> {
        match by {
            OrderBy::Item(place) => match self.items.get(place) {
                Some(item) => Ok(item.column.clone()),
                None => unsupported("an ORDER BY position"),
            },
            OrderBy::Expr(mut expr) => match replace(&mut expr, &self.items, &|_| false) {
                true => Ok(self.computed(expr)),
                false => {
                    let text = format!("ORDER BY {expr} is none of the items of SELECT DISTINCT");
                    let error = BindError::from(BindErrorKind::Syntax(text)).at(expr.span());
                    Err(error.help("sort by an item, or by an expression of items").into())
                }
            },
        }
    }
}

/// The order that tells which row DISTINCT ON keeps: that of the query, which begins with the columns of DISTINCT ON, then those of
/// them that it does not have.
///
/// # Errors
/// An order that begins with something else.
fn order_of_first(on: &[ColumnRef], sort: &[SortItem]) -> Bound<Vec<SortItem>> {
    let on = each_once(on.iter());
    if let Some(other) = sort.iter().take(on.len()).find(|item| !on.contains(&item.column)) {
        let text = format!("ORDER BY begins with {}, which is not in DISTINCT ON", other.column.name);
        let error = BindError::from(BindErrorKind::Syntax(text)).at(other.column.span);
        return Err(error.help("sort by the expressions of DISTINCT ON first, in any order").into());
    }
    let missing = on.iter().filter(|column| !sort.iter().any(|item| item.column == **column));
    let missing = missing.map(|column| SortItem { column: column.clone(), order: SortOrder::Asc, nulls_first: true });
    let (first, rest) = sort.split_at(sort.len().min(on.len()));
    let mut order: Vec<SortItem> = Vec::with_capacity(sort.len());
    for item in first.iter().cloned().chain(missing).chain(rest.iter().cloned()) {
        // A column decides where it stands first.
        if !order.iter().any(|known| known.column == item.column) {
            order.push(item);
        }
    }
    Ok(order)
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

/// As [`replace`].
///
/// # Errors
/// The column that neither gives.
fn replaced(
    expr: &mut Expr,
    columns: &[ComputedColumn],
    passes: &dyn Fn(&ColumnRef) -> bool,
) -> std::result::Result<(), ColumnRef> {
    if replace(expr, columns, passes) {
        return Ok(());
    }
    let mut other = None;
    expr.walk(&mut |part| {
        if let Expr::Column(column) = part
            && !passes(column)
            && !columns.iter().any(|known| known.column.index == column.index)
        {
            other = other.take().or_else(|| Some(column.clone()));
        }
    });
    match other {
        Some(column) => Err(column),
        None => {
            debug_assert!(false, "{expr} names a column that is none");
            Ok(())
        }
    }
}

fn not_grouped(column: &ColumnRef) -> LowerError {
    let text = format!("{} stands neither in GROUP BY nor in an aggregate", column.name);
    BindError::from(BindErrorKind::Syntax(text)).at(column.span).into()
}

fn not_in_having(column: &ColumnRef) -> LowerError {
    let text = format!("HAVING names column {}, which stands neither in GROUP BY nor in an aggregate", column.name);
    let error = BindError::from(BindErrorKind::Syntax(text)).at(column.span);
    error.help("conditions on rows stand in WHERE").into()
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
