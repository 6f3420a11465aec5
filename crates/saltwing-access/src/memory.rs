//! Working memory, counted: that of all running statements of a database together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::TableError;

/// The memory that running statements use, and its limit.
///
/// Counted is what statements gather or make: groups, sorts, hash tables, large results of functions, rows of a query that
/// are written. Batches on their way, the block cache and recent rows are not.
#[derive(Debug)]
pub struct Memory {
    limit: AtomicUsize,
    used: AtomicUsize,
}

impl Memory {
    /// Accounts for memory, up to `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { limit: AtomicUsize::new(limit), used: AtomicUsize::new(0) }
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
    /// [`TableError::OutOfMemory`] if there would be more than the limit.
    pub fn take(&self, bytes: usize) -> Result<(), TableError> {
        let limit = self.limit();
        let more = |used: usize| used.checked_add(bytes).filter(|used| *used <= limit);
        match self.used.fetch_update(Relaxed, Relaxed, more) {
            Ok(_) => Ok(()),
            Err(used) => Err(TableError::OutOfMemory { wanted: bytes, used, limit }),
        }
    }

    /// Counts bytes that are in use already, beyond the limit too.
    pub fn take_anyway(&self, bytes: usize) {
        self.used.fetch_add(bytes, Relaxed);
    }

    /// Gives bytes back.
    pub fn release(&self, bytes: usize) {
        let before = self.used.fetch_sub(bytes, Relaxed);
        debug_assert!(before >= bytes, "{bytes} bytes are given back of {before}");
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
        assert!(matches!(refused, TableError::OutOfMemory { wanted: 41, used: 60, limit: 100 }));
        second.resize(40).unwrap();
        first.resize(10).unwrap();
        assert_eq!((memory.used(), first.bytes()), (50, 10));
        drop((first, second));
        assert_eq!(memory.used(), 0);
        assert!(memory.take(usize::MAX).is_err());
    }
}
