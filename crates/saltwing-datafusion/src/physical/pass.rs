//! Operators that pass their input's rows on unchanged, and have a side effect or hide properties of the input.

use std::fmt;
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::execution_plan::CardinalityEffect;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};

use crate::RelationalError;

/// The effect of such an operator.
pub(crate) trait Pass: Clone + Send + Sync + 'static {
    /// The operator's name in plans.
    const NAME: &'static str;

    /// Properties of the rows that the planner needs.
    fn properties(&self, input: &Arc<PlanProperties>) -> Arc<PlanProperties> {
        input.clone()
    }

    /// Whether the input may provide the order required of the rows.
    fn keeps_order(&self) -> bool {
        true
    }

    /// The rows of one partition.
    fn stream(&self, input: SendableRecordBatchStream) -> Result<SendableRecordBatchStream> {
        Ok(input)
    }
}

/// The operator.
pub(crate) struct PassExec<P> {
    input: Arc<dyn ExecutionPlan>,
    pass: P,
    properties: Arc<PlanProperties>,
}

impl<P: Pass> PassExec<P> {
    pub(crate) fn over(input: Arc<dyn ExecutionPlan>, pass: P) -> Arc<dyn ExecutionPlan> {
        let properties = pass.properties(input.properties());
        Arc::new(Self { input, pass, properties })
    }
}

impl<P: Pass> fmt::Debug for PassExec<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(P::NAME).field("input", &self.input).finish_non_exhaustive()
    }
}

impl<P: Pass> DisplayAs for PassExec<P> {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(P::NAME)
    }
}

impl<P: Pass> ExecutionPlan for PassExec<P> {
    fn name(&self) -> &str {
        P::NAME
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![self.pass.keeps_order()]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn supports_limit_pushdown(&self) -> bool {
        true
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let [input] = <[_; 1]>::try_from(children).map_err(|_| RelationalError::bug("a pass has one input"))?;
        Ok(Self::over(input, self.pass.clone()))
    }

    fn execute(&self, partition: usize, task: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.pass.stream(self.input.execute(partition, task)?)
    }
}
