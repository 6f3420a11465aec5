//! The leaf operator of physical plans: it reads the key ranges of one table.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::task::{self, Poll};

use arrow::array::RecordBatch;
use arrow::compute::SortOptions;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::expressions::Column;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties, Statistics,
};
use saltwing_access::{RowSource, ScanContext, ScanRoute, Snapshot, TableError};
use saltwing_bind::ParamValues;
use saltwing_plan::{OrderBy, Use};
use saltwing_planner::{JoinAdvice, TableAccess, keys_of_rows, plan};
use saltwing_types::{SortOrder, SqlType, Value};

use crate::RelationalError;
use crate::scan::batches::{BatchSource, ReadPlace, batches};
use crate::scan::scan_part::{Part, parts, whole};
use crate::scan::scan_request::{QueryContext, ScanRequest, TableUse, access_request, bound_conditions, sampled};
use crate::scan::scan_statistics::{rows_of, statistics};

/// Most rows of a scan that a worker reads: about a millisecond's worth.
const WORKER_ROWS: u64 = 16_384;

/// Reads a table.
pub(crate) struct TableScanExec {
    of: TableUse,
    request: ScanRequest,
    /// `None` until the plan above is known: [`crate::physical::scan_rule`] plans the access again then.
    access: Option<TableAccess>,
    /// By partition.
    parts: Vec<Part>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
    /// With counters of this scan alone.
    context: ScanContext,
    /// The estimated number of output rows, once it is computed.
    rows: OnceLock<Option<u64>>,
    /// Whether it reads few rows, once it has run.
    is_short: OnceLock<bool>,
}

impl TableScanExec {
    /// A scan that is not planned yet.
    pub(crate) fn new(of: TableUse, request: ScanRequest) -> Self {
        let context = of.reading.context.for_another_scan();
        Self::with_parts(of, request, None, whole(), context)
    }

    fn with_parts(
        of: TableUse,
        request: ScanRequest,
        access: Option<TableAccess>,
        parts: Vec<Part>,
        context: ScanContext,
    ) -> Self {
        let schema = of.schema(&request.columns);
        let is_ordered = access.as_ref().is_some_and(TableAccess::is_ordered);
        let orderings = ordering(&of, &request, is_ordered, &schema);
        let equivalences = EquivalenceProperties::new_with_orderings(schema.clone(), orderings);
        let partitioning = Partitioning::UnknownPartitioning(parts.len());
        let properties =
            PlanProperties::new(equivalences, partitioning, EmissionType::Incremental, Boundedness::Bounded);
        let (properties, rows, is_short) = (Arc::new(properties), OnceLock::new(), OnceLock::new());
        Self { of, request, access, parts, schema, properties, context, rows, is_short }
    }

    /// The same scan with another request, planned.
    pub(crate) fn with_request(&self, change: impl FnOnce(&mut ScanRequest)) -> Result<Self, RelationalError> {
        let mut request = self.request.clone();
        change(&mut request);
        let access = planned(&self.of, &request)?;
        let parts = parts(&self.of, &request, &access)?;
        Ok(Self::with_parts(self.of.clone(), request, Some(access), parts, self.context.clone()))
    }

    /// The same scan, which reads the rows in which these columns equal one of these rows of values; the last of its
    /// conditions, one for each column, say so without values. `None` where that takes a plan.
    pub(crate) fn of_keys(
        &self,
        columns: &[usize],
        rows: impl IntoIterator<Item = Vec<Value>>,
    ) -> Result<Option<Self>, RelationalError> {
        let access = self.access()?;
        let plan = access.access();
        let others = self.request.conditions.len().saturating_sub(columns.len());
        let is_residual = plan.predicates.iter().take(others).all(|predicate| predicate.use_ == Use::Residual);
        if !is_residual
            || !access.is_by_table_key()
            || plan.residual.iter().any(|condition| condition.expr.has_parameter())
        {
            return Ok(None);
        }
        let Some(keys) = keys_of_rows(&self.of.table, columns, rows) else { return Ok(None) };
        let parts = vec![Part::Along(access.route_over(keys, None))];
        let (of, request, context) = (self.of.clone(), self.request.clone(), self.context.clone());
        Ok(Some(Self::with_parts(of, request, self.access.clone(), parts, context)))
    }

    /// The same scan, which knows of conditions that operators above check: they change nothing of its plan.
    pub(crate) fn with_opaque(&self, conditions: &[String]) -> Self {
        let mut request = self.request.clone();
        request.opaque.extend_from_slice(conditions);
        let access = self.access.clone().map(|access| access.with_opaque(conditions));
        Self::with_parts(self.of.clone(), request, access, self.parts.clone(), self.context.clone())
    }

    /// The same scan, whose refusal gives this advice: it changes nothing of its plan.
    pub(crate) fn with_join_advice(&self, advice: JoinAdvice) -> Self {
        let access = self.access.clone().map(|access| access.with_join_advice(&advice));
        let mut request = self.request.clone();
        request.join_advice.push(advice);
        Self::with_parts(self.of.clone(), request, access, self.parts.clone(), self.context.clone())
    }

    /// The same scan, which puts out some of its columns, by their places in its output; `None` if there is no such place.
    pub(crate) fn with_columns(&self, kept: &[usize]) -> Option<Self> {
        let columns = kept.iter().map(|&place| self.request.columns.get(place).copied()).collect::<Option<_>>()?;
        let request = ScanRequest { columns, ..self.request.clone() };
        Some(Self::with_parts(self.of.clone(), request, self.access.clone(), self.parts.clone(), self.context.clone()))
    }

    /// Its request.
    pub(crate) fn request(&self) -> &ScanRequest {
        &self.request
    }

    /// How the table is read.
    pub(crate) fn access(&self) -> Result<&TableAccess, RelationalError> {
        self.access.as_ref().ok_or_else(|| RelationalError::bug("a scan was not planned"))
    }

    /// Whether rows come in the requested order.
    pub(crate) fn is_ordered(&self) -> bool {
        self.access.as_ref().is_some_and(TableAccess::is_ordered)
    }

    /// The estimated output rows; `None` if only execution knows the ranges.
    pub(crate) fn rows(&self) -> Option<u64> {
        *self.rows.get_or_init(|| {
            let access = sampled(&self.of, &self.request, self.access.as_ref()?)?;
            Some(rows_of(&self.of, &access)?.min(self.request.limit.unwrap_or(u64::MAX)))
        })
    }

    /// The same scan for another run of the statement, where parameters have these values, if any: those of the last
    /// `open` conditions stay without. `None` where these values want another plan.
    pub(crate) fn bound(
        &self,
        reading: &Arc<QueryContext>,
        values: Option<ParamValues<'_>>,
        open: usize,
    ) -> Result<Option<Self>, RelationalError> {
        let of = TableUse { reading: reading.clone(), ..self.of.clone() };
        let known = self.access()?;
        let (own, later) = self.request.conditions.split_at(self.request.conditions.len().saturating_sub(open));
        let (request, access, is_short) = if let Some(values) = values
            && own.iter().any(|condition| condition.expr.has_parameter())
        {
            let Some(mut conditions) = bound_conditions(own, values) else { return Ok(None) };
            conditions.extend_from_slice(later);
            let request = ScanRequest { conditions, ..self.request.clone() };
            let access = planned(&of, &request)?;
            (request, access, OnceLock::new())
        } else {
            (self.request.clone(), known.clone(), self.is_short.clone())
        };
        // The plan above relies on these properties, so they must still hold.
        let is_refused = |access: &TableAccess| access.access().verdict.is_refused();
        if access.is_ordered() != known.is_ordered() || is_refused(&access) && !is_refused(known) {
            return Ok(None);
        }
        let (schema, properties) = (self.schema.clone(), self.properties.clone());
        let (context, rows, parts) = (reading.context.for_another_scan(), OnceLock::new(), self.parts.clone());
        Ok(Some(Self { of, request, access: Some(access), parts, schema, properties, context, rows, is_short }))
    }

    /// The use of the table that this is.
    pub(crate) fn table_use(&self) -> &TableUse {
        &self.of
    }

    /// The context whose counters are this scan's.
    pub(crate) fn context(&self) -> &ScanContext {
        &self.context
    }

    /// The scan of a partition, not opened yet, and where it is read.
    fn unopened(&self, partition: usize) -> Result<(OpenRows, ReadPlace), RelationalError> {
        let part = self.parts.get(partition).ok_or_else(|| RelationalError::bug("no such partition"))?;
        let limit = self.request.limit;
        let (access, route) = match part {
            Part::Within(keys) => {
                let access = self.access()?;
                let route = access.route(limit);
                // The values of this run may leave the part without keys.
                let within = route.within(access.key(), keys);
                (access, within.unwrap_or(ScanRoute { limit: Some(0), ..route }))
            }
            Part::End(access) => (&**access, access.route(Some(1))),
            Part::Along(route) => (self.access()?, route.clone()),
        };
        let spec = access.spec(self.request.columns.clone())?;
        let (snapshot, context) = (self.of.snapshot()?, self.context.clone());
        let place = if self.is_short(part, access, &route, &*snapshot) { ReadPlace::Worker } else { ReadPlace::Pool };
        Ok((Box::new(move || spec.scan(&snapshot, route, context)), place))
    }

    /// Whether the reads of a part take so little time that a worker does them: another thread would take longer to begin.
    fn is_short(&self, part: &Part, access: &TableAccess, route: &ScanRoute, snapshot: &dyn Snapshot) -> bool {
        let few = || snapshot.estimate(access.key_table(), &route.keys).is_ok_and(|it| it.rows <= WORKER_ROWS);
        !snapshot.reads_wait()
            && match part {
                Part::End(_) => true,
                // A scan is split only if it is long.
                Part::Within(_) => self.parts.len() == 1 && *self.is_short.get_or_init(few),
                Part::Along(_) => few(),
            }
    }
}

/// The access of a request, with the conditions and advice of the operators above.
fn planned(of: &TableUse, request: &ScanRequest) -> Result<TableAccess, RelationalError> {
    let access = plan(access_request(of, request))?.with_opaque(&request.opaque);
    Ok(request.join_advice.iter().fold(access, TableAccess::with_join_advice))
}

/// The order in which rows come, as far as it is in the columns put out.
fn ordering(of: &TableUse, request: &ScanRequest, is_ordered: bool, schema: &SchemaRef) -> Vec<Vec<PhysicalSortExpr>> {
    let item = |column: usize, order: SortOrder, nulls_first: bool| {
        let index = request.columns.iter().position(|&c| c == column)?;
        let options = SortOptions { descending: order == SortOrder::Desc, nulls_first };
        Some(PhysicalSortExpr::new(Arc::new(Column::new(schema.field(index).name(), index)), options))
    };
    let items: Vec<PhysicalSortExpr> = if is_ordered {
        let column = |by| if let OrderBy::Column(column) = by { Some(column) } else { None };
        request.order.iter().map_while(|o| item(column(o.by)?, o.order, o.nulls_first)).collect()
    } else if of.table.def().key.salt.is_none() && request.ends.is_none() && of.table.indexes().is_empty() {
        // CHAR sorts as if padded, and Arrow does not pad.
        let keys = of.table.def().key.columns.iter().take_while(|k| !matches!(k.ty, SqlType::Char(_)));
        keys.map_while(|k| item(k.column()?, k.order, true)).collect()
    } else {
        Vec::new()
    };
    if items.is_empty() { Vec::new() } else { vec![items] }
}

impl fmt::Debug for TableScanExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableScanExec")
            .field("table", &self.of.table.def().name)
            .field("request", &self.request)
            .finish()
    }
}

impl DisplayAs for TableScanExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TableScanExec: table={}", self.of.table.def().name)?;
        if let Some(alias) = &self.of.alias {
            write!(f, ", alias={alias}")?;
        }
        let Some(plan) = self.access.as_ref().map(TableAccess::access) else { return Ok(()) };
        write!(f, ", kind={}", plan.kind.as_str())?;
        if self.is_ordered() {
            write!(f, ", order={}", plan.order.as_str())?;
        }
        if let Some(limit) = self.request.limit {
            write!(f, ", limit={limit}")?;
        }
        if self.parts.len() > 1 {
            write!(f, ", partitions={}", self.parts.len())?;
        }
        let residual: Vec<&str> = plan.residual.iter().map(|c| c.text.as_str()).collect();
        if !residual.is_empty() {
            write!(f, ", residual={}", residual.join(" AND "))?;
        }
        Ok(())
    }
}

impl ExecutionPlan for TableScanExec {
    fn name(&self) -> &str {
        "TableScanExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, partition: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (open, place) = self.unopened(partition)?;
        let waits = self.of.snapshot()?.reads_wait();
        let rows = PartRows { scan: Scan::Unopened(open), waits, context: self.context.clone() };
        Ok(batches(rows, place, self.schema.clone()))
    }

    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let part = |rows: u64| if args.partition().is_some() { rows.div_ceil(self.parts.len() as u64) } else { rows };
        Ok(Arc::new(match self.rows() {
            Some(rows) => statistics(&self.of, &self.request.columns, part(rows)),
            None => Statistics::new_unknown(&self.schema),
        }))
    }

    fn fetch(&self) -> Option<usize> {
        self.request.limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX))
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        let limited = self.with_request(|request| request.limit = limit.map(|limit| limit as u64)).ok()?;
        Some(Arc::new(limited))
    }
}

/// Opens a scan.
type OpenRows = Box<dyn FnOnce() -> Result<Box<dyn RowSource>, TableError> + Send>;

/// The rows of a part.
struct PartRows {
    scan: Scan,
    /// Whether reads may wait for a server.
    waits: bool,
    context: ScanContext,
}

impl BatchSource for PartRows {
    fn poll_ready(&mut self, task: &mut task::Context<'_>) -> Option<Poll<()>> {
        if !self.waits {
            return None;
        }
        if let Scan::Unopened(_) = &self.scan {
            let _statement = self.context.enter();
            self.scan = match std::mem::replace(&mut self.scan, Scan::Ended) {
                Scan::Unopened(open) => open().map_or_else(Scan::Failed, Scan::Open),
                opened => opened,
            };
        }
        match &mut self.scan {
            Scan::Open(rows) => rows.poll_ready(task),
            _ => Some(Poll::Ready(())),
        }
    }

    fn next(&mut self) -> Result<Option<RecordBatch>> {
        let _statement = self.context.enter();
        self.scan.next().map_err(|error| RelationalError::from(error).into())
    }
}

/// A scan between two of its batches.
enum Scan {
    Unopened(OpenRows),
    Open(Box<dyn RowSource>),
    /// It could not be opened.
    Failed(TableError),
    /// After the last batch, or an error.
    Ended,
}

impl Scan {
    fn next(&mut self) -> Result<Option<RecordBatch>, TableError> {
        let mut rows = match std::mem::replace(self, Self::Ended) {
            Self::Unopened(open) => open()?,
            Self::Open(rows) => rows,
            Self::Failed(error) => return Err(error),
            Self::Ended => return Ok(None),
        };
        let batch = rows.next_batch()?;
        if batch.is_some() {
            *self = Self::Open(rows);
        }
        Ok(batch)
    }
}
