//! The columns that an expression reads, in the types it expects.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::buffer::BooleanBuffer;
use arrow::compute::FilterBuilder;
use arrow::datatypes::DataType;
use saltwing_types::{Expr, SqlType, ValueError};

use crate::{ColumnBuilder, arrow_type, value_at};

/// Columns by [`saltwing_types::ColumnRef::index`]; `None` where no expression names one.
///
/// Each has [`crate::arrow_type()`] of its column's SQL type, or a type that
/// [`crate::value_at()`] reads as it (at the cost of a copy).
pub type Columns = [Option<ArrayRef>];

/// Whole columns do not lead to the answer: some row fails, or a value between
/// two steps has no place in a column. What to answer is found row by row.
#[derive(Debug)]
pub(crate) struct RowByRow;

/// A result over whole columns. There are no errors in it: an error is only
/// ever given by the scalar evaluator, which knows whether the row gets that far.
pub(crate) type Columnwise<T> = Result<T, RowByRow>;

/// A column that an expression names.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) index: usize,
    pub(crate) ty: SqlType,
    name: String,
}

/// The columns that `expr` names, each once, by index in ascending order.
pub(crate) fn sources(expr: &Expr) -> Vec<Source> {
    let mut sources = Vec::new();
    expr.walk(&mut |e| {
        if let Expr::Column(column) = e {
            sources.push(Source { index: column.index, ty: column.ty, name: column.name.clone() });
        }
    });
    sources.sort_by_key(|source| source.index);
    sources.dedup_by_key(|source| source.index);
    sources
}

/// Some rows of some columns; each column has [`arrow_type()`] of its SQL type.
#[derive(Debug)]
pub(crate) struct Batch {
    /// By index, ascending.
    columns: Vec<(usize, ArrayRef)>,
    pub(crate) rows: usize,
}

impl Batch {
    /// The columns of `sources`.
    ///
    /// # Errors
    /// [`ValueError::BadArgument`] when one is missing or has not `rows` rows; as
    /// [`value_at()`] and [`ColumnBuilder`] where one of another Arrow type does not become ours.
    pub(crate) fn load(sources: &[Source], columns: &Columns, rows: usize) -> Result<Self, ValueError> {
        let load = |source: &Source| {
            let array = match columns.get(source.index) {
                Some(Some(array)) => array,
                _ => return Err(ValueError::BadArgument(format!("column {} is not in the row", source.name))),
            };
            if array.len() != rows {
                let found = array.len();
                let name = &source.name;
                return Err(ValueError::BadArgument(format!("column {name} has {found} rows where {rows} are read")));
            }
            Ok((source.index, as_ours(array, source.ty)?))
        };
        Ok(Self { columns: sources.iter().map(load).collect::<Result<_, _>>()?, rows })
    }

    /// The column at `index`.
    pub(crate) fn column(&self, index: usize) -> Option<&ArrayRef> {
        let place = self.columns.binary_search_by_key(&index, |(index, _)| *index).ok()?;
        self.columns.get(place).map(|(_, array)| array)
    }

    /// The rows that `mask` names, of the columns with these indexes.
    pub(crate) fn select(&self, mask: &BooleanBuffer, indexes: &[usize]) -> Columnwise<Self> {
        let filter = FilterBuilder::new(&BooleanArray::new(mask.clone(), None)).optimize().build();
        let select = |(index, array): &(usize, ArrayRef)| Ok((*index, filter.filter(array).map_err(|_| RowByRow)?));
        let columns = self.columns.iter().filter(|(index, _)| indexes.binary_search(index).is_ok());
        Ok(Self { columns: columns.map(select).collect::<Columnwise<_>>()?, rows: filter.count() })
    }
}

/// `array` with [`arrow_type()`] of `ty`.
fn as_ours(array: &ArrayRef, ty: SqlType) -> Result<ArrayRef, ValueError> {
    let ours = arrow_type(ty);
    if *array.data_type() == ours {
        return Ok(array.clone());
    }
    let is_text = matches!(array.data_type(), DataType::Utf8View | DataType::LargeUtf8);
    if is_text
        && ours == DataType::Utf8
        && let Ok(text) = arrow::compute::cast(array, &ours)
    {
        return Ok(text);
    }
    let mut builder = ColumnBuilder::new(ty, array.len());
    for row in 0..array.len() {
        builder.append_value(&value_at(array, row, ty)?)?;
    }
    Ok(builder.finish())
}

/// A column of `rows` NULLs.
pub(crate) fn nulls(ty: SqlType, rows: usize) -> ArrayRef {
    arrow::array::new_null_array(&arrow_type(ty), rows)
}

/// Puts an array into a shared pointer.
pub(crate) fn shared(array: impl Array + 'static) -> ArrayRef {
    Arc::new(array)
}
