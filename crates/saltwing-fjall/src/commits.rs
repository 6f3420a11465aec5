//! Numbers for batches: each batch in the journal carries a mark, and the newest number on the disk is kept in the
//! database's watermark (see [`saltwing_store::commit_number`]).

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use fjall::{Database, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch, PersistMode};
use parking_lot::{Mutex, MutexGuard};
use saltwing_store::commit_number::CommitMark;
use saltwing_store::watermark::Watermark;

/// The keyspace of marks; its newest mark counts. It is never dropped: fjall continues after the highest sequence
/// number in its keyspaces, so this keyspace keeps sequence numbers ascending from batch to batch in the journal.
const KEYSPACE: &str = "commits";
/// Memory for marks that were replaced: some 100,000 of them. When it is full it is written out, which takes several syncs.
const MEMTABLE_BYTES: u64 = 16 << 20;

/// The numbering of one open database.
pub(crate) struct Commits {
    keyspace: Keyspace,
    /// The number of the last batch. Held while the next one is written: numbers are in the order of the journal.
    last: Mutex<Last>,
    /// The same, for who syncs.
    written: AtomicU64,
    watermark: Watermark,
}

/// The last batch.
pub(crate) struct Last {
    number: u64,
    /// Numbers that tables have, and the journal behind which the next batch comes has not.
    skipped: u64,
}

/// Why a batch was not written.
pub(crate) enum Unwritten {
    /// It could not be filled: nothing reached the journal.
    Nothing(fjall::Error),
    /// The journal may hold it.
    Unknown(fjall::Error),
}

/// The number of the newest batch that the database has; 0 is none.
pub(crate) fn newest(database: &Database) -> fjall::Result<(Keyspace, u64)> {
    let keyspace =
        database.keyspace(KEYSPACE, || KeyspaceCreateOptions::default().max_memtable_size(MEMTABLE_BYTES))?;
    let mark = keyspace.get(CommitMark::KEY)?;
    let number = match &mark {
        None => 0,
        // The table's checksum was verified, so the bytes are intact.
        Some(mark) => CommitMark::decode(mark).map_or(0, |mark| mark.number),
    };
    Ok((keyspace, number))
}

impl Commits {
    /// Goes on behind the number `newest`; the journal ends with `journaled`, if it has numbers.
    pub(crate) fn new(keyspace: Keyspace, newest: u64, journaled: Option<u64>, watermark: Watermark) -> Self {
        let skipped = journaled.map_or(0, |journaled| newest.saturating_sub(journaled));
        let last = Mutex::new(Last { number: newest, skipped });
        Self { keyspace, last, written: AtomicU64::new(newest), watermark }
    }

    /// Holds writes off.
    pub(crate) fn hold(&self) -> MutexGuard<'_, Last> {
        self.last.lock()
    }

    pub(crate) fn keyspace(&self) -> &Keyspace {
        &self.keyspace
    }

    /// The number of the newest batch that was written.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::SeqCst)
    }

    /// Writes a batch of `entries` entries, which `fill` adds, with its mark.
    pub(crate) fn write(
        &self,
        database: &Database,
        persist: Option<PersistMode>,
        entries: usize,
        fill: impl FnOnce(&mut OwnedWriteBatch) -> fjall::Result<()>,
    ) -> Result<(), Unwritten> {
        let mut last = self.last.lock();
        let mut batch = OwnedWriteBatch::with_capacity(database.clone(), entries + 1).durability(persist);
        let synced = self.watermark.acknowledged();
        let mark = CommitMark { number: last.number + 1, synced, order_min: database.seqno(), skipped: last.skipped };
        // The mark comes first, so that a torn batch is still identified by it.
        batch.insert(&self.keyspace, CommitMark::KEY, mark.encode().as_slice());
        fill(&mut batch).map_err(Unwritten::Nothing)?;
        batch.commit().map_err(Unwritten::Unknown)?;
        *last = Last { number: mark.number, skipped: 0 };
        self.written.store(mark.number, Ordering::SeqCst);
        Ok(())
    }

    /// Syncs with `sync`, and records the synced batches before any acknowledgement.
    pub(crate) fn synced(&self, sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let written = self.written();
        sync()?;
        self.watermark.acknowledge(written)
    }

    /// Says that batches up to `number` are in tables.
    pub(crate) fn settle(&self, number: u64) -> Result<(), saltwing_store::StoreError> {
        self.watermark.settle(number)
    }
}
