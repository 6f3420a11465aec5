//! Views with columns of their own: `CREATE VIEW v (extra VARCHAR) AS SELECT * FROM t WHERE kind = 'a'`.
//!
//! Such a column is a dynamic column of the table: the view is `SELECT k, kind, extra FROM t (extra VARCHAR) WHERE kind = 'a'`. A
//! list after the name of a view declares dynamic columns of its table, which the view shows besides its own.

use std::ops::ControlFlow;

use saltwing_catalog::CatalogReader;
use saltwing_sql::statement::QueryStatement;
use saltwing_sql::{ColumnName, DynamicColumn, dynamic_columns, name_span, parse_query_at, set_dynamic_columns};
use saltwing_types::function::aggregate::AggregateEntry;
use saltwing_types::table::is_same_name;
use saltwing_types::{Span, TableDef, TableName, ViewColumn, ViewDef};
use sqlparser::ast::{self, Expr, Ident, ObjectName, SelectItem, SetExpr, TableFactor};

use super::dynamic::stored_name;
use crate::error::{BindError, BindErrorKind, Result, invalid};
use crate::names::Names;
use crate::object_name::quoted;
use crate::plain_query::simple;

/// The view with these columns after its own.
///
/// # Errors
/// A name that a column of the view has; as [`add_columns`].
pub(crate) fn with_columns(view: &ViewDef, query: &mut QueryStatement, columns: &[DynamicColumn]) -> Result<ViewDef> {
    let what = format!("dynamic columns of the view {}, whose query is more than rows of one table", view.name);
    add_columns(query, columns, &what)?;
    let mut view = view.clone();
    for DynamicColumn { column, ty } in columns {
        if let Some(known) = view.column_index(&column.name.text) {
            let known = view.columns.get(known).map_or_else(String::new, |known| known.name.clone());
            let error = BindErrorKind::ColumnExists { table: view.name.to_string(), column: known };
            return Err(BindError::from(error).at(Some(column.span())).help("name it without a type"));
        }
        view.columns.push(ViewColumn { name: column.name.text.clone(), ty: *ty, nullable: true, comment: None });
    }
    Ok(view)
}

/// The view without some columns of its own, and notices of those that it does not have; `None` if it stays as it is.
///
/// # Errors
/// The view has no such column, and columns must not be missing (`may_be_missing`); the column comes from the view's query, or the
/// query names it elsewhere, too; the view would have no column left.
pub(super) fn without_columns(
    view: &ViewDef,
    query: &mut QueryStatement,
    names: &[ColumnName],
    may_be_missing: bool,
) -> Result<(Option<ViewDef>, Vec<String>)> {
    let (mut changed, mut notices) = (view.clone(), Vec::new());
    for name in names {
        let place = |error: BindError| error.at(Some(name.span()));
        match changed.column_index(&name.name.text) {
            Some(column) => {
                drop_item(&view.name, query, (column, name)).map_err(place)?;
                changed.columns.remove(column);
            }
            None if may_be_missing => notices.push(format!("there is no column {name}")),
            None => {
                let (table, column) = (view.name.to_string(), name.to_string());
                return Err(place(BindErrorKind::NoSuchColumn { table, column }.into()));
            }
        }
    }
    if changed.columns.is_empty() {
        return Err(invalid(format!("view {} would have no column", view.name)));
    }
    let is_changed = changed.columns.len() < view.columns.len();
    changed.query = saltwing_sql::tree_text(&*query.query);
    Ok((is_changed.then_some(changed), notices))
}

/// Takes the item at a place out of a view's query, and its declaration after the table.
fn drop_item(view: &TableName, query: &mut QueryStatement, (place, column): (usize, &ColumnName)) -> Result<()> {
    let inherited = || {
        let text =
            format!("column {column} of view {view} comes from its query: a view drops columns of its own alone");
        invalid(text).help("CREATE VIEW with another query")
    };
    let SetExpr::Select(select) = query.query.body.as_mut() else { return Err(inherited()) };
    let [from] = select.from.as_mut_slice() else { return Err(inherited()) };
    let TableFactor::Table { name, .. } = &mut from.relation else { return Err(inherited()) };
    let mut list = dynamic_columns(name)?;
    let item = match select.projection.get(place) {
        Some(SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) => expr,
        _ => return Err(inherited()),
    };
    let Some(declared) = list.iter().position(|own| is_it(item, &own.column)) else { return Err(inherited()) };
    let own = list.remove(declared);
    set_dynamic_columns(name, &list);
    select.projection.remove(place);
    let is_named = ast::visit_expressions(&query.query, |expr| match is_it(expr, &own.column) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    });
    match is_named.is_break() {
        true => Err(invalid(format!("the query of view {view} names its column {column} elsewhere, too"))),
        false => Ok(()),
    }
}

/// Whether an expression is a dynamic column, perhaps qualified with the name of its table.
fn is_it(expr: &Expr, column: &ColumnName) -> bool {
    let parts: &[Ident] = match expr {
        Expr::Identifier(name) => std::slice::from_ref(name),
        Expr::CompoundIdentifier(parts) => parts,
        _ => return false,
    };
    let wanted = column.parts();
    let same = parts.iter().rev().zip(wanted.iter().rev()).all(|(part, wanted)| is_same_name(&part.value, wanted));
    same && parts.len() >= wanted.len()
}

/// Declares dynamic columns after the table of a query, and selects them after its columns.
///
/// # Errors
/// [`BindErrorKind::NotSupported`], which says `what`, if the query is more than rows of one table as they come.
pub(crate) fn add_columns(query: &mut QueryStatement, columns: &[DynamicColumn], what: &str) -> Result<()> {
    let refused = || {
        let first = columns.first().map(|it| it.column.span());
        BindError::from(BindErrorKind::NotSupported(what.to_owned()))
            .at(first)
            .help("such a query is SELECT .. FROM t WHERE ..")
    };
    if !gives_rows(&query.query) {
        return Err(refused());
    }
    let SetExpr::Select(select) = query.query.body.as_mut() else { return Err(refused()) };
    let [from] = select.from.as_mut_slice() else { return Err(refused()) };
    let TableFactor::Table { name, .. } = &mut from.relation else { return Err(refused()) };
    let declared: Vec<DynamicColumn> = dynamic_columns(name)?.into_iter().chain(columns.iter().cloned()).collect();
    set_dynamic_columns(name, &declared);
    select.projection.extend(columns.iter().map(|it| {
        let idents = it.column.family.iter().chain([&it.column.name]).map(|part| quoted(&part.text));
        SelectItem::UnnamedExpr(match idents.collect::<Vec<Ident>>() {
            parts if parts.len() > 1 => Expr::CompoundIdentifier(parts),
            parts => parts.into_iter().next().map_or_else(|| Expr::value(ast::Value::Null), Expr::Identifier),
        })
    }));
    query.items = Vec::new();
    Ok(())
}

/// Whether a query gives the rows of one table as they come.
fn gives_rows(query: &ast::Query) -> bool {
    let whole = query.order_by.is_none() && query.limit_clause.is_none();
    let is_ungrouped = |select: &ast::Select| {
        let keys = matches!(&select.group_by, ast::GroupByExpr::Expressions(keys, _) if keys.is_empty());
        let calls = ast::visit_expressions(&select.projection, |expr| match expr {
            Expr::Function(call) if call.over.is_none() && is_aggregate(&call.name) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        keys && select.distinct.is_none() && select.having.is_none() && calls.is_continue()
    };
    whole && simple(query).is_some_and(|query| is_ungrouped(query.select))
}

fn is_aggregate(function: &ObjectName) -> bool {
    let name = function.0.last().and_then(|part| part.as_ident());
    name.is_some_and(|name| AggregateEntry::by_name(&name.value).is_some())
}

/// The dynamic columns that a query of one table declares, those of the views below it among them, and its table; `None` for
/// a query of several, or of what is no table.
///
/// # Errors
/// A query that is none.
pub(crate) fn declared_by(
    query: &QueryStatement,
    names: Names<'_>,
    catalog: &dyn CatalogReader,
) -> Result<Option<(TableName, Vec<DynamicColumn>)>> {
    let Some(name) = simple(&query.query).map(|query| query.name) else { return Ok(None) };
    let mut columns = dynamic_columns(name)?;
    let Some(view) = names.view(name, catalog)? else {
        return Ok(names.table(name, catalog)?.map(|table| (table.def().name.clone(), columns)));
    };
    let below = parse_query_at(&view.query, name_span(name).unwrap_or(query.span))?;
    let Some((table, of_below)) = declared_by(&below, Names::of(&view, catalog), catalog)? else { return Ok(None) };
    columns.extend(of_below);
    Ok(Some((table, columns)))
}

/// Checks that no view declares a dynamic column of a name that a column of its table is to have.
///
/// # Errors
/// [`BindErrorKind::ColumnOfView`].
pub fn check_new_names<'n>(
    def: &TableDef,
    names: impl IntoIterator<Item = &'n ColumnName>,
    catalog: &dyn CatalogReader,
) -> Result<()> {
    let mut names = names.into_iter().peekable();
    if names.peek().is_none() || !catalog.has_views() {
        return Ok(());
    }
    let mut declared: Vec<(TableName, DynamicColumn)> = Vec::new();
    for view in catalog.views()? {
        let query = parse_query_at(&view.query, Span::on_line(1, 1, 1))?;
        declared.extend(
            declared_in(&query, Names::of(&view, catalog), (def, catalog))?
                .into_iter()
                .map(|column| (view.name.clone(), column)),
        );
    }
    for name in names {
        let is_it = |it: &&(TableName, DynamicColumn)| hides(name, &it.1.column);
        if let Some((view, column)) = declared.iter().find(is_it) {
            let (view, column) = (view.to_string(), column.column.to_string());
            let error = BindErrorKind::ColumnOfView { table: def.name.to_string(), column, view };
            return Err(BindError::from(error).at(Some(name.span())));
        }
    }
    Ok(())
}

/// The dynamic columns of a table that a view's query declares.
fn declared_in(
    query: &QueryStatement,
    names: Names<'_>,
    (def, catalog): (&TableDef, &dyn CatalogReader),
) -> Result<Vec<DynamicColumn>> {
    let (mut found, mut names_read) = (Vec::new(), Vec::new());
    let _ = ast::visit_relations(&*query.query, |name| {
        names_read.push(name.clone());
        ControlFlow::<()>::Continue(())
    });
    for name in names_read {
        let declared = dynamic_columns(&name)?;
        if declared.is_empty() {
            continue;
        }
        let table = match names.view(&name, catalog)? {
            Some(view) => {
                let below = parse_query_at(&view.query, query.span)?;
                declared_by(&below, Names::of(&view, catalog), catalog)?.map(|(table, _)| table)
            }
            None => names.table(&name, catalog)?.map(|table| table.def().name.clone()),
        };
        if table.as_ref() == Some(&def.name) {
            found.extend(declared);
        }
    }
    Ok(found)
}

/// Whether a column of a table would take the name of a dynamic one.
fn hides(column: &ColumnName, dynamic: &ColumnName) -> bool {
    match &dynamic.family {
        Some(_) => is_same_name(&stored_name(column), &stored_name(dynamic)),
        None => is_same_name(&column.name.text, &dynamic.name.text),
    }
}
