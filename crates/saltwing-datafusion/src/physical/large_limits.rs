//! Sorts and aggregates of which many rows are wanted: LIMIT and OFFSET together are large.
//!
//! DataFusion keeps all rows of a limited sort in memory, with those that OFFSET passes over, and spills none.
//! A sort of all rows spills. An aggregate makes room for all groups that its limit allows before it has one: a large limit ends
//! in a panic. Its limit is a hint, and a limit stands above it, too.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::limit::LocalLimitExec;
use datafusion::physical_plan::sorts::sort::SortExec;

/// Most rows that a sort keeps in memory, and most groups that the limit of an aggregate may name.
const ROWS_KEPT_MAX: usize = 10_000;

/// The rule: a sort of which more rows are wanted sorts all, and a limit stands above it; an aggregate has no limit then. It runs once limits are where they
/// stay.
#[derive(Debug)]
pub(crate) struct SpillLargeLimits;

impl PhysicalOptimizerRule for SpillLargeLimits {
    fn name(&self) -> &str {
        "saltwing_large_limits"
    }

    fn schema_check(&self) -> bool {
        true
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let rewritten = plan.transform_up(|node| {
            if let Some(aggregate) = node.downcast_ref::<AggregateExec>()
                && aggregate.limit_options().is_some_and(|options| options.limit() > ROWS_KEPT_MAX)
            {
                return Ok(Transformed::yes(Arc::new(aggregate.with_new_limit_options(None)) as _));
            }
            let limited = node.downcast_ref::<SortExec>().and_then(|sort| Some((sort, sort.fetch()?)));
            Ok(match limited.filter(|(_, rows)| *rows > ROWS_KEPT_MAX) {
                Some((sort, rows)) => {
                    Transformed::yes(Arc::new(LocalLimitExec::new(Arc::new(sort.with_fetch(None)), rows)) as _)
                }
                None => Transformed::no(node),
            })
        })?;
        Ok(rewritten.data)
    }
}
