//! One step of a merge: some entries of one table are written anew, as one batch of the store.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use saltwing_access::TableError;
use saltwing_store::{Bytes, WriteBatch};
use saltwing_types::TableId;

use super::append::Stream;
use super::block_ids::BlockIdAllocator;
use super::block_ref::{BlockContext, BlockRef};
use super::cut::{Pending, RowRef};
use super::delta::{RecentRow, StoredRow, TableRows};
use super::directory::{Directory, Edits, Entry};
use super::meta::{Cursor, Meta};
use super::options::BlockLimits;
use super::overflow::{Ahead, NAMED_BYTES, OverflowValue};
use super::run::Run;
use super::spaces::{DIR, REPLACED, dir_key, id_key, run_key};
use super::{Merge, Packed};
use crate::StoredTable;
use crate::row_format::SlotBytes;

/// Entries that get a run in one step, for each block that it writes.
pub(super) const STEP_ENTRIES: usize = 8;

/// What a step makes of one table.
pub(super) struct Compaction<'a> {
    pub(super) numbers: &'a BlockIdAllocator,
    pub(super) packed: &'a Packed,
    pub(super) table: Arc<StoredTable>,
    pub(super) context: Arc<BlockContext>,
    pub(super) rows: TableRows,
    pub(super) limits: BlockLimits,
    /// Rows written at or before this are dropped.
    pub(super) limit_ms: Option<i64>,
    /// Ranges of entries, ascending, and what comes in their places.
    pub(super) edits: Edits,
    pub(super) batch: WriteBatch,
    pub(super) replaced: Vec<Arc<BlockRef>>,
    /// Rows of the next run, and their entries.
    pub(super) stream: Stream,
    /// Runs that the batch has, and those that entries do not name any more: how many.
    pub(super) runs: Vec<(Arc<Run>, u32)>,
    pub(super) left_runs: HashMap<u64, (Arc<Run>, u32)>,
    /// Whether the table is so large that runs are worth it.
    pub(super) has_runs: bool,
    /// Values that lie by themselves: those to be written with the batch, those that are written, and all that the
    /// new blocks name.
    pub(super) overflow: WriteBatch,
    pub(super) ahead: Ahead,
    pub(super) named: HashSet<u64>,
    /// Blocks read and made.
    pub(super) blocks: usize,
    /// Entries that got a run, those whose runs went into their block, and rows in runs made.
    pub(super) appended: usize,
    pub(super) folded: u64,
    pub(super) run_rows: u64,
    /// Rows in blocks made, and the bytes of their parts.
    pub(super) made: (u64, u64),
    pub(super) expired: u64,
}

/// Which entries a walk over a table writes anew, beside those with rows of the frozen delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CompactionReason {
    /// No others.
    None,
    /// Those with expired rows.
    Expired,
    /// Those with so many rows in runs that reading them pays for it.
    Runs,
    /// Those of this table that are larger than they should be, have runs, or would be fewer together.
    Undersized(TableId),
}

impl Packed {
    /// Rewrites the next entries from `cursor` on that have rows of the frozen delta, or are meant by `also`;
    /// `None` when there are none left, else how many expired rows were dropped.
    pub(super) fn step(
        &self,
        merge: &mut Merge,
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
            rewrite.publish(kept)?;
            *cursor = next;
            return Ok(Some(expired));
        }
        Ok(None)
    }
}

impl<'a> Compaction<'a> {
    pub(super) fn new(
        packed: &'a Packed,
        numbers: &'a BlockIdAllocator,
        table: Arc<StoredTable>,
        rows: TableRows,
        limit_ms: Option<i64>,
    ) -> Self {
        let ahead = Ahead::new(table.def().id, packed.cache.clone());
        let (size, options) = (rows.directory.size(), &packed.options);
        let is_large = |held: u64, delta: u64| held >= options.run_deltas.saturating_mul(delta);
        Self {
            has_runs: is_large(size.rows, options.delta_rows) || is_large(size.bytes, options.delta_bytes),
            context: BlockContext::new(table.def().id, &packed.cache),
            packed,
            limits: table.block_limits(&packed.options),
            table,
            rows,
            limit_ms,
            numbers,
            edits: Vec::new(),
            batch: WriteBatch::new(),
            replaced: Vec::new(),
            stream: Stream::default(),
            runs: Vec::new(),
            left_runs: HashMap::new(),
            overflow: WriteBatch::new(),
            ahead,
            named: HashSet::new(),
            blocks: 0,
            appended: 0,
            folded: 0,
            run_rows: 0,
            made: (0, 0),
            expired: 0,
        }
    }

    fn directory(&self) -> &Arc<Directory> {
        &self.rows.directory
    }

    /// Whether what was done is enough for one step.
    fn is_enough(&self) -> bool {
        let most = self.packed.options.step_blocks;
        self.blocks >= 2 * most || self.appended >= STEP_ENTRIES * most
    }

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
    fn is_misfit(&self, index: usize, entry: &Entry) -> bool {
        let Some(block) = &entry.block else { return false };
        if !entry.runs.is_empty() {
            return true;
        }
        let (rows, bytes) = (block.summary.rows as usize, block.summary.bytes as usize);
        let is_large = rows > 1 && (rows > self.limits.rows || bytes > 2 * self.limits.bytes);
        is_large || self.sparse_end(index).is_some()
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

    /// Whether an entry with these new rows is written anew by itself too.
    fn changes(&self, entry: &Entry, recent: &[RecentRow]) -> bool {
        let last_key = entry.block.as_ref().map(|block| &block.summary.last_key);
        let is_among = recent.first().is_some_and(|(key, _)| last_key.is_some_and(|last| key <= last));
        is_among && self.runs_to_take(entry, recent).is_none()
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

    /// The frozen rows of an entry.
    fn recent(&self, index: usize) -> Vec<RecentRow> {
        let Some((entry, end)) = self.directory().owned(index) else { return Vec::new() };
        let rows = self.rows.frozen.range(&entry.fence, end.map(|end| &**end));
        rows.map(|(key, row)| (key.clone(), row.clone())).collect()
    }

    /// Adds an entry's rows as they are after the merge: those of its block, and all that is above it.
    fn fold(&mut self, entry: &Entry, recent: Vec<RecentRow>, pending: &mut Pending) -> Result<(), TableError> {
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

    /// What a row's block has of it, about.
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

    /// Writes the batch, and puts the new directory in the old one's place.
    fn publish(mut self, cursor: Cursor) -> Result<(), TableError> {
        let id = self.table.def().id;
        for block in &self.replaced {
            self.batch.put(REPLACED, id_key(id, block.id), block.summary.families());
        }
        for (run, entries) in self.left_runs.values() {
            if run.ends_with(*entries) {
                self.batch.delete(DIR, run_key(id, run.block.id));
                self.batch.put(REPLACED, id_key(id, run.block.id), run.block.summary.families());
            }
        }
        let overflow = self.replaced.iter().flat_map(|block| &block.overflow);
        let left: Vec<Arc<OverflowValue>> =
            overflow.filter(|overflow| !self.named.contains(&overflow.id)).cloned().collect();
        left.iter().for_each(|overflow| self.batch.put(REPLACED, id_key(id, overflow.id), []));
        self.ahead.ids.iter().for_each(|ahead| self.batch.delete(REPLACED, id_key(id, *ahead)));
        self.overflow.into_mutations().into_iter().for_each(|put| self.batch.push(put));
        let batch = self.batch;
        self.numbers.write(|meta| {
            let meta = Meta { cursor, ..meta };
            self.packed.write_meta(&meta, batch)?;
            Ok(meta)
        })?;
        self.ahead.keep();
        let counters = self.packed.cache.counters(id);
        counters.merge_steps.fetch_add(1, Relaxed);
        counters.folds.fetch_add(self.folded, Relaxed);
        counters.run_rows_written.fetch_add(self.run_rows, Relaxed);
        counters.block_rows_written.fetch_add(self.made.0, Relaxed);
        counters.block_bytes_written.fetch_add(self.made.1, Relaxed);
        // Entries with runs are edited when their run is made, those beside them at once.
        self.edits.sort_unstable_by_key(|(range, _)| range.start);
        let (directory, touched) = self.rows.directory.edited(self.edits);
        {
            let mut moment = self.packed.rows.write();
            if let Some(rows) = moment.get_mut(&id.0) {
                for index in std::iter::once(0).chain(touched.into_iter().flatten()) {
                    if let Some((entry, end)) = directory.owned(index)
                        && rows.is_active_between(&entry.fence, end.map(|end| &**end))
                    {
                        entry.mark_dirty();
                    }
                }
                self.packed.base_rows.fetch_add(directory.size().rows, Relaxed);
                self.packed.base_rows.fetch_sub(rows.directory.size().rows, Relaxed);
                rows.directory = Arc::new(directory);
            }
        }
        self.runs.iter().for_each(|(run, entries)| run.gain(*entries));
        self.left_runs.values().for_each(|(run, entries)| run.lose(*entries));
        self.replaced.iter().for_each(|block| block.replace());
        left.iter().for_each(|overflow| overflow.leave());
        Ok(())
    }
}
