//! SUM without wrapping: [`saltwing_expr::sum`], as DataFusion's aggregate. SUM of any other type is DataFusion's.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, PrimitiveArray};
use arrow::compute::{not, nullif, prep_null_mask_filter};
use arrow::datatypes::{DataType, Field, FieldRef, UInt64Type, i256};
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::functions_aggregate::sum::Sum;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, EmitTo, GroupsAccumulator, ReversedUDAF, Signature};
use saltwing_expr::arrow_type;
use saltwing_expr::sum::{FloatTotal, SumKind, SumTotal, beyond_sums};
use saltwing_types::ValueError;

use crate::RelationalError;

/// `SUM`.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct CheckedSum {
    /// What sums of other types are left to, and what says which types there are.
    native: Sum,
}

/// The sum of an argument of AccumulatorArgs, if it is ours.
fn summed(args: &AccumulatorArgs<'_>) -> Option<SumKind> {
    SumKind::of(args.expr_fields.first()?.data_type())
}

impl AggregateUDFImpl for CheckedSum {
    fn name(&self) -> &str {
        "sum"
    }

    fn signature(&self) -> &Signature {
        self.native.signature()
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match arg_types.first().and_then(SumKind::of) {
            Some(summed) => Ok(arrow_type(summed.sql_type())),
            None => self.native.return_type(arg_types),
        }
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(match (summed(&args), args.is_distinct) {
            (Some(kind @ SumKind::Integers), false) => Box::new(OneSum::<i128>::new(kind)),
            (Some(kind @ SumKind::Decimals(_)), false) => Box::new(OneSum::<i256>::new(kind)),
            (Some(kind @ SumKind::Floats), false) => Box::new(OneSum::<FloatTotal>::new(kind)),
            (Some(kind @ SumKind::Integers), true) => Box::new(DistinctSum::<i128>::new(kind)),
            (Some(kind @ SumKind::Decimals(_)), true) => Box::new(DistinctSum::<i256>::new(kind)),
            (Some(SumKind::Floats), true) | (None, _) => return self.native.accumulator(args),
        })
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let summed = args.input_fields.first().and_then(|f| SumKind::of(f.data_type()));
        let Some(summed) = summed.filter(|summed| !(args.is_distinct && *summed == SumKind::Floats)) else {
            return self.native.state_fields(args);
        };
        let field = if args.is_distinct {
            let item = Field::new_list_field(summed.partial_type(), true);
            Field::new_list(format_state_name(args.name, "sum distinct"), item, false)
        } else {
            Field::new(format_state_name(args.name, "sum"), summed.partial_type(), true)
        };
        Ok(vec![Arc::new(field)])
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(match summed(&args) {
            Some(kind @ SumKind::Integers) => Box::new(GroupSums::<i128>::new(kind)),
            Some(kind @ SumKind::Decimals(_)) => Box::new(GroupSums::<i256>::new(kind)),
            Some(kind @ SumKind::Floats) => Box::new(GroupSums::<FloatTotal>::new(kind)),
            None => return self.native.create_groups_accumulator(args),
        })
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        match (summed(&args), args.is_distinct) {
            // What was added as floats is not taken off again exactly.
            (Some(SumKind::Floats) | None, _) => self.native.create_sliding_accumulator(args),
            (Some(_), false) => self.accumulator(args),
            (Some(_), true) => Err(RelationalError::from(crate::RelationalErrorKind::NotSupported(
                "SUM(DISTINCT ..) over a moving window".into(),
            ))
            .into()),
        }
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }
}

fn of_values(error: ValueError) -> DataFusionError {
    RelationalError::from(error).into()
}

fn sum_overflow(kind: SumKind) -> DataFusionError {
    of_values(beyond_sums(kind))
}

fn argument(values: &[ArrayRef]) -> Result<&ArrayRef> {
    values.first().ok_or_else(|| RelationalError::bug("SUM without a column").into())
}

/// One value of a column of one row.
fn only(column: std::result::Result<ArrayRef, ValueError>) -> Result<ScalarValue> {
    ScalarValue::try_from_array(&column.map_err(of_values)?, 0)
}

/// The sum of one group, also of a moving window.
#[derive(Debug)]
pub(crate) struct OneSum<T> {
    sum: T,
    count: u64,
    kind: SumKind,
}

impl<T: SumTotal> OneSum<T> {
    pub(crate) fn new(kind: SumKind) -> Self {
        Self { sum: T::default(), count: 0, kind }
    }

    /// How many values were summed.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// AVG of these values.
    pub(crate) fn average(&self) -> Result<ScalarValue> {
        only(T::averages(std::iter::once((self.sum, self.count)), self.kind))
    }

    /// Adds partial sums, each with the number of values that it is of.
    pub(crate) fn merge(&mut self, sums: &ArrayRef, counts: &PrimitiveArray<UInt64Type>) -> Result<()> {
        self.sum.add_run(sums, 0..sums.len()).map_err(of_values)?;
        self.count += counts.values().iter().sum::<u64>();
        Ok(())
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

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }

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
        only(T::sums(self.total(), self.kind))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![only(T::partial_sums(self.total(), self.kind))?])
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

/// The sum of the different values of one group.
#[derive(Debug)]
struct DistinctSum<T> {
    values: HashSet<T>,
    kind: SumKind,
}

impl<T: SumTotal + Eq + Hash> DistinctSum<T> {
    fn new(kind: SumKind) -> Self {
        Self { values: HashSet::new(), kind }
    }
}

impl<T: SumTotal + Eq + Hash> Accumulator for DistinctSum<T> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let column = argument(values)?;
        let add = |(), value| _ = self.values.insert(value);
        T::each(column, &vec![(); column.len()], add).map_err(of_values)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for list in argument(states)?.as_list::<i32>().iter().flatten() {
            self.update_batch(&[list])?;
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let sum = self.values.iter().try_fold(T::default(), |sum, value| sum.plus(*value));
        let sum = sum.ok_or_else(|| sum_overflow(self.kind))?;
        only(T::sums(std::iter::once((!self.values.is_empty()).then_some(sum)), self.kind))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let values = T::partial_sums(self.values.iter().map(|value| Some(*value)), self.kind).map_err(of_values)?;
        Ok(vec![ScalarValue::List(Arc::new(SingleRowListArrayBuilder::new(values).build_list_array()))])
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.values.capacity() * size_of::<T>()
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
fn kept(values: &ArrayRef, filter: Option<&BooleanArray>) -> Result<ArrayRef> {
    match filter {
        None => Ok(values.clone()),
        Some(filter) => Ok(nullif(values, &not(&prep_null_mask_filter(filter))?)?),
    }
}
