//! DataFusion's rules for logical plans, without those that give wrong rows.
//!
//! * **Conditions without columns** move below every aggregate. An aggregate without groups, or with an empty grouping set,
//!   has a row even for no input, which the condition no longer drops. Such a condition stands there in the statement, or
//!   comes of one over a projection's constant: `SELECT k FROM (SELECT 1 AS k FROM (SELECT max(x) FROM t)) WHERE k = 2`.
//!   [`tied`] gives it a column of the aggregate first.
//! * **Keys of aggregates** are wrong: [`GroupKeys`] corrects them before the rules that leave out columns of GROUP BY and of
//!   ORDER BY, and joins. DISTINCT always becomes groups ([`as_groups`]), also that of calls ([`DistinctCalls`]).
//! * **Subqueries** are joins of the tree already: the rules for these have nothing to do.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{Aggregate, Distinct, Expr as PlanExpr, Filter, GroupingSet, LogicalPlan, Operator};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{Optimizer, OptimizerConfig, OptimizerRule};

use crate::engine::distinct_calls::DistinctCalls;
use crate::engine::group_keys::GroupKeys;
use crate::expression::expr_function::ExprFunction;
use crate::expression::translation::{balanced, chain};
use crate::statement::planner_thread::CancellableRule;

/// The names of DataFusion's rules.
const FILTER_PUSHDOWN: &str = "push_down_filter";
const DISTINCT: &str = "replace_distinct_aggregate";
const DISTINCT_CALLS: &str = "single_distinct_aggregation_to_group_by";
const OF_SUBQUERIES: [&str; 4] =
    ["rewrite_set_comparison", "decorrelate_predicate_subquery", "scalar_subquery_to_join", "decorrelate_lateral_join"];
const RELY_ON_KEYS: [&str; 3] = ["eliminate_join", "eliminate_duplicated_expr", "optimize_projections"];

/// The rules, which stop with their statement.
pub(super) fn optimizer() -> Optimizer {
    let corrected = |rule: Arc<dyn OptimizerRule + Send + Sync>| -> Arc<dyn OptimizerRule + Send + Sync> {
        let rewrite: Rewrite = match rule.name() {
            FILTER_PUSHDOWN => with_tied_conditions,
            DISTINCT => as_groups,
            _ => return rule,
        };
        Arc::new(Corrected { rule, rewrite })
    };
    let rules = Optimizer::new().rules.into_iter().filter(|rule| !OF_SUBQUERIES.contains(&rule.name()));
    let rules = rules.flat_map(|rule| {
        let keys = RELY_ON_KEYS.contains(&rule.name()).then(|| Arc::new(GroupKeys) as _);
        let calls = (rule.name() == DISTINCT_CALLS).then(|| Arc::new(DistinctCalls) as _);
        keys.into_iter().chain(calls).chain([corrected(rule)])
    });
    Optimizer::with_rules(rules.map(|rule| Arc::new(CancellableRule(rule)) as _).collect())
}

/// What a rule does to a node.
type Rewrite = fn(&dyn OptimizerRule, LogicalPlan, &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>>;

/// A rule that does something else to some nodes.
#[derive(Debug)]
struct Corrected {
    rule: Arc<dyn OptimizerRule + Send + Sync>,
    rewrite: Rewrite,
}

impl OptimizerRule for Corrected {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.rule.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        (self.rewrite)(self.rule.as_ref(), plan, config)
    }
}

/// DISTINCT becomes groups of all columns, whatever is known of these.
fn as_groups(
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
fn with_tied_conditions(
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A rule of another name would stay as it is, in silence.
    #[test]
    fn datafusion_names_its_rules_as_expected() {
        let rules = Optimizer::new().rules;
        let names = [FILTER_PUSHDOWN, DISTINCT, DISTINCT_CALLS].into_iter().chain(RELY_ON_KEYS).chain(OF_SUBQUERIES);
        for name in names {
            assert_eq!(rules.iter().filter(|rule| rule.name() == name).count(), 1, "{name}");
        }
    }
}
