//! The table of offsets at the end of arrays and of packed cells.
//!
//! ```text
//! [data] [an offset for each slot] [start of the offsets, 4 bytes] [count, 4 bytes] [version]
//! ```
//! Numbers are big endian. Offsets have 2 bytes if the last one fits them, else 4; then the count is negative.

/// The two users of such tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OffsetForm {
    /// An array: short offsets are less by 32,767, so that they reach 65,534.
    Array,
    /// A cell of several columns: offsets are as they are, and a negative one is that of a column without a value.
    Packed,
}

impl OffsetForm {
    fn version(self) -> u8 {
        if self == Self::Array { 1 } else { 3 }
    }

    /// What is subtracted from short offsets.
    fn base(self) -> i32 {
        if self == Self::Array { 32_767 } else { 0 }
    }

    fn is_short(self, last: i32) -> bool {
        match self {
            Self::Array => last <= 65_534,
            Self::Packed => i16::try_from(last).is_ok(),
        }
    }
}

/// A table of offsets that is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offsets<'a> {
    data: &'a [u8],
    offsets: &'a [u8],
    width: usize,
    base: i32,
}

impl<'a> Offsets<'a> {
    /// Finds the table in `stored`; `None` if the bytes are not of this form. The offsets themselves are not checked.
    pub(crate) fn read(stored: &'a [u8], form: OffsetForm) -> Option<Self> {
        let (body, [a, b, c, d, count @ .., version]) = stored.split_last_chunk::<9>()?;
        let (data, offsets) = body.split_at_checked(u32::from_be_bytes([*a, *b, *c, *d]) as usize)?;
        let count = i32::from_be_bytes(*count);
        let width = if count < 0 { 4 } else { 2 };
        let expected = usize::try_from(count.unsigned_abs()).ok()?.checked_mul(width)?;
        let base = if width == 2 { form.base() } else { 0 };
        (*version == form.version() && offsets.len() == expected).then_some(Self { data, offsets, width, base })
    }

    /// What stands before the table.
    pub(crate) fn data(&self) -> &'a [u8] {
        self.data
    }

    /// The number of slots.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len() / self.width
    }

    /// The offset of a slot; `None` if there is no such slot.
    pub(crate) fn get(&self, slot: usize) -> Option<i32> {
        let start = slot.checked_mul(self.width)?;
        match self.offsets.get(start..start.checked_add(self.width)?)? {
            [a, b] => Some(i32::from(i16::from_be_bytes([*a, *b])) + self.base),
            [a, b, c, d] => Some(i32::from_be_bytes([*a, *b, *c, *d])),
            _ => None,
        }
    }
}

/// Appends the table after the data that stands in `out` from `start` on. `None` if lengths or counts need more than 32 bits.
pub(crate) fn write(start: usize, offsets: &[i32], form: OffsetForm, out: &mut Vec<u8>) -> Option<()> {
    let table = i32::try_from(out.len().checked_sub(start)?).ok()?;
    let count = i32::try_from(offsets.len()).ok()?;
    let is_short = offsets.last().is_none_or(|last| form.is_short(*last));
    for offset in offsets {
        match is_short {
            true => out.extend(i16::try_from(offset - form.base()).ok()?.to_be_bytes()),
            false => out.extend(offset.to_be_bytes()),
        }
    }
    out.extend(table.to_be_bytes());
    out.extend(if is_short { count } else { -count }.to_be_bytes());
    out.push(form.version());
    Some(())
}
