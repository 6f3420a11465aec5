//! Rows by their keys: one, or several.
//!
//! ```text
//! directory -> entry -> block -> its parts -> keys -> columns -> value
//! ```
//! Each of these steps waits for the one before, and nothing of a random row is in a near cache. So the steps of several
//! keys are taken side by side: what a step needs is prefetched for all of them before it is taken.

use std::sync::Arc;

use saltwing_access::TableError;
use saltwing_store::Bytes;
use smallvec::SmallVec;

use crate::engine::block_ref::{BlockRef, PartsInMemory};
use crate::engine::entry::Entry;
use crate::engine::run::KeyHash;
use crate::engine::table_rows::TableRows;
use crate::format::fix_part::FixPart;
use crate::format::prefetch::{PrefetchStep, prefetch};
use crate::format::stored_row::StoredRow;
use crate::scan::cursor::segment::RowSegment;

/// The location of a row, found without reading a block.
pub(crate) enum RowLocation {
    /// It is in a delta.
    Recent(StoredRow),
    /// If it exists, it is in this block.
    Block(Arc<BlockRef>),
    /// If it exists, it is in a run or in the block of this entry.
    Runs(Arc<Entry>),
}

/// Where the row of a key stands; `None` where it is known that there is none.
pub(crate) fn locate(rows: &TableRows, key: &[u8]) -> Option<RowLocation> {
    locate_in(rows, rows.directory.owner(key)?, key)
}

/// As [`locate`], where the entry that owns the key is known.
pub(crate) fn locate_in(rows: &TableRows, entry: &Arc<Entry>, key: &[u8]) -> Option<RowLocation> {
    if entry.is_dirty()
        && let Some(recent) = rows.recent(key)
    {
        return recent.clone().map(RowLocation::Recent);
    }
    if !entry.runs.is_empty() {
        return Some(RowLocation::Runs(entry.clone()));
    }
    let block = entry.block.as_ref().filter(|block| *key <= *block.summary.last_key)?;
    Some(RowLocation::Block(block.clone()))
}

/// A row that was found by its key.
pub(crate) struct Found {
    /// It alone.
    pub(crate) segment: RowSegment,
    /// The first family's part of its block, if it is in one.
    pub(crate) lead: Option<Arc<FixPart>>,
}

impl Found {
    /// When the row was written, in milliseconds since 1970.
    pub(crate) fn written_ms(&self) -> i64 {
        match (&self.segment, &self.lead) {
            (RowSegment::Row { row, .. }, _) => row.time_ms(),
            (RowSegment::Block { rows, .. }, Some(lead)) => lead.time_ms(rows.start),
            _ => 0,
        }
    }

    fn in_block(block: Arc<BlockRef>, lead: Arc<FixPart>, row: usize) -> Self {
        Self { segment: RowSegment::Block { block, rows: row..row + 1, is_counted: true }, lead: Some(lead) }
    }
}

impl RowLocation {
    /// As [`RowLocation::read`], for a single key. Its block is seldom in a cache, so the misses of one prefetch overlap.
    pub(crate) fn read_alone(self, key: &[u8], expired_ms: Option<i64>) -> Result<Option<Found>, TableError> {
        if let Self::Block(block) = &self {
            prefetch_of(block, &[PrefetchStep::KeysAndColumns]);
        }
        let found = self.read(key, expired_ms)?;
        if let Some(Found { segment: RowSegment::Block { block, rows, .. }, .. }) = &found {
            prefetch_of(block, &[PrefetchStep::Row(rows.start), PrefetchStep::Texts(rows.start)]);
        }
        Ok(found)
    }

    /// The row at this location, unless it does not exist or is expired.
    pub(crate) fn read(self, key: &[u8], expired_ms: Option<i64>) -> Result<Option<Found>, TableError> {
        let is_alive = |time_ms: i64| expired_ms.is_none_or(|limit_ms| time_ms > limit_ms);
        match self {
            Self::Recent(row) => {
                let found = |row| Found { segment: RowSegment::Row { key: Bytes::new(key), row }, lead: None };
                Ok(is_alive(row.time_ms()).then(|| found(row)))
            }
            Self::Block(block) => {
                let lead = block.lead()?;
                let found = lead.search(key).ok().filter(|row| expired_ms.is_none() || is_alive(lead.time_ms(*row)));
                Ok(found.map(|row| Found::in_block(block, lead, row)))
            }
            Self::Runs(entry) => {
                let hash = KeyHash::new(key);
                for part in entry.runs.iter().filter(|part| part.may_hold(hash)) {
                    let block = &part.run.block;
                    let lead = block.lead()?;
                    if let Ok(row) = lead.search_in(key, part.rows()) {
                        let is_there = !lead.is_deleted(row) && is_alive(lead.time_ms(row));
                        return Ok(is_there.then(|| Found::in_block(block.clone(), lead, row)));
                    }
                }
                let block = entry.block.as_ref().filter(|block| *key <= *block.summary.last_key);
                block.map_or(Ok(None), |block| Self::Block(block.clone()).read(key, expired_ms))
            }
        }
    }
}

/// Prefetches the parts of a block that are in memory.
fn prefetch_of(block: &BlockRef, steps: &[PrefetchStep]) {
    if let Some(parts) = block.in_memory() {
        prefetch(steps.iter().map(|step| parts.prefetch(*step)));
    }
}

/// One row by its key, unless it does not exist or is expired.
pub(crate) fn find(rows: &TableRows, key: &[u8], expired_ms: Option<i64>) -> Result<Option<Found>, TableError> {
    locate(rows, key).map_or(Ok(None), |location| location.read_alone(key, expired_ms))
}

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
/// They are those that [`find`] gives of each.
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
        let location = owner.and_then(|entry| locate_in(rows, entry, key));
        found.push(location.map_or(Ok(None), |location| location.read(key, expired_ms))?);
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
