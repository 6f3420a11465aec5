//! The first analyzer rule: it turns subqueries into joins.

use datafusion::common::Result;
use datafusion::common::alias::AliasGenerator;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::AnalyzerRule;

use crate::unnesting::{check_closed, prepared, unnested, with_bounded_sides};

/// The rule.
#[derive(Debug)]
pub(crate) struct Unnesting;

impl AnalyzerRule for Unnesting {
    fn name(&self) -> &str {
        "saltwing_unnesting"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let names = AliasGenerator::new();
        let unnested = with_bounded_sides(plan)?.transform_up_with_subqueries(|node| {
            Ok(Transformed::yes(unnested(prepared(node)?.recompute_schema()?, &names)?))
        })?;
        check_closed(&unnested.data)?;
        Ok(unnested.data)
    }
}
