//! SUM without wrapping.
//!
//! Integers are added in 128 bits and decimals in 256 bits. The final sum is checked against the result's type, so the
//! error does not depend on the order of rows. A sum of doubles that overflows on the way is an error, too.

use std::fmt::Debug;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowNativeTypeOp, ArrowPrimitiveType, AsArray, BooleanArray, PrimitiveArray};
use arrow::compute::{CastOptions, cast, cast_with_options, not, nullif, prep_null_mask_filter};
use arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, Decimal128Type, Decimal256Type, Field, Float64Type,
};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::{Accumulator, AggregateUDF, EmitTo, GroupsAccumulator};
use saltwing_expr::arrow_type;
use saltwing_types::{SqlType, ValueError};

use crate::RelationalError;

/// How a column is summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Summed {
    /// In 128 bits.
    Integers,
    /// In 256 bits, at this scale.
    Decimals(i8),
    /// As doubles.
    Doubles,
}

impl Summed {
    /// How a column of this type is summed; `None` where that is left to DataFusion.
    pub(super) fn of(ty: &DataType) -> Option<Self> {
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
    pub(super) fn state_type(self) -> DataType {
        match self {
            Self::Integers => DataType::Decimal128(DECIMAL128_MAX_PRECISION, 0),
            Self::Decimals(scale) => DataType::Decimal256(DECIMAL256_MAX_PRECISION, scale),
            Self::Doubles => DataType::Float64,
        }
    }

    pub(super) fn result_type(self) -> DataType {
        arrow_type(self.sql_type())
    }

    fn sql_type(self) -> SqlType {
        match self {
            Self::Integers => SqlType::BigInt,
            Self::Decimals(_) => SqlType::Decimal(None),
            Self::Doubles => SqlType::Double,
        }
    }

    /// The sum of one group, also of a moving window.
    pub(super) fn accumulator(self) -> Box<dyn Accumulator> {
        match self {
            Self::Integers => Box::new(OneSum::<Decimal128Type>::new(self)),
            Self::Decimals(_) => Box::new(OneSum::<Decimal256Type>::new(self)),
            Self::Doubles => Box::new(OneSum::<Float64Type>::new(self)),
        }
    }

    /// The sums of many groups.
    pub(super) fn groups_accumulator(self) -> Box<dyn GroupsAccumulator> {
        match self {
            Self::Integers => Box::new(GroupSums::<Decimal128Type>::new(self)),
            Self::Decimals(_) => Box::new(GroupSums::<Decimal256Type>::new(self)),
            Self::Doubles => Box::new(GroupSums::<Float64Type>::new(self)),
        }
    }

    /// A column of values, or of partial sums, in the type of partial sums.
    fn widened(self, values: &[ArrayRef]) -> Result<ArrayRef> {
        let column =
            values.first().ok_or_else(|| DataFusionError::from(RelationalError::bug("SUM without a column")))?;
        Ok(cast(column, &self.state_type())?)
    }

    /// Partial sums as a column.
    fn column<T: Total>(self, sums: impl IntoIterator<Item = Option<T::Native>>) -> ArrayRef {
        Arc::new(PrimitiveArray::<T>::from_iter(sums).with_data_type(self.state_type()))
    }

    /// Sums in the result's type.
    ///
    /// # Errors
    /// A sum beyond it.
    fn finished(self, sums: &ArrayRef) -> Result<ArrayRef> {
        let strict = CastOptions { safe: false, ..CastOptions::default() };
        let finished = cast_with_options(sums, &self.result_type(), &strict).and_then(|finished| {
            // The cast lets pass what Arrow's integers hold beyond the digits of the type.
            if let DataType::Decimal256(precision, _) = finished.data_type() {
                finished.as_primitive::<Decimal256Type>().validate_decimal_precision(*precision)?;
            }
            Ok(finished)
        });
        finished.map_err(|_| {
            let integers = sums.as_primitive_opt::<Decimal128Type>();
            let beyond = integers.and_then(|sums| sums.iter().flatten().find(|sum| i64::try_from(*sum).is_err()));
            self.overflow(beyond.map_or_else(|| "a sum".to_owned(), |sum| format!("the sum {sum}")))
        })
    }

    fn overflow(self, value: String) -> DataFusionError {
        RelationalError::from(ValueError::OutOfRange { value, target: self.sql_type().to_string() }).into()
    }
}

/// The type of partial sums.
pub(super) trait Total: ArrowPrimitiveType + Debug {
    /// Whether a sum of two numbers is beyond the type, and does not say so itself.
    fn is_beyond(_sum: Self::Native, _a: Self::Native, _b: Self::Native) -> bool {
        false
    }
}

impl Total for Decimal128Type {}

impl Total for Decimal256Type {}

impl Total for Float64Type {
    fn is_beyond(sum: f64, a: f64, b: f64) -> bool {
        sum.is_infinite() && !a.is_infinite() && !b.is_infinite()
    }
}

fn plus<T: Total>(a: T::Native, b: T::Native, summed: Summed) -> Result<T::Native> {
    let sum = a.add_checked(b).ok().filter(|sum| !T::is_beyond(*sum, a, b));
    sum.ok_or_else(|| summed.overflow("a sum".to_owned()))
}

/// Calls `see` with row and value for each value of a column.
fn each<T: Total>(column: &ArrayRef, mut see: impl FnMut(usize, T::Native) -> Result<()>) -> Result<()> {
    let column = column.as_primitive::<T>();
    match column.nulls() {
        None => column.values().iter().enumerate().try_for_each(|(row, value)| see(row, *value)),
        Some(known) => {
            let values = column.values();
            known.valid_indices().try_for_each(|row| values.get(row).map_or(Ok(()), |value| see(row, *value)))
        }
    }
}

/// The sum of one group, also of a moving window.
#[derive(Debug)]
pub(super) struct OneSum<T: Total> {
    sum: T::Native,
    count: u64,
    summed: Summed,
}

impl<T: Total> OneSum<T> {
    pub(super) fn new(summed: Summed) -> Self {
        Self { sum: T::Native::ZERO, count: 0, summed }
    }

    /// How many values were summed.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The sum with its scale, and how many values it is of; `None` of no values.
    pub(super) fn total(&self) -> Option<(T::Native, i8, u64)> {
        let scale = if let Summed::Decimals(scale) = self.summed { scale } else { 0 };
        (self.count > 0).then_some((self.sum, scale, self.count))
    }

    /// Adds partial sums, which are of `count` values.
    pub(super) fn merge(&mut self, sums: &ArrayRef, count: u64) -> Result<()> {
        let before = self.count;
        self.update_batch(std::slice::from_ref(sums))?;
        self.count = before + count;
        Ok(())
    }

    fn column(&self) -> ArrayRef {
        self.summed.column::<T>([(self.count > 0).then_some(self.sum)])
    }
}

impl<T: Total> Accumulator for OneSum<T> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        each::<T>(&self.summed.widened(values)?, |_, value| {
            self.sum = plus::<T>(self.sum, value, self.summed)?;
            self.count += 1;
            Ok(())
        })
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        each::<T>(&self.summed.widened(values)?, |_, value| {
            self.sum = self.sum.sub_checked(value).map_err(|_| self.summed.overflow("a sum".to_owned()))?;
            self.count -= 1;
            Ok(())
        })
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        ScalarValue::try_from_array(&self.summed.finished(&self.column())?, 0)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::try_from_array(&self.column(), 0)?])
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

/// The sum of the different values of one group, which DataFusion collects.
#[derive(Debug)]
pub(super) struct DistinctSum {
    collected: Box<dyn Accumulator>,
    summed: Summed,
}

impl DistinctSum {
    pub(super) fn new(summed: Summed, native: &AggregateUDF, args: AccumulatorArgs<'_>) -> Result<Self> {
        let return_field = Arc::new(Field::new(args.name, summed.state_type(), true));
        Ok(Self { collected: native.accumulator(AccumulatorArgs { return_field, ..args })?, summed })
    }
}

impl Accumulator for DistinctSum {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.collected.update_batch(&[self.summed.widened(values)?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.collected.merge_batch(states)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut sum = self.summed.accumulator();
        for state in self.collected.state()? {
            if let ScalarValue::List(values) = state {
                sum.update_batch(&[values.values().clone()])?;
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

/// The sums of many groups.
struct GroupSums<T: Total> {
    sums: Vec<T::Native>,
    seen: Vec<bool>,
    summed: Summed,
}

impl<T: Total> GroupSums<T> {
    fn new(summed: Summed) -> Self {
        Self { sums: Vec::new(), seen: Vec::new(), summed }
    }

    fn column(&mut self, emit_to: EmitTo) -> ArrayRef {
        let (sums, seen) = (emit_to.take_needed(&mut self.sums), emit_to.take_needed(&mut self.seen));
        self.summed.column::<T>(sums.into_iter().zip(seen).map(|(sum, seen)| seen.then_some(sum)))
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
        self.sums.resize(total_num_groups, T::Native::ZERO);
        self.seen.resize(total_num_groups, false);
        let (sums, seen, summed) = (&mut self.sums, &mut self.seen, self.summed);
        each::<T>(&summed.widened(values)?, |row, value| {
            if filter.is_some_and(|filter| filter.is_null(row) || !filter.value(row)) {
                return Ok(());
            }
            let group = group_indices.get(row).copied().unwrap_or(usize::MAX);
            if let (Some(sum), Some(seen)) = (sums.get_mut(group), seen.get_mut(group)) {
                *sum = plus::<T>(*sum, value, summed)?;
                *seen = true;
            }
            Ok(())
        })
    }

    fn merge_batch(&mut self, values: &[ArrayRef], group_indices: &[usize], total_num_groups: usize) -> Result<()> {
        self.update_batch(values, group_indices, None, total_num_groups)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let sums = self.column(emit_to);
        self.summed.finished(&sums)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.column(emit_to)])
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let values = self.summed.widened(values)?;
        Ok(vec![match filter {
            None => values,
            Some(filter) => nullif(&values, &not(&prep_null_mask_filter(filter))?)?,
        }])
    }

    fn size(&self) -> usize {
        self.sums.capacity() * size_of::<T::Native>() + self.seen.capacity()
    }
}
