//! The contract: [`OrderedKv`], [`Snapshot`], [`Cursor`].

use std::path::PathBuf;

use crate::{Announced, Bytes, Capabilities, Direction, Durability, KeyBounds, Space, StoreError, WriteBatch};

/// A part of a store's own files that [`Access::Salvage`](crate::Access) has left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The file, below the database's directory.
    pub file: String,
    /// The bytes of it; `the file` for all of them.
    pub place: String,
    /// What is wrong with it, and what may be lost.
    pub what: String,
}

/// Sorted spaces of bytes, written in atomic batches. Synchronous: microseconds
/// matter here.
///
/// Everything handed out owns what it needs, so a cursor or a snapshot may outlive
/// the store's handle; a directory stays locked until the last of them is dropped.
pub trait OrderedKv: Send + Sync + 'static {
    /// What this store can do.
    fn capabilities(&self) -> &Capabilities;

    /// What the opening found and mended, for the user: one sentence each.
    fn notices(&self) -> &[String] {
        &[]
    }

    /// What an opening for salvage has left out; nothing otherwise.
    fn left_out(&self) -> &[LeftOut] {
        &[]
    }

    /// The newest value of `key`; `None` where there is none.
    ///
    /// A batch may be seen here before its writer got its acknowledgement, and two
    /// calls may see two states: who needs one takes a snapshot.
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError>;

    /// Walks the keys of `space` in `bounds`, in `direction`.
    ///
    /// It sees every write acknowledged before this call. Where the store has
    /// snapshots it sees one moment, seeks included; elsewhere it may see
    /// some of the writes made while it lives, and a batch in part.
    fn cursor(&self, space: Space, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError>;

    /// All spaces as they are at this moment, with every acknowledged write.
    ///
    /// # Errors
    /// [`StoreError::NotSupported`] unless [`Capabilities::snapshots`].
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError>;

    /// Applies `batch` as a whole, across spaces.
    ///
    /// Others may see the batch before it is durable, but it is acknowledged, by
    /// the return, only when it has reached `durability`. An empty batch is
    /// acknowledged at once, and with [`Durability::Synced`] syncs what came before.
    ///
    /// # Errors
    /// [`StoreError::EmptyKey`], [`StoreError::KeyTooLong`],
    /// [`StoreError::BatchTooLarge`], [`StoreError::ReadOnly`]: nothing was
    /// written. [`StoreError::CommitUnknown`], [`StoreError::DiskFull`]: the batch
    /// may or may not be there after the store is opened again, and before that no
    /// write is taken any more ([`StoreError::Poisoned`]): none can come behind one
    /// of which nobody knows.
    fn write(&self, batch: WriteBatch, durability: Durability) -> Result<(), StoreError>;

    /// Takes every key of `space` away; where the store can, at a cost that does not grow with their number.
    ///
    /// What was acknowledged before this call is on the disk before any of the keys is gone from there: no crash
    /// takes a write, and leaves a clear that came after it. A crash may undo a part of the clear, or all of it, as
    /// long as no later write to the space has survived that crash: then nothing from before the clear is there.
    /// Writes to the space at the same time come before or after it, each as a whole. Snapshots, and the cursors of
    /// stores that have them, go on seeing what they saw.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`]: nothing is gone. After any other, any of the keys may be left; clear again.
    fn clear(&self, space: Space) -> Result<(), StoreError>;

    /// Gives the disk back what deleted keys and overwritten values still take there, where that is much: what is
    /// written for it stays in proportion to what is gained. Other calls go on meanwhile, and nothing that can be read
    /// changes.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`]. After any error all is there as it was; call it again.
    fn reclaim(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Bytes that can still be written before the device has no more than what is kept for writes that give space back,
    /// about; `None` where there is no such limit. Cheap enough to be asked before each write.
    ///
    /// At 0 a write still succeeds while there is room at all. Whoever adds rows stops there: a store that meets the end of
    /// the device in a write takes no more of them until it is opened again, and nothing could be deleted.
    fn room(&self) -> Option<u64> {
        None
    }

    /// The directory that the store lies in, for messages; empty where it lies in none.
    fn place(&self) -> PathBuf {
        PathBuf::new()
    }

    /// Brings every acknowledged write to the disk.
    fn sync(&self) -> Result<(), StoreError>;

    /// Announces a buffered write that is to be on the disk soon, so that writers at the same time share a sync: one
    /// that begins meanwhile waits for the write. Call it right before the write, holding nothing that a writer who
    /// waits for a sync may need.
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

/// One moment of a store, consistent across its spaces. Keep it for a statement or
/// a transaction, not for hours: what it sees cannot be reclaimed.
pub trait Snapshot: Send + Sync {
    /// The value of `key` at that moment.
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError>;

    /// Walks the keys of `space` in `bounds` as they were at that moment.
    fn cursor(&self, space: Space, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError>;
}

/// A walk over the keys of one space, within bounds, one way.
pub trait Cursor: Send {
    /// The next key and value; `None` at the end, and from then on.
    ///
    /// # Errors
    /// After an error the walk has ended short: what was read so far is not all.
    fn next(&mut self) -> Result<Option<(Bytes, Bytes)>, StoreError>;

    /// Skips ahead, so that [`Self::next`] yields the first key that is not before
    /// `key` in the direction of travel: forward the next one `>= key`, in reverse
    /// the next one `<= key`.
    ///
    /// Never leaves the bounds, and never goes back: a `key` at or behind the last
    /// one yielded changes nothing. Any bytes will do, empty ones included. It
    /// costs about as much as a new cursor.
    fn seek(&mut self, key: &[u8]) -> Result<(), StoreError>;
}
