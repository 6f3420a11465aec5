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

use crate::engine::block_ref::{BlockRef, LeadParts, PartsInMemory};
use crate::engine::entry::{Entry, Owner};
use crate::engine::run::KeyHash;
use crate::engine::table_rows::TableRows;
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
    let owner = rows.directory.owner(key)?;
    prefetch(std::iter::once(owner.prefetch()));
    locate_in(rows, owner, key)
}

/// As [`locate`], where the entry that owns the key is known.
fn locate_in(rows: &TableRows, Owner { entry, block }: Owner<'_>, key: &[u8]) -> Option<RowLocation> {
    if entry.is_dirty()
        && let Some(recent) = rows.recent(key)
    {
        return recent.clone().map(RowLocation::Recent);
    }
    if !entry.runs.is_empty() {
        return Some(RowLocation::Runs(entry.clone()));
    }
    block.cloned().map(RowLocation::Block)
}

/// A row that was found by its key.
pub(crate) struct Found {
    /// It alone.
    pub(crate) segment: RowSegment,
    /// The parts of its block's first family, if it is in a block.
    pub(crate) lead: Option<LeadParts>,
}

impl Found {
    /// When the row was written, in milliseconds since 1970.
    pub(crate) fn written_ms(&self) -> i64 {
        match (&self.segment, &self.lead) {
            (RowSegment::Row { row, .. }, _) => row.time_ms(),
            (RowSegment::Block { rows, .. }, Some(lead)) => lead.fix.time_ms(rows.start),
            _ => 0,
        }
    }

    fn in_block(block: Arc<BlockRef>, lead: LeadParts, row: usize) -> Self {
        Self { segment: RowSegment::Block { block, rows: row..row + 1, is_counted: true }, lead: Some(lead) }
    }

    /// The reads of a prefetch of the row's values.
    #[inline]
    fn prefetch(&self, step: fn(usize) -> PrefetchStep) -> usize {
        match (&self.segment, &self.lead) {
            (RowSegment::Block { rows, .. }, Some(lead)) => lead.prefetch(step(rows.start)),
            _ => 0,
        }
    }
}

impl RowLocation {
    /// As [`RowLocation::read`], for a single key. Its block is seldom in a cache, so the misses of one prefetch overlap.
    pub(crate) fn read_alone(self, key: &[u8], expired_ms: Option<i64>) -> Result<Option<Found>, TableError> {
        let parts = if let Self::Block(block) = &self { block.in_memory() } else { None };
        prefetch(parts.iter().map(|parts| parts.prefetch(PrefetchStep::KeysAndColumns)));
        let lead = parts.and_then(|parts| parts.lead_parts());
        let found = self.read(key, expired_ms, lead)?;
        prefetch(found.iter().map(|found| found.prefetch(PrefetchStep::Row) ^ found.prefetch(PrefetchStep::Texts)));
        Ok(found)
    }

    /// The row at this location, unless it does not exist or is expired. `lead` are the parts of its block, if they are
    /// known to be in memory.
    fn read(self, key: &[u8], expired_ms: Option<i64>, lead: Option<LeadParts>) -> Result<Option<Found>, TableError> {
        let is_alive = |time_ms: i64| expired_ms.is_none_or(|limit_ms| time_ms > limit_ms);
        match self {
            Self::Recent(row) => {
                let found = |row| Found { segment: RowSegment::Row { key: Bytes::new(key), row }, lead: None };
                Ok(is_alive(row.time_ms()).then(|| found(row)))
            }
            Self::Block(block) => {
                let lead = match lead {
                    Some(lead) => lead,
                    // A block that cannot have the key is not read from the store.
                    None if *key > *block.summary.last_key => return Ok(None),
                    None => block.lead_parts()?,
                };
                let found = lead.fix.search(key).ok();
                let found = found.filter(|row| expired_ms.is_none() || is_alive(lead.fix.time_ms(*row)));
                Ok(found.map(|row| Found::in_block(block, lead, row)))
            }
            Self::Runs(entry) => {
                let hash = KeyHash::new(key);
                for part in entry.runs.iter().filter(|part| part.may_hold(hash)) {
                    let block = &part.run.block;
                    let lead = block.lead_parts()?;
                    if let Ok(row) = lead.fix.search_in(key, part.rows()) {
                        let is_there = !lead.fix.is_deleted(row) && is_alive(lead.fix.time_ms(row));
                        return Ok(is_there.then(|| Found::in_block(block.clone(), lead, row)));
                    }
                }
                entry.block.clone().map_or(Ok(None), |block| Self::Block(block).read(key, expired_ms, lead))
            }
        }
    }
}

/// One row by its key, unless it does not exist or is expired.
pub(crate) fn find(rows: &TableRows, key: &[u8], expired_ms: Option<i64>) -> Result<Option<Found>, TableError> {
    locate(rows, key).map_or(Ok(None), |location| location.read_alone(key, expired_ms))
}

/// Keys whose steps are taken side by side.
pub(crate) const KEYS_AT_ONCE: usize = 32;

/// One for each key. Those of a few keys are on the stack; more room there would take longer to move than to allocate.
type Several<T> = SmallVec<[T; 4]>;

/// Physical keys, concatenated.
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

    /// The keys, in the order in which they were added.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> + Clone {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| self.bytes.get(start..*end).unwrap_or_default())
    }
}

/// The rows of some physical keys, in their order, unless they do not exist or are expired.
///
/// # Law
/// They are those that [`find`] gives of each.
pub(crate) fn find_all<'k>(
    rows: &TableRows,
    keys: impl Iterator<Item = &'k [u8]> + Clone,
    expired_ms: Option<i64>,
) -> Result<Several<Option<Found>>, TableError> {
    let owners: Several<Option<Owner<'_>>> = keys.clone().map(|key| rows.directory.owner(key)).collect();
    let mut leads = lead_parts(&owners);
    prefetch(keys.clone().zip(&leads).filter_map(|(key, lead)| Some(lead.as_ref()?.prefetch_near(key))));
    let mut found: Several<Option<Found>> = SmallVec::with_capacity(owners.len());
    for ((key, owner), lead) in keys.zip(owners).zip(&mut leads) {
        let location = owner.and_then(|owner| locate_in(rows, owner, key));
        found.push(location.map_or(Ok(None), |location| location.read(key, expired_ms, lead.take()))?);
    }
    for step in [PrefetchStep::Row, PrefetchStep::Texts] {
        prefetch(found.iter().flatten().map(|found| found.prefetch(step)));
    }
    Ok(found)
}

/// The parts in memory of the blocks of some entries, prefetched stage by stage. No lock is held at the end.
fn lead_parts(owners: &[Option<Owner<'_>>]) -> Several<Option<LeadParts>> {
    prefetch(owners.iter().flatten().map(|owner| owner.prefetch()));
    let blocks = || owners.iter().map(|owner| owner.and_then(|owner| owner.block));
    let held: Several<Option<PartsInMemory<'_>>> = blocks().map(|block| block?.in_memory()).collect();
    prefetch(held.iter().flatten().map(|parts| parts.prefetch(PrefetchStep::KeysAndColumns)));
    held.iter().map(|parts| parts.as_ref()?.lead_parts()).collect()
}
