//! The two sides of a computation, seen as one plain type.

use std::borrow::Cow;

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::*;
use saltwing_types::{Decimal, Value, number};

use crate::bare_decimal;
use crate::batch::{Columnwise, RowByRow};
use crate::step::Vector;

/// A value in each row; none is NULL if `Operand` has a null mask.
#[derive(Debug)]
pub(crate) enum Operand<'a, T: Clone> {
    Constant(T),
    Values(Cow<'a, [T]>),
}

/// `f` of both operands in each row.
pub(crate) fn zip_map<A: Copy, B: Copy, R>(
    a: &Operand<'_, A>,
    b: &Operand<'_, B>,
    rows: usize,
    mut f: impl FnMut(A, B) -> R,
) -> Vec<R> {
    match (a, b) {
        (Operand::Values(a), Operand::Values(b)) => a.iter().zip(b.iter()).map(|(a, b)| f(*a, *b)).collect(),
        (Operand::Values(a), Operand::Constant(b)) => a.iter().map(|a| f(*a, *b)).collect(),
        (Operand::Constant(a), Operand::Values(b)) => b.iter().map(|b| f(*a, *b)).collect(),
        (Operand::Constant(a), Operand::Constant(b)) => (0..rows).map(|_| f(*a, *b)).collect(),
    }
}

/// The rows where neither is NULL; `None` for all.
pub(crate) fn both_valid(a: &Vector, b: &Vector) -> Option<NullBuffer> {
    NullBuffer::union(valid(a), valid(b))
}

/// The mask of rows that are not NULL; `None` for all rows (constants are handled separately).
pub(crate) fn valid(vector: &Vector) -> Option<&NullBuffer> {
    if let Vector::Array(array) = vector { array.nulls() } else { None }
}

/// An integer column of any width in 64 bits; the value under a NULL is arbitrary.
pub(crate) fn integer_values(array: &ArrayRef) -> Option<Cow<'_, [i64]>> {
    fn widened<T: ArrowPrimitiveType>(array: &ArrayRef) -> Option<Cow<'_, [i64]>>
    where
        i64: From<T::Native>,
    {
        let values = array.as_primitive_opt::<T>()?.values();
        Some(Cow::Owned(values.iter().map(|v| i64::from(*v)).collect()))
    }
    match array.data_type() {
        DataType::Int8 => widened::<Int8Type>(array),
        DataType::Int16 => widened::<Int16Type>(array),
        DataType::Int32 => widened::<Int32Type>(array),
        DataType::Int64 => Some(Cow::Borrowed(array.as_primitive_opt::<Int64Type>()?.values())),
        _ => None,
    }
}

/// A column of floats in 64 bits.
pub(crate) fn float_values(array: &ArrayRef) -> Option<Cow<'_, [f64]>> {
    match array.data_type() {
        DataType::Float32 => {
            let values = array.as_primitive_opt::<Float32Type>()?.values();
            Some(Cow::Owned(values.iter().map(|v| f64::from(*v)).collect()))
        }
        DataType::Float64 => Some(Cow::Borrowed(array.as_primitive_opt::<Float64Type>()?.values())),
        _ => None,
    }
}

pub(crate) fn integers(vector: &Vector) -> Columnwise<Operand<'_, i64>> {
    Ok(match vector {
        Vector::Constant(Value::Int(i)) => Operand::Constant(*i),
        Vector::Constant(_) => return Err(RowByRow),
        Vector::Array(array) => Operand::Values(integer_values(array).ok_or(RowByRow)?),
    })
}

/// Numbers as the nearest doubles.
pub(crate) fn doubles(vector: &Vector) -> Columnwise<Operand<'_, f64>> {
    Ok(match vector {
        Vector::Constant(value) => Operand::Constant(number::to_f64(value)),
        Vector::Array(array) => Operand::Values(match (float_values(array), integer_values(array)) {
            (Some(floats), _) => floats,
            (None, Some(integers)) => Cow::Owned(integers.iter().map(|i| *i as f64).collect()),
            (None, None) => Cow::Owned(decimal_values(array)?.iter().map(|d| d.to_f64()).collect()),
        }),
    })
}

/// Integers and decimals as decimals.
pub(crate) fn decimals(vector: &Vector) -> Columnwise<Operand<'_, Decimal>> {
    Ok(match vector {
        Vector::Constant(value) => Operand::Constant(number::to_decimal(value).map_err(|_| RowByRow)?),
        Vector::Array(array) => Operand::Values(match integer_values(array) {
            Some(integers) => Cow::Owned(integers.iter().map(|i| Decimal::from(*i)).collect()),
            None => Cow::Owned(decimal_values(array)?),
        }),
    })
}

/// A column of decimals; zero for NULL.
fn decimal_values(array: &ArrayRef) -> Columnwise<Vec<Decimal>> {
    let read = |value: Option<Decimal>| value.ok_or(RowByRow);
    match array.data_type() {
        DataType::Decimal128(_, scale) => {
            let array = array.as_primitive_opt::<Decimal128Type>().ok_or(RowByRow)?;
            let decimal = |unscaled: Option<i128>| Decimal::new(unscaled.unwrap_or(0), (*scale).into()).ok();
            array.iter().map(|unscaled| read(decimal(unscaled))).collect()
        }
        DataType::Decimal256(_, scale) => {
            let array = array.as_primitive_opt::<Decimal256Type>().ok_or(RowByRow)?;
            let decimal = |v: Option<i256>| bare_decimal::from_unscaled(v.unwrap_or(i256::ZERO), *scale).ok();
            array.iter().map(|unscaled| read(decimal(unscaled))).collect()
        }
        _ => Err(RowByRow),
    }
}

/// Texts, which are borrowed row by row.
#[derive(Debug)]
pub(crate) enum Texts<'a> {
    Constant(&'a str),
    Column(&'a StringArray),
}

impl<'a> Texts<'a> {
    /// `None` for a vector that is not text.
    pub(crate) fn of(vector: &'a Vector) -> Option<Self> {
        match vector {
            Vector::Constant(Value::Text(text)) => Some(Texts::Constant(text)),
            Vector::Constant(_) => None,
            Vector::Array(array) => array.as_string_opt::<i32>().map(Texts::Column),
        }
    }

    /// The text of a row; the empty one, or any, for NULL.
    pub(crate) fn get(&self, row: usize) -> &'a str {
        match self {
            Texts::Constant(text) => text,
            Texts::Column(array) => array.value(row),
        }
    }
}
