//! The shape of queries as syntax: those over one table, and those whose clauses are bound.

use sqlparser::ast::{self, GroupByExpr, ObjectName, Query, SetExpr, TableAlias, TableFactor, TableVersion};

/// A query over one table, without anything relational in it.
pub(crate) struct Simple<'a> {
    pub(crate) select: &'a ast::Select,
    pub(crate) name: &'a ast::ObjectName,
}

pub(crate) fn simple(query: &Query) -> Option<Simple<'_>> {
    let select = plain_select(query)?;
    let [from] = select.from.as_slice() else { return None };
    let (name, ..) = plain_table(&from.relation).filter(|_| from.joins.is_empty())?;
    Some(Simple { select, name })
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
        && matches!(select.group_by, GroupByExpr::Expressions(..))
        && unbound_clause(query).is_none()
        && unbound_select_clause(select).is_none();
    is_plain.then_some(select)
}

/// The first clause around the body of a query that the binder does not support, as an error names it.
pub(crate) fn unbound_clause(query: &Query) -> Option<&'static str> {
    let clauses = [
        (query.fetch.is_some(), "FETCH beside LIMIT"),
        (!query.locks.is_empty(), "FOR UPDATE"),
        (query.for_clause.is_some(), "FOR XML, JSON or BROWSE"),
        (query.settings.is_some(), "SETTINGS"),
        (query.format_clause.is_some(), "FORMAT"),
        (!query.pipe_operators.is_empty(), "|>"),
    ];
    clauses.into_iter().find(|(is_there, _)| *is_there).map(|(_, clause)| clause)
}

/// The first clause of a SELECT that the binder does not support, as an error names it.
pub(crate) fn unbound_select_clause(select: &ast::Select) -> Option<&'static str> {
    let (GroupByExpr::All(modifiers) | GroupByExpr::Expressions(_, modifiers)) = &select.group_by;
    let clauses = [
        (select.top.is_some(), "TOP"),
        (select.exclude.is_some(), "EXCLUDE after the items"),
        (select.into.is_some(), "SELECT INTO"),
        (!select.lateral_views.is_empty(), "LATERAL VIEW"),
        (select.prewhere.is_some(), "PREWHERE"),
        (!select.connect_by.is_empty(), "CONNECT BY"),
        (!modifiers.is_empty(), "a modifier of GROUP BY"),
        (!select.cluster_by.is_empty(), "CLUSTER BY"),
        (!select.distribute_by.is_empty(), "DISTRIBUTE BY"),
        (!select.sort_by.is_empty(), "SORT BY"),
        (select.value_table_mode.is_some(), "SELECT AS STRUCT"),
        (select.select_modifiers.is_some(), "a modifier of SELECT"),
    ];
    clauses.into_iter().find(|(is_there, _)| *is_there).map(|(_, clause)| clause)
}
