//! Rows as values, without batches: for callers that take them one by one.

use std::ops::Range;
use std::sync::Arc;

use saltwing_access::{NO_TIME_MS, Projection, TableError};
use saltwing_expr::{ColumnCells, RowValues};
use saltwing_rowkey::{BadBytes, KeySlices, ValueCodec};
use saltwing_store::Direction;
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::{SqlType, Value};

use crate::engine::block_ref::{BlockRef, LeadParts};
use crate::engine::stored_table::{OpenTables, StoredTable};
use crate::format::fix_part::{FixCells, FixPart};
use crate::format::row_order::{RowSelection, nth, take_first};
use crate::format::slot_format;
use crate::format::slot_format::slot_value;
use crate::format::stored_column::{StoredColumn, Unreadable, ValueSink, read_slot};
use crate::format::stored_row::StoredRow;
use crate::scan::block_parts::{BlockParts, recent_slot};
use crate::scan::column_location::{ColumnLocation, tail_bytes};
use crate::scan::cursor::segment::RowSegment;
use crate::scan::decode::DecodedColumn;
use crate::scan::decode::keys::corrupt as corrupt_key;
use crate::scan::lookup::Found;

/// Which columns are wanted of rows that come as values, made ready once for many rows.
pub(crate) struct RowShape {
    table: Arc<StoredTable>,
    pub(crate) columns: Box<[DecodedColumn]>,
    /// Neighbours among them that are stored in one family, or are no stored ones.
    groups: Box<[Group]>,
    /// Whether a column is one of a key's before those at its end.
    reads_leading: bool,
    /// Bytes of all key columns that stand at the end of every key with a fixed width.
    tail_bytes: usize,
}

struct Group {
    /// Their family, and whether one of them has a variable width.
    stored: Option<(usize, bool)>,
    columns: Range<usize>,
}

/// The state of a row reader between rows.
#[derive(Default)]
pub(crate) struct RowReader {
    parts: BlockParts,
    /// Room for a key.
    key: Vec<u8>,
    slices: KeySlices,
    scratch: Vec<u8>,
}

impl RowShape {
    /// The columns of a projection, over their table's layout.
    pub(crate) fn of(open: &OpenTables, columns: &Projection) -> Result<Arc<Self>, TableError> {
        columns.compiled().get_or_compile(|| {
            let table = StoredTable::open(open, columns.table());
            Ok(Self::new(&table, columns.columns().iter().copied()))
        })
    }

    pub(crate) fn new(table: &Arc<StoredTable>, columns: impl IntoIterator<Item = usize>) -> Self {
        let columns: Box<[DecodedColumn]> = columns.into_iter().map(|index| DecodedColumn::of(table, index)).collect();
        let reads_leading = columns.iter().any(|column| matches!(column.source, ColumnLocation::KeyPrefix { .. }));
        let mut end = 0;
        let group = |group: &[DecodedColumn]| {
            let start = end;
            end += group.len();
            let family = group.first().and_then(DecodedColumn::family);
            let has_var = group.iter().any(|column| slot_format::width(column.ty).is_none());
            Group { stored: family.map(|family| (family, has_var)), columns: start..end }
        };
        let groups = columns.chunk_by(|a, b| a.family() == b.family()).map(group).collect();
        Self { table: table.clone(), columns, groups, reads_leading, tail_bytes: tail_bytes(table) }
    }

    /// The table.
    pub(crate) fn table(&self) -> &Arc<StoredTable> {
        &self.table
    }

    /// How many columns are wanted.
    pub(crate) fn width(&self) -> usize {
        self.columns.len()
    }

    /// The values of the row that was found at a key.
    pub(crate) fn values(&self, key: &[u8], found: Found) -> Result<RowValues, TableError> {
        let mut values = RowValues::new(self.columns.len());
        self.append_found(key, found, &mut RowReader::default(), &mut values)?;
        Ok(values)
    }

    /// Adds the values of the row that was found at a key.
    pub(crate) fn append_found(
        &self,
        key: &[u8],
        Found { segment, lead }: Found,
        reader: &mut RowReader,
        values: &mut RowValues,
    ) -> Result<(), TableError> {
        let RowSegment::Block { block, rows, .. } = &segment else {
            return self.append(&segment, Direction::Forward, reader, values);
        };
        reader.parts = BlockParts::of_lead(block, lead);
        self.append_block(Some(key), block, rows, Direction::Forward, reader, values)
    }

    /// Adds the values of some rows of a block whose first parts are known.
    pub(crate) fn append_together(
        &self,
        block: &Arc<BlockRef>,
        lead: LeadParts,
        rows: &Range<usize>,
        direction: Direction,
        values: &mut RowValues,
    ) -> Result<(), TableError> {
        let mut reader = RowReader { parts: BlockParts::of_lead(block, Some(lead)), ..RowReader::default() };
        self.append_block(None, block, rows, direction, &mut reader, values)
    }

    /// Adds the values of some rows.
    pub(crate) fn append(
        &self,
        segment: &RowSegment,
        direction: Direction,
        reader: &mut RowReader,
        values: &mut RowValues,
    ) -> Result<(), TableError> {
        match segment {
            RowSegment::Row { key, row } => self.append_recent(key, row, &mut reader.slices, values),
            RowSegment::Block { block, rows, .. } => self.append_block(None, block, rows, direction, reader, values),
            RowSegment::Pruned(_) => Ok(()),
        }
    }

    /// Adds rows of a block, column after column. `key` is the key of the only row, if the caller knows it.
    fn append_block(
        &self,
        key: Option<&[u8]>,
        block: &Arc<BlockRef>,
        rows: &Range<usize>,
        direction: Direction,
        reader: &mut RowReader,
        values: &mut RowValues,
    ) -> Result<(), TableError> {
        let first = values.add(rows.len());
        reader.parts.turn_to(block);
        match key.filter(|_| self.reads_leading) {
            Some(key) => self.put_leading_of(key, reader, values, first, 1)?,
            None if self.reads_leading => self.put_leading(block, rows.clone(), direction, reader, values, first)?,
            None => {}
        }
        for Group { stored, columns } in &self.groups {
            let columns = columns.clone().zip(self.columns.get(columns.clone()).unwrap_or_default());
            match stored {
                Some((family, has_var)) => {
                    let (fix, var) = reader.parts.both(block, *family, *has_var)?;
                    let selection = RowSelection::Run(rows.clone(), direction);
                    for (place, column) in columns {
                        let mut sink = CellSink { ty: column.ty, cells: values.column_mut(first, place) };
                        let stored =
                            column.stored().zip(fix).and_then(|((_, slot), fix)| StoredColumn::of(fix, var, slot));
                        let read = match stored {
                            Some(stored) => stored.read(&selection, &mut sink),
                            None => sink.constant(self.table.absent(column.index), rows.len()),
                        };
                        read.map_err(|_| block.damaged("a value"))?;
                    }
                }
                None => {
                    let lead = reader.parts.lead(block)?;
                    for (place, column) in columns {
                        self.put_key_column(lead, column, rows, direction, values.column_mut(first, place))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Puts a column that is decoded from the ends of keys, or from whole keys.
    fn put_key_column(
        &self,
        lead: &FixPart,
        column: &DecodedColumn,
        rows: &Range<usize>,
        direction: Direction,
        mut cells: ColumnCells<'_>,
    ) -> Result<(), TableError> {
        match column.source {
            ColumnLocation::KeySuffix { position, codec, from_end, width } => {
                let put = put_tails(lead, rows, direction, (from_end, width), codec, &mut cells);
                let (prefix, suffix) = lead.key(nth(rows, direction, 0));
                put.map_err(|bad| corrupt_key(&self.table, &[prefix, suffix], position, bad))
            }
            ColumnLocation::RowKey => {
                for i in 0..rows.len() {
                    let (prefix, suffix) = lead.key(nth(rows, direction, i));
                    cells.put_bytes(prefix, suffix);
                }
                Ok(())
            }
            ColumnLocation::RowTime => {
                (0..rows.len()).for_each(|i| put_time(lead.time_ms(nth(rows, direction, i)), &mut cells));
                Ok(())
            }
            ColumnLocation::KeyPrefix { .. } | ColumnLocation::Slot { .. } => Ok(()),
        }
    }

    /// Puts the leading key columns of a block's rows. Neighbours mostly differ in their last columns only: keys are split
    /// where the bytes before those change.
    fn put_leading(
        &self,
        block: &Arc<BlockRef>,
        mut rows: Range<usize>,
        direction: Direction,
        reader: &mut RowReader,
        values: &mut RowValues,
        mut first: usize,
    ) -> Result<(), TableError> {
        let mut key = std::mem::take(&mut reader.key);
        while !rows.is_empty() {
            let lead = reader.parts.lead(block)?;
            let repeats = lead.repeats(rows.clone(), direction, self.tail_bytes);
            let same = take_first(&mut rows, direction, repeats);
            lead.key_into(nth(&same, direction, 0), &mut key);
            self.put_leading_of(&key, reader, values, first, repeats)?;
            first += repeats;
        }
        reader.key = key;
        Ok(())
    }

    /// Splits `key`, and puts its leading columns into `rows` rows of `values`, from row `first` on.
    fn put_leading_of(
        &self,
        key: &[u8],
        reader: &mut RowReader,
        values: &mut RowValues,
        first: usize,
        rows: usize,
    ) -> Result<(), TableError> {
        let RowReader { slices, scratch, .. } = reader;
        self.table.codec().split(key, slices)?;
        for (place, column) in self.columns.iter().enumerate() {
            let ColumnLocation::KeyPrefix { position, codec } = column.source else { continue };
            let mut cells = values.column_mut(first, place);
            put_key(&self.table, key, slices, (position, codec), scratch, &mut cells)?;
            cells.repeat(rows - 1);
        }
        Ok(())
    }

    /// Adds a row of a delta.
    fn append_recent(
        &self,
        key: &[u8],
        row: &StoredRow,
        slices: &mut KeySlices,
        values: &mut RowValues,
    ) -> Result<(), TableError> {
        let table = &*self.table;
        if self
            .columns
            .iter()
            .any(|column| matches!(column.source, ColumnLocation::KeyPrefix { .. } | ColumnLocation::KeySuffix { .. }))
        {
            table.codec().split(key, slices)?;
        }
        let at = values.add(1);
        for (place, column) in self.columns.iter().enumerate() {
            let mut cells = values.column_mut(at, place);
            match column.source {
                ColumnLocation::RowKey => cells.put_bytes(key, &[]),
                ColumnLocation::RowTime => put_time(row.time_ms(), &mut cells),
                ColumnLocation::KeyPrefix { position, .. } | ColumnLocation::KeySuffix { position, .. } => {
                    cells.put(table.codec().decode_column(key, slices, position)?);
                }
                ColumnLocation::Slot { family, slot } => {
                    let (absent, mut sink) = (table.absent(column.index), CellSink { ty: column.ty, cells });
                    recent_slot(table, key, row, (family, slot), |slot| read_slot(slot, absent, &mut sink).ok())?;
                }
            }
        }
        Ok(())
    }
}

/// Puts the time of a row; a row from no time has none.
fn put_time(time_ms: i64, cells: &mut ColumnCells<'_>) {
    if time_ms == NO_TIME_MS { cells.put_null() } else { cells.put_date(time_ms) }
}

/// The cells of a column, as they take stored values.
struct CellSink<'a> {
    ty: SqlType,
    cells: ColumnCells<'a>,
}

impl ValueSink for CellSink<'_> {
    fn null(&mut self) {
        self.cells.put_null();
    }

    fn int(&mut self, value: i64) -> Result<(), Unreadable> {
        match self.ty.family() {
            TypeFamily::Boolean => self.cells.put(Value::Bool(value != 0)),
            TypeFamily::Instant => self.cells.put_date(value),
            _ => self.cells.put_int(value),
        }
        Ok(())
    }

    fn slot(&mut self, bytes: &[u8]) -> Result<(), Unreadable> {
        match self.ty.family() {
            TypeFamily::Text => self.cells.put_text(std::str::from_utf8(bytes).map_err(|_| Unreadable::Damaged)?),
            _ => self.cells.put(slot_value(self.ty, bytes).ok_or(Unreadable::Damaged)?),
        }
        Ok(())
    }

    fn constant(&mut self, value: &Value, rows: usize) -> Result<(), Unreadable> {
        self.cells.put(value.clone());
        self.cells.repeat(rows - 1);
        Ok(())
    }

    fn values(&mut self, column: &StoredColumn<'_>, rows: &RowSelection<'_>) -> Result<bool, Unreadable> {
        let cells = &mut self.cells;
        match (column.column.cells, rows) {
            (FixCells::Ints(ints), RowSelection::Run(rows, direction)) if self.ty.is_integer() => {
                ints.give(column.fix.bytes(), rows.clone(), *direction, |value| cells.put_int(value));
            }
            (FixCells::Var, RowSelection::Run(rows, Direction::Forward)) if self.ty.family() == TypeFamily::Text => {
                let (texts, part) = column.var.ok_or(Unreadable::Damaged)?;
                cells.reserve_texts(texts.bytes_of(rows));
                let put = texts.each_run(part, rows.clone(), |bytes, start, ends| {
                    cells.put_texts(std::str::from_utf8(bytes).ok()?, start, ends)
                });
                put.ok_or(Unreadable::Damaged)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Puts the values of a key column at a fixed offset from the ends of keys.
fn put_tails(
    lead: &FixPart,
    rows: &Range<usize>,
    direction: Direction,
    (from_end, width): (usize, usize),
    codec: ValueCodec,
    cells: &mut ColumnCells<'_>,
) -> Result<(), BadBytes> {
    if let (Some(integers), Some(number)) = (codec.integers(), lead.key_numbers(rows.clone(), from_end, width)) {
        let is_instant = codec.sql_type().family() == TypeFamily::Instant;
        for i in 0..rows.len() {
            let value = integers.read(number(nth(rows, direction, i)))?;
            if is_instant { cells.put_date(value) } else { cells.put_int(value) }
        }
        return Ok(());
    }
    for i in 0..rows.len() {
        let tail = lead.key_tail(nth(rows, direction, i), from_end, width);
        cells.put(codec.decode(tail.get(..width).unwrap_or_default())?);
    }
    Ok(())
}

/// Puts a column of a key that was split.
fn put_key(
    table: &StoredTable,
    key: &[u8],
    slices: &KeySlices,
    (position, codec): (usize, ValueCodec),
    scratch: &mut Vec<u8>,
    cells: &mut ColumnCells<'_>,
) -> Result<(), TableError> {
    let corrupt = |bad| table.codec().corrupt(position, key, slices, bad);
    match slices.get(key, position) {
        None => cells.put_null(),
        Some(stored) if codec.sql_type().family() == TypeFamily::Text => {
            cells.put_text(codec.read_text(stored, scratch).map_err(corrupt)?);
        }
        Some(stored) => cells.put(codec.decode(stored).map_err(corrupt)?),
    }
    Ok(())
}
