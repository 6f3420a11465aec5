//! Functions of instants: DATE_TRUNC, DATE_BIN, the roundings to a unit, EXTRACT.

use arrow::array::{Array, AsArray, Int32Array, TimestampMillisecondArray, TimestampNanosecondArray};
use arrow::buffer::{NullBuffer, ScalarBuffer};
use arrow::datatypes::{TimestampMillisecondType, TimestampNanosecondType};
use saltwing_types::calendar::{Bins, DateUnit};
use saltwing_types::datetime::has_text;
use saltwing_types::value::Timestamp;
use saltwing_types::{DateField, Rounding, SqlType, Value, text};

use crate::batch::{Batch, Columnwise, RowByRow};
use crate::step::{Compute, Step, Vector};

/// A function of one instant; what else it takes is constant.
#[derive(Debug)]
pub(crate) struct InstantCall {
    value: Step,
    ty: SqlType,
    operation: Operation,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    /// FLOOR, CEIL, ROUND or TRUNC to bins.
    Cut(Rounding, Bins),
    Field(DateField),
}

impl Operation {
    /// DATE_BIN; `None` unless all but the instant is constant.
    pub(crate) fn date_bin(args: &[Step]) -> Option<Self> {
        let origin = match args.get(2) {
            None => Timestamp { ms: 0, nanos: 0 },
            Some(origin) => text::instant(origin.as_constant()?)?,
        };
        Some(Self::Cut(Rounding::Floor, Bins::of_stride(args.first()?.as_text()?, origin).ok()?))
    }

    /// DATE_TRUNC; `None` unless the unit is constant.
    pub(crate) fn date_trunc(args: &[Step]) -> Option<Self> {
        Some(Self::Cut(Rounding::Floor, Bins::of_unit(DateUnit::by_name(args.first()?.as_text()?).ok()?)))
    }

    /// A rounding of an instant; `None` unless unit and count are constant.
    pub(crate) fn units(rounding: Rounding, args: &[Step]) -> Option<Self> {
        let count = match args.get(2).map(Step::as_constant) {
            None => 1,
            Some(Some(Value::Int(count))) => *count,
            Some(_) => return None,
        };
        let unit = DateUnit::by_name(args.get(1)?.as_text()?).ok()?;
        Some(Self::Cut(rounding, Bins::of_units(unit, count).ok()?))
    }
}

impl InstantCall {
    pub(crate) fn new(value: Step, ty: SqlType, operation: Operation) -> Self {
        Self { value, ty, operation }
    }
}

impl Compute for InstantCall {
    fn compute(&self, batch: &Batch) -> Columnwise<Vector> {
        let array = match self.value.compute(batch)? {
            Vector::Constant(Value::Null) => return Ok(Vector::Constant(Value::Null)),
            Vector::Constant(_) => return Err(RowByRow),
            Vector::Array(array) => array,
        };
        let nulls = array.nulls().cloned();
        if let Some(ms) = array.as_primitive_opt::<TimestampMillisecondType>() {
            return self.of(ms.values(), 1_000_000, nulls);
        }
        let nanos = array.as_primitive_opt::<TimestampNanosecondType>().ok_or(RowByRow)?;
        self.of(nanos.values(), 1, nulls)
    }
}

impl InstantCall {
    /// The result for instants counted in ticks of this many nanoseconds.
    fn of(&self, ticks: &[i64], tick_nanos: i64, nulls: Option<NullBuffer>) -> Columnwise<Vector> {
        match self.operation {
            Operation::Field(field) => {
                let per_ms = 1_000_000 / tick_nanos;
                // Whole milliseconds tell every field.
                let of = |tick: &i64| field.of(Timestamp { ms: tick.div_euclid(per_ms), nanos: 0 }) as i32;
                let values: Vec<i32> = ticks.iter().map(of).collect();
                Ok(Vector::of(Int32Array::new(ScalarBuffer::from(values), nulls)))
            }
            Operation::Cut(rounding, bins) => {
                let mut failed = false;
                let tick_nanos = i128::from(tick_nanos);
                let cut = |(row, tick): (usize, &i64)| {
                    let at = i128::from(*tick) * tick_nanos;
                    let tick = i64::try_from(bins.cut(rounding, at).div_euclid(tick_nanos)).ok();
                    // All of a nanosecond count's instants can be written.
                    tick.filter(|&tick| tick_nanos == 1 || has_text(tick)).unwrap_or_else(|| {
                        // The value under a NULL may fail, which has no effect.
                        failed |= nulls.as_ref().is_none_or(|valid| valid.is_valid(row));
                        0
                    })
                };
                let values = ScalarBuffer::from(ticks.iter().enumerate().map(cut).collect::<Vec<i64>>());
                if failed {
                    return Err(RowByRow);
                }
                Ok(match self.ty.is_timestamp() {
                    true => Vector::of(TimestampNanosecondArray::new(values, nulls)),
                    false => Vector::of(TimestampMillisecondArray::new(values, nulls)),
                })
            }
        }
    }
}
