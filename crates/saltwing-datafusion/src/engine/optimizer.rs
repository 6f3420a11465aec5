//! DataFusion's rules for logical plans, corrected by the list in [`super::corrections`].

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{Optimizer, OptimizerConfig, OptimizerRule};

use crate::engine::corrections::{LOGICAL, LogicalCorrection};
use crate::engine::distinct_calls::DistinctCalls;
use crate::engine::node_rewrites::Rewrite;
use crate::statement::planner_thread::CancellableRule;

/// Rules for subqueries, which are joins of the tree already: these have nothing to do.
const OF_SUBQUERIES: [&str; 4] =
    ["rewrite_set_comparison", "decorrelate_predicate_subquery", "scalar_subquery_to_join", "decorrelate_lateral_join"];

/// [`DistinctCalls`] runs before this rule: it makes groups of more calls, whose values then go to temporary files.
const DISTINCT_CALLS: &str = "single_distinct_aggregation_to_group_by";

type LogicalRule = Arc<dyn OptimizerRule + Send + Sync>;

/// The rules, which stop with their statement.
pub(super) fn optimizer() -> Optimizer {
    let rules = Optimizer::new().rules.into_iter().filter(|rule| !OF_SUBQUERIES.contains(&rule.name()));
    let rules = rules.flat_map(|rule| {
        let calls = (rule.name() == DISTINCT_CALLS).then(|| Arc::new(DistinctCalls) as LogicalRule);
        calls.into_iter().chain(corrected(rule))
    });
    Optimizer::with_rules(rules.map(|rule| Arc::new(CancellableRule(rule)) as _).collect())
}

/// What runs instead of a rule.
fn corrected(rule: LogicalRule) -> Vec<LogicalRule> {
    match LOGICAL.iter().find(|correction| correction.name == rule.name()).map(|correction| correction.instead) {
        None => vec![rule],
        Some(LogicalCorrection::After(first)) => vec![first(), rule],
        Some(LogicalCorrection::OfNodes(rewrite)) => vec![Arc::new(Corrected { rule, rewrite })],
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    /// A rule of another name would stay as it is, in silence.
    #[test]
    fn datafusion_names_its_rules_as_expected() {
        let rules = Optimizer::new().rules;
        let names = LOGICAL.iter().map(|correction| correction.name).chain([DISTINCT_CALLS]).chain(OF_SUBQUERIES);
        for name in names {
            assert_eq!(rules.iter().filter(|rule| rule.name() == name).count(), 1, "{name}");
        }
    }
}
