//! AVG of decimals, exact and without wrapping.
//!
//! The sum is kept in 256 bits, as for SUM, and divided at the end by the rules of `/`. The average is a DECIMAL
//! without precision.

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{Decimal256Type, UInt64Type, i256};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Accumulator;
use saltwing_types::{Decimal, SqlType, Value};

use super::sum::{OneSum, Summed};
use crate::RelationalError;
use crate::expression::literal::to_scalar;

/// The average of one group, also of a moving window.
#[derive(Debug)]
pub(super) struct OneAverage {
    sum: OneSum<Decimal256Type>,
}

impl OneAverage {
    pub(super) fn new(summed: Summed) -> Self {
        Self { sum: OneSum::new(summed) }
    }
}

impl Accumulator for OneAverage {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.sum.update_batch(values)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [sums, counts] = states else { return Err(RelationalError::bug("AVG without its state").into()) };
        self.sum.merge(sums, counts.as_primitive::<UInt64Type>().values().iter().sum())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.sum.retract_batch(values)
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let value = match self.sum.total() {
            None => Value::Null,
            Some((sum, scale, count)) => {
                let count =
                    i64::try_from(count).map_err(|_| RelationalError::bug("AVG of more rows than there are"))?;
                let sum = decimal(sum, scale).map_err(RelationalError::from)?;
                Value::Decimal(sum.checked_div(Decimal::from(count)).map_err(RelationalError::from)?)
            }
        };
        Ok(to_scalar(&value, SqlType::Decimal(None))?)
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

/// A sum as a decimal: beyond 38 digits the last ones are cut.
fn decimal(sum: i256, scale: i8) -> std::result::Result<Decimal, saltwing_types::ValueError> {
    let (mut digits, mut scale) = (sum, i32::from(scale));
    loop {
        if let Some(small) = digits.to_i128() {
            return Decimal::new(small, scale);
        }
        digits = digits.wrapping_div(i256::from(10));
        scale -= 1;
    }
}
