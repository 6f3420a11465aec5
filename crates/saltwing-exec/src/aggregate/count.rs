//! COUNT.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array};
use saltwing_types::ValueError;

use super::accumulator::Accumulator;

/// `COUNT(*)`: rows, whatever is in them.
#[derive(Default)]
pub(crate) struct CountRows {
    counts: Vec<i64>,
}

/// `COUNT(x)`: values that are not NULL.
#[derive(Default)]
pub(crate) struct CountValues {
    counts: Vec<i64>,
}

fn taken(counts: &mut Vec<i64>, groups: usize) -> ArrayRef {
    let taken: Vec<i64> = counts.drain(..groups.min(counts.len())).collect();
    Arc::new(Int64Array::from(taken))
}

impl Accumulator for CountRows {
    fn resize(&mut self, groups: usize) {
        self.counts.resize(groups, 0);
    }

    fn add_run(&mut self, group: usize, _: &dyn Array, rows: Range<usize>) -> Result<(), ValueError> {
        if let Some(count) = self.counts.get_mut(group) {
            *count += rows.len() as i64;
        }
        Ok(())
    }

    fn add_rows(&mut self, groups: &[u32], _: &dyn Array) -> Result<(), ValueError> {
        for group in groups {
            if let Some(count) = self.counts.get_mut(*group as usize) {
                *count += 1;
            }
        }
        Ok(())
    }

    fn take(&mut self, groups: usize) -> Result<ArrayRef, ValueError> {
        Ok(taken(&mut self.counts, groups))
    }

    fn bytes(&self) -> usize {
        self.counts.capacity() * size_of::<i64>()
    }
}

impl Accumulator for CountValues {
    fn resize(&mut self, groups: usize) {
        self.counts.resize(groups, 0);
    }

    fn add_run(&mut self, group: usize, values: &dyn Array, rows: Range<usize>) -> Result<(), ValueError> {
        let nulls = values.nulls().map_or(0, |nulls| nulls.slice(rows.start, rows.len()).null_count());
        if let Some(count) = self.counts.get_mut(group) {
            *count += (rows.len() - nulls) as i64;
        }
        Ok(())
    }

    fn add_rows(&mut self, groups: &[u32], values: &dyn Array) -> Result<(), ValueError> {
        for (row, group) in groups.iter().enumerate() {
            if let Some(count) = self.counts.get_mut(*group as usize) {
                *count += i64::from(values.is_valid(row));
            }
        }
        Ok(())
    }

    fn take(&mut self, groups: usize) -> Result<ArrayRef, ValueError> {
        Ok(taken(&mut self.counts, groups))
    }

    fn bytes(&self) -> usize {
        self.counts.capacity() * size_of::<i64>()
    }
}
