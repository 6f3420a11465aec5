//! How the rows of one table lie in cells.

use saltwing_types::{KeySchema, SqlType};

use crate::QualifierScheme;

/// How many columns a cell has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StorageScheme {
    /// Each value column has a cell of its own (ONE_CELL_PER_COLUMN).
    CellPerColumn,
    /// All value columns of a family share one (SINGLE_CELL_ARRAY_WITH_OFFSETS): immutable tables alone.
    CellPerFamily,
}

impl StorageScheme {
    /// The scheme that Phoenix's catalog knows by this number.
    pub fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::CellPerColumn),
            2 => Some(Self::CellPerFamily),
            _ => None,
        }
    }

    /// The number by which Phoenix's catalog knows it.
    pub fn number(self) -> u8 {
        if self == Self::CellPerColumn { 1 } else { 2 }
    }
}

/// A column whose values lie in cells.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueColumn {
    /// Name, for messages.
    pub name: String,
    /// The column family of its cells.
    pub family: String,
    /// The qualifier of its cells; in a packed cell its number tells the slot.
    pub qualifier: Vec<u8>,
    /// Type.
    pub ty: SqlType,
    /// Whether NULL may be written.
    pub nullable: bool,
    /// Whether it has a DEFAULT. Then a row tells NULL from an absent value, which is read as the DEFAULT.
    pub has_default: bool,
}

/// How the rows of one table lie in cells.
#[derive(Clone, Debug, PartialEq)]
pub struct RowFormat {
    /// The row key.
    pub key: KeySchema,
    /// The value columns, in the order of a row's values.
    pub columns: Vec<ValueColumn>,
    /// How many columns a cell has.
    pub storage: StorageScheme,
    /// How qualifiers are made.
    pub qualifiers: QualifierScheme,
    /// Family of the cell that every row has: that of the first value column that was declared.
    pub empty_family: String,
    /// STORE_NULLS: NULL is an empty cell instead of a deletion.
    pub store_nulls: bool,
    /// Rows are written once: NULL leaves no trace.
    pub immutable: bool,
}
