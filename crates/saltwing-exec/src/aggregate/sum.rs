//! SUM and AVG by group.

use std::ops::Range;

use arrow::array::{Array, ArrayRef};
use saltwing_access::PartialValues;
use saltwing_expr::sum::{SumKind, SumTotal, beyond_sums};
use saltwing_types::ValueError;

use super::accumulator::{Accumulator, wrong_partial};

/// The aggregate computed from a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SumOutput {
    /// SUM.
    Sum,
    /// AVG.
    Average,
}

/// A sum so far, and of how many values.
#[derive(Clone, Copy, Debug, Default)]
struct Sum<T> {
    total: T,
    count: u64,
}

/// SUM or AVG by group.
pub(crate) struct Sums<T> {
    kind: SumKind,
    output: SumOutput,
    sums: Vec<Sum<T>>,
}

impl<T> Sums<T> {
    pub(crate) fn new(kind: SumKind, output: SumOutput) -> Self {
        Self { kind, output, sums: Vec::new() }
    }
}

impl<T: SumTotal> Accumulator for Sums<T> {
    fn resize(&mut self, groups: usize) {
        self.sums.resize_with(groups, Sum::default);
    }

    fn add_run(&mut self, group: usize, values: &dyn Array, rows: Range<usize>) -> Result<(), ValueError> {
        if let Some(sum) = self.sums.get_mut(group) {
            sum.count += sum.total.add_run(values, rows)?;
        }
        Ok(())
    }

    fn add_rows(&mut self, groups: &[u32], values: &dyn Array) -> Result<(), ValueError> {
        let (sums, mut fits) = (&mut self.sums, true);
        T::each(values, groups, |group, value| {
            if let Some(sum) = sums.get_mut(group as usize) {
                match sum.total.plus(value) {
                    Some(total) => *sum = Sum { total, count: sum.count + 1 },
                    None => fits = false,
                }
            }
        })?;
        if fits { Ok(()) } else { Err(beyond_sums(self.kind)) }
    }

    fn add_partial(&mut self, groups: &[u32], partial: &PartialValues) -> Result<(), ValueError> {
        let PartialValues::Totals(totals) = partial else { return Err(wrong_partial()) };
        for (group, of_rows) in groups.iter().zip(totals) {
            let Some(sum) = self.sums.get_mut(*group as usize) else { continue };
            let more = T::of_integers(of_rows.sum).ok_or_else(wrong_partial)?;
            let total = sum.total.plus(more).ok_or_else(|| beyond_sums(self.kind))?;
            *sum = Sum { total, count: sum.count + of_rows.known };
        }
        Ok(())
    }

    fn take(&mut self, groups: usize) -> Result<ArrayRef, ValueError> {
        let taken = self.sums.drain(..groups.min(self.sums.len()));
        match self.output {
            SumOutput::Sum => T::sums(taken.map(|sum| (sum.count > 0).then_some(sum.total)), self.kind),
            SumOutput::Average => T::averages(taken.map(|sum| (sum.total, sum.count)), self.kind),
        }
    }

    fn bytes(&self) -> usize {
        self.sums.capacity() * size_of::<Sum<T>>()
    }
}
