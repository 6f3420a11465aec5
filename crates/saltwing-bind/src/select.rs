//! The clauses of a SELECT, and those around a query.

use std::collections::HashSet;

use saltwing_plan::Condition;
use saltwing_sql::expr_span;
use saltwing_sql::statement::SourceText;
use saltwing_types::table::is_same_name;
use saltwing_types::{ColumnRef, Expr, SortOrder, SqlType, eval, typing};
use sqlparser::ast::{
    self, GroupByExpr, LimitClause, ObjectName, OrderByKind, Query, SelectItem, SetExpr, TableAlias, TableFactor,
    TableVersion,
};

use crate::collector::Collector;
use crate::condition::conditions;
use crate::error::{BindError, BindErrorKind};
use crate::lower::{Lowerer, Params};
use crate::outer_join::without_extra_rows;
use crate::query_binder::{Bound, QueryBinder, foreign};
use crate::row_count::RowCount;
use crate::scope::Scope;
use crate::subquery_column::SubqueryBinder;
use crate::tree::{BoundQuery, CallColumn, ColumnIds, ComputedColumn, Output, Relation, SortItem, SubqueryColumn};

/// A query over one table, without anything relational in it.
pub(crate) struct Simple<'a> {
    pub(crate) select: &'a ast::Select,
    pub(crate) name: &'a ast::ObjectName,
    pub(crate) alias: Option<&'a ast::TableAlias>,
    /// The moment at which the table is read.
    pub(crate) moment: Option<&'a ast::TableVersion>,
}

pub(crate) fn simple(query: &Query) -> Option<Simple<'_>> {
    let select = plain_select(query)?;
    let [from] = select.from.as_slice() else { return None };
    let (name, alias, moment) = plain_table(&from.relation).filter(|_| from.joins.is_empty())?;
    Some(Simple { select, name, alias, moment })
}

/// The name and the alias of an item of FROM that is a table alone.
pub(crate) fn plain_table(factor: &TableFactor) -> Option<(&ObjectName, Option<&TableAlias>, Option<&TableVersion>)> {
    match factor {
        TableFactor::Table { name, alias, args: None, version, sample: None, json_path: None, partitions, .. }
            if partitions.is_empty() && alias.as_ref().is_none_or(|alias| alias.columns.is_empty()) =>
        {
            Some((name, alias.as_ref(), version.as_ref()))
        }
        _ => None,
    }
}

/// The SELECT that a query is, if it has no clauses but those that are bound.
fn plain_select(query: &Query) -> Option<&ast::Select> {
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    let is_plain = query.with.is_none() && has_bound_clauses(query) && has_bound_select_clauses(select);
    is_plain.then_some(select)
}

/// Whether a query has no clauses around its body but those that are bound.
pub(crate) fn has_bound_clauses(query: &Query) -> bool {
    query.fetch.is_none()
        && query.locks.is_empty()
        && query.for_clause.is_none()
        && query.settings.is_none()
        && query.format_clause.is_none()
        && query.pipe_operators.is_empty()
}

fn has_bound_select_clauses(select: &ast::Select) -> bool {
    !matches!(select.distinct, Some(ast::Distinct::On(_)))
        && select.top.is_none()
        && select.exclude.is_none()
        && select.into.is_none()
        && select.lateral_views.is_empty()
        && select.prewhere.is_none()
        && select.connect_by.is_empty()
        && matches!(&select.group_by, GroupByExpr::Expressions(_, modifiers) if modifiers.is_empty())
        && select.cluster_by.is_empty()
        && select.distribute_by.is_empty()
        && select.sort_by.is_empty()
        && select.named_window.is_empty()
        && select.qualify.is_none()
        && select.value_table_mode.is_none()
        && select.select_modifiers.is_none()
}

/// What stands around the body of a query, and how the result is called.
#[derive(Clone, Copy, Default)]
pub(crate) struct QueryClauses<'a> {
    /// The items of the SELECT that names its columns as written, if they are known.
    pub(crate) items: &'a [SourceText],
    pub(crate) order_by: Option<&'a ast::OrderBy>,
    pub(crate) limit: Option<&'a LimitClause>,
    /// Whether its rows are a page: LIMIT .. AFTER.
    pub(crate) is_page: bool,
}

impl QueryBinder<'_> {
    /// The tree of a SELECT and the clauses around it.
    pub(crate) fn select(&self, select: &ast::Select, clauses: QueryClauses<'_>) -> Bound<BoundQuery> {
        if !has_bound_select_clauses(select) {
            return foreign("a clause of the SELECT");
        }
        let first_input = self.ids.next();
        let (relation, scope) = self.from(&select.from)?;
        let collector = Collector::new(self.ids, first_input);
        let (of_where, others) = (SubqueryBinder::new(self, &scope), SubqueryBinder::new(self, &scope));
        let lowerer = others.lowerer(Some(&collector));
        let row_lowerer = of_where.lowerer(None);
        let binder = Binder { lowerer, row_lowerer, collector: &collector, queries: &others, scope: &scope, clauses };
        let clauses = binder.clauses(select)?;
        let subqueries = Subqueries { of_where: of_where.into_subqueries(), others: others.into_subqueries() };
        clauses.bound(self.ids, collector, subqueries, relation)
    }

    /// The tree of a query whose rows `query` gives, with the clauses around it: they are over its columns.
    pub(crate) fn around(&self, query: BoundQuery, clauses: QueryClauses<'_>) -> Bound<BoundQuery> {
        let scope = Scope::of_query(query.output.clone(), None, None);
        // Its columns are items by themselves.
        let collector = Collector::new(self.ids, 0);
        let queries = SubqueryBinder::new(self, &scope);
        let (lowerer, row_lowerer) = (queries.lowerer(None), queries.lowerer(None));
        let binder = Binder { lowerer, row_lowerer, collector: &collector, queries: &queries, scope: &scope, clauses };
        let items: Vec<Item> = items_of(query.output).collect();
        let order = binder.order(&items)?;
        let (limit, offset) = binder.limit()?;
        let is_page = clauses.is_page;
        let clauses = Clauses { items, order, limit, offset, is_page, ..Clauses::default() };
        let subqueries = Subqueries { of_where: Vec::new(), others: queries.into_subqueries() };
        clauses.bound(self.ids, collector, subqueries, query.relation)
    }
}

/// Binds the clauses of one SELECT.
struct Binder<'a> {
    lowerer: Lowerer<'a>,
    /// Lowers the expressions of WHERE.
    row_lowerer: Lowerer<'a>,
    collector: &'a Collector<'a>,
    /// The subqueries of the clauses other than WHERE.
    queries: &'a SubqueryBinder<'a>,
    scope: &'a Scope,
    clauses: QueryClauses<'a>,
}

/// An item of the SELECT list.
struct Item {
    label: String,
    expr: Expr,
}

/// An item of ORDER BY.
struct OrderItem {
    by: OrderBy,
    order: SortOrder,
    nulls_first: bool,
}

enum OrderBy {
    /// The item of the SELECT list at this place.
    Item(usize),
    /// An expression.
    Expr(Expr),
}

/// The clauses of a SELECT, over the columns of the table and the calls of aggregate functions.
#[derive(Default)]
struct Clauses {
    items: Vec<Item>,
    conditions: Vec<Condition>,
    keys: Vec<Expr>,
    having: Vec<Expr>,
    is_distinct: bool,
    order: Vec<OrderItem>,
    limit: RowCount,
    offset: RowCount,
    is_page: bool,
}

/// The subqueries in the clauses of a SELECT.
struct Subqueries {
    of_where: Vec<SubqueryColumn>,
    others: Vec<SubqueryColumn>,
}

impl Clauses {
    /// The tree of the SELECT.
    fn bound(
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
        let mut relation = without_extra_rows(from, &conditions).applied(of_where).filtered(conditions);
        if !self.keys.is_empty() || !self.having.is_empty() || !collector.is_empty() {
            relation = self.grouped(&column_of, &collector, others, relation)?;
        } else {
            relation = relation.applied(others);
        }
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
        let passes = |column: &ColumnRef| {
            collector.is_call(column) || collector.is_outer_column(column) || group_ids.contains(&column.index)
        };
        let over_groups = |expr: &mut Expr| match replace(expr, &keys, &passes) {
            true => Ok(()),
            false => foreign("a column that is neither grouped nor aggregated"),
        };
        self.items.iter_mut().try_for_each(|item| over_groups(&mut item.expr))?;
        self.having.iter_mut().try_for_each(over_groups)?;
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

impl Binder<'_> {
    fn clauses(&self, select: &ast::Select) -> Bound<Clauses> {
        let items = self.items(&select.projection)?;
        let conditions = match &select.selection {
            None => Vec::new(),
            Some(selection) => conditions(self.condition(&self.row_lowerer, selection)?),
        };
        let keys = self.keys(&select.group_by, &items)?;
        let having = match &select.having {
            None => Vec::new(),
            Some(having) => self.condition(&self.lowerer, having)?.into_conjuncts(),
        };
        let is_distinct = matches!(select.distinct, Some(ast::Distinct::Distinct));
        let order = self.order(&items)?;
        let (limit, offset) = self.limit()?;
        let is_page = self.clauses.is_page;
        Ok(Clauses { items, conditions, keys, having, is_distinct, order, limit, offset, is_page })
    }

    fn condition(&self, lowerer: &Lowerer<'_>, e: &ast::Expr) -> Bound<Expr> {
        let lowered = lowerer.lower(e)?;
        typing::condition(lowered).map_err(|error| BindError::from(error).at(expr_span(e)).into())
    }

    fn items(&self, items: &[SelectItem]) -> Bound<Vec<Item>> {
        let (mut found, mut aliases) = (Vec::new(), Vec::new());
        for (i, item) in items.iter().enumerate() {
            match item {
                SelectItem::Wildcard(options) => found.extend(self.wildcard(self.scope.shown(), options)?),
                SelectItem::QualifiedWildcard(ast::SelectItemQualifiedWildcardKind::ObjectName(name), options) => {
                    let parts: Vec<&str> =
                        name.0.iter().filter_map(|p| p.as_ident()).map(|p| p.value.as_str()).collect();
                    let Some(columns) = self.scope.shown_of(&parts) else {
                        let idents = name.0.iter().filter_map(|part| part.as_ident()).cloned().collect();
                        let span = expr_span(&ast::Expr::CompoundIdentifier(idents));
                        return Err(self.scope.no_such_wildcard(&parts).at(span).into());
                    };
                    found.extend(self.wildcard(columns, options)?);
                }
                SelectItem::UnnamedExpr(e) => {
                    let expr = self.lowerer.lower(e)?;
                    let label = match &expr {
                        Expr::Column(column) if self.collector.is_input_column(column) => self.scope.label(column),
                        Expr::Column(column) if self.collector.is_outer_column(column) => Some(column.name.clone()),
                        _ => None,
                    };
                    let text = || self.clauses.items.get(i).map_or_else(|| e.to_string(), |item| item.text.clone());
                    let label = label.unwrap_or_else(text);
                    found.push(self.item(label, expr)?);
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let item = self.item(alias.value.clone(), self.lowerer.lower(expr)?)?;
                    aliases.push((&alias.value, item.expr.clone()));
                    found.push(item);
                }
                _ => return foreign("a select item"),
            }
        }
        // An item does not name another one.
        for (alias, expr) in aliases {
            self.collector.name_item(alias, &expr);
        }
        Ok(found)
    }

    /// The items that a wildcard stands for: columns, without those that EXCLUDE names, or with what REPLACE puts in their places.
    fn wildcard(&self, mut columns: Vec<Output>, options: &ast::WildcardAdditionalOptions) -> Bound<Vec<Item>> {
        if is_plain(options) {
            return Ok(items_of(columns).collect());
        }
        if options.opt_ilike.is_some() || options.opt_rename.is_some() || options.opt_alias.is_some() {
            return foreign("an option of a wildcard");
        }
        let listed = |columns: &[Output], name: &ast::Ident| -> Bound<()> {
            if columns.iter().any(|column| is_same_name(&column.label, &name.value)) {
                return Ok(());
            }
            let error = BindErrorKind::NoSuchColumn { table: "*".into(), column: name.value.clone() };
            Err(BindError::from(error).at(expr_span(&ast::Expr::Identifier(name.clone()))).into())
        };
        let excluded = excluded(options)?;
        excluded.iter().try_for_each(|name| listed(&columns, name))?;
        columns.retain(|column| !excluded.iter().any(|name| is_same_name(&column.label, &name.value)));
        let replaced: Vec<&ast::ReplaceSelectElement> =
            options.opt_replace.iter().flat_map(|replace| &replace.items).map(|item| &**item).collect();
        replaced.iter().try_for_each(|item| listed(&columns, &item.column_name))?;
        let item = |column: Output| {
            let replaced = replaced.iter().find(|item| is_same_name(&column.label, &item.column_name.value));
            let expr = match replaced {
                Some(item) => self.lowerer.lower(&item.expr)?,
                None => Expr::Column(column.column),
            };
            self.item(column.label, expr)
        };
        columns.into_iter().map(item).collect()
    }

    fn item(&self, label: String, expr: Expr) -> Bound<Item> {
        match (expr.sql_type(), self.lowerer.params) {
            (Some(_), _) | (None, Params::Later) => Ok(Item { label, expr }),
            (None, _) => foreign("a parameter of unknown type"),
        }
    }

    /// GROUP BY: expressions of a row, items by alias or by position.
    fn keys(&self, group_by: &GroupByExpr, items: &[Item]) -> Bound<Vec<Expr>> {
        let GroupByExpr::Expressions(list, _) = group_by else { return foreign("GROUP BY ALL") };
        let mut keys = Vec::new();
        for e in list {
            let key = match ordinal(e) {
                Some(place) => match place.checked_sub(1).and_then(|i| items.get(i)) {
                    Some(item) => item.expr.clone(),
                    None => return Err(no_such_item("GROUP BY", e, items.len()).into()),
                },
                None => self.lowerer.lower(e)?,
            };
            let mut of_row = !key.is_constant() && key.sql_type().is_some_and(|ty| ty != SqlType::Null);
            key.walk(&mut |part| {
                if let Expr::Column(column) = part {
                    of_row = of_row && (self.collector.is_input_column(column) || self.queries.is_subquery(column));
                }
            });
            if !of_row {
                return foreign("GROUP BY what is no value of a row");
            }
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        Ok(keys)
    }

    /// ORDER BY: items by position or label, and expressions.
    fn order(&self, items: &[Item]) -> Bound<Vec<OrderItem>> {
        let Some(order_by) = self.clauses.order_by else { return Ok(Vec::new()) };
        let OrderByKind::Expressions(list) = &order_by.kind else { return foreign("ORDER BY ALL") };
        list.iter()
            .map(|item| {
                let by = match ordinal(&item.expr) {
                    Some(place) => match place.checked_sub(1).filter(|place| *place < items.len()) {
                        Some(place) => OrderBy::Item(place),
                        None => return Err(no_such_item("ORDER BY", &item.expr, items.len()).into()),
                    },
                    None => self.order_by(&item.expr, items)?,
                };
                let order = if item.options.asc == Some(false) { SortOrder::Desc } else { SortOrder::Asc };
                Ok(OrderItem { by, order, nulls_first: item.options.nulls_first.unwrap_or(true) })
            })
            .collect()
    }

    /// A name in ORDER BY is a label first, a column of the table second.
    fn order_by(&self, e: &ast::Expr, items: &[Item]) -> Bound<OrderBy> {
        if let ast::Expr::Identifier(name) = e {
            let mut named = items.iter().enumerate().filter(|(_, item)| is_same_name(&item.label, &name.value));
            if let Some((place, item)) = named.next() {
                return match named.any(|(_, other)| other.expr != item.expr) {
                    true => foreign("an ambiguous label"),
                    false => Ok(OrderBy::Item(place)),
                };
            }
        }
        Ok(OrderBy::Expr(self.lowerer.lower(e)?))
    }

    /// LIMIT and OFFSET.
    fn limit(&self) -> Bound<(RowCount, RowCount)> {
        let (limit, offset) = match self.clauses.limit {
            None => return Ok((RowCount::None, RowCount::None)),
            Some(LimitClause::LimitOffset { limit, offset, limit_by }) if limit_by.is_empty() => {
                (limit.as_ref(), offset.as_ref().map(|o| &o.value))
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => (Some(limit), Some(offset)),
            Some(_) => return foreign("LIMIT BY"),
        };
        let count = |e: Option<&ast::Expr>, clause| e.map_or(Ok(RowCount::None), |e| self.row_count(e, clause));
        let offset = match count(offset, "OFFSET")? {
            RowCount::Rows(0) => RowCount::None,
            other => other,
        };
        Ok((count(limit, "LIMIT")?, offset))
    }

    fn row_count(&self, e: &ast::Expr, clause: &str) -> Bound<RowCount> {
        let lowered = Lowerer { queries: None, ..self.lowerer.of_rows() }.lower(e)?;
        match &lowered {
            Expr::Param(index, _) => Ok(RowCount::Parameter(*index)),
            Expr::Subquery(..) => Ok(RowCount::Subquery),
            computed
                if computed.is_constant()
                    && let Ok(value) = eval::eval(computed, &[])
                    && let Some(rows) = RowCount::of_value(&value) =>
            {
                Ok(rows)
            }
            other => {
                let error = BindErrorKind::Syntax(format!("{clause} takes a number of rows, and {other} is none"));
                Err(BindError::from(error).at(expr_span(e)).into())
            }
        }
    }
}

/// The items that a wildcard stands for.
fn items_of(columns: Vec<Output>) -> impl Iterator<Item = Item> {
    columns.into_iter().map(|Output { label, column }| Item { label, expr: Expr::Column(column) })
}

/// The columns that EXCLUDE or EXCEPT leaves out.
fn excluded(options: &ast::WildcardAdditionalOptions) -> Bound<Vec<&ast::Ident>> {
    let names: Vec<&ObjectName> = match &options.opt_exclude {
        None => Vec::new(),
        Some(ast::ExcludeSelectItem::Single(name)) => vec![name],
        Some(ast::ExcludeSelectItem::Multiple(names)) => names.iter().collect(),
    };
    let mut excluded = Vec::new();
    for name in names {
        match name.0.as_slice() {
            [part] => excluded.extend(part.as_ident()),
            _ => return foreign("a qualified name in EXCLUDE"),
        }
    }
    let except = options.opt_except.iter();
    excluded
        .extend(except.flat_map(|except| std::iter::once(&except.first_element).chain(&except.additional_elements)));
    Ok(excluded)
}

pub(crate) fn is_plain(options: &ast::WildcardAdditionalOptions) -> bool {
    options.opt_ilike.is_none()
        && options.opt_exclude.is_none()
        && options.opt_except.is_none()
        && options.opt_replace.is_none()
        && options.opt_rename.is_none()
        && options.opt_alias.is_none()
}

/// The error of a number in ORDER BY or GROUP BY that is that of no item.
fn no_such_item(clause: &str, number: &ast::Expr, items: usize) -> BindError {
    let text = format!("{clause} {number} is no column of the query, which has {items}");
    let error = BindError::from(BindErrorKind::Syntax(text)).at(expr_span(number));
    error.help("write an expression, or the number of a column from 1 on")
}

/// The number of an `ORDER BY 2`.
fn ordinal(e: &ast::Expr) -> Option<usize> {
    match e {
        ast::Expr::Value(value) => match &value.value {
            ast::Value::Number(text, _) => text.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}
