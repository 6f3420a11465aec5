//! The state of the writer.

use redb::WriteTransaction;
use saltwing_store::WriteBatch;

use crate::journal::Journal;
use crate::space::{LiveBytes, TableNames, apply};

/// Batches are applied to redb together: at this number of them, or at this many bytes. A transaction of redb costs more
/// than the few keys of a small batch.
const UNAPPLIED_MAX: usize = 32;
const UNAPPLIED_BYTES_MAX: usize = 256 << 10;

/// The state of the writer.
pub(crate) struct Writer {
    pub(crate) journal: Journal,
    pub(crate) unapplied: Unapplied,
    pub(crate) live: LiveBytes,
    /// Bytes that lived when the file was compacted last.
    pub(crate) compacted: u64,
}

/// The newest batches of the journal, in its order, which redb does not have yet.
///
/// # Invariant
/// A transaction of redb begins only after they are applied and committed. Otherwise a reader misses writes that were acknowledged.
#[derive(Default)]
pub(crate) struct Unapplied {
    batches: Vec<WriteBatch>,
    bytes: usize,
}

impl Unapplied {
    pub(crate) fn push(&mut self, batch: WriteBatch, bytes: usize) {
        self.batches.push(batch);
        self.bytes += bytes;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// Whether they are enough for a transaction of redb.
    pub(crate) fn is_full(&self) -> bool {
        self.batches.len() >= UNAPPLIED_MAX || self.bytes >= UNAPPLIED_BYTES_MAX
    }
}

impl Writer {
    /// Applies the batches that redb does not have yet, in a transaction that the caller commits. Only then may reads pass over the
    /// writer.
    pub(crate) fn apply_all(&mut self, names: &TableNames, transaction: &WriteTransaction) -> Result<(), redb::Error> {
        let Unapplied { batches, .. } = std::mem::take(&mut self.unapplied);
        batches.into_iter().try_for_each(|batch| apply(names, transaction, batch, &mut self.live))
    }
}
