//! The state shared by the store, its cursors and its snapshots, and the writes to it.

use crate::above::Above;
use crate::damages::Damages;
use crate::error::{commit_error, storage_error};
use crate::journal::ROUND_BYTES_MAX;
use crate::opening::commit_durably;
use crate::space::{Clearing, LiveBytes, SpaceTables, TableNames};
use crate::stand_in;
use crate::writer::{Writer, is_applied_first};
use parking_lot::{Mutex, RwLock};
use redb::{CompactionError, Database, ReadTransaction, ReadableDatabase, StorageError, WriteTransaction};
use saltwing_store::device::{self, Device};
use saltwing_store::directory::Directory;
use saltwing_store::group_sync::GroupSync;
use saltwing_store::watermark::Watermark;
use saltwing_store::{Bytes, LeftOut, Space, StoreError, Waits, WriteBatch, WriteStall, foreign};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A file is compacted if it takes this many times the bytes of its live data, and `GAIN_BYTES_MIN` more. A compaction writes at
/// most the live data, so it never writes more than it frees.
const TAKEN_PER_LIVE: u64 = 2;
/// The same multiple if writers would wait for the compaction. Until then redb writes new data to the freed pages.
const TAKEN_PER_LIVE_WRITTEN: u64 = 4;
/// While somebody writes, a file with more live bytes is not compacted: writers wait until the live pages are moved, and waited 0.16 to
/// 0.22 seconds for 40 MB of them.
const LIVE_BYTES_WRITTEN_MAX: u64 = 16 << 20;
/// The least gain of a compaction.
const GAIN_BYTES_MIN: u64 = 1 << 20;
/// On a full device the file is compacted when it exceeds the live bytes by this fraction of them (1/n).
const SLACK_PART: u64 = 4;

/// On a nearly full device a round is this fraction (1/n) of the free bytes, but at least `ROUND_BYTES_MIN`.
const ROUND_ROOM_PART: u64 = 8;
const ROUND_BYTES_MIN: u64 = 256 << 10;
/// Bytes that redb may write for a byte of a batch: partly filled pages, and their parents.
const BYTES_PER_WAITING: u64 = 4;

/// The state shared by the store, its cursors and its snapshots. Fields drop in order: the lock must be released after
/// the database has closed its file, or another process could open it too early.
pub(crate) struct Inner {
    /// Locked alone while its file is compacted.
    pub(crate) database: RwLock<Database>,
    /// Locked while a batch goes into the journal, and while batches are applied to redb, so that both have the same order.
    pub(crate) writer: Mutex<Writer>,
    /// The file of pages, for its size.
    pub(crate) pages: File,
    /// The journal's file, so that a sync need not wait for writers.
    pub(crate) journal_file: File,
    pub(crate) names: TableNames,
    pub(crate) group: GroupSync,
    /// `None` for a reader.
    pub(crate) watermark: Option<Watermark>,
    pub(crate) device: Device,
    /// Whether the journal has batches that no commit of redb has yet: [`Writer::unapplied`]. Set to false with the lock of the writer.
    pub(crate) has_unapplied: AtomicBool,
    /// Bytes of batches that redb has not brought to the disk.
    pub(crate) waiting_bytes: AtomicU64,
    /// The times that writers waited for the end of a round.
    pub(crate) checkpoints: Waits,
    /// The damaged pages that were met.
    pub(crate) damages: Arc<Damages>,
    /// What the journal has, for a reader that finds pages damaged: redb does not get it then.
    pub(crate) above: Option<Arc<Above>>,
    pub(crate) readonly: bool,
    pub(crate) notices: Vec<String>,
    pub(crate) left_out: Vec<LeftOut>,
    pub(crate) directory: Directory,
}

impl Inner {
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Runs calls of redb's that read.
    pub(crate) fn read<T>(&self, call: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, StoreError> {
        self.guarded(call, |error| storage_error("read", self.path(), error, &self.damages))
    }

    /// Runs reads of values. A reader continues after damaged pages.
    pub(crate) fn read_values<T>(&self, call: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, StoreError> {
        if self.readonly { self.read(|| stand_in::with_marks(call)) } else { self.read(call) }
    }

    /// Runs calls of redb's that write; after an error nothing more is written.
    pub(crate) fn write<T>(&self, call: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, StoreError> {
        self.guarded(call, |error| commit_error(self.path(), error, &self.damages))
            .inspect_err(|error| self.group.give_up(error))
    }

    /// Runs calls of redb. A panic means that the file has invalid content.
    pub(crate) fn guarded<T>(
        &self,
        call: impl FnOnce() -> Result<T, redb::Error>,
        translate: impl FnOnce(redb::Error) -> StoreError,
    ) -> Result<T, StoreError> {
        // Only redb's own state can be half changed by a panic, and redb refuses all calls afterwards.
        let panicked = |why: String| {
            let why = self.damages.explain(&why);
            Err(StoreError::Corrupt { path: self.path().to_path_buf(), why })
        };
        foreign::quietly(call).map_or_else(panicked, |called| called.map_err(translate))
    }

    /// The tables of a space in the snapshot of a transaction.
    pub(crate) fn tables(
        &self,
        transaction: &ReadTransaction,
        space: Space,
    ) -> Result<Option<SpaceTables>, StoreError> {
        self.read(|| SpaceTables::open(&self.names, transaction, space, &self.damages))
    }

    pub(crate) fn get(
        &self,
        transaction: &ReadTransaction,
        space: Space,
        key: &[u8],
    ) -> Result<Option<Bytes>, StoreError> {
        if let Some(written) = self.above.as_ref().and_then(|above| above.get(space, key)) {
            return Ok(written);
        }
        match self.tables(transaction, space)? {
            Some(tables) => self.read_values(|| tables.get(key)),
            None => Ok(None),
        }
    }

    /// Writes a batch to the journal. It is on the disk after the next sync of the journal, and in redb before the next
    /// read of redb.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if the batch needs a damaged page: nothing was written.
    pub(crate) fn commit(&self, batch: WriteBatch) -> Result<(), StoreError> {
        let mut writer = self.writer.lock();
        let is_applied_first = self.damages.is_any() || is_applied_first(&batch);
        let applied = if is_applied_first { Some(self.applied_with(&mut writer, &batch)?) } else { None };
        let before = writer.journal.bytes();
        let acknowledged = self.watermark.as_ref().map_or(0, Watermark::acknowledged);
        self.write(|| Ok(writer.journal.append(&batch, acknowledged)?))?;
        let bytes = writer.journal.bytes();
        self.waiting_bytes.store(bytes, Ordering::Relaxed);
        match applied {
            Some((transaction, live)) => self.write(|| self.finish(&mut writer, transaction, live))?,
            None => {
                writer.unapplied.push(batch, usize::try_from(bytes - before).unwrap_or(usize::MAX));
                self.has_unapplied.store(true, Ordering::Release);
            }
        }
        if writer.journal.is_full(self.round_bytes_max()) {
            return self.end_round(&mut writer);
        }
        if writer.unapplied.is_full() { self.write(|| self.apply_all(&mut writer)) } else { Ok(()) }
    }

    /// A transaction with all batches that redb does not have yet, and with this one.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if this one needs a damaged page. After any other error, and if one of the others needs one, which are
    /// in the journal already, nothing more is written.
    fn applied_with(
        &self,
        writer: &mut Writer,
        batch: &WriteBatch,
    ) -> Result<(WriteTransaction, LiveBytes), StoreError> {
        let mut failed = None;
        for clearing in [Clearing::Freed, Clearing::SetAside] {
            let applied = self.read(|| self.applied(writer, Some(batch), clearing));
            match applied {
                Err(StoreError::Corrupt { .. }) => failed = applied.err(),
                Err(error) => {
                    self.group.give_up(&error);
                    return Err(error.of_commit());
                }
                applied => return applied,
            }
            // Then each failure that follows is this batch's.
            self.write(|| self.apply_all(writer))?;
        }
        Err(failed.unwrap_or(StoreError::Poisoned { path: self.path().to_path_buf(), why: None }))
    }

    /// A transaction with all batches that redb does not have yet, and with one more.
    fn applied(
        &self,
        writer: &Writer,
        more: Option<&WriteBatch>,
        clearing: Clearing,
    ) -> Result<(WriteTransaction, LiveBytes), redb::Error> {
        let mut transaction = self.database.read().begin_write()?;
        transaction.set_durability(redb::Durability::None)?;
        let live = writer.apply_all(&self.names, &transaction, more, clearing)?;
        Ok((transaction, live))
    }

    /// Commits a transaction that has all batches.
    fn finish(&self, writer: &mut Writer, transaction: WriteTransaction, live: LiveBytes) -> Result<(), redb::Error> {
        transaction.commit()?;
        writer.applied(live);
        self.has_unapplied.store(false, Ordering::Release);
        Ok(())
    }

    /// Brings the batches into redb that only the journal has, in memory.
    pub(crate) fn apply_all(&self, writer: &mut Writer) -> Result<(), redb::Error> {
        if writer.unapplied.is_empty() {
            return Ok(());
        }
        let (transaction, live) = self.applied(writer, None, Clearing::Freed)?;
        self.finish(writer, transaction, live)
    }

    /// A transaction of redb that sees all batches that were written before this call.
    ///
    /// # Errors
    /// As [`Inner::read`]; after an error of a batch nothing more is written.
    pub(crate) fn begin_read(&self) -> Result<ReadTransaction, StoreError> {
        if self.has_unapplied.load(Ordering::Acquire) {
            let mut writer = self.writer.lock();
            let applied = self.guarded(
                || self.apply_all(&mut writer),
                |error| storage_error("write", self.path(), error, &self.damages),
            );
            applied.inspect_err(|error| self.group.give_up(error))?;
            // Batches that failed to be applied are in the journal alone until the database is opened again.
            if self.has_unapplied.load(Ordering::Acquire) {
                self.group.refuse_failed(self.path())?;
            }
        }
        self.read(|| Ok(self.database.read().begin_read()?))
    }

    /// The batch bytes after which redb commits durably and the journal restarts: fewer if there is little space for a
    /// journal and for redb's pages in memory.
    pub(crate) fn round_bytes_max(&self) -> u64 {
        let room = self.device.room(self.path()).unwrap_or(u64::MAX);
        (room / ROUND_ROOM_PART).clamp(ROUND_BYTES_MIN, ROUND_BYTES_MAX)
    }

    /// Bytes free in addition to the reserve and to redb's pages in memory, which need disk space later.
    pub(crate) fn room(&self) -> Option<u64> {
        let waiting = self.waiting_bytes.load(Ordering::Relaxed);
        Some(self.device.room(self.path())?.saturating_sub(waiting.saturating_mul(BYTES_PER_WAITING)))
    }

    /// Whether compacting the file is worth its cost.
    pub(crate) fn is_worth_compacting(&self, writer: &Writer, stall: WriteStall) -> io::Result<bool> {
        let (taken, live) = (device::taken(&self.pages)?, writer.live.total());
        let is_worth = |bytes: u64| taken >= bytes + GAIN_BYTES_MIN;
        let is_worth_stall = match stall {
            WriteStall::Allowed => is_worth(TAKEN_PER_LIVE * live),
            WriteStall::Avoided => live <= LIVE_BYTES_WRITTEN_MAX && is_worth(TAKEN_PER_LIVE_WRITTEN * live),
        };
        // Not for the same again, where pages that are filled in part are all that there is to gain.
        let is_any_dead_since = live + GAIN_BYTES_MIN <= writer.compacted;
        let is_full = || self.room() == Some(0);
        let is_worth = is_worth_stall || is_any_dead_since && is_worth(live + live / SLACK_PART) && is_full();
        Ok(is_worth && self.has_room_to_compact(live)?)
    }

    /// Whether the device has space for the moved pages: they go to the start of the file, parts of which were perhaps
    /// never written, before its end is cut off.
    pub(crate) fn has_room_to_compact(&self, live: u64) -> io::Result<bool> {
        let Some(free) = self.device.free(self.path()) else { return Ok(true) };
        let unwritten = device::unwritten(&self.pages, live + live / SLACK_PART)?;
        Ok(unwritten + unwritten / SLACK_PART <= free)
    }

    /// Makes redb write all batches to the disk, so that the journal can restart.
    pub(crate) fn end_round(&self, writer: &mut Writer) -> Result<(), StoreError> {
        self.checkpoints.timed(|| {
            self.write(|| {
                self.apply_all(writer)?;
                commit_durably(self.database.read().begin_write()?, writer)?;
                Ok(writer.journal.begin_round(self.round_bytes_max())?)
            })
        })?;
        self.waiting_bytes.store(0, Ordering::Relaxed);
        Ok(())
    }

    /// Leaves nothing to be replayed.
    pub(crate) fn close(&self, writer: &mut Writer) -> Result<(), StoreError> {
        if self.readonly {
            return Ok(());
        }
        if !writer.journal.is_empty() {
            self.end_round(writer)?;
        }
        self.write(|| Ok(writer.journal.shrink()?))
    }

    /// Has redb move its last pages to free places, and truncate the file after the pages that stay.
    pub(crate) fn compact(&self, writer: &mut Writer) -> Result<(), StoreError> {
        let mut database = self.database.write();
        let is_compacted = self.write(|| match database.compact() {
            Ok(_) => Ok(true),
            // Somebody reads; there will be another time.
            Err(CompactionError::TransactionInProgress) => Ok(false),
            // A damaged page cannot be moved.
            Err(CompactionError::Storage(StorageError::Corrupted(_))) if self.damages.is_any() => Ok(false),
            Err(error) => Err(error.into()),
        })?;
        drop(database);
        if is_compacted {
            writer.compacted = writer.live.total();
        }
        // Opening needs the record of free pages that this commit writes.
        self.end_round(writer)?;
        self.device.ask_anew();
        Ok(())
    }

    /// Brings all batches to the disk that were written before this call.
    pub(crate) fn sync_journal(&self) -> io::Result<()> {
        let newest = self.writer.lock().journal.newest();
        self.journal_file.sync_data()?;
        self.watermark.as_ref().map_or(Ok(()), |watermark| watermark.acknowledge(newest))
    }

    pub(crate) fn refuse_writes(&self) -> Result<(), StoreError> {
        if self.readonly {
            return Err(StoreError::ReadOnly { path: self.path().to_path_buf() });
        }
        self.group.refuse_failed(self.path())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Else the next opening replays the journal.
        if self.group.failure().is_none() {
            let _ = self.close(&mut self.writer.lock());
        }
    }
}
