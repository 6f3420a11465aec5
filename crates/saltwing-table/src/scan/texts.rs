//! Texts of a column under construction.

use std::ops::Range;

use arrow::buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use saltwing_types::ValueError;

use crate::format::stored_column::Unreadable;
use crate::format::var_part::VarColumn;

/// Maximum of bytes reserved in advance.
const TEXT_BYTES_AHEAD_MAX: usize = 1 << 20;

/// Texts, or bytes, concatenated.
pub(crate) struct Texts {
    offsets: Vec<i32>,
    bytes: Vec<u8>,
}

impl Texts {
    /// Without room it takes no memory, and can take no rows: see `ColumnWriter::reserve`.
    pub(crate) fn new(capacity: usize) -> Self {
        let mut offsets = Vec::new();
        if capacity > 0 {
            offsets.reserve_exact(capacity + 1);
            offsets.push(0);
        }
        Self { offsets, bytes: Vec::new() }
    }

    pub(crate) fn push(&mut self, parts: [&[u8]; 2]) -> Result<(), ValueError> {
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        self.end_row()
    }

    /// Repeats the last value `times` more times.
    pub(crate) fn repeat(&mut self, times: usize) -> Result<(), ValueError> {
        let [.., start, end] = self.offsets[..] else { return Ok(()) };
        let (length, all) = ((end - start) as usize, self.bytes.len());
        let total = all + length * times;
        i32::try_from(total).map_err(|_| too_long(total))?;
        self.bytes.reserve(total - all);
        // Each round copies everything so far, which doubles it.
        while self.bytes.len() < total {
            let from = start.max(0) as usize;
            let until = self.bytes.len().min(from + (total - self.bytes.len()));
            self.bytes.extend_from_within(from..until);
        }
        self.offsets.extend((1..=times as i32).map(|i| end + i * (end - start)));
        Ok(())
    }

    fn end_row(&mut self) -> Result<(), ValueError> {
        self.offsets.push(i32::try_from(self.bytes.len()).map_err(|_| too_long(self.bytes.len()))?);
        Ok(())
    }

    pub(crate) fn push_null(&mut self) {
        self.offsets.push(self.offsets.last().copied().unwrap_or(0));
    }

    pub(crate) fn into_buffers(self) -> (OffsetBuffer<i32>, Buffer) {
        let offsets = if self.offsets.is_empty() { vec![0] } else { self.offsets };
        (OffsetBuffer::new(ScalarBuffer::from(offsets)), Buffer::from_vec(self.bytes))
    }

    pub(crate) fn extend(&mut self, column: &VarColumn, part: &[u8], rows: Range<usize>) -> Result<(), Unreadable> {
        // Reserves for the coming rows, if they are like these, plus an eighth: a reallocation costs more.
        let bytes = column.bytes_of(&rows);
        let to_come = (self.offsets.capacity() - self.offsets.len()).max(rows.len());
        let alike = bytes * to_come / rows.len().max(1);
        let expected = (alike + alike / 8).min(TEXT_BYTES_AHEAD_MAX).max(bytes);
        if self.bytes.capacity() - self.bytes.len() < bytes {
            self.bytes.reserve(expected);
        }
        let mut is_too_long = false;
        let appended = column.each_run(part, rows, |bytes, start, ends| {
            let shift = self.bytes.len();
            self.bytes.extend_from_slice(bytes);
            is_too_long = i32::try_from(self.bytes.len()).is_err();
            // All ends lie below the length that is checked here.
            (!is_too_long).then(|| self.offsets.extend(ends.iter().map(|end| (shift + (end - start) as usize) as i32)))
        });
        if is_too_long {
            return Err(too_long(self.bytes.len()).into());
        }
        appended.ok_or(Unreadable::Damaged)
    }
}

fn too_long(bytes: usize) -> ValueError {
    let value = format!("a column of {bytes} bytes");
    ValueError::TooLong { value, target: "one batch, which takes 2 GiB a column".into() }
}
