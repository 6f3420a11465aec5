//! Which columns determine a row, corrected where DataFusion says too much.
//!
//! * **Groups.** `SELECT DISTINCT a.k, b.y FROM a JOIN b ..` may have many rows for a `k` that is unique in `a`. DataFusion takes
//!   any key of a part of the input for a key of the groups. A part of the group columns is one only if it determines all of them
//!   in the input.
//! * **UNNEST** repeats the rows of its input. DataFusion keeps their keys.
//!
//! By such keys DataFusion's rules leave out columns of GROUP BY and of ORDER BY, and whole joins. DataFusion computes them again
//! whenever a rule changes a node, so [`GroupKeys`] runs before each rule that relies on them.

use std::cell::Cell;
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{
    DFSchema, Dependency, FunctionalDependence, FunctionalDependencies, Result, get_target_functional_dependencies,
};
use datafusion::logical_expr::{Aggregate, LogicalPlan, Unnest};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// Corrects the keys of all nodes of a plan.
#[derive(Debug)]
pub(super) struct GroupKeys;

impl OptimizerRule for GroupKeys {
    fn name(&self) -> &str {
        "group_keys"
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        corrected(plan)
    }
}

/// The plan with the keys of its nodes corrected.
pub(super) fn corrected(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let is_corrected = Cell::new(false);
    plan.transform_up(|node| {
        // The nodes above a corrected one take their keys from it.
        let node = if is_corrected.get() { node.recompute_schema()? } else { node };
        let keys = match &node {
            LogicalPlan::Aggregate(aggregate) => keys_of_groups(aggregate),
            LogicalPlan::Unnest(unnest) if !unnest.schema.functional_dependencies().is_empty() => {
                Some(FunctionalDependencies::empty())
            }
            _ => None,
        };
        let Some(keys) = keys else {
            return Ok(if is_corrected.get() { Transformed::yes(node) } else { Transformed::no(node) });
        };
        is_corrected.set(true);
        with_keys(node, keys).map(Transformed::yes)
    })
}

fn with_keys(mut node: LogicalPlan, keys: FunctionalDependencies) -> Result<LogicalPlan> {
    if let LogicalPlan::Aggregate(Aggregate { schema, .. }) | LogicalPlan::Unnest(Unnest { schema, .. }) = &mut node {
        *schema = Arc::new(DFSchema::clone(schema).with_functional_dependencies(keys)?);
    }
    Ok(node)
}

/// The keys of an aggregate's rows; `None` if those that DataFusion computed hold.
fn keys_of_groups(aggregate: &Aggregate) -> Option<FunctionalDependencies> {
    let groups: Vec<String> = aggregate.group_expr.iter().map(|expr| expr.schema_name().to_string()).collect();
    let input = aggregate.input.schema();
    let columns_of_input = input.field_names();
    let determines_all = |key: &FunctionalDependence| {
        let names: Vec<String> = key.source_indices.iter().filter_map(|&index| groups.get(index)).cloned().collect();
        let determined = get_target_functional_dependencies(input, &names).unwrap_or_default();
        groups.iter().all(|group| {
            names.contains(group) || determined.iter().any(|&index| columns_of_input.get(index) == Some(group))
        })
    };
    let (kept, dropped): (Vec<_>, Vec<_>) =
        aggregate.schema.functional_dependencies().iter().cloned().partition(determines_all);
    if dropped.is_empty() {
        return None;
    }
    let columns: Vec<usize> = (0..aggregate.schema.fields().len()).collect();
    let nullable = aggregate.schema.fields().iter().take(groups.len()).any(|field| field.is_nullable());
    let whole = FunctionalDependence::new((0..groups.len()).collect(), columns, nullable).with_mode(Dependency::Single);
    Some(FunctionalDependencies::new(if kept.is_empty() { vec![whole] } else { kept }))
}
