//! A function of the registry over whole columns: its arguments column by column, itself row by row.

use saltwing_types::function::{Evaluation, NullRule};
use saltwing_types::{Function, SqlType, Value, interrupt};

use crate::batch::{Batch, Columnwise, RowByRow};
use crate::step::{Compute, Step, Vector, append_exact};
use crate::{ColumnBuilder, value_at};

/// A call of a function that has no kernel.
#[derive(Debug)]
pub(crate) struct RowCall {
    function: Function,
    args: Vec<Step>,
    ty: SqlType,
}

impl RowCall {
    /// `None` for a function that does not need the values of all its arguments.
    pub(crate) fn boxed(function: Function, args: Vec<Step>, ty: SqlType) -> Option<Box<dyn Compute>> {
        matches!(function.evaluation, Evaluation::Values(_)).then(|| Box::new(Self { function, args, ty }) as _)
    }
}

impl Compute for RowCall {
    fn compute(&self, batch: &Batch) -> Columnwise<Vector> {
        let args = self.args.iter().map(|step| step.compute(batch)).collect::<Columnwise<Vec<_>>>()?;
        let is_null = |arg: &Vector| matches!(arg, Vector::Constant(Value::Null));
        if self.function.nulls == NullRule::Strict && args.iter().any(is_null) {
            return Ok(Vector::Constant(Value::Null));
        }
        let constant = |arg: &Vector| if let Vector::Constant(value) = arg { value.clone() } else { Value::Null };
        let mut values: Vec<Value> = args.iter().map(constant).collect();
        let mut builder = ColumnBuilder::new(self.ty, batch.rows);
        for row in 0..batch.rows {
            interrupt::spend(1).map_err(|_| RowByRow)?;
            for ((value, arg), step) in values.iter_mut().zip(&args).zip(&self.args) {
                if let Vector::Array(array) = arg {
                    *value = value_at(array, row, step.ty).map_err(|_| RowByRow)?;
                }
            }
            let result = self.function.evaluate(&values, self.ty).map_err(|_| RowByRow)?;
            append_exact(&mut builder, &result)?;
        }
        Ok(Vector::Array(builder.finish()))
    }
}
