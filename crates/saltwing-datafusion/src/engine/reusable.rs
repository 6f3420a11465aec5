//! Plans that can run again.
//!
//! A template runs one physical plan many times, and resets each operator in between with
//! [`ExecutionPlan::reset_state`]. Most operators of DataFusion inherit that method, and an operator that keeps a run's
//! rows without resetting them would give a wrong answer. So only plans of known operators are kept. An operator of any
//! other type, also a new one of DataFusion's, means that the statement is planned for each run.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::TreeNode;
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::{CrossJoinExec, HashJoinExec, NestedLoopJoinExec};
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::placeholder_row::PlaceholderRowExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::union::{InterleaveExec, UnionExec};
use datafusion::physical_plan::windows::BoundedWindowAggExec;

use crate::physical::constants::ConstantsHiddenExec;
use crate::physical::lookup_join::LookupJoinExec;
use crate::scan::table_scan::TableScanExec;

/// The operators that keep nothing of a run, or forget it when they are reset.
const KNOWN: [fn(&dyn ExecutionPlan) -> bool; 22] = [
    is::<AggregateExec>,
    is::<BoundedWindowAggExec>,
    is::<CoalescePartitionsExec>,
    is::<ConstantsHiddenExec>,
    is::<CooperativeExec>,
    is::<CrossJoinExec>,
    is::<DataSourceExec>,
    is::<EmptyExec>,
    is::<FilterExec>,
    is::<GlobalLimitExec>,
    is::<HashJoinExec>,
    is::<InterleaveExec>,
    is::<LocalLimitExec>,
    is::<LookupJoinExec>,
    is::<NestedLoopJoinExec>,
    is::<PlaceholderRowExec>,
    is::<ProjectionExec>,
    is::<RepartitionExec>,
    is::<SortExec>,
    is::<SortPreservingMergeExec>,
    is::<TableScanExec>,
    is::<UnionExec>,
];

fn is<T: ExecutionPlan>(node: &dyn ExecutionPlan) -> bool {
    node.is::<T>()
}

/// Whether each operator of a plan is known to forget a run when it is reset.
pub(crate) fn can_run_again(plan: &Arc<dyn ExecutionPlan>) -> Result<bool> {
    let has_other = plan.exists(|node| Ok(!KNOWN.iter().any(|is_known| is_known(node.as_ref()))))?;
    Ok(!has_other)
}
