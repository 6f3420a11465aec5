//! Keys of the catalog's rows.

use saltwing_rowkey::{RowKeyCodec, RowKeyError};
use saltwing_types::{KeyColumn, KeySchema, KeySource, SortOrder, SqlType, Value};

/// The columns of the key, all of them VARCHAR.
const COLUMNS: [&str; 5] = ["TENANT_ID", "TABLE_SCHEM", "TABLE_NAME", "COLUMN_NAME", "COLUMN_FAMILY"];

/// The key of a row of `SYSTEM.CATALOG`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CatalogKey {
    /// The tenant whose view it is.
    pub tenant: Option<String>,
    /// Schema.
    pub schema: Option<String>,
    /// Table, view or index.
    pub table: Option<String>,
    /// Column.
    pub column: Option<String>,
    /// Family of a column; without a column the table that is linked, or the family that is counted.
    pub family: Option<String>,
}

impl CatalogKey {
    /// Whether the row has what is known of a table as a whole.
    pub fn is_header(&self) -> bool {
        self.table.is_some() && self.column.is_none() && self.family.is_none()
    }
}

/// Encodes and decodes keys of the catalog.
#[derive(Clone, Debug)]
pub struct CatalogKeys {
    codec: RowKeyCodec,
}

impl CatalogKeys {
    /// The codec, which is the same for all catalogs.
    ///
    /// # Errors
    /// Never: only the constructor of codecs can fail, and this key is sound.
    pub fn new() -> Result<Self, RowKeyError> {
        let column = |(place, name): (usize, &&str)| KeyColumn {
            source: KeySource::Column(place),
            name: (*name).to_owned(),
            ty: SqlType::Varchar(None),
            order: SortOrder::Asc,
            nullable: true,
        };
        let columns = COLUMNS.iter().enumerate().map(column).collect();
        Ok(Self { codec: RowKeyCodec::new(&KeySchema { columns, salt: None })? })
    }

    /// The bytes of a key.
    ///
    /// # Errors
    /// [`RowKeyError`] for names that no table can have: empty ones, and ones with a NUL byte.
    pub fn encode(&self, key: &CatalogKey) -> Result<Vec<u8>, RowKeyError> {
        let value = |name: &Option<String>| name.as_ref().map_or(Value::Null, Value::text);
        let values = [&key.tenant, &key.schema, &key.table, &key.column, &key.family].map(value);
        let mut out = Vec::new();
        self.codec.encode_into(&values, &mut out)?;
        Ok(out)
    }

    /// The key of a row.
    ///
    /// # Errors
    /// [`RowKeyError::Corrupt`] for bytes that are no key of the catalog.
    pub fn decode(&self, key: &[u8]) -> Result<CatalogKey, RowKeyError> {
        let mut values = self.codec.decode(key)?.into_iter();
        let mut next = || match values.next() {
            Some(Value::Text(text)) if !text.is_empty() => Some(text),
            _ => None,
        };
        Ok(CatalogKey { tenant: next(), schema: next(), table: next(), column: next(), family: next() })
    }
}
