//! Scans whose rows the caller takes as values.

use crate::scan::cursor::segment::RowSegments;
use crate::scan::row_values::RowShape;
use crate::scan::table_scan::{BATCH_ROWS_MAX, Scan};
use saltwing_access::TableError;
use saltwing_expr::{RowValues, value_at};
use std::sync::atomic::Ordering::Relaxed;

/// Minimum of rows returned as values at once, except at the end: they fit the L1 cache of the caller.
const ROWS_TOGETHER_MIN: usize = 64;
const ROWS_TOGETHER_MAX: usize = 256;

impl Scan {
    /// As [`RowSource::next_values`](saltwing_access::RowSource::next_values).
    pub(crate) fn next_row_values(&mut self, shape: &RowShape, values: &mut RowValues) -> Result<bool, TableError> {
        let rows = match self.shape.is_filtered() {
            true => self.values_of_batch(shape, values)?,
            false => self.read_values(shape, values)?,
        };
        let counters = &self.context.counters;
        counters.batches.fetch_add(u64::from(rows > 0), Relaxed);
        counters.rows_out.fetch_add(rows, Relaxed);
        Ok(rows > 0)
    }

    fn read_values(&mut self, shape: &RowShape, values: &mut RowValues) -> Result<u64, TableError> {
        let mut read = 0;
        let mut segments = RowSegments::new();
        let (least, most) = (self.batch_rows.min(ROWS_TOGETHER_MIN), self.batch_rows.min(ROWS_TOGETHER_MAX));
        while !self.done && read < least {
            if read == 0 {
                self.context.check()?;
            }
            let wanted = self.remaining.map_or(most - read, |remaining| remaining.min((most - read) as u64) as usize);
            self.rows.next_several(wanted, &mut segments)?;
            if segments.is_empty() {
                self.done = true;
                break;
            }
            for segment in &segments {
                shape.append(segment, self.direction, &mut self.reader, values)?;
            }
            self.count_blocks(&segments, shape.width() > 0);
            let rows = self.book(&segments, shape.width() > 0)?;
            read += rows;
            self.remaining = self.remaining.map(|remaining| remaining - rows as u64);
            self.done = self.remaining == Some(0);
        }
        self.batch_rows = (self.batch_rows * 2).min(BATCH_ROWS_MAX);
        Ok(read as u64)
    }

    /// Which rows are wanted is known when they are decoded.
    fn values_of_batch(&mut self, shape: &RowShape, values: &mut RowValues) -> Result<u64, TableError> {
        let Some((columns, rows)) = self.read_columns()? else { return Ok(0) };
        let first = values.add(rows);
        for (place, (array, column)) in columns.iter().zip(&shape.columns).enumerate() {
            let mut cells = values.column_mut(first, place);
            for row in 0..rows {
                let value = value_at(array, row, column.ty);
                cells.put(value.map_err(|source| TableError::Value { column: None, source })?);
            }
        }
        Ok(rows as u64)
    }
}
