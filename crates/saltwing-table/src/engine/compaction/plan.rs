//! Which entries a step writes again, and how: nothing is read or written here.

use crate::engine::compaction::pieces::{BlockSize, WINDOW_BLOCKS};
use crate::engine::compaction::state::{Compaction, CompactionReason, STEP_ENTRIES};
use crate::engine::entry::Entry;
use crate::engine::run::{Amount, RunPart, taken_in};
use crate::format::stored_row::{RecentRow, StoredRow};

impl Compaction<'_> {
    /// Whether what was done is enough for one step.
    pub(super) fn is_enough(&self) -> bool {
        let most = self.packed.options.step_blocks;
        self.blocks >= 2 * most || self.appended >= STEP_ENTRIES * most
    }

    /// The first entry from `from` on that must be written anew.
    pub(super) fn next_work(&self, from: usize, also: CompactionReason) -> Option<usize> {
        let directory = &self.rows.directory;
        let fence = &directory.entry(from)?.fence;
        let changed = self.rows.frozen.range(fence, None).next().map(|(key, _)| directory.floor(key));
        if also == CompactionReason::None {
            return changed;
        }
        let until = changed.map_or(directory.len(), |changed| changed.max(from));
        let behind = from..until;
        let meant = match also {
            CompactionReason::None => None,
            CompactionReason::Expired => self.limit_ms.and_then(|limit_ms| {
                let is_old = |oldest_ms: i64| oldest_ms <= limit_ms;
                directory.find(behind, |facts| is_old(facts.oldest_ms), |_, entry| is_old(entry.oldest_ms()))
            }),
            CompactionReason::Runs => {
                directory.find(behind, |facts| facts.has_many_in_runs, |_, entry| entry.size().has_many_in_runs())
            }
            CompactionReason::Undersized(table) if table != self.table.def().id => None,
            CompactionReason::Undersized(_) => {
                directory.find(behind, |_| true, |index, entry| self.is_misfit(index, entry))
            }
        };
        meant.or(changed)
    }

    /// Whether an entry's block is larger than it may be, or has rows in runs, or is the first of some that should stand in
    /// fewer.
    pub(super) fn is_misfit(&self, index: usize, entry: &Entry) -> bool {
        let Some(block) = &entry.block else { return false };
        if !entry.runs.is_empty() {
            return true;
        }
        let (rows, bytes) = (block.summary.rows as usize, block.summary.bytes as usize);
        let is_large = rows > 1 && (rows > self.limits.rows || bytes > 2 * self.limits.bytes);
        is_large || self.sparse_end(index).is_some()
    }

    /// Whether an entry with these new rows is written anew by itself too.
    pub(super) fn changes(&self, entry: &Entry, recent: &[RecentRow]) -> bool {
        let last_key = entry.block.as_ref().map(|block| &block.summary.last_key);
        let is_among = recent.first().is_some_and(|(key, _)| last_key.is_some_and(|last| key <= last));
        is_among && self.runs_to_take(entry, recent).is_none()
    }

    /// How many of an entry's runs its new rows go together with; `None` where they do not go into a run.
    pub(super) fn runs_to_take(&self, entry: &Entry, recent: &[RecentRow]) -> Option<usize> {
        let block = entry.block.as_ref().filter(|_| self.has_runs)?;
        // Rows that come in key order go on as blocks.
        recent.first().filter(|(key, _)| *key <= block.summary.last_key)?;
        let row_bytes = |row: &StoredRow| row.0.len();
        // A row with a value that lies by itself stays out.
        let is_near = |row: &Option<StoredRow>| row.as_ref().is_none_or(|row| self.near_bytes(row) == row_bytes(row));
        if !recent.iter().all(|(_, row)| is_near(row)) {
            return None;
        }
        let bytes = |(key, row): &RecentRow| (key.len() + row.as_ref().map_or(0, row_bytes)) as u64;
        let new = Amount { rows: recent.len() as u64, bytes: recent.iter().map(bytes).sum() };
        let amount = |part: &RunPart| Amount { rows: part.rows().len() as u64, bytes: part.bytes() };
        let runs: Vec<Amount> = entry.runs.iter().map(amount).collect();
        let of_block = Amount { rows: block.summary.rows.into(), bytes: block.summary.bytes.into() };
        taken_in(of_block, &runs, new, self.packed.options.run_share)
    }

    /// Behind which entry those end that, from this one on, are to be cut anew together.
    pub(super) fn sparse_end(&self, index: usize) -> Option<usize> {
        let size = |index| {
            let size = self.rows.directory.entry(index)?.size();
            let (rows, bytes) = (size.rows + size.run_rows, size.bytes + size.run_bytes);
            (size.blocks > 0).then_some((rows as usize, (bytes / rows.max(1)) as usize))
        };
        let blocks: Vec<BlockSize> = (index..index + WINDOW_BLOCKS).map_while(size).collect();
        self.limits.sparse(&blocks).map(|len| index + len)
    }
}
