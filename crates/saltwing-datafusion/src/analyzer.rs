//! The first analyzer rule: it turns DataFusion's expressions into ours, and subqueries into joins.

use datafusion::common::Result;
use datafusion::common::alias::AliasGenerator;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::AnalyzerRule;

use crate::lowering::lower_plan;
use crate::unnesting::{check_closed, prepared, unnested, with_bounded_sides};

/// The rule.
#[derive(Debug)]
pub(crate) struct Lowering;

impl AnalyzerRule for Lowering {
    fn name(&self) -> &str {
        "saltwing_lowering"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let names = AliasGenerator::new();
        // A node above must know what values of subqueries below can be NULL: nothing is lowered ahead of these.
        let plan = with_bounded_sides(plan)?;
        let lowered = plan.transform_up_with_subqueries(|node| {
            let was_filter = matches!(node, LogicalPlan::Filter(_));
            let lowered = lower_plan(prepared(node)?)?;
            // Volatile conditions stand in nodes of their own, above the others.
            if was_filter && !matches!(lowered, LogicalPlan::Filter(_)) {
                return lowered.transform_up(|part| Ok(Transformed::yes(unnested(part, &names)?)));
            }
            Ok(Transformed::yes(unnested(lowered, &names)?))
        })?;
        check_closed(&lowered.data)?;
        Ok(lowered.data)
    }
}
