//! Columns that a scan puts out for an order alone, which it keeps by itself.
//!
//! ORDER BY a column that is not selected makes DataFusion read the column, sort by it, and drop it. If the scan gives its rows
//! in this order, the sort goes, and the column is decoded for nothing. A column may also hold values that Arrow has no
//! form for (TIMESTAMPs outside 1677..2262): rows are ordered by them, and must not fail because of them.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::expressions::Column;
use datafusion::physical_plan::projection::ProjectionExec;

use crate::scan::table_scan::TableScanExec;

/// The rule: a projection that only drops columns of a scan becomes a part of the scan. It runs once needless sorts are gone.
#[derive(Debug)]
pub(crate) struct DropOrderColumns;

impl PhysicalOptimizerRule for DropOrderColumns {
    fn name(&self) -> &str {
        "saltwing_order_columns"
    }

    fn schema_check(&self) -> bool {
        true
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let rewritten = plan.transform_up(|node| {
            Ok(match narrower_scan(&node) {
                Some(scan) => Transformed::yes(Arc::new(scan) as _),
                None => Transformed::no(node),
            })
        })?;
        Ok(rewritten.data)
    }
}

/// The scan that puts out what a projection leaves of its columns, in the same order and under their own names.
fn narrower_scan(node: &Arc<dyn ExecutionPlan>) -> Option<TableScanExec> {
    let projection = node.downcast_ref::<ProjectionExec>()?;
    let scan = projection.input().downcast_ref::<TableScanExec>()?;
    let kept = projection.expr().iter().map(|item| {
        let column = item.expr.downcast_ref::<Column>().filter(|column| column.name() == item.alias)?;
        Some(column.index())
    });
    let kept: Vec<usize> = kept.collect::<Option<_>>()?;
    let ascends = kept.is_sorted_by(|a, b| a < b);
    (ascends && !kept.is_empty() && kept.len() < scan.request().columns.len())
        .then(|| scan.with_columns(&kept))
        .flatten()
}
