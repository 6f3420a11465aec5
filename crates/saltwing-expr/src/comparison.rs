//! Comparisons.
//!
//! A column meets a constant of any type of its family by the constant's
//! [`Place`](crate::placement::Place) in the column's order, and a column of the same kind value by
//! value. Other pairs (a decimal and a float, decimals of two scales) are compared as [`Value`]s.

use std::cmp::Ordering;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::*;
use saltwing_types::{CompareOp, SqlType, Value, eval};

use crate::batch::{Batch, Columnwise, RowByRow};
use crate::bits::{pack_bytes, pack_pairs};
use crate::operand::{float_values, integer_values};
use crate::placement::{self, float_key};
use crate::step::{Compute, Step, Truth, Vector, null_mask};
use crate::value_at;

#[derive(Debug)]
pub(crate) struct Comparison {
    pub(crate) op: CompareOp,
    pub(crate) a: Step,
    pub(crate) b: Step,
    /// Whether blanks pad the shorter text.
    pub(crate) padded: bool,
}

impl Compute for Comparison {
    fn compute(&self, batch: &Batch) -> Columnwise<Vector> {
        Ok(self.truth(batch)?.into())
    }
}

impl Comparison {
    pub(crate) fn truth(&self, batch: &Batch) -> Columnwise<Truth> {
        let (a, b) = (self.a.compute(batch)?, self.b.compute(batch)?);
        match (&a, &b) {
            (Vector::Constant(a), Vector::Constant(b)) => {
                let ty = if self.padded { SqlType::Char(0) } else { SqlType::Null };
                Ok(Truth::Constant(eval::compare(self.op, a, b, ty)))
            }
            (Vector::Array(a), Vector::Constant(b)) => self.with_constant(self.op, a, &self.a, b),
            (Vector::Constant(a), Vector::Array(b)) => self.with_constant(self.op.swapped(), b, &self.b, a),
            (Vector::Array(a), Vector::Array(b)) => self.of_columns(a, b),
        }
    }

    fn with_constant(&self, op: CompareOp, array: &ArrayRef, step: &Step, constant: &Value) -> Columnwise<Truth> {
        let nulls = array.nulls();
        if constant.is_null() {
            return Ok(match op {
                CompareOp::NotDistinct => known(null_mask(nulls, array.len())),
                CompareOp::Distinct => known(!&null_mask(nulls, array.len())),
                _ => Truth::Constant(None),
            });
        }
        let mask = match constant_mask(op, array, constant, self.padded) {
            Some(mask) => mask,
            None => {
                let compare = |row| {
                    let value = value_at(array, row, step.ty).map_err(|_| RowByRow)?;
                    Ok(compare_values(&value, constant, self.padded))
                };
                mask_of(op, array.len(), compare)?
            }
        };
        Ok(match (op, nulls) {
            // NULL differs from every constant.
            (CompareOp::NotDistinct, Some(valid)) => known(&mask & valid.inner()),
            (CompareOp::Distinct, Some(valid)) => known(&mask | &!valid.inner()),
            _ => Truth::Array(BooleanArray::new(mask, nulls.cloned())),
        })
    }

    fn of_columns(&self, a: &ArrayRef, b: &ArrayRef) -> Columnwise<Truth> {
        let mask = match pair_mask(self.op, a, b, self.padded) {
            Some(mask) => mask,
            None => mask_of(self.op, a.len(), |row| {
                let left = value_at(a, row, self.a.ty).map_err(|_| RowByRow)?;
                let right = value_at(b, row, self.b.ty).map_err(|_| RowByRow)?;
                Ok(compare_values(&left, &right, self.padded))
            })?,
        };
        let nulls = NullBuffer::union(a.nulls(), b.nulls());
        let (a_null, b_null) = (null_mask(a.nulls(), a.len()), null_mask(b.nulls(), b.len()));
        Ok(match (self.op, &nulls) {
            (CompareOp::NotDistinct, Some(valid)) => known(&(&mask & valid.inner()) | &(&a_null & &b_null)),
            (CompareOp::Distinct, Some(valid)) => known(&(&mask & valid.inner()) | &(&a_null ^ &b_null)),
            _ => Truth::Array(BooleanArray::new(mask, nulls)),
        })
    }
}

fn known(mask: BooleanBuffer) -> Truth {
    Truth::Array(BooleanArray::new(mask, None))
}

fn compare_values(a: &Value, b: &Value, padded: bool) -> Option<Ordering> {
    a.compare_as(b, if padded { SqlType::Char(0) } else { SqlType::Null })
}

/// Compares row by row; rows without an ordering (a NULL) get any answer.
fn mask_of(
    op: CompareOp,
    rows: usize,
    compare: impl Fn(usize) -> Columnwise<Option<Ordering>>,
) -> Columnwise<BooleanBuffer> {
    let answers = (0..rows).map(|row| Ok(compare(row)?.is_some_and(|ordering| op.holds(ordering))));
    Ok(answers.collect::<Columnwise<Vec<bool>>>()?.into())
}

/// Compares a column with a constant; `None` for kinds that are compared as values.
fn constant_mask(op: CompareOp, array: &ArrayRef, constant: &Value, padded: bool) -> Option<BooleanBuffer> {
    let integer = || placement::among_integers(constant);
    Some(match array.data_type() {
        DataType::Int8 => integer()?.narrow().test(op, array.as_primitive_opt::<Int8Type>()?.values(), |v: i8| v),
        DataType::Int16 => integer()?.narrow().test(op, array.as_primitive_opt::<Int16Type>()?.values(), |v: i16| v),
        DataType::Int32 => integer()?.narrow().test(op, array.as_primitive_opt::<Int32Type>()?.values(), |v: i32| v),
        DataType::Int64 => integer()?.test(op, array.as_primitive_opt::<Int64Type>()?.values(), |v| v),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            let values = array.as_primitive_opt::<TimestampMillisecondType>()?.values();
            placement::among_milliseconds(constant)?.test(op, values, |v| v)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            let values = array.as_primitive_opt::<TimestampNanosecondType>()?.values();
            placement::among_nanoseconds(constant)?.test(op, values, |v| v)
        }
        DataType::Decimal128(_, scale) => {
            let values = array.as_primitive_opt::<Decimal128Type>()?.values();
            placement::among_decimals(constant, *scale)?.test(op, values, |v| v)
        }
        DataType::Decimal256(_, _) => {
            let values = array.as_primitive_opt::<Decimal256Type>()?.values();
            placement::among_bare_decimals(constant)?.test(op, values, |v| v)
        }
        DataType::Float32 => {
            let values = array.as_primitive_opt::<Float32Type>()?.values();
            placement::among_floats(constant)?.test(op, values, |v| float_key(v.into()))
        }
        DataType::Float64 => {
            let values = array.as_primitive_opt::<Float64Type>()?.values();
            placement::among_floats(constant)?.test(op, values, float_key)
        }
        DataType::Utf8 => {
            let Value::Text(text) = constant else { return None };
            let array = array.as_string_opt::<i32>()?;
            match padded {
                true => pack_bytes(array, |v| op.holds(compare_padded(v.as_bytes(), text.as_bytes()))),
                false => bytes_mask(op, |test| pack_bytes(array, |v| test(v.as_bytes(), text.as_bytes()))),
            }
        }
        DataType::Binary => {
            let Value::Bytes(bytes) = constant else { return None };
            let array = array.as_binary_opt::<i32>()?;
            bytes_mask(op, |test| pack_bytes(array, |v| test(v, bytes)))
        }
        DataType::Boolean => {
            let Value::Bool(constant) = constant else { return None };
            let values = array.as_boolean_opt()?.values();
            match (op.holds(false.cmp(constant)), op.holds(true.cmp(constant))) {
                (false, true) => values.clone(),
                (true, false) => !values,
                (true, true) => BooleanBuffer::new_set(array.len()),
                (false, false) => BooleanBuffer::new_unset(array.len()),
            }
        }
        _ => return None,
    })
}

/// Calls `pack` with the comparison of bytes for `op`: equality compares lengths first.
fn bytes_mask(op: CompareOp, pack: impl Fn(fn(&[u8], &[u8]) -> bool) -> BooleanBuffer) -> BooleanBuffer {
    match op {
        CompareOp::Eq | CompareOp::NotDistinct => pack(|a, b| a == b),
        CompareOp::NotEq | CompareOp::Distinct => pack(|a, b| a != b),
        CompareOp::Lt => pack(|a, b| a < b),
        CompareOp::LtEq => pack(|a, b| a <= b),
        CompareOp::Gt => pack(|a, b| a > b),
        CompareOp::GtEq => pack(|a, b| a >= b),
    }
}

/// Compares two columns; `None` for kinds that are compared as values.
fn pair_mask(op: CompareOp, a: &ArrayRef, b: &ArrayRef, padded: bool) -> Option<BooleanBuffer> {
    if let (Some(a), Some(b)) = (integer_values(a), integer_values(b)) {
        return Some(ordered_pairs(op, &a, &b, |v| v, |v| v));
    }
    if let (Some(a), Some(b)) = (float_values(a), float_values(b)) {
        return Some(ordered_pairs(op, &a, &b, float_key, float_key));
    }
    const MS: DataType = DataType::Timestamp(TimeUnit::Millisecond, None);
    const NS: DataType = DataType::Timestamp(TimeUnit::Nanosecond, None);
    let nanos_of_ms = |ms: i64| i128::from(ms) * 1_000_000;
    Some(match (a.data_type(), b.data_type()) {
        (x, y) if *x == MS && *y == MS => {
            let (a, b) = (milliseconds(a)?, milliseconds(b)?);
            ordered_pairs(op, a, b, |v| v, |v| v)
        }
        (x, y) if *x == NS && *y == NS => ordered_pairs(op, nanoseconds(a)?, nanoseconds(b)?, |v| v, |v| v),
        (x, y) if *x == MS && *y == NS => ordered_pairs(op, milliseconds(a)?, nanoseconds(b)?, nanos_of_ms, i128::from),
        (x, y) if *x == NS && *y == MS => ordered_pairs(op, nanoseconds(a)?, milliseconds(b)?, i128::from, nanos_of_ms),
        (DataType::Decimal128(_, s), DataType::Decimal128(_, t)) if s == t => {
            let (a, b) = (a.as_primitive_opt::<Decimal128Type>()?, b.as_primitive_opt::<Decimal128Type>()?);
            ordered_pairs(op, a.values(), b.values(), |v| v, |v| v)
        }
        (DataType::Decimal256(_, _), DataType::Decimal256(_, _)) => {
            let (a, b) = (a.as_primitive_opt::<Decimal256Type>()?, b.as_primitive_opt::<Decimal256Type>()?);
            ordered_pairs(op, a.values(), b.values(), |v| v, |v| v)
        }
        (DataType::Utf8, DataType::Utf8) => {
            let (a, b) = (a.as_string_opt::<i32>()?, b.as_string_opt::<i32>()?);
            let compare = |row| {
                let (a, b): (&str, &str) = (a.value(row), b.value(row));
                if padded { compare_padded(a.as_bytes(), b.as_bytes()) } else { a.cmp(b) }
            };
            BooleanBuffer::collect_bool(a.len(), |row| op.holds(compare(row)))
        }
        (DataType::Binary, DataType::Binary) => {
            let (a, b) = (a.as_binary_opt::<i32>()?, b.as_binary_opt::<i32>()?);
            BooleanBuffer::collect_bool(a.len(), |row| op.holds(a.value(row).cmp(b.value(row))))
        }
        (DataType::Boolean, DataType::Boolean) => {
            let (a, b) = (a.as_boolean_opt()?, b.as_boolean_opt()?);
            BooleanBuffer::collect_bool(a.len(), |row| op.holds(a.value(row).cmp(&b.value(row))))
        }
        _ => return None,
    })
}

fn milliseconds(array: &ArrayRef) -> Option<&[i64]> {
    array.as_primitive_opt::<TimestampMillisecondType>().map(|a| &a.values()[..])
}

fn nanoseconds(array: &ArrayRef) -> Option<&[i64]> {
    array.as_primitive_opt::<TimestampNanosecondType>().map(|a| &a.values()[..])
}

fn ordered_pairs<A: Copy, B: Copy, K: Ord>(
    op: CompareOp,
    a: &[A],
    b: &[B],
    key_a: impl Fn(A) -> K,
    key_b: impl Fn(B) -> K,
) -> BooleanBuffer {
    match op {
        CompareOp::Eq | CompareOp::NotDistinct => pack_pairs(a, b, |a, b| key_a(a) == key_b(b)),
        CompareOp::NotEq | CompareOp::Distinct => pack_pairs(a, b, |a, b| key_a(a) != key_b(b)),
        CompareOp::Lt => pack_pairs(a, b, |a, b| key_a(a) < key_b(b)),
        CompareOp::LtEq => pack_pairs(a, b, |a, b| key_a(a) <= key_b(b)),
        CompareOp::Gt => pack_pairs(a, b, |a, b| key_a(a) > key_b(b)),
        CompareOp::GtEq => pack_pairs(a, b, |a, b| key_a(a) >= key_b(b)),
    }
}

/// Compares as if the shorter one went on with blanks.
fn compare_padded(a: &[u8], b: &[u8]) -> Ordering {
    let common = a.len().min(b.len());
    let (a_head, a_tail) = a.split_at(common);
    let (b_head, b_tail) = b.split_at(common);
    // At most one of the tails has bytes; the first that is no blank decides.
    let rest = |tail: &[u8]| tail.iter().map(|byte| byte.cmp(&b' ')).find(|o| o.is_ne()).unwrap_or(Ordering::Equal);
    a_head.cmp(b_head).then_with(|| rest(a_tail)).then_with(|| rest(b_tail).reverse())
}
