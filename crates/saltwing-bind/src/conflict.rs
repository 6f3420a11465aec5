//! The clause of an INSERT or UPSERT for rows whose keys are there.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_sql::statement::{Assignment, ConflictAction, ConflictClause, OnConflict};
use saltwing_sql::{ColumnName, DynamicColumn, is_default};
use saltwing_types::{ColumnDef, Expr, Value, typing};

use crate::error::{BindError, BindErrorKind, Result};
use crate::generated::is_generated;
use crate::identity::check_identity;
use crate::lower::{Lowerer, Params};
use crate::scope::Scope;
use crate::target::target_columns;
use crate::view::with_dynamic_values;
use crate::written_columns::assigned_columns;

/// The change of a row that is there.
pub struct ConflictUpdate {
    /// Columns, by index, with their new values.
    ///
    /// Expressions read the columns of the row that is there by their index in the table, and those of the row that would be
    /// written behind [`Table::width`].
    pub assignments: Vec<(usize, Expr)>,
    /// The dynamic columns among them, whose indexes come behind those of the table.
    pub dynamic: Vec<ColumnDef>,
    /// Rows for which it is not TRUE stay as they are.
    pub condition: Option<Expr>,
}

/// The handling of a row whose key is there.
pub(crate) enum BoundConflict {
    Plain(OnConflict),
    /// The row is replaced as a whole: columns that are not written get their DEFAULTs.
    ReplaceRow,
    Update(ConflictUpdate),
}

/// Binds the clause, which may name these dynamic columns.
pub(crate) fn conflict(
    clause: &ConflictClause,
    table: &Arc<Table>,
    known: &[DynamicColumn],
    params: Params<'_>,
) -> Result<BoundConflict> {
    let place = |error: BindErrorKind| BindError::from(error).at(Some(clause.span));
    if table.def().has_hidden_key() {
        let text = format!("{} has no primary key: its rows have no conflicts", table.def().name);
        return Err(place(BindErrorKind::Syntax(text)));
    }
    if let Some(columns) = &clause.columns {
        check_target(columns, table)?;
    }
    Ok(match &clause.action {
        ConflictAction::Ignore => BoundConflict::Plain(OnConflict::Ignore),
        ConflictAction::Replace => BoundConflict::ReplaceRow,
        ConflictAction::Update { assignments, selection } => {
            let scope = Scope::of(table.clone(), None).with_excluded();
            let lowerer = Lowerer { scope: &scope, params, subqueries: &[], operands: &[], collector: None };
            let lower = |expr: &sqlparser::ast::Expr| {
                let expr = with_dynamic_values(expr, table, known)?;
                lowerer.lower(&expr).map_err(|error| error.into_error())
            };
            let condition =
                selection.as_ref().map(|e| Ok::<_, BindError>(typing::condition(lower(e)?)?)).transpose()?;
            let (columns, dynamic) = assigned_columns(table, assignments, known)?;
            let assignments = assigned(assignments, (&columns, &dynamic), table, lower)?;
            BoundConflict::Update(ConflictUpdate { assignments, dynamic, condition })
        }
    })
}

/// The columns of ON CONFLICT must be those of the key.
fn check_target(columns: &[ColumnName], table: &Arc<Table>) -> Result<()> {
    let named = target_columns(table, Some(columns))?;
    let def = table.def();
    let key: Vec<usize> = def.key.columns.iter().filter_map(|part| part.column()).collect();
    if named.len() == key.len() && key.iter().all(|column| named.contains(column)) {
        return Ok(());
    }
    let names = key.iter().filter_map(|&column| def.columns.get(column)).map(|column| column.name.as_str());
    let text = format!("ON CONFLICT takes the columns of the primary key: {}", names.collect::<Vec<_>>().join(", "));
    Err(BindError::from(BindErrorKind::Syntax(text)).at(columns.first().map(ColumnName::span)))
}

fn assigned(
    assignments: &[Assignment],
    (columns, dynamic): (&[usize], &[ColumnDef]),
    table: &Arc<Table>,
    lower: impl Fn(&sqlparser::ast::Expr) -> Result<Expr>,
) -> Result<Vec<(usize, Expr)>> {
    let def = table.def();
    let mut assigned = Vec::with_capacity(columns.len());
    for (assignment, &column) in assignments.iter().zip(columns) {
        if def.key.position(column).is_some() {
            let text = format!("{} is a column of the key, which stays", assignment.column);
            return Err(BindError::from(BindErrorKind::Syntax(text))
                .at(Some(assignment.column.span()))
                .help("UPDATE can change the key of a row"));
        }
        let Some(target) = def.written_column(dynamic, column) else { continue };
        if is_generated(def, target, &assignment.value)? {
            continue;
        }
        check_identity(def, target, Some(&assignment.value), None)?;
        let value = match (is_default(&assignment.value), &target.default) {
            (false, _) => lower(&assignment.value)?,
            (true, Some(default)) if default.is_of_new_row() => {
                let text = format!("DEFAULT of {} here, which is computed for each row,", target.name);
                return Err(BindError::from(BindErrorKind::NotSupported(text)).at(Some(assignment.column.span())));
            }
            (true, Some(default)) => default.expr.clone(),
            (true, None) => Expr::Literal(Value::Null, target.ty),
        };
        assigned.push((column, value));
    }
    Ok(assigned)
}
