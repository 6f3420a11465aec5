//! A stored column, read by position.
//!
//! How NULLs, kinds of cells, directions and lists of rows go together is decided here, before the loop over rows. A
//! [`ValueSink`] says what becomes of a value, and may take all values at once if it has a quicker loop for them.

use std::array::TryFromSliceError;

use saltwing_rowkey::BadBytes;
use saltwing_types::{Value, ValueError};

use crate::format::bits::Nulls;
use crate::format::fix_part::{FixCells, FixColumn, FixPart};
use crate::format::row_format::SlotBytes;
use crate::format::row_order::RowSelection;
use crate::format::var_part::{VarColumn, VarPart};

/// A column of a family of a block.
#[derive(Clone, Copy)]
pub(crate) struct StoredColumn<'a> {
    pub(crate) fix: &'a FixPart,
    pub(crate) column: &'a FixColumn,
    /// Its values of variable width, and the part that has them. Not needed if no values are read.
    pub(crate) var: Option<(&'a VarColumn, &'a [u8])>,
}

/// Why a stored value cannot be read.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// The stored bytes are no value of the column.
    Damaged,
    /// The bytes of a key are no value of its column.
    Key(BadBytes),
    /// The reader cannot hold the value.
    Value(ValueError),
}

impl From<ValueError> for Unreadable {
    fn from(error: ValueError) -> Self {
        Self::Value(error)
    }
}

impl From<BadBytes> for Unreadable {
    fn from(bad: BadBytes) -> Self {
        Self::Key(bad)
    }
}

impl From<TryFromSliceError> for Unreadable {
    fn from(_: TryFromSliceError) -> Self {
        Self::Damaged
    }
}

/// A value as its block has it.
pub(crate) enum StoredCell<'a> {
    Null,
    Int(i64),
    /// As in a row's slot.
    Slot(&'a [u8]),
}

/// Takes the values of a column, in the order in which they are read.
pub(crate) trait ValueSink {
    fn null(&mut self);

    /// Takes a value that blocks keep as an integer.
    fn int(&mut self, value: i64) -> Result<(), Unreadable>;

    /// Takes a value as it stands in a row's slot.
    fn slot(&mut self, bytes: &[u8]) -> Result<(), Unreadable>;

    /// Takes the same value for some rows, one at least.
    fn constant(&mut self, value: &Value, rows: usize) -> Result<(), Unreadable>;

    /// Takes some rows of a column without NULLs at once; gives `false`, and takes none, if one by one is as good.
    fn values(&mut self, column: &StoredColumn<'_>, rows: &RowSelection<'_>) -> Result<bool, Unreadable>;
}

impl<'a> StoredColumn<'a> {
    /// The column of a slot; `None` if the column is younger than the block.
    #[inline]
    pub(crate) fn of(fix: &'a FixPart, var: Option<&'a VarPart>, slot: u16) -> Option<Self> {
        let column = fix.column(slot)?;
        let var = match column.cells {
            FixCells::Var => var.and_then(|part| Some((part.column(slot)?, part.bytes()))),
            _ => None,
        };
        Some(Self { fix, column, var })
    }

    #[inline]
    pub(crate) fn is_null(&self, row: usize) -> bool {
        self.column.nulls.is_null(self.fix.bytes(), row)
    }

    /// Reads some rows.
    pub(crate) fn read(&self, rows: &RowSelection<'_>, sink: &mut impl ValueSink) -> Result<(), Unreadable> {
        if rows.len() == 1 {
            return self.read_row(rows.nth(0), sink);
        }
        if self.column.nulls == Nulls::None && sink.values(self, rows)? {
            return Ok(());
        }
        (0..rows.len()).try_for_each(|i| self.read_row(rows.nth(i), sink))
    }

    /// The value of a row; `None` if the block is damaged.
    #[inline]
    pub(crate) fn cell(&self, row: usize) -> Option<StoredCell<'a>> {
        if self.is_null(row) {
            return Some(StoredCell::Null);
        }
        match self.column.cells {
            FixCells::Ints(ints) => Some(StoredCell::Int(ints.get(self.fix.bytes(), row))),
            FixCells::Raw { width, at } => self.fix.raw(width, at, row..row + 1).map(StoredCell::Slot),
            FixCells::Var => self.var.and_then(|(column, part)| column.value(part, row)).map(StoredCell::Slot),
        }
    }

    #[inline]
    fn read_row(&self, row: usize, sink: &mut impl ValueSink) -> Result<(), Unreadable> {
        match self.cell(row).ok_or(Unreadable::Damaged)? {
            StoredCell::Null => sink.null(),
            StoredCell::Int(value) => sink.int(value)?,
            StoredCell::Slot(bytes) => sink.slot(bytes)?,
        }
        Ok(())
    }
}

/// Reads a row's slot; `absent` is the value of rows that are older than the column.
pub(crate) fn read_slot(slot: SlotBytes<'_>, absent: &Value, sink: &mut impl ValueSink) -> Result<(), Unreadable> {
    match slot {
        SlotBytes::Null => {
            sink.null();
            Ok(())
        }
        SlotBytes::Absent => sink.constant(absent, 1),
        SlotBytes::Value(bytes) => sink.slot(bytes),
    }
}
