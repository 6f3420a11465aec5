//! Recursive queries that come to no end.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::StreamExt;

use crate::{RelationalError, RelationalErrorKind};

/// How far the recursive queries of a statement go, all together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecursionLimits {
    /// Most rounds; `None` is no limit.
    pub rounds_max: Option<u64>,
    /// Most rows that the rounds make; `None` is no limit.
    pub rows_max: Option<u64>,
}

impl Default for RecursionLimits {
    fn default() -> Self {
        Self { rounds_max: Some(100_000), rows_max: Some(10_000_000) }
    }
}

/// The plan with its recursive queries held to the limits. It is to be run, not to be optimized further.
pub(crate) fn limited(plan: Arc<dyn ExecutionPlan>, limits: RecursionLimits) -> Result<Arc<dyn ExecutionPlan>> {
    let done = Arc::new(Done::default());
    let limited = plan.transform_up(|node| {
        let Some(query) = node.downcast_ref::<RecursiveQueryExec>() else { return Ok(Transformed::no(node)) };
        let round = RoundExec { input: query.recursive_term().clone(), limits, done: done.clone() };
        let children = vec![query.static_term().clone(), Arc::new(round) as Arc<dyn ExecutionPlan>];
        let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        Ok(Transformed::yes(node.replace_children(children, options)?))
    })?;
    Ok(limited.data)
}

/// What the recursive queries of a statement did so far.
#[derive(Debug, Default)]
struct Done {
    rounds: AtomicU64,
    rows: AtomicU64,
}

/// The recursive term of a query: it runs once a round.
struct RoundExec {
    input: Arc<dyn ExecutionPlan>,
    limits: RecursionLimits,
    done: Arc<Done>,
}

impl fmt::Debug for RoundExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoundExec").field("input", &self.input).finish_non_exhaustive()
    }
}

impl DisplayAs for RoundExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RoundExec")
    }
}

impl ExecutionPlan for RoundExec {
    fn name(&self) -> &str {
        "RoundExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let [input] = <[_; 1]>::try_from(children).map_err(|_| RelationalError::bug("a round has one input"))?;
        Ok(Arc::new(Self { input, limits: self.limits, done: self.done.clone() }))
    }

    fn execute(&self, partition: usize, task: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (limits, done) = (self.limits, self.done.clone());
        let rounds = done.rounds.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(max) = limits.rounds_max.filter(|max| rounds > *max) {
            return Err(beyond("recursion_rounds_max", max, "rounds").into());
        }
        let batches = self.input.execute(partition, task)?;
        let counted = batches.map(move |batch| {
            let batch = batch?;
            let rows = done.rows.fetch_add(batch.num_rows() as u64, Ordering::Relaxed) + batch.num_rows() as u64;
            match limits.rows_max.filter(|max| rows > *max) {
                Some(max) => Err(beyond("recursion_rows_max", max, "rows").into()),
                None => Ok(batch),
            }
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), counted)))
    }
}

fn beyond(setting: &str, max: u64, what: &str) -> RelationalError {
    let text = format!("the recursive query did not end within {max} {what}, the limit of {setting}");
    let error = RelationalError::from(RelationalErrorKind::BeyondLimit(text));
    error.help(format!("give it a condition that ends it, or SET {setting} to more, or to 0 for no limit"))
}
