//! Columns of arrays from values.

use std::sync::Arc;

use arrow::array::{ListArray, NullBufferBuilder};
use arrow::buffer::{OffsetBuffer, ScalarBuffer};
use arrow::datatypes::Field;
use saltwing_types::{SqlType, Value, ValueError};

use crate::{ColumnBuilder, value_at};

/// Builds a column of lists. The elements of all rows stand one behind the other.
#[derive(Debug)]
pub(crate) struct ListBuilder {
    elements: Box<ColumnBuilder>,
    /// Where each row's elements begin, and where the last row's end.
    offsets: Vec<i32>,
    valid: NullBufferBuilder,
}

impl ListBuilder {
    pub(crate) fn with_capacity(element: SqlType, rows: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self { elements: Box::new(ColumnBuilder::new(element, rows)), offsets, valid: NullBufferBuilder::new(rows) }
    }

    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(crate) fn append_null(&mut self) {
        self.offsets.extend(self.offsets.last().copied());
        self.valid.append_null();
    }

    /// Appends a list.
    ///
    /// # Errors
    /// As [`ColumnBuilder::append_value`] for an element; the column is then as it was.
    pub(crate) fn append_value(&mut self, list: &[Value]) -> Result<(), ValueError> {
        let before = self.elements.len();
        let appended = list.iter().try_for_each(|element| self.elements.append_value(element));
        match (appended, i32::try_from(self.elements.len())) {
            (Ok(()), Ok(end)) => {
                self.offsets.push(end);
                self.valid.append_non_null();
                Ok(())
            }
            (Ok(()), Err(_)) => {
                self.truncate(before)?;
                let value = format!("a column of {} array elements", before.saturating_add(list.len()));
                Err(ValueError::TooLong { value, target: "one batch, which takes 2,147,483,647 a column".into() })
            }
            (Err(error), _) => {
                self.truncate(before)?;
                Err(error)
            }
        }
    }

    /// Removes the elements of a row that failed.
    fn truncate(&mut self, kept: usize) -> Result<(), ValueError> {
        let (ty, elements) = (self.elements.sql_type(), self.elements.finish());
        (0..kept).try_for_each(|row| self.elements.append_value(&value_at(&elements, row, ty)?))
    }

    pub(crate) fn finish(&mut self) -> ListArray {
        let elements = self.elements.finish();
        let offsets = OffsetBuffer::new(ScalarBuffer::from(std::mem::replace(&mut self.offsets, vec![0])));
        let field = Arc::new(Field::new_list_field(elements.data_type().clone(), true));
        ListArray::new(field, offsets, elements, self.valid.finish())
    }
}
