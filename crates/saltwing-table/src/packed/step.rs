//! One step of a merge: some entries of one table are written anew, as one batch of the store.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use saltwing_store::{Bytes, WriteBatch};
use saltwing_types::TableId;

use super::block::{FixPart, VarPart};
use super::block_builder::{ColumnData, fix_part, var_part};
use super::block_ref::{BlockRef, Summary};
use super::delta::{StoredRow, TableRows};
use super::directory::{Directory, Entry};
use super::meta::{Cursor, Meta};
use super::spaces::{DIR, FIX, REPLACED, VAR, dir_key, part_key, replaced_key};
use super::{Merge, Packed};
use crate::row_format::{self, FamilyLayout, SlotBytes};
use crate::{Table, TableError};

/// Most columns a table whose smallest and largest values a directory keeps.
const ZONES_MAX: usize = 16;

/// What a step makes of one table.
struct Rewrite<'a> {
    packed: &'a Packed,
    table: Arc<Table>,
    rows: TableRows,
    /// Rows written at or before this are dropped.
    limit_ms: Option<i64>,
    next_block: u64,
    /// Ranges of entries, ascending, and what comes in their places.
    edits: Vec<(Range<usize>, Vec<Arc<Entry>>)>,
    batch: WriteBatch,
    replaced: Vec<Arc<BlockRef>>,
    /// Blocks read and made.
    blocks: usize,
    expired: u64,
}

/// A row of a block to be made.
enum RowRef {
    Block { block: usize, row: usize, bytes: usize },
    Delta { key: Bytes, row: StoredRow },
}

/// Rows that wait for a block of their own.
#[derive(Default)]
struct Pending {
    rows: Vec<RowRef>,
    bytes: usize,
    blocks: Vec<Arc<BlockRef>>,
    leads: Vec<Arc<FixPart>>,
}

impl RowRef {
    fn bytes(&self) -> usize {
        match self {
            Self::Block { bytes, .. } => *bytes,
            Self::Delta { key, row } => key.len() + row.0.len(),
        }
    }
}

impl Packed {
    /// Rewrites the next entries from `cursor` on that have rows of the frozen delta, or with `sweep` expired
    /// rows; `None` when there are none left, else how many expired rows were dropped.
    pub(super) fn step(&self, merge: &mut Merge, cursor: &mut Cursor, sweep: bool) -> Result<Option<u64>, TableError> {
        let now_ms = self.clock.now_ms();
        let moment = self.rows.read().clone();
        for (id, rows) in moment.range(cursor.table.0..) {
            let id = TableId(*id);
            let Some(table) = self.table(id) else { continue };
            let from = if id == cursor.table { rows.directory.floor(&cursor.key) } else { 0 };
            let limit_ms = table.expired_ms(now_ms);
            let mut rewrite = Rewrite::new(self, table, rows.clone(), limit_ms, merge.meta.next_block);
            let Some(mut index) = rewrite.next_work(from, sweep) else { continue };
            let end = loop {
                let behind = rewrite.rewrite_from(index)?;
                match rewrite.next_work(behind, sweep) {
                    Some(next) if rewrite.blocks < 2 * self.options.step_blocks => index = next,
                    next => break next,
                }
            };
            let next = match end.and_then(|next| rows.directory.entry(next)) {
                Some(entry) => Cursor { table: id, key: entry.fence.clone() },
                None => Cursor { table: TableId(id.0.saturating_add(1)), key: Bytes::default() },
            };
            let expired = rewrite.expired;
            let kept = if sweep { merge.meta.cursor.clone() } else { next.clone() };
            rewrite.publish(merge, kept)?;
            *cursor = next;
            return Ok(Some(expired));
        }
        Ok(None)
    }
}

impl<'a> Rewrite<'a> {
    fn new(packed: &'a Packed, table: Arc<Table>, rows: TableRows, limit_ms: Option<i64>, next_block: u64) -> Self {
        let (edits, batch, replaced) = (Vec::new(), WriteBatch::new(), Vec::new());
        Self { packed, table, rows, limit_ms, next_block, edits, batch, replaced, blocks: 0, expired: 0 }
    }

    fn directory(&self) -> &Arc<Directory> {
        &self.rows.directory
    }

    /// The first entry from `from` on that must be written anew.
    fn next_work(&self, from: usize, sweep: bool) -> Option<usize> {
        let directory = &self.rows.directory;
        let fence = &directory.entry(from)?.fence;
        let changed = self.rows.frozen.range::<_, Bytes>(fence..).next().map(|(key, _)| directory.floor(key));
        let limit_ms = self.limit_ms.filter(|_| sweep);
        let expired = limit_ms.and_then(|limit_ms| {
            let entries =
                directory.entries().get(from..changed.unwrap_or(usize::MAX).min(directory.entries().len()))?;
            let has_expired = |e: &Arc<Entry>| e.block.as_ref().is_some_and(|b| b.summary.times_ms.0 <= limit_ms);
            Some(from + entries.iter().position(has_expired)?)
        });
        expired.or(changed)
    }

    /// Writes an entry anew, with those behind it that it is too small without; the index behind them.
    fn rewrite_from(&mut self, start: usize) -> Result<usize, TableError> {
        if self.append_behind(start)? {
            return Ok(start + 1);
        }
        let options = &self.packed.options;
        let mut pending = Pending::default();
        let mut index = start;
        while let Some(entry) = self.directory().entry(index).cloned() {
            self.gather(&entry, index, &mut pending)?;
            self.replaced.extend(entry.block.clone());
            self.blocks += 1;
            index += 1;
            let enough = 2 * pending.rows.len() >= options.block_rows || 2 * pending.bytes >= options.block_bytes;
            if enough || pending.rows.is_empty() {
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
        let Packed { options, .. } = self.packed;
        let half_full = 2 * block.summary.rows as usize >= options.block_rows;
        let is_fresh = self.limit_ms.is_none_or(|limit_ms| block.summary.times_ms.0 > limit_ms);
        let recent = self.recent(index);
        let behind = recent.first().is_some_and(|(key, _)| *key > block.summary.last_key);
        if !half_full || !is_fresh || !behind || 4 * recent.len() < options.block_rows {
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
        let row = RowRef::Delta { key, row };
        pending.bytes += row.bytes();
        pending.rows.push(row);
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

    /// Makes blocks of about the same size; the first one's fence is `fence`.
    fn cut(&mut self, pending: Pending, fence: Bytes) -> Result<Vec<Arc<Entry>>, TableError> {
        let options = &self.packed.options;
        let count = pending.rows.len();
        let parts = count.div_ceil(options.block_rows).max(pending.bytes.div_ceil(options.block_bytes).min(count));
        if parts == 0 {
            return Ok(Vec::new());
        }
        let (rows_max, bytes_max) = (count.div_ceil(parts), pending.bytes.div_ceil(parts).max(options.block_bytes / 2));
        let mut entries = Vec::with_capacity(parts);
        let (mut start, mut bytes) = (0, 0);
        for (i, row) in pending.rows.iter().enumerate() {
            let more = row.bytes();
            if i > start && (i - start >= rows_max || bytes + more > bytes_max) {
                entries.push(self.build(&pending, start..i, bytes, &fence)?);
                (start, bytes) = (i, 0);
            }
            bytes += more;
        }
        entries.push(self.build(&pending, start..count, bytes, &fence)?);
        Ok(entries)
    }

    /// Makes one block.
    fn build(
        &mut self,
        pending: &Pending,
        range: Range<usize>,
        bytes: usize,
        first_fence: &Bytes,
    ) -> Result<Arc<Entry>, TableError> {
        let rows = pending.rows.get(range.clone()).unwrap_or_default();
        let mut key_bytes = Vec::new();
        let mut key_ends = Vec::with_capacity(rows.len());
        let mut times = Vec::with_capacity(rows.len());
        for row in rows {
            match row {
                RowRef::Delta { key, row } => {
                    key_bytes.extend_from_slice(key);
                    times.push(row.time_ms());
                }
                RowRef::Block { block, row, .. } => {
                    if let Some(lead) = pending.leads.get(*block) {
                        let (prefix, suffix) = lead.key(*row);
                        key_bytes.extend_from_slice(prefix);
                        key_bytes.extend_from_slice(suffix);
                        times.push(lead.time_ms(*row));
                    }
                }
            }
            key_ends.push(key_bytes.len());
        }
        let starts = std::iter::once(0).chain(key_ends.iter().copied());
        let keys: Vec<&[u8]> =
            starts.zip(&key_ends).map(|(start, end)| key_bytes.get(start..*end).unwrap_or_default()).collect();
        let (id, table) = (self.next_block, self.table.clone());
        self.next_block += 1;
        self.blocks += 1;
        let (mut families, mut zones) = (Vec::new(), Vec::new());
        for family in 0..table.family_count() {
            let columns = self.columns(&table, family, rows, pending)?;
            if family > 0 && columns.iter().all(ColumnData::is_all_null) {
                continue;
            }
            let number = family as u8;
            families.push(number);
            zones.extend(columns.iter().filter_map(ColumnData::int_zone).map(|zone| (number, zone)));
            let key = part_key(table.def().id, id, number);
            self.batch.put(FIX, key.clone(), fix_part(number, &keys, &times, &columns));
            if let Some(part) = var_part(number, &columns) {
                self.batch.put(VAR, key, part);
            }
        }
        zones.truncate(ZONES_MAX);
        let fence =
            if range.start == 0 { first_fence.clone() } else { Bytes::new(keys.first().copied().unwrap_or_default()) };
        let newest = (times.iter().copied().min().unwrap_or(0), times.iter().copied().max().unwrap_or(0));
        let summary = Summary {
            rows: rows.len() as u32,
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            last_key: Bytes::new(keys.last().copied().unwrap_or_default()),
            times_ms: newest,
            families,
            zones,
        };
        self.batch.put(DIR, dir_key(table.def().id, &fence), summary.write(id));
        let block = BlockRef::new(id, table.def().id, summary, self.packed.shelf.clone());
        Ok(Arc::new(Entry::new(fence, Some(Arc::new(block)), false)))
    }

    /// The columns of one family of some rows.
    fn columns(
        &self,
        table: &Table,
        family: usize,
        rows: &[RowRef],
        pending: &Pending,
    ) -> Result<Vec<ColumnData>, TableError> {
        type Parts = (Option<Arc<FixPart>>, Option<Arc<VarPart>>);
        let number = family as u8;
        let parts: Vec<Parts> = pending
            .blocks
            .iter()
            .map(|block| Ok((block.fix(number)?, block.var(number)?)))
            .collect::<Result<_, TableError>>()?;
        let layout = table.layout(family);
        let stored: Vec<_> = rows.iter().map(|row| read_family(row, family, layout)).collect::<Result<_, _>>()?;
        let mut columns = Vec::new();
        for &index in table.slot_columns(family) {
            let Some(def) = table.def().columns.get(index) else { continue };
            let mut column = ColumnData::new(def.slot, def.ty);
            let absent = row_format::slot_bytes(def.ty, table.absent(index));
            let absent = absent.as_deref();
            for (row, stored) in rows.iter().zip(&stored) {
                let pushed = match row {
                    RowRef::Block { block, row, .. } => match parts.get(*block) {
                        Some((Some(fix), _)) if fix.column(def.slot).is_none() => column.push_cell(absent),
                        Some((Some(fix), var)) => column.push_from(fix, var.as_deref(), *row),
                        _ => column.push_cell(None),
                    },
                    RowRef::Delta { .. } => match stored.as_ref().map(|stored| stored.slot(def.slot.into())) {
                        None | Some(Some(SlotBytes::Null)) => column.push_cell(None),
                        Some(Some(SlotBytes::Absent)) => column.push_cell(absent),
                        Some(Some(SlotBytes::Value(bytes))) => column.push_cell(Some(bytes)),
                        Some(None) => None,
                    },
                };
                pushed.ok_or(TableError::CorruptLayout("a value"))?;
            }
            columns.push(column);
        }
        Ok(columns)
    }

    /// Writes the batch, and puts the new directory in the old one's place.
    fn publish(mut self, merge: &mut Merge, cursor: Cursor) -> Result<(), TableError> {
        let id = self.table.def().id;
        for block in &self.replaced {
            self.batch.put(REPLACED, replaced_key(id, block.id), block.summary.families.clone());
        }
        let meta = Meta { next_block: self.next_block, cursor, ..merge.meta };
        self.packed.write_meta(&meta, self.batch)?;
        merge.meta = meta;
        let mut entries = Vec::with_capacity(self.rows.directory.entries().len() + self.blocks);
        let mut at = 0;
        // Where new entries stand, and those before them, which may own more than they did.
        let mut touched = Vec::new();
        for (range, new) in self.edits {
            entries.extend(self.rows.directory.entries().get(at..range.start).unwrap_or_default().iter().cloned());
            touched.push(entries.len().saturating_sub(1)..entries.len() + new.len());
            entries.extend(new);
            at = range.end;
        }
        entries.extend(self.rows.directory.entries().get(at..).unwrap_or_default().iter().cloned());
        let before = entries.len();
        let directory = Directory::new(entries);
        let shift = directory.entries().len() - before;
        {
            let mut moment = self.packed.rows.write();
            if let Some(rows) = moment.get_mut(&id.0) {
                for index in std::iter::once(0).chain(touched.into_iter().flatten().map(|index| index + shift)) {
                    if let Some(entry) = directory.entry(index)
                        && rows.is_active_between(&entry.fence, directory.end(index).map(|end| &**end))
                    {
                        entry.mark_dirty();
                    }
                }
                self.packed.base_rows.fetch_add(directory.rows(), Relaxed);
                self.packed.base_rows.fetch_sub(rows.directory.rows(), Relaxed);
                rows.directory = Arc::new(directory);
            }
        }
        self.replaced.iter().for_each(|block| block.replace());
        Ok(())
    }
}

/// The stored form of a family of a delta's row.
fn read_family<'r>(
    row: &'r RowRef,
    family: usize,
    layout: Option<&'r FamilyLayout>,
) -> Result<Option<row_format::StoredRow<'r>>, TableError> {
    let RowRef::Delta { row, .. } = row else { return Ok(None) };
    match (row.family(family), layout) {
        (Some(bytes), Some(layout)) => {
            layout.read(bytes).map(Some).ok_or(TableError::CorruptLayout("a row of a delta"))
        }
        _ => Ok(None),
    }
}
