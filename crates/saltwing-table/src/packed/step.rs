//! One step of a merge: some entries of one table are written anew, as one batch of the store.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use saltwing_store::{Bytes, WriteBatch};
use saltwing_types::TableId;

use super::block::FixPart;
use super::block_ref::BlockRef;
use super::cut::{Pending, RowRef};
use super::delta::{StoredRow, TableRows};
use super::directory::{Directory, Edits, Entry};
use super::far::{Ahead, Far, NAMED_BYTES};
use super::meta::{Cursor, Meta};
use super::options::BlockLimits;
use super::spaces::{DIR, REPLACED, dir_key, id_key};
use super::{Merge, Packed};
use crate::row_format::SlotBytes;
use crate::{Table, TableError};

/// What a step makes of one table.
pub(super) struct Rewrite<'a> {
    pub(super) merge: &'a mut Merge,
    pub(super) packed: &'a Packed,
    pub(super) table: Arc<Table>,
    rows: TableRows,
    pub(super) limits: BlockLimits,
    /// Rows written at or before this are dropped.
    limit_ms: Option<i64>,
    pub(super) next_block: u64,
    /// Ranges of entries, ascending, and what comes in their places.
    edits: Edits,
    pub(super) batch: WriteBatch,
    replaced: Vec<Arc<BlockRef>>,
    /// Values that lie by themselves: those to be written with the batch, those that are written, and all that the
    /// new blocks name.
    pub(super) far: WriteBatch,
    pub(super) ahead: Ahead,
    pub(super) named: HashSet<u64>,
    /// Blocks read and made.
    pub(super) blocks: usize,
    /// Rows in blocks made, and the bytes of their parts.
    pub(super) made: (u64, u64),
    expired: u64,
}

/// Which entries a walk over a table writes anew, beside those with rows of the frozen delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Also {
    /// No others.
    None,
    /// Those with expired rows.
    Expired,
    /// Those of this table that are not as large as they should be.
    Misfits(TableId),
}

impl Packed {
    /// Rewrites the next entries from `cursor` on that have rows of the frozen delta, or are meant by `also`;
    /// `None` when there are none left, else how many expired rows were dropped.
    pub(super) fn step(&self, merge: &mut Merge, cursor: &mut Cursor, also: Also) -> Result<Option<u64>, TableError> {
        let now_ms = self.clock.now_ms();
        let moment = self.rows.read().clone();
        for (id, rows) in moment.range(cursor.table.0..) {
            let id = TableId(*id);
            let Some(table) = self.table(id) else { continue };
            let from = if id == cursor.table { rows.directory.floor(&cursor.key) } else { 0 };
            let limit_ms = table.expired_ms(now_ms);
            let mut rewrite = Rewrite::new(self, merge, table, rows.clone(), limit_ms);
            let Some(mut index) = rewrite.next_work(from, also) else { continue };
            let end = loop {
                let behind = rewrite.rewrite_from(index)?;
                match rewrite.next_work(behind, also) {
                    Some(next) if rewrite.blocks < 2 * self.options.step_blocks => index = next,
                    next => break next,
                }
            };
            let next = match end.and_then(|next| rows.directory.entry(next)) {
                Some(entry) => Cursor { table: id, key: entry.fence.clone() },
                None => Cursor { table: TableId(id.0.saturating_add(1)), key: Bytes::default() },
            };
            let expired = rewrite.expired;
            let kept = if also == Also::None { next.clone() } else { rewrite.merge.meta.cursor.clone() };
            rewrite.publish(kept)?;
            *cursor = next;
            return Ok(Some(expired));
        }
        Ok(None)
    }
}

impl<'a> Rewrite<'a> {
    fn new(
        packed: &'a Packed,
        merge: &'a mut Merge,
        table: Arc<Table>,
        rows: TableRows,
        limit_ms: Option<i64>,
    ) -> Self {
        let ahead = Ahead::new(table.def().id, packed.shelf.clone());
        Self {
            packed,
            limits: table.block_limits(&packed.options),
            table,
            rows,
            limit_ms,
            next_block: merge.meta.next_block,
            merge,
            edits: Vec::new(),
            batch: WriteBatch::new(),
            replaced: Vec::new(),
            far: WriteBatch::new(),
            ahead,
            named: HashSet::new(),
            blocks: 0,
            made: (0, 0),
            expired: 0,
        }
    }

    fn directory(&self) -> &Arc<Directory> {
        &self.rows.directory
    }

    /// The first entry from `from` on that must be written anew.
    fn next_work(&self, from: usize, also: Also) -> Option<usize> {
        let directory = &self.rows.directory;
        let fence = &directory.entry(from)?.fence;
        let changed = self.rows.frozen.range::<_, Bytes>(fence..).next().map(|(key, _)| directory.floor(key));
        if also == Also::None {
            return changed;
        }
        let until = changed.map_or(directory.len(), |changed| changed.max(from));
        let meant = (from..until).find(|index| match also {
            Also::None => false,
            Also::Expired => self.limit_ms.is_some_and(|limit_ms| self.holds_since(*index, limit_ms)),
            Also::Misfits(table) => table == self.table.def().id && self.is_misfit(*index),
        });
        meant.or(changed)
    }

    /// Whether the oldest row of an entry's block was written at or before a time.
    fn holds_since(&self, index: usize, limit_ms: i64) -> bool {
        let block = self.rows.directory.entry(index).and_then(|entry| entry.block.as_ref());
        block.is_some_and(|block| block.summary.times_ms.0 <= limit_ms)
    }

    /// Whether an entry's block is larger than it may be, or so small that it should share one with those behind it.
    fn is_misfit(&self, index: usize) -> bool {
        let entry = self.rows.directory.entry(index);
        let Some(block) = entry.and_then(|entry| entry.block.as_ref()) else { return false };
        let (rows, bytes) = (block.summary.rows as usize, block.summary.bytes as usize);
        let is_large = rows > 1 && (rows > self.limits.rows || bytes > 2 * self.limits.bytes);
        is_large || !self.limits.is_half(rows, bytes) && self.rows.directory.entry(index + 1).is_some()
    }

    /// Writes an entry anew, with those behind it that it is too small without; the index behind them.
    fn rewrite_from(&mut self, start: usize) -> Result<usize, TableError> {
        if self.append_behind(start)? {
            return Ok(start + 1);
        }
        let mut pending = Pending::default();
        let mut index = start;
        while let Some(entry) = self.directory().entry(index).cloned() {
            self.gather(&entry, index, &mut pending)?;
            self.replaced.extend(entry.block.clone());
            self.blocks += 1;
            index += 1;
            if self.limits.is_half(pending.rows.len(), pending.bytes) || pending.rows.is_empty() {
                break;
            }
        }
        let fence = self.directory().entry(start).map(|entry| entry.fence.clone()).unwrap_or_default();
        let entries = self.cut(pending, fence)?;
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
    fn append_behind(&mut self, index: usize) -> Result<bool, TableError> {
        let Some(entry) = self.directory().entry(index).cloned() else { return Ok(false) };
        let Some(block) = &entry.block else { return Ok(false) };
        let half_full = 2 * block.summary.rows as usize >= self.limits.rows;
        let is_fresh = self.limit_ms.is_none_or(|limit_ms| block.summary.times_ms.0 > limit_ms);
        let recent = self.recent(index);
        let behind = recent.first().is_some_and(|(key, _)| *key > block.summary.last_key);
        if !half_full || !is_fresh || !behind || 4 * recent.len() < self.limits.rows {
            return Ok(false);
        }
        let mut pending = Pending::default();
        let expired = self.expired;
        recent.into_iter().for_each(|(key, row)| self.add_recent(key, row, &mut pending));
        let Some(RowRef::Delta { key: first_key, .. }) = pending.rows.first() else {
            self.expired = expired;
            return Ok(false);
        };
        let first_key = first_key.clone();
        let kept = Arc::new(Entry::new(entry.fence.clone(), entry.block.clone(), false));
        let mut entries = vec![kept];
        entries.extend(self.cut(pending, first_key)?);
        self.edits.push((index..index + 1, entries));
        Ok(true)
    }

    /// The frozen rows of an entry.
    fn recent(&self, index: usize) -> Vec<(Bytes, Option<StoredRow>)> {
        let Some(entry) = self.directory().entry(index) else { return Vec::new() };
        let end = self.directory().end(index);
        let rows = self.rows.frozen.range::<_, Bytes>(&entry.fence..);
        rows.take_while(|(key, _)| end.is_none_or(|end| *key < end)).map(|(k, row)| (k.clone(), row.clone())).collect()
    }

    fn add_recent(&mut self, key: Bytes, row: Option<StoredRow>, pending: &mut Pending) {
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
    fn near_bytes(&self, row: &StoredRow) -> usize {
        let far_bytes = self.packed.options.value_bytes;
        if row.0.len() < far_bytes {
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
                    && value.len() >= far_bytes
                {
                    bytes = bytes.saturating_sub(value.len()) + NAMED_BYTES;
                }
            }
        }
        bytes
    }

    /// A row is dropped: it counts unless a newer one had taken its place already.
    fn count_expired(&mut self, key: &[u8]) {
        self.expired += u64::from(!self.rows.active.contains_key(key));
    }

    /// Adds an entry's rows as they are after the merge.
    fn gather(&mut self, entry: &Entry, index: usize, pending: &mut Pending) -> Result<(), TableError> {
        let recent = self.recent(index);
        let Some(block) = &entry.block else {
            recent.into_iter().for_each(|(key, row)| self.add_recent(key, row, pending));
            return Ok(());
        };
        let lead = block.lead()?;
        let mut at = 0;
        for (key, row) in recent {
            let (until, next) = match lead.search(&key) {
                Ok(found) => (found, found + 1),
                Err(behind) => (behind, behind),
            };
            self.add_block_rows(block, &lead, at..until, pending);
            at = next;
            self.add_recent(key, row, pending);
        }
        self.add_block_rows(block, &lead, at..lead.rows(), pending);
        pending.far.extend(block.far.iter().map(|far| (far.id, far.clone())));
        pending.blocks.push(block.clone());
        pending.leads.push(lead);
        Ok(())
    }

    fn add_block_rows(&mut self, block: &BlockRef, lead: &FixPart, rows: Range<usize>, pending: &mut Pending) {
        let bytes = block.summary.bytes as usize / block.summary.rows.max(1) as usize;
        let limit_ms = self.limit_ms.filter(|limit_ms| block.summary.times_ms.0 <= *limit_ms);
        let place = pending.blocks.len();
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

    /// Writes the batch, and puts the new directory in the old one's place.
    fn publish(mut self, cursor: Cursor) -> Result<(), TableError> {
        let id = self.table.def().id;
        for block in &self.replaced {
            self.batch.put(REPLACED, id_key(id, block.id), block.summary.families.clone());
        }
        let far = self.replaced.iter().flat_map(|block| &block.far);
        let left: Vec<Arc<Far>> = far.filter(|far| !self.named.contains(&far.id)).cloned().collect();
        left.iter().for_each(|far| self.batch.put(REPLACED, id_key(id, far.id), []));
        self.ahead.ids.iter().for_each(|ahead| self.batch.delete(REPLACED, id_key(id, *ahead)));
        self.far.into_mutations().into_iter().for_each(|put| self.batch.push(put));
        let meta = Meta { next_block: self.next_block, cursor, ..self.merge.meta };
        self.packed.write_meta(&meta, self.batch)?;
        self.merge.meta = meta;
        self.ahead.keep();
        let counters = self.packed.shelf.counters(id);
        counters.merge_steps.fetch_add(1, Relaxed);
        counters.block_rows_written.fetch_add(self.made.0, Relaxed);
        counters.block_bytes_written.fetch_add(self.made.1, Relaxed);
        let (directory, touched) = self.rows.directory.edited(self.edits);
        {
            let mut moment = self.packed.rows.write();
            if let Some(rows) = moment.get_mut(&id.0) {
                for index in std::iter::once(0).chain(touched.into_iter().flatten()) {
                    if let Some(entry) = directory.entry(index)
                        && rows.is_active_between(&entry.fence, directory.end(index).map(|end| &**end))
                    {
                        entry.mark_dirty();
                    }
                }
                self.packed.base_rows.fetch_add(directory.size().rows, Relaxed);
                self.packed.base_rows.fetch_sub(rows.directory.size().rows, Relaxed);
                rows.directory = Arc::new(directory);
            }
        }
        self.replaced.iter().for_each(|block| block.replace());
        left.iter().for_each(|far| far.leave());
        Ok(())
    }
}
