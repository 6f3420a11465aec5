//! UPDATE: a query gives the keys of the rows and the rows as they will be.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use saltwing_sql::statement::{Assignment, Update};
use saltwing_sql::{DynamicColumn, expr_span, is_default};
use saltwing_types::function::aggregate::AggregateEntry;
use saltwing_types::{ColumnDef, TableDef, Value, number};
use sqlparser::ast;

use crate::computed::expr_of;
use crate::conflict::assigned_time;
use crate::error::{BindError, BindErrorKind, Result};
use crate::generated::is_generated;
use crate::identity::check_identity;
use crate::lower::Params;
use crate::parameters::parameter;
use crate::target::{NamedTarget, Target};
use crate::target_rows::{AssignedValue, RowCondition, TargetOutput, TargetRows, TargetSource, limit_clause};
use crate::written_columns::assigned_columns;

/// What an UPDATE does to the rows that [`TargetQuery::Update`](crate::TargetQuery::Update) gives.
pub struct BoundUpdate {
    /// The table.
    pub table: Arc<Table>,
    /// What the rows have beside the values of the query.
    pub changed: ChangedColumns,
    /// Whether a column of the key is assigned, so that a row may move.
    pub moves_rows: bool,
    /// Whether the query has further tables, so that a row may come several times.
    pub is_joined: bool,
    /// Whether a column that a condition of the view names is assigned: the value was checked, and another one is another UPDATE.
    pub is_checked: bool,
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
    let AssignedRows { changed, moves_rows, is_checked, .. } =
        AssignedRows::new(&statement.dynamic, &target, &statement.assignments, params)?;
    Ok(BoundUpdate { table: target.table, changed, moves_rows, is_joined: !statement.from.is_empty(), is_checked })
}

/// The rows that an UPDATE changes.
///
/// # Errors
/// As [`update`].
pub(crate) fn updated_rows<'a>(
    statement: &'a Update,
    catalog: &dyn CatalogReader,
    params: Params<'_>,
) -> Result<TargetRows<'a>> {
    let target = Target::resolve(catalog, &statement.table)?;
    let Update { table, dynamic, alias, assignments, from, selection, order_by, limit, .. } = statement;
    let AssignedRows { values, assigned, .. } = AssignedRows::new(dynamic, &target, assignments, params)?;
    Ok(TargetRows {
        named: NamedTarget { table, dynamic, alias: alias.as_ref() },
        output: TargetOutput::Rows { assigned },
        values,
        source: TargetSource::Beside(from),
        conditions: selection.iter().map(RowCondition::Holds).collect(),
        order_by: order_by.as_ref(),
        limit: limit.as_ref().map(limit_clause),
    })
}

/// New values for rows of a target.
pub(crate) struct AssignedRows<'a> {
    pub(crate) values: Vec<AssignedValue<'a>>,
    /// The columns of the values, as in [`TargetOutput::Rows`].
    pub(crate) assigned: Vec<usize>,
    pub(crate) changed: ChangedColumns,
    pub(crate) moves_rows: bool,
    pub(crate) is_checked: bool,
}

impl<'a> AssignedRows<'a> {
    pub(crate) fn new(
        dynamic: &[DynamicColumn],
        target: &Target<'_>,
        assignments: &'a [Assignment],
        params: Params<'_>,
    ) -> Result<Self> {
        let known = target.known_columns(dynamic)?;
        let (columns, dynamic) = assigned_columns(target, assignments, &known)?;
        let is_checked = target.check_assigned(assignments, (&columns, &dynamic), params)?;
        let def = target.table.def();
        let (mut values, mut of_dynamic, mut assigned) = (Vec::new(), Vec::new(), Vec::with_capacity(columns.len()));
        for (assignment, &column) in assignments.iter().zip(&columns) {
            let Some(target) = def.columns.get(column) else {
                if let Some(target) = def.dynamic_column(&dynamic, column) {
                    of_dynamic.push(assigned_value(&assignment.value, target, params)?);
                }
                continue;
            };
            if is_generated(def, target, &assignment.value)? {
                continue;
            }
            check_identity(def, target, Some(&assignment.value), None)?;
            check_value(def, target, &assignment.value)?;
            values.push(assigned_value(&assignment.value, target, params)?);
            assigned.push(column);
        }
        assigned.extend((0..of_dynamic.len()).map(|place| def.columns.len() + place));
        values.append(&mut of_dynamic);
        let moves_rows = columns.iter().any(|&column| def.key.position(column).is_some());
        let changed = ChangedColumns { dynamic, row_timestamp: assigned_time(assignments, &columns, &target.table) };
        Ok(Self { values, assigned, changed, moves_rows, is_checked })
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

/// A value for a column.
///
/// # Errors
/// A DEFAULT that cannot be read.
pub(crate) fn assigned_value<'a>(
    value: &'a ast::Expr,
    target: &ColumnDef,
    params: Params<'_>,
) -> Result<AssignedValue<'a>> {
    Ok(match (is_default(value), &target.default) {
        (true, Some(default)) => AssignedValue::Default(Box::new(expr_of(&default.text)?)),
        (true, None) => AssignedValue::Null,
        // It has no type of its own.
        (false, _) if parameter(value).is_some() && matches!(params, Params::Open(_)) => {
            AssignedValue::Open(value, target.ty)
        }
        (false, _) => AssignedValue::Given(value),
    })
}
