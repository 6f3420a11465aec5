//! COUNT.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array};
use saltwing_access::PartialValues;
use saltwing_types::ValueError;

use super::accumulator::{Accumulator, wrong_partial};

/// The counted rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// `COUNT(*)`: all rows.
    Rows,
    /// `COUNT(x)`: values that are not NULL.
    Values,
}

/// `COUNT`.
pub(crate) struct Counts {
    of: Counted,
    counts: Vec<i64>,
}

impl Counts {
    pub(crate) fn new(of: Counted) -> Self {
        Self { of, counts: Vec::new() }
    }

    fn add(&mut self, group: usize, count: usize) {
        if let Some(counted) = self.counts.get_mut(group) {
            *counted += count as i64;
        }
    }
}

impl Accumulator for Counts {
    fn resize(&mut self, groups: usize) {
        self.counts.resize(groups, 0);
    }

    fn add_run(&mut self, group: usize, values: &dyn Array, rows: Range<usize>) -> Result<(), ValueError> {
        let nulls = match self.of {
            Counted::Rows => 0,
            Counted::Values => values.nulls().map_or(0, |nulls| nulls.slice(rows.start, rows.len()).null_count()),
        };
        self.add(group, rows.len() - nulls);
        Ok(())
    }

    fn add_rows(&mut self, groups: &[u32], values: &dyn Array) -> Result<(), ValueError> {
        let counts_all = self.of == Counted::Rows || values.null_count() == 0;
        for (row, group) in groups.iter().enumerate() {
            self.add(*group as usize, usize::from(counts_all || values.is_valid(row)));
        }
        Ok(())
    }

    fn add_partial(&mut self, groups: &[u32], partial: &PartialValues) -> Result<(), ValueError> {
        let PartialValues::Counts(counts) = partial else { return Err(wrong_partial()) };
        for (group, count) in groups.iter().zip(counts) {
            self.add(*group as usize, *count as usize);
        }
        Ok(())
    }

    fn take(&mut self, groups: usize) -> Result<ArrayRef, ValueError> {
        let taken: Vec<i64> = self.counts.drain(..groups.min(self.counts.len())).collect();
        Ok(Arc::new(Int64Array::from(taken)))
    }

    fn bytes(&self) -> usize {
        self.counts.capacity() * size_of::<i64>()
    }
}
