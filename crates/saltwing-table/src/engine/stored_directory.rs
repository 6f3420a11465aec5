//! Directories as the store has them, which opening reads as a whole: one thread reads keys, and another makes chunks of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::{Builder, Scope, ScopedJoinHandle};

use saltwing_access::{StorageError, TableError};
use saltwing_store::{Bytes, Cursor, Direction, KeyBounds, OrderedKv, StoreError};
use saltwing_types::TableId;

use crate::engine::block_ref::BlockRef;
use crate::engine::block_store::{BlockContext, BlockStore};
use crate::engine::chunk::{CHUNK_ENTRIES, DirectoryPart};
use crate::engine::directory::Directory;
use crate::engine::named_runs::{StoredRun, named_runs};
use crate::engine::run::Run;
use crate::engine::stored_chunk::StoredChunk;
use crate::format::directory_format::read_run;
use crate::format::spaces::{DIR, DIR_ENTRY, DIR_RUN, split_table};

/// Batches of keys that wait for their chunks, at most.
const BATCHES_WAITING: usize = 4;

/// The directories of all tables, by id. Directories of fewer than `batch` keys in all are read without another thread.
///
/// # Errors
/// The store's; [`TableError::CorruptLayout`].
pub(crate) fn directories(
    kv: &dyn OrderedKv,
    blocks: &Arc<BlockStore>,
    batch: usize,
) -> Result<BTreeMap<u32, Directory>, TableError> {
    let mut cursor = kv.cursor(DIR, KeyBounds::all(), Direction::Forward).map_err(StorageError::from)?;
    let mut tables = BTreeMap::new();
    let first = next_batch(&mut *cursor, batch)?;
    let is_all = first.len() < batch;
    take(first, blocks, &mut tables)?;
    if !is_all {
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel(BATCHES_WAITING);
            let read = move || loop {
                let next = next_batch(&mut *cursor, batch);
                let is_last = next.as_ref().map_or(true, |next| next.len() < batch);
                // The receiver is gone if it has met a damaged record.
                if sender.send(next).is_err() || is_last {
                    return;
                }
            };
            let reader = opening_thread(scope, read)?;
            let taken = receiver.into_iter().try_for_each(|next| take(next?, blocks, &mut tables));
            reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            taken
        })?;
    }
    Ok(tables.into_iter().map(|(table, stored)| (table, stored.into_directory())).collect())
}

/// Starts a thread that reads a part of the store.
///
/// # Errors
/// The system has no thread to give.
pub(super) fn opening_thread<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, TableError> {
    let thread = Builder::new().name("saltwing-open".into()).spawn_scoped(scope, work);
    thread.map_err(|source| {
        let what = "start a thread that reads the tables in";
        StorageError::from(StoreError::io(what, Path::new("this process"), source)).into()
    })
}

type Records = Vec<(Bytes, Bytes)>;

/// The next keys and values, fewer than `batch` at the end.
fn next_batch(cursor: &mut dyn Cursor, batch: usize) -> Result<Records, TableError> {
    let mut records = Vec::new();
    while records.len() < batch
        && let Some(record) = cursor.next().map_err(StorageError::from)?
    {
        records.push(record);
    }
    Ok(records)
}

/// The records of one table's directory.
struct Stored {
    context: Arc<BlockContext>,
    chunks: Vec<StoredChunk>,
    /// Oldest first.
    runs: Vec<StoredRun>,
}

/// Adds records to those of their tables.
fn take(records: Records, blocks: &Arc<BlockStore>, tables: &mut BTreeMap<u32, Stored>) -> Result<(), TableError> {
    for (key, value) in records {
        let taken = split_table(&key).and_then(|(table, rest)| {
            let stored = tables.entry(table.0).or_insert_with(|| Stored::new(table, blocks));
            stored.take(rest, &value)
        });
        taken.ok_or(TableError::CorruptLayout("a directory entry"))?;
    }
    Ok(())
}

impl Stored {
    fn new(table: TableId, blocks: &Arc<BlockStore>) -> Self {
        Self { context: BlockContext::new(table, blocks), chunks: Vec::new(), runs: Vec::new() }
    }

    /// Adds a record by its key after the table's number; `None` if it is not one of a directory.
    fn take(&mut self, key: &[u8], value: &[u8]) -> Option<()> {
        match key.split_first()? {
            (&DIR_ENTRY, fence) => self.take_entry(fence, value),
            (&DIR_RUN, _) => {
                let (id, summary, filter, parts) = read_run(value)?;
                let block = BlockRef::new(id, summary, Vec::new(), self.context.clone());
                self.runs.push((Arc::new(Run::new(Arc::new(block), filter)), parts));
                Some(())
            }
            _ => None,
        }
    }

    fn take_entry(&mut self, fence: &[u8], value: &[u8]) -> Option<()> {
        if self.chunks.last().is_none_or(|chunk| chunk.is_full(CHUNK_ENTRIES)) {
            self.end_chunk();
            self.chunks.push(StoredChunk::with_room(CHUNK_ENTRIES));
        }
        self.chunks.last_mut()?.push(fence, value)
    }

    fn end_chunk(&mut self) {
        self.chunks.last_mut().into_iter().for_each(StoredChunk::end);
    }

    fn into_directory(mut self) -> Directory {
        self.end_chunk();
        let named = named_runs(&self.chunks, &self.runs);
        Directory::of_parts([DirectoryPart::of_stored(self.chunks.into_iter().zip(named), &self.context)])
    }
}

#[cfg(test)]
mod tests;
