//! Directories as the store has them, which opening reads as a whole: two threads read them from both ends.
//!
//! ```text
//!   keys of DIR       a b c d e f g h i j k l m n o p
//!   from the front    ----------------->
//!   from the back                   <----------------      h and i were read by both: the front has them
//! ```
//! # Laws
//! 1. Every key is taken once, wherever the two meet, and however often they look at each other.
//! 2. A walk that ends, at its end or by an error, ends the other one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::{Builder, Scope, ScopedJoinHandle};

use parking_lot::Mutex;
use saltwing_access::{StorageError, TableError};
use saltwing_store::{Cursor, Direction, KeyBounds, OrderedKv};
use saltwing_types::TableId;

use crate::engine::block_ref::BlockRef;
use crate::engine::block_store::{BlockContext, BlockStore};
use crate::engine::chunk::{CHUNK_ENTRIES, CHUNK_ENTRIES_MIN, DirectoryPart};
use crate::engine::directory::Directory;
use crate::engine::named_runs::{StoredRun, named_runs};
use crate::engine::run::Run;
use crate::engine::stored_chunk::StoredChunk;
use crate::format::directory_format::read_run;
use crate::format::spaces::{DIR, DIR_ENTRY, DIR_RUN, dir_key, run_key, split_table};

/// The directories of all tables, by id. The two walks compare positions after each `batch` of keys; a single thread
/// reads fewer.
///
/// # Errors
/// The store's; [`TableError::CorruptLayout`].
pub(crate) fn directories(
    kv: &dyn OrderedKv,
    blocks: &Arc<BlockStore>,
    batch: usize,
) -> Result<BTreeMap<u32, Directory>, TableError> {
    let (front, back) = read(kv, blocks, batch)?;
    let mut tables: BTreeMap<u32, (Stored, Stored)> = BTreeMap::new();
    front.into_iter().for_each(|(table, stored)| tables.entry(table).or_default().0 = stored);
    back.into_iter().for_each(|(table, stored)| tables.entry(table).or_default().1 = stored);
    let of_table = |(table, (front, back))| {
        let homes = || BlockContext::new(TableId(table), blocks);
        (table, directory(front, back, batch, homes))
    };
    Ok(tables.into_iter().map(of_table).collect())
}

/// The records found by the walks from the front and from the back, by table.
type Halves = (BTreeMap<u32, Stored>, BTreeMap<u32, Stored>);

/// Reads the store's records, in key order.
fn read(kv: &dyn OrderedKv, blocks: &Arc<BlockStore>, batch: usize) -> Result<Halves, TableError> {
    let meeting = Meeting::default();
    let mut front = Walk::new(kv, blocks, Direction::Forward)?;
    if !front.advance(batch)? {
        return Ok((front.tables, BTreeMap::new()));
    }
    let back = std::thread::scope(|scope| {
        let walk = || {
            let mut back = Walk::new(kv, blocks, Direction::Reverse)?;
            back.meet(&meeting, batch).map(|()| back)
        };
        // Without another thread this one reads to the end.
        let back = in_thread(scope, walk);
        let met = front.meet(&meeting, batch);
        let back = back.map(join).transpose();
        met.and(back)
    })?;
    let last = front.last_key().unwrap_or_default();
    let back = back.map(|back| back.behind(&last)).unwrap_or_default();
    Ok((front.tables, back))
}

/// Starts a thread, if there is one to be had.
fn in_thread<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    Builder::new().name("saltwing-open".into()).spawn_scoped(scope, work).ok()
}

fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// How far two walks have come.
#[derive(Default)]
struct Meeting(Mutex<Places>);

#[derive(Default)]
struct Places {
    front: Option<Vec<u8>>,
    back: Option<Vec<u8>>,
    is_over: bool,
}

impl Meeting {
    /// Publishes the position of a walk; returns whether it continues.
    fn come_to(&self, place: Option<Vec<u8>>, direction: Direction) -> bool {
        let mut places = self.0.lock();
        match direction {
            Direction::Forward => places.front = place,
            Direction::Reverse => places.back = place,
        }
        let have_met = places.front.as_ref().zip(places.back.as_ref()).is_some_and(|(front, back)| front >= back);
        places.is_over |= have_met;
        !places.is_over
    }

    fn end(&self) {
        self.0.lock().is_over = true;
    }
}

/// The records of one table's directory, in the order of the walk.
#[derive(Default)]
struct Stored {
    chunks: StoredChunks,
    /// Oldest first from the front.
    runs: Vec<StoredRun>,
}

impl Stored {
    /// The key taken last in a direction.
    fn last_key(&self, table: TableId, direction: Direction) -> Option<Vec<u8>> {
        let last_run = || self.runs.last().map(|(run, _)| run_key(table, run.block.id));
        let last_entry = || self.chunks.0.last()?.last_fence().map(|fence| dir_key(table, fence));
        // Runs stand behind all entries.
        match direction {
            Direction::Forward => last_run().or_else(last_entry),
            Direction::Reverse => last_entry().or_else(last_run),
        }
    }
}

/// Entries as they are read, in what becomes chunks of a directory.
#[derive(Default)]
struct StoredChunks(Vec<StoredChunk>);

impl StoredChunks {
    /// Adds an entry; `None` when the bytes are none.
    fn push(&mut self, fence: &[u8], value: &[u8]) -> Option<()> {
        if self.0.last().is_none_or(|chunk| chunk.is_full(CHUNK_ENTRIES)) {
            if let Some(full) = self.0.last_mut() {
                full.end();
            }
            self.0.push(StoredChunk::with_room(CHUNK_ENTRIES));
        }
        self.0.last_mut()?.push(fence, value)
    }

    /// Takes away the last ones, as long as their fences are those that `is_left` holds for.
    fn truncate(&mut self, is_left: impl Fn(&[u8]) -> bool) {
        while let Some(chunk) = self.0.last_mut() {
            while chunk.pop_if(&is_left) {}
            if !chunk.is_empty() {
                return;
            }
            self.0.pop();
        }
    }

    fn reverse(&mut self) {
        self.0.reverse();
        self.0.iter_mut().for_each(StoredChunk::reverse);
    }

    /// Joins the half that starts where this one ends: an unfinished chunk there goes to its neighbour.
    fn meet(&mut self, behind: &mut Self) {
        let is_small = |chunk: &StoredChunk| chunk.len() < CHUNK_ENTRIES_MIN;
        if let (Some(last), Some(first)) = (self.0.last_mut(), behind.0.first_mut())
            && (is_small(last) || is_small(first))
            && last.append(first)
        {
            behind.0.remove(0);
        }
    }

    fn append(&mut self, behind: &mut Self) {
        self.meet(behind);
        self.0.append(&mut behind.0);
    }

    /// Nothing comes behind: a small chunk at the end goes to its neighbour.
    fn end(&mut self) {
        if let Some(last) = self.0.pop() {
            self.append(&mut Self(vec![last]));
        }
        if let Some(last) = self.0.last_mut() {
            last.end();
        }
    }
}

/// A walk over all keys of directories.
struct Walk<'a> {
    cursor: Box<dyn Cursor>,
    direction: Direction,
    blocks: &'a Arc<BlockStore>,
    homes: BTreeMap<u32, Arc<BlockContext>>,
    tables: BTreeMap<u32, Stored>,
}

impl<'a> Walk<'a> {
    fn new(kv: &dyn OrderedKv, blocks: &'a Arc<BlockStore>, direction: Direction) -> Result<Self, TableError> {
        let cursor = kv.cursor(DIR, KeyBounds::all(), direction).map_err(StorageError::from)?;
        Ok(Self { cursor, direction, blocks, homes: BTreeMap::new(), tables: BTreeMap::new() })
    }

    /// Goes on until it meets the other walk, or one of them ends.
    fn meet(&mut self, meeting: &Meeting, batch: usize) -> Result<(), TableError> {
        let mut walk = || {
            while meeting.come_to(self.last_key(), self.direction) && self.advance(batch)? {}
            Ok(())
        };
        let walked = walk();
        meeting.end();
        walked
    }

    /// Reads up to `batch` keys more; returns whether there were any.
    fn advance(&mut self, batch: usize) -> Result<bool, TableError> {
        for _ in 0..batch {
            let Some((key, value)) = self.cursor.next().map_err(StorageError::from)? else { return Ok(false) };
            self.take(&key, &value).ok_or(TableError::CorruptLayout("a directory entry"))?;
        }
        Ok(true)
    }

    /// The key taken last.
    fn last_key(&self) -> Option<Vec<u8>> {
        let of_table = match self.direction {
            Direction::Forward => self.tables.last_key_value(),
            Direction::Reverse => self.tables.first_key_value(),
        };
        of_table.and_then(|(table, stored)| stored.last_key(TableId(*table), self.direction))
    }

    fn take(&mut self, key: &[u8], value: &[u8]) -> Option<()> {
        let (table, rest) = split_table(key)?;
        let of_table = self.tables.entry(table.0).or_default();
        match rest.split_first()? {
            (&DIR_ENTRY, fence) => of_table.chunks.push(fence, value)?,
            (&DIR_RUN, _) => {
                let context = self.homes.entry(table.0).or_insert_with(|| BlockContext::new(table, self.blocks));
                let (id, summary, filter, parts) = read_run(value)?;
                let block = BlockRef::new(id, summary, Vec::new(), context.clone());
                of_table.runs.push((Arc::new(Run::new(Arc::new(block), filter)), parts));
            }
            _ => return None,
        }
        Some(())
    }

    /// The records of a walk from the back with keys after `last`, in key order.
    fn behind(self, last: &[u8]) -> BTreeMap<u32, Stored> {
        let mut tables = self.tables;
        if let Some((table, rest)) = split_table(last) {
            tables.retain(|of, _| *of >= table.0);
            if let (Some(stored), Some((kind, rest))) = (tables.get_mut(&table.0), rest.split_first()) {
                stored.chunks.truncate(|fence| (&DIR_ENTRY, fence) <= (kind, rest));
                let is_run_behind = |(run, _): &StoredRun| (&DIR_RUN, &run.block.id.to_be_bytes()[..]) > (kind, rest);
                stored.runs.truncate(stored.runs.partition_point(is_run_behind));
            }
        }
        for stored in tables.values_mut() {
            stored.chunks.reverse();
            stored.runs.reverse();
        }
        tables
    }
}

/// The directory of what two walks have found of a table: each half is put together by a thread.
fn directory(
    mut front: Stored,
    back: Stored,
    batch: usize,
    context: impl Fn() -> Arc<BlockContext> + Sync,
) -> Directory {
    front.runs.extend(back.runs);
    let (runs, mut chunks, mut behind) = (front.runs, front.chunks, back.chunks);
    behind.end();
    match chunks.0.len().min(behind.0.len()) * CHUNK_ENTRIES < batch {
        true => chunks.append(&mut behind),
        false => chunks.meet(&mut behind),
    }
    if behind.0.is_empty() {
        chunks.end();
    }
    // Taken by a thread, or by this one where there is no other to be had.
    let behind = Mutex::new(behind);
    let take = || part(std::mem::take(&mut *behind.lock()), &runs, &context());
    std::thread::scope(|scope| {
        let thread = (!behind.lock().0.is_empty()).then(|| in_thread(scope, take)).flatten();
        let part = part(chunks, &runs, &context());
        Directory::of_parts([part, thread.map_or_else(take, join)])
    })
}

fn part(StoredChunks(chunks): StoredChunks, runs: &[StoredRun], context: &Arc<BlockContext>) -> DirectoryPart {
    let named = named_runs(&chunks, runs);
    DirectoryPart::of_stored(chunks.into_iter().zip(named), context)
}

#[cfg(test)]
mod tests;
