//! Options of tables, as Phoenix and HBase have them.

use saltwing_phoenix::{QualifierScheme, StorageScheme, TableDefinition, TableProperties};
use saltwing_types::table::{IMMUTABLE_ROWS, ROW_TIMESTAMP, SPLIT_KEYS, SPLIT_ON};
use saltwing_types::{TableDef, Value};

/// Options of column families, which HBase reads.
const OF_FAMILIES: [&str; 10] = [
    "BLOCKCACHE",
    "BLOCKSIZE",
    "BLOOMFILTER",
    "COMPRESSION",
    "DATA_BLOCK_ENCODING",
    "IN_MEMORY",
    "KEEP_DELETED_CELLS",
    "MIN_VERSIONS",
    "REPLICATION_SCOPE",
    "VERSIONS",
];
/// Options of HBase tables.
const OF_TABLES: [&str; 2] = ["MAX_FILESIZE", "MEMSTORE_FLUSHSIZE"];

/// The options of a new table that HBase reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HbaseOptions {
    /// Of the table.
    pub(super) table: Vec<(String, String)>,
    /// Of one family, or of all.
    pub(super) families: Vec<(Option<String>, String, String)>,
}

/// Puts the options of a table into the definition, its properties and the options of HBase.
///
/// # Errors
/// An option that a cluster has not, as a sentence.
pub(super) fn set_options(
    def: &TableDef,
    definition: &mut TableDefinition,
    properties: &mut TableProperties,
) -> Result<HbaseOptions, String> {
    let mut hbase = HbaseOptions::default();
    hbase.families.extend(def.ttl_s.map(|ttl_s| (None, "TTL".to_owned(), ttl_s.to_string())));
    let value = |name: &str| def.option(name);
    definition.immutable = value(IMMUTABLE_ROWS).map(|value| flag(IMMUTABLE_ROWS, value)).transpose()?.unwrap_or(false);
    if definition.immutable {
        definition.storage = StorageScheme::CellPerFamily;
    }
    for option in &def.options {
        let (family, name) = option.name.rsplit_once('.').map_or((None, &*option.name), |(of, name)| (Some(of), name));
        match name {
            _ if OF_FAMILIES.contains(&name) => {
                hbase.families.push((family.map(str::to_owned), name.to_owned(), shown(&option.value)));
            }
            _ if family.is_some() => return Err(format!("{name} is no option of a column family")),
            _ if OF_TABLES.contains(&name) => hbase.table.push((name.to_owned(), shown(&option.value))),
            SPLIT_ON | SPLIT_KEYS | ROW_TIMESTAMP | IMMUTABLE_ROWS => {}
            "IMMUTABLE_STORAGE_SCHEME" => definition.storage = storage(&option.value)?,
            "COLUMN_ENCODED_BYTES" => definition.qualifiers = qualifiers(&option.value)?,
            "DEFAULT_COLUMN_FAMILY" => definition.default_family = Some(shown(&option.value)),
            "DISABLE_WAL" => definition.wal_disabled = flag(name, &option.value)?,
            "STORE_NULLS" => definition.store_nulls = flag(name, &option.value)?,
            "UPDATE_CACHE_FREQUENCY" => properties.update_cache_ms = update_cache_ms(&option.value)?,
            "GUIDE_POSTS_WIDTH" => properties.guide_posts_width = Some(number(name, &option.value)?),
            "USE_STATS_FOR_PARALLELIZATION" => properties.uses_statistics = Some(flag(name, &option.value)?),
            "TRANSACTIONAL" if !flag(name, &option.value)? => {}
            other => return Err(format!("the option {other} is not of a cluster")),
        }
    }
    if definition.storage == StorageScheme::CellPerFamily && definition.qualifiers == QualifierScheme::Names {
        definition.storage = StorageScheme::CellPerColumn;
    }
    Ok(hbase)
}

/// The value as HBase reads it.
fn shown(value: &Value) -> String {
    match value {
        Value::Text(text) => text.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        _ => "NONE".to_owned(),
    }
}

fn flag(name: &str, value: &Value) -> Result<bool, String> {
    match shown(value).to_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        other => Err(format!("{name} is true or false, and not {other}")),
    }
}

fn number(name: &str, value: &Value) -> Result<i64, String> {
    shown(value).parse().map_err(|_| format!("{name} is a number, and not {}", shown(value)))
}

fn storage(value: &Value) -> Result<StorageScheme, String> {
    match shown(value).to_uppercase().as_str() {
        "ONE_CELL_PER_COLUMN" => Ok(StorageScheme::CellPerColumn),
        "SINGLE_CELL_ARRAY_WITH_OFFSETS" => Ok(StorageScheme::CellPerFamily),
        other => Err(format!("there is no IMMUTABLE_STORAGE_SCHEME {other}")),
    }
}

fn qualifiers(value: &Value) -> Result<QualifierScheme, String> {
    let known = shown(value).replace("NONE", "0").parse().ok().and_then(QualifierScheme::from_number);
    known.ok_or_else(|| format!("COLUMN_ENCODED_BYTES is a number from 0 to 4, and not {}", shown(value)))
}

fn update_cache_ms(value: &Value) -> Result<i64, String> {
    match shown(value).to_uppercase().as_str() {
        "ALWAYS" => Ok(0),
        "NEVER" => Ok(i64::MAX),
        _ => number("UPDATE_CACHE_FREQUENCY", value),
    }
}
