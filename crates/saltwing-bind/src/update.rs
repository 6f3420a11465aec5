//! UPDATE: a query gives the keys of the rows and the rows as they will be.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use saltwing_sql::statement::{Assignment, QueryStatement, TargetOutput, Update};
use saltwing_sql::{expr_span, is_default};
use saltwing_types::function::aggregate::AggregateEntry;
use saltwing_types::{ColumnDef, Expr, SqlType, TableDef, Value, number};
use sqlparser::ast::{self, SelectItem};

use crate::computed::expr_of;
use crate::conflict::assigned_time;
use crate::error::{BindError, BindErrorKind, Result};
use crate::generated::is_generated;
use crate::identity::check_identity;
use crate::lower::Params;
use crate::parameters::parameter;
use crate::target::{NamedTarget, Target, declared, select_of};
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
    /// Whether a column that a condition of the view names is assigned: the value was checked, and another one is another UPDATE.
    pub is_checked: bool,
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
    let target = Target::resolve(catalog, &statement.table)?;
    let Update { table: name, dynamic, alias, assignments, from, selection, hints, span, .. } = statement;
    let named = NamedTarget { table: name, dynamic: dynamic.as_ref(), alias: alias.as_ref(), hints, span: *span };
    let mut assigned = AssignedRows::new(named, &target, assignments, params)?;
    let select = select_of(&mut assigned.query)?;
    select.from.extend(from.iter().cloned());
    select.selection.clone_from(selection);
    let AssignedRows { query, changed, moves_rows, is_checked, open } = assigned;
    Ok(BoundUpdate { table: target.table, query, changed, moves_rows, is_joined: !from.is_empty(), is_checked, open })
}

/// All rows of a target with new values, as in [`BoundUpdate`].
pub(crate) struct AssignedRows {
    pub(crate) query: QueryStatement,
    pub(crate) changed: ChangedColumns,
    pub(crate) moves_rows: bool,
    pub(crate) is_checked: bool,
    pub(crate) open: Vec<Expr>,
}

impl AssignedRows {
    pub(crate) fn new(
        named: NamedTarget<'_>,
        target: &Target,
        assignments: &[Assignment],
        params: Params<'_>,
    ) -> Result<Self> {
        let known = target.known_columns(declared(named.dynamic)?)?;
        let (columns, dynamic) = assigned_columns(target, assignments, &known)?;
        let is_checked = target.check_assigned(assignments, (&columns, &dynamic), params)?;
        let def = target.table.def();
        let (mut items, mut of_dynamic, mut open) = (Vec::new(), Vec::new(), Vec::new());
        let mut assigned = Vec::with_capacity(columns.len());
        for (assignment, &column) in assignments.iter().zip(&columns) {
            let Some(target) = def.columns.get(column) else {
                if let Some(target) = def.dynamic_column(&dynamic, column) {
                    of_dynamic.push(assigned_value(&assignment.value, target, params, &mut open)?);
                }
                continue;
            };
            if is_generated(def, target, &assignment.value)? {
                continue;
            }
            check_identity(def, target, Some(&assignment.value), None)?;
            check_value(def, target, &assignment.value)?;
            items.push(assigned_value(&assignment.value, target, params, &mut open)?);
            assigned.push(column);
        }
        assigned.extend((0..of_dynamic.len()).map(|place| def.columns.len() + place));
        let mut query = named.query(TargetOutput::Rows { assigned })?;
        select_of(&mut query)?.projection = items.into_iter().chain(of_dynamic).map(SelectItem::UnnamedExpr).collect();
        let moves_rows = columns.iter().any(|&column| def.key.position(column).is_some());
        let changed = ChangedColumns { dynamic, row_timestamp: assigned_time(assignments, &columns, &target.table) };
        Ok(Self { query, changed, moves_rows, is_checked, open })
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
        && AggregateEntry::by_name(&call.name.to_string()).is_some()
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
