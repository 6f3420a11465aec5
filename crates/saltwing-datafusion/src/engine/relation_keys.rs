//! The keys of tables in FROM, as the planner of SQL sees them.
//!
//! A column that the group's key determines needs no place in GROUP BY. So the planner must know keys that hold, before any rule
//! [corrects](super::group_keys) them: in `SELECT d.y FROM (SELECT x, unnest(l) AS y FROM (.. GROUP BY x)) d GROUP BY d.x` no key
//! determines `y`.

use std::sync::atomic::{AtomicBool, Ordering};

use datafusion::common::Result;
use datafusion::logical_expr::planner::{PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning};
use sqlparser::ast::TableFactor;

use crate::engine::group_keys::corrected;

/// Corrects the keys of each table in FROM that is a query.
#[derive(Debug, Default)]
pub(super) struct RelationKeys {
    /// Whether the next table is one whose plan is being corrected: DataFusion asks for it again.
    is_asked_again: AtomicBool,
}

impl RelationPlanner for RelationKeys {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let is_query = matches!(relation, TableFactor::Derived { .. } | TableFactor::Table { args: None, .. });
        if self.is_asked_again.swap(false, Ordering::Relaxed) || !is_query {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        }
        self.is_asked_again.store(true, Ordering::Relaxed);
        let plan = context.plan(relation)?;
        let plan = match plan.schema().functional_dependencies().is_empty() {
            true => plan,
            false => corrected(plan)?.data,
        };
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, None))))
    }
}
