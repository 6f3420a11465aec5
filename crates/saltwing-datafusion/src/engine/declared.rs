//! The names with which a plan's columns were declared.
//!
//! They are looked up in the plan, not carried in the metadata of fields: DataFusion refuses a UNION and a recursive
//! query of columns with different metadata.

use datafusion::common::JoinType;
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{Distinct, Expr, LogicalPlan};

use crate::scan::table_source::TableSource;

/// The declared name of the table's column that a plan's column passes on; `None` if it passes none on.
pub(crate) fn declared_name(plan: &LogicalPlan, index: usize) -> Option<String> {
    match plan {
        LogicalPlan::TableScan(scan) => {
            let field = scan.projection.as_ref().map_or(Some(index), |kept| kept.get(index).copied())?;
            let provider = source_as_provider(&scan.source).ok()?;
            provider.downcast_ref::<TableSource>()?.declared_name(field)
        }
        LogicalPlan::Projection(projection) => of_expr(projection.expr.get(index)?, &projection.input),
        LogicalPlan::Distinct(Distinct::On(distinct)) => of_expr(distinct.select_expr.get(index)?, &distinct.input),
        LogicalPlan::Aggregate(aggregate) => of_expr(aggregate.group_expr.get(index)?, &aggregate.input),
        LogicalPlan::Window(window) if index >= window.input.schema().fields().len() => None,
        LogicalPlan::Join(join) => {
            let left = join.left.schema().fields().len();
            match join.join_type {
                JoinType::RightSemi | JoinType::RightAnti => declared_name(&join.right, index),
                _ if index < left => declared_name(&join.left, index),
                _ => declared_name(&join.right, index - left),
            }
        }
        LogicalPlan::RecursiveQuery(query) => declared_name(&query.static_term, index),
        LogicalPlan::SubqueryAlias(_)
        | LogicalPlan::Subquery(_)
        | LogicalPlan::Filter(_)
        | LogicalPlan::Sort(_)
        | LogicalPlan::Limit(_)
        | LogicalPlan::Window(_)
        | LogicalPlan::Union(_)
        | LogicalPlan::Distinct(Distinct::All(_)) => declared_name(plan.inputs().first()?, index),
        _ => None,
    }
}

fn of_expr(expr: &Expr, input: &LogicalPlan) -> Option<String> {
    match expr {
        Expr::Alias(alias) => of_expr(&alias.expr, input),
        Expr::Column(column) => declared_name(input, input.schema().maybe_index_of_column(column)?),
        _ => None,
    }
}
