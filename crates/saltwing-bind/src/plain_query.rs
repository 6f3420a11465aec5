//! The shape of queries as syntax: those over one table, and those whose clauses are bound.

use sqlparser::ast::{self, GroupByExpr, ObjectName, Query, SetExpr, TableAlias, TableFactor, TableVersion};

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

/// A table in FROM: its name, its alias, and the time of its rows.
type TableParts<'a> = (&'a ObjectName, Option<&'a TableAlias>, Option<&'a TableVersion>);

/// The parts of an item of FROM that is a table alone, whose columns have their own names.
pub(crate) fn plain_table(factor: &TableFactor) -> Option<TableParts<'_>> {
    table_parts(factor).filter(|(_, alias, _)| alias.is_none_or(|alias| alias.columns.is_empty()))
}

/// The parts of an item of FROM that is a table alone.
pub(crate) fn table_parts(factor: &TableFactor) -> Option<TableParts<'_>> {
    match factor {
        TableFactor::Table { name, alias, args: None, version, sample: None, json_path: None, partitions, .. }
            if partitions.is_empty() =>
        {
            Some((name, alias.as_ref(), version.as_ref()))
        }
        _ => None,
    }
}

/// The SELECT that a query is, if it has no clauses but those that are bound.
fn plain_select(query: &Query) -> Option<&ast::Select> {
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    let is_plain = query.with.is_none()
        && !matches!(select.distinct, Some(ast::Distinct::On(_)))
        && select.named_window.is_empty()
        && select.qualify.is_none()
        && has_bound_clauses(query)
        && has_bound_select_clauses(select);
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

/// Whether a SELECT has no clauses but those that are bound.
pub(crate) fn has_bound_select_clauses(select: &ast::Select) -> bool {
    select.top.is_none()
        && select.exclude.is_none()
        && select.into.is_none()
        && select.lateral_views.is_empty()
        && select.prewhere.is_none()
        && select.connect_by.is_empty()
        && matches!(&select.group_by, GroupByExpr::Expressions(_, modifiers) if modifiers.is_empty())
        && select.cluster_by.is_empty()
        && select.distribute_by.is_empty()
        && select.sort_by.is_empty()
        && select.value_table_mode.is_none()
        && select.select_modifiers.is_none()
}
/// Whether a wildcard has no options.
pub(crate) fn is_plain(options: &ast::WildcardAdditionalOptions) -> bool {
    options.opt_ilike.is_none()
        && options.opt_exclude.is_none()
        && options.opt_except.is_none()
        && options.opt_replace.is_none()
        && options.opt_rename.is_none()
        && options.opt_alias.is_none()
}
