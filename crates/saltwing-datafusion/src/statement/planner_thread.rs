//! Planning that stops when its statement is cancelled or times out.
//!
//! The caller waits for a planner thread, and returns without it if the statement must stop. The planner thread checks
//! the statement between DataFusion's rules, and ends at the next check.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use datafusion::common::Result as PlanResult;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::{AnalyzerRule, ApplyOrder, OptimizerConfig, OptimizerRule};
use datafusion::physical_optimizer::{PhysicalOptimizerContext, PhysicalOptimizerRule};
use datafusion::physical_plan::ExecutionPlan;

use saltwing_access::{ScanContext, reap_later};

use crate::RelationalError;
use crate::error::RelationalErrorKind;
use crate::statement::current::{check, enter};

/// Stack of the planning thread: the parser allows operations nested 154 deep, and DataFusion's planner needs several
/// large frames for each. The system maps only the used part.
const STACK_BYTES: usize = 64 << 20;
/// How often the caller looks whether the statement must stop.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Runs `plan` on a thread of its own, with the stack that deep expressions take.
///
/// # Errors
/// Those of `plan`; that the statement must stop; a panic, as a bug; that the system has no thread to give.
pub(crate) fn on_planner_thread<T: Send + 'static>(
    context: &ScanContext,
    plan: impl FnOnce() -> Result<T, RelationalError> + Send + 'static,
) -> Result<T, RelationalError> {
    let (sender, receiver) = sync_channel(1);
    let statement = context.clone();
    let work = move || {
        let entered = enter(&statement);
        let planned = catch_unwind(AssertUnwindSafe(plan));
        drop(entered);
        // The caller was cancelled and no longer waits.
        let _ = sender.send(planned.unwrap_or_else(|panic| Err(RelationalError::bug(panic_text(&*panic)))));
    };
    let thread = std::thread::Builder::new().name("saltwing-planner".into()).stack_size(STACK_BYTES);
    let thread = thread.spawn(work).map_err(|error| {
        let text = format!("the operating system gives no thread to plan the statement on: {error}");
        RelationalError::from(RelationalErrorKind::BeyondLimit(text))
    })?;
    let planned = loop {
        match receiver.recv_timeout(LOOK_EVERY) {
            Ok(planned) => break planned,
            Err(RecvTimeoutError::Timeout) => {
                if let Err(stopped) = context.check() {
                    reap_later(thread);
                    return Err(stopped.into());
                }
            }
            Err(RecvTimeoutError::Disconnected) => break Err(RelationalError::bug("the planner's thread is gone")),
        }
    };
    // It has caught its panics, and has nothing more to do.
    let _ = thread.join();
    planned
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".into())
}

/// A rule that runs if the statement may go on.
#[derive(Debug)]
pub(crate) struct CancellableRule<R: ?Sized>(pub(crate) Arc<R>);

impl AnalyzerRule for CancellableRule<dyn AnalyzerRule + Send + Sync> {
    fn analyze(&self, plan: LogicalPlan, config: &ConfigOptions) -> PlanResult<LogicalPlan> {
        check()?;
        self.0.analyze(plan, config)
    }

    fn name(&self) -> &str {
        self.0.name()
    }
}

impl OptimizerRule for CancellableRule<dyn OptimizerRule + Send + Sync> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> PlanResult<Transformed<LogicalPlan>> {
        check()?;
        self.0.rewrite(plan, config)
    }
}

impl PhysicalOptimizerRule for CancellableRule<dyn PhysicalOptimizerRule + Send + Sync> {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> PlanResult<Arc<dyn ExecutionPlan>> {
        check()?;
        self.0.optimize(plan, config)
    }

    fn optimize_with_context(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        context: &dyn PhysicalOptimizerContext,
    ) -> PlanResult<Arc<dyn ExecutionPlan>> {
        check()?;
        self.0.optimize_with_context(plan, context)
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}
