//! SELECTs over one table that need no relational engine.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use saltwing_plan::{Condition, OrderBy, OrderItem};
use saltwing_sql::expr_span;
use saltwing_sql::statement::{Hint, QueryStatement};
use saltwing_types::table::is_same_name;
use saltwing_types::{ColumnDef, ColumnRef, Expr, KeySchema, SortOrder, Span, SqlType, Value, eval, typing};
use sqlparser::ast::{self, GroupByExpr, LimitClause, OrderByKind, Query, SelectItem, SetExpr, TableFactor};

use crate::aggregate::{Collector, GroupOrder, Grouping};
use crate::as_of::table_as_of;
use crate::condition::conditions;
use crate::error::{BindError, BindErrorKind, Result};
use crate::lower::{LowerError, Lowerer, Params};
use crate::output::OutputColumn;
use crate::scope::Scope;
use crate::subquery::Subquery;

/// A SELECT over one table: conditions, expressions of a row, key-ordered limit, or groups of rows.
#[derive(Clone)]
pub struct BoundSelect {
    /// The table.
    pub table: Arc<Table>,
    /// How the statement calls it, where that is not its name.
    pub alias: Option<String>,
    /// Where the statement names it.
    pub span: Option<Span>,
    /// The output.
    pub output: Output,
    /// The conditions.
    pub conditions: Vec<Condition>,
    /// ORDER BY of rows: columns and parts of the key only. That of groups is [`Grouping::order`].
    pub order: Vec<OrderItem>,
    /// LIMIT; `None` is none.
    pub limit: Option<u64>,
    /// OFFSET.
    pub offset: u64,
    /// Whether LIMIT or OFFSET is a parameter without a value, or a subquery that has not run.
    pub limit_open: bool,
    /// LIMIT's and OFFSET's parameters without a value, by number from 0; none if one of both is a subquery.
    pub limit_parameters: (Option<usize>, Option<usize>),
    /// Whether its rows are a page: LIMIT .. AFTER.
    pub is_page: bool,
    /// The hints of the statement.
    pub hints: Vec<Hint>,
}

/// The output of a [`BoundSelect`].
#[derive(Clone)]
pub enum Output {
    /// One row for each row.
    Rows(Vec<OutputColumn>),
    /// One row for each group of rows.
    Groups(Grouping),
}

impl Output {
    /// The columns put out.
    pub fn columns(&self) -> &[OutputColumn] {
        match self {
            Output::Rows(columns) => columns,
            Output::Groups(grouping) => &grouping.outputs,
        }
    }

    /// The columns of the table that it is computed from, each once, by index.
    pub fn table_columns(&self) -> Vec<usize> {
        let mut columns: Vec<usize> = match self {
            Output::Rows(outputs) => outputs.iter().flat_map(|output| output.expr.columns()).collect(),
            Output::Groups(grouping) => {
                let calls = grouping.calls.iter().flat_map(|call| call.argument.iter().chain(&call.filter));
                grouping.keys.iter().chain(calls).flat_map(Expr::columns).collect()
            }
        };
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}

/// A query, bound.
pub enum BoundQuery {
    /// For the direct path.
    Single(Box<BoundSelect>),
    /// For the relational engine.
    Relational,
}

/// Binds a query if it is one that the direct path may run. Of its placeholders some may stand for `subqueries`.
///
/// # Errors
/// Errors of a query over one table: the relational engine would find them too, with less detail.
pub fn query(
    statement: &QueryStatement,
    catalog: &dyn CatalogReader,
    params: Params<'_>,
    subqueries: &[Subquery],
) -> Result<BoundQuery> {
    let Some(Simple { select, name, alias, moment }) = simple(&statement.query) else {
        return Ok(BoundQuery::Relational);
    };
    let (schema, name) = match name.0.as_slice() {
        [name] => (None, name.as_ident()),
        [schema, name] => (schema.as_ident().map(|s| s.value.as_str()), name.as_ident()),
        _ => return Ok(BoundQuery::Relational),
    };
    let Some(name) = name else { return Ok(BoundQuery::Relational) };
    if schema.is_some_and(|s| s.eq_ignore_ascii_case(saltwing_catalog::INFORMATION_SCHEMA)) {
        return Ok(BoundQuery::Relational);
    }
    let span = expr_span(&ast::Expr::Identifier(name.clone()));
    let table = match catalog.resolve(schema, &name.value) {
        Ok(table) => table,
        // The relational engine reads it.
        Err(_) if schema.is_none() && catalog.arrow_table(&name.value).is_some() => return Ok(BoundQuery::Relational),
        Err(error) => return Err(BindError::from(error).at(span)),
    };
    let table = match moment {
        Some(moment) => table_as_of(table, moment, params, subqueries)?,
        None => table,
    };
    let scope = Scope::of(table.clone(), alias.map(|a| a.name.value.clone()));
    let collector = Collector::new(table.width());
    let binder = Binder {
        lowerer: Lowerer { scope: &scope, params, subqueries, operands: &[], collector: Some(&collector) },
        collector: &collector,
        scope: &scope,
        table,
        alias: alias.map(|a| a.name.value.clone()),
        span,
        statement,
    };
    let parts = binder.select(select);
    let bound = parts.and_then(|parts| parts.bound(collector));
    match bound {
        Ok(bound) => Ok(BoundQuery::Single(Box::new(bound))),
        Err(LowerError::Unsupported(..)) => Ok(BoundQuery::Relational),
        Err(LowerError::Invalid(error)) => Err(error),
    }
}

/// A query without anything relational in it.
pub(crate) struct Simple<'a> {
    pub(crate) select: &'a ast::Select,
    pub(crate) name: &'a ast::ObjectName,
    pub(crate) alias: Option<&'a ast::TableAlias>,
    /// The moment at which the table is read.
    pub(crate) moment: Option<&'a ast::TableVersion>,
}

pub(crate) fn simple(query: &Query) -> Option<Simple<'_>> {
    let plain = query.with.is_none()
        && query.fetch.is_none()
        && query.locks.is_empty()
        && query.for_clause.is_none()
        && query.settings.is_none()
        && query.format_clause.is_none()
        && query.pipe_operators.is_empty();
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    let plain = plain
        && !matches!(select.distinct, Some(ast::Distinct::On(_)))
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
        && select.select_modifiers.is_none();
    let [from] = select.from.as_slice() else { return None };
    match &from.relation {
        TableFactor::Table { name, alias, args: None, version, sample: None, json_path: None, partitions, .. }
            if plain
                && from.joins.is_empty()
                && partitions.is_empty()
                && alias.as_ref().is_none_or(|a| a.columns.is_empty()) =>
        {
            Some(Simple { select, name, alias: alias.as_ref(), moment: version.as_ref() })
        }
        _ => None,
    }
}

struct Binder<'a> {
    lowerer: Lowerer<'a>,
    collector: &'a Collector,
    scope: &'a Scope,
    table: Arc<Table>,
    alias: Option<String>,
    span: Option<Span>,
    statement: &'a QueryStatement,
}

type Bound<T> = std::result::Result<T, LowerError>;

fn foreign<T>(what: &str) -> Bound<T> {
    Err(LowerError::Unsupported(what.to_owned(), None))
}

/// A SELECT whose expressions are still over the table's columns, and the calls behind them.
struct Parts {
    select: BoundSelect,
    items: Vec<OutputColumn>,
    is_distinct: bool,
    keys: Vec<Expr>,
    having: Vec<Expr>,
    order: Vec<GroupOrder>,
}

impl Parts {
    /// The SELECT, over rows or over groups.
    fn bound(mut self, collector: Collector) -> Bound<BoundSelect> {
        let is_grouped = !self.keys.is_empty() || !self.having.is_empty() || !collector.is_empty();
        if !is_grouped && !self.is_distinct {
            let key = &self.select.table.def().key;
            let item = |item: GroupOrder| match order_by(item.expr, key) {
                Some(by) => Ok(OrderItem { by, order: item.order, nulls_first: item.nulls_first }),
                None => foreign("ORDER BY an expression"),
            };
            self.select.order = self.order.into_iter().map(item).collect::<Bound<_>>()?;
            self.select.output = Output::Rows(self.items);
            return Ok(self.select);
        }
        if self.is_distinct {
            if is_grouped {
                return foreign("DISTINCT over groups");
            }
            for item in &self.items {
                if !self.keys.contains(&item.expr) {
                    self.keys.push(item.expr.clone());
                }
            }
        }
        let keys = self.keys;
        if !keys.is_empty() {
            let of_keys = self.having.iter().filter(|e| collector.is_of_keys(e, &keys));
            self.select.conditions.extend(of_keys.cloned().flat_map(conditions));
        }
        let over_groups = |e: Expr| match collector.over_groups(e, &keys) {
            Some(e) => Ok(e),
            None => foreign("a column that is neither grouped nor aggregated"),
        };
        let item = |item: OutputColumn| Ok(OutputColumn { expr: over_groups(item.expr)?, ..item });
        let ordered = |item: GroupOrder| Ok(GroupOrder { expr: over_groups(item.expr)?, ..item });
        let outputs = self.items.into_iter().map(item).collect::<Bound<_>>()?;
        let having = self.having.into_iter().map(over_groups).collect::<Bound<_>>()?;
        let order = self.order.into_iter().map(ordered).collect::<Bound<_>>()?;
        let calls = collector.into_calls();
        self.select.output = Output::Groups(Grouping { keys, calls, having, outputs, order });
        Ok(self.select)
    }
}

/// The column or the computed part of the key that an expression is.
fn order_by(expr: Expr, key: &KeySchema) -> Option<OrderBy> {
    match expr {
        Expr::Column(column) => Some(OrderBy::Column(column.index)),
        expr => key.columns.iter().position(|part| part.computed() == Some(&expr)).map(OrderBy::KeyPart),
    }
}

impl Binder<'_> {
    fn select(&self, select: &ast::Select) -> Bound<Parts> {
        let items = self.output(&select.projection)?;
        let conditions = match &select.selection {
            None => Vec::new(),
            Some(selection) => conditions(self.condition(&self.lowerer.of_rows(), selection)?),
        };
        let keys = self.keys(&select.group_by, &items)?;
        let having = match &select.having {
            None => Vec::new(),
            Some(having) => self.condition(&self.lowerer, having)?.into_conjuncts(),
        };
        let order = self.order(&items)?;
        let (limit, offset) = self.limit()?;
        let bound = BoundSelect {
            table: self.table.clone(),
            alias: self.alias.clone(),
            span: self.span,
            output: Output::Rows(Vec::new()),
            conditions,
            order: Vec::new(),
            limit: limit.known,
            offset: offset.known.unwrap_or(0),
            limit_open: limit.is_open || offset.is_open,
            limit_parameters: match limit.is_subquery() || offset.is_subquery() {
                true => (None, None),
                false => (limit.parameter, offset.parameter),
            },
            is_page: self.statement.after.is_some(),
            hints: self.statement.hints.clone(),
        };
        let is_distinct = matches!(select.distinct, Some(ast::Distinct::Distinct));
        Ok(Parts { select: bound, items, is_distinct, keys, having, order })
    }

    fn condition(&self, lowerer: &Lowerer<'_>, e: &ast::Expr) -> Bound<Expr> {
        let lowered = lowerer.lower(e)?;
        typing::condition(lowered).map_err(|error| BindError::from(error).at(expr_span(e)).into())
    }

    fn output(&self, items: &[SelectItem]) -> Bound<Vec<OutputColumn>> {
        let (mut columns, mut aliases) = (Vec::new(), Vec::new());
        for (i, item) in items.iter().enumerate() {
            match item {
                SelectItem::Wildcard(options)
                    if *options == ast::WildcardAdditionalOptions::default() || is_plain(options) =>
                {
                    columns.extend(self.all_columns());
                }
                SelectItem::QualifiedWildcard(ast::SelectItemQualifiedWildcardKind::ObjectName(name), options)
                    if is_plain(options) =>
                {
                    let parts: Vec<&str> =
                        name.0.iter().filter_map(|p| p.as_ident()).map(|p| p.value.as_str()).collect();
                    let family = self.scope.family(&parts);
                    if self.scope.is_named(&parts) {
                        columns.extend(self.all_columns());
                    } else if family.is_some() {
                        columns.extend(self.columns_of(|column| column.family == family));
                    } else {
                        return Err(self.no_such_wildcard(name, &parts).into());
                    }
                }
                SelectItem::UnnamedExpr(e) => {
                    let expr = self.lowerer.lower(e)?;
                    let label = match &expr {
                        Expr::Column(column) if self.has_own_label(column) => self.label(column),
                        _ => self.statement.items.get(i).map_or_else(|| e.to_string(), |item| item.text.clone()),
                    };
                    columns.push(self.output_column(label, expr)?);
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let column = self.output_column(alias.value.clone(), self.lowerer.lower(expr)?)?;
                    aliases.push((&alias.value, column.expr.clone()));
                    columns.push(column);
                }
                _ => return foreign("a select item"),
            }
        }
        // An item does not name another one.
        for (alias, expr) in aliases {
            self.collector.name_item(alias, &expr);
        }
        Ok(columns)
    }

    fn output_column(&self, label: String, expr: Expr) -> Bound<OutputColumn> {
        match (expr.sql_type(), self.lowerer.params) {
            (Some(ty), _) => Ok(OutputColumn { label, expr, ty }),
            (None, Params::Later) => Ok(OutputColumn { label, expr, ty: SqlType::Null }),
            (None, _) => foreign("a parameter of unknown type"),
        }
    }

    /// The error of `name.*`, where `parts` are neither the table nor one of its column families.
    fn no_such_wildcard(&self, name: &ast::ObjectName, parts: &[&str]) -> BindError {
        let def = self.table.def();
        let is_of_table = parts.split_last().is_some_and(|(_, table)| self.scope.is_named(table));
        let kind = match is_of_table {
            true => BindErrorKind::NoSuchColumn { table: def.name.to_string(), column: format!("{name}.*") },
            false => BindErrorKind::NoSuchQualifier(name.to_string()),
        };
        let idents = name.0.iter().filter_map(|part| part.as_ident()).cloned().collect();
        let span = expr_span(&ast::Expr::CompoundIdentifier(idents));
        BindError::from(kind).at(span).help(def.families_text())
    }

    /// GROUP BY: expressions of a row, items by alias or by position.
    fn keys(&self, group_by: &GroupByExpr, items: &[OutputColumn]) -> Bound<Vec<Expr>> {
        let GroupByExpr::Expressions(list, _) = group_by else { return foreign("GROUP BY ALL") };
        let mut keys = Vec::new();
        for e in list {
            let key = match ordinal(e) {
                Some(place) => match place.checked_sub(1).and_then(|i| items.get(i)) {
                    Some(item) => item.expr.clone(),
                    None => return foreign("a GROUP BY position"),
                },
                None => self.lowerer.lower(e)?,
            };
            let mut of_row = !key.is_constant() && key.sql_type().is_some_and(|ty| ty != SqlType::Null);
            key.walk(&mut |part| {
                if let Expr::Column(column) = part {
                    of_row = of_row && self.collector.is_table_column(column);
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

    fn all_columns(&self) -> Vec<OutputColumn> {
        self.columns_of(|column| !column.hidden)
    }

    fn columns_of(&self, is_shown: impl Fn(&ColumnDef) -> bool) -> Vec<OutputColumn> {
        let columns = self.table.def().columns.iter().enumerate().filter(|(_, column)| is_shown(column));
        let columns = columns.filter_map(|(index, def)| Some((def, self.table.column_ref(index, None)?)));
        columns
            .map(|(def, column)| OutputColumn { label: def.name.clone(), ty: def.ty, expr: Expr::Column(column) })
            .collect()
    }

    /// Whether a column's label is its name; that of the time of a row is what the statement calls it.
    fn has_own_label(&self, column: &ColumnRef) -> bool {
        self.collector.is_table_column(column) && column.index != self.table.row_time_index()
    }

    /// A column's name as declared, without its family.
    fn label(&self, column: &ColumnRef) -> String {
        self.table.def().columns.get(column.index).map_or_else(|| column.name.clone(), |def| def.name.clone())
    }

    /// ORDER BY: items by position or label, and expressions.
    fn order(&self, columns: &[OutputColumn]) -> Bound<Vec<GroupOrder>> {
        let Some(order_by) = &self.statement.query.order_by else { return Ok(Vec::new()) };
        let OrderByKind::Expressions(list) = &order_by.kind else { return foreign("ORDER BY ALL") };
        list.iter()
            .map(|item| {
                let expr = match ordinal(&item.expr) {
                    Some(place) => match place.checked_sub(1).and_then(|i| columns.get(i)) {
                        Some(column) => column.expr.clone(),
                        None => return foreign("an ORDER BY position"),
                    },
                    None => self.order_expr(&item.expr, columns)?,
                };
                let order = if item.options.asc == Some(false) { SortOrder::Desc } else { SortOrder::Asc };
                Ok(GroupOrder { expr, order, nulls_first: item.options.nulls_first.unwrap_or(true) })
            })
            .collect()
    }

    /// A name in ORDER BY is a label first, a column of the table second.
    fn order_expr(&self, e: &ast::Expr, columns: &[OutputColumn]) -> Bound<Expr> {
        if let ast::Expr::Identifier(name) = e {
            let mut named = columns.iter().filter(|c| is_same_name(&c.label, &name.value));
            if let Some(column) = named.next() {
                return if named.any(|other| other.expr != column.expr) {
                    foreign("an ambiguous label")
                } else {
                    Ok(column.expr.clone())
                };
            }
        }
        self.lowerer.lower(e)
    }

    /// LIMIT and OFFSET.
    fn limit(&self) -> Bound<(RowCount, RowCount)> {
        let (limit, offset) = match &self.statement.query.limit_clause {
            None => return Ok((RowCount::default(), RowCount::default())),
            Some(LimitClause::LimitOffset { limit, offset, limit_by }) if limit_by.is_empty() => {
                (limit.as_ref(), offset.as_ref().map(|o| &o.value))
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => (Some(limit), Some(offset)),
            Some(_) => return foreign("LIMIT BY"),
        };
        let count = |e: Option<&ast::Expr>, clause| e.map_or(Ok(RowCount::default()), |e| self.row_count(e, clause));
        Ok((count(limit, "LIMIT")?, count(offset, "OFFSET")?))
    }

    fn row_count(&self, e: &ast::Expr, clause: &str) -> Bound<RowCount> {
        let lowered = self.lowerer.of_rows().lower(e)?;
        match &lowered {
            Expr::Param(index, _) => Ok(RowCount { is_open: true, parameter: Some(*index), ..RowCount::default() }),
            Expr::Subquery(..) => Ok(RowCount { is_open: true, ..RowCount::default() }),
            computed
                if computed.is_constant()
                    && let Ok(value) = eval::eval(computed, &[])
                    && let Some(rows) = row_count(&value) =>
            {
                Ok(RowCount { known: rows, ..RowCount::default() })
            }
            other => {
                let error = BindErrorKind::Syntax(format!("{clause} takes a number of rows, and {other} is none"));
                Err(BindError::from(error).at(expr_span(e)).into())
            }
        }
    }
}

/// The number of rows that LIMIT or OFFSET takes a value for: NULL is none. `None` where it takes no such value.
pub fn row_count(value: &Value) -> Option<Option<u64>> {
    match value {
        Value::Null => Some(None),
        Value::Int(n) => u64::try_from(*n).ok().map(Some),
        _ => None,
    }
}

/// A LIMIT or OFFSET.
#[derive(Default)]
struct RowCount {
    known: Option<u64>,
    /// Whether it is a parameter without a value, or a subquery that has not run.
    is_open: bool,
    /// The parameter without a value that it is.
    parameter: Option<usize>,
}

impl RowCount {
    /// Whether it is a subquery that has not run.
    fn is_subquery(&self) -> bool {
        self.is_open && self.parameter.is_none()
    }
}

pub(crate) fn is_plain(options: &ast::WildcardAdditionalOptions) -> bool {
    options.opt_ilike.is_none()
        && options.opt_exclude.is_none()
        && options.opt_except.is_none()
        && options.opt_replace.is_none()
        && options.opt_rename.is_none()
        && options.opt_alias.is_none()
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
