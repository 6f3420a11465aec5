//! Older versions of rows: the keys and values of the space [`VERSIONS`](crate::format::spaces::VERSIONS).
//!
//! ```text
//! version  table 4 | row key, each 00 as 00 ff | 00 00 | stamp 8, big endian
//!          -> the row as a record has it; empty: there was no row; 00: this state and all before it are gone
//! history  table 4 -> version 1 | since 4 | first ms 8 | last stamp 8 | checksum 4
//! ```
//! The stamp is that of the commit that replaced the row, so a version is the state of its key before that commit. Stamps
//! of a table ascend with its commits, even if the clock goes back.

use saltwing_store::KeyBounds;
use saltwing_types::TableId;

use crate::format::bits::{Reader, seal};
use crate::format::spaces::split_table;

/// The value of a version that is gone with all before it. No row begins like this: it has a family.
pub(crate) const GONE: &[u8] = &[0];

/// The form of a [`History`].
const HISTORY_FORM: u8 = 1;
/// Bits of a stamp that count the commits of a millisecond.
const COUNT_BITS: u32 = 16;
const STAMP_BYTES: usize = 8;
const KEY_END: [u8; 2] = [0, 0];

/// The place of a commit among all: its time in milliseconds since 1970, and a number within the millisecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp(u64);

impl Stamp {
    /// The stamp of a commit at `now_ms`, after one that has this stamp.
    pub(crate) fn next(self, now_ms: i64) -> Self {
        Self(Self::start_of(now_ms).0.max(self.0.saturating_add(1)))
    }

    fn start_of(ms: i64) -> Self {
        Self(ms.clamp(0, i64::MAX >> COUNT_BITS).unsigned_abs() << COUNT_BITS)
    }

    /// Whether a commit with this stamp is not part of the state at `ms`.
    pub(crate) fn is_after(self, ms: i64) -> bool {
        self.ms() > ms
    }

    /// Milliseconds since 1970.
    pub(crate) fn ms(self) -> i64 {
        (self.0 >> COUNT_BITS).cast_signed()
    }
}

/// How far back the versions of a table reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct History {
    /// The version of the table's definition since which it keeps versions without a gap.
    pub(crate) since: u32,
    /// The earliest time, in milliseconds since 1970, of which all is known.
    pub(crate) first_ms: i64,
    /// The stamp of the last commit.
    pub(crate) last: Stamp,
}

impl History {
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = vec![HISTORY_FORM];
        out.extend_from_slice(&self.since.to_le_bytes());
        out.extend_from_slice(&self.first_ms.to_le_bytes());
        out.extend_from_slice(&self.last.0.to_le_bytes());
        seal(out)
    }

    /// `None` for bytes that are none.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::checked(bytes)?;
        if reader.u8()? != HISTORY_FORM {
            return None;
        }
        let (since, first_ms, last) = (reader.u32()?, reader.i64()?, Stamp(reader.u64()?));
        reader.is_at_end().then_some(Self { since, first_ms, last })
    }
}

/// The key of a table's [`History`].
pub(crate) fn history_key(table: TableId) -> Vec<u8> {
    table.0.to_be_bytes().to_vec()
}

/// The key of a version.
pub(crate) fn version_key(table: TableId, row_key: &[u8], stamp: Stamp) -> Vec<u8> {
    let mut key = history_key(table);
    escape(row_key, &mut key);
    key.extend_from_slice(&KEY_END);
    key.extend_from_slice(&stamp.0.to_be_bytes());
    key
}

/// All versions of a table's rows with keys from `start` to `end`.
pub(crate) fn version_bounds(table: TableId, start: &[u8], end: Option<&[u8]>) -> KeyBounds {
    // The end of a key sorts before any byte that continues it: a version sorts as its row key.
    let bound = |row_key: &[u8]| {
        let mut bound = history_key(table);
        escape(row_key, &mut bound);
        bound
    };
    match end {
        Some(end) => KeyBounds::new(bound(start), Some(bound(end))),
        None => {
            let whole = KeyBounds::prefix(&history_key(table));
            KeyBounds::new(bound(start), whole.end().map(<[u8]>::to_vec))
        }
    }
}

/// The escaped row key and the stamp of a version's key; `None` for the key of a [`History`], and for bytes that are no key.
pub(crate) fn split_version(key: &[u8]) -> Option<(&[u8], Stamp)> {
    let (_, rest) = split_table(key)?;
    let (rest, stamp) = rest.split_last_chunk::<STAMP_BYTES>()?;
    Some((rest.strip_suffix(&KEY_END)?, Stamp(u64::from_be_bytes(*stamp))))
}

fn escape(row_key: &[u8], out: &mut Vec<u8>) {
    for &byte in row_key {
        out.push(byte);
        if byte == 0 {
            out.push(0xff);
        }
    }
}

/// The row key that was escaped.
pub(crate) fn unescape(escaped: &[u8]) -> Vec<u8> {
    let mut row_key = Vec::with_capacity(escaped.len());
    let mut rest = escaped.iter();
    while let Some(&byte) = rest.next() {
        row_key.push(byte);
        if byte == 0 {
            rest.next();
        }
    }
    row_key
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row_key() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop_oneof![Just(0u8), Just(1), Just(0xff), any::<u8>()], 1..6)
    }

    proptest! {
        /// Versions sort by row key, then by stamp, and bounds of row keys are bounds of their versions.
        #[test]
        fn versions_sort_as_their_rows(
            (a, b) in (row_key(), row_key()),
            (s, t) in (any::<u64>(), any::<u64>()),
            start in row_key(),
            end in proptest::option::of(row_key()),
        ) {
            let table = TableId(7);
            let (a_key, b_key) = (version_key(table, &a, Stamp(s)), version_key(table, &b, Stamp(t)));
            prop_assert_eq!(a_key.cmp(&b_key), (&a, s).cmp(&(&b, t)));
            let (escaped, stamp) = split_version(&a_key).unwrap();
            prop_assert_eq!((unescape(escaped), stamp), (a.clone(), Stamp(s)));
            let is_inside = a >= start && end.as_ref().is_none_or(|end| a < *end);
            prop_assert_eq!(version_bounds(table, &start, end.as_deref()).contains(&a_key), is_inside);
            prop_assert!(split_version(&history_key(table)).is_none());
        }

        #[test]
        fn histories_come_back(since: u32, first_ms: i64, last: u64, at in 0usize..25, bit in 0u8..8) {
            let history = History { since, first_ms, last: Stamp(last) };
            let mut bytes = history.write();
            prop_assert_eq!(History::read(&bytes), Some(history));
            bytes[at] ^= 1 << bit;
            prop_assert_eq!(History::read(&bytes), None);
        }
    }

    #[test]
    fn stamps_ascend_though_the_clock_does_not() {
        let first = Stamp::default().next(1_000);
        assert_eq!((first.ms(), first.is_after(999), first.is_after(1_000)), (1_000, true, false));
        let (same, back) = (first.next(1_000), first.next(10));
        assert_eq!((same.ms(), same), (1_000, back));
        assert!(first < same && same < same.next(1_001));
        assert_eq!(Stamp::default().next(-5), Stamp(1));
    }
}
