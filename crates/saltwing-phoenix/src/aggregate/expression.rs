//! Columns as expressions of Phoenix, serialized for the region servers.

use saltwing_types::{KeyColumn, SortOrder, SqlType};

use crate::writable::{write_bytes, write_number};
use crate::{PhoenixError, RowFormat, StorageScheme};

/// Numbers of Phoenix's kinds of expressions.
const ROW_KEY_COLUMN: i64 = 1;
const KEY_VALUE_COLUMN: i64 = 2;
const SINGLE_CELL_COLUMN: i64 = 144;
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
/// In an accessor: the column ends by a separator.
const HAS_SEPARATOR: i64 = 2;
/// In an accessor: the column has a fixed width.
const IS_FIXED: i64 = 1;

/// A column of a table in the form in which the region servers read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanExpression {
    pub(super) ty: SqlType,
    /// Whether its bytes are those of a descending key column.
    pub(super) is_descending: bool,
    pub(super) bytes: Vec<u8>,
}

impl ScanExpression {
    /// The type of its values.
    pub fn sql_type(&self) -> SqlType {
        self.ty
    }

    /// A value column: its place in [`RowFormat::columns`].
    ///
    /// # Errors
    /// [`PhoenixError::NotPushed`] for a place without a column, a type that Phoenix 5.2 has no number for here, and a column
    /// with a DEFAULT, which the region server would have to compute.
    pub fn value_column(format: &RowFormat, place: usize) -> Result<Self, PhoenixError> {
        let Some(column) = format.columns.get(place) else { return Err(no_column(place)) };
        if column.has_default {
            return Err(PhoenixError::NotPushed { what: format!("column {}, which has a DEFAULT", column.name) });
        }
        let mut bytes = Vec::new();
        match format.storage {
            StorageScheme::CellPerColumn => {
                write_number(KEY_VALUE_COLUMN, &mut bytes);
                write_column(column.ty, column.nullable, SortOrder::Asc, &mut bytes)?;
                write_bytes(column.family.as_bytes(), &mut bytes);
                write_bytes(&column.qualifier, &mut bytes);
            }
            StorageScheme::CellPerFamily => {
                let number = format.qualifiers.decode(&column.qualifier).ok_or_else(|| no_column(place))?;
                write_number(SINGLE_CELL_COLUMN, &mut bytes);
                write_column(column.ty, column.nullable, SortOrder::Asc, &mut bytes)?;
                write_bytes(column.family.as_bytes(), &mut bytes);
                write_bytes(b"1", &mut bytes);
                write_number(number.into(), &mut bytes);
                write_number(-i64::from(format.qualifiers.number()), &mut bytes);
                write_number(format.storage.number().into(), &mut bytes);
            }
        }
        Ok(Self { ty: column.ty, is_descending: false, bytes })
    }

    /// A key column: its place in the key. A descending one may be counted and grouped by alone.
    ///
    /// # Errors
    /// [`PhoenixError::NotPushed`] for a place without a column, and a type that Phoenix 5.2 has no number for here.
    pub fn key_column(format: &RowFormat, place: usize) -> Result<Self, PhoenixError> {
        let columns = &format.key.columns;
        let Some(column) = columns.get(place) else { return Err(no_column(place)) };
        let before = columns.get(..place).unwrap_or_default();
        let offsets = offsets(before, format.key.salt.is_some());
        let is_fixed = column.ty.fixed_key_bytes().is_some();
        let has_separator = !is_fixed && place + 1 < columns.len();
        let flags = if has_separator { HAS_SEPARATOR } else { 0 } | if is_fixed { IS_FIXED } else { 0 };
        let mut bytes = Vec::new();
        write_number(ROW_KEY_COLUMN, &mut bytes);
        write_column(column.ty, column.nullable, column.order, &mut bytes)?;
        write_number((offsets.len() as i64) << 2 | flags, &mut bytes);
        for offset in offsets {
            write_number(offset, &mut bytes);
        }
        Ok(Self { ty: column.ty, is_descending: column.order == SortOrder::Desc, bytes })
    }
}

fn no_column(place: usize) -> PhoenixError {
    PhoenixError::NotPushed { what: format!("column {place}, which the table has not") }
}

/// The way to a key column: bytes to skip, and negative numbers of columns that end by separators.
fn offsets(before: &[KeyColumn], is_salted: bool) -> Vec<i64> {
    let mut offsets: Vec<i64> = Vec::new();
    let widths = before.iter().map(|column| column.ty.fixed_key_bytes());
    for width in is_salted.then_some(Some(1)).into_iter().chain(widths) {
        let step = width.map_or(-1, |width| width as i64);
        match offsets.last_mut() {
            Some(last) if (*last < 0) == (step < 0) => *last += step,
            _ => offsets.push(step),
        }
    }
    offsets
}

/// Appends what Phoenix knows of any column: type, limits, direction.
fn write_column(ty: SqlType, nullable: bool, order: SortOrder, out: &mut Vec<u8>) -> Result<(), PhoenixError> {
    let (name, length, scale) = match ty {
        SqlType::Char(width) => ("CHAR".to_owned(), Some(width), None),
        SqlType::Binary(width) => ("BINARY".to_owned(), Some(width), None),
        SqlType::Varchar(limit) => ("VARCHAR".to_owned(), limit, None),
        SqlType::Decimal(None) => ("DECIMAL".to_owned(), None, None),
        SqlType::Decimal(Some((precision, scale))) => ("DECIMAL".to_owned(), Some(precision.into()), Some(scale)),
        other => (other.to_string(), None, None),
    };
    let Some(number) = TYPES.iter().position(|known| *known == name) else {
        return Err(PhoenixError::NotPushed { what: format!("a column of type {ty}") });
    };
    let flags = i64::from(nullable) | i64::from(scale.is_some()) << 1 | i64::from(length.is_some()) << 2;
    write_number(flags | (number as i64) << 3, out);
    if let Some(scale) = scale {
        write_number(scale.into(), out);
    }
    if let Some(length) = length {
        write_number(length.into(), out);
    }
    write_number(if order == SortOrder::Desc { 1 } else { 2 }, out);
    Ok(())
}
