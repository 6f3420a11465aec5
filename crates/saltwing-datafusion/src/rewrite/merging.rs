//! Joins with USING and NATURAL become joins with ON.
//!
//! DataFusion takes the merged column for the left side's, which is NULL if RIGHT or FULL have no left row, and its
//! wildcards and conditions find one column of several. So this pass writes the standard's meaning into the tree:
//!
//! * `a FULL JOIN b USING (k)` becomes `a FULL JOIN b ON a.k = b.k`
//! * `k`, where no subquery has a `k` of its own, becomes `COALESCE(a.k, b.k)`: of INNER and LEFT `a.k`, of RIGHT `b.k`
//! * `*` becomes the merged columns, then the others of each table in order; `a.*` and `a.k` stay what they are
//!
//! Statements without such joins are left alone.

use std::ops::ControlFlow;

use saltwing_catalog::CatalogReader;
use saltwing_sql::statement::SourceText;
use sqlparser::ast::{
    Expr, Ident, JoinConstraint, OrderBy, OrderByKind, Query, Select, SelectItem, SelectItemQualifiedWildcardKind,
    SetExpr, TableAlias, TableFactor, TableWithJoins, ValueWithSpan, Visit, VisitMut, Visitor, VisitorMut,
    WildcardAdditionalOptions,
};

use super::items::without;
use super::relations::{Column, Found, FromColumns, Relation, Relations, alias_of, left_out};
use super::result_select::ResultSelect;
use super::tree::{Result, broken, column_name, constraint_mut, constraint_of, select_from, visited};
use crate::RelationalError;

/// Names tables that have no name; no statement can write it.
const UNNAMED: &str = "__saltwing_from";

/// Whether a join with USING or NATURAL stands anywhere in a statement.
pub(super) fn has_merges(query: &Query) -> bool {
    query.visit(&mut AnyMerge).is_break()
}

struct AnyMerge;

impl Visitor for AnyMerge {
    type Break = ();

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        if select.from.iter().any(merges) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn merges(table: &TableWithJoins) -> bool {
    let nested = |factor: &TableFactor| match factor {
        TableFactor::NestedJoin { table_with_joins, .. } => merges(table_with_joins),
        _ => false,
    };
    nested(&table.relation)
        || table.joins.iter().any(|join| {
            let constraint = constraint_of(&join.join_operator);
            matches!(constraint, Some(JoinConstraint::Using(_) | JoinConstraint::Natural)) || nested(&join.relation)
        })
}

/// Puts ON in the place of USING and NATURAL; returns the texts of the result's items as they are then.
///
/// # Errors
/// Columns that a side of such a join lacks, or has twice.
pub(super) fn merge_columns(
    query: &mut Query,
    catalog: &dyn CatalogReader,
    items: &[SourceText],
) -> Result<Vec<SourceText>> {
    let mut merging = Merging {
        relations: Relations { catalog, ctes: Vec::new() },
        result: ResultSelect::of(query),
        items: items.to_vec(),
        scopes: Vec::new(),
        queries: Vec::new(),
        qualifies: false,
        unnamed: 0,
    };
    visited(VisitMut::visit(query, &mut merging))?;
    Ok(merging.items)
}

struct Merging<'a> {
    relations: Relations<'a>,
    /// The SELECT that names the result's columns.
    result: ResultSelect,
    /// The texts of its items.
    items: Vec<SourceText>,
    /// The visible tables, from the outermost query inwards.
    scopes: Vec<FromColumns>,
    /// Of each query around, the number of WITH tables before it, and its ORDER BY.
    queries: Vec<(usize, Option<OrderBy>)>,
    /// Whether every name that is found gets a qualifier: in ON, where tables joined later are not in sight.
    qualifies: bool,
    unnamed: usize,
}

impl VisitorMut for Merging<'_> {
    type Break = RelationalError;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<RelationalError> {
        self.result.enter_query(query);
        // ORDER BY is seen to behind the rest: a bare name in it is first of all an item's.
        self.queries.push((self.relations.ctes.len(), query.order_by.take()));
        broken(self.enter_query(query))
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<RelationalError> {
        let Some((ctes, mut order_by)) = self.queries.pop() else { return ControlFlow::Continue(()) };
        if let (Some(OrderBy { kind: OrderByKind::Expressions(list), .. }), SetExpr::Select(select)) =
            (&mut order_by, query.body.as_ref())
        {
            for item in list.iter_mut().filter(|item| !is_alias(&item.expr, select)) {
                VisitMut::visit(&mut item.expr, self)?;
            }
        }
        query.order_by = order_by;
        self.relations.ctes.truncate(ctes);
        self.scopes.pop();
        self.result.leave_query();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<RelationalError> {
        broken(self.enter_select(select))
    }

    fn post_visit_select(&mut self, _: &mut Select) -> ControlFlow<RelationalError> {
        self.scopes.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<RelationalError> {
        if let Expr::Identifier(name) = expr
            && let Some(value) = self.value_of(name)
        {
            *expr = value;
        }
        ControlFlow::Continue(())
    }
}

impl Merging<'_> {
    fn enter_query(&mut self, query: &mut Query) -> Result<()> {
        self.relations.add_ctes(query.with.as_ref())?;
        let from = match query.body.as_mut() {
            SetExpr::Select(select) => self.from(select)?,
            _ => FromColumns::default(),
        };
        self.scopes.push(from);
        Ok(())
    }

    fn enter_select(&mut self, select: &mut Select) -> Result<()> {
        let is_result = self.result.enter_select();
        let from = self.from(select)?;
        if select.from.iter().any(merges) {
            for table in &mut select.from {
                self.desugar(table)?;
            }
            self.expand_wildcards(select, &from, is_result)?;
        }
        for item in &mut select.projection {
            self.name_item(item, is_result, &from);
        }
        self.scopes.push(from);
        Ok(())
    }

    /// The columns that a FROM clause makes visible; its tables have names by then.
    fn from(&mut self, select: &mut Select) -> Result<FromColumns> {
        if select.from.iter().any(merges) {
            select.from.iter_mut().for_each(|table| self.name_tables(table));
        }
        self.relations.from(&select.from)
    }

    fn name_tables(&mut self, table: &mut TableWithJoins) {
        let factors = std::iter::once(&mut table.relation).chain(table.joins.iter_mut().map(|j| &mut j.relation));
        for factor in factors {
            let has_name = alias_of(factor).is_some();
            match factor {
                TableFactor::NestedJoin { table_with_joins, alias: None } => self.name_tables(table_with_joins),
                TableFactor::Table { alias, args: Some(_), .. }
                | TableFactor::Derived { alias, .. }
                | TableFactor::Function { alias, .. }
                | TableFactor::UNNEST { alias, .. }
                    if !has_name =>
                {
                    self.unnamed += 1;
                    let name = Ident::with_quote('"', format!("{UNNAMED}{}", self.unnamed));
                    *alias = Some(TableAlias { explicit: true, name, columns: Vec::new(), at: None });
                }
                _ => {}
            }
        }
    }

    /// Puts ON into the joins of one item of FROM.
    fn desugar(&mut self, table: &mut TableWithJoins) -> Result<()> {
        // The columns of a join in brackets are known from its USING.
        let mut shown = self.relations.factor(&table.relation)?;
        self.desugar_factor(&mut table.relation)?;
        for join in &mut table.joins {
            let (next, condition) = self.relations.joined(shown, join)?;
            self.desugar_factor(&mut join.relation)?;
            if let Some(place) = constraint_mut(&mut join.join_operator) {
                match (condition, &mut *place) {
                    (Some(condition), _) => *place = JoinConstraint::On(condition),
                    // No column in common: every row of one side meets every row of the other.
                    (None, JoinConstraint::Natural) => *place = JoinConstraint::None,
                    (None, JoinConstraint::On(condition)) => self.qualify(condition, &next)?,
                    (None, _) => {}
                }
            }
            shown = next;
        }
        Ok(())
    }

    fn desugar_factor(&mut self, factor: &mut TableFactor) -> Result<()> {
        let TableFactor::NestedJoin { table_with_joins, alias } = factor else { return Ok(()) };
        let Some(alias) = alias.take() else { return self.desugar(table_with_joins) };
        // Under a name of its own it shows what `*` does.
        let join = TableFactor::NestedJoin { table_with_joins: table_with_joins.clone(), alias: None };
        let subquery = select_from(vec![SelectItem::Wildcard(WildcardAdditionalOptions::default())], join)?;
        *factor = TableFactor::Derived { lateral: false, subquery, alias: Some(alias), sample: None };
        Ok(())
    }

    /// Qualifies the names in a condition by the tables joined so far.
    fn qualify(&mut self, condition: &mut Expr, shown: &FromColumns) -> Result<()> {
        self.scopes.push(shown.clone());
        let before = std::mem::replace(&mut self.qualifies, true);
        let end = VisitMut::visit(condition, self);
        self.qualifies = before;
        self.scopes.pop();
        visited(end)
    }

    /// The expansion of a name without a qualifier, if it must be written out.
    fn value_of(&self, name: &Ident) -> Option<Expr> {
        let lower = name.value.to_lowercase();
        for scope in self.scopes.iter().rev() {
            match scope.find(&lower) {
                Found::One(column) => {
                    return (column.is_merged || self.qualifies).then(|| placed(&column.value, name));
                }
                Found::Several => return None,
                Found::None if scope.is_open() => return None,
                Found::None => {}
            }
        }
        None
    }

    fn expand_wildcards(&mut self, select: &mut Select, from: &FromColumns, is_result: bool) -> Result<()> {
        let mut items = Vec::with_capacity(select.projection.len());
        for item in std::mem::take(&mut select.projection) {
            let SelectItem::Wildcard(options) = item else {
                items.push(item);
                continue;
            };
            let expanded = expanded(from, &options)?;
            if is_result && let Some(text) = self.items.get(items.len()).cloned() {
                let place = items.len();
                self.items.splice(place..=place, vec![text; expanded.len()]);
            }
            items.extend(expanded);
        }
        select.projection = items;
        Ok(())
    }

    /// Keeps the name of an item whose expression is about to change.
    fn name_item(&self, item: &mut SelectItem, is_result: bool, from: &FromColumns) {
        let SelectItem::UnnamedExpr(expr) = item else { return };
        let name = match column_name(expr) {
            Some(name) => match from.find(&name) {
                Found::One(Column { value: Expr::CompoundIdentifier(_), .. }) | Found::None | Found::Several => return,
                Found::One(column) if matches!(expr, Expr::Identifier(_)) => column.output.label.clone(),
                Found::One(_) => return,
            },
            // The text of a result's item is known.
            None if is_result => return,
            None => expr.to_string(),
        };
        let expr = std::mem::replace(expr, Expr::value(sqlparser::ast::Value::Null));
        *item = SelectItem::ExprWithAlias { expr, alias: Ident::with_quote('"', name) };
    }
}

/// The items that a wildcard stands for.
fn expanded(from: &FromColumns, options: &WildcardAdditionalOptions) -> Result<Vec<SelectItem>> {
    if options.opt_ilike.is_some() || options.opt_rename.is_some() || options.opt_alias.is_some() {
        return Err(RelationalError::not_supported("ILIKE, RENAME or an alias behind * over JOIN .. USING"));
    }
    let left_out = left_out(options);
    let replaced: Vec<_> = options.opt_replace.iter().flat_map(|replace| &replace.items).collect();
    let all_plain = from.relations.iter().all(Relation::is_plain);
    let mut items = Vec::new();
    for column in from.columns.iter().filter(|column| all_plain || column.is_merged) {
        if left_out.contains(&column.output.name) {
            continue;
        }
        let replacement = replaced.iter().find(|r| r.column_name.value.to_lowercase() == column.output.name);
        let is_column = matches!(column.value, Expr::CompoundIdentifier(_));
        items.push(match replacement {
            None if is_column && all_plain => SelectItem::UnnamedExpr(column.value.clone()),
            None => named(column.value.clone(), &column.output.label),
            Some(replacement) => named(replacement.expr.clone(), &column.output.label),
        });
    }
    if !all_plain {
        for relation in &from.relations {
            let mut options = options.clone();
            // A column that it does not have cannot be excluded.
            let has = |name: &&String| match &relation.outputs {
                Some(outputs) => outputs.iter().any(|output| output.name == **name),
                None => true,
            };
            let names: Vec<&str> = relation.merged.iter().chain(&left_out).filter(has).map(String::as_str).collect();
            options.opt_exclude = None;
            options.opt_except = None;
            if relation.outputs.as_ref().is_some_and(|outputs| outputs.len() == names.len()) {
                continue;
            }
            let kind = SelectItemQualifiedWildcardKind::ObjectName(relation.name.clone());
            items.push(SelectItem::QualifiedWildcard(kind, without(options, &names)));
        }
    }
    Ok(items)
}

fn named(expr: Expr, label: &str) -> SelectItem {
    SelectItem::ExprWithAlias { expr, alias: Ident::with_quote('"', label) }
}

/// Whether an item of ORDER BY is the alias of an item.
fn is_alias(expr: &Expr, select: &Select) -> bool {
    let Expr::Identifier(name) = expr else { return false };
    let is_named = |item: &SelectItem| match item {
        SelectItem::ExprWithAlias { alias, .. } => alias.value.eq_ignore_ascii_case(&name.value),
        _ => false,
    };
    select.projection.iter().any(is_named)
}

/// A merged column at the place of the name that it is written for, so that errors find it.
fn placed(value: &Expr, name: &Ident) -> Expr {
    let mut value = value.clone();
    let mut placing = Placing(name.span);
    let _ = VisitMut::visit(&mut value, &mut placing);
    value
}

struct Placing(sqlparser::tokenizer::Span);

impl VisitorMut for Placing {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::CompoundIdentifier(parts) => parts.iter_mut().for_each(|part| part.span = self.0),
            Expr::Value(ValueWithSpan { span, .. }) => *span = self.0,
            _ => {}
        }
        ControlFlow::Continue(())
    }
}
