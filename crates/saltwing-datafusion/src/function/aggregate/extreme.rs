//! MIN and MAX of values that SQL orders otherwise than Arrow: intervals by their length, arrays element by element.

use std::cmp::Ordering;
use std::collections::VecDeque;

use arrow::array::{Array, ArrayRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Accumulator;
use saltwing_expr::{ColumnBuilder, value_at};
use saltwing_types::{SqlType, Value};

use super::sum::{argument, of_values, only};

/// The first of the least or the greatest values, also of a moving window.
#[derive(Debug)]
pub(super) struct Extreme {
    /// How the extreme compares with all other values.
    wanted: Ordering,
    ty: SqlType,
    is_moving: bool,
    /// The extreme, and behind it those that follow as the window leaves the ones before; each with its row.
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
