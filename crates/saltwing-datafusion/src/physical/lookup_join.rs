//! Joins that look up their inner table by key.
//!
//! If the equalities of a join bound the key of a table that has no other bounds, the table is not read as a whole. The
//! operator takes [`LOOKUP_ROWS`] rows of the outer side at a time, reads the inner rows with their keys, and joins
//! these. `lookup_rule.rs` says which joins do so.
//!
//! ```text
//! outer rows -> distinct keys -> WHERE key IN (..) -> ranges -> inner rows
//!      └───────────────────── hash join ─────────────────────────────┘
//! ```
//! The inner rows may be grouped before the join, if the lookup columns are among the grouping columns. Then all rows
//! of a group have the same key, and the lookup reads a group as a whole or not at all.
//!
//! # Invariants
//! 1. The result is that of the join. The lookup may read too many rows; the join drops them.
//! 2. A key is looked up once for each group of outer rows. Each of these rows takes part in the join, because the join asks more of
//!    it than the key.
//! 3. If inner rows alone are the result, an inner row comes out once. Of outer rows that agree in every equality of the join, only
//!    the first takes part, whatever its group: an inner row is equal to all of them or to none. Rows that agree in the key alone
//!    are different rows.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::Schema;
use arrow::row::{OwnedRow, RowConverter, SortField};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::utils::normalize_float_zero;
use datafusion::common::{DataFusionError, JoinType, Result};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{Distribution, EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties, Statistics,
};
use futures::{StreamExt, TryStreamExt, stream};
use saltwing_bind::ParamValues;
use saltwing_expr::value_at;
use saltwing_plan::Condition;
use saltwing_types::{Expr, Value, typing};

use crate::RelationalError;
use crate::physical::lookup_key::{LookupKey, Outer};
use crate::scan::scan_path::Path;
use crate::scan::scan_request::QueryContext;
use crate::scan::table_scan::TableScanExec;

/// Outer rows whose keys are looked up together.
const LOOKUP_ROWS: usize = 1024;
/// A hash join whose inner side is read by keys.
#[derive(Clone)]
pub(crate) struct LookupJoinExec {
    /// The join, as if the inner side were read whole.
    join: Arc<HashJoinExec>,
    outer: Arc<dyn ExecutionPlan>,
    side: Outer,
    keys: Vec<LookupKey>,
    /// From the join down to the inner table, whose scan is planned for keys that are not known yet.
    inner: Path,
    properties: Arc<PlanProperties>,
}

impl LookupJoinExec {
    /// A join of which one side is `outer`; `inner` leads to a scan that is planned for keys without values.
    pub(super) fn new(
        join: &HashJoinExec,
        outer: Arc<dyn ExecutionPlan>,
        side: Outer,
        keys: Vec<LookupKey>,
        inner: Path,
    ) -> Result<Self> {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(join.schema()),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        let (join, properties) = (Arc::new(join.builder().build()?), Arc::new(properties));
        Ok(Self { join, outer, side, keys, inner, properties })
    }

    /// The join, as if the inner side were read whole.
    pub(crate) fn join(&self) -> &HashJoinExec {
        &self.join
    }

    /// The same join over another node with the same outer rows.
    pub(super) fn with_outer(self, outer: Arc<dyn ExecutionPlan>) -> Self {
        Self { outer, ..self }
    }

    /// The same join for another run of the statement, where parameters have these values, if any; `None` where these
    /// want another plan.
    pub(crate) fn bound(&self, reading: &Arc<QueryContext>, values: Option<ParamValues<'_>>) -> Result<Option<Self>> {
        let scan = self.inner.scan().ok_or_else(|| RelationalError::bug("a lookup without a scan"))?;
        let Some(scan) = scan.bound(reading, values, self.keys.len())? else { return Ok(None) };
        // Neither the path nor the join may hold nodes of another run.
        let whole = self.inner.clone().over(scan)?;
        let Some(inner) = Path::below_groups(&whole) else { return Ok(None) };
        let inputs = self.inputs(self.outer.clone(), whole);
        let join = Arc::new(self.join.builder().with_new_children(inputs)?.reset_state().build()?);
        Ok(Some(Self { join, inner, ..self.clone() }))
    }

    /// The join's inputs in their order.
    fn inputs(&self, outer: Arc<dyn ExecutionPlan>, inner: Arc<dyn ExecutionPlan>) -> Vec<Arc<dyn ExecutionPlan>> {
        match self.side {
            Outer::Left => vec![outer, inner],
            Outer::Right => vec![inner, outer],
        }
    }

    /// The scan of the inner table.
    pub(crate) fn scan(&self) -> &Arc<dyn ExecutionPlan> {
        self.inner.scan_node()
    }

    /// What the equalities of the join ask of an outer row.
    fn outer_equals(&self) -> impl Iterator<Item = &Arc<dyn PhysicalExpr>> {
        self.join.on().iter().map(|(left, right)| match self.side {
            Outer::Left => left,
            Outer::Right => right,
        })
    }

    /// The join of some outer rows with the inner rows of their keys; without those that agree with one of `joined`, if there is such.
    fn joined(
        &self,
        outer: RecordBatch,
        joined: Option<&mut Seen>,
        task: &Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let outer = match joined {
            Some(joined) => filter_record_batch(&outer, &joined.news(&values_of(self.outer_equals(), &outer)?)?)?,
            None => outer,
        };
        let keys = || self.keys.iter().map(|key| &key.value);
        let values = values_of(keys(), &outer)?;
        let news = Seen::new(keys(), &self.outer.schema())?.news(&values)?;
        let rows = news.iter().enumerate().filter(|(_, new)| *new == Some(true)).map(|(row, _)| row);
        let rows = rows.map(|row| self.key_values(&values, row)).collect::<Result<Vec<_>>>()?;
        let scan = self.scan_of(rows)?;
        let inner = self.inner.clone().over(scan)?;
        let outer_schema = self.outer.schema();
        let outer = MemorySourceConfig::try_new_exec(&[vec![outer]], outer_schema, None)? as Arc<dyn ExecutionPlan>;
        let join = self
            .join
            .builder()
            .with_partition_mode(PartitionMode::CollectLeft)
            .with_new_children(self.inputs(outer, inner))?
            .recompute_properties()
            .reset_state()
            .build_exec()?;
        join.execute(0, task.clone())
    }

    /// The key requested by a row.
    fn key_values(&self, values: &[ArrayRef], row: usize) -> Result<Vec<Value>> {
        let value = |(key, array): (&LookupKey, &ArrayRef)| value_at(array.as_ref(), row, key.ty);
        Ok(self.keys.iter().zip(values).map(value).collect::<Result<_, _>>().map_err(RelationalError::from)?)
    }

    /// The scan for some rows' keys: encoded at once, or else planned as `key IN (..)`.
    fn scan_of(&self, rows: Vec<Vec<Value>>) -> Result<TableScanExec> {
        let scan = self.inner.scan().ok_or_else(|| RelationalError::bug("a lookup without a scan"))?;
        let columns: Option<Vec<usize>> = self.keys.iter().map(LookupKey::plain_column).collect();
        if let Some(columns) = columns
            && let Some(encoded) = scan.of_keys(&columns, rows.iter().cloned())?
        {
            return Ok(encoded);
        }
        let condition = self.condition(rows)?;
        let known = scan.request().conditions.len().saturating_sub(self.keys.len());
        Ok(scan.with_request(|request| {
            request.conditions.truncate(known);
            request.conditions.push(condition);
        })?)
    }

    /// `key IN (..)` for some rows.
    fn condition(&self, rows: Vec<Vec<Value>>) -> Result<Condition> {
        let known = rows.into_iter().filter(|row| row.iter().all(|value| !value.is_null()));
        let literal = |(value, key): (Value, &LookupKey)| Expr::Literal(value, key.ty);
        let list: Vec<Vec<Expr>> = known.map(|row| row.into_iter().zip(&self.keys).map(literal).collect()).collect();
        if list.is_empty() {
            return Ok(Condition::new(Expr::boolean(false)));
        }
        let parts = self.keys.iter().map(|key| key.part.clone()).collect();
        let test = typing::row_in_list(parts, list, false).map_err(RelationalError::from)?;
        Ok(Condition::new(test))
    }
}

/// The values of some expressions in rows.
fn values_of<'e>(
    exprs: impl IntoIterator<Item = &'e Arc<dyn PhysicalExpr>>,
    rows: &RecordBatch,
) -> Result<Vec<ArrayRef>> {
    exprs.into_iter().map(|expr| expr.evaluate(rows)?.into_array(rows.num_rows())).collect()
}

/// Rows of values, each once.
struct Seen {
    converter: RowConverter,
    rows: HashSet<OwnedRow>,
    /// The memory of the rows, where they may be many.
    reservation: Option<MemoryReservation>,
}

/// Bytes of a row that was seen, without its values: it, and its place in the set.
const SEEN_ROW_BYTES: usize = 2 * size_of::<OwnedRow>();

impl Seen {
    /// No rows yet, of values of these expressions.
    fn new<'e>(exprs: impl Iterator<Item = &'e Arc<dyn PhysicalExpr>>, schema: &Schema) -> Result<Self> {
        let fields = exprs.map(|expr| Ok(SortField::new(expr.data_type(schema)?))).collect::<Result<_>>()?;
        Ok(Self { converter: RowConverter::new(fields)?, rows: HashSet::new(), reservation: None })
    }

    /// The same with rows that count as memory of the pool.
    fn reserved(self, pool: &Arc<dyn MemoryPool>) -> Self {
        let reservation = MemoryConsumer::new("keys of a join that looks rows up").register(pool);
        Self { reservation: Some(reservation), ..self }
    }

    /// The rows that were not seen before. Values are the same here as in a hash join, where -0.0 is 0.0.
    ///
    /// # Errors
    /// The limit of memory; those of Arrow.
    fn news(&mut self, values: &[ArrayRef]) -> Result<BooleanArray> {
        let values: Vec<ArrayRef> = values.iter().map(normalize_float_zero).collect();
        let rows = self.converter.convert_columns(&values)?;
        let mut bytes = 0;
        let news = rows.iter().map(|row| {
            let is_new = self.rows.insert(row.owned());
            bytes += if is_new { SEEN_ROW_BYTES + row.as_ref().len() } else { 0 };
            Some(is_new)
        });
        let news = news.collect();
        self.reservation.iter().try_for_each(|reservation| reservation.try_grow(bytes))?;
        Ok(news)
    }
}

/// What a join puts out, if outer rows can be joined group by group.
pub(super) fn output_of(join: JoinType, side: Outer, filtered: bool) -> Option<Output> {
    use JoinType::*;
    match (join, side) {
        (Inner, _) => Some(Output::Joined),
        (Left | LeftSemi | LeftAnti | LeftMark, Outer::Left)
        | (Right | RightSemi | RightAnti | RightMark, Outer::Right) => Some(Output::Joined),
        // Of outer rows that agree in every equality each gives the same inner rows, unless more than equalities decides.
        (RightSemi, Outer::Left) | (LeftSemi, Outer::Right) if !filtered => Some(Output::Inner),
        _ => None,
    }
}

/// The output of a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// Outer rows, alone or with inner rows.
    Joined,
    /// Inner rows alone.
    Inner,
}

/// The scans of a plan, in its order.
pub(crate) fn scans(plan: &Arc<dyn ExecutionPlan>) -> Result<Vec<Arc<dyn ExecutionPlan>>> {
    let mut found = Vec::new();
    plan.apply(|node| {
        if node.is::<TableScanExec>() {
            found.push(node.clone());
        } else if let Some(lookup) = node.downcast_ref::<LookupJoinExec>() {
            found.push(lookup.scan().clone());
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

impl fmt::Debug for LookupJoinExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LookupJoinExec").field("join", &self.join).field("keys", &self.keys).finish_non_exhaustive()
    }
}

impl DisplayAs for LookupJoinExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<String> = self.keys.iter().map(LookupKey::to_string).collect();
        let table = self.inner.scan().map(|scan| scan.table_use().table.def().name.to_string()).unwrap_or_default();
        write!(f, "LookupJoinExec: join_type={:?}, table={table}, keys=[{}]", self.join.join_type(), keys.join(", "))
    }
}

impl ExecutionPlan for LookupJoinExec {
    fn name(&self) -> &str {
        "LookupJoinExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.outer]
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        vec![Distribution::SinglePartition]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        for key in &self.keys {
            f(&key.value)?;
        }
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let [outer] = <[_; 1]>::try_from(children).map_err(|_| RelationalError::bug("a lookup join has one input"))?;
        Ok(Arc::new(Self { outer, ..(*self).clone() }))
    }

    fn child_stats_requests(&self, _: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(None)]
    }

    /// About as many rows as come in: most lookups are by a whole key.
    fn statistics_from_inputs(&self, inputs: &[Arc<Statistics>], _: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let mut statistics = Statistics::new_unknown(&self.schema());
        if let Some(outer) = inputs.first() {
            statistics.num_rows = outer.num_rows.to_inexact();
        }
        Ok(Arc::new(statistics))
    }

    fn execute(&self, _: usize, task: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let output = output_of(*self.join.join_type(), self.side, self.join.filter().is_some());
        let mut joined = match output {
            Some(Output::Joined) => None,
            Some(Output::Inner) => {
                Some(Seen::new(self.outer_equals(), &self.outer.schema())?.reserved(task.memory_pool()))
            }
            None => return Err(RelationalError::bug("a join that lookups do not serve").into()),
        };
        let this = self.clone();
        let outer = self.outer.execute(0, task.clone())?;
        let groups = outer.map_ok(|batch| stream::iter(groups_of(batch).map(Ok::<_, DataFusionError>))).try_flatten();
        let rows = groups.map(move |group| this.joined(group?, joined.as_mut(), &task)).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows.boxed())))
    }
}

/// The rows of a batch in groups.
fn groups_of(batch: RecordBatch) -> impl Iterator<Item = RecordBatch> {
    let rows = batch.num_rows();
    (0..rows).step_by(LOOKUP_ROWS).map(move |from| batch.slice(from, LOOKUP_ROWS.min(rows - from)))
}
