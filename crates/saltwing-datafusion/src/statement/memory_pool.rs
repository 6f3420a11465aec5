//! DataFusion's memory pool over the database's [`Memory`].

use std::fmt;
use std::sync::Arc;

use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation};
use parking_lot::Mutex;
use saltwing_access::{Memory, TableError};

/// The reservations of the operators of all statements.
///
/// Operators that can go to temporary files share what the others leave: each has an equal part of three quarters of it. So none of
/// them waits for memory that another one fills, and a quarter is left for merging what they have written.
#[derive(Debug)]
pub(crate) struct StatementMemory {
    memory: Arc<Memory>,
    spilling: Mutex<Spilling>,
}

/// The operators that can go to temporary files.
#[derive(Debug, Default)]
struct Spilling {
    count: usize,
    bytes: usize,
}

impl StatementMemory {
    pub(crate) fn new(memory: Arc<Memory>) -> Self {
        Self { memory, spilling: Mutex::default() }
    }
}

impl fmt::Display for StatementMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({} of {} bytes)", self.name(), self.memory.used(), self.memory.limit())
    }
}

fn can_spill(reservation: &MemoryReservation) -> bool {
    reservation.consumer().can_spill()
}

impl MemoryPool for StatementMemory {
    fn name(&self) -> &str {
        "statement memory"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        if consumer.can_spill() {
            self.spilling.lock().count += 1;
        }
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        if consumer.can_spill() {
            self.spilling.lock().count -= 1;
        }
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        if can_spill(reservation) {
            self.spilling.lock().bytes += additional;
        }
        self.memory.take_anyway(additional);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        if can_spill(reservation) {
            self.spilling.lock().bytes -= shrink;
        }
        self.memory.release(shrink);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        // Operators that can go to temporary files do so at this very error.
        let exhausted = |error: TableError| DataFusionError::ResourcesExhausted(error.to_string());
        if !can_spill(reservation) {
            return self.memory.take(additional).map_err(exhausted);
        }
        let mut spilling = self.spilling.lock();
        let (used, limit) = (self.memory.used(), self.memory.limit());
        let shared = limit.saturating_sub(used.saturating_sub(spilling.bytes));
        let share = shared / 4 * 3 / spilling.count.max(1);
        if reservation.size().saturating_add(additional) > share {
            return Err(exhausted(TableError::OutOfMemory { wanted: additional, used, limit }));
        }
        self.memory.take(additional).map_err(exhausted)?;
        spilling.bytes += additional;
        Ok(())
    }

    fn reserved(&self) -> usize {
        self.memory.used()
    }

    fn memory_limit(&self) -> MemoryLimit {
        MemoryLimit::Finite(self.memory.limit())
    }
}
