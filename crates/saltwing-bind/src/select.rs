//! SELECTs over one table that need no relational engine.

use std::sync::Arc;

use saltwing_catalog::CatalogView;
use saltwing_plan::Condition;
use saltwing_sql::expr_span;
use saltwing_sql::statement::QueryStatement;
use saltwing_table::Table;
use saltwing_types::{ColumnRef, Expr, SortOrder, Span, SqlType, Value, typing};
use sqlparser::ast::{self, GroupByExpr, LimitClause, OrderByKind, Query, SelectItem, SetExpr, TableFactor};

use crate::conditions;
use crate::error::{BindError, BindErrorKind, Result};
use crate::lower::{Lowered, Lowerer, Params};
use crate::scope::Scope;

/// A SELECT over one table: conditions, expressions of a row, key-ordered limit, or a count.
pub struct BoundSelect {
    /// The table.
    pub table: Arc<Table>,
    /// How the statement calls it, where that is not its name.
    pub alias: Option<String>,
    /// Where the statement names it.
    pub span: Option<Span>,
    /// What is put out.
    pub output: Output,
    /// The conditions.
    pub conditions: Vec<Condition>,
    /// ORDER BY: columns only.
    pub order: Vec<OrderColumn>,
    /// LIMIT; `None` is none.
    pub limit: Option<u64>,
    /// OFFSET.
    pub offset: u64,
    /// Whether LIMIT or OFFSET is a parameter without a value.
    pub limit_open: bool,
}

/// What a [`BoundSelect`] puts out.
pub enum Output {
    /// One row for each row.
    Rows(Vec<OutputColumn>),
    /// One row: `COUNT(*)`, as often as asked, by label.
    Count(Vec<String>),
}

/// One column of the result.
#[derive(Clone, Debug)]
pub struct OutputColumn {
    /// Its label.
    pub label: String,
    /// What it shows.
    pub expr: Expr,
    /// Its type.
    pub ty: SqlType,
}

/// One column of a result, of either executor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultColumn {
    /// Its label; labels may repeat.
    pub label: String,
    /// Its type. What SQL has no type for (lists, intervals) comes as text.
    pub ty: SqlType,
    /// Whether it can be NULL.
    pub nullable: bool,
}

/// One column of an ORDER BY.
#[derive(Clone, Debug)]
pub struct OrderColumn {
    /// The column.
    pub column: ColumnRef,
    /// The direction.
    pub order: SortOrder,
    /// Whether NULLs come first.
    pub nulls_first: bool,
}

/// A query, bound.
pub enum BoundQuery {
    /// For the direct path.
    Single(BoundSelect),
    /// For the relational engine.
    Relational,
}

/// Binds a query if it is one that the direct path may run.
///
/// # Errors
/// What is wrong with a query over one table: the relational engine would find it too, with less to say.
pub fn query(statement: &QueryStatement, catalog: &CatalogView, params: Params<'_>) -> Result<BoundQuery> {
    let Some((select, name, alias)) = simple(&statement.query) else { return Ok(BoundQuery::Relational) };
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
    let table = catalog.resolve(schema, &name.value).map_err(|error| BindError::from(error).at(span))?;
    let scope = Scope::of(table.clone(), alias.map(|a| a.name.value.clone()));
    let binder = Binder {
        lowerer: Lowerer { scope: &scope, params },
        scope: &scope,
        table,
        alias: alias.map(|a| a.name.value.clone()),
        span,
        statement,
    };
    match binder.select(select) {
        Ok(bound) => Ok(BoundQuery::Single(bound)),
        Err(Lowered::Foreign(..)) => Ok(BoundQuery::Relational),
        Err(Lowered::Wrong(error)) => Err(error),
    }
}

/// The select, table and alias of a query without anything relational in it.
fn simple(query: &Query) -> Option<(&ast::Select, &ast::ObjectName, Option<&ast::TableAlias>)> {
    let plain = query.with.is_none()
        && query.fetch.is_none()
        && query.locks.is_empty()
        && query.for_clause.is_none()
        && query.settings.is_none()
        && query.format_clause.is_none()
        && query.pipe_operators.is_empty();
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    let plain = plain
        && select.distinct.is_none()
        && select.top.is_none()
        && select.exclude.is_none()
        && select.into.is_none()
        && select.lateral_views.is_empty()
        && select.prewhere.is_none()
        && select.connect_by.is_empty()
        && matches!(&select.group_by, GroupByExpr::Expressions(list, modifiers) if list.is_empty() && modifiers.is_empty())
        && select.cluster_by.is_empty()
        && select.distribute_by.is_empty()
        && select.sort_by.is_empty()
        && select.having.is_none()
        && select.named_window.is_empty()
        && select.qualify.is_none()
        && select.value_table_mode.is_none();
    let [from] = select.from.as_slice() else { return None };
    match &from.relation {
        TableFactor::Table {
            name,
            alias,
            args: None,
            version: None,
            sample: None,
            json_path: None,
            partitions,
            ..
        } if plain
            && from.joins.is_empty()
            && partitions.is_empty()
            && alias.as_ref().is_none_or(|a| a.columns.is_empty()) =>
        {
            Some((select, name, alias.as_ref()))
        }
        _ => None,
    }
}

struct Binder<'a> {
    lowerer: Lowerer<'a>,
    scope: &'a Scope,
    table: Arc<Table>,
    alias: Option<String>,
    span: Option<Span>,
    statement: &'a QueryStatement,
}

type Bound<T> = std::result::Result<T, Lowered>;

fn foreign<T>(what: &str) -> Bound<T> {
    Err(Lowered::Foreign(what.to_owned(), None))
}

impl Binder<'_> {
    fn select(&self, select: &ast::Select) -> Bound<BoundSelect> {
        let output = self.output(&select.projection)?;
        let conditions = match &select.selection {
            None => Vec::new(),
            Some(selection) => {
                let lowered = self.lowerer.lower(selection)?;
                let place = |error: saltwing_types::ValueError| BindError::from(error).at(expr_span(selection));
                conditions(typing::condition(lowered).map_err(place)?)
            }
        };
        let order = self.order(&output)?;
        let (limit, offset, limit_open) = self.limit()?;
        let (alias, span) = (self.alias.clone(), self.span);
        Ok(BoundSelect { table: self.table.clone(), alias, span, output, conditions, order, limit, offset, limit_open })
    }

    fn output(&self, items: &[SelectItem]) -> Bound<Output> {
        if let Some(labels) = self.counts(items) {
            return Ok(Output::Count(labels));
        }
        let mut columns = Vec::new();
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
                    if !self.scope.is_named(&parts) {
                        return foreign("a wildcard of another table");
                    }
                    columns.extend(self.all_columns());
                }
                SelectItem::UnnamedExpr(e) => {
                    let expr = self.lowerer.lower(e)?;
                    let label = match &expr {
                        Expr::Column(column) => column.name.clone(),
                        _ => self.statement.items.get(i).map_or_else(|| e.to_string(), |item| item.text.clone()),
                    };
                    columns.push(output_column(label, expr)?);
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    columns.push(output_column(alias.value.clone(), self.lowerer.lower(expr)?)?);
                }
                _ => return foreign("a select item"),
            }
        }
        Ok(Output::Rows(columns))
    }

    /// The labels, when every item is `COUNT(*)`.
    fn counts(&self, items: &[SelectItem]) -> Option<Vec<String>> {
        let labels = items.iter().enumerate().map(|(i, item)| match item {
            SelectItem::UnnamedExpr(e) if is_count(e) => {
                Some(self.statement.items.get(i).map_or_else(|| e.to_string(), |item| item.text.clone()))
            }
            SelectItem::ExprWithAlias { expr, alias } if is_count(expr) => Some(alias.value.clone()),
            _ => None,
        });
        labels.collect::<Option<Vec<_>>>().filter(|labels| !labels.is_empty())
    }

    fn all_columns(&self) -> Vec<OutputColumn> {
        let def = self.table.def();
        let shown = def.columns.iter().enumerate().filter(|(_, c)| !c.hidden);
        shown
            .map(|(index, c)| {
                let column = ColumnRef { index, name: c.name.clone(), ty: c.ty, nullable: c.nullable, span: None };
                OutputColumn { label: c.name.clone(), expr: Expr::Column(column), ty: c.ty }
            })
            .collect()
    }

    /// ORDER BY over columns; anything else is sorted by the relational engine.
    fn order(&self, output: &Output) -> Bound<Vec<OrderColumn>> {
        let Some(order_by) = &self.statement.query.order_by else { return Ok(Vec::new()) };
        let OrderByKind::Expressions(list) = &order_by.kind else { return foreign("ORDER BY ALL") };
        let Output::Rows(columns) = output else { return foreign("ORDER BY over a count") };
        list.iter()
            .map(|item| {
                let expr = match ordinal(&item.expr) {
                    Some(place) => match place.checked_sub(1).and_then(|i| columns.get(i)) {
                        Some(column) => column.expr.clone(),
                        None => return foreign("an ORDER BY position"),
                    },
                    None => self.order_expr(&item.expr, columns)?,
                };
                let Expr::Column(column) = expr else { return foreign("ORDER BY an expression") };
                let order = if item.options.asc == Some(false) { SortOrder::Desc } else { SortOrder::Asc };
                Ok(OrderColumn { column, order, nulls_first: item.options.nulls_first.unwrap_or(true) })
            })
            .collect()
    }

    /// A name in ORDER BY is a label first, a column of the table second.
    fn order_expr(&self, e: &ast::Expr, columns: &[OutputColumn]) -> Bound<Expr> {
        if let ast::Expr::Identifier(name) = e {
            let mut named = columns.iter().filter(|c| c.label.to_lowercase() == name.value.to_lowercase());
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

    fn limit(&self) -> Bound<(Option<u64>, u64, bool)> {
        let (limit, offset) = match &self.statement.query.limit_clause {
            None => return Ok((None, 0, false)),
            Some(LimitClause::LimitOffset { limit, offset, limit_by }) if limit_by.is_empty() => {
                (limit.as_ref(), offset.as_ref().map(|o| &o.value))
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => (Some(limit), Some(offset)),
            Some(_) => return foreign("LIMIT BY"),
        };
        let limit = limit.map(|e| self.row_count(e, "LIMIT")).transpose()?;
        let offset = offset.map(|e| self.row_count(e, "OFFSET")).transpose()?;
        let open = limit == Some(RowCount::Open) || offset == Some(RowCount::Open);
        let known = |count: Option<RowCount>| if let Some(RowCount::Known(n)) = count { n } else { None };
        Ok((known(limit), known(offset).unwrap_or(0), open))
    }

    fn row_count(&self, e: &ast::Expr, clause: &str) -> Bound<RowCount> {
        match self.lowerer.lower(e)? {
            Expr::Param(..) => Ok(RowCount::Open),
            Expr::Literal(Value::Null, _) => Ok(RowCount::Known(None)),
            Expr::Literal(Value::Int(n), _) if n >= 0 => Ok(RowCount::Known(Some(n as u64))),
            other => {
                let error = BindErrorKind::Syntax(format!("{clause} takes a number of rows, and {other} is none"));
                Err(Lowered::Wrong(BindError::from(error).at(expr_span(e))))
            }
        }
    }
}

#[derive(PartialEq)]
enum RowCount {
    Known(Option<u64>),
    Open,
}

fn is_plain(options: &ast::WildcardAdditionalOptions) -> bool {
    options.opt_ilike.is_none()
        && options.opt_exclude.is_none()
        && options.opt_except.is_none()
        && options.opt_replace.is_none()
        && options.opt_rename.is_none()
        && options.opt_alias.is_none()
}

fn output_column(label: String, expr: Expr) -> Bound<OutputColumn> {
    match expr.sql_type() {
        Some(ty) => Ok(OutputColumn { label, expr, ty }),
        None => foreign("a parameter of unknown type"),
    }
}

/// `COUNT(*)`, `COUNT(1)`.
fn is_count(e: &ast::Expr) -> bool {
    let ast::Expr::Function(call) = e else { return false };
    let plain = call.filter.is_none() && call.over.is_none() && call.within_group.is_empty();
    let named = call.name.0.len() == 1
        && call.name.0.first().and_then(|p| p.as_ident()).is_some_and(|name| name.value.eq_ignore_ascii_case("count"));
    let ast::FunctionArguments::List(list) = &call.args else { return false };
    let all_rows = match list.args.as_slice() {
        [ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Wildcard)] => true,
        [ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(ast::Expr::Value(value)))] => {
            matches!(value.value, ast::Value::Number(..))
        }
        _ => false,
    };
    plain && named && all_rows && list.duplicate_treatment.is_none() && list.clauses.is_empty()
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
