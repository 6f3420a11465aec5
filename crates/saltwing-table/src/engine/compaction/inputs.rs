//! The inputs of a step: the newest row of each key of an entry, out of the memtable, the runs and the block.

use std::ops::Range;
use std::sync::Arc;

use saltwing_access::TableError;
use saltwing_store::Bytes;

use crate::engine::block_ref::BlockRef;
use crate::engine::compaction::pending::{Pending, RowRef};
use crate::engine::compaction::state::Compaction;
use crate::engine::entry::Entry;
use crate::engine::overflow::NAMED_BYTES;
use crate::engine::run::RunPart;
use crate::format::fix_part::FixPart;
use crate::format::row_format::SlotBytes;
use crate::format::stored_row::{RecentRow, StoredRow};

/// The newest row of a key above the block.
pub(super) enum Above {
    /// A row of the delta; `None` where it is deleted.
    Recent(Option<StoredRow>),
    /// A row of a run, by the run's place among the blocks that rows are taken from.
    Run { place: usize, row: usize },
}

/// The newest row of each key among recent rows and some runs, newest run first, in key order.
pub(super) fn above(
    recent: Vec<RecentRow>,
    runs: &[RunPart],
    pending: &mut Pending,
) -> Result<Vec<(Bytes, Above)>, TableError> {
    let mut rows: Vec<(Bytes, Above)> = recent.into_iter().map(|(key, row)| (key, Above::Recent(row))).collect();
    for part in runs {
        let place = pending.place(&part.run.block)?;
        let lead = pending.leads.get(place).cloned();
        rows.extend(lead.iter().flat_map(|lead| part.rows().map(|row| (key_of(lead, row), Above::Run { place, row }))));
    }
    if !runs.is_empty() {
        // Stable: of equal keys the newest stays in front.
        rows.sort_by(|(a, _), (b, _)| a.cmp(b));
        rows.dedup_by(|(older, _), (newer, _)| older == newer);
    }
    Ok(rows)
}

fn key_of(lead: &FixPart, row: usize) -> Bytes {
    let (prefix, suffix) = lead.key(row);
    Bytes::fused(prefix, suffix)
}

impl Compaction<'_> {
    /// Adds an entry's rows as they are after the merge: those of its block, and all that is above it.
    pub(super) fn fold(
        &mut self,
        entry: &Entry,
        recent: Vec<RecentRow>,
        pending: &mut Pending,
    ) -> Result<(), TableError> {
        self.blocks += 1;
        self.replaced.extend(entry.block.clone());
        self.leave_runs(&entry.runs);
        self.folded += u64::from(!entry.runs.is_empty());
        self.gather(entry, recent, pending)
    }

    pub(super) fn add_recent(&mut self, key: Bytes, row: Option<StoredRow>, pending: &mut Pending) {
        let Some(row) = row else { return };
        if self.limit_ms.is_some_and(|limit_ms| row.time_ms() <= limit_ms) {
            self.count_expired(&key);
            return;
        }
        let bytes = key.len() + self.near_bytes(&row);
        pending.bytes += bytes;
        pending.rows.push(RowRef::Delta { key, row, bytes });
    }

    /// The approximate bytes of a row that its block stores: less than all if it has overflow values.
    pub(super) fn near_bytes(&self, row: &StoredRow) -> usize {
        let overflow_bytes = self.packed.options.value_bytes;
        if row.0.len() < overflow_bytes {
            return row.0.len();
        }
        let mut bytes = row.0.len();
        for family in 0..self.table.family_count() {
            let layout = self.table.layout(family);
            let Some(stored) = layout.zip(row.family(family)).and_then(|(layout, bytes)| layout.read(bytes)) else {
                continue;
            };
            for slot in 0..self.table.slot_count(family) {
                if let Some(SlotBytes::Value(value)) = stored.slot(slot)
                    && value.len() >= overflow_bytes
                {
                    bytes = bytes.saturating_sub(value.len()) + NAMED_BYTES;
                }
            }
        }
        bytes
    }

    /// A row is dropped: it counts unless a newer one had taken its place already.
    pub(super) fn count_expired(&mut self, key: &[u8]) {
        self.expired += u64::from(!self.rows.active.contains(key));
    }

    /// An entry will not name these runs any more.
    pub(super) fn leave_runs(&mut self, runs: &[RunPart]) {
        for part in runs {
            self.left_runs.entry(part.run.block.id).or_insert_with(|| (part.run.clone(), 0)).1 += 1;
        }
    }

    /// Adds an entry's rows as they are after the merge.
    pub(super) fn gather(
        &mut self,
        entry: &Entry,
        recent: Vec<RecentRow>,
        pending: &mut Pending,
    ) -> Result<(), TableError> {
        let above = above(recent, &entry.runs, pending)?;
        let Some(block) = &entry.block else {
            above.into_iter().for_each(|(key, row)| self.add_above(key, row, pending));
            return Ok(());
        };
        if above.is_empty() && self.is_expired(entry, block) {
            self.expired += u64::from(block.summary.rows);
            return Ok(());
        }
        let place = pending.place(block)?;
        let lead = block.lead()?;
        let mut at = 0;
        for (key, row) in above {
            let (until, next) = match lead.search_in(&key, at..lead.rows()) {
                Ok(found) => (found, found + 1),
                Err(after) => (after, after),
            };
            self.add_block_rows((block, place), &lead, at..until, pending);
            at = next;
            self.add_above(key, row, pending);
        }
        self.add_block_rows((block, place), &lead, at..lead.rows(), pending);
        pending.overflow.extend(block.overflow.iter().map(|overflow| (overflow.id, overflow.clone())));
        Ok(())
    }

    /// Whether all rows of an entry's block are expired, and none has a newer one above it: such a block is not read.
    pub(super) fn is_expired(&self, entry: &Entry, block: &BlockRef) -> bool {
        let (_, newest) = block.summary.times_ms;
        let first_above = || self.rows.active.range(&entry.fence, None).next();
        self.limit_ms.is_some_and(|limit_ms| newest <= limit_ms)
            && first_above().is_none_or(|(key, _)| *key > block.summary.last_key)
    }

    pub(super) fn add_above(&mut self, key: Bytes, row: Above, pending: &mut Pending) {
        let (place, row) = match row {
            Above::Recent(row) => return self.add_recent(key, row, pending),
            Above::Run { place, row } => (place, row),
        };
        let Some(lead) = pending.leads.get(place) else { return };
        if lead.is_deleted(row) {
            return;
        }
        if self.limit_ms.is_some_and(|limit_ms| lead.time_ms(row) <= limit_ms) {
            self.count_expired(&key);
            return;
        }
        let bytes = pending.row_bytes(place);
        pending.rows.push(RowRef::Block { block: place, row, bytes });
        pending.bytes += bytes;
    }

    pub(super) fn add_block_rows(
        &mut self,
        (block, place): (&BlockRef, usize),
        lead: &Arc<FixPart>,
        rows: Range<usize>,
        pending: &mut Pending,
    ) {
        let bytes = pending.row_bytes(place);
        let limit_ms = self.limit_ms.filter(|limit_ms| block.summary.times_ms.0 <= *limit_ms);
        let mut key = Vec::new();
        for row in rows {
            if limit_ms.is_some_and(|limit_ms| lead.time_ms(row) <= limit_ms) {
                lead.key_into(row, &mut key);
                self.count_expired(&key);
            } else {
                pending.rows.push(RowRef::Block { block: place, row, bytes });
                pending.bytes += bytes;
            }
        }
    }
}
