//! DataFusion's memory pool over the database's [`Memory`].

use saltwing_access::Memory;
use std::fmt;
use std::sync::Arc;

use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryLimit, MemoryPool, MemoryReservation};

/// The reservations of the operators of all statements.
#[derive(Debug)]
pub(crate) struct StatementMemory(pub(crate) Arc<Memory>);

impl fmt::Display for StatementMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({} of {} bytes)", self.name(), self.0.used(), self.0.limit())
    }
}

impl MemoryPool for StatementMemory {
    fn name(&self) -> &str {
        "statement memory"
    }

    fn grow(&self, _: &MemoryReservation, additional: usize) {
        self.0.take_anyway(additional);
    }

    fn shrink(&self, _: &MemoryReservation, shrink: usize) {
        self.0.release(shrink);
    }

    fn try_grow(&self, _: &MemoryReservation, additional: usize) -> Result<()> {
        // Operators that can go to temporary files do so at this very error.
        self.0.take(additional).map_err(|error| DataFusionError::ResourcesExhausted(error.to_string()))
    }

    fn reserved(&self) -> usize {
        self.0.used()
    }

    fn memory_limit(&self) -> MemoryLimit {
        MemoryLimit::Finite(self.0.limit())
    }
}
