//! Limits of recursive queries.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;

use crate::physical::pass::{Pass, PassExec};
use crate::request::RecursionLimits;
use crate::{RelationalError, RelationalErrorKind};

/// The plan with its recursive queries held to the limits. It is to be run, not to be optimized further.
pub(crate) fn limited(plan: Arc<dyn ExecutionPlan>, limits: RecursionLimits) -> Result<Arc<dyn ExecutionPlan>> {
    let done = Arc::new(Done::default());
    let limited = plan.transform_up(|node| {
        let Some(query) = node.downcast_ref::<RecursiveQueryExec>() else { return Ok(Transformed::no(node)) };
        let round = PassExec::over(query.recursive_term().clone(), Round { limits, done: done.clone() });
        let children = vec![query.static_term().clone(), round];
        let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        Ok(Transformed::yes(node.replace_children(children, options)?))
    })?;
    Ok(limited.data)
}

/// The rounds and rows of a statement's recursive queries so far.
#[derive(Debug, Default)]
struct Done {
    rounds: AtomicU64,
    rows: AtomicU64,
}

/// The recursive term of a query: it runs once a round.
#[derive(Clone)]
struct Round {
    limits: RecursionLimits,
    done: Arc<Done>,
}

impl Pass for Round {
    const NAME: &'static str = "RoundExec";

    fn stream(&self, input: SendableRecordBatchStream) -> Result<SendableRecordBatchStream> {
        let (limits, done) = (self.limits, self.done.clone());
        let rounds = done.rounds.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(max) = limits.rounds_max.filter(|max| rounds > *max) {
            return Err(beyond("recursion_rounds_max", max, "rounds").into());
        }
        let schema = input.schema();
        let counted = input.map(move |batch| {
            let batch = batch?;
            let rows = done.rows.fetch_add(batch.num_rows() as u64, Ordering::Relaxed) + batch.num_rows() as u64;
            match limits.rows_max.filter(|max| rows > *max) {
                Some(max) => Err(beyond("recursion_rows_max", max, "rows").into()),
                None => Ok(batch),
            }
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, counted)))
    }
}

fn beyond(setting: &str, max: u64, what: &str) -> RelationalError {
    let text = format!("the recursive query did not end within {max} {what}, the limit of {setting}");
    let error = RelationalError::from(RelationalErrorKind::BeyondLimit(text));
    error.help(format!("give it a condition that ends it, or SET {setting} to more, or to 0 for no limit"))
}
