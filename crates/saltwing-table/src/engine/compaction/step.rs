//! One step: plans, reads and writes some entries of one table, as one batch of the store.

use std::sync::Arc;

use saltwing_access::TableError;
use saltwing_store::Bytes;
use saltwing_types::TableId;

use crate::engine::block_ids::BlockIdAllocator;
use crate::engine::compaction::pending::{Pending, RowRef};
use crate::engine::compaction::state::{Compaction, CompactionReason};
use crate::engine::entry::Entry;
use crate::engine::storage_engine::{MergeState, StorageEngine};
use crate::format::meta::Cursor;
use crate::format::spaces::{DIR, dir_key};
use crate::format::stored_row::RecentRow;

impl StorageEngine {
    /// Rewrites the next entries from `cursor` on that have rows of the frozen delta, or are meant by `also`;
    /// `None` when there are none left, else how many expired rows were dropped.
    pub(in crate::engine) fn step(
        &self,
        merge: &mut MergeState,
        cursor: &mut Cursor,
        also: CompactionReason,
    ) -> Result<Option<u64>, TableError> {
        let numbers = BlockIdAllocator::new(merge.meta.clone());
        let done = self.numbered_step(&numbers, cursor, also);
        // Numbers of values that were written ahead are taken, whatever became of the step.
        merge.meta = numbers.into_meta();
        done
    }

    fn numbered_step(
        &self,
        numbers: &BlockIdAllocator,
        cursor: &mut Cursor,
        also: CompactionReason,
    ) -> Result<Option<u64>, TableError> {
        let now_ms = self.clock.now_ms();
        let moment = self.rows.read().clone();
        for (id, rows) in moment.range(cursor.table.0..) {
            let id = TableId(*id);
            let Some(table) = self.table(id) else { continue };
            let from = if id == cursor.table { rows.directory.floor(&cursor.key) } else { 0 };
            let limit_ms = table.expired_ms(now_ms);
            let mut rewrite = Compaction::new(self, numbers, table, rows.clone(), limit_ms);
            let Some(first) = rewrite.next_work(from, also) else { continue };
            let name = &rewrite.table.def().name;
            let span =
                tracing::debug_span!(target: "saltwing::compaction", "compaction", table = %name, reason = ?also);
            let _entered = span.entered();
            let end = match &rewrite.parts(first, also)[..] {
                parts @ [_, _, ..] => rewrite.rewrite_parts(parts, also)?,
                _ => rewrite.rewrite_range(first, None, also)?,
            };
            let next = match end.and_then(|next| rows.directory.entry(next)) {
                Some(entry) => Cursor { table: id, key: entry.fence.clone() },
                None => Cursor { table: TableId(id.0.saturating_add(1)), key: Bytes::default() },
            };
            let expired = rewrite.expired;
            let kept = if also == CompactionReason::None { next.clone() } else { numbers.meta().cursor };
            rewrite.install(kept)?;
            *cursor = next;
            return Ok(Some(expired));
        }
        Ok(None)
    }
}

impl Compaction<'_> {
    /// Rewrites entries from `first` on until it is enough, or those up to `end`; the next entry with work behind them.
    pub(super) fn rewrite_range(
        &mut self,
        first: usize,
        end: Option<usize>,
        also: CompactionReason,
    ) -> Result<Option<usize>, TableError> {
        let mut index = first;
        loop {
            let behind = self.rewrite_from(index, end, also)?;
            match self.next_work(behind, also) {
                Some(next) if end.map_or(!self.is_enough(), |end| next < end) => index = next,
                next => {
                    self.flush_run()?;
                    return Ok(next);
                }
            }
        }
    }

    /// Brings an entry's new rows to where they belong, and with them, where the entry is written anew, those behind
    /// it that it is too small without, or that are written anew too and fill its blocks, but none from `end` on; the index
    /// behind them.
    fn rewrite_from(&mut self, start: usize, end: Option<usize>, also: CompactionReason) -> Result<usize, TableError> {
        let Some(entry) = self.directory().entry(start).cloned() else { return Ok(start + 1) };
        let recent = self.recent(start);
        if self.append_behind(&entry, start, &recent)?
            || also == CompactionReason::None && self.append_run(&entry, start, &recent)?
        {
            return Ok(start + 1);
        }
        let mut pending = Pending::default();
        self.fold(&entry, recent, &mut pending)?;
        let mut index = start + 1;
        let is_compacted = matches!(also, CompactionReason::Undersized(_));
        let sparse_end = is_compacted.then(|| self.sparse_end(start)).flatten().unwrap_or(index);
        while !pending.rows.is_empty()
            && end.is_none_or(|end| index < end)
            && let Some(next) = self.directory().entry(index).cloned()
        {
            let recent = self.recent(index);
            let is_small = !self.limits.is_half(pending.rows.len(), pending.bytes);
            let leaves_room = || self.limits.leave_room(pending.rows.len(), pending.bytes);
            if !(is_small || index < sparse_end || leaves_room() && self.changes(&next, &recent)) {
                break;
            }
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

    /// Where all new rows fall behind a block that is full enough, and are enough for one: leaves it as it is.
    fn append_behind(&mut self, entry: &Entry, index: usize, recent: &[RecentRow]) -> Result<bool, TableError> {
        let Some(block) = &entry.block else { return Ok(false) };
        let half_full = 2 * block.summary.rows as usize >= self.limits.rows;
        let is_fresh = self.limit_ms.is_none_or(|limit_ms| block.summary.times_ms.0 > limit_ms);
        let behind = recent.first().is_some_and(|(key, _)| *key > block.summary.last_key);
        if !half_full || !is_fresh || !behind || 4 * recent.len() < self.limits.rows || !entry.runs.is_empty() {
            return Ok(false);
        }
        let mut pending = Pending::default();
        let expired = self.expired;
        recent.iter().for_each(|(key, row)| self.add_recent(key.clone(), row.clone(), &mut pending));
        let Some(RowRef::Delta { key: first_key, .. }) = pending.rows.first() else {
            self.expired = expired;
            return Ok(false);
        };
        // A copy: the entry must not keep the whole record of the row in memory.
        let first_key = Bytes::new(first_key);
        let kept = Arc::new(Entry::new(entry.fence.clone(), entry.block.clone()));
        let mut entries = vec![kept];
        entries.extend(self.cut(pending, first_key)?);
        self.edits.push((index..index + 1, entries));
        Ok(true)
    }
}
