//! Primary keys and indexes. The columns are those that the Python driver expects at these places, whatever the server says of them.

use saltwing::{SqlType, Value};

use crate::error::AvaticaError;
use crate::jdbc_type::JdbcType;

use super::catalog::{Catalog, ColumnEntry, IndexEntry};
use super::listing::{BOOL, Column, INT, Listing, SHORT, TEXT, nonzero, text};

const KEY_COLUMNS: [Column; 12] = [
    ("TABLE_CAT", TEXT),
    ("TABLE_SCHEM", TEXT),
    ("TABLE_NAME", TEXT),
    ("COLUMN_NAME", TEXT),
    ("KEY_SEQ", SHORT),
    ("PK_NAME", TEXT),
    ("ASC_OR_DESC", TEXT),
    ("DATA_TYPE", INT),
    ("TYPE_NAME", TEXT),
    ("COLUMN_SIZE", INT),
    ("TYPE_ID", INT),
    ("VIEW_CONSTANT", TEXT),
];

const INDEX_COLUMNS: [Column; 19] = [
    ("TABLE_CAT", TEXT),
    ("TABLE_SCHEM", TEXT),
    ("TABLE_NAME", TEXT),
    ("NON_UNIQUE", BOOL),
    ("INDEX_QUALIFIER", TEXT),
    ("INDEX_NAME", TEXT),
    ("TYPE", SHORT),
    ("ORDINAL_POSITION", SHORT),
    ("COLUMN_NAME", TEXT),
    ("ASC_OR_DESC", TEXT),
    ("CARDINALITY", INT),
    ("PAGES", INT),
    ("FILTER_CONDITION", TEXT),
    ("DATA_TYPE", INT),
    ("TYPE_NAME", TEXT),
    ("TYPE_ID", INT),
    ("COLUMN_FAMILY", TEXT),
    ("COLUMN_SIZE", INT),
    ("ARRAY_SIZE", INT),
];

/// `tableIndexOther` of JDBC: neither statistics nor a hash.
const INDEX_OTHER: i64 = 3;

/// Whether an object is the named one. An absent schema is that of objects without one, as in Phoenix.
fn is_named(entry: (&Option<String>, &str), schema: Option<&str>, table: &str) -> bool {
    let (own, name) = entry;
    name.eq_ignore_ascii_case(table)
        && own.as_deref().unwrap_or_default().eq_ignore_ascii_case(schema.unwrap_or_default())
}

fn direction(descends: bool) -> Value {
    Value::text(if descends { "D" } else { "A" })
}

/// The columns of a table's primary key, in their order; none of a view.
///
/// # Errors
/// [`AvaticaError::NoSuchTable`] for a table that does not exist, or that the user does not see; those of `information_schema`.
pub(crate) async fn primary_keys(
    catalog: &Catalog<'_>,
    schema: Option<&str>,
    table: Option<&str>,
) -> Result<Listing, AvaticaError> {
    let table = table.unwrap_or_default();
    let mut columns = catalog.columns().await?;
    columns.retain(|column| is_named((&column.schema, &column.table), schema, table));
    if columns.is_empty() {
        let schema = schema.filter(|schema| !schema.is_empty()).map(|schema| format!("{schema}."));
        return Err(AvaticaError::NoSuchTable { name: format!("{}{table}", schema.unwrap_or_default()) });
    }
    columns.retain(|column| column.key_position.is_some());
    columns.sort_unstable_by_key(|column| column.key_position);
    Ok(Listing::new(&KEY_COLUMNS, columns.iter().map(key_row).collect()))
}

fn key_row(column: &ColumnEntry) -> Vec<Value> {
    let ty = JdbcType::of(column.ty);
    vec![
        Value::Null,
        text(column.schema.as_deref()),
        Value::text(&*column.table),
        Value::text(&*column.name),
        column.key_position.map_or(Value::Null, |place| Value::Int(place.into())),
        Value::Null,
        direction(column.descends),
        Value::Int(ty.id.into()),
        Value::text(&*ty.name),
        nonzero(ty.precision),
        Value::Int(ty.phoenix_id.into()),
        Value::Null,
    ]
}

/// The columns of a table's indexes: those of unique ones first, then by the index's name and the place in it. A table that does not exist has none.
///
/// # Errors
/// Those of `information_schema`.
pub(crate) async fn index_info(
    catalog: &Catalog<'_>,
    schema: Option<&str>,
    table: Option<&str>,
    unique_only: bool,
) -> Result<Listing, AvaticaError> {
    let table = table.unwrap_or_default();
    let mut indexes = catalog.indexes().await?;
    indexes.retain(|index| is_named((&index.schema, &index.table), schema, table) && (index.is_unique || !unique_only));
    indexes.sort_unstable_by(|a, b| (!a.is_unique, &a.name).cmp(&(!b.is_unique, &b.name)));
    let mut columns = catalog.columns().await?;
    columns.retain(|column| is_named((&column.schema, &column.table), schema, table));
    let rows = indexes.iter().flat_map(|index| index_rows(index, &columns)).collect();
    Ok(Listing::new(&INDEX_COLUMNS, rows))
}

fn index_rows(index: &IndexEntry, columns: &[ColumnEntry]) -> Vec<Vec<Value>> {
    let row = |(place, part): (i64, &super::index_parts::IndexPart)| {
        let column = columns.iter().find(|column| column.name == part.name);
        let ty = column.map(|column| JdbcType::of(column.ty));
        let length = column.and_then(|column| if let SqlType::Array(_, length) = column.ty { length } else { None });
        let number = |number: fn(&JdbcType) -> i32| ty.as_ref().map_or(Value::Null, |ty| Value::Int(number(ty).into()));
        vec![
            Value::Null,
            text(index.schema.as_deref()),
            Value::text(&*index.table),
            Value::Bool(!index.is_unique),
            Value::Null,
            Value::text(&*index.name),
            Value::Int(INDEX_OTHER),
            Value::Int(place),
            Value::text(&*part.name),
            direction(part.descends),
            Value::Null,
            Value::Null,
            text(index.predicate.as_deref()),
            number(|ty| ty.id),
            ty.as_ref().map_or(Value::Null, |ty| Value::text(&*ty.name)),
            number(|ty| ty.phoenix_id),
            text(column.and_then(|column| column.family.as_deref())),
            ty.as_ref().map_or(Value::Null, |ty| nonzero(ty.precision)),
            length.map_or(Value::Null, |length| Value::Int(length.get().into())),
        ]
    };
    (1..).zip(&index.parts).map(row).collect()
}
