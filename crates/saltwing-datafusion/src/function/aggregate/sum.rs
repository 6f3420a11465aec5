//! SUM without wrapping, the exact AVG of decimals, and both of intervals: [`saltwing_expr::sum`], as accumulators of DataFusion's.
//!
//! The sum of decimals is kept in 256 bits. AVG divides it at the end by the rules of `/`, and is a DECIMAL without
//! precision.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, IntervalMonthDayNanoArray};
use arrow::compute::{cast, not, nullif, prep_null_mask_filter};
use arrow::datatypes::{DataType, Field, IntervalMonthDayNano, IntervalMonthDayNanoType, UInt64Type, i256};
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::{Accumulator, AggregateUDF, EmitTo, GroupsAccumulator};
use saltwing_expr::arrow_type;
use saltwing_expr::sum::{FloatTotal, IntervalTotal, SumKind, SumTotal, beyond_sums};
use saltwing_types::{SqlType, ValueError};

use crate::RelationalError;

/// The sum or average of one group, also of a moving window.
pub(super) fn accumulator(kind: SumKind, is_average: bool) -> Box<dyn Accumulator> {
    match kind {
        SumKind::Integers | SumKind::WrappingIntegers => Box::new(OneSum::<i128>::new(kind, is_average)),
        SumKind::Decimals(_) => Box::new(OneSum::<i256>::new(kind, is_average)),
        SumKind::Floats => Box::new(OneSum::<FloatTotal>::new(kind, is_average)),
        SumKind::Intervals => Box::new(OneSum::<IntervalTotal>::new(kind, is_average)),
    }
}

/// The sums of many groups.
pub(super) fn groups_accumulator(kind: SumKind) -> Box<dyn GroupsAccumulator> {
    match kind {
        SumKind::Integers | SumKind::WrappingIntegers => Box::new(GroupSums::<i128>::new(kind)),
        SumKind::Decimals(_) => Box::new(GroupSums::<i256>::new(kind)),
        SumKind::Floats => Box::new(GroupSums::<FloatTotal>::new(kind)),
        SumKind::Intervals => Box::new(GroupSums::<IntervalTotal>::new(kind)),
    }
}

pub(super) fn of_values(error: ValueError) -> DataFusionError {
    RelationalError::from(error).into()
}

pub(super) fn sum_overflow(kind: SumKind) -> DataFusionError {
    of_values(beyond_sums(kind))
}

pub(super) fn argument(values: &[ArrayRef]) -> Result<&ArrayRef> {
    values.first().ok_or_else(|| RelationalError::bug("SUM without a column").into())
}

/// One value of a column of one row.
pub(super) fn only(column: std::result::Result<ArrayRef, ValueError>) -> Result<ScalarValue> {
    ScalarValue::try_from_array(&column.map_err(of_values)?, 0)
}

/// The sum or average of one group, also of a moving window.
#[derive(Debug)]
struct OneSum<T> {
    sum: T,
    count: u64,
    kind: SumKind,
    is_average: bool,
}

impl<T: SumTotal> OneSum<T> {
    fn new(kind: SumKind, is_average: bool) -> Self {
        Self { sum: T::default(), count: 0, kind, is_average }
    }

    fn total(&self) -> impl Iterator<Item = Option<T>> {
        std::iter::once((self.count > 0).then_some(self.sum))
    }
}

impl<T: SumTotal> Accumulator for OneSum<T> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let values = argument(values)?;
        self.count += self.sum.add_run(values, 0..values.len()).map_err(of_values)?;
        Ok(())
    }

    /// Adds partial sums; those of an average come with the numbers of their values.
    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [sums, counts] = states else { return self.update_batch(states) };
        self.sum.add_run(sums, 0..sums.len()).map_err(of_values)?;
        self.count += counts.as_primitive::<UInt64Type>().values().iter().sum::<u64>();
        Ok(())
    }

    /// Exact, except for floats, which no moving window takes off ([`super::moving`]).
    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (values, mut taken) = (argument(values)?, T::default());
        self.count -= taken.add_run(values, 0..values.len()).map_err(of_values)?;
        self.sum = self.sum.plus(taken.negated()).ok_or_else(|| sum_overflow(self.kind))?;
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        only(match self.is_average {
            true => T::averages(std::iter::once((self.sum, self.count)), self.kind),
            false => T::sums(self.total(), self.kind),
        })
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let sum = only(T::partial_sums(self.total(), self.kind))?;
        let count = self.is_average.then_some(ScalarValue::UInt64(Some(self.count)));
        Ok(std::iter::once(sum).chain(count).collect())
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

/// The sum of the different values of one group, which DataFusion collects.
#[derive(Debug)]
pub(super) struct DistinctSum {
    collected: Box<dyn Accumulator>,
    kind: SumKind,
}

impl DistinctSum {
    pub(super) fn new(kind: SumKind, native: &AggregateUDF, args: AccumulatorArgs<'_>) -> Result<Self> {
        let return_field = Arc::new(Field::new(args.name, kind.partial_type(), true));
        Ok(Self { collected: native.accumulator(AccumulatorArgs { return_field, ..args })?, kind })
    }
}

impl Accumulator for DistinctSum {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.collected.update_batch(&[cast(argument(values)?, &self.kind.partial_type())?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.collected.merge_batch(states)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut sum = accumulator(self.kind, false);
        for state in self.collected.state()? {
            if let ScalarValue::List(values) = state {
                sum.update_batch(std::slice::from_ref(values.values()))?;
            }
        }
        sum.evaluate()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.collected.state()
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.collected.size()
    }
}

/// The sum or the average of the different intervals of one group: `1 day` and `24 hours` are two.
#[derive(Debug)]
pub(super) struct DistinctIntervals {
    seen: HashSet<IntervalMonthDayNano>,
    is_average: bool,
}

impl DistinctIntervals {
    pub(super) fn new(is_average: bool) -> Self {
        Self { seen: HashSet::new(), is_average }
    }

    /// The type of a list of intervals.
    pub(super) fn state_type() -> DataType {
        DataType::List(Arc::new(Field::new_list_field(arrow_type(SqlType::Interval), true)))
    }

    fn values(&self) -> ArrayRef {
        Arc::new(IntervalMonthDayNanoArray::from_iter_values(self.seen.iter().copied()))
    }
}

impl Accumulator for DistinctIntervals {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let values = argument(values)?.as_primitive::<IntervalMonthDayNanoType>();
        self.seen.extend(values.iter().flatten());
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let lists = argument(states)?.as_list::<i32>();
        lists.iter().flatten().try_for_each(|list| self.update_batch(&[list]))
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut sum = accumulator(SumKind::Intervals, self.is_average);
        sum.update_batch(&[self.values()])?;
        sum.evaluate()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![SingleRowListArrayBuilder::new(self.values()).build_list_scalar()])
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.seen.capacity() * size_of::<IntervalMonthDayNano>()
    }
}

/// The sums of many groups.
struct GroupSums<T> {
    sums: Vec<T>,
    seen: Vec<bool>,
    kind: SumKind,
}

impl<T: SumTotal> GroupSums<T> {
    fn new(kind: SumKind) -> Self {
        Self { sums: Vec::new(), seen: Vec::new(), kind }
    }

    fn take(&mut self, emit_to: EmitTo) -> impl Iterator<Item = Option<T>> + use<T> {
        let (sums, seen) = (emit_to.take_needed(&mut self.sums), emit_to.take_needed(&mut self.seen));
        sums.into_iter().zip(seen).map(|(sum, seen)| seen.then_some(sum))
    }
}

impl<T: SumTotal> GroupsAccumulator for GroupSums<T> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.sums.resize(total_num_groups, T::default());
        self.seen.resize(total_num_groups, false);
        let (sums, seen, mut fits) = (&mut self.sums, &mut self.seen, true);
        let add = |group: usize, value: T| {
            if let (Some(sum), Some(seen)) = (sums.get_mut(group), seen.get_mut(group)) {
                match sum.plus(value) {
                    Some(total) => (*sum, *seen) = (total, true),
                    None => fits = false,
                }
            }
        };
        T::each(&kept(argument(values)?, filter)?, group_indices, add).map_err(of_values)?;
        if fits { Ok(()) } else { Err(sum_overflow(self.kind)) }
    }

    fn merge_batch(&mut self, values: &[ArrayRef], group_indices: &[usize], total_num_groups: usize) -> Result<()> {
        self.update_batch(values, group_indices, None, total_num_groups)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        T::sums(self.take(emit_to), self.kind).map_err(of_values)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![T::partial_sums(self.take(emit_to), self.kind).map_err(of_values)?])
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let values = kept(argument(values)?, filter)?;
        let (rows, mut sums) = ((0..values.len()).collect::<Vec<usize>>(), vec![None; values.len()]);
        T::each(&values, &rows, |row, value| sums.get_mut(row).map_or((), |sum| *sum = Some(value)))
            .map_err(of_values)?;
        Ok(vec![T::partial_sums(sums.into_iter(), self.kind).map_err(of_values)?])
    }

    fn size(&self) -> usize {
        self.sums.capacity() * size_of::<T>() + self.seen.capacity()
    }
}

/// A column whose rows that a filter leaves out are NULL.
pub(super) fn kept(values: &ArrayRef, filter: Option<&BooleanArray>) -> Result<ArrayRef> {
    match filter {
        None => Ok(values.clone()),
        // A filter of NULL leaves a row out, as one of false does. Only a filter with NULLs can be prepared.
        Some(filter) if filter.null_count() > 0 => Ok(nullif(values, &not(&prep_null_mask_filter(filter))?)?),
        Some(filter) => Ok(nullif(values, &not(filter)?)?),
    }
}
