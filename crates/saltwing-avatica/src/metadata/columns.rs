//! Columns of tables and views.

use saltwing::{SqlType, Value};

use crate::error::AvaticaError;
use crate::jdbc_type::JdbcType;

use super::catalog::{Catalog, ColumnEntry};
use super::listing::{Column, INT, Listing, SHORT, TEXT, nonzero, text, yes_or_no};
use super::pattern::Pattern;

/// The columns of JDBC, followed by those of Phoenix that have a meaning here.
const COLUMNS: [Column; 28] = [
    ("TABLE_CAT", TEXT),
    ("TABLE_SCHEM", TEXT),
    ("TABLE_NAME", TEXT),
    ("COLUMN_NAME", TEXT),
    ("DATA_TYPE", INT),
    ("TYPE_NAME", TEXT),
    ("COLUMN_SIZE", INT),
    ("BUFFER_LENGTH", INT),
    ("DECIMAL_DIGITS", INT),
    ("NUM_PREC_RADIX", INT),
    ("NULLABLE", INT),
    ("REMARKS", TEXT),
    ("COLUMN_DEF", TEXT),
    ("SQL_DATA_TYPE", INT),
    ("SQL_DATETIME_SUB", INT),
    ("CHAR_OCTET_LENGTH", INT),
    ("ORDINAL_POSITION", INT),
    ("IS_NULLABLE", TEXT),
    ("SCOPE_CATALOG", TEXT),
    ("SCOPE_SCHEMA", TEXT),
    ("SCOPE_TABLE", TEXT),
    ("SOURCE_DATA_TYPE", SHORT),
    ("IS_AUTOINCREMENT", TEXT),
    ("IS_GENERATEDCOLUMN", TEXT),
    ("ARRAY_SIZE", INT),
    ("COLUMN_FAMILY", TEXT),
    ("TYPE_ID", INT),
    ("KEY_SEQ", SHORT),
];

/// The columns whose names and whose tables' names fit, by schema, table and place.
///
/// # Errors
/// Those of `information_schema`.
pub(crate) async fn columns(
    catalog: &Catalog<'_>,
    schema: &Pattern,
    table: &Pattern,
    column: &Pattern,
) -> Result<Listing, AvaticaError> {
    let mut entries = catalog.columns().await?;
    entries.retain(|entry| {
        schema.fits_schema(entry.schema.as_deref()) && table.fits(&entry.table) && column.fits(&entry.name)
    });
    entries.sort_unstable_by(|a, b| (&a.schema, &a.table, a.position).cmp(&(&b.schema, &b.table, b.position)));
    Ok(Listing::new(&COLUMNS, entries.iter().map(row).collect()))
}

fn row(entry: &ColumnEntry) -> Vec<Value> {
    let ty = JdbcType::of(entry.ty);
    let is_decimal = matches!(entry.ty, SqlType::Decimal(Some(_)));
    let is_number = entry.ty.is_integer() || entry.ty.is_float() || matches!(entry.ty, SqlType::Decimal(_));
    let is_text = matches!(entry.ty, SqlType::Char(_) | SqlType::Varchar(_));
    let array_size = if let SqlType::Array(_, length) = entry.ty { length } else { None };
    vec![
        Value::Null,
        text(entry.schema.as_deref()),
        Value::text(&*entry.table),
        Value::text(&*entry.name),
        Value::Int(ty.id.into()),
        Value::text(&*ty.name),
        nonzero(ty.precision),
        Value::Null,
        if is_decimal { Value::Int(ty.scale.into()) } else { Value::Null },
        if is_number { Value::Int(10) } else { Value::Null },
        Value::Int(entry.nullable.into()),
        text(entry.comment.as_deref()),
        text(entry.default.as_deref()),
        Value::Null,
        Value::Null,
        if is_text { nonzero(ty.precision) } else { Value::Null },
        Value::Int(entry.position.into()),
        yes_or_no(entry.nullable),
        Value::Null,
        Value::Null,
        Value::Null,
        Value::Null,
        yes_or_no(entry.is_identity),
        yes_or_no(entry.is_generated),
        array_size.map_or(Value::Null, |length| Value::Int(length.get().into())),
        text(entry.family.as_deref()),
        Value::Int(ty.phoenix_id.into()),
        entry.key_position.map_or(Value::Null, |place| Value::Int(place.into())),
    ]
}
