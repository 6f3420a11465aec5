//! Templates: queries that are planned once and run many times with other parameter values.
//!
//! A query has a template if its parameters occur in the conditions of scans alone. A run puts the values into these
//! conditions and plans the ranges of each scan, which takes microseconds. The operators above the scans stay as they
//! are.
//!
//! # Invariants
//! 1. A run of a template gives the rows of the query planned with these values in its text.
//! 2. A template holds no snapshot and no context of a run. It can live as long as the statement is cached.
//! 3. DataFusion chose the plan by the sizes of the tables at that time. If a table has grown or shrunk by
//!    [`GROWTH_MAX`] times since, the template is not used any more.
//!
//! The caller keeps the version of the catalog beside the template, and drops the template when the version changes.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr as PlanExpr, LogicalPlan, Volatility};
use datafusion::physical_plan::ExecutionPlan;
use saltwing_access::{Budget, KeySet, ScanContext, Snapshot, Table, snapshot_of};
use saltwing_bind::{ParamValues, ParameterTypes};
use saltwing_planner::{Guard, is_bindable};

use crate::RelationalError;
use crate::engine::planned::{Planned, Template, judged};
use crate::engine::reusable::can_run_again;
use crate::expression::expr_function::ExprFunction;
use crate::physical::lookup_join::{LookupJoinExec, scans};
use crate::request::Mode;
use crate::scan::scan_request::QueryContext;
use crate::scan::scan_statistics::SMALL_ROWS;
use crate::scan::table_scan::TableScanExec;

/// How many times as large or small as it was a table may be.
const GROWTH_MAX: u64 = 4;

/// What a template is run on.
pub struct Binding<'a> {
    /// Values of its parameters.
    pub values: ParamValues<'a>,
    /// The statement's snapshot.
    pub snapshot: Arc<dyn Snapshot>,
    /// Its budget and cancel.
    pub context: ScanContext,
    /// The overrides of a refusal.
    pub guard: &'a Guard,
}

impl Template {
    /// The template of a plan that was made without values; `None` of one that cannot run twice.
    pub(crate) fn new(planned: &Planned) -> Result<Option<Self>, RelationalError> {
        if !can_run_again(&planned.physical)? {
            return Ok(None);
        }
        let mut sizes = Vec::new();
        for node in scans(&planned.physical)? {
            let Some(scan) = node.downcast_ref::<TableScanExec>() else { continue };
            let (table, snapshot) = (scan.table_use().table.clone(), scan.table_use().snapshot()?);
            sizes.push((table.clone(), rows_of(&*snapshot, &table)?));
        }
        let nothing = Arc::new(QueryContext {
            snapshot: None,
            context: ScanContext::new(Budget::default()),
            guard: Guard::default(),
            samples: Vec::new(),
            limit_open: false,
        });
        let Some(physical) = rebound(&planned.physical, &nothing, None)? else { return Ok(None) };
        let (columns, tasks) = (planned.columns.clone(), planned.tasks.clone());
        Ok(Some(Self { columns, physical, tasks, sizes }))
    }

    /// The query with values, ready to run; `None` if it must be planned from its text, also for error messages.
    ///
    /// # Errors
    /// A definition that is older than the rows.
    pub fn bind(&self, binding: Binding<'_>) -> Result<Option<Planned>, RelationalError> {
        let Binding { values, snapshot, context, guard } = binding;
        for (table, then) in &self.sizes {
            let now = rows_of(&*snapshot_of(table, snapshot.clone())?, table)?;
            if now > then.saturating_mul(GROWTH_MAX) || *then > now.saturating_mul(GROWTH_MAX) {
                return Ok(None);
            }
        }
        let reading = Arc::new(QueryContext {
            snapshot: Some(snapshot),
            context: context.clone(),
            guard: guard.clone(),
            samples: Vec::new(),
            limit_open: false,
        });
        let Some(physical) = rebound(&self.physical, &reading, Some(values))? else { return Ok(None) };
        // The plan with values in its text reports a refusal.
        let Ok((reads, warnings)) = judged(&physical, guard, Mode::Execute) else { return Ok(None) };
        let (columns, tasks) = (self.columns.clone(), self.tasks.clone());
        let parameters = ParameterTypes::default(); // all have values
        Ok(Some(Planned { columns, parameters, reads, warnings, physical, tasks, context, template: None }))
    }
}

/// About how many rows a table has; few are alike.
fn rows_of(snapshot: &dyn Snapshot, table: &Table) -> Result<u64, RelationalError> {
    Ok(snapshot.estimate(table, &KeySet::all())?.rows.max(SMALL_ROWS))
}

/// The plan over scans for another reading, and with nothing left of the run before; without values parameters stay as
/// they are. `None` where values want another plan.
fn rebound(
    plan: &Arc<dyn ExecutionPlan>,
    reading: &Arc<QueryContext>,
    values: Option<ParamValues<'_>>,
) -> Result<Option<Arc<dyn ExecutionPlan>>, RelationalError> {
    let mut fits = true;
    let rebound = plan.clone().transform_up(|node| {
        if !fits {
            return Ok(Transformed::no(node));
        }
        let bound: Option<Arc<dyn ExecutionPlan>> = if let Some(scan) = node.downcast_ref::<TableScanExec>() {
            scan.bound(reading, values, 0)?.map(|scan| Arc::new(scan) as _)
        } else if let Some(lookup) = node.downcast_ref::<LookupJoinExec>() {
            lookup.bound(reading, values)?.map(|lookup| Arc::new(lookup) as _)
        } else {
            Some(node.clone().reset_state()?)
        };
        fits = bound.is_some();
        Ok(bound.map_or_else(|| Transformed::no(node), Transformed::yes))
    })?;
    Ok(fits.then_some(rebound.data))
}

/// Whether a statement means the same whenever it is planned: no function depends on the current time.
pub(crate) fn is_immutable(plan: &LogicalPlan) -> Result<bool> {
    let mut immutable = true;
    each_expr(plan, &mut |_, expr| {
        if let PlanExpr::ScalarFunction(call) = expr {
            immutable &= call.func.signature().volatility != Volatility::Stable;
        }
    })?;
    Ok(immutable)
}

/// Whether parameters stand in conditions of scans alone, and there as values can be put in.
pub(crate) fn params_only_in_scan_filters(plan: &LogicalPlan) -> Result<bool> {
    let mut waits = true;
    each_expr(plan, &mut |node, expr| {
        if let PlanExpr::ScalarFunction(call) = expr
            && let Some(own) = ExprFunction::of(call)
            && own.has_parameter()
        {
            waits &= matches!(node, LogicalPlan::TableScan(_)) && is_bindable(own);
        }
    })?;
    Ok(waits)
}

/// The types of a plan's parameters.
pub(crate) fn parameter_types(plan: &LogicalPlan) -> Result<ParameterTypes> {
    let mut types = ParameterTypes::default();
    each_expr(plan, &mut |_, expr| {
        if let PlanExpr::ScalarFunction(call) = expr
            && let Some(own) = ExprFunction::of(call)
        {
            types.note_expr(own);
        }
    })?;
    Ok(types)
}

/// Calls `see` with each expression of a plan and of its subqueries, and its node.
fn each_expr(plan: &LogicalPlan, see: &mut dyn FnMut(&LogicalPlan, &PlanExpr)) -> Result<()> {
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|part| {
                see(node, part);
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(())
}
