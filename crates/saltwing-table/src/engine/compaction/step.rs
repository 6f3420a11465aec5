//! One step: plans, reads and writes some entries of one table, as one batch of the store.

use std::sync::Arc;

use saltwing_access::TableError;
use saltwing_store::Bytes;
use saltwing_types::TableId;

use crate::engine::block_ids::BlockIdAllocator;
use crate::engine::compaction::pending::{Pending, RowRef};
use crate::engine::compaction::plan::{CompactionReason, EntryPlan, Target};
use crate::engine::compaction::state::Compaction;
use crate::engine::entry::Entry;
use crate::engine::memtable::Delta;
use crate::engine::storage_engine::{MergeState, StorageEngine};
use crate::format::meta::Cursor;
use crate::format::spaces::{DIR, dir_key};

impl StorageEngine {
    /// Rewrites the next entries from `cursor` on that have rows of the frozen delta, or are wanted for `reason`;
    /// `None` when there are none left, else how many expired rows were dropped.
    pub(in crate::engine) fn step(
        &self,
        merge: &mut MergeState,
        cursor: &mut Cursor,
        reason: CompactionReason,
    ) -> Result<Option<u64>, TableError> {
        let numbers = BlockIdAllocator::new(merge.meta.clone());
        let done = loop {
            let known = self.blocks.damaged_blocks();
            let done = self.numbered_step(&numbers, cursor, reason);
            // A damaged block that this attempt has met is left as it is by the next one.
            if done.is_ok() || self.blocks.damaged_blocks() <= known {
                break done;
            }
        };
        // Ids of values written ahead are used up, whatever the outcome.
        merge.meta = numbers.into_meta();
        done
    }

    fn numbered_step(
        &self,
        numbers: &BlockIdAllocator,
        cursor: &mut Cursor,
        reason: CompactionReason,
    ) -> Result<Option<u64>, TableError> {
        let now_ms = self.clock.now_ms();
        let tables: Vec<u32> = self.rows.read().range(cursor.table.0..).map(|(id, _)| *id).collect();
        for id in tables.into_iter().map(TableId) {
            let Some((table, mut rows)) = self.table(id).zip(self.with_rows(id, |rows| Some(rows.clone()))) else {
                continue;
            };
            let limit_ms = table.deletable_ms(now_ms);
            if limit_ms.is_none() {
                // Only expired rows are compared with active ones, and commits copy what a step sees of those.
                rows.active = Delta::default();
            }
            let from = if id == cursor.table { rows.directory.floor(&cursor.key) } else { 0 };
            let mut rewrite = Compaction::new(self, numbers, table, rows, limit_ms);
            let Some(first) = rewrite.planner(reason).next_work(from) else { continue };
            let name = &rewrite.table.def().name;
            let span = tracing::debug_span!(target: "saltwing::compaction", "compaction", table = %name, ?reason);
            let _entered = span.entered();
            let end = match &rewrite.parts(first, reason)[..] {
                parts @ [_, _, ..] => rewrite.rewrite_parts(parts, reason)?,
                _ => rewrite.rewrite_range(first, None, reason)?,
            };
            let next = match end.and_then(|next| rewrite.rows.directory.entry(next)) {
                Some(entry) => Cursor { table: id, key: entry.fence.clone() },
                None => Cursor { table: TableId(id.0.saturating_add(1)), key: Bytes::default() },
            };
            let expired = rewrite.expired;
            let kept = if reason == CompactionReason::None { next.clone() } else { numbers.meta().cursor };
            rewrite.install(kept)?;
            *cursor = next;
            return Ok(Some(expired));
        }
        Ok(None)
    }
}

impl Compaction<'_> {
    /// Rewrites entries from `first` on until it is enough, or those up to `end`; returns the next entry after them that has work.
    pub(super) fn rewrite_range(
        &mut self,
        first: usize,
        end: Option<usize>,
        reason: CompactionReason,
    ) -> Result<Option<usize>, TableError> {
        let mut index = first;
        loop {
            let after = self.rewrite_from(index, end, reason)?;
            let next = self.planner(reason).next_work(after);
            match next {
                Some(next) if end.map_or(!self.is_enough(), |end| next < end) => index = next,
                next => {
                    self.flush_run()?;
                    return Ok(next);
                }
            }
        }
    }

    /// Executes the plan of an entry; returns the index after the last absorbed entry, which is never `end` or later.
    fn rewrite_from(
        &mut self,
        start: usize,
        end: Option<usize>,
        reason: CompactionReason,
    ) -> Result<usize, TableError> {
        let Some(plan) = self.planner(reason).plan(start) else { return Ok(start + 1) };
        tracing::trace!(target: "saltwing::compaction", %plan);
        match plan.target {
            Target::BlocksAfter => self.append_after(plan)?,
            Target::Run { taken } => self.append_run(plan, taken)?,
            Target::Blocks { until } => return self.rewrite_blocks(plan, until, end, reason),
        }
        Ok(start + 1)
    }

    /// Writes an entry as blocks, with the entries up to `until`, and with those that the planner takes in after them.
    fn rewrite_blocks(
        &mut self,
        plan: EntryPlan,
        until: usize,
        end: Option<usize>,
        reason: CompactionReason,
    ) -> Result<usize, TableError> {
        let EntryPlan { entry, index: start, recent, .. } = plan;
        let mut pending = Pending::default();
        self.fold(&entry, recent, &mut pending)?;
        let mut index = start + 1;
        while !pending.rows.is_empty()
            && end.is_none_or(|end| index < end)
            && let Some(next) = self.rows.directory.entry(index).cloned()
        {
            let planner = self.planner(reason);
            let recent = planner.recent(index);
            if index >= until && !planner.takes_in((pending.rows.len(), pending.bytes), &next, &recent) {
                break;
            }
            drop(planner);
            self.fold(&next, recent, &mut pending)?;
            index += 1;
        }
        let entries = self.cut(pending, entry.fence.clone())?;
        for index in start..index {
            if let Some(old) = self.rows.directory.entry(index)
                && old.block.is_some()
                && !entries.iter().any(|new| new.fence == old.fence)
            {
                self.batch.delete(DIR, dir_key(self.table.def().id, &old.fence));
            }
        }
        self.edits.push((start..index, entries));
        Ok(index)
    }

    /// Makes blocks of new rows after an entry's block.
    fn append_after(&mut self, plan: EntryPlan) -> Result<(), TableError> {
        let EntryPlan { entry, index, recent, .. } = plan;
        let mut pending = Pending::default();
        recent.into_iter().for_each(|(key, row)| self.add_recent(key, row, &mut pending));
        let first_key = match pending.rows.first() {
            // A copy: the entry must not keep the whole record of the row in memory.
            Some(RowRef::Delta { key, .. }) => Bytes::new(key),
            _ => return Err(TableError::CorruptLayout("a plan for rows that are not there")),
        };
        let kept = Arc::new(Entry::new(entry.fence.clone(), entry.block.clone()));
        let mut entries = vec![kept];
        entries.extend(self.cut(pending, first_key)?);
        self.edits.push((index..index + 1, entries));
        Ok(())
    }
}
