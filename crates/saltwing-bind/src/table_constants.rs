//! Tables of whose rows all have one value in some columns: a view of another system, say. The values are conditions of each query, so that those of key columns
//! give ranges, and the guard knows them.

use saltwing_access::Table;
use saltwing_plan::Condition;
use saltwing_types::{CompareOp, Expr, Value};

/// The conditions that all rows of a table meet. Its columns have numbers from `first_column` on.
pub(crate) fn constant_conditions(table: &Table, first_column: usize) -> Vec<Condition> {
    let condition = |(column, value): &(usize, Value)| {
        let mut column = table.column_ref(*column, None)?;
        column.index += first_column;
        let ty = column.ty;
        let column = Box::new(Expr::Column(column));
        Some(Condition::new(match value.is_null() {
            true => Expr::IsNull(column),
            false => Expr::Compare(CompareOp::Eq, column, Box::new(Expr::Literal(value.clone(), ty))),
        }))
    };
    table.constants().iter().filter_map(condition).collect()
}
