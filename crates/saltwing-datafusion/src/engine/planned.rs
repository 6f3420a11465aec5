//! A planned query.

use std::sync::Arc;

use datafusion::physical_plan::{ExecutionPlan, displayable, execute_stream};
use saltwing_access::{Counters, ScanContext, Table};
use saltwing_bind::{ParameterTypes, ResultColumn};
use saltwing_planner::{AccessReport, Guard, PlannerError, RefusedScans, TableAccess};

use crate::RelationalError;
use crate::engine::output::ResultStream;
use crate::internal_name::shown;
use crate::physical::cancellation::watched;
use crate::physical::lookup_join::scans;
use crate::request::Mode;
use crate::scan::table_scan::TableScanExec;
use crate::statement::tasks::Tasks;

/// The scans of a plan with the guard's verdicts, and its warnings.
pub(crate) fn judged(
    plan: &Arc<dyn ExecutionPlan>,
    guard: &Guard,
    mode: Mode,
) -> Result<(Vec<TableRead>, Vec<String>), RelationalError> {
    let (mut reads, mut warnings) = (Vec::new(), Vec::new());
    let mut refused: Option<RefusedScans> = None;
    for node in scans(plan)? {
        let Some(scan) = node.downcast_ref::<TableScanExec>() else { continue };
        let access = scan.access()?.clone().with_overrides(guard);
        if mode == Mode::Execute {
            match access.refused() {
                Some(other) => refused = Some(refused.map_or_else(|| other.clone(), |known| known.and(other.clone()))),
                None => warnings.extend(access.judge()?),
            }
        }
        reads.push(TableRead { access, counters: scan.context().counters.clone() });
    }
    match refused {
        Some(refused) => Err(PlannerError::from(refused).into()),
        None => Ok((reads, warnings)),
    }
}

pub(crate) struct TableRead {
    access: TableAccess,
    counters: Arc<Counters>,
}

/// A query ready to run.
pub struct Planned {
    pub(crate) columns: Vec<ResultColumn>,
    pub(crate) parameters: ParameterTypes,
    pub(crate) reads: Vec<TableRead>,
    pub(crate) warnings: Vec<String>,
    pub(crate) physical: Arc<dyn ExecutionPlan>,
    pub(crate) tasks: Tasks,
    pub(crate) context: ScanContext,
    pub(crate) template: Option<Template>,
}

/// A query planned before its parameters have values.
pub struct Template {
    pub(crate) columns: Vec<ResultColumn>,
    pub(crate) physical: Arc<dyn ExecutionPlan>,
    pub(crate) tasks: Tasks,
    /// The tables that it reads, and how many rows they had.
    pub(crate) sizes: Vec<(Arc<Table>, u64)>,
}

impl Planned {
    /// The plan for all further runs, where it was made to be kept ([`Mode::Keep`]) and can be.
    pub fn into_template(self) -> Option<Template> {
        self.template
    }

    /// The result's columns.
    pub fn columns(&self) -> &[ResultColumn] {
        &self.columns
    }

    /// The types of its parameters without values.
    pub fn parameters(&self) -> &ParameterTypes {
        &self.parameters
    }

    /// What the guard lets pass with a warning.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// How each table is read, in the order of the plan. Once the query runs, the counters say what it did.
    pub fn accesses(&self, with_counters: bool) -> Vec<AccessReport> {
        let counters = |read: &TableRead| with_counters.then(|| read.counters.clone());
        self.reads.iter().map(|read| AccessReport { access: read.access.clone(), counters: counters(read) }).collect()
    }

    /// What each table's scan counts, in the order of [`Planned::accesses`].
    pub fn counters(&self) -> Vec<Arc<Counters>> {
        self.reads.iter().map(|read| read.counters.clone()).collect()
    }

    /// DataFusion's plan as text: one operator a line.
    pub fn plan_text(&self) -> String {
        shown(&displayable(self.physical.as_ref()).indent(false).to_string())
    }

    /// Runs the query: within a tokio runtime. Rows are read as the stream is polled.
    ///
    /// # Errors
    /// What fails before the first row.
    pub fn stream(&self) -> Result<ResultStream, RelationalError> {
        let plan = watched(self.physical.clone(), &self.context)?;
        let inner = execute_stream(plan, self.tasks.of_statement(&self.context))?;
        Ok(ResultStream::new(inner, &self.columns, self.context.clone()))
    }
}
