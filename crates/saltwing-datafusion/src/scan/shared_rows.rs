//! The rows of a query that several relations read, and that is computed once: a WITH query with `random()` in it, for example.
//!
//! Each relation has a copy of the query's plan. The first copy that is read computes the rows, and keeps them for the others.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::RecordBatch;
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DFSchemaRef, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{
    Expr as PlanExpr, Extension, LogicalPlan, UserDefinedLogicalNode, UserDefinedLogicalNodeCore,
};
use datafusion::physical_expr::{Distribution, EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use datafusion::physical_planner::{ExtensionPlanner, PhysicalPlanner};
use futures::lock::Mutex;
use futures::{StreamExt, TryStreamExt, stream};

use crate::RelationalError;

/// The rows that copies share.
#[derive(Clone, Debug)]
pub(crate) struct SharedRows {
    /// Which WITH query of the statement it is.
    number: usize,
    rows: Arc<Mutex<Option<Kept>>>,
}

/// Rows that were computed, and the memory that they count as.
#[derive(Debug)]
struct Kept {
    batches: Vec<RecordBatch>,
    _reservation: MemoryReservation,
}

/// A copy in a logical plan. No rule looks into it, so that all copies stay alike.
#[derive(Debug)]
struct Shared {
    input: LogicalPlan,
    rows: SharedRows,
}

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.rows.rows, &other.rows.rows) && self.input == other.input
    }
}

impl Eq for Shared {}

impl PartialOrd for Shared {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        if self == other { Some(Ordering::Equal) } else { None }
    }
}

impl Hash for Shared {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rows.number.hash(state);
        self.input.hash(state);
    }
}

impl UserDefinedLogicalNodeCore for Shared {
    fn name(&self) -> &str {
        "Shared"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        self.input.schema()
    }

    fn expressions(&self) -> Vec<PlanExpr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shared: {}", self.rows.number)
    }

    fn with_exprs_and_inputs(&self, _: Vec<PlanExpr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        let [input] = <[_; 1]>::try_from(inputs).map_err(|_| RelationalError::bug("a WITH query is one plan"))?;
        Ok(Self { input, rows: self.rows.clone() })
    }
}

/// The planner of such copies.
pub(crate) struct SharedPlanner;

#[async_trait]
impl ExtensionPlanner for SharedPlanner {
    async fn plan_extension(
        &self,
        _: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _: &[&LogicalPlan],
        inputs: &[Arc<dyn ExecutionPlan>],
        _: &dyn Session,
        _: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let (Some(shared), [input]) = (node.as_any().downcast_ref::<Shared>(), inputs) else { return Ok(None) };
        Ok(Some(Arc::new(SharedExec::new(input.clone(), shared.rows.clone()))))
    }
}

/// A copy in a physical plan.
#[derive(Debug)]
struct SharedExec {
    input: Arc<dyn ExecutionPlan>,
    rows: SharedRows,
    properties: Arc<PlanProperties>,
}

impl SharedExec {
    fn new(input: Arc<dyn ExecutionPlan>, rows: SharedRows) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(input.schema()),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            Boundedness::Bounded,
        );
        Self { input, rows, properties: Arc::new(properties) }
    }
}

impl DisplayAs for SharedExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedExec: {}", self.rows.number)
    }
}

impl ExecutionPlan for SharedExec {
    fn name(&self) -> &str {
        "SharedExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        vec![Distribution::SinglePartition]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let [input] = <[_; 1]>::try_from(children).map_err(|_| RelationalError::bug("a WITH query is one plan"))?;
        Ok(Arc::new(Self::new(input, self.rows.clone())))
    }

    fn execute(&self, _: usize, task: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (input, rows) = (self.input.clone(), self.rows.clone());
        let batches = stream::once(async move {
            let batches = rows.computed(&input, task).await?;
            Ok::<_, datafusion::common::DataFusionError>(stream::iter(batches.into_iter().map(Ok)))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches.try_flatten().boxed())))
    }
}

impl SharedRows {
    pub(crate) fn new(number: usize) -> Self {
        Self { number, rows: Arc::default() }
    }

    /// A copy, which computes the rows by this plan if it is read first.
    pub(crate) fn of(self, input: LogicalPlan) -> LogicalPlan {
        LogicalPlan::Extension(Extension { node: Arc::new(Shared { input, rows: self }) })
    }

    /// The rows, which the first copy that asks computes while the others wait.
    async fn computed(&self, input: &Arc<dyn ExecutionPlan>, task: Arc<TaskContext>) -> Result<Vec<RecordBatch>> {
        let mut kept = self.rows.lock().await;
        if let Some(kept) = &*kept {
            return Ok(kept.batches.clone());
        }
        let reservation = MemoryConsumer::new("rows of a WITH query").register(task.memory_pool());
        let (mut batches, mut rows) = (Vec::new(), input.execute(0, task)?);
        while let Some(batch) = rows.next().await {
            let batch = batch?;
            reservation.try_grow(batch.get_array_memory_size())?;
            batches.push(batch);
        }
        *kept = Some(Kept { batches: batches.clone(), _reservation: reservation });
        Ok(batches)
    }
}
