//! AVG of decimals, exact and without wrapping.
//!
//! The sum is kept in 256 bits, as for SUM, and divided at the end by the rules of `/`. The average is a DECIMAL
//! without precision.

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{UInt64Type, i256};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Accumulator;
use saltwing_expr::sum::SumKind;

use super::sum::OneSum;
use crate::RelationalError;

/// The average of one group, also of a moving window.
#[derive(Debug)]
pub(super) struct OneAverage {
    sum: OneSum<i256>,
}

impl OneAverage {
    pub(super) fn new(kind: SumKind) -> Self {
        Self { sum: OneSum::new(kind) }
    }
}

impl Accumulator for OneAverage {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.sum.update_batch(values)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [sums, counts] = states else { return Err(RelationalError::bug("AVG without its state").into()) };
        self.sum.merge(sums, counts.as_primitive::<UInt64Type>())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.sum.retract_batch(values)
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.sum.average()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let mut state = self.sum.state()?;
        state.push(ScalarValue::UInt64(Some(self.sum.count())));
        Ok(state)
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}
