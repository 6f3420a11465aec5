//! Several rows by their keys.
//!
//! ```text
//! directory -> entry -> block -> its parts -> keys -> columns -> value
//! ```
//! Each of these steps waits for the one before, and nothing of a random row is in a near cache. So the steps of several
//! keys are taken side by side: what a step needs is prefetched for all of them before it is taken.

use saltwing_access::TableError;
use smallvec::SmallVec;

use crate::engine::block_ref::{BlockRef, PartsInMemory};
use crate::engine::table_rows::TableRows;
use crate::format::prefetch::{PrefetchStep, prefetch};
use crate::scan::cursor::segment::RowSegment;
use crate::scan::cursor::{Found, place_in};

/// Keys whose steps are taken side by side.
pub(crate) const KEYS_AT_ONCE: usize = 32;

type Several<T> = SmallVec<[T; KEYS_AT_ONCE]>;

/// Physical keys, one behind the other.
#[derive(Default)]
pub(crate) struct Keys {
    bytes: Vec<u8>,
    ends: Several<usize>,
}

impl Keys {
    /// Adds the key that `write` adds to the bytes before it; where it says that there is none, nothing is added.
    pub(crate) fn add(&mut self, write: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
        let start = self.bytes.len();
        let is_there = write(&mut self.bytes);
        if is_there {
            self.ends.push(self.bytes.len());
        } else {
            self.bytes.truncate(start);
        }
        is_there
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| self.bytes.get(start..*end).unwrap_or_default())
    }
}

/// The rows of some physical keys, in their order, unless they do not exist or are expired.
///
/// # Law
/// They are those that [`find`](crate::scan::cursor::find) gives of each.
pub(crate) fn find_all(
    rows: &TableRows,
    keys: &Keys,
    expired_ms: Option<i64>,
) -> Result<Several<Option<Found>>, TableError> {
    let owners: Several<_> = keys.iter().map(|key| rows.directory.owner(key)).collect();
    let blocks = owners.iter().flatten().filter_map(|entry| Some((entry.block.as_deref()?, 0)));
    prefetch_parts(blocks.collect(), &[|_| PrefetchStep::KeysAndColumns, |_| PrefetchStep::FirstKey]);
    let mut found: Several<Option<Found>> = SmallVec::new();
    for (key, owner) in keys.iter().zip(owners) {
        let place = owner.and_then(|entry| place_in(rows, entry, key));
        found.push(place.map_or(Ok(None), |place| place.read(key, expired_ms))?);
    }
    let in_blocks = found.iter().flatten().filter_map(|found| match &found.segment {
        RowSegment::Block { block, rows, .. } => Some((&**block, rows.start)),
        _ => None,
    });
    prefetch_parts(in_blocks.collect(), &[PrefetchStep::Row, PrefetchStep::Texts]);
    Ok(found)
}

/// Prefetches, stage by stage, the parts in memory of some blocks and a row of each.
fn prefetch_parts(blocks: Several<(&BlockRef, usize)>, steps: &[fn(usize) -> PrefetchStep]) {
    prefetch(blocks.iter().map(|(block, _)| block.id as usize));
    let held = blocks.iter().filter_map(|(block, row)| Some((block.in_memory()?, *row)));
    let held: Several<(PartsInMemory<'_>, usize)> = held.collect();
    for step in steps {
        prefetch(held.iter().map(|(parts, row)| parts.prefetch(step(*row))));
    }
}
