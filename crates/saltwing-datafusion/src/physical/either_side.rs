//! Joins both of whose sides are refused: each tells of the other way.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::physical_plan::ExecutionPlan;
use saltwing_planner::JoinAdvice;

use crate::RelationalError;
use crate::scan::scan_path::Path;
use crate::scan::scan_statistics::rows_read;
use crate::scan::table_scan::TableScanExec;

/// The outer side of a join, both sides of which are refused and could be looked up for the other: it tells of the other
/// way.
pub(super) fn of_either_side(
    outer: &Arc<dyn ExecutionPlan>,
    inner: &Arc<dyn ExecutionPlan>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let (Some(path), Some(other)) = (Path::below_groups(outer), Path::below_groups(inner)) else {
        return Ok(outer.clone());
    };
    let (Some(scan), Some(other)) = (path.scan(), other.scan()) else { return Ok(outer.clone()) };
    let name = |scan: &TableScanExec| scan.table_use().table.def().name.to_string();
    // A hint names a table, not one use of it.
    if name(scan) == name(other) {
        return Ok(outer.clone());
    }
    let rows = |scan: &TableScanExec| Ok::<_, RelationalError>(rows_read(scan.table_use(), scan.access()?));
    let advice = JoinAdvice::FullScanOf { table: name(other), rows: rows(other)?, own_rows: rows(scan)? };
    let advised = scan.with_join_advice(advice);
    path.over(advised)
}
