//! Values too long for a block, as referenced by the blocks of their rows.
//!
//! A compaction of the row's block names the same value again, and neither reads nor writes it. A value that no block of the newest
//! directory names is deleted when no snapshot has a block that names it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use parking_lot::Mutex;
use saltwing_store::{Bytes, StoreError};
use saltwing_types::TableId;

use crate::engine::block_store::{BlockContext, BlockStore, Unread};
use crate::format::overflow::read_part;

/// The bytes that an overflow value counts towards the size of its block.
pub(crate) const NAMED_BYTES: usize = 1 << 10;

/// An overflow value. It stays in the store while a view has a block that references it.
pub(crate) struct OverflowValue {
    pub(crate) id: u64,
    /// No block of the newest directory names it.
    orphan: AtomicBool,
    /// Why it could not be read, until somebody asks.
    failed: Mutex<Option<StoreError>>,
    context: Arc<BlockContext>,
}

impl OverflowValue {
    pub(crate) fn new(id: u64, context: Arc<BlockContext>) -> Self {
        Self { id, orphan: AtomicBool::new(false), failed: Mutex::default(), context }
    }

    /// The value, which has `bytes` bytes; `None` if it cannot be read: [`OverflowValue::failure`] says whether the store failed.
    pub(crate) fn read(&self, bytes: u32) -> Option<Bytes> {
        let stored = match self.context.load_overflow(self.id) {
            Ok(stored) => stored?,
            Err(error) => {
                *self.failed.lock() = Some(error);
                return None;
            }
        };
        read_part(&stored).filter(|value| value.len() == bytes as usize)
    }

    /// The store's error.
    pub(crate) fn failure(&self) -> Option<StoreError> {
        self.failed.lock().take()
    }

    /// It is deleted when the last block that names it is gone.
    pub(crate) fn leave(&self) {
        self.orphan.store(true, Relaxed);
    }
}

impl Drop for OverflowValue {
    fn drop(&mut self) {
        if self.orphan.load(Relaxed) {
            self.context.leave_overflow(self.id);
        }
    }
}

/// Overflow values that are in the store already, of a compaction step that is not: if it fails they are deleted.
pub(crate) struct UncommittedOverflow {
    table: TableId,
    pub(crate) ids: Vec<u64>,
    blocks: Arc<BlockStore>,
}

impl UncommittedOverflow {
    pub(crate) fn new(table: TableId, blocks: Arc<BlockStore>) -> Self {
        Self { table, ids: Vec::new(), blocks }
    }

    /// The step is written: blocks name them.
    pub(crate) fn keep(&mut self) {
        self.ids.clear();
    }
}

impl Drop for UncommittedOverflow {
    fn drop(&mut self) {
        self.blocks.add_unread(self.ids.iter().map(|id| Unread::overflow(self.table, *id)));
    }
}
