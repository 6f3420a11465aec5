//! FLOOR, CEIL, ROUND and TRUNC of integers and floats, to whole numbers.

use arrow::array::{Float64Array, Int64Array};
use arrow::buffer::ScalarBuffer;
use saltwing_types::{Rounding, SqlType, Value};

use crate::batch::{Batch, Columnwise, RowByRow};
use crate::operand::{Operand, doubles, integers, valid};
use crate::step::{Compute, Step, Vector};

/// Rounding to whole numbers; decimals and places are computed row by row.
#[derive(Debug)]
pub(crate) struct RoundedNumber {
    pub(crate) value: Step,
    pub(crate) ty: SqlType,
    pub(crate) rounding: Rounding,
}

impl Compute for RoundedNumber {
    fn compute(&self, batch: &Batch) -> Columnwise<Vector> {
        let value = self.value.compute(batch)?;
        if matches!(value, Vector::Constant(Value::Null)) {
            return Ok(value);
        }
        let nulls = valid(&value).cloned();
        match self.ty {
            SqlType::BigInt => match integers(&value)? {
                Operand::Values(values) => Ok(Vector::of(Int64Array::new(values.into_owned().into(), nulls))),
                Operand::Constant(_) => Err(RowByRow),
            },
            SqlType::Double => {
                let round = match self.rounding {
                    Rounding::Floor => f64::floor,
                    Rounding::Ceil => f64::ceil,
                    Rounding::Round => f64::round,
                    Rounding::Trunc => f64::trunc,
                };
                let Operand::Values(values) = doubles(&value)? else { return Err(RowByRow) };
                // Adding 0.0 turns -0.0 into 0.0.
                let rounded: Vec<f64> = values.iter().map(|v| round(*v) + 0.0).collect();
                Ok(Vector::of(Float64Array::new(ScalarBuffer::from(rounded), nulls)))
            }
            _ => Err(RowByRow),
        }
    }
}
