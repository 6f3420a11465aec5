//! Tables of whose rows all have one value in some columns: a view of another system, say. The values are conditions of each query, so that those of key columns
//! give ranges, and the guard knows them.

use saltwing_plan::Condition;
use saltwing_types::{CompareOp, Expr};

use crate::tree::Scan;

/// The conditions that all rows of a scan meet, over its columns.
pub(crate) fn constant_conditions(scan: &Scan) -> Vec<Condition> {
    let condition = |(column, value): &(usize, saltwing_types::Value)| {
        let mut column = scan.table.column_ref(*column, None)?;
        column.index += scan.first_column;
        let ty = column.ty;
        let column = Box::new(Expr::Column(column));
        Some(Condition::new(match value.is_null() {
            true => Expr::IsNull(column),
            false => Expr::Compare(CompareOp::Eq, column, Box::new(Expr::Literal(value.clone(), ty))),
        }))
    };
    scan.table.constants().iter().filter_map(condition).collect()
}
