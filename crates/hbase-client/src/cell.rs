//! Cells: a row key, a column, a time, and a value or a marker of a deletion.
//!
//! A cell keeps its bytes as they stand in a cell block, after the length of the whole:
//!
//! ```text
//! [key length] [value length] [row length] [row] [family length] [family] [qualifier] [time] [kind] [value]
//!      4             4             2                    1                                8      1
//! ```
//!
//! All numbers are big-endian; the key goes from the row's length to the kind. Cells of one response share the response's bytes: a cell
//! that is kept keeps all of them.
//!
//! # Laws
//! 1. The parts of `Cell::new(parts)` are those parts.
//! 2. `Cell::from_key_value(cell.key_value()) == cell`.
//! 3. Damaged bytes are an error, or a cell whose parts lie within them.

use std::fmt;

use bytes::{BufMut, Bytes, BytesMut};

use crate::proto;
use crate::wire_error::WireError;

/// The time of a cell that the server replaces with its own.
pub const LATEST_TIMESTAMP: u64 = i64::MAX as u64;
/// The most bytes of a row key.
pub const ROW_BYTES_MAX: usize = i16::MAX as usize;
/// The most bytes of a family's name.
pub const FAMILY_BYTES_MAX: usize = i8::MAX as usize;

/// The two lengths before the key.
const LENGTHS_BYTES: usize = 8;
/// The bytes of a key without row, family and qualifier.
const KEY_OVERHEAD_BYTES: usize = 2 + 1 + 8 + 1;

/// What a cell is: the last byte of its key. Other numbers than the constants are kept as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellKind(pub u8);

impl CellKind {
    /// A value.
    pub const PUT: Self = Self(4);
    /// Deletes one version of a column: the one with this time, or the newest.
    pub const DELETE: Self = Self(8);
    /// Deletes the cells of a family that have exactly this time.
    pub const DELETE_FAMILY_VERSION: Self = Self(10);
    /// Deletes all versions of a column up to this time.
    pub const DELETE_COLUMN: Self = Self(12);
    /// Deletes all cells of a family up to this time.
    pub const DELETE_FAMILY: Self = Self(14);
}

/// The parts of a cell that is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellParts<'a> {
    /// The row key, 1 to [`ROW_BYTES_MAX`] bytes.
    pub row: &'a [u8],
    /// The column family, up to [`FAMILY_BYTES_MAX`] bytes.
    pub family: &'a [u8],
    /// The column's qualifier; may be empty.
    pub qualifier: &'a [u8],
    /// Milliseconds since 1970, or [`LATEST_TIMESTAMP`].
    pub timestamp: u64,
    /// A value or a marker of a deletion.
    pub kind: CellKind,
    /// The value; empty for markers.
    pub value: &'a [u8],
}

/// A cell. A clone shares the bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Cell {
    bytes: Bytes,
    // Where the parts end, in `bytes`. They were checked when the cell was made.
    row_end: u32,
    family_end: u32,
    key_end: u32,
}

impl Cell {
    /// Makes a cell of its parts.
    ///
    /// # Errors
    /// [`WireError::RowLength`], [`WireError::FamilyLength`], [`WireError::CellLength`].
    pub fn new(parts: CellParts<'_>) -> Result<Self, WireError> {
        let row_bytes = parts.row.len();
        if row_bytes == 0 || row_bytes > ROW_BYTES_MAX {
            return Err(WireError::RowLength { row_bytes });
        }
        let family_bytes = parts.family.len();
        let Some(family_length) = u8::try_from(family_bytes).ok().filter(|_| family_bytes <= FAMILY_BYTES_MAX) else {
            return Err(WireError::FamilyLength { family_bytes });
        };
        let key_bytes = KEY_OVERHEAD_BYTES + row_bytes + family_bytes + parts.qualifier.len();
        let cell_bytes = LENGTHS_BYTES + key_bytes + parts.value.len();
        if i32::try_from(cell_bytes).is_err() {
            return Err(WireError::CellLength { cell_bytes });
        }
        let mut bytes = BytesMut::with_capacity(cell_bytes);
        bytes.put_u32(key_bytes as u32);
        bytes.put_u32(parts.value.len() as u32);
        bytes.put_u16(row_bytes as u16);
        bytes.put_slice(parts.row);
        bytes.put_u8(family_length);
        bytes.put_slice(parts.family);
        bytes.put_slice(parts.qualifier);
        bytes.put_u64(parts.timestamp);
        bytes.put_u8(parts.kind.0);
        bytes.put_slice(parts.value);
        let row_end = LENGTHS_BYTES + 2 + row_bytes;
        Ok(Self {
            bytes: bytes.freeze(),
            row_end: row_end as u32,
            family_end: (row_end + 1 + family_bytes) as u32,
            key_end: (LENGTHS_BYTES + key_bytes) as u32,
        })
    }

    /// The cell whose bytes these are, without the length of the whole before them. The bytes are shared.
    ///
    /// # Errors
    /// [`WireError::Cell`] if the lengths do not fit each other and the bytes exactly.
    pub fn from_key_value(bytes: Bytes) -> Result<Self, WireError> {
        let wrong = || WireError::Cell { cell_bytes: bytes.len() };
        if i32::try_from(bytes.len()).is_err() {
            return Err(wrong());
        }
        let number = |at: usize| -> Option<usize> {
            let four = bytes.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_be_bytes(four) as usize)
        };
        let (key_bytes, value_bytes) = number(0).zip(number(4)).ok_or_else(wrong)?;
        if LENGTHS_BYTES.checked_add(key_bytes).and_then(|end| end.checked_add(value_bytes)) != Some(bytes.len()) {
            return Err(wrong());
        }
        let key_end = LENGTHS_BYTES + key_bytes;
        let row_bytes = match bytes.get(LENGTHS_BYTES..LENGTHS_BYTES + 2) {
            Some(two) => usize::from(u16::from_be_bytes([two[0], two[1]])),
            None => return Err(wrong()),
        };
        let row_end = LENGTHS_BYTES + 2 + row_bytes;
        let family_bytes = usize::from(*bytes.get(row_end).ok_or_else(wrong)?);
        let family_end = row_end + 1 + family_bytes;
        if row_bytes > ROW_BYTES_MAX || family_end + 9 > key_end {
            return Err(wrong());
        }
        Ok(Self { row_end: row_end as u32, family_end: family_end as u32, key_end: key_end as u32, bytes })
    }

    /// The cell that stands in a message.
    ///
    /// # Errors
    /// As [`Cell::new`], and [`WireError::Cell`] for a kind beyond a byte.
    pub fn from_message(message: &proto::Cell) -> Result<Self, WireError> {
        let part = |bytes: &'_ Option<Bytes>| bytes.clone().unwrap_or_default();
        let (row, family) = (part(&message.row), part(&message.family));
        let (qualifier, value) = (part(&message.qualifier), part(&message.value));
        let kind = message.cell_type.map_or(Ok(CellKind::PUT.0), u8::try_from);
        Self::new(CellParts {
            row: &row,
            family: &family,
            qualifier: &qualifier,
            timestamp: message.timestamp.unwrap_or(LATEST_TIMESTAMP),
            kind: CellKind(kind.map_err(|_| WireError::Cell { cell_bytes: row.len() + value.len() })?),
            value: &value,
        })
    }

    /// The row key.
    pub fn row(&self) -> &[u8] {
        &self.bytes[LENGTHS_BYTES + 2..self.row_end as usize]
    }

    /// The row key; it shares the cell's bytes.
    pub fn row_bytes(&self) -> Bytes {
        self.bytes.slice(LENGTHS_BYTES + 2..self.row_end as usize)
    }

    /// The column family.
    pub fn family(&self) -> &[u8] {
        &self.bytes[self.row_end as usize + 1..self.family_end as usize]
    }

    /// The column's qualifier.
    pub fn qualifier(&self) -> &[u8] {
        &self.bytes[self.family_end as usize..self.key_end as usize - 9]
    }

    /// Milliseconds since 1970, or [`LATEST_TIMESTAMP`].
    pub fn timestamp(&self) -> u64 {
        let end = self.key_end as usize - 1;
        let eight = self.bytes[end - 8..end].try_into();
        eight.map_or(0, u64::from_be_bytes)
    }

    /// A value or a marker of a deletion.
    pub fn kind(&self) -> CellKind {
        CellKind(self.bytes[self.key_end as usize - 1])
    }

    /// The value.
    pub fn value(&self) -> &[u8] {
        &self.bytes[self.key_end as usize..]
    }

    /// The value; it shares the cell's bytes.
    pub fn value_bytes(&self) -> Bytes {
        self.bytes.slice(self.key_end as usize..)
    }

    /// The cell's bytes as they stand in a cell block, without the length of the whole.
    pub fn key_value(&self) -> &Bytes {
        &self.bytes
    }

    /// The parts.
    pub fn parts(&self) -> CellParts<'_> {
        CellParts {
            row: self.row(),
            family: self.family(),
            qualifier: self.qualifier(),
            timestamp: self.timestamp(),
            kind: self.kind(),
            value: self.value(),
        }
    }
}

impl fmt::Debug for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.parts();
        let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
        write!(f, "{}/{}:{}", text(parts.row), text(parts.family), text(parts.qualifier))?;
        write!(f, "/{}/{}={}", parts.timestamp, parts.kind.0, text(parts.value))
    }
}

#[cfg(test)]
mod tests;
