//! MIN and MAX.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BinaryArray, BooleanArray, GenericByteArray, PrimitiveArray,
    StringArray,
};
use arrow::datatypes::{
    BinaryType, ByteArrayType, DataType, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, TimeUnit, TimestampMillisecondType, TimestampNanosecondType, Utf8Type,
};
use saltwing_access::PartialValues;
use saltwing_expr::known_values::{each_slice, each_value};
use saltwing_expr::{ColumnBuilder, value_at};
use saltwing_types::{SqlType, Value, ValueError};

use super::accumulator::{Accumulator, unexpected, wrong_array, wrong_partial};

/// Which end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// MIN.
    Min,
    /// MAX.
    Max,
}

/// The accumulator of MIN or MAX over values of `ty`.
pub(crate) fn accumulator(end: End, ty: SqlType, data_type: &DataType) -> Result<Box<dyn Accumulator>, ValueError> {
    fn of<T: ArrowPrimitiveType<Native: Ranked>>(end: End, data_type: &DataType) -> Box<dyn Accumulator> {
        Box::new(Extremes::<T> { end, found: Vec::new(), data_type: data_type.clone() })
    }
    Ok(match data_type {
        DataType::Int8 => of::<Int8Type>(end, data_type),
        DataType::Int16 => of::<Int16Type>(end, data_type),
        DataType::Int32 => of::<Int32Type>(end, data_type),
        DataType::Int64 => of::<Int64Type>(end, data_type),
        DataType::Float32 => of::<Float32Type>(end, data_type),
        DataType::Float64 => of::<Float64Type>(end, data_type),
        DataType::Timestamp(TimeUnit::Millisecond, _) => of::<TimestampMillisecondType>(end, data_type),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => of::<TimestampNanosecondType>(end, data_type),
        DataType::Decimal128(..) => of::<Decimal128Type>(end, data_type),
        DataType::Decimal256(..) => of::<Decimal256Type>(end, data_type),
        DataType::Boolean => Box::new(BooleanExtremes { end, found: Vec::new() }),
        DataType::Utf8 => Box::new(ByteExtremes::new(end, Bytes::of(ty))),
        DataType::Binary => Box::new(ByteExtremes::new(end, Bytes::Binary)),
        DataType::Interval(_) | DataType::List(_) => Box::new(ValueExtremes { end, ty, found: Vec::new(), held: 0 }),
        _ => return Err(unexpected(ty)),
    })
}

/// The ends of some rows of groups, as a store has found them.
fn ends_of(partial: &PartialValues) -> Result<&ArrayRef, ValueError> {
    match partial {
        PartialValues::Ends(ends) => Ok(ends),
        _ => Err(wrong_partial()),
    }
}

/// The order of values: NaN is last.
pub(crate) trait Ranked: Copy + Send {
    fn is_below(self, other: Self) -> bool;
}

macro_rules! ranked {
    ($($ty:ty),*) => { $(
        impl Ranked for $ty {
            fn is_below(self, other: Self) -> bool {
                self < other
            }
        }
    )* };
}
ranked!(i8, i16, i32, i64, i128, arrow::datatypes::i256);

impl Ranked for f32 {
    fn is_below(self, other: Self) -> bool {
        self < other || other.is_nan() && !self.is_nan()
    }
}

impl Ranked for f64 {
    fn is_below(self, other: Self) -> bool {
        self < other || other.is_nan() && !self.is_nan()
    }
}

/// The end of two values.
fn choose<N: Ranked>(end: End, a: N, b: N) -> N {
    let second = match end {
        End::Min => b.is_below(a),
        End::Max => a.is_below(b),
    };
    if second { b } else { a }
}

struct Extremes<T: ArrowPrimitiveType> {
    end: End,
    found: Vec<Option<T::Native>>,
    data_type: DataType,
}

impl<T: ArrowPrimitiveType<Native: Ranked>> Accumulator for Extremes<T> {
    fn resize(&mut self, groups: usize) {
        self.found.resize(groups, None);
    }

    fn add_run(&mut self, group: usize, values: &dyn Array, rows: Range<usize>) -> Result<(), ValueError> {
        let values = values.as_primitive_opt::<T>().ok_or_else(|| wrong_array(values))?;
        let (end, mut found) = (self.end, self.found.get(group).copied().flatten());
        each_slice(values, rows, |slice| {
            if let Some((first, rest)) = slice.split_first() {
                let of_slice = rest.iter().fold(*first, |known, value| choose(end, known, *value));
                found = Some(found.map_or(of_slice, |known| choose(end, known, of_slice)));
            }
        });
        if let Some(place) = self.found.get_mut(group) {
            *place = found;
        }
        Ok(())
    }

    fn add_rows(&mut self, groups: &[u32], values: &dyn Array) -> Result<(), ValueError> {
        let values = values.as_primitive_opt::<T>().ok_or_else(|| wrong_array(values))?;
        each_value(values, groups, |group, value| {
            let group = group as usize;
            if let Some(place) = self.found.get_mut(group) {
                *place = Some(place.map_or(value, |known| choose(self.end, known, value)));
            }
        });
        Ok(())
    }

    fn add_partial(&mut self, groups: &[u32], partial: &PartialValues) -> Result<(), ValueError> {
        self.add_rows(groups, &**ends_of(partial)?)
    }

    fn take(&mut self, groups: usize) -> Result<ArrayRef, ValueError> {
        let taken = self.found.drain(..groups.min(self.found.len()));
        Ok(Arc::new(taken.collect::<PrimitiveArray<T>>().with_data_type(self.data_type.clone())))
    }

    fn bytes(&self) -> usize {
        self.found.capacity() * size_of::<Option<T::Native>>()
    }
}

struct BooleanExtremes {
    end: End,
    found: Vec<Option<bool>>,
}

impl BooleanExtremes {
    fn see(&mut self, group: usize, value: bool) {
        if let Some(place) = self.found.get_mut(group) {
            *place = Some(match (*place, self.end) {
                (None, _) => value,
                (Some(known), End::Min) => known && value,
                (Some(known), End::Max) => known || value,
            });
        }
    }
}

impl Accumulator for BooleanExtremes {
    fn resize(&mut self, groups: usize) {
        self.found.resize(groups, None);
    }

    fn add_run(&mut self, group: usize, values: &dyn Array, rows: Range<usize>) -> Result<(), ValueError> {
        let values = values.as_boolean_opt().ok_or_else(|| wrong_array(values))?;
        let known = rows.filter(|row| values.is_valid(*row));
        known.for_each(|row| self.see(group, values.value(row)));
        Ok(())
    }

    fn add_rows(&mut self, groups: &[u32], values: &dyn Array) -> Result<(), ValueError> {
        let values = values.as_boolean_opt().ok_or_else(|| wrong_array(values))?;
        for (group, value) in groups.iter().zip(values) {
            if let Some(value) = value {
                self.see(*group as usize, value);
            }
        }
        Ok(())
    }

    fn add_partial(&mut self, groups: &[u32], partial: &PartialValues) -> Result<(), ValueError> {
        self.add_rows(groups, &**ends_of(partial)?)
    }

    fn take(&mut self, groups: usize) -> Result<ArrayRef, ValueError> {
        let taken = self.found.drain(..groups.min(self.found.len()));
        Ok(Arc::new(taken.collect::<BooleanArray>()))
    }

    fn bytes(&self) -> usize {
        self.found.capacity() * size_of::<Option<bool>>()
    }
}

/// Of types that are ordered by their values alone: intervals by their length, arrays element by element.
struct ValueExtremes {
    end: End,
    ty: SqlType,
    found: Vec<Option<Value>>,
    /// Bytes of all that is found.
    held: usize,
}

impl ValueExtremes {
    fn see(&mut self, group: usize, value: Value) {
        let wanted = if self.end == End::Min { Ordering::Less } else { Ordering::Greater };
        let Some(place) = self.found.get_mut(group) else { return };
        if !value.is_null() && place.as_ref().is_none_or(|known| value.compare(known) == Some(wanted)) {
            self.held = self.held + value.heap_bytes() - place.as_ref().map_or(0, Value::heap_bytes);
            *place = Some(value);
        }
    }
}

impl Accumulator for ValueExtremes {
    fn resize(&mut self, groups: usize) {
        self.found.resize(groups, None);
    }

    fn add_run(&mut self, group: usize, values: &dyn Array, rows: Range<usize>) -> Result<(), ValueError> {
        for row in rows {
            self.see(group, value_at(values, row, self.ty)?);
        }
        Ok(())
    }

    fn add_rows(&mut self, groups: &[u32], values: &dyn Array) -> Result<(), ValueError> {
        for (row, group) in groups.iter().enumerate() {
            self.see(*group as usize, value_at(values, row, self.ty)?);
        }
        Ok(())
    }

    fn add_partial(&mut self, groups: &[u32], partial: &PartialValues) -> Result<(), ValueError> {
        self.add_rows(groups, &**ends_of(partial)?)
    }

    fn take(&mut self, groups: usize) -> Result<ArrayRef, ValueError> {
        let taken = self.found.drain(..groups.min(self.found.len()));
        let mut column = ColumnBuilder::new(self.ty, taken.len());
        for value in taken {
            let value = value.unwrap_or(Value::Null);
            self.held -= value.heap_bytes();
            column.append_value(&value)?;
        }
        Ok(column.finish())
    }

    fn bytes(&self) -> usize {
        self.found.capacity() * size_of::<Option<Value>>() + self.held
    }
}

/// The comparison of byte values, and their type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bytes {
    /// VARCHAR.
    Text,
    /// CHAR, as if padded with blanks.
    Padded,
    /// BINARY and VARBINARY.
    Binary,
}

impl Bytes {
    fn of(ty: SqlType) -> Self {
        if matches!(ty, SqlType::Char(_)) { Self::Padded } else { Self::Text }
    }

    fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        if self != Self::Padded || a.len() == b.len() {
            return a.cmp(b);
        }
        let width = a.len().max(b.len());
        let padded = |bytes: &'_ [u8]| -> Vec<u8> {
            let blanks = std::iter::repeat_n(b' ', width - bytes.len());
            bytes.iter().copied().chain(blanks).collect()
        };
        padded(a).cmp(&padded(b))
    }
}

struct ByteExtremes {
    end: End,
    kind: Bytes,
    found: Vec<Option<Box<[u8]>>>,
    /// Bytes of all that is found.
    held: usize,
}

impl ByteExtremes {
    fn new(end: End, kind: Bytes) -> Self {
        Self { end, kind, found: Vec::new(), held: 0 }
    }

    fn see(&mut self, group: usize, value: &[u8]) {
        let Some(place) = self.found.get_mut(group) else { return };
        let wanted = match self.end {
            End::Min => Ordering::Less,
            End::Max => Ordering::Greater,
        };
        if place.as_ref().is_none_or(|known| self.kind.compare(value, known) == wanted) {
            self.held = self.held + value.len() - place.as_ref().map_or(0, |known| known.len());
            *place = Some(value.into());
        }
    }

    fn see_run<T: ByteArrayType>(&mut self, group: usize, values: &GenericByteArray<T>, rows: Range<usize>)
    where
        T::Native: AsRef<[u8]>,
    {
        // Compares one row with the extreme so far.
        let wanted = if self.end == End::Min { Ordering::Less } else { Ordering::Greater };
        let mut best: Option<&[u8]> = None;
        for row in rows.filter(|row| values.is_valid(*row)) {
            let value: &[u8] = values.value(row).as_ref();
            if best.is_none_or(|known| self.kind.compare(value, known) == wanted) {
                best = Some(value);
            }
        }
        if let Some(best) = best {
            self.see(group, best);
        }
    }

    fn see_rows<T: ByteArrayType>(&mut self, groups: &[u32], values: &GenericByteArray<T>)
    where
        T::Native: AsRef<[u8]>,
    {
        for (group, value) in groups.iter().zip(values) {
            if let Some(value) = value {
                self.see(*group as usize, value.as_ref());
            }
        }
    }
}

impl Accumulator for ByteExtremes {
    fn resize(&mut self, groups: usize) {
        self.found.resize(groups, None);
    }

    fn add_run(&mut self, group: usize, values: &dyn Array, rows: Range<usize>) -> Result<(), ValueError> {
        match values.data_type() {
            DataType::Utf8 => self.see_run::<Utf8Type>(group, values.as_bytes(), rows),
            DataType::Binary => self.see_run::<BinaryType>(group, values.as_bytes(), rows),
            _ => return Err(wrong_array(values)),
        }
        Ok(())
    }

    fn add_rows(&mut self, groups: &[u32], values: &dyn Array) -> Result<(), ValueError> {
        match values.data_type() {
            DataType::Utf8 => self.see_rows::<Utf8Type>(groups, values.as_bytes()),
            DataType::Binary => self.see_rows::<BinaryType>(groups, values.as_bytes()),
            _ => return Err(wrong_array(values)),
        }
        Ok(())
    }

    fn add_partial(&mut self, groups: &[u32], partial: &PartialValues) -> Result<(), ValueError> {
        self.add_rows(groups, &**ends_of(partial)?)
    }

    fn take(&mut self, groups: usize) -> Result<ArrayRef, ValueError> {
        let taken: Vec<_> = self.found.drain(..groups.min(self.found.len())).collect();
        self.held -= taken.iter().flatten().map(|bytes| bytes.len()).sum::<usize>();
        let taken = taken.into_iter();
        if self.kind == Bytes::Binary {
            return Ok(Arc::new(taken.collect::<BinaryArray>()));
        }
        let text = |bytes: Option<Box<[u8]>>| match bytes.map(|bytes| String::from_utf8(bytes.into_vec())).transpose() {
            Ok(text) => Ok(text),
            Err(_) => Err(ValueError::TypeMismatch("text that is no UTF-8".into())),
        };
        Ok(Arc::new(taken.map(text).collect::<Result<StringArray, _>>()?))
    }

    fn bytes(&self) -> usize {
        self.found.capacity() * size_of::<Option<Box<[u8]>>>() + self.held
    }
}
