//! The numbers of columns, of which their qualifiers are made.

use crate::{ColumnDefinition, FIRST_QUALIFIER, PhoenixError, QualifierScheme, TableDefinition};

/// Gives qualifiers to the columns that have none, in their order, and counts the numbers on.
///
/// # Errors
/// [`PhoenixError::Format`] if a family has no number left.
pub fn numbered_columns(table: &mut TableDefinition) -> Result<(), PhoenixError> {
    let mut columns = std::mem::take(&mut table.columns);
    let numbered = columns.iter_mut().try_for_each(|column| number(table, column));
    table.columns = columns;
    numbered
}

fn number(table: &mut TableDefinition, column: &mut ColumnDefinition) -> Result<(), PhoenixError> {
    let Some(family) = column.family.as_deref().filter(|_| column.qualifier.is_none()) else { return Ok(()) };
    if table.qualifiers == QualifierScheme::Names {
        column.qualifier = Some(column.name.clone().into_bytes());
        return Ok(());
    }
    let counting = table.counting_family(family).to_owned();
    let known = table.counters.iter().position(|(family, _)| *family == counting);
    let at = known.unwrap_or_else(|| {
        table.counters.push((counting, FIRST_QUALIFIER));
        table.counters.len() - 1
    });
    if let Some((family, next)) = table.counters.get_mut(at) {
        let qualifier = table.qualifiers.encode(*next);
        let full = || PhoenixError::Format(format!("family {family} has no number left for column {}", column.name));
        column.qualifier = Some(qualifier.ok_or_else(full)?);
        *next += 1;
    }
    Ok(())
}
