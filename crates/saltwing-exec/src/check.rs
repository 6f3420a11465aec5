//! Rows by the rules of their table: generated columns and CHECK constraints.

use std::borrow::Cow;
use std::sync::Arc;

use saltwing_access::{KeySet, ScanContext, ScanRoute, ScanSpec, Snapshot, Table};
use saltwing_bind::{RowCheck, RowRules};
use saltwing_types::{SqlType, Value, typing};

use crate::ExecError;
use crate::row_values::{key_text, row_of_batch};

/// A row of all columns with the values of its generated columns.
pub(crate) fn complete_row<'r>(
    rules: Option<&RowRules>,
    table: &Table,
    row: Cow<'r, [Value]>,
) -> Result<Cow<'r, [Value]>, ExecError> {
    let Some(rules) = rules else { return Ok(row) };
    rules.complete(row).map_err(|(column, source)| {
        let def = table.def();
        let column = def.columns.get(column).map(|column| format!("{}.{}", def.name, column.name));
        ExecError::Value { column, source }
    })
}

/// Checks a complete row that is to be written.
pub(crate) fn check_row(rules: Option<&RowRules>, table: &Table, row: &[Value]) -> Result<(), ExecError> {
    let Some(checks) = rules.and_then(RowRules::checks) else { return Ok(()) };
    let failed = |(constraint, source): (&str, _)| ExecError::Value {
        column: Some(format!("CHECK {constraint} of {}", table.def().name)),
        source,
    };
    match checks.broken_by(row).map_err(failed)? {
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
