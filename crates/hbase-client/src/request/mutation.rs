//! Changes of one row.

use bytes::Bytes;

use crate::cell::{Cell, CellKind, CellParts, LATEST_TIMESTAMP, ROW_BYTES_MAX};
use crate::error::Error;
use crate::proto::{Durability, MutationProto, MutationType, NameBytesPair};
use crate::wire_error::WireError;

/// A change of one row: a [`Put`], a [`Delete`] or an [`Increment`].
#[derive(Clone, Debug, PartialEq)]
pub struct Mutation {
    row: Bytes,
    kind: MutationType,
    cells: Vec<Cell>,
    /// The time of a deletion of the whole row.
    timestamp: u64,
    attributes: Vec<NameBytesPair>,
    durability: Durability,
}

impl Mutation {
    fn new(row: Bytes, kind: MutationType) -> Result<Self, Error> {
        let row_bytes = row.len();
        if row_bytes == 0 || row_bytes > ROW_BYTES_MAX {
            return Err(WireError::RowLength { row_bytes }.into());
        }
        let (timestamp, durability) = (LATEST_TIMESTAMP, Durability::UseDefault);
        Ok(Self { row, kind, cells: Vec::new(), timestamp, attributes: Vec::new(), durability })
    }

    fn add(&mut self, kind: CellKind, column: (&[u8], &[u8]), timestamp: u64, value: &[u8]) -> Result<(), Error> {
        let (family, qualifier) = column;
        self.cells.push(Cell::new(CellParts { row: &self.row, family, qualifier, timestamp, kind, value })?);
        Ok(())
    }

    /// The row key.
    pub fn row(&self) -> &Bytes {
        &self.row
    }

    /// The bytes of the cells.
    pub fn cells_bytes(&self) -> usize {
        self.cells.iter().map(|cell| cell.key_value().len()).sum()
    }

    pub(crate) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Whether a second time changes nothing: all cells have times of their own.
    pub(crate) fn is_repeatable(&self) -> bool {
        let whole_row = self.cells.is_empty() && self.timestamp == LATEST_TIMESTAMP;
        self.kind != MutationType::Increment
            && !whole_row
            && self.cells.iter().all(|cell| cell.timestamp() != LATEST_TIMESTAMP)
    }

    /// Whether the server knows a second time by the nonce.
    pub(crate) fn has_nonce(&self) -> bool {
        self.kind == MutationType::Increment
    }

    /// A put or an increment without cells is refused by servers; other calls beside it are not to suffer.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.cells.is_empty() && self.kind != MutationType::Delete {
            return Err(Error::Unsupported { reason: "a put or an increment has no columns" });
        }
        Ok(())
    }

    /// The message; the cells go into the cell block.
    pub(crate) fn message(&self, nonce: u64) -> MutationProto {
        MutationProto {
            row: Some(self.row.clone()),
            mutate_type: Some(self.kind as i32),
            timestamp: Some(self.timestamp),
            attribute: self.attributes.clone(),
            durability: Some(self.durability as i32),
            associated_cell_count: Some(self.cells.len() as i32),
            nonce: self.has_nonce().then_some(nonce),
            ..MutationProto::default()
        }
    }
}

/// Values of a row to write.
#[derive(Clone, Debug, PartialEq)]
pub struct Put(Mutation);

/// Cells of a row to delete; the whole row if none are named.
#[derive(Clone, Debug, PartialEq)]
pub struct Delete(Mutation);

/// Numbers of a row to add to: columns of 8 bytes, big-endian.
#[derive(Clone, Debug, PartialEq)]
pub struct Increment(Mutation);

/// What the three kinds of mutations have in common.
macro_rules! common {
    ($kind:ident, $type:expr, $doc:literal) => {
        impl $kind {
            #[doc = $doc]
            ///
            /// # Errors
            /// [`Error::Request`] if the row key is empty or too long.
            pub fn new(row: impl Into<Bytes>) -> Result<Self, Error> {
                Mutation::new(row.into(), $type).map(Self)
            }

            /// An attribute, which coprocessors read.
            #[must_use]
            pub fn attribute(mut self, name: impl Into<String>, value: impl Into<Bytes>) -> Self {
                self.0.attributes.push(NameBytesPair { name: name.into(), value: Some(value.into()) });
                self
            }

            /// When the server acknowledges the change.
            #[must_use]
            pub fn durability(mut self, durability: Durability) -> Self {
                self.0.durability = durability;
                self
            }
        }

        impl From<$kind> for Mutation {
            fn from(this: $kind) -> Self {
                this.0
            }
        }
    };
}

common!(Put, MutationType::Put, "No values yet.");
common!(Delete, MutationType::Delete, "The whole row.");
common!(Increment, MutationType::Increment, "No columns yet.");

impl Put {
    /// A value, with the time of the server.
    ///
    /// # Errors
    /// [`Error::Request`] if the family's name or the cell is too long.
    pub fn column(self, family: &[u8], qualifier: &[u8], value: &[u8]) -> Result<Self, Error> {
        self.column_at(family, qualifier, LATEST_TIMESTAMP, value)
    }

    /// A value with a time in milliseconds. If all values have one, the put can be sent again when its reply is lost.
    ///
    /// # Errors
    /// [`Error::Request`] if the family's name or the cell is too long.
    pub fn column_at(mut self, family: &[u8], qualifier: &[u8], timestamp: u64, value: &[u8]) -> Result<Self, Error> {
        self.0.add(CellKind::PUT, (family, qualifier), timestamp, value)?;
        Ok(self)
    }

    /// A marker of a deletion beside the values: all versions of the column up to the time of the server go, in the same step.
    ///
    /// # Errors
    /// [`Error::Request`] if the family's name is too long.
    pub fn delete_column(mut self, family: &[u8], qualifier: &[u8]) -> Result<Self, Error> {
        self.0.add(CellKind::DELETE_COLUMN, (family, qualifier), LATEST_TIMESTAMP, b"")?;
        Ok(self)
    }
}

impl Delete {
    /// All columns of a family, up to a time or up to the time of the server.
    ///
    /// # Errors
    /// [`Error::Request`] if the family's name is too long.
    pub fn family(mut self, family: &[u8], until: Option<u64>) -> Result<Self, Error> {
        self.0.add(CellKind::DELETE_FAMILY, (family, b""), until.unwrap_or(LATEST_TIMESTAMP), b"")?;
        Ok(self)
    }

    /// All versions of a column, up to a time or up to the time of the server.
    ///
    /// # Errors
    /// [`Error::Request`] if the family's name is too long.
    pub fn column(mut self, family: &[u8], qualifier: &[u8], until: Option<u64>) -> Result<Self, Error> {
        self.0.add(CellKind::DELETE_COLUMN, (family, qualifier), until.unwrap_or(LATEST_TIMESTAMP), b"")?;
        Ok(self)
    }

    /// The whole row up to a time in milliseconds.
    #[must_use]
    pub fn until(mut self, timestamp: u64) -> Self {
        self.0.timestamp = timestamp;
        self
    }
}

impl Increment {
    /// Adds to a column; an absent one counts as 0.
    ///
    /// # Errors
    /// [`Error::Request`] if the family's name is too long.
    pub fn column(mut self, family: &[u8], qualifier: &[u8], by: i64) -> Result<Self, Error> {
        self.0.add(CellKind::PUT, (family, qualifier), LATEST_TIMESTAMP, &by.to_be_bytes())?;
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_time_changes_nothing_if_all_cells_have_times() {
        let repeatable = |mutation: Mutation| mutation.is_repeatable();
        let put = Put::new("r").unwrap().column_at(b"f", b"q", 7, b"v").unwrap();
        assert!(repeatable(put.clone().into()));
        assert!(!repeatable(put.column(b"f", b"p", b"v").unwrap().into()));
        assert!(!repeatable(Delete::new("r").unwrap().into()));
        assert!(repeatable(Delete::new("r").unwrap().until(7).into()));
        assert!(repeatable(Delete::new("r").unwrap().family(b"f", Some(7)).unwrap().into()));
        assert!(!repeatable(Increment::new("r").unwrap().column(b"f", b"q", 1).unwrap().into()));
    }

    #[test]
    fn long_rows_are_refused_before_they_are_sent() {
        assert!(matches!(Put::new(vec![0; 40_000]), Err(Error::Request(WireError::RowLength { .. }))));
        assert!(matches!(Delete::new(""), Err(Error::Request(WireError::RowLength { .. }))));
    }
}
