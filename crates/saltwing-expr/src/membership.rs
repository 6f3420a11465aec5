//! IN over lists of constants.

use std::collections::HashSet;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::*;
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::{CompareOp, SqlType, Value, eval};

use crate::arrow_type;
use crate::batch::{Batch, Columnwise, RowByRow};
use crate::bits::{pack, pack_bytes};
use crate::placement::{self, Place, float_key};
use crate::step::{Compute, Step, Truth, Vector};
use crate::value_at::{is_of_kind, value_at};

/// Up to here a list is looked through; a longer one is searched.
const LOOKED_THROUGH_MAX: usize = 8;
/// Widest range of integers that a mask is kept for.
const MASK_BITS_MAX: i128 = 1 << 16;

/// `e IN (constants)`.
#[derive(Debug)]
pub(crate) struct InConstants {
    value: Step,
    members: Members,
    has_null: bool,
    /// The list as it was, for a value that is a constant.
    list: Vec<Value>,
    padded: bool,
}

/// The values of a list that a column of the value's type can hold at all, in the column's own form.
#[derive(Debug)]
enum Members {
    Integers(IntegerSet),
    Floats(IntegerSet),
    Wide(SortedSet<i128>),
    Bare(SortedSet<i256>),
    /// Texts and bytes; padded texts without blanks at their end.
    Bytes(BytesSet),
}

impl InConstants {
    /// `None` for a list that is not compared as one kind of value.
    pub(crate) fn new(value: Step, list: Vec<Value>, padded: bool) -> Option<Self> {
        let present = || list.iter().filter(|item| !item.is_null());
        let members = match arrow_type(value.ty) {
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {
                Members::Integers(IntegerSet::new(places(present(), placement::among_integers)?))
            }
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                Members::Integers(IntegerSet::new(places(present(), placement::among_milliseconds)?))
            }
            DataType::Timestamp(_, _) => {
                Members::Integers(IntegerSet::new(places(present(), placement::among_nanoseconds)?))
            }
            DataType::Float32 | DataType::Float64 => {
                Members::Floats(IntegerSet::new(places(present(), placement::among_floats)?))
            }
            DataType::Decimal128(_, scale) => {
                Members::Wide(SortedSet::new(places(present(), |v| placement::among_decimals(v, scale))?))
            }
            DataType::Decimal256(_, _) => {
                Members::Bare(SortedSet::new(places(present(), placement::among_bare_decimals)?))
            }
            DataType::Utf8 | DataType::Binary => {
                let family = value.ty.family();
                let bytes = present().map(|item| bytes_of(item, family, padded).map(<[u8]>::to_vec));
                Members::Bytes(BytesSet::new(bytes.collect::<Option<_>>()?))
            }
            _ => return None,
        };
        let has_null = list.iter().any(Value::is_null);
        Some(Self { value, members, has_null, list, padded })
    }

    fn constant(&self, value: &Value) -> Truth {
        let ty = if self.padded { SqlType::Char(0) } else { SqlType::Null };
        let mut answer = Some(false);
        for item in &self.list {
            match eval::compare(CompareOp::Eq, value, item, ty) {
                Some(true) => return Truth::Constant(Some(true)),
                Some(false) => {}
                None => answer = None,
            }
        }
        Truth::Constant(answer)
    }

    fn mask(&self, array: &ArrayRef) -> Option<BooleanBuffer> {
        macro_rules! integers {
            ($set:expr, $type:ty) => {
                $set.mask(array.as_primitive_opt::<$type>()?.values(), |v| v.into())
            };
        }
        Some(match (&self.members, array.data_type()) {
            (Members::Integers(set), DataType::Int8) => integers!(set, Int8Type),
            (Members::Integers(set), DataType::Int16) => integers!(set, Int16Type),
            (Members::Integers(set), DataType::Int32) => integers!(set, Int32Type),
            (Members::Integers(set), DataType::Int64) => integers!(set, Int64Type),
            (Members::Integers(set), DataType::Timestamp(TimeUnit::Millisecond, _)) => {
                integers!(set, TimestampMillisecondType)
            }
            (Members::Integers(set), DataType::Timestamp(TimeUnit::Nanosecond, _)) => {
                integers!(set, TimestampNanosecondType)
            }
            (Members::Floats(set), DataType::Float32) => {
                set.mask(array.as_primitive_opt::<Float32Type>()?.values(), |v| float_key(v.into()))
            }
            (Members::Floats(set), DataType::Float64) => {
                set.mask(array.as_primitive_opt::<Float64Type>()?.values(), float_key)
            }
            (Members::Wide(set), DataType::Decimal128(_, _)) => {
                pack(array.as_primitive_opt::<Decimal128Type>()?.values(), |v| set.contains(v))
            }
            (Members::Bare(set), DataType::Decimal256(_, _)) => {
                pack(array.as_primitive_opt::<Decimal256Type>()?.values(), |v| set.contains(v))
            }
            (Members::Bytes(set), DataType::Utf8) if self.padded => {
                pack_bytes(array.as_string_opt::<i32>()?, |v| set.contains(v.trim_end_matches(' ').as_bytes()))
            }
            (Members::Bytes(set), DataType::Utf8) => {
                pack_bytes(array.as_string_opt::<i32>()?, |v| set.contains(v.as_bytes()))
            }
            (Members::Bytes(set), DataType::Binary) => pack_bytes(array.as_binary_opt::<i32>()?, |v| set.contains(v)),
            _ => return None,
        })
    }
}

impl Compute for InConstants {
    fn compute(&self, batch: &Batch) -> Columnwise<Vector> {
        let array = match self.value.compute(batch)? {
            Vector::Constant(value) => return Ok(self.constant(&value).into()),
            Vector::Array(array) => array,
        };
        let found = self.mask(&array).ok_or(RowByRow)?;
        Ok(Vector::of(BooleanArray::new(found.clone(), answered(&found, array.nulls(), self.has_null))))
    }
}

/// The rows with an answer: a NULL never has one, and with a NULL in the list only "found" is one.
fn answered(found: &BooleanBuffer, valid: Option<&NullBuffer>, has_null: bool) -> Option<NullBuffer> {
    match (has_null, valid) {
        (false, valid) => valid.cloned(),
        (true, None) => Some(NullBuffer::new(found.clone())),
        (true, Some(valid)) => Some(NullBuffer::new(found & valid.inner())),
    }
}

/// The places of constants that are values of the column; others are never met.
fn places<'a, T>(list: impl Iterator<Item = &'a Value>, place: impl Fn(&Value) -> Option<Place<T>>) -> Option<Vec<T>> {
    let mut found = Vec::new();
    for item in list {
        if let Place::At(value) = place(item)? {
            found.push(value);
        }
    }
    Some(found)
}

fn bytes_of(value: &Value, family: TypeFamily, padded: bool) -> Option<&[u8]> {
    match value {
        Value::Text(text) if family == TypeFamily::Text && padded => Some(text.trim_end_matches(' ').as_bytes()),
        Value::Text(text) if family == TypeFamily::Text => Some(text.as_bytes()),
        Value::Bytes(bytes) if family == TypeFamily::Bytes => Some(bytes),
        _ => None,
    }
}

#[derive(Debug)]
struct SortedSet<T>(Vec<T>);

impl<T: Ord + Copy> SortedSet<T> {
    fn new(mut values: Vec<T>) -> Self {
        values.sort_unstable();
        values.dedup();
        Self(values)
    }

    fn contains(&self, value: T) -> bool {
        if self.0.len() <= LOOKED_THROUGH_MAX { self.0.contains(&value) } else { self.0.binary_search(&value).is_ok() }
    }
}

/// Integers: a few, or in a narrow range, or any.
#[derive(Debug)]
enum IntegerSet {
    Sorted(SortedSet<i64>),
    Narrow { first: i64, mask: Vec<bool> },
}

impl IntegerSet {
    fn new(values: Vec<i64>) -> Self {
        let sorted = SortedSet::new(values);
        match (sorted.0.first(), sorted.0.last()) {
            (Some(&first), Some(&last))
                if sorted.0.len() > LOOKED_THROUGH_MAX && i128::from(last) - i128::from(first) < MASK_BITS_MAX =>
            {
                let mut mask = vec![false; (last - first) as usize + 1];
                for value in &sorted.0 {
                    if let Some(place) = mask.get_mut((value - first) as usize) {
                        *place = true;
                    }
                }
                IntegerSet::Narrow { first, mask }
            }
            _ => IntegerSet::Sorted(sorted),
        }
    }

    fn mask<V: Copy>(&self, values: &[V], key: impl Fn(V) -> i64) -> BooleanBuffer {
        match self {
            IntegerSet::Sorted(set) => match set.0[..] {
                [] => BooleanBuffer::new_unset(values.len()),
                [a] => pack(values, |v| key(v) == a),
                [a, b] => pack(values, |v| {
                    let v = key(v);
                    (v == a) | (v == b)
                }),
                _ => pack(values, |v| set.contains(key(v))),
            },
            IntegerSet::Narrow { first, mask } => pack(values, |v| {
                let place = key(v).checked_sub(*first).and_then(|place| usize::try_from(place).ok());
                place.and_then(|place| mask.get(place)).copied().unwrap_or(false)
            }),
        }
    }
}

#[derive(Debug)]
enum BytesSet {
    Few(Vec<Vec<u8>>),
    Many(HashSet<Vec<u8>>),
}

impl BytesSet {
    fn new(values: Vec<Vec<u8>>) -> Self {
        if values.len() <= LOOKED_THROUGH_MAX {
            BytesSet::Few(values)
        } else {
            BytesSet::Many(values.into_iter().collect())
        }
    }

    fn contains(&self, value: &[u8]) -> bool {
        match self {
            BytesSet::Few(few) => few.iter().any(|member| member == value),
            BytesSet::Many(many) => many.contains(value),
        }
    }
}

/// `(a, b) IN ((1, 2), ..)` for a long list of constant rows, none with a NULL.
#[derive(Debug)]
pub(crate) struct RowInConstants {
    row: Vec<Step>,
    members: HashSet<Vec<Value>>,
    /// The list's values of each column, which tell an unknown row from a false one.
    list: Vec<Vec<Value>>,
}

impl RowInConstants {
    /// `None` where rows are not the same exactly when their values are: NULLs, CHAR, values of several kinds.
    pub(crate) fn new(row: Vec<Step>, list: Vec<Vec<Value>>) -> Option<Self> {
        let comparable = |step: &Step, value: &Value| {
            !value.is_null() && !matches!(step.ty, SqlType::Char(_) | SqlType::Null) && is_of_kind(value, step.ty)
        };
        let fits = |other: &Vec<Value>| other.iter().zip(&row).all(|(value, step)| comparable(step, value));
        list.iter().all(fits).then(|| Self { row, members: list.iter().cloned().collect(), list })
    }
}

impl Compute for RowInConstants {
    fn compute(&self, batch: &Batch) -> Columnwise<Vector> {
        let columns: Vec<ArrayRef> = self
            .row
            .iter()
            .map(|step| step.compute(batch)?.into_array(step.ty, batch.rows))
            .collect::<Columnwise<_>>()?;
        let mut row = Vec::with_capacity(columns.len());
        let mut answers = Vec::with_capacity(batch.rows);
        for at in 0..batch.rows {
            row.clear();
            for (step, column) in self.row.iter().zip(&columns) {
                row.push(value_at(column, at, step.ty).map_err(|_| RowByRow)?);
            }
            answers.push(if row.iter().any(Value::is_null) {
                // Unknown when some row of the list differs in no value that is known.
                let may_be = |other: &Vec<Value>| row.iter().zip(other).all(|(a, b)| a.is_null() || a == b);
                if self.list.iter().any(may_be) { None } else { Some(false) }
            } else {
                Some(self.members.contains(&row))
            });
        }
        Ok(Vector::of(BooleanArray::from(answers)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value far below a narrow list does not wrap into it.
    #[test]
    fn integers_at_both_ends() {
        let set = IntegerSet::new((i64::MAX - 9..=i64::MAX).collect());
        assert!(matches!(set, IntegerSet::Narrow { .. }));
        let mask = set.mask(&[i64::MIN, i64::MIN + 1, -1, i64::MAX - 10, i64::MAX - 9, i64::MAX], |v| v);
        assert_eq!(mask.iter().collect::<Vec<_>>(), [false, false, false, false, true, true]);
        let wide = IntegerSet::new((0..20).map(|i| i * 1_000_000_007).collect());
        assert!(matches!(wide, IntegerSet::Sorted(_)));
        assert_eq!(wide.mask(&[1_000_000_007, 1, -1], |v| v).iter().collect::<Vec<_>>(), [true, false, false]);
    }
}
