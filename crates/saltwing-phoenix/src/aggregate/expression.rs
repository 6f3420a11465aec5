//! Columns as expressions of Phoenix, serialized for the region servers.

use saltwing_types::{KeyColumn, SortOrder, SqlType};

use crate::serialized_column::{type_number, write_column, write_value_column};
use crate::writable::{write_bytes, write_number};
use crate::{PhoenixError, RowFormat, StorageScheme};

/// Numbers of Phoenix's kinds of expressions.
const ROW_KEY_COLUMN: i64 = 1;
const COERCED: i64 = 19;
const SINGLE_CELL_COLUMN: i64 = 144;
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
    pub(super) nullable: bool,
    /// Whether it is a key column that ends by a separator, so that its bytes have no zero.
    pub(super) is_separated: bool,
    /// Whether it is a key column.
    pub(super) is_key: bool,
    /// Whether it is an integer as a DECIMAL.
    pub(super) is_integer_as_decimal: bool,
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
                write_value_column(column, &mut bytes).ok_or_else(|| not_written(column.ty))?;
            }
            StorageScheme::CellPerFamily => {
                let number = format.qualifiers.decode(&column.qualifier).ok_or_else(|| no_column(place))?;
                write_number(SINGLE_CELL_COLUMN, &mut bytes);
                write_column(column.ty, column.nullable, SortOrder::Asc, &mut bytes)
                    .ok_or_else(|| not_written(column.ty))?;
                write_bytes(column.family.as_bytes(), &mut bytes);
                write_bytes(b"1", &mut bytes);
                write_number(number.into(), &mut bytes);
                write_number(-i64::from(format.qualifiers.number()), &mut bytes);
                write_number(format.storage.number().into(), &mut bytes);
            }
        }
        let nullable = column.nullable;
        Ok(Self {
            ty: column.ty,
            is_descending: false,
            nullable,
            is_separated: false,
            is_key: false,
            is_integer_as_decimal: false,
            bytes,
        })
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
        write_column(column.ty, column.nullable, column.order, &mut bytes).ok_or_else(|| not_written(column.ty))?;
        write_number((offsets.len() as i64) << 2 | flags, &mut bytes);
        for offset in offsets {
            write_number(offset, &mut bytes);
        }
        Ok(Self {
            ty: column.ty,
            is_descending: column.order == SortOrder::Desc,
            nullable: column.nullable,
            is_separated: has_separator,
            is_key: true,
            is_integer_as_decimal: false,
            bytes,
        })
    }

    /// The same values as DECIMALs.
    ///
    /// # Errors
    /// [`PhoenixError::NotPushed`] for what is no number.
    pub(super) fn as_decimal(&self) -> Result<Self, PhoenixError> {
        let decimal = SqlType::Decimal(None);
        let number = type_number(decimal).filter(|_| self.ty.is_integer()).ok_or_else(|| not_written(self.ty))?;
        let mut bytes = Vec::new();
        write_number(COERCED, &mut bytes);
        bytes.extend_from_slice(&self.bytes);
        // A negative number of the type says that no length follows.
        write_number(-(number as i64) - 1, &mut bytes);
        write_number(2, &mut bytes);
        write_number(-1, &mut bytes);
        Ok(Self {
            ty: decimal,
            is_descending: false,
            is_separated: false,
            is_integer_as_decimal: true,
            bytes,
            ..self.clone()
        })
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

fn not_written(ty: SqlType) -> PhoenixError {
    PhoenixError::NotPushed { what: format!("a column of type {ty}") }
}
