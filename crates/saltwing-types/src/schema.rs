//! The definition of a schema.

use crate::ObjectId;

/// A schema: a part of the name space of tables, views and sequences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaDef {
    /// Its number.
    pub id: ObjectId,
    /// Its name; names of schemas differ in more than case.
    pub name: String,
}
