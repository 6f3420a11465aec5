//! Columns with one constant value, hidden from DataFusion above operators where it draws wrong conclusions from them.
//!
//! DataFusion tracks which columns of an operator's output are constant, and which are equal, and leaves them out of
//! sorts. It keeps a constant where it no longer holds, or loses it after a sort was left out because of it:
//!
//! * An outer join and GROUPING SETS add NULL to the constant.
//! * A sort moves below a join or a UNION. There the column is constant and left out of the sort; above, the constant
//!   is no longer known.
//! * A window's order holds because a column equals another one. A projection drops that other column, and the order
//!   with it.
//!
//! So this rule ends the knowledge at these operators, and sorts stay above them.

use std::sync::Arc;

use datafusion::common::JoinType;
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, PlanProperties};

use crate::physical::pass::{Pass, PassExec};

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
            let hidden = hidden(&node)?;
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

/// The inputs of an operator over what hides that of them which it must not know, and the operator; `None` if it may
/// know all.
fn hidden(node: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if node.is::<UnionExec>() {
        let known = node.children().into_iter().any(knows_equalities);
        return Ok(known.then(|| PassExec::over(node.clone(), Hidden::AndOrder)));
    }
    let mut any = false;
    let inputs = node.children().into_iter().enumerate().map(|(place, input)| match hidden_input(node, place) {
        Some(hidden) => {
            any = true;
            PassExec::over(input.clone(), hidden)
        }
        None => input.clone(),
    });
    let inputs: Vec<_> = inputs.collect();
    let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
    any.then(|| node.clone().replace_children(inputs, options)).transpose()
}

/// Hides the constants of an input from an operator.
fn hidden_input(node: &Arc<dyn ExecutionPlan>, place: usize) -> Option<Hidden> {
    let input = *node.children().get(place)?;
    if let Some(aggregate) = node.downcast_ref::<AggregateExec>() {
        let knows = knows_equalities(input) || input.properties().output_ordering().is_some();
        return (!aggregate.group_expr().is_single() && knows).then_some(Hidden::AndOrder);
    }
    let is_window = node.is::<WindowAggExec>() || node.is::<BoundedWindowAggExec>();
    if (is_window && mixes_nulls(input)) || (is_null_beside(node, place) && knows_equalities(input)) {
        return Some(Hidden::Equalities);
    }
    None
}

/// Whether a join puts NULL beside the rows of an input.
fn is_null_beside(node: &Arc<dyn ExecutionPlan>, place: usize) -> bool {
    let join_type = if let Some(join) = node.downcast_ref::<HashJoinExec>() {
        join.join_type
    } else if let Some(join) = node.downcast_ref::<NestedLoopJoinExec>() {
        *join.join_type()
    } else if let Some(join) = node.downcast_ref::<SortMergeJoinExec>() {
        join.join_type()
    } else {
        return false;
    };
    match join_type {
        JoinType::Full => true,
        JoinType::Left => place == 1,
        JoinType::Right => place == 0,
        _ => false,
    }
}

fn knows_equalities(input: &Arc<dyn ExecutionPlan>) -> bool {
    !input.equivalence_properties().eq_group().is_empty()
}

/// Whether a column that can be NULL equals one that cannot: places of NULLs in orders tell them apart.
fn mixes_nulls(input: &Arc<dyn ExecutionPlan>) -> bool {
    let schema = input.schema();
    input.equivalence_properties().eq_group().iter().any(|class| {
        let can_be_null = |expr: &Arc<dyn PhysicalExpr>| expr.nullable(&schema).unwrap_or(true);
        let nullable = class.iter().filter(|expr| can_be_null(expr)).count();
        nullable > 0 && nullable < class.len()
    })
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
