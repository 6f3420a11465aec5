//! Working memory, counted: that of all running statements of a database together, and that of one statement.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use crate::TableError;
use crate::memory_scope::MemoryScope;

/// The memory that running statements use, and its limit: of all statements of a database, or of one of them, whose bytes count for all as well.
///
/// Counted is what statements gather or make: groups, sorts, hash tables, large results of functions, rows of a query that
/// are written. Batches on their way, the block cache and recent rows are not.
#[derive(Debug)]
pub struct Memory {
    limit: AtomicUsize,
    used: AtomicUsize,
    /// The memory of all statements, if this is that of one.
    of_all: Option<Arc<Memory>>,
}

impl Memory {
    /// Accounts for the memory of all statements, up to `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { limit: AtomicUsize::new(limit), used: AtomicUsize::new(0), of_all: None }
    }

    /// Accounts for the memory of one statement, up to `limit` bytes, within that of all.
    pub fn of_statement(limit: usize, of_all: Arc<Self>) -> Self {
        Self { limit: AtomicUsize::new(limit), used: AtomicUsize::new(0), of_all: Some(of_all) }
    }

    /// Whose memory it is.
    pub fn scope(&self) -> MemoryScope {
        match self.of_all {
            None => MemoryScope::Statements,
            Some(_) => MemoryScope::Statement,
        }
    }

    /// Most bytes.
    pub fn limit(&self) -> usize {
        self.limit.load(Relaxed)
    }

    /// Changes the limit for later reservations.
    pub fn set_limit(&self, limit: usize) {
        self.limit.store(limit, Relaxed);
    }

    /// Bytes in use.
    pub fn used(&self) -> usize {
        self.used.load(Relaxed)
    }

    /// Counts bytes that are about to be used; [`Memory::release`] gives them back.
    ///
    /// # Errors
    /// [`TableError::OutOfMemory`] if there would be more than the limit, or than that of all statements.
    pub fn take(&self, bytes: usize) -> Result<(), TableError> {
        let limit = self.limit();
        let more = |used: usize| used.checked_add(bytes).filter(|used| *used <= limit);
        if let Err(used) = self.used.fetch_update(Relaxed, Relaxed, more) {
            return Err(self.exhausted(bytes, used));
        }
        let taken = self.of_all.as_ref().map_or(Ok(()), |of_all| of_all.take(bytes));
        if taken.is_err() {
            self.used.fetch_sub(bytes, Relaxed);
        }
        taken
    }

    /// The error of a statement that wants `wanted` more bytes while `used` bytes are in use.
    pub fn exhausted(&self, wanted: usize, used: usize) -> TableError {
        TableError::OutOfMemory { wanted, used, limit: self.limit(), scope: self.scope() }
    }

    /// Counts bytes that are in use already, beyond the limit too.
    pub fn take_anyway(&self, bytes: usize) {
        self.used.fetch_add(bytes, Relaxed);
        self.of_all.iter().for_each(|of_all| of_all.take_anyway(bytes));
    }

    /// Gives bytes back.
    pub fn release(&self, bytes: usize) {
        let before = self.used.fetch_sub(bytes, Relaxed);
        debug_assert!(before >= bytes, "{bytes} bytes are given back of {before}");
        self.of_all.iter().for_each(|of_all| of_all.release(bytes));
    }
}

/// The memory of a statement, which is made when it is first asked for: most statements gather nothing.
#[derive(Debug)]
pub struct StatementMemory {
    of_all: Arc<Memory>,
    limit: usize,
    own: OnceLock<Arc<Memory>>,
}

impl StatementMemory {
    /// Up to `limit` bytes, within the memory of all statements.
    pub fn new(of_all: Arc<Memory>, limit: usize) -> Self {
        Self { of_all, limit, own: OnceLock::new() }
    }

    /// The statement's memory. If its limit is not below that of all statements, it needs none of its own, and this is the memory of all.
    pub fn get(&self) -> &Arc<Memory> {
        let own = || Arc::new(Memory::of_statement(self.limit, self.of_all.clone()));
        if self.limit >= self.of_all.limit() && self.own.get().is_none() {
            &self.of_all
        } else {
            self.own.get_or_init(own)
        }
    }
}

/// Bytes that are in use until this is dropped.
#[derive(Debug)]
pub struct Reservation {
    memory: Arc<Memory>,
    bytes: usize,
}

impl Reservation {
    /// No bytes yet.
    pub fn new(memory: Arc<Memory>) -> Self {
        Self { memory, bytes: 0 }
    }

    /// Makes it `bytes` large.
    ///
    /// # Errors
    /// [`TableError::OutOfMemory`]; it keeps its size then.
    pub fn resize(&mut self, bytes: usize) -> Result<(), TableError> {
        match bytes.checked_sub(self.bytes) {
            Some(more) => self.memory.take(more)?,
            None => self.memory.release(self.bytes - bytes),
        }
        self.bytes = bytes;
        Ok(())
    }

    /// How many bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.memory.release(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_reserved_counts_until_it_is_dropped() {
        let memory = Arc::new(Memory::new(100));
        let mut first = Reservation::new(memory.clone());
        first.resize(60).unwrap();
        let mut second = Reservation::new(memory.clone());
        let refused = second.resize(41).unwrap_err();
        assert!(matches!(
            refused,
            TableError::OutOfMemory { wanted: 41, used: 60, limit: 100, scope: MemoryScope::Statements }
        ));
        second.resize(40).unwrap();
        first.resize(10).unwrap();
        assert_eq!((memory.used(), first.bytes()), (50, 10));
        drop((first, second));
        assert_eq!(memory.used(), 0);
        assert!(memory.take(usize::MAX).is_err());
    }

    #[test]
    fn a_statement_counts_for_itself_and_for_all() {
        let of_all = Arc::new(Memory::new(100));
        let statements = [60, 70].map(|limit| Arc::new(Memory::of_statement(limit, of_all.clone())));
        let [mut first, mut second] = statements.clone().map(Reservation::new);
        let refused = first.resize(61).unwrap_err();
        assert!(matches!(refused, TableError::OutOfMemory { limit: 60, scope: MemoryScope::Statement, .. }));
        assert!(refused.to_string().ends_with("it uses 0 of the 60 that statement_memory_limit allows"), "{refused}");
        first.resize(60).unwrap();
        let refused = second.resize(50).unwrap_err();
        assert!(matches!(
            refused,
            TableError::OutOfMemory { used: 60, limit: 100, scope: MemoryScope::Statements, .. }
        ));
        assert!(
            refused.to_string().ends_with("running statements use 60 of the 100 that memory_limit allows"),
            "{refused}"
        );
        assert_eq!((statements[1].used(), of_all.used()), (0, 60));
        second.resize(40).unwrap();
        statements[0].take_anyway(10);
        assert_eq!((statements[0].used(), of_all.used()), (70, 110));
        statements[0].release(10);
        drop((first, second));
        assert_eq!((statements[0].used(), statements[1].used(), of_all.used()), (0, 0, 0));
    }
}
