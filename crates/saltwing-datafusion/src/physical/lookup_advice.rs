//! What lets a join look up a table that is refused: an index on the columns that the join equates.
//!
//! It changes texts only, never the verdict.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::joins::HashJoinExec;
use saltwing_planner::JoinAdvice;

use super::lookup_join::output_of;
use super::lookup_key::Outer;
use super::lookup_rule::{OuterReading, is_permitted, is_refused, lookup_keys, planned_for, reading_of};
use crate::scan::scan_path::Path;

/// The join with the advice of an index, if one would let it look up a side that is refused.
pub(crate) fn advised(node: &Arc<dyn ExecutionPlan>, join: &HashJoinExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    for side in [Outer::Left, Outer::Right] {
        let (outer, inner) = side.of(join);
        if output_of(*join.join_type(), side, join.filter().is_some()).is_none()
            || reading_of(outer)? == OuterReading::Refused
        {
            continue;
        }
        let Some(path) = Path::below_groups(inner) else { continue };
        let Some(scan) = path.scan() else { continue };
        if !is_refused(scan)? || is_permitted(scan)? {
            continue;
        }
        let keys = lookup_keys((join, side, outer), &path, |_| true);
        let Some(planned) = planned_for(scan, &keys)? else { continue };
        if let Some(index) = planned.access()?.advice().first() {
            let advised = scan.with_join_advice(JoinAdvice::Index(index.clone()));
            let inner = path.clone().over(advised)?;
            let children = match side {
                Outer::Left => vec![outer.clone(), inner],
                Outer::Right => vec![inner, outer.clone()],
            };
            let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
            return node.clone().replace_children(children, options).map(Some);
        }
    }
    Ok(None)
}
