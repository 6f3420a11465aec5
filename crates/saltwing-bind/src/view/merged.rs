//! A query over a view as a query over the view's table.
//!
//! ```text
//! CREATE VIEW v AS SELECT a, b + 1 AS c FROM t WHERE d = 1
//! SELECT c FROM v AS x WHERE a > 5   ──►   SELECT x.b + 1 AS c FROM t AS x WHERE (x.d = 1) AND (x.a > 5)
//! ```
//!
//! So the conditions of both give one set of key ranges, and the guard judges them together.
//!
//! Every name of the outer query is replaced or known to name something else. If a name is neither, the query is not merged: the
//! table may have a column of that name which the view does not show.

use std::ops::ControlFlow;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use saltwing_plan::Condition;
use saltwing_sql::statement::QueryStatement;
use saltwing_sql::without_dynamic_columns;
use saltwing_types::table::{ColumnMatch, is_same_name};
use saltwing_types::{Expr as Bound, ViewDef};
use sqlparser::ast::{
    BinaryOperator, Expr, GroupByExpr, Ident, ObjectName, OrderByKind, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, TableAlias, TableFactor, VisitMut, VisitorMut, WildcardAdditionalOptions,
    visit_expressions,
};

use super::relations::{Relation, Relations};
use crate::engine::NoEngine;
use crate::lower::Params;
use crate::plain_query::{Simple, is_plain, simple};
use crate::query::query;
use crate::scope::Scope;
use crate::tree::{BoundQuery, Relation as Rows, Scan, value_of};

/// The outer query over the table of the view; `None` if the view is more than columns and expressions of rows of one table,
/// or the outer query is more than the direct path may run.
pub(super) fn merged(
    outer: &QueryStatement,
    view: &ViewDef,
    inner: &QueryStatement,
    catalog: &dyn CatalogReader,
) -> Option<QueryStatement> {
    let Simple { name, alias, .. } = simple(&outer.query)?;
    let listed = without_dynamic_columns(name).map(|(name, _)| name);
    let name = listed.as_ref().unwrap_or(name);
    let alias = alias.map_or_else(|| last_ident(name).cloned(), |alias| Some(alias.name.clone()))?;
    let rows = rows_of(inner, catalog)?;
    let Simple { select: inner_select, name: inner_name, .. } = simple(&inner.query)?;
    let moved = |expr: &Expr| moved(expr, inner, &rows.table, &alias);
    let mut columns = Vec::with_capacity(view.columns.len());
    for (item, column) in inner_select.projection.iter().zip(&view.columns) {
        let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item else { return None };
        columns.push(Shown { family: None, name: column.name.clone(), value: moved(expr) });
    }
    if columns.len() != view.columns.len() || inner_select.projection.len() != view.columns.len() {
        return None;
    }
    let view = View { names: names_of(name, &alias), columns, table: rows.table.clone(), shows_table: false };
    let mut merged = replaced(outer, view, catalog)?;
    let SetExpr::Select(select) = merged.query.body.as_mut() else { return None };
    select.selection = both(condition_of(inner, &rows.table, &alias), select.selection.take());
    let table = TableAlias { explicit: true, name: alias, columns: Vec::new(), at: None };
    if let [from] = select.from.as_mut_slice()
        && let TableFactor::Table { name, alias, .. } = &mut from.relation
    {
        (*name, *alias) = (inner_name.clone(), Some(table));
    }
    Some(merged)
}

/// The outer query over a table that also has these columns, which stand behind its own.
pub(super) fn with_columns(
    outer: &QueryStatement,
    table: &Arc<Table>,
    columns: Vec<Shown>,
    catalog: &dyn CatalogReader,
) -> Option<QueryStatement> {
    let Simple { name, alias, .. } = simple(&outer.query)?;
    let (name, _) = without_dynamic_columns(name)?;
    let alias = alias.map_or_else(|| last_ident(&name).cloned(), |alias| Some(alias.name.clone()))?;
    let view = View { names: names_of(&name, &alias), columns, table: table.clone(), shows_table: true };
    let mut merged = replaced(outer, view, catalog)?;
    if let SetExpr::Select(select) = merged.query.body.as_mut()
        && let [from] = select.from.as_mut_slice()
        && let TableFactor::Table { name: written, .. } = &mut from.relation
    {
        *written = name;
    }
    Some(merged)
}

/// The outer query with the values of columns in the place of their names.
fn replaced(outer: &QueryStatement, view: View, catalog: &dyn CatalogReader) -> Option<QueryStatement> {
    let mut merging = Merging {
        view,
        parts_left: MERGED_PARTS_MAX,
        labels: Vec::new(),
        relations: Relations { catalog, ctes: Vec::new() },
        open_ctes: Vec::new(),
        open: Vec::new(),
    };
    let mut merged = outer.clone();
    merged.items = Vec::new();
    merging.query(&mut merged.query, outer)?;
    Some(merged)
}

/// Rows of one table as they come: those that meet the conditions.
pub(super) struct TableRows {
    pub(super) table: Arc<Table>,
    pub(super) conditions: Vec<Condition>,
    /// The columns of the result, over those of the table.
    pub(super) columns: Vec<Bound>,
}

/// The query of a view, if it gives rows of one table as they come.
pub(super) fn rows_of(inner: &QueryStatement, catalog: &dyn CatalogReader) -> Option<TableRows> {
    // A query in its FROM has conditions of its own.
    simple(&inner.query)?;
    let root = query(inner, catalog, &NoEngine, Params::Given(&[])).ok()?;
    if !root.subqueries.is_empty() {
        return None;
    }
    let BoundQuery { relation, output } = root.query;
    let (relation, computed) = relation.into_projection();
    let (relation, conditions) = relation.into_filter();
    let Rows::Scan(Scan { table, .. }) = relation else { return None };
    // A value that is another one each time is computed once for each row of the view.
    if inner.reads_past || computed.iter().any(|column| column.expr.is_volatile()) {
        return None;
    }
    let columns = output.iter().map(|output| value_of(&output.column, &computed)).collect();
    Some(TableRows { table, conditions, columns })
}

/// The condition of such a view, where the table has another name.
pub(super) fn condition_of(inner: &QueryStatement, table: &Arc<Table>, alias: &Ident) -> Option<Expr> {
    simple(&inner.query)?.select.selection.as_ref().map(|condition| moved(condition, inner, table, alias))
}

/// An expression of such a view, where the table has another name.
fn moved(expr: &Expr, inner: &QueryStatement, table: &Arc<Table>, alias: &Ident) -> Expr {
    let own = simple(&inner.query).and_then(|query| query.alias).map(|alias| alias.name.value.clone());
    let scope = Scope::of(table.clone(), own);
    let mut expr = expr.clone();
    let _ = VisitMut::visit(&mut expr, &mut Moved { scope: &scope, alias });
    expr
}

/// Both conditions.
pub(super) fn both(a: Option<Expr>, b: Option<Expr>) -> Option<Expr> {
    match (a, b) {
        (Some(a), Some(b)) => Some(Expr::BinaryOp {
            left: Box::new(Expr::Nested(Box::new(a))),
            op: BinaryOperator::And,
            right: Box::new(Expr::Nested(Box::new(b))),
        }),
        (a, b) => a.or(b),
    }
}

fn last_ident(name: &ObjectName) -> Option<&Ident> {
    name.0.last()?.as_ident()
}

/// How columns of the view may be qualified: by the alias; without one also by the schema and the name.
fn names_of(name: &ObjectName, alias: &Ident) -> Vec<Ident> {
    match last_ident(name) {
        Some(own) if own == alias => name.0.iter().filter_map(|part| part.as_ident()).cloned().collect(),
        _ => vec![alias.clone()],
    }
}

/// Gives the columns of a view's expressions the name that the outer query has for the view.
struct Moved<'a> {
    scope: &'a Scope,
    alias: &'a Ident,
}

impl VisitorMut for Moved<'_> {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::Identifier(column) => {
                *expr = Expr::CompoundIdentifier(vec![self.alias.clone(), column.clone()]);
            }
            Expr::CompoundIdentifier(parts) => {
                let names: Vec<&str> = parts.iter().map(|part| part.value.as_str()).collect();
                // The alias takes the place of the table's name. A column family between it and the column stays.
                let table =
                    (0..names.len()).rev().find(|end| names.get(..*end).is_some_and(|it| self.scope.is_named(it)));
                parts.splice(..table.unwrap_or(0), [self.alias.clone()]);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// A column that an outer query sees, as an expression over the table.
#[derive(Clone)]
pub(super) struct Shown {
    pub(super) family: Option<String>,
    pub(super) name: String,
    pub(super) value: Expr,
}

/// The view that is merged.
struct View {
    names: Vec<Ident>,
    columns: Vec<Shown>,
    table: Arc<Table>,
    /// Whether the outer query sees the table's own columns, too.
    shows_table: bool,
}

impl View {
    fn is_named(&self, qualifier: &[Ident]) -> bool {
        !qualifier.is_empty() && Relation { name: self.names.clone(), columns: None }.is_named(qualifier)
    }

    /// The column of the view that an expression names.
    fn column(&self, expr: &Expr) -> Option<&Shown> {
        let parts = parts_of(expr)?;
        let (column, qualifier) = parts.split_last()?;
        let is_own = qualifier.is_empty() || self.is_named(qualifier);
        let of_family = |shown: &Shown| match (&shown.family, qualifier.split_last()) {
            (Some(family), Some((last, rest))) => {
                is_same_name(family, &last.value) && (rest.is_empty() || self.is_named(rest))
            }
            _ => false,
        };
        self.columns.iter().find(|shown| is_same_name(&shown.name, &column.value) && (is_own || of_family(shown)))
    }

    /// What `family.*` stands for: the table's own columns of the family, and those that it has beside them.
    fn items_of_family(&self, wildcard: &SelectItem, qualifier: &[Ident]) -> Vec<SelectItem> {
        let Some((family, rest)) = qualifier.split_last() else { return vec![wildcard.clone()] };
        let is_it = |shown: &&Shown| shown.family.as_ref().is_some_and(|name| is_same_name(name, &family.value));
        let is_of_table = rest.is_empty() || self.is_named(rest);
        let beside = self.columns.iter().filter(|shown| is_of_table && is_it(shown));
        let mut items: Vec<SelectItem> = beside.map(|shown| named(shown.value.clone(), &shown.name)).collect();
        // Without any column the name is an error, which is found with the table's own.
        if items.is_empty() || self.table.def().has_family(&family.value) {
            items.insert(0, wildcard.clone());
        }
        items
    }

    /// What `*` stands for.
    fn items(&self) -> Vec<SelectItem> {
        let shown = self.columns.iter().map(|shown| named(shown.value.clone(), &shown.name));
        match (self.shows_table, self.names.last()) {
            (true, Some(table)) => {
                let all = SelectItemQualifiedWildcardKind::ObjectName(ObjectName::from(vec![table.clone()]));
                let all = SelectItem::QualifiedWildcard(all, WildcardAdditionalOptions::default());
                std::iter::once(all).chain(shown).collect()
            }
            _ => shown.collect(),
        }
    }
}

/// An item with its label.
fn named(expr: Expr, label: &str) -> SelectItem {
    SelectItem::ExprWithAlias { expr, alias: Ident::with_quote('"', label) }
}

fn parts_of(expr: &Expr) -> Option<&[Ident]> {
    match expr {
        Expr::Identifier(name) => Some(std::slice::from_ref(name)),
        Expr::CompoundIdentifier(parts) => Some(parts),
        _ => None,
    }
}

/// Most parts that come in the place of names. Each view may name the columns of the view below it many times, so without a
/// limit views on one another make statements of exponential size.
const MERGED_PARTS_MAX: usize = 10_000;

/// Replaces the names of the outer query.
struct Merging<'a> {
    view: View,
    parts_left: usize,
    /// Labels of the outer query that its later clauses may name.
    labels: Vec<String>,
    relations: Relations<'a>,
    open_ctes: Vec<usize>,
    /// The tables of the subqueries that are visited.
    open: Vec<Vec<Relation>>,
}

impl Merging<'_> {
    /// `None` if a name is not plain.
    fn query(&mut self, query: &mut Query, outer: &QueryStatement) -> Option<()> {
        let SetExpr::Select(select) = query.body.as_mut() else { return None };
        select.projection = self.projection(&select.projection, outer)?;
        select.selection.iter_mut().try_for_each(|expr| self.expr(expr))?;
        let labels = select.projection.iter().filter_map(|item| match item {
            SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.clone()),
            _ => None,
        });
        self.labels = labels.collect();
        let GroupByExpr::Expressions(keys, _) = &mut select.group_by else { return None };
        keys.iter_mut().try_for_each(|expr| self.expr(expr))?;
        select.having.iter_mut().try_for_each(|expr| self.expr(expr))?;
        let Some(order_by) = &mut query.order_by else { return Some(()) };
        let OrderByKind::Expressions(items) = &mut order_by.kind else { return None };
        items.iter_mut().try_for_each(|item| match &item.expr {
            // A name in ORDER BY is a label first.
            Expr::Identifier(name) if self.labels.iter().any(|label| is_same_name(label, &name.value)) => Some(()),
            _ => self.expr(&mut item.expr),
        })
    }

    /// The list of the SELECT; each item says its label.
    fn projection(&mut self, items: &[SelectItem], outer: &QueryStatement) -> Option<Vec<SelectItem>> {
        let mut projection = Vec::new();
        for (place, item) in items.iter().enumerate() {
            match item {
                SelectItem::Wildcard(options) if is_plain(options) => projection.extend(self.view.items()),
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), options)
                    if is_plain(options) && self.view.is_named(&idents(name)) =>
                {
                    projection.extend(self.view.items());
                }
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), options)
                    if self.view.shows_table && is_plain(options) =>
                {
                    projection.extend(self.view.items_of_family(item, &idents(name)));
                }
                SelectItem::UnnamedExpr(expr) => {
                    let shown = self.view.column(expr);
                    // The table's own columns have their labels by themselves.
                    if self.view.shows_table && shown.is_none() && parts_of(expr).is_some() {
                        projection.push(item.clone());
                        continue;
                    }
                    let label = match shown {
                        Some(shown) => shown.name.clone(),
                        None => outer.items.get(place).map_or_else(|| expr.to_string(), |item| item.text.clone()),
                    };
                    let mut expr = expr.clone();
                    self.expr(&mut expr)?;
                    projection.push(named(expr, &label));
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let (mut expr, alias) = (expr.clone(), alias.clone());
                    self.expr(&mut expr)?;
                    projection.push(SelectItem::ExprWithAlias { expr, alias });
                }
                other if self.view.shows_table => projection.push(other.clone()),
                _ => return None,
            }
        }
        Some(projection)
    }

    fn expr(&mut self, expr: &mut Expr) -> Option<()> {
        VisitMut::visit(expr, self).is_continue().then_some(())
    }

    /// Whether a name is one of a subquery.
    fn is_of_subquery(&self, parts: &[Ident]) -> bool {
        let Some((column, qualifier)) = parts.split_last() else { return false };
        let is_it = |relation: &Relation| match qualifier {
            [] => relation.has(&column.value),
            _ => relation.is_named(qualifier),
        };
        self.open.iter().flatten().any(is_it)
    }

    fn is_label(&self, parts: &[Ident]) -> bool {
        matches!(parts, [name] if self.labels.iter().any(|label| is_same_name(label, &name.value))
            && self.view.table.def().find_column(None, &name.value) == ColumnMatch::None)
    }
}

fn idents(name: &ObjectName) -> Vec<Ident> {
    name.0.iter().filter_map(|part| part.as_ident()).cloned().collect()
}

impl VisitorMut for Merging<'_> {
    /// The query is not merged.
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.open_ctes.push(self.relations.ctes.len());
        if let Some(with) = &query.with {
            self.relations.add(with);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.relations.ctes.truncate(self.open_ctes.pop().unwrap_or(0));
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        self.open.push(self.relations.of_select(select));
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &mut Select) -> ControlFlow<()> {
        self.open.pop();
        ControlFlow::Continue(())
    }

    /// Behind the parts of an expression, as what comes in their place is not visited.
    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let Some(parts) = parts_of(expr) else { return ControlFlow::Continue(()) };
        let is_outer = self.open.is_empty() && self.open_ctes.is_empty();
        if is_outer && let Some(Shown { value, .. }) = self.view.column(expr) {
            let Some(left) = self.parts_left.checked_sub(part_count(value)) else { return ControlFlow::Break(()) };
            self.parts_left = left;
            *expr = placed(value, parts);
            return ControlFlow::Continue(());
        }
        let is_other = match is_outer {
            true => self.view.shows_table || self.is_label(parts),
            // A name that is none of these columns stays what it is.
            false => self.is_of_subquery(parts) || self.view.shows_table && self.view.column(expr).is_none(),
        };
        if is_other { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

fn part_count(expr: &Expr) -> usize {
    let mut count = 0;
    let _ = visit_expressions(expr, |_| {
        count += 1;
        ControlFlow::<()>::Continue(())
    });
    count
}

/// The value of a view's column, where the outer query names the column.
fn placed(value: &Expr, at: &[Ident]) -> Expr {
    let span = at.last().map(|name| name.span);
    match (value, span) {
        (Expr::CompoundIdentifier(parts), Some(span)) => {
            Expr::CompoundIdentifier(parts.iter().map(|part| Ident { span, ..part.clone() }).collect())
        }
        (Expr::Identifier(_) | Expr::Value(_) | Expr::Nested(_) | Expr::Function(_), _) => value.clone(),
        (value, _) => Expr::Nested(Box::new(value.clone())),
    }
}
