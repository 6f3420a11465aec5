//! BlockIdAllocator for blocks and long values, and the record that says which are taken.
//!
//! Threads that make blocks of one step take ids concurrently, and write overflow values before it. The record is
//! written under a lock, so the stored next id never decreases.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;

use saltwing_access::TableError;

use crate::format::meta::Meta;

/// The numbers of one step.
pub(crate) struct BlockIdAllocator {
    /// As it was written last.
    meta: Mutex<Meta>,
    next: AtomicU64,
}

impl BlockIdAllocator {
    pub(crate) fn new(meta: Meta) -> Self {
        Self { next: AtomicU64::new(meta.next_block), meta: Mutex::new(meta) }
    }

    /// A number that nobody else has: of two that one thread takes, the later is the greater.
    pub(crate) fn take(&self) -> u64 {
        self.next.fetch_add(1, Relaxed)
    }

    /// The record as it was written last.
    pub(crate) fn meta(&self) -> Meta {
        self.meta.lock().clone()
    }

    /// Writes the record with all ids taken so far; `write` returns the written record.
    pub(crate) fn write(&self, write: impl FnOnce(Meta) -> Result<Meta, TableError>) -> Result<(), TableError> {
        let mut meta = self.meta.lock();
        *meta = write(Meta { next_block: self.next.load(Relaxed), ..meta.clone() })?;
        Ok(())
    }

    pub(crate) fn into_meta(self) -> Meta {
        self.meta.into_inner()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_has_all_numbers_that_were_taken_before() {
        let numbers = BlockIdAllocator::new(Meta { next_block: 10, ..Meta::default() });
        let written = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let taken = numbers.take();
                        let write = |meta: Meta| {
                            assert!(taken < meta.next_block);
                            written.lock().push(meta.next_block);
                            Ok(meta)
                        };
                        numbers.write(write).unwrap();
                    }
                });
            }
        });
        assert!(written.lock().is_sorted());
        assert_eq!(numbers.into_meta().next_block, 10 + 4 * 200);
    }

    #[test]
    fn what_was_not_written_is_not_in_the_record() {
        let numbers = BlockIdAllocator::new(Meta::default());
        numbers.take();
        assert!(numbers.write(|_| Err(TableError::CorruptLayout("a test"))).is_err());
        assert_eq!(numbers.meta(), Meta::default());
    }
}
