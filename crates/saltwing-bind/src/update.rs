//! UPDATE over one table: a query gives the keys of the rows and the rows as they will be.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use saltwing_sql::is_default;
use saltwing_sql::statement::{QueryStatement, Update};
use saltwing_types::{Expr, SqlType};
use sqlparser::ast::{self, SelectItem, SetExpr};

use crate::computed::expr_of;
use crate::error::{BindErrorKind, Result};
use crate::lower::Params;
use crate::parameters::parameter;
use crate::target::{assigned_columns, resolve, rows_query};

/// New values for rows of a table.
pub struct BoundUpdate {
    /// The table.
    pub table: Arc<Table>,
    /// The rows: first the physical key of the row as it is, then the new value of each column of the table, hidden ones too.
    /// A value is of the column's type only where the column is not assigned.
    pub query: QueryStatement,
    /// Whether a column of the key is assigned, so that a row may move.
    pub moves_rows: bool,
    /// The parameters that are assigned, with the types that these get.
    pub open: Vec<Expr>,
}

/// Binds an UPDATE.
///
/// # Errors
/// [`BindErrorKind`] with the place: no such column, a column that is assigned twice.
pub fn update(statement: &Update, catalog: &dyn CatalogReader, params: Params<'_>) -> Result<BoundUpdate> {
    let table = resolve(catalog, &statement.table)?;
    let columns = assigned_columns(&table, &statement.assignments)?;
    let def = table.def();
    let all: Vec<&str> = def.columns.iter().map(|column| column.name.as_str()).collect();
    let Update { alias, selection, hints, span, .. } = statement;
    let mut query = rows_query((&statement.table, alias.as_ref()), &all, selection.as_ref(), hints, *span)?;
    let SetExpr::Select(select) = query.query.body.as_mut() else {
        return Err(BindErrorKind::Syntax("an UPDATE cannot be read as a query".into()).into());
    };
    let mut open = Vec::new();
    for (assignment, &column) in statement.assignments.iter().zip(&columns) {
        let Some(target) = def.columns.get(column) else { continue };
        let value = match (is_default(&assignment.value), &target.default, parameter(&assignment.value)) {
            (true, Some(default), _) => expr_of(&default.text)?,
            (true, None, _) => ast::Expr::value(ast::Value::Null),
            // A parameter without a value has no type of its own: the cast gives it the column's.
            (false, _, Some(index)) if matches!(params, Params::Open) => {
                open.push(Expr::Param(index, Some(target.ty)));
                cast(assignment.value.clone(), target.ty)?
            }
            (false, ..) => assignment.value.clone(),
        };
        // The row key is the first item.
        if let Some(item) = select.projection.get_mut(column + 1) {
            *item = SelectItem::UnnamedExpr(value);
        }
    }
    let moves_rows = columns.iter().any(|&column| def.key.position(column).is_some());
    Ok(BoundUpdate { table, query, moves_rows, open })
}

/// `CAST(value AS ty)`.
fn cast(value: ast::Expr, ty: SqlType) -> Result<ast::Expr> {
    let mut cast = expr_of(&format!("CAST(NULL AS {ty})"))?;
    if let ast::Expr::Cast { expr, .. } = &mut cast {
        **expr = value;
    }
    Ok(cast)
}
