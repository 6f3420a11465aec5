//! A SELECT over one table, made ready to run.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema, SchemaRef};
use saltwing_access::{
    KeySet, Memory, PointRow, Projection, ReadSpec, ShortRange, ShortRangeRows, Snapshot, TableStore, snapshot_of,
};
use saltwing_bind::ResultColumn;
use saltwing_expr::arrow_type;
use saltwing_planner::{AggregateStrategy, DirectPlan, KeyAccess, PlannedSelect, RowOutput, TableAccess};

use crate::ExecError;
use crate::aggregate::AggregatePlan;
use crate::output::Output;

/// A planned SELECT with all that does not change from one run to the next.
pub struct SelectPlan {
    planned: PlannedSelect,
    schema: SchemaRef,
    /// The scan specification.
    spec: ReadSpec,
    operator: Operator,
    /// The columns of a row that are the result as they are stored.
    stored: Option<Projection>,
}

/// How the result comes from the rows read.
pub(crate) enum Operator {
    /// Every output is a scanned column: by place.
    Columns(Box<[usize]>),
    /// Computed outputs.
    Computed(Box<[Output]>),
    /// Groups.
    Aggregate(Arc<AggregatePlan>),
}

/// Arrow's schema of a result.
pub fn result_schema(columns: &[ResultColumn]) -> SchemaRef {
    Arc::new(Schema::new(
        columns.iter().map(|c| Field::new(&c.label, arrow_type(c.ty), c.nullable)).collect::<Vec<_>>(),
    ))
}

impl Operator {
    fn new(plan: &DirectPlan) -> Result<Self, ExecError> {
        Ok(match plan {
            DirectPlan::PointGet { places, .. } | DirectPlan::Scan(RowOutput::Columns(places)) => {
                Self::Columns(places.clone())
            }
            DirectPlan::Scan(RowOutput::Computed(outputs)) => {
                Self::Computed(outputs.iter().cloned().map(Output::new).collect())
            }
            DirectPlan::KeyEnds { aggregate, .. }
            | DirectPlan::DistinctPrefix { aggregate, .. }
            | DirectPlan::Totals { aggregate, .. }
            | DirectPlan::Aggregate(aggregate) => {
                let each_row = matches!(plan, DirectPlan::DistinctPrefix { .. });
                Self::Aggregate(Arc::new(AggregatePlan::new(aggregate, each_row)?))
            }
        })
    }
}

impl SelectPlan {
    /// Makes a planned SELECT ready to be run, any number of times.
    ///
    /// # Errors
    /// A type mismatch if a condition is none.
    pub fn new(planned: PlannedSelect) -> Result<Self, ExecError> {
        let (schema, spec) = (result_schema(&planned.columns), planned.access.spec(planned.scanned.clone())?);
        let stored = planned.stored_columns().and_then(|places| spec.projection(places));
        let operator = Operator::new(&planned.plan)?;
        Ok(Self { planned, schema, spec, operator, stored })
    }

    /// The columns of the result.
    pub fn columns(&self) -> &Arc<[ResultColumn]> {
        &self.planned.columns
    }

    /// The schema of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The plan.
    pub fn planned(&self) -> &PlannedSelect {
        &self.planned
    }

    pub(crate) fn spec(&self) -> &ReadSpec {
        &self.spec
    }

    pub(crate) fn operator(&self) -> &Operator {
        &self.operator
    }

    pub(crate) fn stored(&self) -> Option<&Projection> {
        self.stored.as_ref()
    }

    /// The outputs of rows whose scanned columns are these. Not for groups.
    pub(crate) fn outputs(
        &self,
        columns: Vec<ArrayRef>,
        rows: usize,
        memory: &Arc<Memory>,
    ) -> Result<Vec<ArrayRef>, ExecError> {
        match &self.operator {
            Operator::Columns(places) => {
                let is_in_place = places.len() == columns.len() && places.iter().enumerate().all(|(i, p)| i == *p);
                if is_in_place {
                    return Ok(columns);
                }
                Ok(places.iter().filter_map(|&p| columns.get(p).cloned()).collect())
            }
            Operator::Computed(outputs) => {
                let columns = self.by_index(columns);
                let named = |(output, c): (&Output, &ResultColumn)| {
                    output.compute(&columns, rows, memory).map_err(|error| error.of_column(&c.label))
                };
                outputs.iter().zip(self.columns().iter()).map(named).collect()
            }
            Operator::Aggregate(_) => Err(ExecError::Bug("an aggregate without groups")),
        }
    }

    /// A batch of outputs.
    pub(crate) fn batch(&self, outputs: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch, ExecError> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), outputs, &options)?)
    }

    /// Scanned columns at their indices in the table.
    pub(crate) fn by_index(&self, columns: Vec<ArrayRef>) -> Vec<Option<ArrayRef>> {
        let mut by_index = vec![None; self.access().table().width()];
        for (&index, array) in self.spec.columns().iter().zip(columns) {
            if let Some(place) = by_index.get_mut(index) {
                *place = Some(array);
            }
        }
        by_index
    }

    /// Whether it keeps groups, or different values, in memory until all rows are read.
    pub fn keeps_groups(&self) -> bool {
        let (DirectPlan::Aggregate(aggregate) | DirectPlan::DistinctPrefix { aggregate, .. }) = &self.planned.plan
        else {
            return false;
        };
        match aggregate.strategy {
            AggregateStrategy::Ungrouped => aggregate.grouping.calls.iter().any(|call| call.distinct),
            AggregateStrategy::Streaming => !aggregate.grouping.order.is_empty(),
            AggregateStrategy::Hash => true,
        }
    }

    /// How the table is read.
    pub fn access(&self) -> &TableAccess {
        &self.planned.access
    }

    /// The physical key of the one row that is read, if the plan is to look it up. `part` is the key's part that values of a
    /// template ask for.
    pub fn point_key<'a>(&'a self, part: Option<&'a KeyAccess>) -> Option<&'a [u8]> {
        match (&self.planned.plan, part) {
            (DirectPlan::PointGet { .. }, Some(part)) => part.row_key(),
            (DirectPlan::PointGet { key, .. }, None) => key.as_deref(),
            _ => None,
        }
    }

    /// The rows of the plan, if `part` is a range of few keys and its rows are the result as they are; `None` if the plan must
    /// be [started](SelectPlan::start).
    ///
    /// # Errors
    /// The store's.
    pub fn get_range(
        &self,
        snapshot: &Arc<dyn Snapshot>,
        part: Option<&KeyAccess>,
    ) -> Result<Option<ShortRangeRows>, ExecError> {
        let (Some(columns), Some(KeyAccess::Keys(KeySet::Range(keys)))) = (&self.stored, part) else {
            return Ok(None);
        };
        let snapshot = snapshot_of(self.access().table(), snapshot.clone())?;
        let range = ShortRange { keys, direction: self.access().direction(), limit: self.planned.limit };
        Ok(self.spec.get_range(&*snapshot, columns, range)?)
    }

    /// The row of [this key](SelectPlan::point_key), without a scan or a batch; `None` if it is not there.
    ///
    /// # Errors
    /// The store's.
    pub fn point(&self, store: &dyn TableStore, row_key: &[u8]) -> Result<Option<PointRow>, ExecError> {
        self.stored.as_ref().map_or(Ok(None), |columns| Ok(store.point(columns, row_key)?))
    }
}
