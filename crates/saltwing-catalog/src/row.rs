//! Values in the rows of the catalog's tables.

use saltwing_types::{ObjectId, SchemaDef, SequenceDef, SequencePosition, TableName, UserDef, Value, ViewDef};

use crate::{CatalogError, record};

pub(crate) fn name_values(name: &TableName) -> [Value; 2] {
    [Value::Text(name.schema.clone().unwrap_or_default()), Value::Text(name.name.clone())]
}

pub(crate) fn text(row: &[Value], column: usize) -> Result<&str, CatalogError> {
    match row.get(column) {
        Some(Value::Text(text)) => Ok(text),
        other => Err(CatalogError::Corrupt(format!("column {column} of a catalog row is {other:?}"))),
    }
}

/// The schema whose definition a row of the catalog holds. Rows of the formats up to 8 have no definition, and no number.
///
/// # Errors
/// As [`record::schema::read`]; [`CatalogError::Corrupt`] for the definition of another schema.
pub(crate) fn defined_schema(row: &[Value]) -> Result<SchemaDef, CatalogError> {
    let name = text(row, 0)?;
    let def = match row.get(1) {
        Some(Value::Null) => SchemaDef { id: ObjectId::NEW, name: name.to_owned() },
        _ => record::schema::read(name, text(row, 1)?)?,
    };
    match def.name == name {
        true => Ok(def),
        false => Err(CatalogError::Corrupt(format!("the definition of schema {name} names another one"))),
    }
}

/// The sequence whose definition a row of the catalog holds, and its position.
///
/// # Errors
/// As [`record::sequence::read`]; [`CatalogError::Corrupt`] for the definition of another sequence.
pub(crate) fn defined_sequence(row: &[Value]) -> Result<(SequenceDef, SequencePosition), CatalogError> {
    let (def, position) = record::sequence::read(text(row, 1)?, text(row, 2)?)?;
    check_name(row, "sequence", &def.name)?;
    Ok((def, position))
}

/// The view whose definition a row of the catalog holds.
///
/// # Errors
/// As [`record::view::read`]; [`CatalogError::Corrupt`] for the definition of another view.
pub(crate) fn defined_view(row: &[Value]) -> Result<ViewDef, CatalogError> {
    let def = record::view::read(text(row, 1)?, text(row, 2)?)?;
    check_name(row, "view", &def.name)?;
    Ok(def)
}

/// The user whose definition a row of the catalog holds.
///
/// # Errors
/// As [`record::user::read`]; [`CatalogError::Corrupt`] for the definition of another user.
pub(crate) fn defined_user(row: &[Value]) -> Result<UserDef, CatalogError> {
    let name = text(row, 0)?;
    let def = record::user::read(name, text(row, 1)?)?;
    match def.name == name {
        true => Ok(def),
        false => Err(CatalogError::Corrupt(format!("the definition of user {name} names another one"))),
    }
}

/// # Errors
/// [`CatalogError::Corrupt`] if the key of a row is not the name in its definition.
pub(crate) fn check_name(row: &[Value], what: &str, defined: &TableName) -> Result<(), CatalogError> {
    let (schema, name) = (text(row, 0)?, text(row, 1)?);
    match defined.name == name && defined.schema.as_deref().unwrap_or_default() == schema {
        true => Ok(()),
        false => Err(CatalogError::Corrupt(format!("the definition of {what} {name} names another one"))),
    }
}
