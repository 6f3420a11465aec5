//! The outputs of a step: rows cut evenly into blocks, and the parts of each block.

use std::ops::Range;
use std::sync::Arc;

use saltwing_access::TableError;
use saltwing_store::Bytes;

use crate::engine::block_ref::BlockRef;
use crate::engine::block_store::BlockContext;
use crate::engine::compaction::block_sizes::block_ends;
use crate::engine::compaction::pending::{Pending, RowRef};
use crate::engine::compaction::state::Compaction;
use crate::engine::entry::Entry;
use crate::engine::overflow::OverflowValue;
use crate::engine::stored_table::StoredTable;
use crate::format::block_builder::{ColumnData, RowHeads, fix_part, var_part};
use crate::format::block_columns::BlockColumns;
use crate::format::fix_part::FixPart;
use crate::format::overflow::overflow_part;
use crate::format::row_format;
use crate::format::row_format::{FamilyLayout, SlotBytes};
use crate::format::slot_format;
use crate::format::spaces::{DIR, FIX, OVERFLOW, REPLACED, VAR, dir_key, id_key, id_of, part_key};
use crate::format::stored_column::StoredColumn;
use crate::format::summary::Summary;
use crate::format::var_part::VarPart;

/// Most columns a table whose smallest and largest values a directory keeps.
const ZONES_MAX: usize = 16;
/// A step with more overflow values than this for each block writes them before its batch.
const OVERFLOW_BATCH_VALUES: usize = 4;

/// A block's row keys: their bytes, and the end of each.
#[derive(Default)]
struct Heads {
    key_bytes: Vec<u8>,
    key_ends: Vec<usize>,
    times: Vec<i64>,
    deleted: Vec<bool>,
}

impl Heads {
    fn of(rows: &[RowRef], pending: &Pending) -> Self {
        let mut heads = Self::default();
        for row in rows {
            let time_ms = match row {
                RowRef::Delta { key, row, .. } => {
                    heads.key_bytes.extend_from_slice(key);
                    Some(row.time_ms())
                }
                RowRef::Block { block, row, .. } => pending.leads.get(*block).map(|lead| {
                    let (prefix, suffix) = lead.key(*row);
                    heads.key_bytes.extend_from_slice(prefix);
                    heads.key_bytes.extend_from_slice(suffix);
                    lead.time_ms(*row)
                }),
                RowRef::Deleted { key } => {
                    heads.key_bytes.extend_from_slice(key);
                    None
                }
            };
            heads.key_ends.push(heads.key_bytes.len());
            heads.deleted.push(matches!(row, RowRef::Deleted { .. }));
            // A deletion has no write time; that of a neighbour compresses best.
            heads.times.push(time_ms.or(heads.times.last().copied()).unwrap_or(0));
        }
        heads
    }

    fn rows(&self) -> RowHeads<'_> {
        let starts = std::iter::once(0).chain(self.key_ends.iter().copied());
        let keys = starts.zip(&self.key_ends).map(|(start, end)| self.key_bytes.get(start..*end).unwrap_or_default());
        RowHeads { keys: keys.collect(), times: self.times.clone(), deleted: self.deleted.clone() }
    }
}

/// A block whose parts are in the batch, and that nothing names yet.
pub(super) struct Built {
    pub(super) id: u64,
    pub(super) summary: Summary,
    /// Values by themselves that it names.
    overflow: Vec<u64>,
    first_key: Bytes,
    parts: Vec<(u8, Bytes, Option<Bytes>)>,
}

impl Built {
    /// The block as a directory names it, with its parts in memory.
    pub(super) fn into_block(
        self,
        overflow: Vec<Arc<OverflowValue>>,
        context: &Arc<BlockContext>,
    ) -> Result<Arc<BlockRef>, TableError> {
        let block = Arc::new(BlockRef::new(self.id, self.summary, overflow, context.clone()));
        block.keep_made(self.parts)?;
        Ok(block)
    }
}

impl Compaction<'_> {
    /// Makes blocks of about the same size; the first one's fence is `fence`.
    pub(super) fn cut(&mut self, pending: Pending, fence: Bytes) -> Result<Vec<Arc<Entry>>, TableError> {
        let ends = block_ends(self.limits, pending.rows.iter().map(RowRef::bytes));
        let mut entries = Vec::with_capacity(ends.len());
        let mut start = 0;
        for end in ends {
            let bytes = pending.rows.get(start..end).unwrap_or_default().iter().map(RowRef::bytes).sum();
            entries.push(self.build_entry(&pending, start..end, bytes, &fence)?);
            start = end;
        }
        Ok(entries)
    }

    /// Makes one block, and the entry that names it.
    fn build_entry(
        &mut self,
        pending: &Pending,
        range: Range<usize>,
        bytes: usize,
        first_fence: &Bytes,
    ) -> Result<Arc<Entry>, TableError> {
        let is_first = range.start == 0;
        let built = self.build(pending, range, bytes, self.packed.options.value_bytes)?;
        let table = self.table.def().id;
        let fence = if is_first { first_fence.clone() } else { built.first_key.clone() };
        self.batch.put(DIR, dir_key(table, &fence), built.summary.write(built.id, &built.overflow));
        self.named.extend(&built.overflow);
        let named = |id: u64| {
            let known = pending.overflow.get(&id).cloned();
            known.unwrap_or_else(|| Arc::new(OverflowValue::new(id, self.context.clone())))
        };
        let overflow = built.overflow.iter().copied().map(named).collect();
        let block = built.into_block(overflow, &self.context)?;
        Ok(Arc::new(Entry::new(fence, Some(block))))
    }

    /// Makes the parts of one block; values of `overflow_bytes` bytes and more become overflow values.
    pub(super) fn build(
        &mut self,
        pending: &Pending,
        range: Range<usize>,
        bytes: usize,
        overflow_bytes: usize,
    ) -> Result<Built, TableError> {
        let rows = pending.rows.get(range).unwrap_or_default();
        let heads = Heads::of(rows, pending);
        let heads = heads.rows();
        let (id, table) = (self.numbers.take(), self.table.clone());
        self.blocks += 1;
        self.made.0 += rows.len() as u64;
        let (mut families, mut zones, mut overflow, mut parts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for family in 0..table.family_count() {
            let mut columns = self.columns(&table, family, rows, pending, overflow_bytes)?;
            if family > 0 && !table.has_default(family) && columns.iter().all(ColumnData::is_all_null) {
                continue;
            }
            for column in &mut columns {
                column.place_overflow(|value| self.add_overflow(&value));
                overflow.extend(column.overflow_ids());
            }
            self.flush_overflow()?;
            let number = family as u8;
            families.push(number);
            zones.extend(columns.iter().filter_map(ColumnData::zone).map(|zone| (number, zone)));
            let key = part_key(table.def().id, id, number);
            let fix = Bytes::from(fix_part(number, &heads, &columns));
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
        let alive = || heads.times.iter().zip(&heads.deleted).filter(|(_, deleted)| !**deleted).map(|(time, _)| *time);
        let summary = Summary {
            rows: rows.len() as u32,
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            last_key: Bytes::new(heads.keys.last().copied().unwrap_or_default()),
            times_ms: (alive().min().unwrap_or(i64::MAX), alive().max().unwrap_or(i64::MAX)),
            columns: BlockColumns::new(&families, &zones),
        };
        let first_key = Bytes::new(heads.keys.first().copied().unwrap_or_default());
        Ok(Built { id, summary, overflow, first_key, parts })
    }

    /// Adds an overflow value; returns its id.
    fn add_overflow(&mut self, value: &[u8]) -> u64 {
        let id = self.numbers.take();
        let part = overflow_part(value);
        self.made.1 += part.len() as u64;
        self.overflow.put(OVERFLOW, id_key(self.table.def().id, id), part);
        id
    }

    /// Writes values before the step that names them, where they are many: no batch holds more than a few of them.
    /// Until then the store has them as values that no block names, which go if the step is never written.
    fn flush_overflow(&mut self) -> Result<(), TableError> {
        let options = &self.packed.options;
        if self.overflow.bytes() < OVERFLOW_BATCH_VALUES * options.step_blocks * options.value_bytes {
            return Ok(());
        }
        let table = self.table.def().id;
        let mut batch = std::mem::take(&mut self.overflow);
        let ids: Vec<u64> = batch.mutations().iter().filter_map(|put| id_of(put.key())).collect();
        ids.iter().for_each(|id| batch.put(REPLACED, id_key(table, *id), []));
        // The ids are used up, even if the step fails.
        self.numbers.write(|meta| {
            self.packed.write_meta(&meta, batch)?;
            Ok(meta)
        })?;
        self.uncommitted.ids.extend(ids);
        Ok(())
    }

    /// The columns of one family of some rows.
    fn columns(
        &self,
        table: &StoredTable,
        family: usize,
        rows: &[RowRef],
        pending: &Pending,
        overflow_bytes: usize,
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
            let mut column = ColumnData::new(def.slot, def.ty, overflow_bytes);
            let absent = slot_format::slot_bytes(def.ty, table.absent(index));
            let absent = absent.as_deref();
            let in_blocks: Vec<Option<StoredColumn<'_>>> =
                parts.iter().map(|(fix, var)| StoredColumn::of(fix.as_deref()?, var.as_deref(), def.slot)).collect();
            for (row, stored) in rows.iter().zip(&stored) {
                let pushed = match row {
                    RowRef::Block { block, row, .. } => match in_blocks.get(*block) {
                        Some(Some(column_of_block)) => column.push_stored(column_of_block, *row),
                        _ => column.push_cell(absent),
                    },
                    RowRef::Delta { .. } => match stored.as_ref().map(|stored| stored.slot(def.slot.into())) {
                        Some(Some(SlotBytes::Null)) => column.push_cell(None),
                        None | Some(Some(SlotBytes::Absent)) => column.push_cell(absent),
                        Some(Some(SlotBytes::Value(bytes))) => column.push_cell(Some(bytes)),
                        Some(None) => None,
                    },
                    RowRef::Deleted { .. } => column.push_cell(None),
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
