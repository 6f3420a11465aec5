//! The stored form of one family of one row.
//!
//! ```text
//! version   1 byte, 1
//! time      8 bytes, milliseconds since 1970 when the row was written
//! slots     2 bytes: columns of the family when it was written
//! nulls     a bit a slot, lowest first; 1 is NULL
//! fixed     the fixed-width slots in order, NULLs too
//! ends      4 bytes a variable-width slot: where its bytes end
//! variable  the bytes
//! ```
//! All numbers are little endian. A slot beyond `slots` belongs to a column that
//! was added later. The space after `variable` is reserved for columns that are not declared.

use saltwing_types::{SqlType, Value};

use crate::format::slot_format::{put_fixed, put_variable, width};

/// The version that is written.
const VERSION: u8 = 1;
/// Bytes before the null bitmap.
const HEADER_BYTES: usize = 11;
/// Most bytes of one stored value.
pub(crate) const VALUE_BYTES_MAX: usize = 1 << 30;

/// Where each slot of a family lies.
#[derive(Debug)]
pub(crate) struct FamilyLayout {
    slots: Vec<Slot>,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    ty: SqlType,
    /// Width, if fixed.
    width: Option<usize>,
    /// Fixed-width bytes before this slot.
    fixed_before: usize,
    /// Variable-width slots before this one.
    variable_before: usize,
}

impl FamilyLayout {
    /// A layout of slots with these types, in order.
    pub(crate) fn new(types: impl IntoIterator<Item = SqlType>) -> Self {
        let (mut fixed_before, mut variable_before) = (0, 0);
        let slots = types
            .into_iter()
            .map(|ty| {
                let slot = Slot { ty, width: width(ty), fixed_before, variable_before };
                fixed_before += slot.width.unwrap_or(0);
                variable_before += usize::from(slot.width.is_none());
                slot
            })
            .collect();
        Self { slots }
    }

    /// Adds the stored form to `out`; `value` gives each slot's value.
    pub(crate) fn encode<'a>(&self, time_ms: i64, value: impl Fn(usize) -> &'a Value, out: &mut Vec<u8>) {
        let (fixed_bytes, variable_count) = self.sizes(self.slots.len());
        let bitmap_bytes = self.slots.len().div_ceil(8);
        let start = out.len();
        out.push(VERSION);
        out.extend_from_slice(&time_ms.to_le_bytes());
        out.extend_from_slice(&(self.slots.len() as u16).to_le_bytes());
        let nulls_at = start + HEADER_BYTES;
        let fixed_at = nulls_at + bitmap_bytes;
        let ends_at = fixed_at + fixed_bytes;
        out.resize(ends_at + 4 * variable_count, 0);
        let variable_at = out.len();
        for (i, slot) in self.slots.iter().enumerate() {
            let value = value(i);
            if value.is_null() {
                out[nulls_at + i / 8] |= 1 << (i % 8);
            } else if let Some(width) = slot.width {
                let at = fixed_at + slot.fixed_before;
                put_fixed(value, slot.ty, &mut out[at..at + width]);
            } else {
                put_variable(value, slot.ty, out);
            }
            if slot.width.is_none() {
                let end = (out.len() - variable_at) as u32;
                let at = ends_at + 4 * slot.variable_before;
                out[at..at + 4].copy_from_slice(&end.to_le_bytes());
            }
        }
    }

    /// Fixed bytes and variable slots among the first `count` slots.
    fn sizes(&self, count: usize) -> (usize, usize) {
        match count.checked_sub(1).and_then(|last| self.slots.get(last)) {
            None => (0, 0),
            Some(last) => {
                (last.fixed_before + last.width.unwrap_or(0), last.variable_before + usize::from(last.width.is_none()))
            }
        }
    }

    /// Reads the stored form; `None` when the bytes are none.
    pub(crate) fn read<'a>(&'a self, bytes: &'a [u8]) -> Option<StoredRow<'a>> {
        let count = usize::from(u16::from_le_bytes(bytes.get(9..11)?.try_into().ok()?));
        if *bytes.first()? != VERSION || count > self.slots.len() {
            return None;
        }
        let (fixed_bytes, variable_count) = self.sizes(count);
        let fixed_at = HEADER_BYTES + count.div_ceil(8);
        let ends_at = fixed_at + fixed_bytes;
        let variable_at = ends_at + 4 * variable_count;
        (bytes.len() >= variable_at).then_some(StoredRow { layout: self, bytes, count, fixed_at, ends_at, variable_at })
    }
}

/// When a stored family was written; `None` when the bytes are none.
pub(crate) fn write_time_ms(bytes: &[u8]) -> Option<i64> {
    Some(i64::from_le_bytes(bytes.get(1..9)?.try_into().ok()?))
}

/// One family of one row, as stored.
pub(crate) struct StoredRow<'a> {
    layout: &'a FamilyLayout,
    bytes: &'a [u8],
    count: usize,
    fixed_at: usize,
    ends_at: usize,
    variable_at: usize,
}

/// The content of a slot.
pub(crate) enum SlotBytes<'a> {
    /// A column that was added after the row was written.
    Absent,
    /// NULL.
    Null,
    /// A value's bytes.
    Value(&'a [u8]),
}

impl<'a> StoredRow<'a> {
    /// The bytes of a slot; `None` when they run out of the row.
    pub(crate) fn slot(&self, index: usize) -> Option<SlotBytes<'a>> {
        if index >= self.count {
            return Some(SlotBytes::Absent);
        }
        let slot = self.layout.slots.get(index)?;
        if self.bytes.get(HEADER_BYTES + index / 8)? & (1 << (index % 8)) != 0 {
            return Some(SlotBytes::Null);
        }
        let bytes = match slot.width {
            Some(width) => {
                let at = self.fixed_at + slot.fixed_before;
                self.bytes.get(at..at + width)?
            }
            None => {
                let end = |i: usize| -> Option<usize> {
                    let at = self.ends_at + 4 * i;
                    Some(u32::from_le_bytes(self.bytes.get(at..at + 4)?.try_into().ok()?) as usize)
                };
                let start = if slot.variable_before == 0 { 0 } else { end(slot.variable_before - 1)? };
                let end = end(slot.variable_before)?;
                self.bytes.get(self.variable_at + start..self.variable_at + end)?
            }
        };
        Some(SlotBytes::Value(bytes))
    }
}

#[cfg(test)]
mod tests {
    use saltwing_types::value::Timestamp;

    use super::*;
    use crate::format::slot_format::slot_value;

    fn row() -> (Vec<SqlType>, Vec<Value>) {
        let types = vec![
            SqlType::Integer,
            SqlType::Varchar(None),
            SqlType::Boolean,
            SqlType::Decimal(Some((10, 2))),
            SqlType::Decimal(None),
            SqlType::Varbinary,
            SqlType::Timestamp,
            SqlType::TinyInt,
            SqlType::Double,
            SqlType::Char(3),
        ];
        let values = vec![
            Value::Int(-5),
            Value::text("héllo"),
            Value::Bool(true),
            Value::Decimal("-1.25".parse().unwrap()),
            Value::Decimal("1e100".parse().unwrap()),
            Value::Bytes(vec![]),
            Value::Timestamp(Timestamp { ms: -1, nanos: 7 }),
            Value::Int(-128),
            Value::Double(0.5),
            Value::text("ab"),
        ];
        (types, values)
    }

    fn encoded(layout: &FamilyLayout, values: &[Value]) -> Vec<u8> {
        // The bytes before it are irrelevant.
        let mut bytes = vec![0xff; 3];
        layout.encode(42, |i| &values[i], &mut bytes);
        bytes.split_off(3)
    }

    fn decode(layout: &FamilyLayout, types: &[SqlType], bytes: &[u8]) -> Option<Vec<Option<Value>>> {
        let stored = layout.read(bytes)?;
        (0..types.len())
            .map(|i| {
                Some(match stored.slot(i)? {
                    SlotBytes::Absent => None,
                    SlotBytes::Null => Some(Value::Null),
                    SlotBytes::Value(bytes) => Some(slot_value(types[i], bytes)?),
                })
            })
            .collect()
    }

    #[test]
    fn reads_what_it_writes_with_any_column_null() {
        let (types, values) = row();
        let layout = FamilyLayout::new(types.clone());
        for null in 0..=types.len() {
            let mut values = values.clone();
            if let Some(value) = values.get_mut(null) {
                *value = Value::Null;
            }
            let bytes = encoded(&layout, &values);
            assert_eq!(write_time_ms(&bytes), Some(42));
            assert_eq!(decode(&layout, &types, &bytes).unwrap(), values.into_iter().map(Some).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_column_added_later_is_absent() {
        let (types, values) = row();
        let old = FamilyLayout::new(types[..4].to_vec());
        let bytes = encoded(&old, &values);
        let read = decode(&FamilyLayout::new(types.clone()), &types, &bytes).unwrap();
        assert_eq!(read[..4], values[..4].iter().cloned().map(Some).collect::<Vec<_>>());
        assert!(read[4..].iter().all(Option::is_none));
    }

    #[test]
    fn damaged_bytes_never_panic() {
        let (types, values) = row();
        let layout = FamilyLayout::new(types.clone());
        let bytes = encoded(&layout, &values);
        for cut in 0..bytes.len() {
            let _ = decode(&layout, &types, &bytes[..cut]);
        }
        for at in 0..bytes.len() {
            for flip in [0xff, 0x01, 0x80] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                let _ = decode(&layout, &types, &damaged);
            }
        }
    }
}
