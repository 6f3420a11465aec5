//! Blocks out of rows: cutting them evenly, and filling the parts.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use saltwing_store::Bytes;

use super::block::{FixPart, VarPart};
use super::block_builder::{ColumnData, fix_part, var_part};
use super::block_ref::{BlockRef, Summary};
use super::delta::StoredRow;
use super::directory::Entry;
use super::far::{Far, far_part};
use super::meta::Meta;
use super::options::BlockLimits;
use super::spaces::{DIR, FAR, FIX, REPLACED, VAR, dir_key, id_key, id_of, part_key};
use super::step::Rewrite;
use crate::row_format::{self, FamilyLayout, SlotBytes};
use crate::{Table, TableError};

/// Most columns a table whose smallest and largest values a directory keeps.
const ZONES_MAX: usize = 16;
/// Values that lie by themselves, a block of a step, from which on they are written before it.
const FAR_BATCH_VALUES: usize = 4;

/// A row of a block to be made.
pub(super) enum RowRef {
    Block { block: usize, row: usize, bytes: usize },
    Delta { key: Bytes, row: StoredRow, bytes: usize },
}

/// Rows that wait for a block of their own.
#[derive(Default)]
pub(super) struct Pending {
    pub(super) rows: Vec<RowRef>,
    pub(super) bytes: usize,
    pub(super) blocks: Vec<Arc<BlockRef>>,
    pub(super) leads: Vec<Arc<FixPart>>,
    /// Values by themselves that the blocks name.
    pub(super) far: HashMap<u64, Arc<Far>>,
}

impl RowRef {
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Block { bytes, .. } | Self::Delta { bytes, .. } => *bytes,
        }
    }
}

impl Rewrite<'_> {
    /// Makes blocks of about the same size; the first one's fence is `fence`.
    pub(super) fn cut(&mut self, pending: Pending, fence: Bytes) -> Result<Vec<Arc<Entry>>, TableError> {
        let BlockLimits { rows: block_rows, bytes: block_bytes } = self.limits;
        let count = pending.rows.len();
        let parts = count.div_ceil(block_rows).max(pending.bytes.div_ceil(block_bytes).min(count));
        if parts == 0 {
            return Ok(Vec::new());
        }
        let (rows_max, bytes_max) = (count.div_ceil(parts), pending.bytes.div_ceil(parts).max(block_bytes / 2));
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
                RowRef::Delta { key, row, .. } => {
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
        self.made.0 += rows.len() as u64;
        let (mut families, mut zones, mut far, mut parts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for family in 0..table.family_count() {
            let mut columns = self.columns(&table, family, rows, pending)?;
            if family > 0 && !table.has_default(family) && columns.iter().all(ColumnData::is_all_null) {
                continue;
            }
            for column in &mut columns {
                column.place_far(|value| self.add_far(&value));
                far.extend(column.far_ids());
            }
            self.flush_far()?;
            let number = family as u8;
            families.push(number);
            zones.extend(columns.iter().filter_map(ColumnData::zone).map(|zone| (number, zone)));
            let key = part_key(table.def().id, id, number);
            let fix = Bytes::from(fix_part(number, &keys, &times, &columns));
            self.made.1 += fix.len() as u64;
            self.batch.put(FIX, key.clone(), fix.clone());
            let var = var_part(number, &columns).map(Bytes::from);
            if let Some(part) = &var {
                self.made.1 += part.len() as u64;
                self.batch.put(VAR, key, part.clone());
            }
            parts.push((number, fix, var));
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
        self.batch.put(DIR, dir_key(table.def().id, &fence), summary.write(id, &far));
        self.named.extend(&far);
        let shelf = &self.packed.shelf;
        let named = |id: u64| {
            let known = pending.far.get(&id).cloned();
            known.unwrap_or_else(|| Arc::new(Far::new(id, table.def().id, shelf.clone())))
        };
        let far = far.into_iter().map(named).collect();
        let block = Arc::new(BlockRef::new(id, table.def().id, summary, far, shelf.clone()));
        block.keep_made(parts)?;
        Ok(Arc::new(Entry::new(fence, Some(block), false)))
    }

    /// Adds a value that lies by itself; its number.
    fn add_far(&mut self, value: &[u8]) -> u64 {
        let id = self.next_block;
        self.next_block += 1;
        let part = far_part(value);
        self.made.1 += part.len() as u64;
        self.far.put(FAR, id_key(self.table.def().id, id), part);
        id
    }

    /// Writes values before the step that names them, where they are many: no batch holds more than a few of them.
    /// Until then the store has them as values that no block names, which go if the step is never written.
    fn flush_far(&mut self) -> Result<(), TableError> {
        let options = &self.packed.options;
        if self.far.bytes() < FAR_BATCH_VALUES * options.step_blocks * options.value_bytes {
            return Ok(());
        }
        let table = self.table.def().id;
        let mut batch = std::mem::take(&mut self.far);
        let ids: Vec<u64> = batch.mutations().iter().filter_map(|put| id_of(put.key())).collect();
        ids.iter().for_each(|id| batch.put(REPLACED, id_key(table, *id), []));
        // The numbers are taken, whatever becomes of the step.
        let meta = Meta { next_block: self.next_block, ..self.merge.meta.clone() };
        self.packed.write_meta(&meta, batch)?;
        self.merge.meta = meta;
        self.ahead.ids.extend(ids);
        Ok(())
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
        for index in table.slot_columns(family) {
            let Some(def) = table.def().columns.get(index) else { continue };
            let mut column = ColumnData::new(def.slot, def.ty, self.packed.options.value_bytes);
            let absent = row_format::slot_bytes(def.ty, table.absent(index));
            let absent = absent.as_deref();
            for (row, stored) in rows.iter().zip(&stored) {
                let pushed = match row {
                    RowRef::Block { block, row, .. } => match parts.get(*block) {
                        Some((Some(fix), _)) if fix.column(def.slot).is_none() => column.push_cell(absent),
                        Some((Some(fix), var)) => column.push_from(fix, var.as_deref(), *row),
                        _ => column.push_cell(absent),
                    },
                    RowRef::Delta { .. } => match stored.as_ref().map(|stored| stored.slot(def.slot.into())) {
                        Some(Some(SlotBytes::Null)) => column.push_cell(None),
                        None | Some(Some(SlotBytes::Absent)) => column.push_cell(absent),
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
