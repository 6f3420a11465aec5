//! The contract: [`OrderedKv`], [`Snapshot`], [`Cursor`].

use std::path::PathBuf;

use crate::{
    Announced, Bytes, Capabilities, Direction, Durability, KeyBounds, Space, StoreError, WaitStats, WriteBatch,
};

/// A damaged part of a store's own files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The file, below the database's directory.
    pub file: String,
    /// The bytes of it; `the file` for all of them.
    pub place: String,
    /// The reason, and the possible losses.
    pub what: String,
}

/// Whether a [reclaim](OrderedKv::reclaim) may make writers wait until it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteStall {
    /// Nobody writes, or the space is needed.
    Allowed,
    /// Somebody writes. Space is freed only if there is much more dead than live data, and little of the latter.
    Avoided,
}

/// Sorted spaces of bytes, written in atomic batches. Synchronous: microseconds
/// matter here.
///
/// Cursors and snapshots own their state, so they may outlive the store's handle; the directory stays locked until the
/// last of them is dropped.
pub trait OrderedKv: Send + Sync + 'static {
    /// The abilities of this store.
    fn capabilities(&self) -> &Capabilities;

    /// Repairs at opening, for the user: one sentence each.
    fn notices(&self) -> &[String] {
        &[]
    }

    /// The parts omitted by an [opening for salvage](crate::Access::Salvage); otherwise empty.
    fn left_out(&self) -> &[LeftOut] {
        &[]
    }

    /// The parts of its files that reads have found damaged since the opening. Reads of keys in them fail, all others
    /// go on.
    fn damages(&self) -> Vec<LeftOut> {
        Vec::new()
    }

    /// The checkpoints since the opening: what only the log has goes to the store's other files, and writers wait. None in a store
    /// that has no log, or none that it tells of.
    fn checkpoints(&self) -> WaitStats {
        WaitStats::default()
    }

    /// The newest value of `key`; `None` where there is none.
    ///
    /// A batch may be visible before its writer gets the acknowledgement, and two calls may see two states; use a
    /// snapshot for one state.
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError>;

    /// Walks the keys of `space` in `bounds`, in `direction`.
    ///
    /// It sees every write acknowledged before this call. If the store has
    /// snapshots it sees one of them, seeks included; otherwise it may see
    /// some of the writes made while it lives, and a batch in part.
    fn cursor(&self, space: Space, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError>;

    /// All spaces as they are now, with every acknowledged write.
    ///
    /// # Errors
    /// [`StoreError::NotSupported`] unless [`Capabilities::snapshots`].
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError>;

    /// Applies `batch` atomically, across spaces.
    ///
    /// Others may see the batch before it is durable, but the call returns only when it has reached `durability`. An
    /// empty batch returns at once, and with [`Durability::Synced`] syncs earlier writes.
    ///
    /// # Errors
    /// [`StoreError::EmptyKey`], [`StoreError::KeyTooLong`],
    /// [`StoreError::BatchTooLarge`], [`StoreError::ReadOnly`], [`StoreError::Corrupt`]
    /// (the batch needs a damaged part): nothing was written, and other batches may be. [`StoreError::CommitUnknown`], [`StoreError::DiskFull`]: the batch
    /// may or may not be there after the store is opened again, and before that no
    /// write is taken any more ([`StoreError::Poisoned`]): none can follow one of
    /// unknown outcome.
    fn write(&self, batch: WriteBatch, durability: Durability) -> Result<(), StoreError>;

    /// Takes every key of `space` away; where the store can, at a cost that does not grow with their number.
    ///
    /// Acknowledged writes are on the disk before any of the keys disappears from it: no crash loses such a write and
    /// keeps the later clear. A crash may undo the clear in part or as a whole, but not if a later write to the space
    /// survives it: then nothing from before the clear is present. Concurrent writes to the space come before or after
    /// it, each as a whole. Snapshots, and cursors of stores with snapshots, still see their state.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`]: nothing is gone. After any other, any of the keys may be left; clear again.
    fn clear(&self, space: Space) -> Result<(), StoreError>;

    /// Frees the space that deleted keys and overwritten values still take, if it is much: the bytes written for it
    /// stay in proportion to the gain. No visible data changes. Other calls continue meanwhile; in a store that cannot free
    /// space while it writes, they wait. Such a store leaves more dead space if `stall` says so.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`]. An error changes no data; call it again.
    fn reclaim(&self, stall: WriteStall) -> Result<(), StoreError> {
        let _ = stall;
        Ok(())
    }

    /// Approximate bytes that can still be written before only the reserve for space-freeing writes is left; `None`
    /// without such a limit. Cheap enough to call before each write.
    ///
    /// At 0 a write still succeeds while the device has space. Callers that add rows must stop there: a store whose
    /// device is full in the middle of a write refuses writes until it is opened again, and deletes would then be
    /// impossible.
    fn room(&self) -> Option<u64> {
        None
    }

    /// The store's directory, for messages; empty if it has none.
    fn place(&self) -> PathBuf {
        PathBuf::new()
    }

    /// Brings every acknowledged write to the disk.
    fn sync(&self) -> Result<(), StoreError>;

    /// Announces a buffered write that is to be synced soon, so that concurrent writers share a sync: a sync that
    /// starts meanwhile waits for the write. Call it right before the write, and hold no lock that a writer waiting for
    /// a sync may need.
    fn announce(&self) -> Announced<'_> {
        Announced::alone(|| self.sync())
    }

    /// Gets the store ready for a fast opening: syncs, and writes out what would
    /// have to be replayed. The store stays usable; it ends when its last handle,
    /// cursor and snapshot are dropped.
    fn close(&self) -> Result<(), StoreError> {
        self.sync()
    }
}

/// The state of a store at one time, consistent across its spaces. Keep it for a
/// statement or a transaction, not for hours: what it sees cannot be reclaimed.
pub trait Snapshot: Send + Sync {
    /// The value of `key` in this state.
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError>;

    /// Walks the keys of `space` in `bounds` as they are in this state.
    fn cursor(&self, space: Space, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError>;
}

/// A walk over the keys of one space, within bounds, one way.
pub trait Cursor: Send {
    /// The next key and value; `None` at the end, and from then on.
    ///
    /// # Errors
    /// The entries so far are not all then. A further call continues after the entries that cannot be read if the store
    /// can find the next one, and otherwise is the end.
    fn next(&mut self) -> Result<Option<(Bytes, Bytes)>, StoreError>;

    /// Skips ahead, so that [`Self::next`] yields the first key that is not before
    /// `key` in the direction of travel: forward the next one `>= key`, in reverse
    /// the next one `<= key`.
    ///
    /// Never leaves the bounds, and never goes back: a `key` that is not after the
    /// last one yielded, in the direction of travel, changes nothing. Any bytes will
    /// do, empty ones included. It costs about as much as a new cursor.
    fn seek(&mut self, key: &[u8]) -> Result<(), StoreError>;
}
