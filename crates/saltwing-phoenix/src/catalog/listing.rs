//! Which rows of the catalog are tables.

use saltwing_rowkey::RowKeyError;

use super::key::CatalogKeys;
use crate::{CellRef, PhoenixError};

/// The HBase table with the catalog.
pub const CATALOG_TABLE: &str = "SYSTEM.CATALOG";
/// The same if Phoenix's schemas are namespaces of HBase.
pub const CATALOG_TABLE_IN_NAMESPACE: &str = "SYSTEM:CATALOG";
/// The family of the catalog's cells.
pub const CATALOG_FAMILY: &str = "0";
/// What a scan that lists tables has to read: rows without these cells are none.
pub const LISTED_QUALIFIERS: [&str; 2] = [TABLE_TYPE, DATA_TABLE_NAME];

const TABLE_TYPE: &str = "TABLE_TYPE";
const DATA_TABLE_NAME: &str = "DATA_TABLE_NAME";

/// A table, a view or an index, as a listing has it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ListedTable {
    /// The tenant whose view it is.
    pub tenant: Option<String>,
    /// Schema.
    pub schema: Option<String>,
    /// Name.
    pub name: String,
    /// Kind.
    pub kind: ListedKind,
    /// Of an index its table, in the same schema.
    pub data_table: Option<String>,
}

/// Kinds of what a listing has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListedKind {
    /// A table of Phoenix itself.
    System,
    /// A table.
    Table,
    /// A view.
    View,
    /// An index.
    Index,
    /// Another kind; the letter is that of the catalog.
    Other(char),
}

/// Reads the rows of `SYSTEM.CATALOG` one after the other.
///
/// Links between tables have the cell `TABLE_TYPE`, too: the key tells a table.
#[derive(Clone, Debug)]
pub struct CatalogListing {
    keys: CatalogKeys,
}

impl CatalogListing {
    /// A reader of rows.
    ///
    /// # Errors
    /// Never: only the constructor of codecs can fail, and the catalog's key is sound.
    pub fn new() -> Result<Self, RowKeyError> {
        Ok(Self { keys: CatalogKeys::new()? })
    }

    /// The table of this row; `None` if it is a row of a column, of a link, of a counter or of a schema.
    ///
    /// # Errors
    /// [`PhoenixError`] for a key that is none of the catalog, and for a cell that has no kind of a table or no name.
    pub fn read<'c>(
        &self,
        key: &[u8],
        cells: impl IntoIterator<Item = CellRef<'c>>,
    ) -> Result<Option<ListedTable>, PhoenixError> {
        let key = self.keys.decode(key)?;
        if !key.is_header() {
            return Ok(None);
        }
        let (mut kind, mut data_table) = (None, None);
        for cell in cells.into_iter().filter(|cell| cell.family == CATALOG_FAMILY.as_bytes()) {
            match cell.qualifier {
                qualifier if qualifier == TABLE_TYPE.as_bytes() && kind.is_none() => kind = Some(cell.value),
                qualifier if qualifier == DATA_TABLE_NAME.as_bytes() && data_table.is_none() => {
                    data_table = Some(cell.value);
                }
                _ => {}
            }
        }
        let (Some(name), Some(kind)) = (key.table, kind) else { return Ok(None) };
        let broken = |what: &str| PhoenixError::CorruptCatalog { table: name.clone(), reason: what.to_owned() };
        let kind = ListedKind::of_cell(kind).ok_or_else(|| broken("its TABLE_TYPE is no letter"))?;
        let data_table = data_table.map(|name| String::from_utf8(name.to_vec())).transpose();
        let data_table = data_table.map_err(|_| broken("its DATA_TABLE_NAME is not UTF-8"))?;
        let data_table = data_table.filter(|name| !name.is_empty());
        Ok(Some(ListedTable { tenant: key.tenant, schema: key.schema, name, kind, data_table }))
    }
}

impl ListedKind {
    fn of_cell(value: &[u8]) -> Option<Self> {
        let [letter] = value else { return None };
        match letter {
            b's' => Some(Self::System),
            b'u' => Some(Self::Table),
            b'v' => Some(Self::View),
            b'i' => Some(Self::Index),
            letter => letter.is_ascii_graphic().then(|| Self::Other(char::from(*letter))),
        }
    }
}
