//! LAG and LEAD at a distance that is another one for each row. DataFusion's take a constant.

use std::hash::Hash;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, UInt64Array};
use arrow::compute::take;
use arrow::datatypes::{FieldRef, Int64Type};
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::function::{PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion::logical_expr::{PartitionEvaluator, Signature, Volatility, WindowUDFImpl};

use crate::RelationalError;

/// `LAG(value, distance)` or `LEAD(value, distance)`, where the distance is a BIGINT. At an unknown distance the value is NULL.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Neighbour {
    is_lead: bool,
    signature: Signature,
}

impl Neighbour {
    pub(crate) fn new(is_lead: bool) -> Self {
        Self { is_lead, signature: Signature::any(2, Volatility::Immutable) }
    }
}

impl WindowUDFImpl for Neighbour {
    fn name(&self) -> &str {
        if self.is_lead { "lead" } else { "lag" }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn partition_evaluator(&self, args: PartitionEvaluatorArgs<'_>) -> Result<Box<dyn PartitionEvaluator>> {
        Ok(Box::new(Neighbours { is_lead: self.is_lead, ignore_nulls: args.ignore_nulls() }))
    }

    fn field(&self, args: WindowUDFFieldArgs<'_>) -> Result<FieldRef> {
        let value = args.input_fields().first().ok_or_else(no_value)?;
        Ok(Arc::new(value.as_ref().clone().with_name(args.name()).with_nullable(true)))
    }
}

fn no_value() -> DataFusionError {
    RelationalError::bug("a neighbour without a value and a distance").into()
}

/// The neighbours of the rows of a partition.
#[derive(Debug)]
struct Neighbours {
    is_lead: bool,
    ignore_nulls: bool,
}

impl PartitionEvaluator for Neighbours {
    fn evaluate_all(&mut self, values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        let [value, distance, ..] = values else { return Err(no_value()) };
        let distance = distance.as_primitive_opt::<Int64Type>().ok_or_else(no_value)?;
        let known: Option<Vec<usize>> =
            self.ignore_nulls.then(|| (0..rows).filter(|row| value.is_valid(*row)).collect());
        let place = |row: usize| {
            let distance = distance.is_valid(row).then(|| i128::from(distance.value(row)))?;
            let later = if self.is_lead { distance } else { -distance };
            let found = match &known {
                Some(known) => known_neighbour(known, row, later)?,
                None => usize::try_from(row as i128 + later).ok()?,
            };
            (found < rows).then_some(found as u64)
        };
        let places: UInt64Array = (0..rows).map(place).collect();
        Ok(take(value, &places, None)?)
    }
}

/// Counts `later` rows on from `row` among the rows `known`, which ascend, and returns the row there; backwards if `later` is negative.
fn known_neighbour(known: &[usize], row: usize, later: i128) -> Option<usize> {
    let place = match later {
        0 => return Some(row),
        1.. => known.partition_point(|other| *other <= row) as i128 + later - 1,
        _ => known.partition_point(|other| *other < row) as i128 + later,
    };
    known.get(usize::try_from(place).ok()?).copied()
}
