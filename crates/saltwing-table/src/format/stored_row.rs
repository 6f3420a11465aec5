//! A recent row as a commit stores it, and as a memtable has it.
//!
//! ```text
//! row     count of families 1 | bytes of each but the last, 4 each | families
//! family  see `row_format`; no bytes if all columns are NULL and none has a default
//! ```

use saltwing_store::Bytes;

use crate::format::row_format;

/// A recent row with its key; `None` says that the row is deleted.
pub(crate) type RecentRow = (Bytes, Option<StoredRow>);

/// A row of all families, as stored in a delta.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredRow(pub(crate) Bytes);

impl StoredRow {
    /// Adds a row of `count` families to `out`; `write` adds the bytes of each.
    pub(crate) fn write(count: usize, out: &mut Vec<u8>, mut write: impl FnMut(usize, &mut Vec<u8>)) {
        out.push(count as u8);
        let mut length_at = out.len();
        out.resize(length_at + 4 * count.saturating_sub(1), 0);
        for family in 0..count {
            let start = out.len();
            write(family, out);
            let bytes = (out.len() - start) as u32;
            if family + 1 < count
                && let Some(length) = out.get_mut(length_at..length_at + 4)
            {
                length.copy_from_slice(&bytes.to_le_bytes());
                length_at += 4;
            }
        }
    }

    /// The bytes of a family; `None` where its columns read as those of a row that is older than they.
    pub(crate) fn family(&self, family: usize) -> Option<&[u8]> {
        let (&count, rest) = self.0.split_first()?;
        let count = usize::from(count);
        let length = |i: usize| -> Option<usize> {
            Some(u32::from_le_bytes(rest.get(4 * i..4 * i + 4)?.try_into().ok()?) as usize)
        };
        if family >= count {
            return None;
        }
        let mut start = 4 * (count - 1);
        for before in 0..family {
            start = start.checked_add(length(before)?)?;
        }
        let end = if family + 1 == count { rest.len() } else { start.checked_add(length(family)?)? };
        rest.get(start..end).filter(|bytes| !bytes.is_empty())
    }

    /// The write time of the row, in milliseconds since 1970. A damaged row never expires, so that a read reports the
    /// damage.
    pub(crate) fn time_ms(&self) -> i64 {
        self.family(0).and_then(row_format::write_time_ms).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn families_come_apart_as_they_were_put_together(families in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..5), 1..5)) {
            let mut bytes = Vec::new();
            StoredRow::write(families.len(), &mut bytes, |family, out| out.extend_from_slice(&families[family]));
            let row = StoredRow(Bytes::from(bytes));
            prop_assert_eq!(row.family(families.len()), None);
            for (i, family) in families.iter().enumerate() {
                let wanted = (!family.is_empty()).then_some(&family[..]);
                prop_assert_eq!(row.family(i), wanted);
            }
        }
    }
}
