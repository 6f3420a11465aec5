//! A SELECT that was started.

use std::sync::Arc;

use saltwing_access::{RowSource, ScanContext, Snapshot, snapshot_of};
use saltwing_expr::RowValues;
use saltwing_planner::{DirectPlan, KeyAccess};

use crate::ExecError;
use crate::parts::scans_of_totals;
use crate::rows::DirectRows;
use crate::select::SelectPlan;
use crate::totals::row_of_totals;

/// A SELECT that was started.
pub enum RunningSelect {
    /// Whole columns are added up, or one of them counted: one row.
    Total(TotalRow),
    /// Rows or groups as they are read.
    Rows(DirectRows),
}

/// A SELECT of whole columns' totals that is not read yet.
pub struct TotalRow {
    plan: Arc<SelectPlan>,
    scans: Vec<Box<dyn RowSource>>,
    threads: usize,
}

impl TotalRow {
    /// Adds them up.
    ///
    /// # Errors
    /// The scan's; a sum that does not fit; [`ExecError::Bug`] if the plan adds nothing up.
    pub fn values(self) -> Result<RowValues, ExecError> {
        match &self.plan.planned().plan {
            DirectPlan::Totals { outputs, .. } => row_of_totals(self.scans, outputs, self.threads),
            _ => Err(ExecError::Bug("totals of a plan that has none")),
        }
    }
}

impl SelectPlan {
    /// Starts the SELECT, whose access was judged; `part` is what it reads of the key, if that is
    /// known without a plan.
    ///
    /// # Errors
    /// The store's.
    pub fn start(
        self: &Arc<Self>,
        snapshot: Arc<dyn Snapshot>,
        part: Option<KeyAccess>,
        context: ScanContext,
    ) -> Result<RunningSelect, ExecError> {
        let snapshot = snapshot_of(self.access().table(), snapshot)?;
        if matches!(self.planned().plan, DirectPlan::Totals { .. })
            && let Some(spec) = self.spec().as_scan()
            && snapshot.adds_up(spec)?
        {
            let access = self.access();
            let scans = match part {
                // The values of a template mostly request a few rows.
                Some(part) => vec![snapshot.scan(spec, part.route(access, None), context.clone())?],
                None => scans_of_totals(&*snapshot, access, spec, &context)?,
            };
            return Ok(RunningSelect::Total(TotalRow { plan: self.clone(), scans, threads: context.threads().count }));
        }
        Ok(RunningSelect::Rows(DirectRows::start(self, snapshot, part, context)?))
    }
}
