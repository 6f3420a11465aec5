//! UPDATE: a query gives the keys of the rows and the rows as they will be.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use saltwing_sql::statement::{Assignment, QueryStatement, Update};
use saltwing_sql::{expr_span, is_default};
use saltwing_types::{ColumnDef, Expr, SqlType, TableDef, Value, number};
use sqlparser::ast::{self, SelectItem};

use crate::aggregate::AggregateFunction;
use crate::computed::expr_of;
use crate::conflict::assigned_time;
use crate::error::{BindError, BindErrorKind, Result};
use crate::generated::is_generated;
use crate::identity::check_identity;
use crate::lower::Params;
use crate::parameters::parameter;
use crate::target::{NamedTable, column_names, declared, resolve, select_of};
use crate::written_columns::assigned_columns;

/// New values for rows of a table.
pub struct BoundUpdate {
    /// The table.
    pub table: Arc<Table>,
    /// The rows: first the physical key of the row as it is, then the new value of each column of the table, hidden ones too,
    /// then those of dynamic columns. A value is of the column's type only where the column is not assigned.
    pub query: QueryStatement,
    /// What the rows have beside the values of the query.
    pub changed: ChangedColumns,
    /// Whether a column of the key is assigned, so that a row may move.
    pub moves_rows: bool,
    /// Whether the query has further tables, so that a row may come several times.
    pub is_joined: bool,
    /// The parameters that are assigned, with the types that these get.
    pub open: Vec<Expr>,
}

/// The columns of changed rows that are not those of the table with the values of the query.
#[derive(Debug, Default)]
pub struct ChangedColumns {
    /// The dynamic columns that are assigned.
    pub dynamic: Vec<ColumnDef>,
    /// The `ROW_TIMESTAMP` of the key, by index, if its DEFAULT is assigned: the query gives NULL, and the row takes the time of
    /// the write.
    pub row_timestamp: Option<usize>,
}

/// Binds an UPDATE.
///
/// # Errors
/// [`BindErrorKind`](crate::BindErrorKind) with the place: no such column, a column that is assigned twice.
pub fn update(statement: &Update, catalog: &dyn CatalogReader, params: Params<'_>) -> Result<BoundUpdate> {
    let table = resolve(catalog, &statement.table)?;
    let Update { table: name, dynamic, alias, assignments, from, selection, hints, span, .. } = statement;
    let named = NamedTable { table: name, dynamic: dynamic.as_ref(), alias: alias.as_ref(), hints, span: *span };
    let mut assigned = AssignedRows::new(named, &table, assignments, params)?;
    let select = select_of(&mut assigned.query)?;
    select.from.extend(from.iter().cloned());
    select.selection.clone_from(selection);
    let AssignedRows { query, changed, moves_rows, open } = assigned;
    Ok(BoundUpdate { table, query, changed, moves_rows, is_joined: !from.is_empty(), open })
}

/// All rows of a table with new values, as in [`BoundUpdate`].
pub(crate) struct AssignedRows {
    pub(crate) query: QueryStatement,
    pub(crate) changed: ChangedColumns,
    pub(crate) moves_rows: bool,
    pub(crate) open: Vec<Expr>,
}

impl AssignedRows {
    pub(crate) fn new(
        named: NamedTable<'_>,
        table: &Arc<Table>,
        assignments: &[Assignment],
        params: Params<'_>,
    ) -> Result<Self> {
        let (columns, dynamic) = assigned_columns(table, assignments, &declared(named.dynamic)?)?;
        let def = table.def();
        let (mut query, mut open) = (named.rows(&column_names(table))?, Vec::new());
        let projection = &mut select_of(&mut query)?.projection;
        for (assignment, &column) in assignments.iter().zip(&columns) {
            let Some(target) = def.columns.get(column) else {
                // Dynamic columns have no items yet, and come in this order.
                if let Some(target) = def.dynamic_column(&dynamic, column) {
                    let value = assigned_value(&assignment.value, target, params, &mut open)?;
                    projection.push(SelectItem::UnnamedExpr(value));
                }
                continue;
            };
            // The row key is the first item.
            if let Some(item) = projection.get_mut(column + 1) {
                if is_generated(def, target, &assignment.value)? {
                    continue;
                }
                check_identity(def, target, Some(&assignment.value), None)?;
                check_value(def, target, &assignment.value)?;
                *item = SelectItem::UnnamedExpr(assigned_value(&assignment.value, target, params, &mut open)?);
            }
        }
        let moves_rows = columns.iter().any(|&column| def.key.position(column).is_some());
        let changed = ChangedColumns { dynamic, row_timestamp: assigned_time(assignments, &columns, table) };
        Ok(Self { query, changed, moves_rows, open })
    }
}

/// # Errors
/// A literal that is no value of the column; an aggregate, which is no value of a row.
fn check_value(def: &TableDef, target: &ColumnDef, value: &ast::Expr) -> Result<()> {
    let place = |error: BindError| error.at(expr_span(value));
    if let ast::Expr::Value(ast::ValueWithSpan { value: ast::Value::SingleQuotedString(text), .. }) = value {
        let column = Some(format!("{}.{}", def.name, target.name));
        let assigned = number::assign(Value::text(text.as_str()), target.ty);
        assigned.map_err(|source| place(BindErrorKind::Value { column, source }.into()))?;
    }
    if let ast::Expr::Function(call) = value
        && call.over.is_none()
        && AggregateFunction::by_name(&call.name.to_string()).is_some()
    {
        let error = BindError::from(BindErrorKind::Syntax("aggregate functions are not allowed in UPDATE".into()));
        return Err(place(error).help("a subquery gives one value: SET c = (SELECT SUM(x) FROM ..)"));
    }
    Ok(())
}

/// A value for a column as an expression of a query; `open` gets the parameters without values that stand alone.
pub(crate) fn assigned_value(
    value: &ast::Expr,
    target: &ColumnDef,
    params: Params<'_>,
    open: &mut Vec<Expr>,
) -> Result<ast::Expr> {
    Ok(match (is_default(value), &target.default, parameter(value)) {
        (true, Some(default), _) => expr_of(&default.text)?,
        (true, None, _) => ast::Expr::value(ast::Value::Null),
        // A parameter without a value has no type of its own: the cast gives it the column's.
        (false, _, Some(index)) if matches!(params, Params::Open(_)) => {
            open.push(Expr::Param(index, Some(target.ty)));
            cast(value.clone(), target.ty)?
        }
        (false, ..) => value.clone(),
    })
}

/// `CAST(value AS ty)`.
fn cast(value: ast::Expr, ty: SqlType) -> Result<ast::Expr> {
    // The text of every type is a type of CAST.
    let mut cast = expr_of(&format!("CAST(NULL AS {ty})"))?;
    if let ast::Expr::Cast { expr, .. } = &mut cast {
        **expr = value;
    }
    Ok(cast)
}
