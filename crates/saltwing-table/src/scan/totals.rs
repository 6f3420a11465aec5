//! Sums over the rows of a scan, added up where blocks have them: nothing is decoded, and no batch is made.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use saltwing_access::{TableError, Total, Totals};
use saltwing_expr::sum::{SumKind, SumTotal};
use saltwing_types::SqlType;
use smallvec::SmallVec;

use crate::engine::block_ref::BlockRef;
use crate::engine::stored_table::StoredTable;
use crate::format::bits::{Ints, Nulls};
use crate::format::fix_part::FixCells;
use crate::format::row_format::SlotBytes;
use crate::format::slot_format::slot_int;
use crate::format::stored_column::StoredColumn;
use crate::format::stored_row::StoredRow;
use crate::format::summary::Summary;
use crate::scan::block_parts::{BlockParts, recent_slot};
use crate::scan::cursor::segment::{RowSegment, RowSegments};
use crate::scan::decode::DecodedColumn;
use crate::scan::selection::Selection;
use crate::scan::shape::ScanShape;
use crate::scan::table_scan::{BATCH_ROWS_MAX, CHECK_ROWS, Scan};

/// If at most one row in this many is added, rows are read one by one.
const SPARSE: usize = 8;

impl Scan {
    /// As [`RowSource::totals`](saltwing_access::RowSource::totals).
    pub(crate) fn add_up(&mut self) -> Result<Totals, TableError> {
        if !self.shape.is_decided_early() || self.remaining.is_some() {
            return self.add_up_batches();
        }
        self.context.check()?;
        let shape = self.shape.clone();
        let added = &shape.columns().all;
        let are_stored = added.iter().all(|column| column.stored().is_some());
        let mut sums = Sums { are_stored, ..Sums::default() };
        let mut totals = Totals { rows: 0, columns: vec![Total::default(); added.len()] };
        let mut segments = RowSegments::new();
        loop {
            self.rows.next_several(CHECK_ROWS, &mut segments)?;
            if segments.is_empty() {
                break;
            }
            let mut is_any_read = false;
            for segment in &segments {
                let is_read = self.add_segment(&shape, segment, &mut sums, &mut totals)?;
                is_any_read |= is_read;
                self.context.counters.count_blocks(u64::from(is_read && segment.is_uncounted()));
            }
            self.book(&segments, is_any_read)?;
            if sums.decoded >= BATCH_ROWS_MAX {
                self.add_decoded(&mut sums, &mut totals)?;
            }
            if are_stored && !shape.is_filtered() {
                let passed = self.rows.pass_blocks(|block| add_known(block, added, &mut totals.columns));
                totals.rows += passed;
                self.context.charge(passed, 0)?;
            }
        }
        self.add_decoded(&mut sums, &mut totals)?;
        self.done = true;
        Ok(totals)
    }

    /// Adds the rows of a segment that count, or decodes them; whether it was read.
    fn add_segment(
        &mut self,
        shape: &ScanShape,
        segment: &RowSegment,
        sums: &mut Sums,
        totals: &mut Totals,
    ) -> Result<bool, TableError> {
        let (table, added) = (shape.table(), &shape.columns().all);
        let kept = self.select(segment)?;
        totals.rows += kept as u64;
        match segment {
            _ if kept == 0 || added.is_empty() => {}
            RowSegment::Block { block, rows, .. } if sums.are_stored => {
                let (parts, some) = match &mut self.selector {
                    None => (&mut sums.parts, None),
                    Some(selector) => selector.parts_and_some(segment),
                };
                let rows = some.map_or(Added::All(rows.clone()), Added::Some);
                let is_read = add_block(table, added, (block, rows), parts, &mut totals.columns)?;
                return Ok(is_read || shape.is_filtered());
            }
            RowSegment::Row { key, row } if sums.are_stored => add_recent(table, added, key, row, &mut totals.columns)?,
            _ => {
                if sums.decoded == 0 {
                    self.decoder().begin(kept);
                }
                self.decode(segment)?;
                sums.decoded += kept;
            }
        }
        Ok(shape.reads_columns())
    }

    /// Adds the rows that were decoded.
    fn add_decoded(&mut self, sums: &mut Sums, totals: &mut Totals) -> Result<(), TableError> {
        if std::mem::take(&mut sums.decoded) > 0 {
            add_arrays(&self.decoder().finish()?, &mut totals.columns)?;
        }
        Ok(())
    }

    /// Which rows count is known when they are decoded.
    fn add_up_batches(&mut self) -> Result<Totals, TableError> {
        let mut totals = Totals { rows: 0, columns: vec![Total::default(); self.shape.schema().fields().len()] };
        while let Some((columns, rows)) = self.read_columns()? {
            totals.rows += rows as u64;
            add_arrays(&columns, &mut totals.columns)?;
        }
        Ok(totals)
    }
}

/// A sum in the making.
#[derive(Default)]
struct Sums {
    /// Whether all columns are read where blocks have them; others are decoded.
    are_stored: bool,
    parts: BlockParts,
    /// Rows that were decoded and are not added yet.
    decoded: usize,
}

/// Rows of a block that are added.
enum Added<'a> {
    All(Range<usize>),
    Some(&'a Selection),
}

impl Added<'_> {
    fn len(&self) -> usize {
        match self {
            Self::All(rows) => rows.len(),
            Self::Some(selection) => selection.len(),
        }
    }

    #[inline]
    fn for_each(&self, each: impl FnMut(usize)) {
        match self {
            Self::All(rows) => rows.clone().for_each(each),
            Self::Some(selection) => selection.for_each(each),
        }
    }

    /// The sum of the integers of these rows, none of which is NULL.
    fn sum(&self, ints: &Ints, part: &[u8]) -> i128 {
        match self {
            Self::All(rows) => ints.sum(part, rows.clone()),
            Self::Some(selection) if selection.len() * SPARSE < selection.len_of_all() => {
                let mut sum = 0;
                selection.for_each(|row| sum += i128::from(ints.get(part, row)));
                sum
            }
            Self::Some(selection) => {
                let (rows, mask) = selection.mask();
                ints.sum_kept(part, rows, mask, selection.len())
            }
        }
    }
}

/// Adds some rows of a block; whether it was read. Of whole blocks the directory mostly knows the sums.
fn add_block(
    table: &StoredTable,
    added: &[DecodedColumn],
    (block, rows): (&Arc<BlockRef>, Added<'_>),
    parts: &mut BlockParts,
    totals: &mut [Total],
) -> Result<bool, TableError> {
    parts.turn_to(block);
    let mut is_read = false;
    for (column, total) in added.iter().zip(totals) {
        let Some((family, slot)) = column.stored() else { continue };
        if rows.len() == block.summary.rows as usize
            && let Some(known) = known_total(&block.summary, (family, slot), column.ty)
        {
            total.add(known.known, known.sum);
            continue;
        }
        let fix = parts.fix(block, family)?;
        is_read = true;
        match fix.and_then(|fix| StoredColumn::of(fix, None, slot)) {
            Some(stored) => add_stored(&stored, column.ty.is_integer(), &rows, total),
            // All rows have the value that the column had before it was there.
            None => *total = total.with(table.absent(column.index), rows.len() as u64),
        }
    }
    Ok(is_read)
}

/// Whether the directory has the totals of a block's rows.
pub(crate) fn is_known(block: &Summary, added: &[DecodedColumn]) -> bool {
    added.iter().all(|column| known_of(block, column).is_some())
}

fn known_of(block: &Summary, column: &DecodedColumn) -> Option<Total> {
    known_total(block, column.stored()?, column.ty)
}

/// Adds all rows of a block, where the directory knows enough of it; otherwise none.
fn add_known(block: &Summary, added: &[DecodedColumn], totals: &mut [Total]) -> bool {
    let all: Option<SmallVec<[Total; 4]>> = added.iter().map(|column| known_of(block, column)).collect();
    for (total, Total { known, sum }) in totals.iter_mut().zip(all.iter().flatten()) {
        total.add(*known, *sum);
    }
    all.is_some()
}

/// The directory's total of all rows of a block.
fn known_total(block: &Summary, (family, slot): (usize, u16), ty: SqlType) -> Option<Total> {
    let zone = block.zone(u8::try_from(family).ok()?, slot)?;
    match zone.sum {
        Some((known, sum)) => Some(Total { known: known.into(), sum: sum.into() }),
        None if ty.is_integer() || zone.has_null => None,
        None => Some(Total { known: block.rows.into(), sum: 0 }),
    }
}

/// Adds a row of a delta.
fn add_recent(
    table: &StoredTable,
    added: &[DecodedColumn],
    key: &[u8],
    row: &StoredRow,
    totals: &mut [Total],
) -> Result<(), TableError> {
    for (column, total) in added.iter().zip(totals) {
        let Some((family, slot)) = column.stored() else { continue };
        let is_summed = column.ty.is_integer();
        *total = recent_slot(table, key, row, (family, slot), |stored| match stored {
            SlotBytes::Null => Some(*total),
            SlotBytes::Absent => Some(total.with(table.absent(column.index), 1)),
            SlotBytes::Value(bytes) => {
                let value = if is_summed { slot_int(bytes)?.into() } else { 0 };
                Some(Total { known: total.known + 1, sum: total.sum + value })
            }
        })?;
    }
    Ok(())
}

fn add_stored(stored: &StoredColumn<'_>, is_summed: bool, rows: &Added<'_>, total: &mut Total) {
    let part = stored.fix.bytes();
    let ints = match stored.column.cells {
        FixCells::Ints(ints) if is_summed => Some(ints),
        _ => None,
    };
    match stored.column.nulls {
        Nulls::All => {}
        Nulls::None => total.add(rows.len() as u64, ints.map_or(0, |ints| rows.sum(&ints, part))),
        Nulls::Bits(_) => rows.for_each(|row| {
            if !stored.is_null(row) {
                total.add(1, ints.map_or(0, |ints| ints.get(part, row).into()));
            }
        }),
    }
}

/// Adds columns that had to be decoded.
fn add_arrays(columns: &[ArrayRef], totals: &mut [Total]) -> Result<(), TableError> {
    for (column, Total { known, sum }) in columns.iter().zip(totals) {
        *known += match SumKind::of(column.data_type()) {
            Some(SumKind::Integers) => sum.add_run(column, 0..column.len())?,
            _ => (column.len() - column.null_count()) as u64,
        };
    }
    Ok(())
}
