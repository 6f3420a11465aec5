//! The first physical optimizer rule: it gives scans the requirements of the operators above them.
//!
//! * If a scan can give the order of a sort above it, the rule removes the sort. The sort's limit moves to the scan,
//!   which merges its buckets.
//! * If a plan computes nothing but MIN and MAX of a table, the rule tells the scan.
//! * If a join's keys are the only bounds of a table, the rule replaces the join by a lookup join.
//! * Scans of many rows without limit and order are divided over partitions.
//!
//! The rule runs before DataFusion's own rules, so that they see the declared orders and the limits.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DataFusionError, Result};
use datafusion::physical_expr::split_conjunction;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::limit::GlobalLimitExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use saltwing_plan::{OrderBy, OrderItem};
use saltwing_types::SortOrder;

use crate::expression::expr_function::text_of;
use crate::physical::lookup_advice::advised;
use crate::physical::lookup_join::scans;
use crate::physical::lookup_rule::lookup_join;
use crate::scan::scan_path::{Path, rebuilt};
use crate::scan::scan_request::Ends;
use crate::scan::table_scan::TableScanExec;

/// The rule.
#[derive(Debug)]
pub(crate) struct ScanRule;

impl PhysicalOptimizerRule for ScanRule {
    fn name(&self) -> &str {
        "saltwing_scans"
    }

    fn schema_check(&self) -> bool {
        true
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let single_table = scans(&plan)?.len() == 1;
        let partitions = config.execution.target_partitions;
        let sized = plan.transform_up(|node| match node.downcast_ref::<TableScanExec>() {
            None => Ok(Transformed::no(node)),
            Some(scan) => {
                let sized = scan.with_request(|request| {
                    request.single_table = single_table;
                    request.partitions = partitions;
                })?;
                Ok(Transformed::yes(Arc::new(sized) as Arc<dyn ExecutionPlan>))
            }
        })?;
        let filtered = sized.data.transform_up(|node| {
            let changed = match node.downcast_ref::<FilterExec>() {
                Some(filter) => with_filter_text(&node, filter)?,
                None => None,
            };
            Ok(changed.map_or_else(|| Transformed::no(node), Transformed::yes))
        })?;
        let looked_up = filtered.data.transform_up(|node| {
            let Some(join) = node.downcast_ref::<HashJoinExec>() else { return Ok(Transformed::no(node)) };
            let changed = match lookup_join(join)? {
                Some(lookup) => Some(Arc::new(lookup) as Arc<dyn ExecutionPlan>),
                None => advised(&node, join)?,
            };
            Ok(changed.map_or_else(|| Transformed::no(node), Transformed::yes))
        })?;
        let served = looked_up.data.transform_down(|node| {
            let changed = if let Some(sort) = node.downcast_ref::<SortExec>() {
                without_sort(sort)?
            } else if let Some(aggregate) = node.downcast_ref::<AggregateExec>() {
                with_ends(&node, aggregate)?
            } else {
                None
            };
            Ok(changed.map_or_else(|| Transformed::no(node), Transformed::yes))
        })?;
        with_open_limit(served.data)
    }
}

/// Passes the filter above a scan to it, for EXPLAIN.
fn with_filter_text(node: &Arc<dyn ExecutionPlan>, filter: &FilterExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(path) = Path::below(filter.input()) else { return Ok(None) };
    let Some(scan) = path.scan() else { return Ok(None) };
    let parts = split_conjunction(filter.predicate());
    let texts: Vec<String> = parts.into_iter().map(text_of).collect();
    let scan = scan.with_opaque(&texts);
    let input = path.over(scan)?;
    rebuilt(node.clone(), input).map(Some)
}

/// Marks the only scan of a plain statement if its limit is a parameter without a value.
fn with_open_limit(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let Some(path) = Path::below(&plan).filter(|path| path.all_rows) else { return Ok(plan) };
    let Some(scan) = path.scan().filter(|scan| scan.table_use().reading.limit_open) else { return Ok(plan) };
    let scan = scan.with_request(|request| request.limit_open = true)?;
    path.over(scan)
}

/// The replacement of a sort whose order the scan below can give.
fn without_sort(sort: &SortExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(path) = Path::below(sort.input()) else { return Ok(None) };
    let order: Option<Vec<OrderItem>> = sort
        .expr()
        .iter()
        .map(|item| {
            let order = if item.options.descending { SortOrder::Desc } else { SortOrder::Asc };
            let by = match path.sorted_column(&item.expr) {
                Some(column) => OrderBy::Column(column),
                None => OrderBy::KeyPart(path.key_part(&item.expr)?),
            };
            Some(OrderItem { by, order, nulls_first: item.options.nulls_first })
        })
        .collect();
    let (Some(order), Some(scan)) = (order, path.scan()) else { return Ok(None) };
    // Which rows a limit below the sort leaves is not the sort's to change.
    if scan.request().limit.is_some() {
        return Ok(None);
    }
    let fetch = sort.fetch();
    let limit = if path.all_rows { fetch.map(|rows| rows as u64) } else { None };
    let ordered = scan.with_request(|request| {
        request.order = order;
        request.limit = limit;
    })?;
    if !ordered.is_ordered() {
        return Ok(None);
    }
    let all_rows = path.all_rows;
    let plan = path.over(ordered)?;
    Ok(Some(match fetch {
        Some(rows) if !all_rows => Arc::new(GlobalLimitExec::new(plan, 0, Some(rows))),
        _ => plan,
    }))
}

/// Requests only the ends of a column from a scan, if the aggregate computes nothing but its MIN or MAX.
fn with_ends(node: &Arc<dyn ExecutionPlan>, aggregate: &AggregateExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(path) = Path::below(aggregate.input()).filter(|path| path.all_rows) else { return Ok(None) };
    let filtered = aggregate.filter_expr().iter().any(Option::is_some);
    if !aggregate.group_expr().is_empty() || filtered || aggregate.aggr_expr().is_empty() {
        return Ok(None);
    }
    let mut ends: Option<Ends> = None;
    for call in aggregate.aggr_expr() {
        let (min, max) = match call.fun().name() {
            "min" => (true, false),
            "max" => (false, true),
            _ => return Ok(None),
        };
        let args = call.expressions();
        let column = match args.as_slice() {
            [arg] => path.sorted_column(arg),
            _ => None,
        };
        ends = match (column, ends) {
            (Some(column), None) => Some(Ends { column, min, max }),
            (Some(column), Some(known)) if known.column == column => {
                Some(Ends { column, min: known.min || min, max: known.max || max })
            }
            _ => return Ok(None),
        };
    }
    let Some(scan) = path.scan() else { return Ok(None) };
    if scan.request().ends.is_some() || scan.request().limit.is_some() || !scan.request().single_table {
        return Ok(None);
    }
    let scan = scan.with_request(|request| request.ends = ends)?;
    let input = path.over(scan)?;
    rebuilt(node.clone(), input).map(Some).map_err(|error: DataFusionError| error.context("MIN and MAX"))
}
