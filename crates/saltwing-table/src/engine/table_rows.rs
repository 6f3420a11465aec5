//! The rows of one table as of one commit: recent ones in memtables, the others in blocks that a directory names.

use std::iter::Peekable;
use std::sync::Arc;

use saltwing_heat::{KeyPrefix, Recorder};
use saltwing_store::{Bytes, Direction};
use smallvec::SmallVec;

use crate::engine::directory::Directory;
use crate::engine::memtable::Delta;
use crate::format::delta_record::Record;
pub(crate) use crate::format::prefetch::prefetch;
use crate::format::stored_row::{RecentRow, StoredRow};

/// Rows whose places in memory are waited for together.
const ROWS_AT_ONCE: usize = 32;

/// The rows of one table as of one commit. Newest wins: active, then frozen, then runs, then block.
#[derive(Clone, Default)]
pub(crate) struct TableRows {
    pub(crate) active: Delta,
    /// The generation that is being merged.
    pub(crate) frozen: Delta,
    pub(crate) directory: Arc<Directory>,
    /// The version of the table's newest definition: no row was written by a later one.
    pub(crate) definition: u32,
    /// The counts of its accesses by key; `None` until it is open.
    pub(crate) accesses: Option<Arc<Recorder>>,
}

impl TableRows {
    /// Adds rows that are newer than all others. Entries that they belong to are marked for everybody who shares the directory.
    ///
    /// Several rows are added in key order: neighbours have their places in one node of the map, and in one chunk of the directory.
    pub(crate) fn add(&mut self, record: &Record) {
        let mut rows: SmallVec<[RecentRow; 1]> = record.rows().collect();
        rows.sort_by(|(a, _), (b, _)| a.cmp(b));
        self.directory.mark_owners(rows.iter().map(|(key, _)| &**key));
        for (key, row) in rows {
            self.active.insert(key, row);
        }
    }

    /// Counts an access that reads.
    #[inline]
    pub(crate) fn count_read(&self, key: impl Fn() -> KeyPrefix) {
        if let Some(accesses) = &self.accesses {
            accesses.read(1, |_| Some(key()));
        }
    }

    /// A row of the deltas: absent, deleted, or present.
    pub(crate) fn recent(&self, key: &[u8]) -> Option<&Option<StoredRow>> {
        self.active.get(key).or_else(|| self.frozen.get(key))
    }

    /// Up to `most` rows of the deltas from `start` to `end`, in the direction of the scan; whether these are all.
    pub(crate) fn collect(
        &self,
        start: &[u8],
        end: Option<&[u8]>,
        direction: Direction,
        most: usize,
        out: &mut Vec<RecentRow>,
    ) -> bool {
        out.clear();
        let (active, frozen) = (self.active.range(start, end), self.frozen.range(start, end));
        match direction {
            Direction::Forward => newest(active.peekable(), frozen.peekable(), direction, most, out),
            Direction::Reverse => newest(active.rev().peekable(), frozen.rev().peekable(), direction, most, out),
        }
    }

    /// Whether a delta has a row from `start` to `end`, which may be deleted.
    pub(crate) fn has_recent_between(&self, start: &[u8], end: Option<&[u8]>) -> bool {
        self.is_active_between(start, end) || self.frozen.range(start, end).next().is_some()
    }

    /// Whether the active delta has a row from `start` to `end`.
    pub(crate) fn is_active_between(&self, start: &[u8], end: Option<&[u8]>) -> bool {
        self.active.range(start, end).next().is_some()
    }
}

type Row<'a> = (&'a Bytes, &'a Option<StoredRow>);

/// Merges two walks; where both have a key, the first one's row is the newer.
fn newest<'a>(
    mut first: Peekable<impl Iterator<Item = Row<'a>>>,
    mut second: Peekable<impl Iterator<Item = Row<'a>>>,
    direction: Direction,
    most: usize,
    out: &mut Vec<RecentRow>,
) -> bool {
    let mut rows: SmallVec<[Row<'a>; ROWS_AT_ONCE]> = SmallVec::new();
    let is_all = loop {
        if out.len() + rows.len() >= most {
            break first.peek().is_none() && second.peek().is_none();
        }
        let row = match (first.peek(), second.peek()) {
            (None, _) => second.next(),
            (_, None) => first.next(),
            (Some((a, _)), Some((b, _))) if a == b => {
                second.next();
                first.next()
            }
            (Some((a, _)), Some((b, _))) if direction.is_before(a, b) => first.next(),
            _ => second.next(),
        };
        let Some(row) = row else { break true };
        rows.push(row);
        if rows.len() == ROWS_AT_ONCE {
            take(&mut rows, out);
        }
    };
    take(&mut rows, out);
    is_all
}

/// Clones rows, each of which lies in a place of its own. A clone waits for the count of references before the next one
/// begins; so all are prefetched.
fn take(rows: &mut SmallVec<[Row<'_>; ROWS_AT_ONCE]>, out: &mut Vec<RecentRow>) {
    let ends = |bytes: &[u8]| bytes.first().zip(bytes.last()).map_or(0, |(first, last)| usize::from(first ^ last));
    prefetch(rows.iter().map(|(key, row)| ends(key) ^ row.as_ref().map_or(0, |row| ends(&row.0))));
    out.extend(rows.drain(..).map(|(key, row)| (key.clone(), row.clone())));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_active_delta_is_the_newer(
            active in prop::collection::btree_map(0u8..9, any::<bool>(), 0..8),
            frozen in prop::collection::btree_map(0u8..9, any::<bool>(), 0..8),
            start in 0u8..9,
            end in proptest::option::of(0u8..9),
            reverse: bool,
            most in 0usize..9,
        ) {
            let delta = |rows: &BTreeMap<u8, bool>, mark: u8| -> Delta {
                let row = |alive: bool| alive.then(|| StoredRow(Bytes::from(&[mark])));
                rows.iter().map(|(key, alive)| (Bytes::from(&[*key]), row(*alive))).collect()
            };
            let rows = TableRows { active: delta(&active, 1), frozen: delta(&frozen, 0), ..TableRows::default() };
            let (start, end) = match end {
                Some(end) if end < start => (end, Some(start)),
                Some(end) if end == start => (start, None),
                end => (start, end),
            };
            let keys: Vec<u8> = (start..end.unwrap_or(255)).filter(|k| active.contains_key(k) || frozen.contains_key(k)).collect();
            let mut wanted: Vec<_> = keys.iter().map(|k| (Bytes::from(&[*k]), rows.recent(&[*k]).unwrap().clone())).collect();
            let direction = if reverse { Direction::Reverse } else { Direction::Forward };
            if reverse {
                wanted.reverse();
            }
            let mut out = Vec::new();
            let end = end.map(|end| [end]);
            let all = rows.collect(&[start], end.as_ref().map(|e| &e[..]), direction, most, &mut out);
            prop_assert_eq!(all, wanted.len() <= most);
            wanted.truncate(most);
            prop_assert_eq!(out, wanted);
        }
    }
}
