//! Columns that hold one value or equal each other, hidden from DataFusion in plans that rely on an order.
//!
//! DataFusion tracks which columns of an operator's output are constant, and which are equal, and leaves them out of
//! sorts. It keeps this knowledge where it no longer holds, or loses it after a sort was left out because of it:
//!
//! * An outer join and GROUPING SETS add NULL to a constant.
//! * A sort moves below a join or a UNION. There the column is constant and left out of the sort; above, the constant
//!   is no longer known.
//! * A window's order holds because a column equals another one. A projection drops that other column, and the order
//!   with it.
//!
//! So this rule ends the knowledge at the operator that it comes from. It also ends a known order below GROUPING SETS, whose
//! NULLs are not in that order.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, InputOrderMode, PlanProperties};

use crate::physical::pass::{Pass, PassExec};
use crate::scan::scan_path::rebuilt;

/// The rule. It runs once joins have their sides, and before sorts are placed.
#[derive(Debug)]
pub(crate) struct HideConstants;

impl PhysicalOptimizerRule for HideConstants {
    fn name(&self) -> &str {
        "saltwing_constants"
    }

    fn schema_check(&self) -> bool {
        true
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let is_ordered = plan.exists(|node| Ok(relies_on_order(node)))?;
        let rewritten = plan.transform_up(|node| {
            let over_sets = with_sets_of_unordered(&node)?;
            let node = over_sets.as_ref().unwrap_or(&node);
            // Its inputs tell of none: it is the operator that they come from.
            let is_origin = is_ordered && !is_partial(node) && !node.equivalence_properties().eq_group().is_empty();
            Ok(match is_origin {
                true => Transformed::yes(PassExec::over(node.clone(), Hidden::Equalities)),
                false => Transformed::new_transformed(node.clone(), over_sets.is_some()),
            })
        })?;
        Ok(rewritten.data)
    }
}

/// Whether it is the first half of an aggregate, which is to stay below the second one.
fn is_partial(node: &Arc<dyn ExecutionPlan>) -> bool {
    node.downcast_ref::<AggregateExec>().is_some_and(|aggregate| *aggregate.mode() == AggregateMode::Partial)
}

/// Whether an operator sorts, wants its rows sorted, or finds the end of a group by their order.
fn relies_on_order(node: &Arc<dyn ExecutionPlan>) -> bool {
    let is_sorted_group = |aggregate: &AggregateExec| *aggregate.input_order_mode() != InputOrderMode::Linear;
    node.is::<SortExec>()
        || node.required_input_ordering().iter().any(Option::is_some)
        || node.downcast_ref::<AggregateExec>().is_some_and(is_sorted_group)
}

/// The operator that hides it.
pub(crate) type ConstantsHiddenExec = PassExec<Hidden>;

/// The hidden knowledge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hidden {
    /// Which columns hold one value, and which are equal.
    Equalities,
    /// The order of rows, too.
    AndOrder,
}

/// An aggregate with grouping sets over an input without a known order; `None` for all else.
fn with_sets_of_unordered(node: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(aggregate) = node.downcast_ref::<AggregateExec>() else { return Ok(None) };
    let input = aggregate.input();
    let knows = !input.equivalence_properties().eq_group().is_empty() || input.output_ordering().is_some();
    if aggregate.group_expr().is_single() || !knows {
        return Ok(None);
    }
    rebuilt(node.clone(), PassExec::over(input.clone(), Hidden::AndOrder)).map(Some)
}

impl Pass for Hidden {
    const NAME: &'static str = "ConstantsHiddenExec";

    fn properties(&self, input: &Arc<PlanProperties>) -> Arc<PlanProperties> {
        let known = &input.eq_properties;
        let mut left = EquivalenceProperties::new(known.schema().clone());
        if *self == Self::Equalities {
            left.add_orderings(known.oeq_class().iter().cloned());
        }
        Arc::new(input.as_ref().clone().with_eq_properties(left))
    }

    /// Below this node a sort may be omitted because of constants known there.
    fn keeps_order(&self) -> bool {
        false
    }
}
