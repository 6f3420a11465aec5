//! Columns with one constant value, hidden from DataFusion where it draws wrong conclusions from them.
//!
//! DataFusion tracks which columns of an operator's output are constant, and leaves them out of sorts. It keeps a constant
//! where it no longer holds, because an outer join or GROUPING SETS add NULL to it. Or it moves a sort below a join or a
//! UNION, where the column is constant and left out of the sort; above, the constant is no longer known.
//!
//! So this rule ends the knowledge at the operator that a constant comes from, and below GROUPING SETS. Sorts stay above.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, PlanProperties};

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
        let is_ordered = plan.exists(|node| Ok(wants_order(node)))?;
        let told = plan.transform_up(|node| {
            let hidden = below_grouping_sets(&node)?;
            let node = hidden.as_ref().unwrap_or(&node);
            // Its inputs tell of none: it is the operator that the values come from.
            let is_origin = is_ordered && !is_partial(node) && !node.equivalence_properties().constants().is_empty();
            Ok(match is_origin {
                true => Transformed::yes(PassExec::over(node.clone(), Hidden::Equalities)),
                false => Transformed::new_transformed(node.clone(), hidden.is_some()),
            })
        })?;
        Ok(told.data)
    }
}

/// Whether it is the first half of an aggregate, which is to stay below the second one.
fn is_partial(node: &Arc<dyn ExecutionPlan>) -> bool {
    node.downcast_ref::<AggregateExec>().is_some_and(|aggregate| *aggregate.mode() == AggregateMode::Partial)
}

/// Whether an operator sorts, or wants its rows sorted.
fn wants_order(node: &Arc<dyn ExecutionPlan>) -> bool {
    node.is::<SortExec>() || node.required_input_ordering().iter().any(Option::is_some)
}

/// The hidden constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hidden {
    /// Which columns hold one value, and which are equal.
    Equalities,
    /// The order of rows, too.
    AndOrder,
}

/// An aggregate of several grouping sets that knows nothing of its input; `None` for another operator, and where
/// nothing is known.
fn below_grouping_sets(node: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(aggregate) = node.downcast_ref::<AggregateExec>() else { return Ok(None) };
    let known = aggregate.input().properties();
    if aggregate.group_expr().is_single()
        || known.eq_properties.eq_group().is_empty() && known.output_ordering().is_none()
    {
        return Ok(None);
    }
    let input = PassExec::over(aggregate.input().clone(), Hidden::AndOrder);
    rebuilt(node.clone(), input).map(Some)
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
