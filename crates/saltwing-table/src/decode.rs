//! Pieces of a scan into columns: only the columns that are asked for.

use std::sync::Arc;

use arrow::array::ArrayRef;
use saltwing_rowkey::{KeySlices, ValueCodec};
use saltwing_store::Direction;
use saltwing_types::{KeyColumn, SqlType, ValueError, text};
use smallvec::SmallVec;

use crate::packed::block::{FixCells, FixPart, VarPart};
use crate::packed::block_ref::BlockRef;
use crate::packed::delta::StoredRow;
use crate::row_format::{self, SlotBytes};
use crate::sink::{Run, Sink};
use crate::travel::Picked;
use crate::walk::Piece;
use crate::{Table, TableError};

/// Where a column's value comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    Key { position: usize, codec: ValueCodec },
    RowKey,
    Stored { family: usize, slot: u16 },
}

impl Source {
    /// That of a column of the table, by index.
    pub(crate) fn of(table: &Table, column: usize) -> Self {
        let def = table.def();
        let codec =
            def.key.position(column).and_then(|position| Some((position, table.codec().value_codec(position)?)));
        match (codec, def.columns.get(column)) {
            (Some((position, codec)), _) => Self::Key { position, codec },
            (None, Some(c)) => Self::Stored { family: c.family.unwrap_or(0), slot: c.slot },
            (None, None) => Self::RowKey,
        }
    }
}

/// Columns that are decoded, and where they come from: what is known of them before a scan.
pub(crate) struct DecodedColumns {
    pub(crate) all: Vec<DecodedColumn>,
    /// Families that columns are read of, and whether one of variable width is.
    families: Vec<(usize, bool)>,
    /// Whether a key column is among them.
    splits_keys: bool,
    /// Whether keys are put out.
    reads_keys: bool,
    /// The first of the key columns that stand at the end of every key with a fixed width.
    tail_from: usize,
}

/// One of them, by index.
#[derive(Clone, Copy)]
pub(crate) struct DecodedColumn {
    pub(crate) index: usize,
    pub(crate) ty: SqlType,
    pub(crate) source: Source,
}

impl DecodedColumn {
    pub(crate) fn of(table: &Table, index: usize) -> Self {
        Self { index, ty: table.column_type(index), source: Source::of(table, index) }
    }
}

impl DecodedColumns {
    /// These columns of the table, by index.
    pub(crate) fn new(table: &Table, columns: &[usize]) -> Self {
        let all: Vec<DecodedColumn> = columns.iter().map(|&index| DecodedColumn::of(table, index)).collect();
        let mut families: Vec<(usize, bool)> = Vec::new();
        for column in &all {
            if let Source::Stored { family, .. } = column.source {
                let var = row_format::width(column.ty).is_none();
                match families.iter_mut().find(|(known, _)| *known == family) {
                    Some((_, var_wanted)) => *var_wanted |= var,
                    None => families.push((family, var)),
                }
            }
        }
        let splits_keys = all.iter().any(|c| matches!(c.source, Source::Key { .. }));
        let reads_keys = splits_keys || all.iter().any(|c| matches!(c.source, Source::RowKey));
        Self { all, families, splits_keys, reads_keys, tail_from: tail_from(table) }
    }
}

/// The first of the key columns that stand at the end of every key with a fixed width.
pub(crate) fn tail_from(table: &Table) -> usize {
    let is_fixed = |k: &KeyColumn| row_format::width(k.ty).is_some() && !matches!(k.ty, SqlType::Decimal(_));
    let columns = &table.def().key.columns;
    columns.len() - columns.iter().rev().take_while(|k| is_fixed(k)).count()
}

/// Builds batches of chosen columns.
pub(crate) struct RowDecoder {
    columns: Vec<Column>,
    /// As in [`DecodedColumns`].
    splits_keys: bool,
    reads_keys: bool,
    tail_from: usize,
    families: SmallVec<[FamilyUse; 1]>,
    /// The block that `families` has the parts of, and the one before it.
    block: Option<u64>,
    block_before: Option<u64>,
    slices: KeySlices,
    key: Vec<u8>,
    scratch: Vec<u8>,
}

struct Column {
    index: usize,
    source: Source,
    sink: Sink,
}

/// A family of which columns are read, and its parts of the blocks read last.
struct FamilyUse {
    family: usize,
    var_wanted: bool,
    parts: Parts,
    parts_before: Parts,
}

#[derive(Default)]
struct Parts {
    fix: Option<Arc<FixPart>>,
    var: Option<Arc<VarPart>>,
}

impl RowDecoder {
    /// A decoder of these columns.
    pub(crate) fn new(columns: &DecodedColumns) -> Self {
        let &DecodedColumns { ref all, ref families, splits_keys, reads_keys, tail_from } = columns;
        let family = |&(family, var_wanted): &(usize, bool)| FamilyUse {
            family,
            var_wanted,
            parts: Parts::default(),
            parts_before: Parts::default(),
        };
        let column = |c: &DecodedColumn| Column { index: c.index, source: c.source, sink: Sink::new(c.ty) };
        Self {
            columns: all.iter().map(column).collect(),
            splits_keys,
            reads_keys,
            tail_from,
            families: families.iter().map(family).collect(),
            block: None,
            block_before: None,
            slices: KeySlices::default(),
            key: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Makes room for a batch.
    pub(crate) fn begin(&mut self, rows: usize) {
        self.columns.iter_mut().for_each(|column| column.sink.reserve(rows));
    }

    /// Adds rows.
    pub(crate) fn append(&mut self, table: &Table, piece: &Piece, direction: Direction) -> Result<(), TableError> {
        match piece {
            Piece::Row { key, row } => self.append_row(table, key, row),
            Piece::Block { block, rows } => self.append_picked(table, block, Picked::Run(rows.clone(), direction)),
            Piece::Passed(_) => Ok(()),
        }
    }

    fn append_row(&mut self, table: &Table, key: &[u8], row: &StoredRow) -> Result<(), TableError> {
        if self.columns.is_empty() {
            return Ok(());
        }
        if self.splits_keys {
            table.codec().split(key, &mut self.slices)?;
        }
        let damaged = |what| corrupt(table, key, what);
        let mut stored = Vec::with_capacity(self.families.len());
        for FamilyUse { family, .. } in &self.families {
            let found = match (row.family(*family), table.layout(*family)) {
                (Some(bytes), Some(layout)) => Some(layout.read(bytes).ok_or_else(|| damaged("header"))?),
                _ => None,
            };
            stored.push((*family, found));
        }
        for Column { index, source, sink } in &mut self.columns {
            let appended = match *source {
                Source::RowKey => sink.push_bytes([key, &[]]),
                Source::Key { position, codec } => {
                    push_key(table, key, &self.slices, position, codec, sink, &mut self.scratch)?
                }
                Source::Stored { family, slot } => {
                    let found = stored.iter().find(|(f, _)| *f == family).and_then(|(_, found)| found.as_ref());
                    match found.map(|found| found.slot(slot.into())) {
                        Some(Some(SlotBytes::Null)) => {
                            sink.push_null();
                            Ok(())
                        }
                        Some(None) => return Err(damaged("column")),
                        None | Some(Some(SlotBytes::Absent)) => sink.push_value(table.absent(*index), 1),
                        Some(Some(SlotBytes::Value(bytes))) => {
                            sink.push_slot(bytes).ok_or_else(|| damaged("column"))?
                        }
                    }
                }
            };
            appended.map_err(|source| named(table, *index, source))?;
        }
        Ok(())
    }

    /// Adds rows of a block.
    pub(crate) fn append_picked(
        &mut self,
        table: &Table,
        block: &Arc<BlockRef>,
        rows: Picked<'_>,
    ) -> Result<(), TableError> {
        if self.columns.is_empty() {
            return Ok(());
        }
        self.turn_to(block)?;
        if self.reads_keys {
            self.append_keys(table, &*block.lead()?, rows.clone())?;
        }
        for Column { index, source, sink } in &mut self.columns {
            let Source::Stored { family, slot } = *source else { continue };
            let parts = self.families.iter().find(|known| known.family == family);
            let (fix, var) = parts.map_or((None, None), |of| (of.parts.fix.as_deref(), of.parts.var.as_deref()));
            let appended = match fix.and_then(|fix| Some((fix, fix.column(slot)?))) {
                None => sink.push_value(table.absent(*index), rows.len()),
                Some((fix, column)) => {
                    let var = match column.cells {
                        FixCells::Var => var.and_then(|var| Some((var.column(slot)?, var.bytes()))),
                        _ => None,
                    };
                    let run = Run { fix, column, var, rows: rows.clone() };
                    sink.extend(&run).ok_or_else(|| block.damaged("a value"))?
                }
            };
            appended.map_err(|source| named(table, *index, source))?;
        }
        Ok(())
    }

    /// Has a block's parts at hand. That of an entry and its runs come by turns: the one before is not looked up again.
    fn turn_to(&mut self, block: &Arc<BlockRef>) -> Result<(), TableError> {
        if self.block == Some(block.id) {
            return Ok(());
        }
        std::mem::swap(&mut self.block, &mut self.block_before);
        self.families.iter_mut().for_each(|family| std::mem::swap(&mut family.parts, &mut family.parts_before));
        if self.block != Some(block.id) {
            // None of all where one fails.
            self.block = None;
            for FamilyUse { family, var_wanted, parts, .. } in &mut self.families {
                let number = *family as u8;
                parts.fix = block.fix(number)?;
                parts.var = if *var_wanted { block.var(number)? } else { None };
            }
            self.block = Some(block.id);
        }
        Ok(())
    }

    /// Adds what comes from the row keys of a block.
    ///
    /// Neighbours mostly differ in their last columns only. So columns of fixed width at the end are read by their
    /// distance from it, and those before them are split off only where their bytes change.
    fn append_keys(&mut self, table: &Table, lead: &FixPart, rows: Picked<'_>) -> Result<(), TableError> {
        let mut tail_bytes = 0;
        if self.splits_keys && rows.len() > 0 {
            lead.key_into(rows.nth(0), &mut self.key);
            table.codec().split(&self.key, &mut self.slices)?;
            tail_bytes = self.slices.range(self.tail_from).map_or(0, |range| self.key.len() - range.start);
            self.append_tails(table, lead, &rows)?;
        }
        let has_leading = |column: &Column| match column.source {
            Source::Key { position, .. } => position < self.tail_from,
            Source::RowKey => true,
            Source::Stored { .. } => false,
        };
        if self.columns.iter().any(has_leading) {
            self.append_leading(table, lead, rows, tail_bytes)?;
        }
        Ok(())
    }

    /// Adds the key columns at the end of keys, the first of which was split.
    fn append_tails(&mut self, table: &Table, lead: &FixPart, rows: &Picked<'_>) -> Result<(), TableError> {
        let Self { columns, slices, key, tail_from, .. } = self;
        for Column { index, source, sink } in columns.iter_mut() {
            let Source::Key { position, codec } = *source else { continue };
            let Some(place) = slices.range(position).filter(|_| position >= *tail_from) else { continue };
            let (from_end, width) = (key.len() - place.start, place.len());
            let pushed = match (lead.key_tails(rows.cover(), from_end, width), rows) {
                (Some(end), Picked::Run(rows, Direction::Forward)) => {
                    sink.push_keys(codec, width, rows.clone().map(end))
                }
                (Some(end), rows) => sink.push_keys(codec, width, (0..rows.len()).map(|i| end(rows.nth(i)))),
                (None, rows) => {
                    let ends = (0..rows.len()).map(|i| lead.key_tail(rows.nth(i), from_end, width));
                    sink.push_keys(codec, width, ends)
                }
            };
            let pushed = pushed.map_err(|bad| table.codec().corrupt(position, key, slices, bad))?;
            pushed.map_err(|source| named(table, *index, source))?;
        }
        Ok(())
    }

    /// Adds the key columns before those, and whole keys.
    fn append_leading(
        &mut self,
        table: &Table,
        lead: &FixPart,
        mut rows: Picked<'_>,
        tail_bytes: usize,
    ) -> Result<(), TableError> {
        let Self { columns, slices, key, scratch, tail_from, splits_keys, .. } = self;
        while rows.len() > 0 {
            let repeats = lead.repeats_of(&rows, tail_bytes);
            let same = rows.take_first(repeats);
            if *splits_keys {
                lead.key_into(same.nth(0), key);
                table.codec().split(key, slices)?;
            }
            for Column { index, source, sink } in columns.iter_mut() {
                let named = |source| named(table, *index, source);
                match *source {
                    Source::Key { position, codec } if position < *tail_from => {
                        let is_repeated = sink.repeats() && slices.get(key, position).is_some();
                        for _ in 0..if is_repeated { 1 } else { repeats } {
                            push_key(table, key, slices, position, codec, sink, scratch)?.map_err(named)?;
                        }
                        if is_repeated && repeats > 1 {
                            sink.repeat(repeats - 1).map_err(named)?;
                        }
                    }
                    Source::RowKey => {
                        for i in 0..repeats {
                            let (prefix, suffix) = lead.key(same.nth(i));
                            sink.push_bytes([prefix, suffix]).map_err(named)?;
                        }
                    }
                    Source::Key { .. } | Source::Stored { .. } => {}
                }
            }
        }
        Ok(())
    }

    /// The columns built so far.
    pub(crate) fn finish(&mut self) -> Result<Vec<ArrayRef>, TableError> {
        let finish = |column: &mut Column| Ok(column.sink.finish()?);
        self.columns.iter_mut().map(finish).collect()
    }
}

/// Adds a key column's value without a [`Value`] between.
fn push_key(
    table: &Table,
    key: &[u8],
    slices: &KeySlices,
    position: usize,
    codec: ValueCodec,
    sink: &mut Sink,
    scratch: &mut Vec<u8>,
) -> Result<Result<(), ValueError>, TableError> {
    match slices.get(key, position) {
        None => {
            sink.push_null();
            Ok(Ok(()))
        }
        Some(bytes) => {
            let pushed = sink.push_key(codec, bytes, scratch);
            Ok(pushed.map_err(|bad| table.codec().corrupt(position, key, slices, bad))?)
        }
    }
}

fn named(table: &Table, column: usize, source: ValueError) -> TableError {
    let def = table.def();
    let name = def.columns.get(column).map_or("_row_key", |c| &c.name);
    TableError::Value { column: Some(format!("{}.{name}", def.name)), source }
}

pub(crate) fn corrupt(table: &Table, key: &[u8], what: &'static str) -> TableError {
    TableError::Corrupt { table: table.def().name.to_string(), key: text::hex(key), what }
}
