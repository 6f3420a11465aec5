//! The items of a SELECT: their names, and wildcards without hidden columns.

use std::collections::{HashMap, HashSet};

use saltwing_sql::expr_span;
use saltwing_sql::statement::SourceText;
use saltwing_types::dynamic::DYNAMIC_COLUMNS;
use saltwing_types::table::{ROW_ID_COLUMN, ROW_KEY_COLUMN, ROW_TIME_COLUMN};
use sqlparser::ast::{
    self, Expr, Ident, ObjectName, Query, Select, SelectItem, SetExpr, TableFactor, WildcardAdditionalOptions,
};

use super::families::{self, table_of};
use super::label::plain;
use super::rewriter::{Renaming, Rewriter};
use super::tree::{Result, column_name, factor_name, lower, lower_object};
use crate::{RelationalError, RelationalErrorKind};

impl Rewriter<'_> {
    /// Names the items of a SELECT, and keeps hidden columns out of its wildcards.
    pub(super) fn name_items(&mut self, select: &mut Select, is_result: bool) -> Result<()> {
        let texts = is_result.then_some(self.items);
        let mut item_texts = Vec::with_capacity(select.projection.len());
        for (i, item) in std::mem::take(&mut select.projection).into_iter().enumerate() {
            select.projection.extend(self.without_family_wildcard(item)?);
            item_texts.resize(select.projection.len(), texts.and_then(|texts| texts.get(i)));
        }
        let has_wildcard = select.projection.iter().any(is_wildcard);
        // Of the result's columns labels may repeat.
        let mut taken = if texts.is_some() { HashSet::new() } else { repeated_names(&select.projection)? };
        self.found.ambiguous.extend(taken.iter().cloned());
        let columns: HashSet<String> = select.projection.iter().filter_map(item_column).collect();
        for (item, text) in std::mem::take(&mut select.projection).into_iter().zip(item_texts) {
            let named = self.named_item(item, text, texts.is_some(), has_wildcard, (&mut taken, &columns))?;
            select.projection.push(named);
        }
        if self.found.names_hidden && has_wildcard {
            self.hide_columns(select)?;
        }
        Ok(())
    }

    fn named_item(
        &mut self,
        item: SelectItem,
        text: Option<&SourceText>,
        of_result: bool,
        beside_wildcard: bool,
        (taken, columns): (&mut HashSet<String>, &HashSet<String>),
    ) -> Result<SelectItem> {
        self.found.has_alias_beside_wildcard |= beside_wildcard && matches!(item, SelectItem::ExprWithAlias { .. });
        let rename_all = beside_wildcard && self.renaming == Renaming::BesideWildcards;
        let (expr, name, label) = match item {
            SelectItem::ExprWithAlias { expr, alias } => {
                (expr, self.found.labels.alias(&alias.value), Some(alias.value))
            }
            SelectItem::UnnamedExpr(expr) => match column_name(&expr) {
                // A column that collides with none keeps its name, and its table's.
                Some(name) if !beside_wildcard && taken.insert(name.clone()) => return self.column_item(expr, name),
                Some(name) => {
                    let alias = Ident::with_quote('"', self.found.labels.unique(&name));
                    return Ok(SelectItem::ExprWithAlias { expr, alias });
                }
                None => {
                    let text = text.map_or_else(|| expr.to_string(), |text| text.text.clone());
                    (expr, text.clone(), Some(text))
                }
            },
            other => return Ok(other),
        };
        // DataFusion takes a label `t.b` for the column b of t.
        let is_as_column = of_result && name.rsplit_once('.').is_some_and(|(_, column)| columns.contains(column));
        let is_own = taken.insert(name.clone()) && !rename_all && !is_as_column;
        let internal = if is_own { name } else { self.found.labels.unique(&name) };
        if let (true, Some(label)) = (of_result, label) {
            self.found.labels.result(&internal, &label);
        }
        Ok(SelectItem::ExprWithAlias { expr, alias: Ident::with_quote('"', internal) })
    }

    /// A column under its own name, also if the plan has it under another one.
    fn column_item(&self, mut expr: Expr, name: String) -> Result<SelectItem> {
        let span = expr_span(&expr);
        if let Expr::CompoundIdentifier(parts) = &mut expr {
            parts.iter_mut().for_each(lower);
            families::without_family(parts, &self.scopes).map_err(|error| error.at(span))?;
        }
        Ok(match column_name(&expr) {
            Some(field) if field != name => SelectItem::ExprWithAlias { expr, alias: Ident::with_quote('"', name) },
            _ => SelectItem::UnnamedExpr(expr),
        })
    }

    /// The items that an item stands for: those of a family, if it is a wildcard of one.
    ///
    /// # Errors
    /// No such family.
    fn without_family_wildcard(&self, item: SelectItem) -> Result<Vec<SelectItem>> {
        let columns = match (&item, self.scopes.last()) {
            (
                SelectItem::QualifiedWildcard(ast::SelectItemQualifiedWildcardKind::ObjectName(name), options),
                Some(scope),
            ) if *options == WildcardAdditionalOptions::default() => {
                let parts: Vec<Ident> = name.0.iter().filter_map(|part| part.as_ident()).cloned().collect();
                let columns = scope.family_columns(&parts);
                if columns.is_none() {
                    scope.check_wildcard(&parts)?;
                }
                columns
            }
            _ => None,
        };
        Ok(match columns {
            Some(columns) => {
                columns.into_iter().map(|c| SelectItem::UnnamedExpr(Expr::CompoundIdentifier(c))).collect()
            }
            None => vec![item],
        })
    }

    /// Keeps hidden columns out of a SELECT's wildcards.
    fn hide_columns(&self, select: &mut Select) -> Result<()> {
        let factors: Vec<&TableFactor> = select
            .from
            .iter()
            .flat_map(|t| std::iter::once(&t.relation).chain(t.joins.iter().map(|j| &j.relation)))
            .collect();
        let hidden: Vec<(Option<ObjectName>, Vec<&str>)> =
            factors.into_iter().map(|factor| (factor_name(factor), self.hidden_columns(factor))).collect();
        let mut items = Vec::with_capacity(select.projection.len());
        for item in std::mem::take(&mut select.projection) {
            match item {
                SelectItem::Wildcard(options) if hidden.iter().any(|(_, columns)| !columns.is_empty()) => {
                    if let [(_, columns)] = hidden.as_slice() {
                        items.push(SelectItem::Wildcard(without(options, columns)));
                        continue;
                    }
                    for (name, columns) in &hidden {
                        let Some(name) = name.clone() else {
                            return Err(RelationalError::not_supported(
                                "* over a table without a name beside a hidden column",
                            ));
                        };
                        items.push(qualified_wildcard(name, without(options.clone(), columns)));
                    }
                }
                SelectItem::QualifiedWildcard(ast::SelectItemQualifiedWildcardKind::ObjectName(mut name), options) => {
                    lower_object(&mut name);
                    let of =
                        hidden.iter().find(|(factor, _)| factor.as_ref().is_some_and(|f| f.0.last() == name.0.last()));
                    let columns = of.map(|(_, columns)| columns.as_slice()).unwrap_or_default();
                    items.push(qualified_wildcard(name, without(options, columns)));
                }
                other => items.push(other),
            }
        }
        select.projection = items;
        Ok(())
    }

    /// The hidden columns of a table of the catalog.
    fn hidden_columns(&self, factor: &TableFactor) -> Vec<&'static str> {
        let TableFactor::Table { name, args: None, .. } = factor else { return Vec::new() };
        let Some(table) = table_of(name, self.catalog, &|name| self.ctes.contains(name)) else { return Vec::new() };
        let is_there = |name: &&str| table.def().columns.iter().any(|column| column.hidden && column.name == **name);
        let own = [ROW_ID_COLUMN, DYNAMIC_COLUMNS].into_iter().filter(is_there);
        [ROW_KEY_COLUMN, ROW_TIME_COLUMN].into_iter().chain(own).collect()
    }
}

fn is_wildcard(item: &SelectItem) -> bool {
    matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..))
}

/// Names that several items of a subquery have, in lower case.
///
/// # Errors
/// Names that were given and differ only in case.
fn repeated_names(items: &[SelectItem]) -> Result<HashSet<String>> {
    let (mut seen, mut repeated) = (HashMap::new(), HashSet::new());
    for item in items {
        let (name, given) = match item {
            SelectItem::ExprWithAlias { alias, .. } => (alias.value.to_lowercase(), Some(alias)),
            SelectItem::UnnamedExpr(expr) => match column_name(expr) {
                Some(name) => (name, None),
                None => continue,
            },
            _ => continue,
        };
        if let Some(before) = seen.insert(name.clone(), given) {
            if let (Some(before), Some(given)) = (before, given)
                && before.value != given.value
            {
                let error = RelationalError::from(RelationalErrorKind::DuplicateColumn(given.value.clone()));
                return Err(error.at(expr_span(&Expr::Identifier(given.clone()))));
            }
            repeated.insert(name);
        }
    }
    Ok(repeated)
}

fn qualified_wildcard(name: ObjectName, options: WildcardAdditionalOptions) -> SelectItem {
    SelectItem::QualifiedWildcard(ast::SelectItemQualifiedWildcardKind::ObjectName(name), options)
}

/// A wildcard without some columns.
pub(super) fn without(mut options: WildcardAdditionalOptions, columns: &[&str]) -> WildcardAdditionalOptions {
    for column in columns {
        let name = Ident::with_quote('"', *column);
        match &mut options.opt_except {
            Some(except) if except.first_element == name || except.additional_elements.contains(&name) => {}
            Some(except) => except.additional_elements.push(name),
            None => {
                options.opt_except =
                    Some(ast::ExceptSelectItem { first_element: name, additional_elements: Vec::new() });
            }
        }
    }
    options
}

/// The names in a wildcard's options.
pub(super) fn lower_options(options: &mut WildcardAdditionalOptions) {
    if let Some(except) = &mut options.opt_except {
        lower(&mut except.first_element);
        except.additional_elements.iter_mut().for_each(lower);
    }
    match &mut options.opt_exclude {
        Some(ast::ExcludeSelectItem::Single(name)) => lower_object(name),
        Some(ast::ExcludeSelectItem::Multiple(names)) => names.iter_mut().for_each(lower_object),
        None => {}
    }
    for item in options.opt_replace.iter_mut().flat_map(|replace| &mut replace.items) {
        lower(&mut item.column_name);
    }
}

/// ORDER BY goes on to find an alias that was renamed.
pub(super) fn follow_renamed(query: &mut Query) {
    let (Some(order_by), SetExpr::Select(select)) = (&mut query.order_by, query.body.as_ref()) else { return };
    let ast::OrderByKind::Expressions(list) = &mut order_by.kind else { return };
    let renamed: Vec<&str> = select
        .projection
        .iter()
        .filter_map(|item| match item {
            SelectItem::ExprWithAlias { alias, .. } if plain(&alias.value) != alias.value => Some(alias.value.as_str()),
            _ => None,
        })
        .collect();
    for item in list {
        if let Expr::Identifier(name) = &mut item.expr
            && let Some(internal) = renamed.iter().find(|internal| plain(internal) == name.value)
            && !select.projection.iter().any(|item| named(item) == Some(name.value.as_str()))
        {
            *name = Ident::with_quote('"', *internal);
        }
    }
}

/// Of SELECT DISTINCT, ORDER BY takes only items: one that repeats an item's expression names it instead.
pub(super) fn order_by_items(query: &mut Query) {
    let (Some(order_by), SetExpr::Select(select)) = (&mut query.order_by, query.body.as_ref()) else { return };
    let ast::OrderByKind::Expressions(list) = &mut order_by.kind else { return };
    if select.distinct.is_none() {
        return;
    }
    // A number is an item's place already.
    for item in list.iter_mut().filter(|item| !matches!(item.expr, Expr::Value(_))) {
        let named = select.projection.iter().find_map(|selected| match selected {
            SelectItem::ExprWithAlias { expr, alias } if *expr == item.expr => Some(alias.clone()),
            _ => None,
        });
        if let Some(alias) = named {
            item.expr = Expr::Identifier(alias);
        }
    }
}

/// The column that an item is, without an alias.
fn item_column(item: &SelectItem) -> Option<String> {
    let SelectItem::UnnamedExpr(expr) = item else { return None };
    column_name(expr)
}

/// The name that an item goes by.
fn named(item: &SelectItem) -> Option<&str> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(&alias.value),
        SelectItem::UnnamedExpr(Expr::Identifier(name)) => Some(&name.value),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => parts.last().map(|name| name.value.as_str()),
        _ => None,
    }
}
