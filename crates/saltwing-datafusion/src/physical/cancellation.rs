//! Operators that stop when their statement is cancelled or times out.
//!
//! Scans check the statement's budget between their batches. An operator above may make millions of batches out of two,
//! or search for a match for minutes. So its output is checked between batches, and so are the conditions that joins
//! evaluate.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{FieldRef, Schema};
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, NestedLoopJoinExecBuilder};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;

use saltwing_access::ScanContext;

use crate::RelationalError;
use crate::physical::pass::{Pass, PassExec};
use crate::scan::table_scan::TableScanExec;
use crate::statement::current::{enter, stopped};

/// The plan with its operators watched. It is to be run, not to be optimized further.
pub(crate) fn watched(plan: Arc<dyn ExecutionPlan>, context: &ScanContext) -> Result<Arc<dyn ExecutionPlan>> {
    let watched = plan.transform_up(|node| {
        // A scan watches itself.
        if node.is::<TableScanExec>() {
            return Ok(Transformed::no(node));
        }
        let input = with_watched_filter(node, context)?;
        Ok(Transformed::yes(PassExec::over(input, Watch(context.clone()))))
    })?;
    Ok(watched.data)
}

/// A join whose condition is watched: it may be checked for all pairs of rows before one comes out.
fn with_watched_filter(node: Arc<dyn ExecutionPlan>, context: &ScanContext) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(join) = node.downcast_ref::<NestedLoopJoinExec>() {
        let filter = join.filter().map(|filter| watched_filter(filter, context));
        return Ok(Arc::new(NestedLoopJoinExecBuilder::from(join).with_filter(filter).build()?));
    }
    match node.downcast_ref::<HashJoinExec>() {
        Some(join) if join.filter().is_some() => {
            let filter = join.filter().map(|filter| watched_filter(filter, context));
            join.builder().with_filter(filter).build_exec()
        }
        _ => Ok(node),
    }
}

fn watched_filter(filter: &JoinFilter, context: &ScanContext) -> JoinFilter {
    let condition = WatchExpr { inner: filter.expression().clone(), context: context.clone() };
    JoinFilter::new(Arc::new(condition), filter.column_indices().to_vec(), filter.schema().clone())
}

/// Its input's batches, while the statement may run.
#[derive(Clone)]
struct Watch(ScanContext);

impl Pass for Watch {
    const NAME: &'static str = "WatchExec";

    fn stream(&self, mut input: SendableRecordBatchStream) -> Result<SendableRecordBatchStream> {
        let (context, schema) = (self.0.clone(), input.schema());
        let watched = futures::stream::poll_fn(move |waker| {
            let entered = enter(&context);
            let polled = input.poll_next_unpin(waker);
            drop(entered);
            polled.map(|batch| batch.map(|batch| stopped(&context).and(batch)))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, watched)))
    }
}

/// A condition that is an error once the statement may not run any more.
struct WatchExpr {
    inner: Arc<dyn PhysicalExpr>,
    context: ScanContext,
}

impl fmt::Debug for WatchExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl fmt::Display for WatchExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl PartialEq for WatchExpr {
    fn eq(&self, other: &Self) -> bool {
        self.inner.eq(&other.inner)
    }
}

impl Eq for WatchExpr {}

impl Hash for WatchExpr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.inner.hash(state);
    }
}

impl PhysicalExpr for WatchExpr {
    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        stopped(&self.context)?;
        self.inner.evaluate(batch)
    }

    fn return_field(&self, schema: &Schema) -> Result<FieldRef> {
        self.inner.return_field(schema)
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.inner]
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn PhysicalExpr>>) -> Result<Arc<dyn PhysicalExpr>> {
        let [inner] = <[_; 1]>::try_from(children).map_err(|_| RelationalError::bug("a watch has one condition"))?;
        Ok(Arc::new(Self { inner, context: self.context.clone() }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt_sql(f)
    }
}
