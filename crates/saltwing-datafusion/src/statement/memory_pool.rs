//! DataFusion's memory pool over our [`Memory`].

use std::fmt;
use std::sync::Arc;

use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation};
use parking_lot::Mutex;
use saltwing_access::{Memory, TableError};

/// The reservations of the operators of all statements, or of one of them, which count for all as well.
///
/// Operators that can go to temporary files share what the others leave: each has an equal part of three quarters of it. So none of
/// them waits for memory that another one fills, and a quarter is left for merging what they have written.
#[derive(Debug)]
pub(crate) struct OperatorMemory {
    memory: Arc<Memory>,
    spilling: Mutex<Spilling>,
    /// Those of all statements, if these are of one.
    of_all: Option<Arc<OperatorMemory>>,
}

/// The operators that can go to temporary files.
#[derive(Debug, Default)]
struct Spilling {
    count: usize,
    bytes: usize,
}

impl OperatorMemory {
    /// Of all statements.
    pub(crate) fn new(memory: Arc<Memory>) -> Self {
        Self { memory, spilling: Mutex::default(), of_all: None }
    }

    /// Of one statement, whose memory is a part of that of all.
    pub(crate) fn of_statement(memory: Arc<Memory>, of_all: Arc<Self>) -> Self {
        Self { memory, spilling: Mutex::default(), of_all: Some(of_all) }
    }

    /// This account, and that of all statements.
    fn accounts(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(self.of_all.as_deref())
    }

    /// Counts more bytes of an operator that can go to temporary files, if it stays within its part.
    fn spill_later(&self, size: usize, additional: usize) -> Result<(), TableError> {
        let mut spilling = self.spilling.lock();
        let used = self.memory.used();
        let shared = self.memory.limit().saturating_sub(used.saturating_sub(spilling.bytes));
        let share = shared / 4 * 3 / spilling.count.max(1);
        if size.saturating_add(additional) > share {
            return Err(self.memory.exhausted(additional, used));
        }
        spilling.bytes += additional;
        Ok(())
    }
}

impl fmt::Display for OperatorMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({} of {} bytes)", self.name(), self.memory.used(), self.memory.limit())
    }
}

fn can_spill(reservation: &MemoryReservation) -> bool {
    reservation.consumer().can_spill()
}

impl MemoryPool for OperatorMemory {
    fn name(&self) -> &str {
        "statement memory"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        if consumer.can_spill() {
            self.accounts().for_each(|account| account.spilling.lock().count += 1);
        }
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        if consumer.can_spill() {
            self.accounts().for_each(|account| account.spilling.lock().count -= 1);
        }
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        if can_spill(reservation) {
            self.accounts().for_each(|account| account.spilling.lock().bytes += additional);
        }
        self.memory.take_anyway(additional);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        if can_spill(reservation) {
            self.accounts().for_each(|account| account.spilling.lock().bytes -= shrink);
        }
        self.memory.release(shrink);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        // Operators that can go to temporary files do so at this very error.
        let exhausted = |error: TableError| DataFusionError::ResourcesExhausted(error.to_string());
        let mut counted = Vec::new();
        let mut taken = Ok(());
        if can_spill(reservation) {
            for account in self.accounts() {
                taken = taken.and_then(|()| account.spill_later(reservation.size(), additional));
                if taken.is_ok() {
                    counted.push(account);
                }
            }
        }
        let taken = taken.and_then(|()| self.memory.take(additional));
        if taken.is_err() {
            counted.iter().for_each(|account| account.spilling.lock().bytes -= additional);
        }
        taken.map_err(exhausted)
    }

    fn reserved(&self) -> usize {
        self.memory.used()
    }

    fn memory_limit(&self) -> MemoryLimit {
        MemoryLimit::Finite(self.memory.limit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reservation(pool: &Arc<dyn MemoryPool>, can_spill: bool) -> MemoryReservation {
        MemoryConsumer::new("an operator").with_can_spill(can_spill).register(pool)
    }

    #[test]
    fn operators_share_the_memory_of_their_statement_and_of_all() {
        let memory = Arc::new(Memory::new(1000));
        let of_all = Arc::new(OperatorMemory::new(memory.clone()));
        let pools = [400, 2000].map(|limit| {
            let memory = Arc::new(Memory::of_statement(limit, memory.clone()));
            Arc::new(OperatorMemory::of_statement(memory, of_all.clone())) as Arc<dyn MemoryPool>
        });
        let counted = || {
            let spilling = of_all.spilling.lock();
            (memory.used(), spilling.bytes, spilling.count)
        };
        let (small, large) = (reservation(&pools[0], true), reservation(&pools[1], true));
        // Three quarters of its statement's, and a half of three quarters of the whole.
        assert!(small.try_grow(301).is_err() && small.try_grow(300).is_ok());
        assert!(large.try_grow(376).is_err() && large.try_grow(375).is_ok());
        assert_eq!(counted(), (675, 675, 2));
        let other = reservation(&pools[0], false);
        let refused = other.try_grow(101).unwrap_err().to_string();
        assert!(refused.contains("it uses 300 of the 400 that statement_memory_limit allows"), "{refused}");
        other.try_grow(100).unwrap();
        drop((small, large, other));
        assert_eq!(counted(), (0, 0, 0));
    }
}
