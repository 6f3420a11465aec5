//! SUM without wrapping.
//!
//! Integers are added in 128 bits and decimals in 256 bits. The final sum is checked against the result's type, so the
//! error does not depend on the order of rows. The sum of integers is a BIGINT, that of decimals a DECIMAL without
//! precision. A sum of doubles that overflows on the way is an error, too. SUM of any other type is DataFusion's.

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, PrimitiveArray, new_null_array};
use arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, Decimal128Type, Decimal256Type, Field, FieldRef,
    Float64Type, Int64Type, UInt64Type, i256,
};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::functions_aggregate::sum::Sum;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, EmitTo, GroupsAccumulator, ReversedUDAF, Signature};
use saltwing_expr::arrow_type;
use saltwing_types::{SqlType, ValueError};

use crate::RelationalError;

/// `SUM`.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct CheckedSum {
    /// What sums of other types are left to, and what says which types there are.
    native: Sum,
}

/// How a column is summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Summed {
    /// In 128 bits.
    Integers,
    /// In 256 bits, at this scale.
    Decimals(i8),
    /// As doubles.
    Doubles,
}

impl Summed {
    /// How a column of this type is summed; `None` where that is left to DataFusion.
    pub(crate) fn of(ty: &DataType) -> Option<Self> {
        match ty {
            DataType::Int64 | DataType::UInt64 => Some(Self::Integers),
            DataType::Decimal32(_, scale)
            | DataType::Decimal64(_, scale)
            | DataType::Decimal128(_, scale)
            | DataType::Decimal256(_, scale) => Some(Self::Decimals(*scale)),
            DataType::Float64 => Some(Self::Doubles),
            _ => None,
        }
    }

    /// The type in which partial sums are kept.
    pub(crate) fn state_type(self) -> DataType {
        match self {
            Self::Integers => DataType::Decimal128(DECIMAL128_MAX_PRECISION, 0),
            Self::Decimals(scale) => DataType::Decimal256(DECIMAL256_MAX_PRECISION, scale),
            Self::Doubles => DataType::Float64,
        }
    }

    fn result_type(self) -> DataType {
        arrow_type(self.sql_type())
    }

    fn sql_type(self) -> SqlType {
        match self {
            Self::Integers => SqlType::BigInt,
            Self::Decimals(_) => SqlType::Decimal(None),
            Self::Doubles => SqlType::Double,
        }
    }
}

/// The sum of an argument of AccumulatorArgs, if it is ours.
fn summed(args: &AccumulatorArgs<'_>) -> Option<Summed> {
    Summed::of(args.expr_fields.first()?.data_type())
}

impl AggregateUDFImpl for CheckedSum {
    fn name(&self) -> &str {
        "sum"
    }

    fn signature(&self) -> &Signature {
        self.native.signature()
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match arg_types.first().and_then(Summed::of) {
            Some(summed) => Ok(summed.result_type()),
            None => self.native.return_type(arg_types),
        }
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(match (summed(&args), args.is_distinct) {
            (Some(summed @ Summed::Integers), false) => Box::new(OneSum::<i128>::new(summed)),
            (Some(summed @ Summed::Decimals(_)), false) => Box::new(OneSum::<i256>::new(summed)),
            (Some(summed @ Summed::Doubles), false) => Box::new(OneSum::<f64>::new(summed)),
            (Some(summed @ Summed::Integers), true) => Box::new(DistinctSum::<i128>::new(summed)),
            (Some(summed @ Summed::Decimals(_)), true) => Box::new(DistinctSum::<i256>::new(summed)),
            (Some(Summed::Doubles), true) | (None, _) => return self.native.accumulator(args),
        })
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let summed = args.input_fields.first().and_then(|f| Summed::of(f.data_type()));
        let Some(summed) = summed.filter(|summed| !(args.is_distinct && *summed == Summed::Doubles)) else {
            return self.native.state_fields(args);
        };
        let field = if args.is_distinct {
            let item = Field::new_list_field(summed.state_type(), true);
            Field::new_list(format_state_name(args.name, "sum distinct"), item, false)
        } else {
            Field::new(format_state_name(args.name, "sum"), summed.state_type(), true)
        };
        Ok(vec![Arc::new(field)])
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(match summed(&args) {
            Some(summed @ Summed::Integers) => Box::new(GroupSums::<i128>::new(summed)),
            Some(summed @ Summed::Decimals(_)) => Box::new(GroupSums::<i256>::new(summed)),
            Some(summed @ Summed::Doubles) => Box::new(GroupSums::<f64>::new(summed)),
            None => return self.native.create_groups_accumulator(args),
        })
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        match (summed(&args), args.is_distinct) {
            // What was added in doubles is not taken off again exactly.
            (Some(Summed::Doubles) | None, _) => self.native.create_sliding_accumulator(args),
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

/// A number wide enough for sums.
pub(crate) trait Total: Copy + Default + Debug + Send + Sync + 'static {
    /// Sums of this kind as Arrow keeps them.
    type Kept: ArrowPrimitiveType<Native = Self>;

    fn plus(self, other: Self) -> Option<Self>;
    fn minus(self, other: Self) -> Option<Self>;

    /// Calls `see` with row and value for each value of a column.
    fn each(array: &dyn Array, see: impl FnMut(usize, Self) -> Result<()>) -> Result<()>;

    /// A sum as the result's type has it.
    fn finish(self, summed: Summed) -> Result<ScalarValue>;

    /// Sums as the result's column.
    fn finish_all(sums: Vec<Self>, seen: Vec<bool>, summed: Summed) -> Result<ArrayRef>;
}

fn too_large(value: impl std::fmt::Display, ty: SqlType) -> DataFusionError {
    let error = ValueError::OutOfRange { value: format!("the sum {value}"), target: ty.to_string() };
    RelationalError::from(error).into()
}

fn sum_overflow(summed: Summed) -> DataFusionError {
    let error = ValueError::OutOfRange { value: "a sum".into(), target: summed.sql_type().to_string() };
    RelationalError::from(error).into()
}

fn wrong_type(ty: &DataType) -> DataFusionError {
    RelationalError::bug(format!("SUM of a column of {ty}")).into()
}

/// Calls `see` with row and value for each value of a column of this Arrow type.
fn each_of<T: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
    mut see: impl FnMut(usize, T::Native) -> Result<()>,
) -> Result<()> {
    match array.nulls() {
        None => array.values().iter().enumerate().try_for_each(|(row, value)| see(row, *value)),
        Some(known) => {
            let values = array.values();
            known.valid_indices().try_for_each(|row| values.get(row).map_or(Ok(()), |value| see(row, *value)))
        }
    }
}

impl Total for i128 {
    type Kept = Decimal128Type;

    fn plus(self, other: Self) -> Option<Self> {
        self.checked_add(other)
    }

    fn minus(self, other: Self) -> Option<Self> {
        self.checked_sub(other)
    }

    fn each(array: &dyn Array, mut see: impl FnMut(usize, Self) -> Result<()>) -> Result<()> {
        match array.data_type() {
            DataType::Int64 => each_of(array.as_primitive::<Int64Type>(), |row, v| see(row, v.into())),
            DataType::UInt64 => each_of(array.as_primitive::<UInt64Type>(), |row, v| see(row, v.into())),
            DataType::Decimal128(..) => each_of(array.as_primitive::<Decimal128Type>(), see),
            other => Err(wrong_type(other)),
        }
    }

    fn finish(self, _: Summed) -> Result<ScalarValue> {
        let sum = i64::try_from(self).map_err(|_| too_large(self, SqlType::BigInt))?;
        Ok(ScalarValue::Int64(Some(sum)))
    }

    fn finish_all(sums: Vec<Self>, seen: Vec<bool>, _: Summed) -> Result<ArrayRef> {
        let narrow = |(sum, seen): (Self, bool)| match seen {
            true => i64::try_from(sum).map(Some).map_err(|_| too_large(sum, SqlType::BigInt)),
            false => Ok(None),
        };
        let sums: PrimitiveArray<Int64Type> =
            sums.into_iter().zip(seen).map(narrow).collect::<Result<Vec<_>>>()?.into_iter().collect();
        Ok(Arc::new(sums))
    }
}

impl Total for i256 {
    type Kept = Decimal256Type;

    fn plus(self, other: Self) -> Option<Self> {
        self.checked_add(other)
    }

    fn minus(self, other: Self) -> Option<Self> {
        self.checked_sub(other)
    }

    fn each(array: &dyn Array, mut see: impl FnMut(usize, Self) -> Result<()>) -> Result<()> {
        match array.data_type() {
            DataType::Decimal128(..) => {
                each_of(array.as_primitive::<Decimal128Type>(), |row, v| see(row, i256::from_i128(v)))
            }
            DataType::Decimal256(..) => each_of(array.as_primitive::<Decimal256Type>(), see),
            DataType::Decimal32(..) | DataType::Decimal64(..) => {
                let wide = arrow::compute::cast(array, &widened(array.data_type()))?;
                each_of(wide.as_primitive::<Decimal128Type>(), |row, v| see(row, i256::from_i128(v)))
            }
            other => Err(wrong_type(other)),
        }
    }

    fn finish(self, summed: Summed) -> Result<ScalarValue> {
        let DataType::Decimal256(precision, scale) = summed.result_type() else { return Err(sum_overflow(summed)) };
        Ok(ScalarValue::Decimal256(Some(rescaled(self, summed, precision, scale)?), precision, scale))
    }

    fn finish_all(sums: Vec<Self>, seen: Vec<bool>, summed: Summed) -> Result<ArrayRef> {
        let DataType::Decimal256(precision, scale) = summed.result_type() else { return Err(sum_overflow(summed)) };
        let finish = |(sum, seen): (Self, bool)| match seen {
            true => rescaled(sum, summed, precision, scale).map(Some),
            false => Ok(None),
        };
        let sums: PrimitiveArray<Decimal256Type> =
            sums.into_iter().zip(seen).map(finish).collect::<Result<Vec<_>>>()?.into_iter().collect();
        Ok(Arc::new(sums.with_precision_and_scale(precision, scale)?))
    }
}

impl Total for f64 {
    type Kept = Float64Type;

    fn plus(self, other: Self) -> Option<Self> {
        let sum = self + other;
        (!sum.is_infinite() || self.is_infinite() || other.is_infinite()).then_some(sum)
    }

    fn minus(self, other: Self) -> Option<Self> {
        self.plus(-other)
    }

    fn each(array: &dyn Array, see: impl FnMut(usize, Self) -> Result<()>) -> Result<()> {
        match array.data_type() {
            DataType::Float64 => each_of(array.as_primitive::<Float64Type>(), see),
            other => Err(wrong_type(other)),
        }
    }

    fn finish(self, _: Summed) -> Result<ScalarValue> {
        Ok(ScalarValue::Float64(Some(self)))
    }

    fn finish_all(sums: Vec<Self>, seen: Vec<bool>, _: Summed) -> Result<ArrayRef> {
        let sums = sums.into_iter().zip(seen).map(|(sum, seen)| seen.then_some(sum));
        Ok(Arc::new(PrimitiveArray::<Float64Type>::from_iter(sums)))
    }
}

fn widened(ty: &DataType) -> DataType {
    match ty {
        DataType::Decimal32(_, scale) | DataType::Decimal64(_, scale) => {
            DataType::Decimal128(DECIMAL128_MAX_PRECISION, *scale)
        }
        other => other.clone(),
    }
}

/// A sum at the result's scale.
fn rescaled(sum: i256, summed: Summed, precision: u8, scale: i8) -> Result<i256> {
    let Summed::Decimals(from) = summed else { return Err(sum_overflow(summed)) };
    let ten = i256::from(10);
    let factor = |digits: i32| u32::try_from(digits).ok().and_then(|digits| ten.checked_pow(digits));
    let up = i32::from(scale) - i32::from(from);
    let value = if up >= 0 {
        factor(up).and_then(|factor| sum.checked_mul(factor))
    } else {
        factor(-up).and_then(|factor| sum.checked_div(factor))
    };
    let limit = factor(precision.into());
    match (value, limit) {
        (Some(value), Some(limit)) if value < limit && value > -limit => Ok(value),
        _ => Err(sum_overflow(summed)),
    }
}

/// A partial sum as a scalar.
fn kept<T: Total>(sum: Option<T>, summed: Summed) -> Result<ScalarValue> {
    let array = PrimitiveArray::<T::Kept>::from_iter([sum]).with_data_type(summed.state_type());
    ScalarValue::try_from_array(&array, 0)
}

fn no_state() -> DataFusionError {
    RelationalError::bug("SUM without a column").into()
}

/// The sum of one group, also of a moving window.
#[derive(Debug)]
pub(crate) struct OneSum<T> {
    sum: T,
    count: u64,
    summed: Summed,
}

impl<T: Total> OneSum<T> {
    pub(crate) fn new(summed: Summed) -> Self {
        Self { sum: T::default(), count: 0, summed }
    }

    /// How many values were summed.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The sum with its scale, and how many values it is of; `None` of no values.
    pub(crate) fn total(&self) -> Option<(T, i8, u64)> {
        let scale = if let Summed::Decimals(scale) = self.summed { scale } else { 0 };
        (self.count > 0).then_some((self.sum, scale, self.count))
    }

    /// Adds partial sums, each with the number of values that it is of.
    pub(crate) fn merge(&mut self, sums: &ArrayRef, counts: &PrimitiveArray<UInt64Type>) -> Result<()> {
        let before = self.count;
        self.update_batch(std::slice::from_ref(sums))?;
        self.count = before + counts.values().iter().sum::<u64>();
        Ok(())
    }
}

impl<T: Total> Accumulator for OneSum<T> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        T::each(values.first().ok_or_else(no_state)?, |_, value| {
            self.sum = self.sum.plus(value).ok_or_else(|| sum_overflow(self.summed))?;
            self.count += 1;
            Ok(())
        })
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        T::each(values.first().ok_or_else(no_state)?, |_, value| {
            self.sum = self.sum.minus(value).ok_or_else(|| sum_overflow(self.summed))?;
            self.count -= 1;
            Ok(())
        })
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        match self.count {
            0 => ScalarValue::try_from(self.summed.result_type()),
            _ => self.sum.finish(self.summed),
        }
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![kept((self.count > 0).then_some(self.sum), self.summed)?])
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

/// The sum of the different values of one group.
#[derive(Debug)]
struct DistinctSum<T> {
    values: HashSet<T>,
    summed: Summed,
}

impl<T: Total + Eq + Hash> DistinctSum<T> {
    fn new(summed: Summed) -> Self {
        Self { values: HashSet::new(), summed }
    }
}

impl<T: Total + Eq + Hash> Accumulator for DistinctSum<T> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        T::each(values.first().ok_or_else(no_state)?, |_, value| {
            self.values.insert(value);
            Ok(())
        })
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for list in states.first().ok_or_else(no_state)?.as_list::<i32>().iter().flatten() {
            self.update_batch(&[list])?;
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        if self.values.is_empty() {
            return ScalarValue::try_from(self.summed.result_type());
        }
        let sum = self.values.iter().try_fold(T::default(), |sum, value| sum.plus(*value));
        sum.ok_or_else(|| sum_overflow(self.summed))?.finish(self.summed)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let values = self.values.iter().map(|value| kept(Some(*value), self.summed)).collect::<Result<Vec<_>>>()?;
        Ok(vec![ScalarValue::List(ScalarValue::new_list_nullable(&values, &self.summed.state_type()))])
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.values.capacity() * size_of::<T>()
    }
}

/// The sums of many groups.
struct GroupSums<T> {
    sums: Vec<T>,
    seen: Vec<bool>,
    summed: Summed,
}

impl<T: Total> GroupSums<T> {
    fn new(summed: Summed) -> Self {
        Self { sums: Vec::new(), seen: Vec::new(), summed }
    }

    fn take(&mut self, emit_to: EmitTo) -> (Vec<T>, Vec<bool>) {
        (emit_to.take_needed(&mut self.sums), emit_to.take_needed(&mut self.seen))
    }

    /// Partial sums as a column.
    fn column(&self, sums: Vec<T>, seen: Vec<bool>) -> ArrayRef {
        let sums = sums.into_iter().zip(seen).map(|(sum, seen)| seen.then_some(sum));
        Arc::new(PrimitiveArray::<T::Kept>::from_iter(sums).with_data_type(self.summed.state_type()))
    }
}

impl<T: Total> GroupsAccumulator for GroupSums<T> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.sums.resize(total_num_groups, T::default());
        self.seen.resize(total_num_groups, false);
        let (sums, seen, summed) = (&mut self.sums, &mut self.seen, self.summed);
        T::each(values.first().ok_or_else(no_state)?, |row, value| {
            if filter.is_some_and(|filter| filter.is_null(row) || !filter.value(row)) {
                return Ok(());
            }
            let group = group_indices.get(row).copied().unwrap_or(usize::MAX);
            if let (Some(sum), Some(seen)) = (sums.get_mut(group), seen.get_mut(group)) {
                *sum = sum.plus(value).ok_or_else(|| sum_overflow(summed))?;
                *seen = true;
            }
            Ok(())
        })
    }

    fn merge_batch(&mut self, values: &[ArrayRef], group_indices: &[usize], total_num_groups: usize) -> Result<()> {
        self.update_batch(values, group_indices, None, total_num_groups)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let (sums, seen) = self.take(emit_to);
        T::finish_all(sums, seen, self.summed)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let (sums, seen) = self.take(emit_to);
        Ok(vec![self.column(sums, seen)])
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let array = values.first().ok_or_else(no_state)?;
        if array.is_empty() {
            return Ok(vec![new_null_array(&self.summed.state_type(), 0)]);
        }
        let (mut sums, mut seen) = (vec![T::default(); array.len()], vec![false; array.len()]);
        T::each(array, |row, value| {
            let kept = filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
            if let (true, Some(sum), Some(seen)) = (kept, sums.get_mut(row), seen.get_mut(row)) {
                (*sum, *seen) = (value, true);
            }
            Ok(())
        })?;
        Ok(vec![self.column(sums, seen)])
    }

    fn size(&self) -> usize {
        self.sums.capacity() * size_of::<T>() + self.seen.capacity()
    }
}
