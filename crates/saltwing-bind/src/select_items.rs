//! The items of a SELECT.

use saltwing_sql::{expr_span, name_span};
use saltwing_types::table::is_same_name;
use saltwing_types::{Expr, Span, SqlType, typing};
use sqlparser::ast::{self, ObjectName, ObjectNamePart, SelectItem};

use crate::error::{BindError, BindErrorKind, Result};
use crate::lower::Params;
use crate::query_binder::{Bound, unsupported};
use crate::select::SelectBinder;
use crate::select_tree::Item;
use crate::target_rows::TargetOutput;
use crate::tree::Output;

impl SelectBinder<'_> {
    pub(crate) fn items(&self, items: &[SelectItem]) -> Bound<Vec<Item>> {
        let (mut found, mut aliases) = (Vec::new(), Vec::new());
        for (i, item) in items.iter().enumerate() {
            match item {
                SelectItem::Wildcard(options) => {
                    found.extend(self.wildcard(&[], self.scope.shown(), options, wildcard_span(item))?);
                }
                SelectItem::QualifiedWildcard(ast::SelectItemQualifiedWildcardKind::ObjectName(name), options) => {
                    let parts: Vec<&str> =
                        name.0.iter().filter_map(|p| p.as_ident()).map(|p| p.value.as_str()).collect();
                    let Some(columns) = self.scope.shown_of(&parts) else {
                        return Err(self.scope.no_such_wildcard(&parts).at(name_span(name)).into());
                    };
                    found.extend(self.wildcard(&parts, columns, options, wildcard_span(item))?);
                }
                SelectItem::UnnamedExpr(e) => {
                    let expr = self.item_lowerer.lower(e)?;
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
                    let item = self.item(alias.value.clone(), self.item_lowerer.lower(expr)?)?;
                    let item = Item { has_alias: true, ..item };
                    if !self.takes_value(&item) {
                        aliases.push((&alias.value, item.expr.clone()));
                    }
                    found.push(item);
                }
                _ => return unsupported("a select item"),
            }
        }
        // An item does not name another one.
        for (alias, expr) in aliases {
            self.collector.name_item(alias, &expr);
        }
        Ok(found)
    }

    /// The items of a query for rows of a target, which is the first table of its FROM.
    pub(crate) fn with_row(&self, items: Vec<Item>, output: &TargetOutput) -> Bound<Vec<Item>> {
        let assigned = match output {
            TargetOutput::Items => return Ok(items),
            TargetOutput::Keys => None,
            TargetOutput::Rows { assigned } => Some(assigned),
        };
        let row = self.scope.whole_row();
        let (table, key, columns) = row.ok_or_else(|| BindError::bug("the first item of FROM is no target"))?;
        let mut row = vec![Item::of_column(key)];
        match assigned {
            None => {
                let columns = if table.is_compared() { columns } else { Vec::new() };
                row.extend(columns.into_iter().map(Item::of_column).chain(items));
            }
            Some(assigned) => {
                // Entries of indexes follow from the old row.
                let needs_old = !assigned.is_empty() && (table.is_compared() || !table.indexes().is_empty());
                let old = if needs_old { columns.clone() } else { Vec::new() };
                row.extend(columns.into_iter().map(Item::of_column));
                for (item, column) in items.into_iter().zip(assigned) {
                    // The key is the first item, and dynamic columns are the last ones.
                    match row.get_mut(column + 1) {
                        Some(place) => *place = item,
                        None => row.push(item),
                    }
                }
                row.extend(old.into_iter().map(Item::of_column));
            }
        }
        Ok(row)
    }

    /// Whether an item is known after all clauses alone: it takes a value of a sequence.
    pub(crate) fn takes_value(&self, item: &Item) -> bool {
        self.clauses.sequences.is_some_and(|sequences| sequences.is_in(&item.expr))
    }

    /// The items that a wildcard after `parts` stands for: columns, without those that EXCLUDE, or EXCEPT, names, and with the
    /// expressions of REPLACE in the place of others.
    fn wildcard(
        &self,
        parts: &[&str],
        mut columns: Vec<Output>,
        options: &ast::WildcardAdditionalOptions,
        span: Option<Span>,
    ) -> Bound<Vec<Item>> {
        let others = [options.opt_ilike.is_some(), options.opt_rename.is_some()];
        if others.contains(&true) || options.opt_alias.is_some() {
            return unsupported("ILIKE, RENAME or an alias after *").map_err(|error| error.at(span));
        }
        for name in left_out(options).map_err(|error| error.at(span))? {
            Self::check_label(&columns, name)?;
            columns.retain(|column| !is_same_name(&column.label, &name.value));
        }
        self.queries.note_wildcard(parts, &columns, span);
        let mut items: Vec<Item> = columns.iter().cloned().map(Item::of_column).collect();
        for replaced in options.opt_replace.iter().flat_map(|replace| &replace.items) {
            Self::check_label(&columns, &replaced.column_name)?;
            let place = columns.iter().position(|column| is_same_name(&column.label, &replaced.column_name.value));
            if let Some(item) = place.and_then(|place| items.get_mut(place)) {
                *item = self.item(item.label.clone(), self.item_lowerer.lower(&replaced.expr)?)?;
            }
        }
        Ok(items)
    }

    /// # Errors
    /// A name of none of the columns of a wildcard.
    fn check_label(columns: &[Output], name: &ast::Ident) -> Result<()> {
        if columns.iter().any(|column| is_same_name(&column.label, &name.value)) {
            return Ok(());
        }
        let error = BindErrorKind::NoSuchColumn { table: "*".into(), column: name.value.clone() };
        Err(BindError::from(error).at(expr_span(&ast::Expr::Identifier(name.clone()))))
    }

    pub(crate) fn item(&self, label: String, expr: Expr) -> Bound<Item> {
        match (expr.sql_type(), self.lowerer.params) {
            (Some(_), _) | (None, Params::Later(_)) => Ok(Item { label, expr, has_alias: false }),
            // Nothing tells its type before it has a value.
            (None, _) => Ok(Item { label, expr: typing::as_type(expr, SqlType::Null)?, has_alias: false }),
        }
    }
}

/// The place of a wildcard; `None` if the item is no wildcard.
pub(crate) fn wildcard_span(item: &SelectItem) -> Option<Span> {
    match item {
        SelectItem::Wildcard(options) => {
            let star = ast::Ident { span: options.wildcard_token.0.span, ..ast::Ident::new("*") };
            expr_span(&ast::Expr::Identifier(star))
        }
        SelectItem::QualifiedWildcard(ast::SelectItemQualifiedWildcardKind::ObjectName(name), _) => name_span(name),
        _ => None,
    }
}

/// The columns that EXCLUDE and EXCEPT leave out of a wildcard.
fn left_out(options: &ast::WildcardAdditionalOptions) -> Bound<Vec<&ast::Ident>> {
    let excluded: &[ObjectName] = match &options.opt_exclude {
        None => &[],
        Some(ast::ExcludeSelectItem::Single(name)) => std::slice::from_ref(name),
        Some(ast::ExcludeSelectItem::Multiple(names)) => names,
    };
    let mut names = Vec::new();
    for name in excluded {
        let [ObjectNamePart::Identifier(name)] = name.0.as_slice() else {
            return unsupported("a qualified name in EXCLUDE");
        };
        names.push(name);
    }
    if let Some(ast::ExceptSelectItem { first_element, additional_elements }) = &options.opt_except {
        names.push(first_element);
        names.extend(additional_elements);
    }
    Ok(names)
}
