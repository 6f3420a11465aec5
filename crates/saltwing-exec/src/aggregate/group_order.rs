//! What groups are sorted by, in a form that Arrow orders as SQL does.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{ArrayRef, UInt64Array};
use arrow::compute::{SortColumn, SortOptions};
use saltwing_access::Memory;
use saltwing_expr::{Columns, value_at};
use saltwing_types::{SortOrder, SqlType, Value, ValueError};

use super::grouping::canonical;
use crate::ExecError;
use crate::output::Output;

/// An item of the ORDER BY of groups.
pub(crate) struct GroupOrder {
    values: Output,
    ty: SqlType,
    options: SortOptions,
}

impl GroupOrder {
    pub(crate) fn new(item: &saltwing_planner::GroupOrder) -> Self {
        let descending = item.order == SortOrder::Desc;
        Self {
            values: Output::new(item.expr.clone()),
            ty: item.expr.sql_type().unwrap_or(SqlType::Null),
            options: SortOptions { descending, nulls_first: item.nulls_first },
        }
    }

    /// What to sort some groups by.
    pub(crate) fn column(&self, columns: &Columns, rows: usize, memory: &Arc<Memory>) -> Result<SortColumn, ExecError> {
        let values = canonical(self.values.compute(columns, rows, memory)?);
        let values = if has_arrow_order(self.ty) { values } else { ranks(&values, self.ty)? };
        Ok(SortColumn { values, options: Some(self.options) })
    }
}

/// Whether Arrow orders the values of a type as SQL does: intervals have an order by their length, CHAR one by its padded
/// texts, and arrays that of their elements.
fn has_arrow_order(ty: SqlType) -> bool {
    !matches!(ty, SqlType::Interval | SqlType::Char(_) | SqlType::Array(..))
}

/// The place of each value among the others; equal ones have one place.
fn ranks(values: &ArrayRef, ty: SqlType) -> Result<ArrayRef, ValueError> {
    let values = (0..values.len()).map(|row| value_at(values, row, ty)).collect::<Result<Vec<Value>, _>>()?;
    let compare = |a: &Value, b: &Value| a.compare_as(b, ty).unwrap_or(Ordering::Equal);
    let mut known: Vec<(usize, &Value)> = values.iter().enumerate().filter(|(_, value)| !value.is_null()).collect();
    known.sort_by(|(_, a), (_, b)| compare(a, b));
    let mut ranks = vec![None; values.len()];
    for (rank, equal) in (0..).zip(known.chunk_by(|(_, a), (_, b)| compare(a, b).is_eq())) {
        for (row, _) in equal {
            if let Some(place) = ranks.get_mut(*row) {
                *place = Some(rank);
            }
        }
    }
    Ok(Arc::new(UInt64Array::from(ranks)))
}

#[cfg(test)]
mod tests {
    use arrow::array::AsArray;
    use arrow::datatypes::UInt64Type;
    use saltwing_expr::ColumnBuilder;
    use saltwing_types::Interval;

    use super::*;

    fn ranks_of(ty: SqlType, values: &[Value]) -> Vec<Option<u64>> {
        let mut column = ColumnBuilder::new(ty, values.len());
        values.iter().for_each(|value| column.append_value(value).unwrap());
        ranks(&column.finish(), ty).unwrap().as_primitive::<UInt64Type>().iter().collect()
    }

    #[test]
    fn values_have_the_order_of_sql() {
        let days = |months, days| Value::Interval(Interval { months, days, nanos: 0 });
        let lengths = [days(1, 0), days(0, 31), Value::Null, days(0, 29), days(0, 30)];
        assert_eq!(ranks_of(SqlType::Interval, &lengths), [Some(1), Some(2), None, Some(0), Some(1)]);
        let texts = ["a", "a\t", "a ", "b"].map(Value::text);
        assert_eq!(ranks_of(SqlType::Char(4), &texts), [Some(1), Some(0), Some(1), Some(2)]);
        let array = SqlType::array(SqlType::Integer).unwrap();
        let arrays = [vec![Value::Int(1), Value::Int(2)], vec![Value::Int(1)], vec![Value::Int(1), Value::Null]];
        assert_eq!(ranks_of(array, &arrays.map(Value::Array)), [Some(2), Some(0), Some(1)]);
    }
}
