//! The tables from which the columns of a physical plan come, for messages.

use std::sync::Arc;

use datafusion::common::JoinType;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::expressions::Column;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::projection::ProjectionExec;

use crate::expression::expr_function::text_of;
use crate::physical::lookup_join::LookupJoinExec;
use crate::scan::table_scan::TableScanExec;

/// The name of a plan's column in the statement, `table.column`, or the text of a computed one; `None` where it is not known.
pub(crate) fn origin(plan: &Arc<dyn ExecutionPlan>, index: usize) -> Option<String> {
    if let Some(scan) = plan.downcast_ref::<TableScanExec>() {
        let (of, column) = (scan.table_use(), *scan.request().columns.get(index)?);
        let table = of.alias.as_deref().unwrap_or(&of.table.def().name.name);
        return Some(format!("{table}.{}", of.table.schema().field(column).name()));
    }
    if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        let item = &projection.expr().get(index)?.expr;
        return match item.downcast_ref::<Column>() {
            Some(column) => origin(projection.input(), column.index()),
            None => Some(text_of(item)),
        };
    }
    if let Some(filter) = plan.downcast_ref::<FilterExec>() {
        let below = filter.projection().as_ref().map_or(Some(index), |kept| kept.get(index).copied())?;
        return origin(filter.input(), below);
    }
    let lookup = plan.downcast_ref::<LookupJoinExec>().map(LookupJoinExec::join);
    if let Some(join) = plan.downcast_ref::<HashJoinExec>().or(lookup) {
        return of_join(join, index);
    }
    match plan.children().as_slice() {
        [only] if only.schema() == plan.schema() => origin(only, index),
        _ => None,
    }
}

fn of_join(join: &HashJoinExec, index: usize) -> Option<String> {
    use JoinType::*;
    let index = join.projection.as_ref().map_or(Some(index), |kept| kept.get(index).copied())?;
    let left = join.left().schema().fields().len();
    match join.join_type() {
        Inner | Left | Right | Full if index >= left => origin(join.right(), index - left),
        Inner | Left | Right | Full | LeftSemi | LeftAnti | LeftMark => origin(join.left(), index),
        RightSemi | RightAnti | RightMark => origin(join.right(), index),
    }
}
