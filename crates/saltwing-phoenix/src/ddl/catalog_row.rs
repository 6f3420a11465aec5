//! Rows of the catalog that a change writes.

use prost::Message;

use super::message::{ColumnValue, MutationProto, QualifierValue};
use crate::{CATALOG_FAMILY, CatalogKey, CatalogKeys, PhoenixError, TableDefinition};

/// A mutation that writes cells, one that deletes them, and what is deleted: a family of a row.
const PUT: i32 = 2;
const DELETE: i32 = 3;
const DELETE_FAMILY: i32 = 2;

/// A row of `SYSTEM.CATALOG` that a change writes or deletes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogRow {
    /// Its row key.
    pub key: Vec<u8>,
    /// What becomes of it.
    pub change: RowChange,
}

/// What becomes of a row of the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowChange {
    /// Cells are written: qualifier and value of each.
    Put(Vec<(&'static str, Vec<u8>)>),
    /// The whole row is deleted.
    Delete,
}

impl CatalogRow {
    /// A row that is written. It gets the cell that every row has.
    pub(super) fn put(key: Vec<u8>, mut cells: Vec<(&'static str, Vec<u8>)>) -> Self {
        cells.push(("_0", b"x".to_vec()));
        Self { key, change: RowChange::Put(cells) }
    }

    /// As a message in a request.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let value = |(qualifier, value): &(&str, Vec<u8>)| QualifierValue {
            qualifier: Some(qualifier.as_bytes().to_vec()),
            value: Some(value.clone()),
            delete_type: None,
        };
        let (kind, values) = match &self.change {
            RowChange::Put(cells) => (PUT, cells.iter().map(value).collect()),
            RowChange::Delete => {
                let family =
                    QualifierValue { qualifier: Some(Vec::new()), value: None, delete_type: Some(DELETE_FAMILY) };
                (DELETE, vec![family])
            }
        };
        let column_value = vec![ColumnValue { family: CATALOG_FAMILY.as_bytes().to_vec(), values }];
        let message =
            MutationProto { row: Some(self.key.clone()), mutate_type: Some(kind), column_value, durability: Some(0) };
        message.encode_to_vec()
    }
}

/// The keys of a table's rows.
pub(super) struct TableKeys {
    keys: CatalogKeys,
    table: CatalogKey,
}

impl TableKeys {
    pub(super) fn of(table: &TableDefinition) -> Result<Self, PhoenixError> {
        let key = CatalogKey {
            tenant: table.tenant.clone(),
            schema: table.schema.clone(),
            table: Some(table.name.clone()),
            ..CatalogKey::default()
        };
        Ok(Self { keys: CatalogKeys::new()?, table: key })
    }

    /// That of the table as a whole.
    pub(super) fn header(&self) -> Result<Vec<u8>, PhoenixError> {
        Ok(self.keys.encode(&self.table)?)
    }

    /// That of a column.
    pub(super) fn column(&self, name: &str, family: Option<&str>) -> Result<Vec<u8>, PhoenixError> {
        let (column, family) = (Some(name.to_owned()), family.map(str::to_owned));
        Ok(self.keys.encode(&CatalogKey { column, family, ..self.table.clone() })?)
    }

    /// That of the number of a family's next column.
    pub(super) fn counter(&self, family: &str) -> Result<Vec<u8>, PhoenixError> {
        Ok(self.keys.encode(&CatalogKey { family: Some(family.to_owned()), ..self.table.clone() })?)
    }
}
