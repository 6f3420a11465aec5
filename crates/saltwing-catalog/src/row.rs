//! Values in the rows of the catalog's tables.

use saltwing_types::{SequenceDef, SequencePosition, TableName, Value};

use crate::CatalogError;
use crate::record::sequence as record;

pub(crate) fn name_values(name: &TableName) -> [Value; 2] {
    [Value::Text(name.schema.clone().unwrap_or_default()), Value::Text(name.name.clone())]
}

pub(crate) fn text(row: &[Value], column: usize) -> Result<&str, CatalogError> {
    match row.get(column) {
        Some(Value::Text(text)) => Ok(text),
        other => Err(CatalogError::Corrupt(format!("column {column} of a catalog row is {other:?}"))),
    }
}

/// The sequence whose definition a row of the catalog holds, and its position.
///
/// # Errors
/// As [`record::read`]; [`CatalogError::Corrupt`] for the definition of another sequence.
pub(crate) fn defined_sequence(row: &[Value]) -> Result<(SequenceDef, SequencePosition), CatalogError> {
    let (schema, name) = (text(row, 0)?, text(row, 1)?);
    let (def, position) = record::read(name, text(row, 2)?)?;
    if def.name.name != name || def.name.schema.as_deref().unwrap_or_default() != schema {
        return Err(CatalogError::Corrupt(format!("the definition of sequence {name} names another one")));
    }
    Ok((def, position))
}
