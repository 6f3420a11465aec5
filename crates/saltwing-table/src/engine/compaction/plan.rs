//! The plan of a compaction: which entries of a directory it takes, why, and where their rows go.
//!
//! A plan is a value, made of a directory and the frozen rows alone: nothing is read or written here. Its text form is
//! what golden tests and traces show:
//! ```text
//! k..p: block 200, runs 9 20, new 3 -> run with 1 runs (new rows)
//! ```

use std::fmt;
use std::sync::Arc;

use saltwing_store::Bytes;
use saltwing_types::TableId;

use crate::engine::compaction::block_sizes::{BlockSize, WINDOW_BLOCKS};
use crate::engine::directory::Directory;
use crate::engine::entry::Entry;
use crate::engine::memtable::Delta;
use crate::engine::options::BlockLimits;
use crate::engine::run::{Amount, RunPart, runs_absorbed};
use crate::format::stored_row::{RecentRow, StoredRow};

/// The entries that a pass over a table rewrites, besides those with rows of the frozen delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum CompactionReason {
    /// No others.
    None,
    /// Those with expired rows.
    Expired,
    /// Entries with enough rows in runs that reads gain from folding them.
    Runs,
    /// Those of this table that are larger than they should be, have runs, or would be fewer together.
    Undersized(TableId),
}

/// The inputs of the plan of one table.
pub(super) struct Planner<'a, N> {
    pub(super) directory: &'a Directory,
    /// The rows that are to come into blocks or runs.
    pub(super) frozen: &'a Delta,
    pub(super) limits: BlockLimits,
    /// Rows written at or before this are expired.
    pub(super) limit_ms: Option<i64>,
    /// New rows go into a run if they are fewer than one in this many of their block; `None` if the table has no runs.
    pub(super) run_share: Option<u64>,
    /// The other entries to rewrite.
    pub(super) reason: CompactionReason,
    /// Bytes of a row in a block, without those of its overflow values.
    pub(super) block_bytes: N,
}

/// The action of a step for an entry.
pub(super) struct EntryPlan {
    /// The entry, its index, and the first key that it does not own any more.
    pub(super) entry: Arc<Entry>,
    pub(super) index: usize,
    pub(super) end: Option<Bytes>,
    /// Its frozen rows.
    pub(super) recent: Vec<RecentRow>,
    pub(super) cause: Cause,
    pub(super) target: Target,
}

/// The reason to rewrite an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    NewRows,
    ExpiredRows,
    ManyRowsInRuns,
    /// A compaction of the whole table leaves no runs, no block that is too large, and none that would be fewer together.
    Runs,
    TooLarge,
    Sparse,
}

/// Where an entry's rows go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// New rows, which are all after the block, become blocks of their own. The block stays.
    BlocksAfter,
    /// New rows become a run and absorb this many of the entry's newest runs. The block stays.
    Run { taken: usize },
    /// The block, its runs and the new rows are written as blocks, together with the entries in front of `until`, which
    /// would make fewer blocks. More follow if the rows do not fill a block ([`Planner::takes_in`]).
    Blocks { until: usize },
}

/// Rows that a step has gathered for blocks: how many, and their bytes.
pub(super) type Gathered = (usize, usize);

impl<N: Fn(&StoredRow) -> usize> Planner<'_, N> {
    /// The first entry from `from` on that must be rewritten.
    pub(super) fn next_work(&self, from: usize) -> Option<usize> {
        let fence = &self.directory.entry(from)?.fence;
        let changed = self.frozen.range(fence, None).next().map(|(key, _)| self.directory.floor(key));
        let before = from..changed.map_or(self.directory.len(), |changed| changed.max(from));
        let meant = match self.reason {
            CompactionReason::None => None,
            CompactionReason::Expired => self.limit_ms.and_then(|limit_ms| {
                let is_old = |oldest_ms: i64| oldest_ms <= limit_ms;
                self.directory.find(before, |facts| is_old(facts.oldest_ms), |_, entry| is_old(entry.oldest_ms()))
            }),
            CompactionReason::Runs => {
                self.directory.find(before, |facts| facts.has_many_in_runs, |_, entry| entry.size().has_many_in_runs())
            }
            CompactionReason::Undersized(_) => {
                self.directory.find(before, |_| true, |index, entry| self.misfit(index, entry).is_some())
            }
        };
        meant.or(changed)
    }

    /// The plan of an entry that [`Planner::next_work`] returned.
    pub(super) fn plan(&self, index: usize) -> Option<EntryPlan> {
        let (entry, end) = self.directory.owned(index)?;
        let recent = self.recent(index);
        let cause = match self.reason {
            _ if !recent.is_empty() => Cause::NewRows,
            CompactionReason::None => return None,
            CompactionReason::Expired => Cause::ExpiredRows,
            CompactionReason::Runs => Cause::ManyRowsInRuns,
            CompactionReason::Undersized(_) => self.misfit(index, entry)?,
        };
        let target = if self.are_after_block(entry, &recent) {
            Target::BlocksAfter
        } else if is_damaged(entry) {
            // Its block cannot be rewritten. Without new rows there is nothing to do.
            match self.run_on_damaged(entry, &recent) {
                _ if recent.is_empty() => return None,
                Some(taken) => Target::Run { taken },
                None => Target::Blocks { until: index + 1 },
            }
        } else if self.reason == CompactionReason::None
            && let Some(taken) = self.runs_to_take(entry, &recent)
        {
            Target::Run { taken }
        } else {
            let is_compacted = matches!(self.reason, CompactionReason::Undersized(_));
            let sparse_end = if is_compacted { self.sparse_end(index) } else { None };
            Target::Blocks { until: sparse_end.unwrap_or(index + 1) }
        };
        Some(EntryPlan { entry: entry.clone(), index, end: end.cloned(), recent, cause, target })
    }

    /// Whether an entry after those written as blocks is absorbed: the rows so far do not fill half a block, or it is
    /// rewritten on its own as well, and its rows fill the last of their blocks.
    pub(super) fn takes_in(&self, (rows, bytes): Gathered, entry: &Entry, recent: &[RecentRow]) -> bool {
        if is_damaged(entry) {
            return false;
        }
        !self.limits.is_half(rows, bytes) || self.limits.leave_room(rows, bytes) && self.changes(entry, recent)
    }

    /// The frozen rows of an entry.
    pub(super) fn recent(&self, index: usize) -> Vec<RecentRow> {
        let Some((entry, end)) = self.directory.owned(index) else { return Vec::new() };
        let rows = self.frozen.range(&entry.fence, end.map(|end| &**end));
        rows.map(|(key, row)| (key.clone(), row.clone())).collect()
    }

    /// Why an entry does not fit a table that is compacted, if it does not.
    fn misfit(&self, index: usize, entry: &Entry) -> Option<Cause> {
        let block = entry.block.as_ref()?;
        let (rows, bytes) = (block.summary.rows as usize, block.summary.bytes as usize);
        if !entry.runs.is_empty() {
            return Some(Cause::Runs);
        }
        if rows > 1 && (rows > self.limits.rows || bytes > 2 * self.limits.bytes) {
            return Some(Cause::TooLarge);
        }
        self.sparse_end(index).map(|_| Cause::Sparse)
    }

    /// Whether all new rows are after a block that is full enough, and are enough for one.
    fn are_after_block(&self, entry: &Entry, recent: &[RecentRow]) -> bool {
        let Some(block) = &entry.block else { return false };
        let is_expired = |time_ms: i64| self.limit_ms.is_some_and(|limit_ms| time_ms <= limit_ms);
        let is_alive = |row: &Option<StoredRow>| row.as_ref().is_some_and(|row| !is_expired(row.time_ms()));
        2 * block.summary.rows as usize >= self.limits.rows
            && !is_expired(block.summary.times_ms.0)
            && recent.first().is_some_and(|(key, _)| *key > block.summary.last_key)
            && 4 * recent.len() >= self.limits.rows
            && entry.runs.is_empty()
            && recent.iter().any(|(_, row)| is_alive(row))
    }

    /// Whether an entry with these new rows is rewritten on its own as well.
    fn changes(&self, entry: &Entry, recent: &[RecentRow]) -> bool {
        let last_key = entry.block.as_ref().map(|block| &block.summary.last_key);
        let is_among = recent.first().is_some_and(|(key, _)| last_key.is_some_and(|last| key <= last));
        is_among && self.runs_to_take(entry, recent).is_none()
    }

    /// How many of an entry's runs its new rows go together with; `None` if they do not go into a run.
    fn runs_to_take(&self, entry: &Entry, recent: &[RecentRow]) -> Option<usize> {
        let (share, block) = (self.run_share?, entry.block.as_ref()?);
        // Rows that come in key order go on as blocks.
        recent.first().filter(|(key, _)| *key <= block.summary.last_key)?;
        if !self.fit_runs(recent) {
            return None;
        }
        let bytes = |(key, row): &RecentRow| (key.len() + row.as_ref().map_or(0, |row| row.0.len())) as u64;
        let new = Amount { rows: recent.len() as u64, bytes: recent.iter().map(bytes).sum() };
        let amount = |part: &RunPart| Amount { rows: part.rows().len() as u64, bytes: part.bytes() };
        let runs: Vec<Amount> = entry.runs.iter().map(amount).collect();
        let of_block = Amount { rows: block.summary.rows.into(), bytes: block.summary.bytes.into() };
        runs_absorbed(of_block, &runs, new, share)
    }

    /// Whether rows may go into runs: one with an overflow value cannot.
    fn fit_runs(&self, rows: &[RecentRow]) -> bool {
        let is_near = |row: &Option<StoredRow>| row.as_ref().is_none_or(|row| (self.block_bytes)(row) == row.0.len());
        rows.iter().all(|(_, row)| is_near(row))
    }

    /// How many runs of an entry with a damaged block its new rows go together with: all while they would fill no block.
    /// `None` if they cannot go into a run. A table that is too small for runs has some there.
    fn run_on_damaged(&self, entry: &Entry, recent: &[RecentRow]) -> Option<usize> {
        let rows: usize = entry.runs.iter().map(|part| part.rows().len()).sum();
        let taken = if rows + recent.len() <= self.limits.rows { entry.runs.len() } else { 0 };
        self.fit_runs(recent).then_some(taken)
    }

    /// The end of the entries that, from this one on, are to be rewritten together.
    fn sparse_end(&self, index: usize) -> Option<usize> {
        let size = |index| {
            let entry = self.directory.entry(index).filter(|entry| !is_damaged(entry))?;
            let size = entry.size();
            let (rows, bytes) = (size.rows + size.run_rows, size.bytes + size.run_bytes);
            (size.blocks > 0).then_some((rows as usize, (bytes / rows.max(1)) as usize))
        };
        let blocks: Vec<BlockSize> = (index..index + WINDOW_BLOCKS).map_while(size).collect();
        self.limits.sparse(&blocks).map(|len| index + len)
    }
}

fn is_damaged(entry: &Entry) -> bool {
    entry.block.as_ref().is_some_and(|block| block.is_damaged())
}

impl fmt::Display for EntryPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entry, end, recent, cause, target, .. } = self;
        write!(f, "{}..", entry.fence.escape_ascii())?;
        end.iter().try_for_each(|end| write!(f, "{}", end.escape_ascii()))?;
        match &entry.block {
            Some(block) => write!(f, ": block {}", block.summary.rows)?,
            None => write!(f, ": no block")?,
        }
        if !entry.runs.is_empty() {
            write!(f, ", runs")?;
            entry.runs.iter().try_for_each(|run| write!(f, " {}", run.rows().len()))?;
        }
        if !recent.is_empty() {
            write!(f, ", new {}", recent.len())?;
        }
        match target {
            Target::BlocksAfter => write!(f, " -> blocks behind")?,
            Target::Run { taken } => write!(f, " -> run with {taken} runs")?,
            Target::Blocks { until } => write!(f, " -> blocks of {} entries", until - self.index)?,
        }
        write!(f, " ({cause})")
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NewRows => "new rows",
            Self::ExpiredRows => "expired rows",
            Self::ManyRowsInRuns => "many rows in runs",
            Self::Runs => "runs",
            Self::TooLarge => "too large",
            Self::Sparse => "sparse",
        })
    }
}

#[cfg(test)]
mod tests;
