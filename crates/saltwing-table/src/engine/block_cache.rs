//! A bound on the memory that blocks take, by the clock algorithm.

use std::collections::VecDeque;
use std::sync::Weak;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use parking_lot::Mutex;

/// The cache's view of a block whose parts are in memory.
pub(crate) trait CachedBlock: Send + Sync {
    /// Whether a part was read since the last call.
    fn take_used(&self) -> bool;

    /// Drops the parts from memory; the bytes that they took. Readers keep the parts that they hold.
    fn evict(&self) -> usize;
}

/// Blocks in the order in which their first part was read. The oldest one is evicted first, unless a part of it was
/// read since the last pass (CLOCK).
pub(crate) struct BlockCache {
    bytes_max: usize,
    bytes: AtomicUsize,
    ring: Mutex<VecDeque<Weak<dyn CachedBlock>>>,
}

impl BlockCache {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { bytes_max, bytes: AtomicUsize::new(0), ring: Mutex::default() }
    }

    /// `size` more bytes of a block are in memory; `new` is the block, if these are its first ones. Evicts others if the bytes are
    /// more than there may be.
    pub(crate) fn add(&self, size: usize, new: Option<Weak<dyn CachedBlock>>) {
        let mut held = self.bytes.fetch_add(size, Relaxed) + size;
        let mut ring = self.ring.lock();
        ring.extend(new);
        // A pass visits each block at most twice: once used, once unused.
        for _ in 0..2 * ring.len() {
            if held <= self.bytes_max {
                break;
            }
            let Some(oldest) = ring.pop_front() else { break };
            let Some(block) = oldest.upgrade() else { continue };
            if block.take_used() {
                ring.push_back(oldest);
            } else {
                let freed = block.evict();
                held = self.bytes.fetch_sub(freed, Relaxed).saturating_sub(freed);
            }
        }
    }

    /// Bytes of a block are no longer in memory, since the block is gone.
    pub(crate) fn remove(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Relaxed);
    }

    /// Bytes in memory now.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }
}
