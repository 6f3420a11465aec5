//! Decodes the requested columns of a scan's row segments.

pub(crate) mod column;
pub(crate) mod keys;

use std::sync::Arc;

use arrow::array::ArrayRef;
use saltwing_access::TableError;
use saltwing_store::Direction;
use saltwing_types::SqlType;
use smallvec::SmallVec;

use crate::engine::block_ref::BlockRef;
use crate::engine::stored_table::StoredTable;
use crate::format::fix_part::FixPart;
use crate::format::row_format;
use crate::format::row_format::SlotBytes;
use crate::format::row_order::RowSelection;
use crate::format::slot_format;
use crate::format::stored_column::{StoredColumn, Unreadable, ValueSink, read_slot};
use crate::format::stored_row::StoredRow;
use crate::format::var_part::VarPart;
use crate::scan::column_location::{ColumnLocation, tail_bytes};
use crate::scan::column_writer::ColumnWriter;
use crate::scan::cursor::segment::RowSegment;
use crate::scan::decode::column::{Column, corrupt, unreadable};

use keys::{KeyDecoder, KeyUse};

/// The decoded columns and their locations: everything known before a scan.
pub(crate) struct DecodedColumns {
    pub(crate) all: Vec<DecodedColumn>,
    families: SmallVec<[FamilyUse; 1]>,
    /// Where a column comes from keys.
    keys: Option<KeyUse>,
}

/// One of them, by index.
#[derive(Clone, Copy)]
pub(crate) struct DecodedColumn {
    pub(crate) index: usize,
    pub(crate) ty: SqlType,
    pub(crate) source: ColumnLocation,
}

impl DecodedColumn {
    pub(crate) fn of(table: &StoredTable, index: usize) -> Self {
        Self { index, ty: table.column_type(index), source: ColumnLocation::of(table, index) }
    }

    /// Family and slot, if blocks have the column.
    pub(crate) fn stored(&self) -> Option<(usize, u16)> {
        if let ColumnLocation::Slot { family, slot } = self.source { Some((family, slot)) } else { None }
    }

    pub(crate) fn family(&self) -> Option<usize> {
        self.stored().map(|(family, _)| family)
    }
}

impl DecodedColumns {
    /// These columns of the table, by index.
    pub(crate) fn new(table: &StoredTable, columns: &[usize]) -> Self {
        let all: Vec<DecodedColumn> = columns.iter().map(|&index| DecodedColumn::of(table, index)).collect();
        let mut families: SmallVec<[FamilyUse; 1]> = SmallVec::new();
        for column in &all {
            if let Some(family) = column.family() {
                let var_wanted = slot_format::width(column.ty).is_none();
                match families.iter_mut().find(|known| known.family == family) {
                    Some(known) => known.var_wanted |= var_wanted,
                    None => families.push(FamilyUse { family, var_wanted }),
                }
            }
        }
        let reads_keys = all.iter().any(|column| column.stored().is_none());
        let has_leading = all.iter().any(|column| matches!(column.source, ColumnLocation::KeyPrefix { .. }));
        let keys = reads_keys.then(|| KeyUse { has_leading, tail_bytes: tail_bytes(table) });
        Self { all, families, keys }
    }
}

/// Builds batches of chosen columns.
pub(crate) struct RowDecoder {
    columns: Vec<Column>,
    keys: Option<KeyDecoder>,
    families: SmallVec<[FamilyUse; 1]>,
    /// The blocks read last: those of an entry and its runs come by turns.
    held: SmallVec<[Held; HELD_MIN]>,
}

/// Blocks whose parts are held from one append to the next.
const HELD_MIN: usize = 2;

/// A family with decoded columns, and whether one of them has variable width.
#[derive(Clone, Copy)]
struct FamilyUse {
    family: usize,
    var_wanted: bool,
}

/// The parts of a block that are read.
struct Held {
    id: u64,
    /// The part that has the keys, where they are read.
    lead: Option<Arc<FixPart>>,
    /// Of each family that is read.
    families: SmallVec<[Parts; 1]>,
}

#[derive(Default)]
struct Parts {
    fix: Option<Arc<FixPart>>,
    var: Option<Arc<VarPart>>,
}

/// Rows of one place.
enum Rows<'p> {
    /// Of a block, and where it is among those that are held.
    Block(&'p Arc<BlockRef>, usize, RowSelection<'p>),
    /// A row of a delta.
    Recent(&'p [u8], &'p StoredRow),
}

/// Rows of several places, in the order in which they come.
type Several<'p> = SmallVec<[Rows<'p>; 2]>;

impl RowDecoder {
    /// A decoder of these columns.
    pub(crate) fn new(columns: &DecodedColumns) -> Self {
        let column = |c: &DecodedColumn| Column { index: c.index, source: c.source, sink: ColumnWriter::new(c.ty) };
        Self {
            columns: columns.all.iter().map(column).collect(),
            keys: columns.keys.map(KeyDecoder::new),
            families: columns.families.clone(),
            held: SmallVec::new(),
        }
    }

    /// Makes room for a batch.
    pub(crate) fn begin(&mut self, rows: usize) {
        self.columns.iter_mut().for_each(|column| column.sink.reserve(rows));
        self.keys.iter_mut().for_each(KeyDecoder::begin);
    }

    /// Adds rows of segments that come one after the other.
    pub(crate) fn append(
        &mut self,
        table: &StoredTable,
        segments: &[RowSegment],
        direction: Direction,
    ) -> Result<(), TableError> {
        self.hold_few();
        let mut several = Several::with_capacity(segments.len());
        for segment in segments {
            match segment {
                RowSegment::Row { key, row } => several.push(Rows::Recent(key, row)),
                RowSegment::Block { block, rows, .. } => {
                    several.push(Rows::Block(block, self.hold(block)?, RowSelection::Run(rows.clone(), direction)));
                }
                RowSegment::Pruned(_) => {}
            }
        }
        self.append_several(table, &several)
    }

    /// Adds rows of a block.
    pub(crate) fn append_picked(
        &mut self,
        table: &StoredTable,
        block: &Arc<BlockRef>,
        rows: RowSelection<'_>,
    ) -> Result<(), TableError> {
        self.hold_few();
        let held = self.hold(block)?;
        self.append_several(table, &[Rows::Block(block, held, rows)])
    }

    /// Lets go of blocks but for those held last.
    fn hold_few(&mut self) {
        if self.held.len() > HELD_MIN {
            self.held.drain(..self.held.len() - HELD_MIN);
        }
    }

    /// Has a block's parts at hand: its place among those held.
    fn hold(&mut self, block: &Arc<BlockRef>) -> Result<usize, TableError> {
        if let Some(place) = self.held.iter().rposition(|held| held.id == block.id) {
            return Ok(place);
        }
        let lead = if self.keys.is_some() { Some(block.lead()?) } else { None };
        let parts = |of: &FamilyUse| {
            let family = of.family as u8;
            let var = if of.var_wanted { block.var(family)? } else { None };
            Ok::<_, TableError>(Parts { fix: block.fix(family)?, var })
        };
        let families = self.families.iter().map(parts).collect::<Result<_, _>>()?;
        self.held.push(Held { id: block.id, lead, families });
        Ok(self.held.len() - 1)
    }

    /// Column by column, so that the properties of each are resolved once.
    fn append_several(&mut self, table: &StoredTable, several: &[Rows<'_>]) -> Result<(), TableError> {
        self.append_keys(table, several)?;
        (0..self.families.len()).try_for_each(|place| self.append_family(table, place, several))
    }

    fn append_keys(&mut self, table: &StoredTable, several: &[Rows<'_>]) -> Result<(), TableError> {
        let Self { columns, keys: Some(keys), held, .. } = self else { return Ok(()) };
        for rows in several {
            match rows {
                Rows::Recent(key, row) => keys.add_key(table, columns, (key, row.time_ms()))?,
                Rows::Block(block, place, rows) => {
                    let lead = held.get(*place).and_then(|held| held.lead.as_deref());
                    let lead = lead.ok_or_else(|| block.damaged("its keys"))?;
                    keys.add_keys(table, columns, lead, rows.clone())?;
                }
            }
        }
        Ok(())
    }

    /// The columns of a family, by its place among those that are read.
    fn append_family(&mut self, table: &StoredTable, place: usize, several: &[Rows<'_>]) -> Result<(), TableError> {
        let Self { columns, families, held, .. } = self;
        let Some(FamilyUse { family, .. }) = families.get(place).copied() else { return Ok(()) };
        let recent = recent_rows(table, family, several)?;
        for Column { index, source, sink } in columns.iter_mut() {
            let slot = match *source {
                ColumnLocation::Slot { family: of, slot } if of == family => slot,
                _ => continue,
            };
            let mut recent = recent.iter();
            for rows in several {
                let absent = table.absent(*index);
                match rows {
                    Rows::Recent(key, _) => {
                        let row = recent.next().and_then(Option::as_ref);
                        let stored = row.map_or(Some(SlotBytes::Absent), |row| row.slot(slot.into()));
                        let read = stored.ok_or(Unreadable::Damaged).and_then(|stored| read_slot(stored, absent, sink));
                        read.map_err(|why| unreadable(table, *index, why, || corrupt(table, key, "column")))?;
                    }
                    Rows::Block(block, held_at, rows) => {
                        let parts = held.get(*held_at).and_then(|held| held.families.get(place));
                        let column =
                            parts.and_then(|parts| StoredColumn::of(parts.fix.as_deref()?, parts.var.as_deref(), slot));
                        let read = match column {
                            Some(column) => column.read(rows, sink),
                            None => sink.constant(absent, rows.len()),
                        };
                        read.map_err(|why| unreadable(table, *index, why, || block.damaged("a value")))?;
                    }
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

/// The family of each row of a delta.
fn recent_rows<'p>(
    table: &'p StoredTable,
    family: usize,
    several: &'p [Rows<'_>],
) -> Result<SmallVec<[Option<row_format::StoredRow<'p>>; 1]>, TableError> {
    let recent = several.iter().filter_map(|rows| match rows {
        Rows::Recent(key, row) => Some((key, row)),
        Rows::Block(..) => None,
    });
    let of_family = |(key, row): (&&'p [u8], &&'p StoredRow)| match (row.family(family), table.layout(family)) {
        (Some(bytes), Some(layout)) => layout.read(bytes).map(Some).ok_or_else(|| corrupt(table, key, "header")),
        _ => Ok(None),
    };
    recent.map(of_family).collect()
}
