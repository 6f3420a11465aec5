//! Rows as values, without batches: for one of them, or few.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use saltwing_expr::value_at;
use saltwing_rowkey::KeySlices;
use saltwing_store::Direction;
use saltwing_types::{SqlType, Value};

use crate::decode::{DecodedColumn, Source, corrupt, tail_from};
use crate::packed::block::{FixCells, FixColumn, FixPart, VarPart};
use crate::packed::block_ref::BlockRef;
use crate::packed::delta::StoredRow;
use crate::row_format::{self, SlotBytes, slot_value};
use crate::scan::{CHECK_ROWS, Scan};
use crate::travel::{nth, take_first};
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
    /// The key that was split last.
    key: Vec<u8>,
    slices: KeySlices,
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
    pub(crate) fn values(&self, found: Found) -> Result<Vec<Value>, TableError> {
        let Found { piece, lead } = found;
        let (mut values, mut reader) = (Vec::with_capacity(self.columns.len()), RowReader::default());
        if let Piece::Block { block, .. } = &piece {
            reader.parts = BlockParts { block: Some(block.id), fix: lead.map(|lead| (0, Some(lead))), var: None };
        }
        self.append(&piece, Direction::Forward, &mut reader, &mut values)?;
        Ok(values)
    }

    /// Adds the values of some rows.
    fn append(
        &self,
        piece: &Piece,
        direction: Direction,
        reader: &mut RowReader,
        values: &mut Vec<Value>,
    ) -> Result<(), TableError> {
        match piece {
            Piece::Row { key, row } => self.append_recent(key, row, &mut reader.slices, values),
            Piece::Block { block, rows } => self.append_block(block, rows, direction, reader, values),
            Piece::Passed(_) => Ok(()),
        }
    }

    /// Adds rows of a block, column after column.
    fn append_block(
        &self,
        block: &Arc<BlockRef>,
        rows: &Range<usize>,
        direction: Direction,
        reader: &mut RowReader,
        values: &mut Vec<Value>,
    ) -> Result<(), TableError> {
        let base = values.len();
        values.resize(base + rows.len() * self.columns.len(), Value::Null);
        let values = values.get_mut(base..).unwrap_or_default();
        reader.parts.turn_to(block);
        if self.reads_keys {
            self.fill_keys(block, rows.clone(), direction, reader, values)?;
        }
        let width = self.columns.len();
        for (place, column) in self.columns.iter().enumerate() {
            let Source::Stored { family, slot } = column.source else { continue };
            let (fix, var) = reader.parts.both(block, family, row_format::width(column.ty).is_none())?;
            let stored = fix.and_then(|fix| Some((fix, fix.column(slot)?)));
            for i in 0..rows.len() {
                let Some(value) = values.get_mut(i * width + place) else { continue };
                let row = nth(rows, direction, i);
                match stored {
                    // The column is younger than the block, or all of its family are NULL.
                    None => value.clone_from(self.table.absent(column.index)),
                    Some((fix, FixColumn { nulls, .. })) if nulls.is_null(fix.bytes(), row) => {}
                    Some((fix, FixColumn { cells: FixCells::Ints(ints), .. })) => {
                        *value = int_value(column.ty, ints.get(fix.bytes(), row));
                    }
                    Some((fix, FixColumn { cells, .. })) => {
                        let bytes = match cells {
                            FixCells::Raw { width, at } => fix.raw(*width, *at, row..row + 1),
                            _ => var.and_then(|var| var.column(slot)?.value(var.bytes(), row)),
                        };
                        let stored = bytes.and_then(|bytes| slot_value(column.ty, bytes));
                        *value = stored.ok_or_else(|| block.damaged("a value"))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Puts what comes from the row keys of a block into its places among the values: see `RowDecoder::append_keys`.
    fn fill_keys(
        &self,
        block: &Arc<BlockRef>,
        mut rows: Range<usize>,
        direction: Direction,
        reader: &mut RowReader,
        mut values: &mut [Value],
    ) -> Result<(), TableError> {
        let (table, width) = (&*self.table, self.columns.len());
        let RowReader { parts, slices, key } = reader;
        let lead = parts.lead(block)?;
        while !rows.is_empty() {
            lead.key_into(nth(&rows, direction, 0), key);
            table.codec().split(key, slices)?;
            let tail_bytes = slices.range(self.tail_from).map_or(0, |range| key.len() - range.start);
            let repeats = lead.repeats(rows.clone(), direction, tail_bytes);
            let same = take_first(&mut rows, direction, repeats);
            let (filled, others) = values.split_at_mut_checked(repeats * width).unwrap_or_default();
            for (place, column) in self.columns.iter().enumerate() {
                let cells = filled.iter_mut().skip(place).step_by(width);
                match column.source {
                    Source::Stored { .. } => {}
                    Source::RowKey => cells.enumerate().for_each(|(i, value)| {
                        let (prefix, suffix) = lead.key(nth(&same, direction, i));
                        *value = Value::Bytes([prefix, suffix].concat());
                    }),
                    Source::Key { position, codec } => match slices.range(position) {
                        Some(at) if position >= self.tail_from => {
                            let (from_end, bytes) = (key.len() - at.start, at.len());
                            for (i, value) in cells.enumerate() {
                                let end = lead.key_tail(nth(&same, direction, i), from_end, bytes);
                                let decoded = codec.decode(end.get(..bytes).unwrap_or_default());
                                *value = decoded.map_err(|bad| table.codec().corrupt(position, key, slices, bad))?;
                            }
                        }
                        _ => {
                            let decoded = table.codec().decode_column(key, slices, position)?;
                            cells.for_each(|value| value.clone_from(&decoded));
                        }
                    },
                }
            }
            values = others;
        }
        Ok(())
    }

    /// Adds a row of a delta.
    fn append_recent(
        &self,
        key: &[u8],
        row: &StoredRow,
        slices: &mut KeySlices,
        values: &mut Vec<Value>,
    ) -> Result<(), TableError> {
        let table = &*self.table;
        if self.reads_keys {
            table.codec().split(key, slices)?;
        }
        for column in &self.columns {
            values.push(match column.source {
                Source::RowKey => Value::Bytes(key.to_vec()),
                Source::Key { position, .. } => table.codec().decode_column(key, slices, position)?,
                Source::Stored { family, slot } => {
                    recent_slot(table, key, row, (family, slot), |stored| match stored {
                        SlotBytes::Null => Some(Value::Null),
                        SlotBytes::Absent => Some(table.absent(column.index).clone()),
                        SlotBytes::Value(bytes) => slot_value(column.ty, bytes),
                    })?
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
            shape.append(&piece, self.direction, &mut reader, &mut values)?;
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

    /// The fixed part of a family, and the variable one where it is wanted.
    pub(crate) fn both(
        &mut self,
        block: &Arc<BlockRef>,
        family: usize,
        is_var_wanted: bool,
    ) -> Result<(Option<&FixPart>, Option<&VarPart>), TableError> {
        let is_there = self.fix(block, family)?.is_some();
        if is_there && is_var_wanted && self.var.as_ref().is_none_or(|(of, _)| *of != family) {
            self.var = Some((family, block.var(family as u8)?));
        }
        let fix = self.fix.as_ref().and_then(|(_, part)| part.as_deref());
        Ok((fix, self.var.as_ref().filter(|_| is_var_wanted).and_then(|(_, part)| part.as_deref())))
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
