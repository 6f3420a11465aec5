//! The scan requests of a statement, with the snapshot and context in which they run.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use saltwing_access::{ScanContext, Snapshot, Table, snapshot_of};
use saltwing_bind::ParamValues;
use saltwing_plan::{Condition, OrderItem, RowLimit};
use saltwing_planner::{AccessRequest, Guard, JoinAdvice, TableAccess, plan, with_values};
use saltwing_types::{Span, Value};

use crate::RelationalError;
use crate::expression::sql_field::typed_field;
use crate::internal_name::field_name;

/// The state shared by all scans of one statement.
pub(crate) struct QueryContext {
    /// The statement's snapshot; `None` for a template, which gets one later.
    pub(crate) snapshot: Option<Arc<dyn Snapshot>>,
    /// Its budget and cancel.
    pub(crate) context: ScanContext,
    /// The overrides of a refusal.
    pub(crate) guard: Guard,
    /// Values by which scans are estimated whose parameters have none yet.
    pub(crate) samples: Vec<Value>,
    /// Whether its LIMIT is a parameter without a value.
    pub(crate) limit_open: bool,
}

impl fmt::Debug for QueryContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("QueryContext")
    }
}

/// One use of a table in a statement.
#[derive(Clone, Debug)]
pub(crate) struct TableUse {
    pub(crate) reading: Arc<QueryContext>,
    pub(crate) table: Arc<Table>,
    /// How the statement calls it, where that is not its name.
    pub(crate) alias: Option<String>,
    /// Where the statement names it.
    pub(crate) span: Option<Span>,
}

impl TableUse {
    /// The snapshot from which the table is read.
    pub(crate) fn snapshot(&self) -> Result<Arc<dyn Snapshot>, RelationalError> {
        let snapshot = self.reading.snapshot.clone();
        let snapshot = snapshot.ok_or_else(|| RelationalError::bug("a template was run without a snapshot"))?;
        Ok(snapshot_of(&self.table, snapshot)?)
    }

    /// A field of DataFusion's for each of these columns.
    pub(crate) fn schema(&self, columns: &[usize]) -> SchemaRef {
        let (def, schema) = (self.table.def(), self.table.schema());
        let field = |&column: &usize| {
            let ours = schema.field(column);
            let name = def.columns.get(column).map_or_else(|| ours.name().clone(), |column| field_name(def, column));
            typed_field(&name, self.table.column_type(column), ours.is_nullable())
        };
        Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
    }
}

/// The request of a scan; everything else follows from it.
#[derive(Clone, Debug)]
pub(crate) struct ScanRequest {
    /// Conditions over the table's columns, all of which hold for every returned row.
    pub(crate) conditions: Vec<Condition>,
    /// Columns put out.
    pub(crate) columns: Vec<usize>,
    /// Order wanted, if any.
    pub(crate) order: Vec<OrderItem>,
    /// Most rows.
    pub(crate) limit: Option<u64>,
    /// Whether a limit comes with a parameter that has no value yet.
    pub(crate) limit_open: bool,
    /// Whether the statement reads this table only.
    pub(crate) single_table: bool,
    /// The column of which only MIN or MAX is requested, and which of the two.
    pub(crate) ends: Option<Ends>,
    /// Most partitions.
    pub(crate) partitions: usize,
    /// Conditions that operators above check, as text.
    pub(crate) opaque: Vec<String>,
    /// What would let a join look its rows up, for the refusal.
    pub(crate) join_advice: Vec<JoinAdvice>,
}

/// The ends of a column that MIN and MAX ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) column: usize,
    pub(crate) min: bool,
    pub(crate) max: bool,
}

/// Conditions with values for their parameters; `None` where these make none of them.
pub(crate) fn bound_conditions(conditions: &[Condition], values: ParamValues<'_>) -> Option<Vec<Condition>> {
    let mut bound = Vec::with_capacity(conditions.len());
    for condition in conditions {
        match condition.expr.has_parameter() {
            true => {
                let expr = with_values(&condition.expr, values).ok()?;
                bound.extend(expr.into_conjuncts().into_iter().map(Condition::new));
            }
            false => bound.push(condition.clone()),
        }
    }
    Some(bound)
}

/// The request to the planner for a scan.
pub(crate) fn access_request<'a>(of: &'a TableUse, request: &'a ScanRequest) -> AccessRequest<'a> {
    AccessRequest {
        alias: of.alias.clone(),
        span: of.span,
        order: &request.order,
        limit: match (request.limit, request.limit_open) {
            (Some(limit), _) => RowLimit::Rows(limit),
            (None, true) => RowLimit::Unknown,
            (None, false) => RowLimit::None,
        },
        min_max: request.ends.map(|ends| ends.column),
        single_table: request.single_table,
        columns: Some(&request.columns),
        hints: &of.reading.guard.hints,
        ..AccessRequest::of(&of.table, request.conditions.clone())
    }
}

/// The access as it is with values that stand for those that parameters do not have yet, if there are such.
pub(crate) fn sampled<'a>(
    of: &TableUse,
    request: &ScanRequest,
    access: &'a TableAccess,
) -> Option<Cow<'a, TableAccess>> {
    let samples = ParamValues::untyped(&of.reading.samples);
    if samples.is_empty() || access.access().ranges.is_known() {
        return Some(Cow::Borrowed(access));
    }
    let conditions = bound_conditions(&request.conditions, samples)?;
    plan(access_request(of, &ScanRequest { conditions, ..request.clone() })).ok().map(Cow::Owned)
}
