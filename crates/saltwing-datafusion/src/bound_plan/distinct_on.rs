//! DISTINCT ON.

use std::sync::Arc;

use datafusion::logical_expr::{Expr as PlanExpr, LogicalPlan, Projection};

use crate::RelationalError;
use crate::expression::expr_function::{ExprFunction, argument};
use crate::expression::sql_field::field_type;

/// A DISTINCT ON whose columns may all be NULL.
///
/// DataFusion makes first values of groups out of it, which may be NULL to it, and then a UNION above, planned with
/// columns that may not, does not fit.
pub(super) fn with_nullable_columns(distinct: LogicalPlan) -> Result<LogicalPlan, RelationalError> {
    let columns = distinct.schema().iter().map(|(qualifier, field)| {
        let column = PlanExpr::from((qualifier, field));
        match field_type(field).filter(|_| !field.is_nullable()) {
            None => column,
            Some(ty) => {
                // A column by itself would be taken for the argument: it is computed, and gives the same.
                let same = ExprFunction::call(argument(0, field.name(), ty, true), vec![column]);
                same.alias_qualified(qualifier.cloned(), field.name())
            }
        }
    });
    let columns = columns.collect();
    Ok(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(distinct))?))
}
