//! Rows as values, without batches: for one of them, or few.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use saltwing_expr::value_at;
use saltwing_rowkey::KeySlices;
use saltwing_store::Direction;
use saltwing_types::{SqlType, Value};

use crate::decode::{DecodedColumn, Source, corrupt, tail_from};
use crate::packed::block::{FixCells, FixPart, VarPart};
use crate::packed::block_ref::BlockRef;
use crate::packed::delta::StoredRow;
use crate::row_format::{SlotBytes, slot_value};
use crate::scan::{CHECK_ROWS, Scan};
use crate::walk::{Found, Piece};
use crate::{Table, TableError};

/// Which columns are wanted of rows that come as values, made ready once for many rows.
pub struct RowShape {
    table: Arc<Table>,
    columns: Box<[DecodedColumn]>,
    reads_keys: bool,
    tail_from: usize,
}

/// What a reader of rows keeps from one to the next.
#[derive(Default)]
struct RowReader {
    parts: BlockParts,
    /// The key of a block that was split last, and whether the row before has it up to its columns of fixed width.
    key: Vec<u8>,
    slices: KeySlices,
    is_split: bool,
    /// Bytes of the columns of fixed width at the end of keys.
    tail_bytes: usize,
}

/// Where a row stands.
#[derive(Clone, Copy)]
enum RowAt<'r> {
    Recent(&'r StoredRow),
    Block(&'r Arc<BlockRef>, usize),
}

impl RowShape {
    /// These columns of the table, by index; [`Table::row_key_index`] is `_row_key`.
    pub fn new(table: &Arc<Table>, columns: impl IntoIterator<Item = usize>) -> Self {
        let columns: Box<[DecodedColumn]> = columns.into_iter().map(|index| DecodedColumn::of(table, index)).collect();
        let reads_keys = columns.iter().any(|column| !matches!(column.source, Source::Stored { .. }));
        Self { table: table.clone(), columns, reads_keys, tail_from: tail_from(table) }
    }

    /// The table.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// How many columns are wanted.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// The values of a row that was found by its key.
    pub(crate) fn values(&self, key: &[u8], found: Found) -> Result<Vec<Value>, TableError> {
        let Found { piece, lead } = found;
        let mut values = Vec::with_capacity(self.columns.len());
        let (mut parts, mut slices) = (BlockParts::default(), KeySlices::default());
        match &piece {
            Piece::Row { row, .. } => self.append(key, RowAt::Recent(row), &mut parts, &mut slices, &mut values)?,
            Piece::Block { block, rows } => {
                parts.block = Some(block.id);
                parts.fix = lead.map(|lead| (0, Some(lead)));
                self.append(key, RowAt::Block(block, rows.start), &mut parts, &mut slices, &mut values)?;
            }
            Piece::Passed(_) => {}
        }
        Ok(values)
    }

    /// Adds the values of some rows.
    fn append_piece(
        &self,
        piece: &Piece,
        direction: Direction,
        reader: &mut RowReader,
        values: &mut Vec<Value>,
    ) -> Result<(), TableError> {
        match piece {
            Piece::Row { key, row } => {
                let RowReader { parts, slices, .. } = reader;
                self.append(key, RowAt::Recent(row), parts, slices, values)
            }
            Piece::Block { block, rows } => {
                reader.is_split = false;
                for i in 0..rows.len() {
                    let row = if direction == Direction::Forward { rows.start + i } else { rows.end - 1 - i };
                    self.append_block_row(block, row, reader, values)?;
                }
                Ok(())
            }
            Piece::Passed(_) => Ok(()),
        }
    }

    /// Adds a row of a block, the one before of which was added last, if any was.
    fn append_block_row(
        &self,
        block: &Arc<BlockRef>,
        row: usize,
        reader: &mut RowReader,
        values: &mut Vec<Value>,
    ) -> Result<(), TableError> {
        let table = &*self.table;
        let RowReader { parts, slices, key, is_split, tail_bytes } = reader;
        let mut is_new = false;
        parts.turn_to(block);
        if self.reads_keys {
            let lead = parts.lead(block)?;
            let (prefix, suffix) = lead.key(row);
            let changing = suffix.len().saturating_sub(*tail_bytes);
            let repeats = key.len() == prefix.len() + suffix.len()
                && key.get(prefix.len()..prefix.len() + changing) == suffix.get(..changing);
            if !(*is_split && repeats) {
                lead.key_into(row, key);
                table.codec().split(key, slices)?;
                *tail_bytes = slices.range(self.tail_from).map_or(0, |range| key.len() - range.start);
                (*is_split, is_new) = (true, true);
            }
        }
        for column in &self.columns {
            values.push(match column.source {
                Source::RowKey => {
                    let (prefix, suffix) = parts.lead(block)?.key(row);
                    Value::Bytes([prefix, suffix].concat())
                }
                Source::Key { position, codec } => match slices.range(position) {
                    Some(place) if *tail_bytes > 0 && position >= self.tail_from => {
                        let (from_end, width) = (key.len() - place.start, place.len());
                        let bytes = parts.lead(block)?.key_tail(row, from_end, width);
                        let value = codec.decode(bytes.get(..width).unwrap_or_default());
                        value.map_err(|bad| table.codec().corrupt(position, key, slices, bad))?
                    }
                    // Where these bytes repeat, the row before has the value.
                    _ => match values.len().checked_sub(self.columns.len()).and_then(|place| values.get(place)) {
                        Some(value) if !is_new => value.clone(),
                        _ => table.codec().decode_column(key, slices, position)?,
                    },
                },
                Source::Stored { family, slot } => {
                    let value = parts.value(block, row, (family, slot), column.ty)?;
                    value.unwrap_or_else(|| table.absent(column.index).clone())
                }
            });
        }
        Ok(())
    }

    /// Adds a row whose key is given.
    fn append(
        &self,
        key: &[u8],
        row: RowAt<'_>,
        parts: &mut BlockParts,
        slices: &mut KeySlices,
        values: &mut Vec<Value>,
    ) -> Result<(), TableError> {
        let table = &*self.table;
        let mut is_split = false;
        for column in &self.columns {
            values.push(match (column.source, row) {
                (Source::RowKey, _) => Value::Bytes(key.to_vec()),
                (Source::Key { position, .. }, _) => {
                    if !is_split {
                        table.codec().split(key, slices)?;
                        is_split = true;
                    }
                    table.codec().decode_column(key, slices, position)?
                }
                (Source::Stored { family, slot }, RowAt::Recent(row)) => {
                    recent_value(table, key, row, (family, slot), column)?
                }
                (Source::Stored { family, slot }, RowAt::Block(block, row)) => {
                    let value = parts.value(block, row, (family, slot), column.ty)?;
                    value.unwrap_or_else(|| table.absent(column.index).clone())
                }
            });
        }
        Ok(())
    }
}

impl Scan {
    /// Reads to the end, or as many rows as are wanted: a value for each column of `shape`, row after row. For few rows:
    /// all are held.
    ///
    /// # Law
    /// They are the values of the batches of [`Scan::next_columns`], where those have the columns of `shape`.
    ///
    /// # Errors
    /// As there.
    pub fn values(&mut self, shape: &RowShape) -> Result<Vec<Value>, TableError> {
        let started = Instant::now();
        let values = if self.shape.is_filtered() { self.values_of_batches(shape) } else { self.read_values(shape) };
        let counters = &self.context.counters;
        counters.micros.fetch_add(started.elapsed().as_micros() as u64, Relaxed);
        if let Ok((_, rows)) = &values {
            counters.batches.fetch_add(1, Relaxed);
            counters.rows_out.fetch_add(*rows, Relaxed);
        }
        values.map(|(values, _)| values)
    }

    fn read_values(&mut self, shape: &RowShape) -> Result<(Vec<Value>, u64), TableError> {
        let (mut reader, mut values, mut read) = (RowReader::default(), Vec::new(), 0);
        let wanted = if self.done { 0 } else { self.remaining.unwrap_or(u64::MAX) };
        self.done = true;
        self.context.check()?;
        while read < wanted {
            let Some(piece) = self.rows.next((wanted - read).min(CHECK_ROWS as u64) as usize)? else { break };
            let rows = piece.len() as u64;
            if read == 0 {
                values.reserve(self.remaining.unwrap_or(rows).min(CHECK_ROWS as u64) as usize * shape.width());
            }
            shape.append_piece(&piece, self.direction, &mut reader, &mut values)?;
            read += rows;
            self.context.book(rows, if shape.width() == 0 { 0 } else { piece.bytes() })?;
        }
        Ok((values, read))
    }

    /// Which rows are wanted is known when they are decoded.
    fn values_of_batches(&mut self, shape: &RowShape) -> Result<(Vec<Value>, u64), TableError> {
        let (mut values, mut read) = (Vec::new(), 0);
        while let Some((columns, rows)) = self.read_columns()? {
            for row in 0..rows {
                for (array, column) in columns.iter().zip(&shape.columns) {
                    let value = value_at(array, row, column.ty);
                    values.push(value.map_err(|source| TableError::Value { column: None, source })?);
                }
            }
            read += rows as u64;
        }
        Ok((values, read))
    }
}

fn recent_value(
    table: &Table,
    key: &[u8],
    row: &StoredRow,
    of: (usize, u16),
    column: &DecodedColumn,
) -> Result<Value, TableError> {
    recent_slot(table, key, row, of, |stored| match stored {
        SlotBytes::Null => Some(Value::Null),
        SlotBytes::Absent => Some(table.absent(column.index).clone()),
        SlotBytes::Value(bytes) => slot_value(column.ty, bytes),
    })
}

/// What `read` makes of a slot of a family of a delta's row; it gives `None` for bytes that are no value.
pub(crate) fn recent_slot<T>(
    table: &Table,
    key: &[u8],
    row: &StoredRow,
    (family, slot): (usize, u16),
    read: impl FnOnce(SlotBytes<'_>) -> Option<T>,
) -> Result<T, TableError> {
    let value = match (row.family(family), table.layout(family)) {
        (Some(bytes), Some(layout)) => {
            let row = layout.read(bytes).ok_or_else(|| corrupt(table, key, "header"))?;
            row.slot(slot.into()).and_then(read)
        }
        _ => read(SlotBytes::Absent),
    };
    value.ok_or_else(|| corrupt(table, key, "column"))
}

/// What is needed of a block, as far as it was read.
#[derive(Default)]
pub(crate) struct BlockParts {
    block: Option<u64>,
    fix: Option<(usize, Option<Arc<FixPart>>)>,
    var: Option<(usize, Option<Arc<VarPart>>)>,
}

impl BlockParts {
    /// What follows is asked of this block.
    pub(crate) fn turn_to(&mut self, block: &BlockRef) {
        if self.block != Some(block.id) {
            *self = Self { block: Some(block.id), fix: None, var: None };
        }
    }

    /// The fixed part of a family of the block, if it has one.
    pub(crate) fn fix(&mut self, block: &Arc<BlockRef>, family: usize) -> Result<Option<&FixPart>, TableError> {
        if self.fix.as_ref().is_none_or(|(of, _)| *of != family) {
            self.fix = Some((family, block.fix(family as u8)?));
        }
        Ok(self.fix.as_ref().and_then(|(_, part)| part.as_deref()))
    }

    /// The part that has the keys.
    fn lead(&mut self, block: &Arc<BlockRef>) -> Result<&FixPart, TableError> {
        self.fix(block, 0)?.ok_or_else(|| block.damaged("its keys"))
    }

    /// The variable part, likewise.
    fn var(&mut self, block: &Arc<BlockRef>, family: usize) -> Result<Option<&VarPart>, TableError> {
        if self.var.as_ref().is_none_or(|(of, _)| *of != family) {
            self.var = Some((family, block.var(family as u8)?));
        }
        Ok(self.var.as_ref().and_then(|(_, part)| part.as_deref()))
    }

    /// A value; `None` where the column is younger than the block, or all of its family are NULL.
    fn value(
        &mut self,
        block: &Arc<BlockRef>,
        row: usize,
        (family, slot): (usize, u16),
        ty: SqlType,
    ) -> Result<Option<Value>, TableError> {
        self.turn_to(block);
        let Some(fix) = self.fix(block, family)? else { return Ok(None) };
        let Some(stored) = fix.column(slot) else { return Ok(None) };
        if stored.nulls.is_null(fix.bytes(), row) {
            return Ok(Some(Value::Null));
        }
        let value = match stored.cells {
            FixCells::Ints(ints) => Some(int_value(ty, ints.get(fix.bytes(), row))),
            FixCells::Raw { width, at } => fix.raw(width, at, row..row + 1).and_then(|bytes| slot_value(ty, bytes)),
            FixCells::Var => {
                let part = self.var(block, family)?;
                part.and_then(|part| slot_value(ty, part.column(slot)?.value(part.bytes(), row)?))
            }
        };
        value.map(Some).ok_or_else(|| block.damaged("a value"))
    }
}

/// A value that blocks keep as an integer.
fn int_value(ty: SqlType, value: i64) -> Value {
    use SqlType::*;
    match ty {
        Boolean => Value::Bool(value != 0),
        Date | Time | UnsignedDate | UnsignedTime => Value::Date(value),
        _ => Value::Int(value),
    }
}
