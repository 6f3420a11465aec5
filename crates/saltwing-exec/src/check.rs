//! Rows against the CHECK constraints of their table.

use std::sync::Arc;

use saltwing_access::{KeySet, ScanContext, ScanRoute, ScanSpec, Snapshot, Table};
use saltwing_bind::{RowCheck, RowChecks};
use saltwing_types::{SqlType, Value, typing};

use crate::ExecError;
use crate::row_values::{key_text, row_of_batch};

/// Checks a row of all columns that is to be written.
pub(crate) fn check_row(checks: &RowChecks, table: &Table, row: &[Value]) -> Result<(), ExecError> {
    match checks.broken_by(row)? {
        None => Ok(()),
        Some(constraint) => Err(broken(table, constraint, row)),
    }
}

/// The error of a stored row for which a condition is FALSE, if there is one. It reads the table up to that row.
///
/// # Errors
/// The scan's; those of the condition.
pub fn broken_row(
    table: &Arc<Table>,
    check: &RowCheck,
    rows: &dyn Snapshot,
    context: ScanContext,
) -> Result<Option<ExecError>, ExecError> {
    let columns: Vec<usize> = (0..table.def().columns.len()).collect();
    let types: Vec<SqlType> = columns.iter().map(|&column| table.column_type(column)).collect();
    let spec = ScanSpec::new(table, columns.clone(), vec![typing::not(check.condition.clone())?])?;
    let mut scan = rows.scan(&spec, ScanRoute::of(KeySet::all()), context)?;
    while let Some(batch) = scan.next_batch()? {
        if batch.num_rows() > 0 {
            let row = row_of_batch(table, (&columns, &[]), &types, &batch, (0, 0))?;
            return Ok(Some(broken(table, &check.name, &row)));
        }
    }
    Ok(None)
}

fn broken(table: &Table, constraint: &str, row: &[Value]) -> ExecError {
    ExecError::Check {
        table: table.def().name.to_string(),
        constraint: constraint.to_owned(),
        key: key_text(table, row),
    }
}
