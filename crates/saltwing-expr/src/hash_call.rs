//! HASH.

use arrow::array::Int64Array;
use arrow::buffer::ScalarBuffer;
use saltwing_types::{Value, hash};

use crate::batch::{Batch, Columnwise, RowByRow};
use crate::operand::{Operand, Texts, integers, valid};
use crate::step::{Compute, Step, Vector};

/// HASH of texts and integers.
#[derive(Debug)]
pub(crate) struct HashCall {
    pub(crate) value: Step,
}

impl Compute for HashCall {
    fn compute(&self, batch: &Batch) -> Columnwise<Vector> {
        let value = self.value.compute(batch)?;
        if let Vector::Constant(constant) = &value {
            return Ok(Vector::Constant(hash::hash(constant).map_or(Value::Null, Value::Int)));
        }
        let hashes: Vec<i64> = match Texts::of(&value) {
            Some(texts) => (0..batch.rows).map(|row| hash::hash_bytes(texts.get(row).as_bytes())).collect(),
            None => match integers(&value)? {
                Operand::Values(values) => values.iter().map(|value| hash::hash_int(*value)).collect(),
                Operand::Constant(_) => return Err(RowByRow),
            },
        };
        Ok(Vector::of(Int64Array::new(ScalarBuffer::from(hashes), valid(&value).cloned())))
    }
}
