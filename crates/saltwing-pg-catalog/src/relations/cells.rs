//! The values of relations, and their Arrow arrays.

use std::sync::Arc;

use arrow::array::{
    ArrayBuilder, ArrayRef, BooleanBuilder, Float32Builder, Float64Builder, Int16Builder, Int32Builder, Int64Builder,
    ListBuilder, StringBuilder, TimestampMicrosecondBuilder,
};
use arrow::datatypes::{DataType, Field, TimeUnit};

use crate::CatalogError;
use crate::pg_type::Storage;

/// A value of a relation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Ints(Vec<i64>),
    Texts(Vec<Option<String>>),
}

impl From<bool> for Cell {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for Cell {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<char> for Cell {
    fn from(value: char) -> Self {
        Self::Text(value.to_string())
    }
}

impl From<String> for Cell {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<&String> for Cell {
    fn from(value: &String) -> Self {
        Self::Text(value.clone())
    }
}

macro_rules! from_integers {
    ($($ty:ty),*) => { $(
        impl From<$ty> for Cell {
            fn from(value: $ty) -> Self {
                Self::Int(i64::from(value))
            }
        }
    )* };
}
from_integers!(i64, i32, i16, u32);

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl From<Vec<Option<String>>> for Cell {
    fn from(value: Vec<Option<String>>) -> Self {
        Self::Texts(value)
    }
}

impl From<Vec<i64>> for Cell {
    fn from(value: Vec<i64>) -> Self {
        Self::Ints(value)
    }
}

/// A row of the cells that are written: `row![oid, name, 'r']`.
macro_rules! row {
    ($($cell:expr),* $(,)?) => { vec![$($crate::relations::Cell::from($cell)),*] };
}
pub(super) use row;

/// The Arrow type of a column.
pub(super) fn data_type(storage: Storage) -> DataType {
    let list = |item| DataType::List(Arc::new(Field::new("item", item, true)));
    match storage {
        Storage::Boolean => DataType::Boolean,
        Storage::Int2 => DataType::Int16,
        Storage::Int4 => DataType::Int32,
        Storage::Int8 => DataType::Int64,
        Storage::Float4 => DataType::Float32,
        Storage::Float8 => DataType::Float64,
        Storage::Text => DataType::Utf8,
        Storage::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        Storage::BooleanArray => list(DataType::Boolean),
        Storage::Int2Array => list(DataType::Int16),
        Storage::Int4Array => list(DataType::Int32),
        Storage::Int8Array => list(DataType::Int64),
        Storage::TextArray => list(DataType::Utf8),
    }
}

/// The array of a column's values.
///
/// # Errors
/// A value of another kind than the column's is a bug.
pub(super) fn array<'a>(storage: Storage, cells: impl Iterator<Item = &'a Cell>) -> Result<ArrayRef, CatalogError> {
    match storage {
        Storage::Boolean => plain(BooleanBuilder::new(), cells, |builder, cell| match cell {
            Cell::Bool(value) => {
                builder.append_value(*value);
                Some(())
            }
            Cell::Null => {
                builder.append_null();
                Some(())
            }
            _ => None,
        }),
        Storage::Int2 => plain(Int16Builder::new(), cells, |builder, cell| integer(cell, |v| builder.append_option(v))),
        Storage::Int4 => plain(Int32Builder::new(), cells, |builder, cell| integer(cell, |v| builder.append_option(v))),
        Storage::Int8 => plain(Int64Builder::new(), cells, |builder, cell| integer(cell, |v| builder.append_option(v))),
        Storage::Float4 => plain(Float32Builder::new(), cells, |builder, cell| match cell {
            // Estimates, for which 24 bits are enough.
            Cell::Float(value) => {
                builder.append_value(*value as f32);
                Some(())
            }
            Cell::Null => {
                builder.append_null();
                Some(())
            }
            _ => None,
        }),
        Storage::Float8 => plain(Float64Builder::new(), cells, |builder, cell| match cell {
            Cell::Float(value) => {
                builder.append_value(*value);
                Some(())
            }
            Cell::Null => {
                builder.append_null();
                Some(())
            }
            _ => None,
        }),
        Storage::Text => plain(StringBuilder::new(), cells, |builder, cell| match cell {
            Cell::Text(value) => {
                builder.append_value(value);
                Some(())
            }
            Cell::Null => {
                builder.append_null();
                Some(())
            }
            _ => None,
        }),
        Storage::Timestamp => plain(TimestampMicrosecondBuilder::new(), cells, |builder, cell| {
            integer(cell, |v| builder.append_option(v))
        }),
        Storage::BooleanArray => plain(ListBuilder::new(BooleanBuilder::new()), cells, |builder, cell| match cell {
            Cell::Null => {
                builder.append_null();
                Some(())
            }
            _ => None,
        }),
        Storage::Int2Array => plain(ListBuilder::new(Int16Builder::new()), cells, |builder, cell| {
            integers(cell, |values| builder.append_option(values.map(|values| values.into_iter().map(Some))))
        }),
        Storage::Int4Array => plain(ListBuilder::new(Int32Builder::new()), cells, |builder, cell| {
            integers(cell, |values| builder.append_option(values.map(|values| values.into_iter().map(Some))))
        }),
        Storage::Int8Array => plain(ListBuilder::new(Int64Builder::new()), cells, |builder, cell| {
            integers(cell, |values| builder.append_option(values.map(|values| values.into_iter().map(Some))))
        }),
        Storage::TextArray => plain(ListBuilder::new(StringBuilder::new()), cells, |builder, cell| match cell {
            Cell::Texts(values) => {
                builder.append_value(values.iter().map(Option::as_deref));
                Some(())
            }
            Cell::Null => {
                builder.append_null();
                Some(())
            }
            _ => None,
        }),
    }
}

/// Appends all cells; `append` gives `None` for a cell of another kind.
fn plain<'a, B: ArrayBuilder>(
    mut builder: B,
    cells: impl Iterator<Item = &'a Cell>,
    append: impl Fn(&mut B, &Cell) -> Option<()>,
) -> Result<ArrayRef, CatalogError> {
    for cell in cells {
        let other = || CatalogError::bug(format!("a relation has {cell:?} in a column of another type"));
        append(&mut builder, cell).ok_or_else(other)?;
    }
    Ok(builder.finish())
}

fn integer<T: TryFrom<i64>>(cell: &Cell, append: impl FnOnce(Option<T>)) -> Option<()> {
    match cell {
        Cell::Int(value) => append(Some(T::try_from(*value).ok()?)),
        Cell::Null => append(None),
        _ => return None,
    }
    Some(())
}

fn integers<T: TryFrom<i64>>(cell: &Cell, append: impl FnOnce(Option<Vec<T>>)) -> Option<()> {
    match cell {
        Cell::Ints(values) => append(Some(values.iter().map(|value| T::try_from(*value).ok()).collect::<Option<_>>()?)),
        Cell::Null => append(None),
        _ => return None,
    }
    Some(())
}
