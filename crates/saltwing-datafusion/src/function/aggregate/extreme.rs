//! MIN and MAX of values that SQL orders otherwise than DataFusion: intervals by their length, arrays element by element, and the floats
//! of many groups, where NaN comes last.

use std::cmp::Ordering;
use std::collections::VecDeque;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{Accumulator, EmitTo, GroupsAccumulator};
use saltwing_expr::{ColumnBuilder, value_at};
use saltwing_types::{SqlType, Value};

use super::sum::{argument, kept, of_values, only};

/// The first of the least or the greatest values, also of a moving window.
#[derive(Debug)]
pub(super) struct Extreme {
    /// How the extreme compares with all other values.
    wanted: Ordering,
    ty: SqlType,
    is_moving: bool,
    /// The extreme, then those that replace it as the window moves past the earlier ones; each with its row.
    candidates: VecDeque<(usize, Value)>,
    seen: usize,
    left: usize,
}

impl Extreme {
    pub(super) fn new(wanted: Ordering, ty: SqlType, is_moving: bool) -> Self {
        Self { wanted, ty, is_moving, candidates: VecDeque::new(), seen: 0, left: 0 }
    }

    fn see(&mut self, value: Value) {
        let (row, wanted) = (self.seen, self.wanted);
        self.seen += 1;
        let beats = |(_, known): &(usize, Value)| value.compare(known) == Some(wanted);
        if value.is_null() || !self.is_moving && self.candidates.front().is_some_and(|best| !beats(best)) {
            return;
        }
        while self.candidates.back().is_some_and(&beats) {
            self.candidates.pop_back();
        }
        self.candidates.push_back((row, value));
    }
}

impl Accumulator for Extreme {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let values = argument(values)?;
        for row in 0..values.len() {
            self.see(value_at(values, row, self.ty).map_err(of_values)?);
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.left += argument(values)?.len();
        while self.candidates.front().is_some_and(|(row, _)| *row < self.left) {
            self.candidates.pop_front();
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        self.is_moving
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut column = ColumnBuilder::new(self.ty, 1);
        let extreme = self.candidates.front().map_or(&Value::Null, |(_, value)| value);
        only(column.append_value(extreme).map(|()| column.finish()))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn size(&self) -> usize {
        let heap: usize = self.candidates.iter().map(|(_, value)| value.heap_bytes()).sum();
        size_of_val(self) + self.candidates.capacity() * size_of::<(usize, Value)>() + heap
    }
}

/// The least or the greatest floats of many groups.
pub(super) struct FloatExtremes {
    /// How the extreme compares with all other values.
    wanted: Ordering,
    ty: DataType,
    extremes: Vec<Option<f64>>,
}

impl FloatExtremes {
    pub(super) fn new(wanted: Ordering, ty: DataType) -> Self {
        Self { wanted, ty, extremes: Vec::new() }
    }

    fn take(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let extremes: Float64Array = emit_to.take_needed(&mut self.extremes).into_iter().collect();
        Ok(cast(&extremes, &self.ty)?)
    }
}

/// NaN equals itself, and comes last.
fn float_order(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

impl GroupsAccumulator for FloatExtremes {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.extremes.resize(total_num_groups, None);
        let values = cast(&kept(argument(values)?, filter)?, &DataType::Float64)?;
        for (value, group) in values.as_primitive::<Float64Type>().iter().zip(group_indices) {
            if let (Some(value), Some(extreme)) = (value, self.extremes.get_mut(*group))
                && extreme.is_none_or(|known| float_order(value, known) == self.wanted)
            {
                *extreme = Some(value);
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, values: &[ArrayRef], group_indices: &[usize], total_num_groups: usize) -> Result<()> {
        self.update_batch(values, group_indices, None, total_num_groups)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        self.take(emit_to)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.take(emit_to)?])
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        Ok(vec![kept(argument(values)?, filter)?])
    }

    fn size(&self) -> usize {
        self.extremes.capacity() * size_of::<Option<f64>>()
    }
}
