//! Values too long for a block: each lies in the store by itself, and the block of its row names it.
//!
//! ```text
//! part   version 1 | bytes 4 | the value, lz4 where that makes it smaller | checksum 4
//! ```
//! A merge that writes the row's block anew names the same value again: it is neither read nor written. What no block
//! names any more is deleted when the last block that did is gone from all views.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use parking_lot::Mutex;
use saltwing_store::{Bytes, StoreError};
use saltwing_types::TableId;

use super::bits::{Reader, seal};
use super::block_ref::{BlockCache, BlockContext, Unread};

/// The version that is written.
const VERSION: u8 = 1;
/// Bytes before a part's value.
const HEADER_BYTES: usize = 5;
/// Bytes of a value that its block has too.
pub(crate) const HEAD_BYTES: usize = 16;
/// What a value counts for in the size of its block: its number stands in the directory.
pub(super) const NAMED_BYTES: usize = 1 << 10;

/// A value that lies by itself. It stays in the store while a block that names it is in a view.
pub(crate) struct OverflowValue {
    pub(super) id: u64,
    /// No block of the newest directory names it.
    orphan: AtomicBool,
    /// Why it could not be read, until somebody asks.
    failed: Mutex<Option<StoreError>>,
    context: Arc<BlockContext>,
}

impl OverflowValue {
    pub(super) fn new(id: u64, context: Arc<BlockContext>) -> Self {
        Self { id, orphan: AtomicBool::new(false), failed: Mutex::default(), context }
    }

    /// The value, which has `bytes` bytes; `None` if it cannot be read: [`OverflowValue::failure`] says whether the store failed.
    pub(super) fn read(&self, bytes: u32) -> Option<Bytes> {
        let stored = match self.context.load_overflow(self.id) {
            Ok(stored) => stored?,
            Err(error) => {
                *self.failed.lock() = Some(error);
                return None;
            }
        };
        read_part(&stored).filter(|value| value.len() == bytes as usize)
    }

    /// What the store failed with.
    pub(super) fn failure(&self) -> Option<StoreError> {
        self.failed.lock().take()
    }

    /// It is deleted when the last block that names it is gone.
    pub(super) fn leave(&self) {
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

/// A value as it is stored.
pub(super) fn overflow_part(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER_BYTES + value.len() + 4);
    out.push(VERSION);
    out.extend_from_slice(&(value.len() as u32).to_le_bytes());
    let packed = lz4_flex::block::compress(value);
    out.extend_from_slice(if packed.len() < value.len() { &packed } else { value });
    seal(out)
}

fn read_part(stored: &Bytes) -> Option<Bytes> {
    let mut reader = Reader::checked(stored)?;
    let (version, bytes) = (reader.u8()?, reader.u32()? as usize);
    let rest = reader.rest();
    match rest.len() {
        _ if version != VERSION => None,
        held if held == bytes => Some(stored.slice(rest)),
        held if held < bytes => {
            let value = lz4_flex::block::decompress(stored.get(rest)?, bytes).ok()?;
            (value.len() == bytes).then(|| Bytes::from(value))
        }
        _ => None,
    }
}

/// Values that are in the store already, of a step that is not: they go if it fails.
pub(super) struct Ahead {
    table: TableId,
    pub(super) ids: Vec<u64>,
    cache: Arc<BlockCache>,
}

impl Ahead {
    pub(super) fn new(table: TableId, cache: Arc<BlockCache>) -> Self {
        Self { table, ids: Vec::new(), cache }
    }

    /// The step is written: blocks name them.
    pub(super) fn keep(&mut self) {
        self.ids.clear();
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.cache.return_unread(self.ids.iter().map(|id| Unread::overflow(self.table, *id)).collect());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_value_reads_as_it_was_written(
            value in prop_oneof![prop::collection::vec(any::<u8>(), 0..90), (any::<u8>(), 0usize..9000).prop_map(|(b, n)| vec![b; n])],
            at in any::<prop::sample::Index>(),
            flip in 1u8..,
        ) {
            let stored = overflow_part(&value);
            prop_assert_eq!(&read_part(&Bytes::from(&stored[..])).unwrap()[..], &value[..]);
            let mut damaged = stored.clone();
            damaged[at.index(stored.len())] ^= flip;
            prop_assert!(read_part(&Bytes::from(damaged)).is_none());
            prop_assert!(read_part(&Bytes::from(&stored[..at.index(stored.len())])).is_none());
            // With a right checksum over wrong content, reading still must not panic.
            let mut content = stored[..stored.len() - 4].to_vec();
            content[at.index(stored.len() - 4)] ^= flip;
            let _ = read_part(&Bytes::from(seal(content)));
        }
    }
}
