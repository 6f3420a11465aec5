//! Descriptors of tables.

use bytes::Bytes;

use crate::error::Error;
use crate::proto::{BytesBytesPair, ColumnFamilySchema, TableSchema};
use crate::table_name::TableName;

/// The descriptor of a table: its name, its column families, and attributes of both by names, such as `COMPRESSION` or `coprocessor$1`.
#[derive(Clone, Debug, PartialEq)]
pub struct TableDescriptor(TableSchema);

/// The descriptor of a column family.
#[derive(Clone, Debug, PartialEq)]
pub struct Family(ColumnFamilySchema);

fn pair(name: &str, value: &[u8]) -> BytesBytesPair {
    BytesBytesPair { first: Bytes::copy_from_slice(name.as_bytes()), second: Bytes::copy_from_slice(value) }
}

fn value<'p>(pairs: &'p [BytesBytesPair], name: &str) -> Option<&'p [u8]> {
    pairs.iter().find(|pair| pair.first == name.as_bytes()).map(|pair| &pair.second[..])
}

impl Family {
    /// A family with the cluster's own attributes.
    pub fn new(name: impl Into<Bytes>) -> Self {
        Self(ColumnFamilySchema { name: name.into(), ..ColumnFamilySchema::default() })
    }

    /// An attribute, such as `VERSIONS`.
    #[must_use]
    pub fn attribute(mut self, name: &str, value: &str) -> Self {
        self.0.attributes.push(pair(name, value.as_bytes()));
        self
    }

    /// The name.
    pub fn name(&self) -> &Bytes {
        &self.0.name
    }

    /// A family like this one, of another name.
    #[must_use]
    pub fn named(&self, name: impl Into<Bytes>) -> Self {
        Self(ColumnFamilySchema { name: name.into(), ..self.0.clone() })
    }

    pub(super) fn message(&self) -> &ColumnFamilySchema {
        &self.0
    }

    /// The value of an attribute.
    pub fn value(&self, name: &str) -> Option<&[u8]> {
        value(&self.0.attributes, name)
    }
}

impl TableDescriptor {
    /// A table with these families.
    pub fn new(name: &TableName, families: impl IntoIterator<Item = Family>) -> Self {
        let column_families = families.into_iter().map(|family| family.0).collect();
        Self(TableSchema { table_name: Some(name.message()), column_families, ..TableSchema::default() })
    }

    /// An attribute, such as `coprocessor$1`.
    #[must_use]
    pub fn attribute(mut self, name: &str, value: &str) -> Self {
        self.0.attributes.push(pair(name, value.as_bytes()));
        self
    }

    /// The table's name.
    ///
    /// # Errors
    /// [`Error::TableName`] if the master gave a name that is none.
    pub fn name(&self) -> Result<TableName, Error> {
        self.0.table_name.as_ref().map_or_else(|| Err(Error::TableName { name: String::new() }), TableName::of_message)
    }

    /// The column families.
    pub fn families(&self) -> impl Iterator<Item = Family> {
        self.0.column_families.iter().cloned().map(Family)
    }

    /// The value of an attribute.
    pub fn value(&self, name: &str) -> Option<&[u8]> {
        value(&self.0.attributes, name)
    }

    /// The descriptor's message, with everything that it has.
    pub fn message(&self) -> &TableSchema {
        &self.0
    }

    /// The descriptor of a message.
    pub fn of_message(message: TableSchema) -> Self {
        Self(message)
    }
}
