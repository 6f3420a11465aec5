//! SUM and AVG.
//!
//! Integers are summed in 128 bits, decimals in 256, and a sum is held to its type at the end: it is an
//! error exactly when it does not fit, whatever the order of rows. A sum of floats that goes beyond them is
//! an error too, an infinity that was there is not.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, Float64Array, Int64Array};
use arrow::datatypes::{
    DataType, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, i256,
};
use saltwing_expr::{ColumnBuilder, arrow_type};
use saltwing_types::{Decimal, SqlType, Value, ValueError};

use super::accumulator::{Accumulator, each_row, each_slice, wrong_array};

/// What becomes of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// SUM.
    Sum,
    /// AVG.
    Average,
}

/// A sum so far, and of how many values.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum<T> {
    total: T,
    count: u64,
}

/// How numbers of one kind are added.
pub(crate) trait Adding: Send {
    /// Wide enough for what is added.
    type Total: Copy + Default + Send;

    /// Adds some rows to one sum.
    fn add_run(&self, sum: &mut Sum<Self::Total>, values: &dyn Array, rows: Range<usize>) -> Result<(), ValueError>;

    /// Adds each row to its sum.
    fn add_rows(&self, sums: &mut [Sum<Self::Total>], groups: &[u32], values: &dyn Array) -> Result<(), ValueError>;

    /// The column of SUM or AVG.
    fn finish(&self, sums: Vec<Sum<Self::Total>>, wanted: Wanted) -> Result<ArrayRef, ValueError>;
}

/// SUM or AVG by group.
pub(crate) struct Sums<A: Adding> {
    adding: A,
    wanted: Wanted,
    sums: Vec<Sum<A::Total>>,
}

impl<A: Adding> Sums<A> {
    pub(crate) fn new(adding: A, wanted: Wanted) -> Self {
        Self { adding, wanted, sums: Vec::new() }
    }
}

impl<A: Adding> Accumulator for Sums<A> {
    fn resize(&mut self, groups: usize) {
        self.sums.resize_with(groups, || Sum { total: A::Total::default(), count: 0 });
    }

    fn add_run(&mut self, group: usize, values: &dyn Array, rows: Range<usize>) -> Result<(), ValueError> {
        match self.sums.get_mut(group) {
            Some(sum) => self.adding.add_run(sum, values, rows),
            None => Ok(()),
        }
    }

    fn add_rows(&mut self, groups: &[u32], values: &dyn Array) -> Result<(), ValueError> {
        self.adding.add_rows(&mut self.sums, groups, values)
    }

    fn take(&mut self, groups: usize) -> Result<ArrayRef, ValueError> {
        let taken = self.sums.drain(..groups.min(self.sums.len())).collect();
        self.adding.finish(taken, self.wanted)
    }

    fn bytes(&self) -> usize {
        self.sums.capacity() * size_of::<Sum<A::Total>>()
    }
}

/// Integers of any width, in 128 bits: no number of rows goes beyond them.
pub(crate) struct Integers;

/// Rows that are added before a sum in 64 bits may wrap.
const CHUNK_ROWS: usize = 1 << 16;

/// The sum of a slice, in a loop that the compiler makes vectors of: halves of the numbers are added apart.
fn sum_of<N: Copy + Into<i64>>(values: &[N]) -> i128 {
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

impl Integers {
    fn run<T: ArrowPrimitiveType<Native: Into<i64>>>(sum: &mut Sum<i128>, values: &dyn Array, rows: Range<usize>) {
        each_slice(values.as_primitive::<T>(), rows, |slice| {
            sum.total += sum_of(slice);
            sum.count += slice.len() as u64;
        });
    }

    fn rows<T: ArrowPrimitiveType<Native: Into<i64>>>(sums: &mut [Sum<i128>], groups: &[u32], values: &dyn Array) {
        each_row(values.as_primitive::<T>(), groups, |group, value| {
            if let Some(sum) = sums.get_mut(group) {
                sum.total += i128::from(value.into());
                sum.count += 1;
            }
        });
    }
}

impl Adding for Integers {
    type Total = i128;

    fn add_run(&self, sum: &mut Sum<i128>, values: &dyn Array, rows: Range<usize>) -> Result<(), ValueError> {
        match values.data_type() {
            DataType::Int8 => Self::run::<Int8Type>(sum, values, rows),
            DataType::Int16 => Self::run::<Int16Type>(sum, values, rows),
            DataType::Int32 => Self::run::<Int32Type>(sum, values, rows),
            DataType::Int64 => Self::run::<Int64Type>(sum, values, rows),
            _ => return Err(wrong_array(values)),
        }
        Ok(())
    }

    fn add_rows(&self, sums: &mut [Sum<i128>], groups: &[u32], values: &dyn Array) -> Result<(), ValueError> {
        match values.data_type() {
            DataType::Int8 => Self::rows::<Int8Type>(sums, groups, values),
            DataType::Int16 => Self::rows::<Int16Type>(sums, groups, values),
            DataType::Int32 => Self::rows::<Int32Type>(sums, groups, values),
            DataType::Int64 => Self::rows::<Int64Type>(sums, groups, values),
            _ => return Err(wrong_array(values)),
        }
        Ok(())
    }

    fn finish(&self, sums: Vec<Sum<i128>>, wanted: Wanted) -> Result<ArrayRef, ValueError> {
        if wanted == Wanted::Average {
            let average = |sum: Sum<i128>| (sum.count > 0).then(|| average_of_integers(sum.total, sum.count));
            return Ok(Arc::new(sums.into_iter().map(average).collect::<Float64Array>()));
        }
        let narrow = |sum: Sum<i128>| match sum.count {
            0 => Ok(None),
            _ => sum_of_integers(sum.total).map(Some),
        };
        Ok(Arc::new(sums.into_iter().map(narrow).collect::<Result<Int64Array, _>>()?))
    }
}

/// SUM of a total of integers.
pub(crate) fn sum_of_integers(total: i128) -> Result<i64, ValueError> {
    i64::try_from(total).map_err(|_| too_large(total, SqlType::BigInt))
}

/// AVG of `count` integers, one at least.
pub(crate) fn average_of_integers(total: i128, count: u64) -> f64 {
    total as f64 / count as f64
}

fn too_large(sum: impl std::fmt::Display, ty: SqlType) -> ValueError {
    ValueError::OutOfRange { value: format!("the sum {sum}"), target: ty.to_string() }
}

/// FLOAT and DOUBLE, as DOUBLE.
pub(crate) struct Floats;

/// A sum of floats, and whether one of them is an infinity or NaN.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FloatTotal {
    sum: f64,
    unbounded: bool,
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

impl Floats {
    fn run<T: ArrowPrimitiveType<Native: Into<f64>>>(
        sum: &mut Sum<FloatTotal>,
        values: &dyn Array,
        rows: Range<usize>,
    ) {
        each_slice(values.as_primitive::<T>(), rows, |slice| {
            let added = float_sum(slice);
            sum.total.sum += added;
            sum.total.unbounded |= !added.is_finite() && slice.iter().any(|value| !(*value).into().is_finite());
            sum.count += slice.len() as u64;
        });
    }

    fn rows<T: ArrowPrimitiveType<Native: Into<f64>>>(
        sums: &mut [Sum<FloatTotal>],
        groups: &[u32],
        values: &dyn Array,
    ) {
        each_row(values.as_primitive::<T>(), groups, |group, value| {
            if let Some(sum) = sums.get_mut(group) {
                let value: f64 = value.into();
                sum.total.sum += value;
                sum.total.unbounded |= !value.is_finite();
                sum.count += 1;
            }
        });
    }
}

impl Adding for Floats {
    type Total = FloatTotal;

    fn add_run(&self, sum: &mut Sum<FloatTotal>, values: &dyn Array, rows: Range<usize>) -> Result<(), ValueError> {
        match values.data_type() {
            DataType::Float32 => Self::run::<Float32Type>(sum, values, rows),
            DataType::Float64 => Self::run::<Float64Type>(sum, values, rows),
            _ => return Err(wrong_array(values)),
        }
        Ok(())
    }

    fn add_rows(&self, sums: &mut [Sum<FloatTotal>], groups: &[u32], values: &dyn Array) -> Result<(), ValueError> {
        match values.data_type() {
            DataType::Float32 => Self::rows::<Float32Type>(sums, groups, values),
            DataType::Float64 => Self::rows::<Float64Type>(sums, groups, values),
            _ => return Err(wrong_array(values)),
        }
        Ok(())
    }

    fn finish(&self, sums: Vec<Sum<FloatTotal>>, wanted: Wanted) -> Result<ArrayRef, ValueError> {
        let finish = |sum: Sum<FloatTotal>| {
            let total = sum.total.sum;
            match (sum.count, wanted) {
                (0, _) => Ok(None),
                _ if !total.is_finite() && !sum.total.unbounded => Err(too_large("of floats", SqlType::Double)),
                (_, Wanted::Sum) => Ok(Some(total)),
                (count, Wanted::Average) => Ok(Some(total / count as f64)),
            }
        };
        Ok(Arc::new(sums.into_iter().map(finish).collect::<Result<Float64Array, _>>()?))
    }
}

/// DECIMAL(p,s) and bare DECIMAL, in 256 bits at the scale of the column.
pub(crate) struct Decimals {
    pub(crate) scale: i8,
}

/// Digits of which so many rows as [`SMALL_ROWS`] fit into 128 bits together.
const SMALL_DIGITS: u8 = 34;
const SMALL_ROWS: usize = 4096;

fn beyond_sums() -> ValueError {
    ValueError::OutOfRange { value: "a sum".into(), target: SqlType::Decimal(None).to_string() }
}

impl Decimals {
    fn each(values: &dyn Array, groups: &[u32], mut see: impl FnMut(usize, i256)) -> Result<(), ValueError> {
        match values.data_type() {
            DataType::Decimal128(..) => {
                each_row(values.as_primitive::<Decimal128Type>(), groups, |group, v| see(group, i256::from_i128(v)));
            }
            DataType::Decimal256(..) => each_row(values.as_primitive::<Decimal256Type>(), groups, see),
            _ => return Err(wrong_array(values)),
        }
        Ok(())
    }
}

impl Adding for Decimals {
    type Total = i256;

    fn add_run(&self, sum: &mut Sum<i256>, values: &dyn Array, rows: Range<usize>) -> Result<(), ValueError> {
        let mut total = Some(sum.total);
        let mut add = |added: i256, count: usize| {
            total = total.and_then(|total| total.checked_add(added));
            sum.count += count as u64;
        };
        match values.data_type() {
            DataType::Decimal128(precision, _) if *precision <= SMALL_DIGITS => {
                each_slice(values.as_primitive::<Decimal128Type>(), rows, |slice| {
                    for chunk in slice.chunks(SMALL_ROWS) {
                        add(i256::from_i128(chunk.iter().sum()), chunk.len());
                    }
                });
            }
            DataType::Decimal128(..) => each_slice(values.as_primitive::<Decimal128Type>(), rows, |slice| {
                slice.iter().for_each(|value| add(i256::from_i128(*value), 1));
            }),
            DataType::Decimal256(..) => each_slice(values.as_primitive::<Decimal256Type>(), rows, |slice| {
                slice.iter().for_each(|value| add(*value, 1));
            }),
            _ => return Err(wrong_array(values)),
        }
        sum.total = total.ok_or_else(beyond_sums)?;
        Ok(())
    }

    fn add_rows(&self, sums: &mut [Sum<i256>], groups: &[u32], values: &dyn Array) -> Result<(), ValueError> {
        let mut fits = true;
        Self::each(values, groups, |group, value| {
            if let Some(sum) = sums.get_mut(group) {
                match sum.total.checked_add(value) {
                    Some(total) => *sum = Sum { total, count: sum.count + 1 },
                    None => fits = false,
                }
            }
        })?;
        if fits { Ok(()) } else { Err(beyond_sums()) }
    }

    fn finish(&self, sums: Vec<Sum<i256>>, wanted: Wanted) -> Result<ArrayRef, ValueError> {
        let bare = SqlType::Decimal(None);
        if wanted == Wanted::Average {
            let mut builder = ColumnBuilder::new(bare, sums.len());
            for sum in sums {
                let count = i64::try_from(sum.count).unwrap_or(i64::MAX);
                let average = match count {
                    0 => Value::Null,
                    _ => Value::Decimal(decimal(sum.total, self.scale)?.checked_div(Decimal::from(count))?),
                };
                builder.append_value(&average)?;
            }
            return Ok(builder.finish());
        }
        let DataType::Decimal256(precision, scale) = arrow_type(bare) else { return Err(beyond_sums()) };
        let finish = |sum: Sum<i256>| match sum.count {
            0 => Ok(None),
            _ => rescaled(sum.total, self.scale, precision, scale).map(Some),
        };
        let sums = sums.into_iter().map(finish).collect::<Result<arrow::array::Decimal256Array, _>>()?;
        Ok(Arc::new(sums.with_precision_and_scale(precision, scale).map_err(|_| beyond_sums())?))
    }
}

/// A sum at the result's scale.
fn rescaled(sum: i256, from: i8, precision: u8, scale: i8) -> Result<i256, ValueError> {
    let ten = i256::from_i128(10);
    let factor = |digits: i32| u32::try_from(digits).ok().and_then(|digits| ten.checked_pow(digits));
    let value = factor(i32::from(scale) - i32::from(from)).and_then(|factor| sum.checked_mul(factor));
    match (value, factor(precision.into())) {
        (Some(value), Some(limit)) if value < limit && value > -limit => Ok(value),
        _ => Err(beyond_sums()),
    }
}

/// A sum as a decimal: beyond 38 digits the last ones are cut.
fn decimal(sum: i256, scale: i8) -> Result<Decimal, ValueError> {
    let (mut digits, mut scale) = (sum, i32::from(scale));
    loop {
        if let Some(small) = digits.to_i128() {
            return Decimal::new(small, scale);
        }
        digits = digits.wrapping_div(i256::from_i128(10));
        scale -= 1;
    }
}
