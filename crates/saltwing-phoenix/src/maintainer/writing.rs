//! Maintainers of definitions.

use std::collections::BTreeSet;

use prost::Message;
use saltwing_types::{KeySource, SortOrder};

use super::key_schema::{self, bytes_expected};
use super::message::{ByteSlice, ColumnInfo, ColumnReference, IndexMaintainer};
use crate::serialized_column::{type_number, write_value_column};
use crate::writable::{write_bytes, write_number};
use crate::{IndexDefinition, IndexKind, PhoenixError, RowFormat, StorageScheme, TableDefinition, ValueColumn};

/// A reason without the name of the index.
type Reason = String;

fn number(value: usize) -> Result<i32, Reason> {
    i32::try_from(value).map_err(|_| format!("{value} is a number beyond 32 bits"))
}

/// The value of the attribute with the maintainers of all indexes.
pub(super) fn write_maintainers(
    table: &TableDefinition,
    indexes: &[(&TableDefinition, &IndexDefinition)],
) -> Result<Vec<u8>, PhoenixError> {
    let refused = |index: &str, reason: Reason| PhoenixError::IndexNotKept { index: index.to_owned(), reason };
    let first = indexes.first().map_or("", |(index, _)| index.name.as_str());
    let rows = table.row_format().map_err(|error| refused(first, error.to_string()))?;
    let mut out = Vec::new();
    let count = indexes.len() as i64;
    write_number(if rows.key.salt.is_some() { -count } else { count }, &mut out);
    key_schema::write(&rows.key, &mut out).ok_or_else(|| refused(first, "a type in the key of its table".into()))?;
    for (index, definition) in indexes {
        let maintainer = maintainer(table, &rows, index, definition).map_err(|reason| refused(&index.name, reason))?;
        write_bytes(&maintainer.encode_to_vec(), &mut out);
    }
    Ok(out)
}

/// A column of an index: the column of the table that it is named after.
enum Source<'r> {
    /// A place in the key of the table.
    Key(usize),
    Value(&'r ValueColumn),
}

fn source<'r>(name: &str, rows: &'r RowFormat) -> Result<Source<'r>, Reason> {
    let found = name.split_once(':').and_then(|(family, name)| match family {
        "" => rows.key.columns.iter().position(|column| column.name == name).map(Source::Key),
        family => rows.columns.iter().find(|c| c.family == family && c.name == name).map(Source::Value),
    });
    match found {
        None => Err(format!("its column {name} is an expression")),
        Some(Source::Value(column)) if column.has_default => Err(format!("its column {name} has a DEFAULT")),
        Some(found) => Ok(found),
    }
}

fn reference(column: &ValueColumn) -> ColumnReference {
    ColumnReference { family: column.family.clone().into_bytes(), qualifier: column.qualifier.clone() }
}

/// What the key of an index is made of.
#[derive(Default)]
struct IndexKey {
    columns: Vec<ColumnReference>,
    types: Vec<i32>,
    expressions: Vec<u8>,
    names: Vec<ColumnInfo>,
    bytes_expected: usize,
    /// For each key column of the table its place in the key of the index.
    places: Vec<Option<usize>>,
    /// Places of descending columns.
    descending: Vec<usize>,
}

fn index_key(rows: &RowFormat, entries: &RowFormat) -> Result<IndexKey, Reason> {
    let mut key = IndexKey { places: vec![None; rows.key.columns.len()], ..IndexKey::default() };
    for (place, column) in entries.key.columns.iter().enumerate() {
        debug_assert!(matches!(column.source, KeySource::Column(_)));
        if column.order == SortOrder::Desc {
            key.descending.push(place);
        }
        match source(&column.name, rows)? {
            Source::Key(at) => {
                if let Some(found) = key.places.get_mut(at) {
                    *found = Some(place);
                }
                let name = rows.key.columns.get(at).map(|column| column.name.clone()).unwrap_or_default();
                key.names.push(ColumnInfo { family: None, name });
            }
            Source::Value(data) => {
                let type_number = type_number(data.ty).ok_or_else(|| format!("a column of type {}", data.ty))?;
                key.types.push(number(type_number)?);
                write_value_column(data, &mut key.expressions)
                    .ok_or_else(|| format!("a column of type {}", data.ty))?;
                key.columns.push(reference(data));
                key.bytes_expected += bytes_expected(data.ty);
                key.names.push(ColumnInfo { family: Some(data.family.clone()), name: data.name.clone() });
            }
        }
    }
    match key.places.iter().all(Option::is_some) {
        true => Ok(key),
        false => Err("its key lacks a key column of its table".into()),
    }
}

/// Bits by places, in a number of 1, 2, 4 or 8 bytes for `count` bits.
fn write_bits(places: &[usize], count: usize, out: &mut Vec<u8>) -> Result<(), Reason> {
    let bits =
        places.iter().try_fold(0u64, |bits, place| 1u64.checked_shl(u32::try_from(*place).ok()?).map(|b| bits | b));
    let width = match count {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        33..=64 => 8,
        _ => return Err("a key of more than 64 columns".into()),
    };
    let bytes = bits.ok_or("a key of more than 64 columns")?.to_be_bytes();
    out.extend(bytes.iter().skip(8 - width));
    Ok(())
}

/// Which columns of the index's key are descending, which columns of the table's key a view fixes (none), and where the
/// table's key columns stand in the index's key.
fn row_key_metadata(rows: &RowFormat, entries: &RowFormat, key: &IndexKey) -> Result<Vec<u8>, Reason> {
    let mut out = Vec::new();
    let count = entries.key.columns.len();
    write_bits(&key.descending, count, &mut out)?;
    write_bits(&[], rows.key.columns.len() + usize::from(rows.key.salt.is_some()), &mut out)?;
    for place in &key.places {
        let place = place.and_then(|place| i8::try_from(place as i64 - 127).ok());
        out.extend(place.ok_or("a key of too many columns")?.to_be_bytes());
    }
    out.resize(out.len() + count.saturating_sub(key.places.len()), 0);
    Ok(out)
}

fn maintainer(
    table: &TableDefinition,
    rows: &RowFormat,
    index: &TableDefinition,
    definition: &IndexDefinition,
) -> Result<IndexMaintainer, Reason> {
    match definition.kind {
        IndexKind::Local => return Err("it is local".into()),
        IndexKind::UncoveredGlobal => return Err("it is uncovered".into()),
        IndexKind::Global if definition.condition.is_some() => return Err("it is partial".into()),
        IndexKind::Global if definition.view_index_id.is_some() => return Err("it shares its HBase table".into()),
        IndexKind::Global => {}
    }
    if !table.row_key_order_optimizable || !index.row_key_order_optimizable {
        return Err("its keys are of the form before Phoenix 4.5".into());
    }
    if rows.storage != StorageScheme::CellPerColumn || index.storage != StorageScheme::CellPerColumn {
        return Err("cells of several columns".into());
    }
    let entries = index.row_format().map_err(|error| error.to_string())?;
    let key = index_key(rows, &entries)?;
    let row_key_metadata = row_key_metadata(rows, &entries, &key)?;
    let mut covered_in_rows = Vec::new();
    for column in &entries.columns {
        match source(&column.name, rows)? {
            Source::Value(data) => covered_in_rows.push(reference(data)),
            Source::Key(_) => return Err(format!("its value column {} is a key column of its table", column.name)),
        }
    }
    let has_numbers = index.qualifiers.largest().is_some();
    let families: BTreeSet<&str> = rows.columns.iter().map(|column| column.family.as_str()).collect();
    let salt_of_table = usize::from(rows.key.salt.is_some());
    let salt_of_index = usize::from(entries.key.salt.is_some() && rows.key.salt.is_none());
    let key_of_table: usize = rows.key.columns.iter().map(|column| bytes_expected(column.ty)).sum();
    let empty_family = entries.empty_family.clone().into_bytes();
    Ok(IndexMaintainer {
        salt_buckets: index.salt_buckets.map_or(0, i32::from),
        multi_tenant: false,
        indexed_columns: key.columns,
        indexed_types: key.types,
        covered_in_rows,
        // Without numbers of columns they follow from the names.
        covered_in_entries: entries.columns.iter().filter(|_| has_numbers).map(reference).collect(),
        is_local: false,
        index_table: index.physical_name.clone().into_bytes(),
        row_key_order_optimizable: true,
        empty_family_of_rows: rows.empty_family.clone().into_bytes(),
        empty_family_of_entries: ByteSlice { length: number(empty_family.len())?, offset: 0, bytes: empty_family },
        indexed_expressions: Some(key.expressions),
        row_key_metadata,
        families_of_table: number(families.len())?,
        wal_disabled: index.wal_disabled,
        key_bytes_expected: number(key.bytes_expected + key_of_table + salt_of_table + salt_of_index)?,
        immutable: rows.immutable,
        indexed_names: key.names,
        qualifiers: index.qualifiers.number().into(),
        storage: index.storage.number().into(),
        key_columns_of_table: Some(number(rows.key.columns.len() + salt_of_table)?),
        parent_type: Some("TABLE".into()),
        logical_name: Some(index.full_name()),
        qualifiers_of_table: Some(table.qualifiers.number().into()),
        storage_of_table: Some(table.storage.number().into()),
        is_uncovered: Some(false),
    })
}
