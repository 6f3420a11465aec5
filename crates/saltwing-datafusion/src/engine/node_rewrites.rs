//! What happens to some nodes of a plan in the place of what DataFusion's rules do.

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{Aggregate, Distinct, Expr as PlanExpr, Filter, GroupingSet, LogicalPlan, Operator};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

use crate::expression::expr_function::ExprFunction;
use crate::expression::translation::{balanced, chain};

/// What a rule does to a node.
pub(super) type Rewrite = fn(&dyn OptimizerRule, LogicalPlan, &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>>;

/// DISTINCT becomes groups of all columns, whatever is known of these.
pub(super) fn as_groups(
    rule: &dyn OptimizerRule,
    plan: LogicalPlan,
    config: &dyn OptimizerConfig,
) -> Result<Transformed<LogicalPlan>> {
    match plan {
        LogicalPlan::Distinct(Distinct::All(input)) if !input.schema().fields().is_empty() => {
            let columns = input.schema().columns().into_iter().map(PlanExpr::Column).collect();
            let groups = Aggregate::try_new(input, columns, Vec::new())?;
            Ok(Transformed::yes(LogicalPlan::Aggregate(groups)))
        }
        other => rule.rewrite(other, config),
    }
}

/// The rule after conditions without columns were tied to aggregates.
pub(super) fn with_tied_conditions(
    rule: &dyn OptimizerRule,
    plan: LogicalPlan,
    config: &dyn OptimizerConfig,
) -> Result<Transformed<LogicalPlan>> {
    let plan = match plan {
        LogicalPlan::Filter(filter) => LogicalPlan::Filter(tied(filter)),
        other => other,
    };
    rule.rewrite(plan, config)
}

/// A filter without conditions that have no columns, if it is right above an aggregate with a row for no input.
fn tied(mut filter: Filter) -> Filter {
    let Some(aggregate) = aggregate_below(&filter.input) else { return filter };
    let Some(column) = aggregate.schema.columns().into_iter().next().map(PlanExpr::Column) else { return filter };
    let conditions =
        chain(&filter.predicate, Operator::And).into_iter().map(|condition| match condition.column_refs().is_empty() {
            true => ExprFunction::tied(condition.clone(), [column.clone()]),
            false => condition.clone(),
        });
    if let Some(predicate) = balanced(conditions.collect(), Operator::And) {
        filter.predicate = predicate;
    }
    filter
}

/// The aggregate below a filter that has a row for no input; DataFusion merges filters on the way to it.
fn aggregate_below(plan: &LogicalPlan) -> Option<&Aggregate> {
    match plan {
        LogicalPlan::Filter(filter) => aggregate_below(&filter.input),
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.iter().all(has_empty_set).then_some(aggregate),
        _ => None,
    }
}

fn has_empty_set(expr: &PlanExpr) -> bool {
    match expr {
        PlanExpr::GroupingSet(GroupingSet::GroupingSets(sets)) => sets.iter().any(Vec::is_empty),
        PlanExpr::GroupingSet(GroupingSet::Rollup(_) | GroupingSet::Cube(_)) => true,
        _ => false,
    }
}
