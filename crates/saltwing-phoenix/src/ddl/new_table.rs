//! CREATE TABLE.

use super::call::CatalogCall;
use super::catalog_row::{CatalogRow, TableKeys};
use super::catalog_value::{big_int, boolean, count, int, text, tiny_int};
use super::column_rows::{column_row, counter_rows};
use crate::{PhoenixError, TableDefinition};

/// What a new table has beside its [`TableDefinition`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableProperties {
    /// UPDATE_CACHE_FREQUENCY in milliseconds: how long Phoenix's clients believe a definition; 0 is not at all.
    pub update_cache_ms: i64,
    /// GUIDE_POSTS_WIDTH in bytes.
    pub guide_posts_width: Option<i64>,
    /// USE_STATS_FOR_PARALLELIZATION.
    pub uses_statistics: Option<bool>,
}

/// A new table: the rows of the catalog, and the call that writes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTable {
    /// The rows, that of the table first.
    pub rows: Vec<CatalogRow>,
    /// The call.
    pub call: CatalogCall,
}

/// A new table by its definition, whose time and number of changes are 0, and whose columns have qualifiers
/// ([`numbered_columns`](crate::numbered_columns)).
///
/// # Errors
/// [`PhoenixError::ColumnType`] for a type that Phoenix has not; [`PhoenixError::Key`] for a name that no table can have.
pub fn new_table(table: &TableDefinition, properties: &TableProperties) -> Result<NewTable, PhoenixError> {
    let keys = TableKeys::of(table)?;
    let mut rows = vec![CatalogRow::put(keys.header()?, header(table, properties))];
    for place in 0..table.columns.len() {
        rows.push(column_row(table, &keys, place)?);
    }
    rows.extend(counter_rows(table, &keys, &[])?);
    let call = CatalogCall::create_table(keys.header()?, &rows);
    Ok(NewTable { rows, call })
}

fn header(table: &TableDefinition, properties: &TableProperties) -> Vec<(&'static str, Vec<u8>)> {
    let columns = table.columns.len() + usize::from(table.salt_buckets.is_some());
    let mut cells = vec![
        ("TABLE_TYPE", text("u")),
        ("TABLE_SEQ_NUM", big_int(table.sequence_number)),
        ("COLUMN_COUNT", count(columns)),
        ("IMMUTABLE_ROWS", boolean(table.immutable)),
        ("DISABLE_WAL", boolean(table.wal_disabled)),
        ("MULTI_TENANT", boolean(table.multi_tenant)),
        ("STORE_NULLS", boolean(table.store_nulls)),
        ("IS_NAMESPACE_MAPPED", boolean(table.namespace_mapped)),
        ("APPEND_ONLY_SCHEMA", boolean(false)),
        ("UPDATE_CACHE_FREQUENCY", big_int(properties.update_cache_ms)),
        ("BASE_COLUMN_COUNT", int(-1)),
        ("IMMUTABLE_STORAGE_SCHEME", tiny_int(table.storage.number())),
        ("ENCODING_SCHEME", tiny_int(table.qualifiers.number())),
    ];
    cells.extend(table.salt_buckets.map(|buckets| ("SALT_BUCKETS", int(buckets.into()))));
    cells.extend(table.key_name.as_deref().map(|name| ("PK_NAME", text(name))));
    cells.extend(table.default_family.as_deref().map(|family| ("DEFAULT_COLUMN_FAMILY", text(family))));
    cells.extend(properties.guide_posts_width.map(|width| ("GUIDE_POSTS_WIDTH", big_int(width))));
    cells.extend(properties.uses_statistics.map(|uses| ("USE_STATS_FOR_PARALLELIZATION", boolean(uses))));
    cells
}
