//! UPDATE: a query gives the keys of the rows and the rows as they will be.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use saltwing_sql::statement::{Assignment, QueryStatement, Update};
use saltwing_sql::{Name, dynamic_columns, is_default};
use saltwing_types::table::is_same_name;
use saltwing_types::{ColumnDef, Expr, SqlType};
use sqlparser::ast::{self, SelectItem};

use crate::computed::expr_of;
use crate::error::{BindError, BindErrorKind, Result};
use crate::generated::is_generated;
use crate::identity::check_identity;
use crate::lower::Params;
use crate::parameters::parameter;
use crate::target::{NamedTable, assigned_columns, column_names, dynamic_of_one, resolve, select_of};

/// New values for rows of a table.
pub struct BoundUpdate {
    /// The table.
    pub table: Arc<Table>,
    /// The rows: first the physical key of the row as it is, then the new value of each column of the table, hidden ones too.
    /// A value is of the column's type only where the column is not assigned.
    pub query: QueryStatement,
    /// Whether a column of the key is assigned, so that a row may move.
    pub moves_rows: bool,
    /// Whether the query has further tables, so that a row may come several times.
    pub is_joined: bool,
    /// The parameters that are assigned, with the types that these get.
    pub open: Vec<Expr>,
}

/// Binds an UPDATE.
///
/// # Errors
/// [`BindErrorKind`](crate::BindErrorKind) with the place: no such column, a column that is assigned twice.
pub fn update(statement: &Update, catalog: &dyn CatalogReader, params: Params<'_>) -> Result<BoundUpdate> {
    let table = resolve(catalog, &statement.table)?;
    let Update { table: name, dynamic, alias, assignments, from, selection, hints, span, .. } = statement;
    let dynamic = dynamic_of_one(dynamic.as_ref(), from.is_empty())?;
    if let Some(list) = dynamic {
        check_not_assigned(list, assignments)?;
    }
    let dynamic = dynamic.map(|list| list.text.as_str());
    let named = NamedTable { table: name, dynamic, alias: alias.as_ref(), hints, span: *span };
    let mut assigned = AssignedRows::new(named, &table, assignments, params)?;
    let select = select_of(&mut assigned.query)?;
    select.from.extend(from.iter().cloned());
    select.selection.clone_from(selection);
    assigned.query.has_sequences |= statement.has_sequences;
    let AssignedRows { query, moves_rows, open } = assigned;
    Ok(BoundUpdate { table, query, moves_rows, is_joined: !from.is_empty(), open })
}

/// # Errors
/// A dynamic column among those that are assigned.
fn check_not_assigned(list: &Name, assignments: &[Assignment]) -> Result<()> {
    let dynamic = dynamic_columns(&list.text, list.span)?;
    for Assignment { column, .. } in assignments {
        if dynamic.iter().any(|it| is_same_name(&it.column.to_string(), &column.to_string())) {
            let error = BindErrorKind::NotSupported(format!("UPDATE of the dynamic column {column}"));
            return Err(BindError::from(error)
                .at(Some(column.span()))
                .help("UPSERT writes it: UPSERT INTO t (k, extra VARCHAR) SELECT k, 'x' FROM t WHERE .."));
        }
    }
    Ok(())
}

/// All rows of a table with new values, as in [`BoundUpdate`].
pub(crate) struct AssignedRows {
    pub(crate) query: QueryStatement,
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
        let columns = assigned_columns(table, assignments)?;
        let def = table.def();
        let (mut query, mut open) = (named.rows(&column_names(table))?, Vec::new());
        let is_sequence = |it: &Assignment, column: &usize| has_computed_default(&it.value, def.columns.get(*column));
        query.has_sequences = assignments.iter().zip(&columns).any(|(it, column)| is_sequence(it, column));
        let select = select_of(&mut query)?;
        for (assignment, &column) in assignments.iter().zip(&columns) {
            // The row key is the first item.
            if let (Some(target), Some(item)) = (def.columns.get(column), select.projection.get_mut(column + 1)) {
                if is_generated(def, target, &assignment.value)? {
                    continue;
                }
                check_identity(def, target, Some(&assignment.value), None)?;
                *item = SelectItem::UnnamedExpr(assigned_value(&assignment.value, target, params, &mut open)?);
            }
        }
        let moves_rows = columns.iter().any(|&column| def.key.position(column).is_some());
        Ok(Self { query, moves_rows, open })
    }
}

/// Whether a value is the DEFAULT of a column that is computed for each row: it may be a value of a sequence.
pub(crate) fn has_computed_default(value: &ast::Expr, target: Option<&ColumnDef>) -> bool {
    let default = target.and_then(|target| target.default.as_ref());
    is_default(value) && default.is_some_and(|default| default.is_of_new_row())
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
        (false, _, Some(index)) if matches!(params, Params::Open) => {
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
