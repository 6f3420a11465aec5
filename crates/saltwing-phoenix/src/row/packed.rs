//! Cells that have all columns of a family.
//!
//! ```text
//! 78 | the values of slots 11, 12, .. one after the other | offsets of all slots, the first one too | ..
//! ```
//! The first slot is `x`, so that no other one begins at 0: the offset of a column without a value is the negative of the
//! place where its value would be. A slot without bytes is NULL, as a column with a DEFAULT has it.

use crate::offsets::{self, OffsetForm, Offsets};

/// What a slot has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot<'a> {
    /// No value was written, or the column came after the row.
    Absent,
    /// A value; no bytes for NULL.
    Value(&'a [u8]),
}

/// A packed cell that is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackedCell<'a>(Offsets<'a>);

impl<'a> PackedCell<'a> {
    pub(super) fn read(stored: &'a [u8]) -> Result<Self, &'static str> {
        match Offsets::read(stored, OffsetForm::Packed) {
            Some(offsets) if offsets.len() > 0 => Ok(Self(offsets)),
            _ => Err("not a cell of several columns"),
        }
    }

    /// A column's slot; the first column has number 0.
    pub(super) fn slot(&self, column: usize) -> Result<Slot<'a>, &'static str> {
        const BAD: &str = "an offset outside of the cell";
        let Self(offsets) = self;
        let slot = column + 1;
        let Some(start) = offsets.get(slot) else { return Ok(Slot::Absent) };
        let Ok(start) = usize::try_from(start) else { return Ok(Slot::Absent) };
        let end = match offsets.get(slot + 1) {
            Some(next) => next.unsigned_abs() as usize,
            None => offsets.data().len(),
        };
        offsets.data().get(start..end).map(Slot::Value).ok_or(BAD)
    }
}

/// Appends a packed cell; `None` for a column without a value. `None` if the cell becomes too large.
pub(super) fn write<'v>(values: impl Iterator<Item = Option<&'v [u8]>>) -> Option<Vec<u8>> {
    let mut out = vec![b'x'];
    let mut places = vec![0];
    for value in values {
        let here = i32::try_from(out.len()).ok()?;
        places.push(if value.is_some() { here } else { -here });
        out.extend_from_slice(value.unwrap_or_default());
    }
    offsets::write(0, &places, OffsetForm::Packed, &mut out)?;
    Some(out)
}
