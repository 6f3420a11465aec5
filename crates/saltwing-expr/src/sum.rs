//! SUM and AVG, as every path computes them.
//!
//! Integers are summed in 128 bits, decimals in 256 bits at the scale of their column, floats as DOUBLE, intervals part by
//! part in 128 bits. The final sum is checked against its type: it is an error exactly if it does not fit, in any order of the rows. A sum of finite floats that
//! overflows is an error too; a sum with an infinity among its values is not.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, Decimal128Array, Decimal256Array, FixedSizeBinaryBuilder,
    Float64Array, Int64Array,
};
use arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, IntervalMonthDayNano,
    IntervalMonthDayNanoType, IntervalUnit, UInt64Type, i256,
};
use saltwing_types::{Decimal, Interval, SqlType, Value, ValueError};

use crate::known_values::{each_slice, each_value};
use crate::{ColumnBuilder, arrow_type};

/// How a column is summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SumKind {
    /// In 128 bits ([`i128`]): no number of rows goes beyond them.
    Integers,
    /// The same; a sum beyond BIGINT wraps.
    WrappingIntegers,
    /// In 256 bits ([`i256`]), at this scale.
    Decimals(i8),
    /// As DOUBLE ([`FloatTotal`]).
    Floats,
    /// Part by part ([`IntervalTotal`]).
    Intervals,
}

impl SumKind {
    /// How a column of this type is summed; `None` if there is no sum of it.
    pub fn of(ty: &DataType) -> Option<Self> {
        use DataType::*;
        match ty {
            Int8 | Int16 | Int32 | Int64 | UInt64 => Some(Self::Integers),
            Decimal32(_, scale) | Decimal64(_, scale) | Decimal128(_, scale) | Decimal256(_, scale) => {
                Some(Self::Decimals(*scale))
            }
            Float32 | Float64 => Some(Self::Floats),
            Interval(IntervalUnit::MonthDayNano) => Some(Self::Intervals),
            _ => None,
        }
    }

    /// The same, but that integers wrap.
    pub fn wrapping(self) -> Self {
        if self == Self::Integers { Self::WrappingIntegers } else { self }
    }

    /// The type of SUM.
    pub fn sql_type(self) -> SqlType {
        match self {
            Self::Integers | Self::WrappingIntegers => SqlType::BigInt,
            Self::Decimals(_) => SqlType::Decimal(None),
            Self::Floats => SqlType::Double,
            Self::Intervals => SqlType::Interval,
        }
    }

    /// The Arrow type of columns of partial sums.
    pub fn partial_type(self) -> DataType {
        match self {
            Self::Integers | Self::WrappingIntegers => DataType::Decimal128(DECIMAL128_MAX_PRECISION, 0),
            Self::Decimals(scale) => DataType::Decimal256(DECIMAL256_MAX_PRECISION, scale),
            Self::Floats => DataType::Float64,
            Self::Intervals => DataType::FixedSizeBinary(INTERVAL_SUM_BYTES),
        }
    }
}

/// A sum in the making, wide enough for what is added.
pub trait SumTotal: Copy + Default + Debug + Send + Sync + 'static {
    /// Adds the known values of some rows: how many there are.
    ///
    /// # Errors
    /// [`ValueError::OutOfRange`] beyond 256 bits; [`ValueError::TypeMismatch`] if it is not how the column is summed.
    fn add_run(&mut self, values: &dyn Array, rows: Range<usize>) -> Result<u64, ValueError>;

    /// Calls `each` with the known values of a column, as sums of one, each with its row's group.
    ///
    /// # Errors
    /// As [`SumTotal::add_run`].
    fn each<G: Copy>(values: &dyn Array, groups: &[G], each: impl FnMut(G, Self)) -> Result<(), ValueError>;

    /// A sum of integers in this form; `None` if it is not how integers are summed.
    fn of_integers(sum: i128) -> Option<Self> {
        let _ = sum;
        None
    }

    /// Both together; `None` beyond 256 bits.
    fn plus(self, other: Self) -> Option<Self>;

    /// The inverse of the addition: exact, except for floats.
    fn negated(self) -> Self;

    /// A column of SUM; `None` is the sum of no values.
    ///
    /// # Errors
    /// [`ValueError::OutOfRange`] of a sum that its type does not hold.
    fn sums(sums: impl Iterator<Item = Option<Self>>, kind: SumKind) -> Result<ArrayRef, ValueError>;

    /// A column of AVG, of sums and how many values they are of.
    ///
    /// # Errors
    /// As [`SumTotal::sums`].
    fn averages(sums: impl Iterator<Item = (Self, u64)>, kind: SumKind) -> Result<ArrayRef, ValueError>;

    /// A column of partial sums, which can be added up as values are.
    ///
    /// # Errors
    /// As [`SumTotal::sums`].
    fn partial_sums(sums: impl Iterator<Item = Option<Self>>, kind: SumKind) -> Result<ArrayRef, ValueError>;
}

/// The error of a sum beyond what is computed with.
pub fn beyond_sums(kind: SumKind) -> ValueError {
    ValueError::OutOfRange { value: "a sum".into(), target: kind.sql_type().to_string() }
}

fn too_large(sum: impl std::fmt::Display, ty: SqlType) -> ValueError {
    ValueError::OutOfRange { value: format!("the sum {sum}"), target: ty.to_string() }
}

fn wrong_array(array: &dyn Array) -> ValueError {
    ValueError::TypeMismatch(format!("no sum of an array of {} in this way", array.data_type()))
}

/// SUM of a total of integers.
///
/// # Errors
/// [`ValueError::OutOfRange`] beyond BIGINT.
pub fn sum_of_integers(total: i128) -> Result<i64, ValueError> {
    i64::try_from(total).map_err(|_| too_large(total, SqlType::BigInt))
}

/// The lowest 64 bits of a total of integers.
pub fn wrapped(total: i128) -> i64 {
    total as i64
}

/// AVG of `count` integers, one at least.
pub fn average_of_integers(total: i128, count: u64) -> f64 {
    total as f64 / count as f64
}

/// Rows that are added before a sum in 64 bits may wrap.
const CHUNK_ROWS: usize = 1 << 16;

/// The sum of a slice, in a loop that the compiler makes vectors of: halves of the numbers are added apart.
fn narrow_sum<N: Copy + Into<i64>>(values: &[N]) -> i128 {
    let chunk = |chunk: &[N]| {
        let (mut high, mut low) = (0i64, 0i64);
        for value in chunk {
            let value: i64 = (*value).into();
            high += value >> 32;
            low += value & 0xffff_ffff;
        }
        (i128::from(high) << 32) + i128::from(low)
    };
    values.chunks(CHUNK_ROWS).map(chunk).sum()
}

fn wide_sum<N: Copy + Into<i128>>(values: &[N]) -> i128 {
    values.iter().map(|value| (*value).into()).sum()
}

impl SumTotal for i128 {
    fn of_integers(sum: i128) -> Option<Self> {
        Some(sum)
    }

    fn add_run(&mut self, values: &dyn Array, rows: Range<usize>) -> Result<u64, ValueError> {
        fn run<T: ArrowPrimitiveType>(
            total: &mut i128,
            values: &dyn Array,
            rows: Range<usize>,
            sum: impl Fn(&[T::Native]) -> i128,
        ) -> u64 {
            let mut count = 0;
            each_slice(values.as_primitive::<T>(), rows, |slice| {
                *total += sum(slice);
                count += slice.len() as u64;
            });
            count
        }
        Ok(match values.data_type() {
            DataType::Int8 => run::<Int8Type>(self, values, rows, narrow_sum),
            DataType::Int16 => run::<Int16Type>(self, values, rows, narrow_sum),
            DataType::Int32 => run::<Int32Type>(self, values, rows, narrow_sum),
            DataType::Int64 => run::<Int64Type>(self, values, rows, narrow_sum),
            DataType::UInt64 => run::<UInt64Type>(self, values, rows, wide_sum),
            DataType::Decimal128(..) => run::<Decimal128Type>(self, values, rows, wide_sum),
            _ => return Err(wrong_array(values)),
        })
    }

    fn each<G: Copy>(values: &dyn Array, groups: &[G], mut each: impl FnMut(G, Self)) -> Result<(), ValueError> {
        match values.data_type() {
            DataType::Int8 => each_value(values.as_primitive::<Int8Type>(), groups, |g, v| each(g, v.into())),
            DataType::Int16 => each_value(values.as_primitive::<Int16Type>(), groups, |g, v| each(g, v.into())),
            DataType::Int32 => each_value(values.as_primitive::<Int32Type>(), groups, |g, v| each(g, v.into())),
            DataType::Int64 => each_value(values.as_primitive::<Int64Type>(), groups, |g, v| each(g, v.into())),
            DataType::UInt64 => each_value(values.as_primitive::<UInt64Type>(), groups, |g, v| each(g, v.into())),
            DataType::Decimal128(..) => each_value(values.as_primitive::<Decimal128Type>(), groups, each),
            _ => return Err(wrong_array(values)),
        }
        Ok(())
    }

    fn plus(self, other: Self) -> Option<Self> {
        Some(self + other)
    }

    fn negated(self) -> Self {
        -self
    }

    fn sums(sums: impl Iterator<Item = Option<Self>>, kind: SumKind) -> Result<ArrayRef, ValueError> {
        let wraps = kind == SumKind::WrappingIntegers;
        let narrow = |sum: Option<Self>| {
            sum.map(|total| if wraps { Ok(wrapped(total)) } else { sum_of_integers(total) }).transpose()
        };
        Ok(Arc::new(sums.map(narrow).collect::<Result<Int64Array, _>>()?))
    }

    fn averages(sums: impl Iterator<Item = (Self, u64)>, _: SumKind) -> Result<ArrayRef, ValueError> {
        let average = |(total, count)| (count > 0).then(|| average_of_integers(total, count));
        Ok(Arc::new(sums.map(average).collect::<Float64Array>()))
    }

    fn partial_sums(sums: impl Iterator<Item = Option<Self>>, kind: SumKind) -> Result<ArrayRef, ValueError> {
        Ok(Arc::new(sums.collect::<Decimal128Array>().with_data_type(kind.partial_type())))
    }
}

/// A sum of floats, and whether one of them is an infinity or NaN.
#[derive(Clone, Copy, Debug, Default)]
pub struct FloatTotal {
    sum: f64,
    is_unbounded: bool,
}

/// Sums that go on side by side, so that an addition need not wait for the one before.
const LANES: usize = 8;

fn float_sum<N: Copy + Into<f64>>(values: &[N]) -> f64 {
    let mut lanes = [0.0f64; LANES];
    let mut chunks = values.chunks_exact(LANES);
    for chunk in &mut chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += (*value).into();
        }
    }
    let rest: f64 = chunks.remainder().iter().map(|value| (*value).into()).sum();
    lanes.iter().sum::<f64>() + rest
}

impl FloatTotal {
    fn of(value: impl Into<f64>) -> Self {
        let sum = value.into();
        Self { sum, is_unbounded: !sum.is_finite() }
    }

    fn add_slices<T: ArrowPrimitiveType<Native: Into<f64>>>(&mut self, values: &dyn Array, rows: Range<usize>) -> u64 {
        let mut count = 0;
        each_slice(values.as_primitive::<T>(), rows, |slice| {
            let added = float_sum(slice);
            self.sum += added;
            self.is_unbounded |= !added.is_finite() && slice.iter().any(|value| !(*value).into().is_finite());
            count += slice.len() as u64;
        });
        count
    }

    fn checked(self) -> Result<f64, ValueError> {
        match self.sum.is_finite() || self.is_unbounded {
            true => Ok(self.sum),
            false => Err(too_large("of floats", SqlType::Double)),
        }
    }
}

impl SumTotal for FloatTotal {
    fn add_run(&mut self, values: &dyn Array, rows: Range<usize>) -> Result<u64, ValueError> {
        match values.data_type() {
            DataType::Float32 => Ok(self.add_slices::<Float32Type>(values, rows)),
            DataType::Float64 => Ok(self.add_slices::<Float64Type>(values, rows)),
            _ => Err(wrong_array(values)),
        }
    }

    fn each<G: Copy>(values: &dyn Array, groups: &[G], mut each: impl FnMut(G, Self)) -> Result<(), ValueError> {
        match values.data_type() {
            DataType::Float32 => each_value(values.as_primitive::<Float32Type>(), groups, |g, v| each(g, Self::of(v))),
            DataType::Float64 => each_value(values.as_primitive::<Float64Type>(), groups, |g, v| each(g, Self::of(v))),
            _ => return Err(wrong_array(values)),
        }
        Ok(())
    }

    fn plus(self, other: Self) -> Option<Self> {
        Some(Self { sum: self.sum + other.sum, is_unbounded: self.is_unbounded | other.is_unbounded })
    }

    fn negated(self) -> Self {
        Self { sum: -self.sum, ..self }
    }

    fn sums(sums: impl Iterator<Item = Option<Self>>, _: SumKind) -> Result<ArrayRef, ValueError> {
        let checked = |sum: Option<Self>| sum.map(Self::checked).transpose();
        Ok(Arc::new(sums.map(checked).collect::<Result<Float64Array, _>>()?))
    }

    fn averages(sums: impl Iterator<Item = (Self, u64)>, _: SumKind) -> Result<ArrayRef, ValueError> {
        let average = |(total, count): (Self, u64)| match count {
            0 => Ok(None),
            count => Ok(Some(total.checked()? / count as f64)),
        };
        Ok(Arc::new(sums.map(average).collect::<Result<Float64Array, ValueError>>()?))
    }

    fn partial_sums(sums: impl Iterator<Item = Option<Self>>, kind: SumKind) -> Result<ArrayRef, ValueError> {
        Self::sums(sums, kind)
    }
}

/// The sums of the months, the days and the nanoseconds of intervals.
#[derive(Clone, Copy, Debug, Default)]
pub struct IntervalTotal([i128; 3]);

/// A partial sum of intervals: the three parts.
const INTERVAL_SUM_BYTES: i32 = 3 * size_of::<i128>() as i32;

impl IntervalTotal {
    fn add(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(part, other)| *part += other);
    }

    fn to_bytes(self) -> Vec<u8> {
        self.0.iter().flat_map(|part| part.to_le_bytes()).collect()
    }

    /// A partial sum.
    fn from_bytes(bytes: &[u8]) -> Self {
        let (parts, _) = bytes.as_chunks();
        let part = |index: usize| parts.get(index).copied().map_or(0, i128::from_le_bytes);
        Self([part(0), part(1), part(2)])
    }
}

impl From<IntervalMonthDayNano> for IntervalTotal {
    fn from(interval: IntervalMonthDayNano) -> Self {
        Self([interval.months.into(), interval.days.into(), interval.nanoseconds.into()])
    }
}

impl SumTotal for IntervalTotal {
    fn add_run(&mut self, values: &dyn Array, rows: Range<usize>) -> Result<u64, ValueError> {
        let (values, mut count) = (values.slice(rows.start, rows.len()), 0);
        Self::each(&values, &vec![(); rows.len()], |(), value| {
            self.add(value);
            count += 1;
        })?;
        Ok(count)
    }

    fn each<G: Copy>(values: &dyn Array, groups: &[G], mut each: impl FnMut(G, Self)) -> Result<(), ValueError> {
        match values.data_type() {
            DataType::Interval(IntervalUnit::MonthDayNano) => {
                each_value(values.as_primitive::<IntervalMonthDayNanoType>(), groups, |g, v| each(g, v.into()));
            }
            DataType::FixedSizeBinary(INTERVAL_SUM_BYTES) => {
                let sums = values.as_fixed_size_binary().iter();
                let known = groups.iter().zip(sums).filter_map(|(group, sum)| Some((*group, sum?)));
                known.for_each(|(group, sum)| each(group, Self::from_bytes(sum)));
            }
            _ => return Err(wrong_array(values)),
        }
        Ok(())
    }

    /// No number of intervals goes beyond 128 bits.
    fn plus(mut self, other: Self) -> Option<Self> {
        self.add(other);
        Some(self)
    }

    fn negated(self) -> Self {
        Self(self.0.map(|part| -part))
    }

    fn sums(sums: impl Iterator<Item = Option<Self>>, _: SumKind) -> Result<ArrayRef, ValueError> {
        interval_column(sums.map(|sum| sum.map(|Self([months, days, nanos])| Interval::new(months, days, nanos))))
    }

    fn averages(sums: impl Iterator<Item = (Self, u64)>, _: SumKind) -> Result<ArrayRef, ValueError> {
        interval_column(sums.map(|(sum, count)| (count > 0).then(|| Interval::average(sum.0, count))))
    }

    fn partial_sums(sums: impl Iterator<Item = Option<Self>>, _: SumKind) -> Result<ArrayRef, ValueError> {
        let mut column = FixedSizeBinaryBuilder::new(INTERVAL_SUM_BYTES);
        for sum in sums {
            match sum {
                None => column.append_null(),
                Some(sum) => column.append_value(sum.to_bytes()).map_err(|e| ValueError::Internal(e.to_string()))?,
            }
        }
        Ok(Arc::new(column.finish()))
    }
}

fn interval_column(values: impl Iterator<Item = Option<Result<Interval, ValueError>>>) -> Result<ArrayRef, ValueError> {
    let mut column = ColumnBuilder::new(SqlType::Interval, values.size_hint().0);
    for value in values {
        match value {
            None => column.append_null()?,
            Some(interval) => column.append_value(&Value::Interval(interval?))?,
        }
    }
    Ok(column.finish())
}

/// The sum of [`SMALL_ROWS`] decimals of at most this many digits fits into 128 bits.
const SMALL_DIGITS: u8 = 34;
const SMALL_ROWS: usize = 4096;

impl SumTotal for i256 {
    fn add_run(&mut self, values: &dyn Array, rows: Range<usize>) -> Result<u64, ValueError> {
        let (mut total, mut count) = (Some(*self), 0);
        let mut add = |added: i256, values: usize| {
            total = total.and_then(|total| total.checked_add(added));
            count += values as u64;
        };
        match values.data_type() {
            DataType::Decimal128(precision, _) if *precision <= SMALL_DIGITS => {
                each_slice(values.as_primitive::<Decimal128Type>(), rows, |slice| {
                    for chunk in slice.chunks(SMALL_ROWS) {
                        add(i256::from_i128(chunk.iter().sum()), chunk.len());
                    }
                });
            }
            DataType::Decimal256(..) => each_slice(values.as_primitive::<Decimal256Type>(), rows, |slice| {
                slice.iter().for_each(|value| add(*value, 1));
            }),
            _ => {
                let values = values.slice(rows.start, rows.len());
                Self::each(&values, &vec![(); rows.len()], |(), value| add(value, 1))?;
            }
        }
        *self = total.ok_or_else(|| beyond_sums(SumKind::Decimals(0)))?;
        Ok(count)
    }

    fn each<G: Copy>(values: &dyn Array, groups: &[G], mut each: impl FnMut(G, Self)) -> Result<(), ValueError> {
        fn widened<T: ArrowPrimitiveType<Native: Into<i128>>, G: Copy>(
            values: &dyn Array,
            groups: &[G],
            mut each: impl FnMut(G, i256),
        ) {
            each_value(values.as_primitive::<T>(), groups, |g, v| each(g, i256::from_i128(v.into())));
        }
        match values.data_type() {
            DataType::Decimal32(..) => widened::<Decimal32Type, G>(values, groups, each),
            DataType::Decimal64(..) => widened::<Decimal64Type, G>(values, groups, each),
            DataType::Decimal128(..) => widened::<Decimal128Type, G>(values, groups, each),
            DataType::Decimal256(..) => each_value(values.as_primitive::<Decimal256Type>(), groups, &mut each),
            _ => return Err(wrong_array(values)),
        }
        Ok(())
    }

    fn plus(self, other: Self) -> Option<Self> {
        self.checked_add(other)
    }

    fn negated(self) -> Self {
        self.wrapping_neg()
    }

    fn sums(sums: impl Iterator<Item = Option<Self>>, kind: SumKind) -> Result<ArrayRef, ValueError> {
        let (SumKind::Decimals(from), DataType::Decimal256(precision, scale)) = (kind, arrow_type(kind.sql_type()))
        else {
            return Err(beyond_sums(kind));
        };
        let finish = |sum: Option<Self>| match sum {
            None => Ok(None),
            Some(sum) => rescaled(sum, from, precision, scale).map(Some).ok_or_else(|| beyond_sums(kind)),
        };
        let sums = sums.map(finish).collect::<Result<Decimal256Array, _>>()?;
        Ok(Arc::new(sums.with_precision_and_scale(precision, scale).map_err(|_| beyond_sums(kind))?))
    }

    fn averages(sums: impl Iterator<Item = (Self, u64)>, kind: SumKind) -> Result<ArrayRef, ValueError> {
        let SumKind::Decimals(scale) = kind else { return Err(beyond_sums(kind)) };
        let mut builder = ColumnBuilder::new(kind.sql_type(), sums.size_hint().0);
        for (total, count) in sums {
            let (low, high) = total.to_parts();
            let average = match count {
                0 => Value::Null,
                _ => Value::Decimal(Decimal::average((high, low), scale.into(), count)?),
            };
            builder.append_value(&average)?;
        }
        Ok(builder.finish())
    }

    fn partial_sums(sums: impl Iterator<Item = Option<Self>>, kind: SumKind) -> Result<ArrayRef, ValueError> {
        Ok(Arc::new(sums.collect::<Decimal256Array>().with_data_type(kind.partial_type())))
    }
}

/// A sum at the result's scale; `None` if it does not hold it.
fn rescaled(sum: i256, from: i8, precision: u8, scale: i8) -> Option<i256> {
    let ten = i256::from_i128(10);
    let factor = |digits: u32| ten.checked_pow(digits);
    let up = i32::from(scale) - i32::from(from);
    let value = match up >= 0 {
        true => sum.checked_mul(factor(up.unsigned_abs())?)?,
        false => sum.checked_div(factor(up.unsigned_abs())?)?,
    };
    let limit = factor(precision.into())?;
    (value < limit && value > -limit).then_some(value)
}
