//! The rows of an entry as a merge finds them: those above its block, and those of the block that still count.

use std::ops::Range;
use std::sync::Arc;

use saltwing_access::TableError;
use saltwing_store::Bytes;

use super::block::FixPart;
use super::block_ref::BlockRef;
use super::cut::{Pending, RowRef};
use super::delta::{RecentRow, StoredRow};
use super::directory::Entry;
use super::run::RunPart;
use super::step::Compaction;

/// What counts for a key above the block.
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
                Err(behind) => (behind, behind),
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
    fn is_expired(&self, entry: &Entry, block: &BlockRef) -> bool {
        let (_, newest) = block.summary.times_ms;
        let first_above = || self.rows.active.range(&entry.fence, None).next();
        self.limit_ms.is_some_and(|limit_ms| newest <= limit_ms)
            && first_above().is_none_or(|(key, _)| *key > block.summary.last_key)
    }

    fn add_above(&mut self, key: Bytes, row: Above, pending: &mut Pending) {
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

    fn add_block_rows(
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
