//! Columns in the form in which Phoenix's clients send them to the region servers.

use saltwing_types::{SortOrder, SqlType};

use crate::ValueColumn;
use crate::writable::{write_bytes, write_number};

/// The number of Phoenix's expression for a column that has a cell of its own.
const KEY_VALUE_COLUMN: i64 = 2;
/// Phoenix's types in the order of their numbers.
const TYPES: [&str; 24] = [
    "VARCHAR",
    "CHAR",
    "BIGINT",
    "INTEGER",
    "SMALLINT",
    "TINYINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL",
    "TIMESTAMP",
    "TIME",
    "DATE",
    "UNSIGNED_TIMESTAMP",
    "UNSIGNED_TIME",
    "UNSIGNED_DATE",
    "UNSIGNED_LONG",
    "UNSIGNED_INT",
    "UNSIGNED_SMALLINT",
    "UNSIGNED_TINYINT",
    "UNSIGNED_FLOAT",
    "UNSIGNED_DOUBLE",
    "BOOLEAN",
    "VARBINARY",
    "BINARY",
];

/// The number of a type; `None` if Phoenix 5.2 has none for it here.
pub(crate) fn type_number(ty: SqlType) -> Option<usize> {
    let name = match ty {
        SqlType::Char(_) => "CHAR".to_owned(),
        SqlType::Binary(_) => "BINARY".to_owned(),
        SqlType::Varchar(_) => "VARCHAR".to_owned(),
        SqlType::Decimal(_) => "DECIMAL".to_owned(),
        other => other.to_string(),
    };
    TYPES.iter().position(|known| *known == name)
}

/// Appends type, limits and direction of any column; `None` if its type has no number.
pub(crate) fn write_column(ty: SqlType, nullable: bool, order: SortOrder, out: &mut Vec<u8>) -> Option<()> {
    let (length, scale) = match ty {
        SqlType::Char(width) | SqlType::Binary(width) => (Some(width), None),
        SqlType::Varchar(limit) => (limit, None),
        SqlType::Decimal(Some((precision, scale))) => (Some(precision.into()), Some(scale)),
        _ => (None, None),
    };
    let flags = i64::from(nullable) | i64::from(scale.is_some()) << 1 | i64::from(length.is_some()) << 2;
    write_number(flags | (type_number(ty)? as i64) << 3, out);
    if let Some(scale) = scale {
        write_number(scale.into(), out);
    }
    if let Some(length) = length {
        write_number(length.into(), out);
    }
    write_number(if order == SortOrder::Desc { 1 } else { 2 }, out);
    Some(())
}

/// Appends the expression of a column that has a cell of its own; `None` if its type has no number.
pub(crate) fn write_value_column(column: &ValueColumn, out: &mut Vec<u8>) -> Option<()> {
    write_number(KEY_VALUE_COLUMN, out);
    write_column(column.ty, column.nullable, SortOrder::Asc, out)?;
    write_bytes(column.family.as_bytes(), out);
    write_bytes(&column.qualifier, out);
    Some(())
}
