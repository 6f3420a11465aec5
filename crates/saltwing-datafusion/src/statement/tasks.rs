//! What DataFusion's operators run with.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::execution::TaskContext;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::prelude::SessionConfig;
use saltwing_access::{MemoryScope, ScanContext};

use super::memory_pool::OperatorMemory;

/// A sort holds this part of the memory back at most.
const SORTS_SHARE: usize = 16;

/// Makes the contexts of statements.
#[derive(Clone)]
pub(crate) struct Tasks {
    /// Of statements without a limit of their own.
    of_all: Arc<TaskContext>,
    memory: Arc<OperatorMemory>,
}

impl Tasks {
    pub(crate) fn new(of_all: Arc<TaskContext>, memory: Arc<OperatorMemory>) -> Self {
        Self { of_all, memory }
    }

    /// The context of a statement, whose operators count for its memory.
    pub(crate) fn of_statement(&self, statement: &ScanContext) -> Arc<TaskContext> {
        let memory = statement.memory();
        if memory.scope() == MemoryScope::Statements {
            return self.of_all.clone();
        }
        let mut config = self.of_all.session_config().clone();
        hold_back(&mut config, memory.limit());
        let pool = OperatorMemory::of_statement(memory.clone(), self.memory.clone());
        let runtime = RuntimeEnv { memory_pool: Arc::new(pool), ..RuntimeEnv::clone(&self.of_all.runtime_env()) };
        let (task, session) = (self.of_all.task_id(), self.of_all.session_id());
        // A plan has its functions.
        let (none, nothing, no_aggregates, no_windows) =
            (HashMap::new(), HashMap::new(), HashMap::new(), HashMap::new());
        Arc::new(TaskContext::new(task, session, config, none, nothing, no_aggregates, no_windows, Arc::new(runtime)))
    }
}

/// Each sort holds some memory back for merging: by default 10 MB, which may be all there is.
pub(crate) fn hold_back(config: &mut SessionConfig, limit: usize) {
    let most = limit / SORTS_SHARE;
    if config.options().execution.sort_spill_reservation_bytes > most {
        config.options_mut().execution.sort_spill_reservation_bytes = most;
    }
}
