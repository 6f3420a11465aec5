//! The state of the writer.

use redb::WriteTransaction;
use saltwing_store::{Mutation, WriteBatch};

use crate::journal::Journal;
use crate::space::{Clearing, LiveBytes, TableNames, apply};

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

/// Whether redb takes a batch before the journal does. A deletion may need pages that nobody has read yet, and one of them
/// may be damaged: then the batch must not be in the journal, whose batches cannot be refused any more. A large batch is
/// applied at once anyway. Small batches of new keys, such as commits of rows, go to pages that were written last.
pub(crate) fn is_applied_first(batch: &WriteBatch) -> bool {
    batch.bytes() >= UNAPPLIED_BYTES_MAX || batch.mutations().iter().any(|m| matches!(m, Mutation::Delete { .. }))
}

impl Writer {
    /// Applies the batches that redb does not have yet, and one more, in a transaction that the caller commits; returns the live
    /// bytes after them. Only after the commit may reads pass over the writer.
    pub(crate) fn apply_all(
        &self,
        names: &TableNames,
        transaction: &WriteTransaction,
        more: Option<&WriteBatch>,
        clearing: Clearing,
    ) -> Result<LiveBytes, redb::Error> {
        let mut live = self.live.clone();
        let mut batches = self.unapplied.batches.iter().chain(more);
        batches.try_for_each(|batch| apply(names, transaction, batch, &mut live, clearing))?;
        Ok(live)
    }

    /// Takes note of a commit of all batches.
    pub(crate) fn applied(&mut self, live: LiveBytes) {
        (self.live, self.unapplied) = (live, Unapplied::default());
    }
}
