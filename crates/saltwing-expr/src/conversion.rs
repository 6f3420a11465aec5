//! CAST.

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array};
use arrow::buffer::ScalarBuffer;
use arrow::datatypes::{DataType, Int8Type, Int16Type, Int32Type, TimestampMillisecondType};
use saltwing_types::datetime::has_text;
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::{SqlType, eval};

use crate::batch::{Batch, Columnwise, RowByRow, shared};
use crate::operand::{float_values, integer_values};
use crate::step::{Compute, Step, Vector, append_exact};
use crate::{ColumnBuilder, arrow_type, value_at, write_text};

#[derive(Debug)]
pub(crate) struct Cast {
    pub(crate) value: Step,
    pub(crate) ty: SqlType,
}

impl Compute for Cast {
    fn compute(&self, batch: &Batch) -> Columnwise<Vector> {
        let array = match self.value.compute(batch)? {
            Vector::Constant(value) => {
                return eval::cast(value, self.value.ty, self.ty).map(Vector::Constant).map_err(|_| RowByRow);
            }
            Vector::Array(array) => array,
        };
        match self.of_column(&array) {
            Some(cast) => Ok(Vector::Array(cast)),
            None if self.ty == SqlType::Varchar(None) => self.as_texts(&array),
            None => self.by_values(&array),
        }
    }
}

impl Cast {
    /// The casts that are mere changes of width or unit; `None` for the others, and where one fails.
    fn of_column(&self, array: &ArrayRef) -> Option<ArrayRef> {
        let to = arrow_type(self.ty);
        if self.ty.is_integer() {
            return integer_column(array, self.ty);
        }
        if to == DataType::Float64 && !self.ty.is_unsigned() {
            return double_column(array);
        }
        match self.ty {
            // No limit and no padding: any text is such a text.
            SqlType::Varchar(None) if self.value.ty.family() == TypeFamily::Text => Some(array.clone()),
            SqlType::Date | SqlType::Time if *array.data_type() == to => {
                let ms = array.as_primitive_opt::<TimestampMillisecondType>()?;
                ms.iter().flatten().all(has_text).then(|| array.clone())
            }
            SqlType::Timestamp if *array.data_type() == to => Some(array.clone()),
            SqlType::Timestamp => {
                let ms = array.as_primitive_opt::<TimestampMillisecondType>()?;
                let nanos = ms.try_unary::<_, arrow::datatypes::TimestampNanosecondType, _>(|ms| {
                    ms.checked_mul(1_000_000).ok_or(RowByRow)
                });
                nanos.ok().map(shared)
            }
            _ => None,
        }
    }

    /// Texts without a limit on their length.
    fn as_texts(&self, array: &ArrayRef) -> Columnwise<Vector> {
        let mut builder = ColumnBuilder::new(self.ty, array.len());
        let mut text = String::new();
        for row in 0..array.len() {
            text.clear();
            let appended = match write_text(array, row, self.value.ty, &mut text) {
                Ok(true) => builder.append_str(&text),
                Ok(false) => builder.append_null(),
                Err(_) => return Err(RowByRow),
            };
            appended.map_err(|_| RowByRow)?;
        }
        Ok(Vector::Array(builder.finish()))
    }

    fn by_values(&self, array: &ArrayRef) -> Columnwise<Vector> {
        let mut builder = ColumnBuilder::new(self.ty, array.len());
        for row in 0..array.len() {
            let value = value_at(array, row, self.value.ty).map_err(|_| RowByRow)?;
            append_exact(&mut builder, &eval::cast(value, self.value.ty, self.ty).map_err(|_| RowByRow)?)?;
        }
        Ok(Vector::Array(builder.finish()))
    }
}

/// Integers in another width; `None` when one is out of range.
fn integer_column(array: &ArrayRef, ty: SqlType) -> Option<ArrayRef> {
    let (low, high) = ty.integer_range()?;
    let values = integer_values(array)?;
    // The value under a NULL has no effect, but it is seldom out of range, so the slow path handles it.
    if !values.iter().all(|v| (low..=high).contains(v)) {
        return None;
    }
    let wide = Int64Array::new(ScalarBuffer::from(values.into_owned()), array.nulls().cloned());
    Some(match arrow_type(ty) {
        DataType::Int8 => shared(wide.unary::<_, Int8Type>(|v| v as i8)),
        DataType::Int16 => shared(wide.unary::<_, Int16Type>(|v| v as i16)),
        DataType::Int32 => shared(wide.unary::<_, Int32Type>(|v| v as i32)),
        _ => shared(wide),
    })
}

/// Integers and floats as doubles; -0.0 becomes 0.0, as on writing.
fn double_column(array: &ArrayRef) -> Option<ArrayRef> {
    let values: Vec<f64> = match (float_values(array), integer_values(array)) {
        (Some(floats), _) => floats.iter().map(|f| f + 0.0).collect(),
        (None, Some(integers)) => integers.iter().map(|i| *i as f64).collect(),
        (None, None) => return None,
    };
    Some(shared(Float64Array::new(ScalarBuffer::from(values), array.nulls().cloned())))
}
