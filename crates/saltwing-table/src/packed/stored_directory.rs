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

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;
use std::thread::{Builder, Scope, ScopedJoinHandle};

use parking_lot::Mutex;
use saltwing_store::{Bytes, Cursor, Direction, KeyBounds, OrderedKv};

use super::block_ref::{BlockRef, Home, Shelf};
use super::directory::{Directory, DirectoryPart, Entry};
use super::directory_format::{PartRecord, read_run};
use super::run::{Run, RunPart};
use super::spaces::{DIR, DIR_ENTRY, DIR_RUN, split_table};
use crate::TableError;

/// The directories of all tables, by number. Walks look at each other after each `batch` of keys; fewer in all are read
/// by one thread.
///
/// # Errors
/// The store's; [`TableError::CorruptLayout`].
pub(super) fn directories(
    kv: &dyn OrderedKv,
    shelf: &Arc<Shelf>,
    batch: usize,
) -> Result<BTreeMap<u32, Directory>, TableError> {
    let (front, back) = read(kv, shelf, batch)?;
    let mut tables: BTreeMap<u32, (Stored, Stored)> = BTreeMap::new();
    front.into_iter().for_each(|(table, stored)| tables.entry(table).or_default().0 = stored);
    back.into_iter().for_each(|(table, stored)| tables.entry(table).or_default().1 = stored);
    Ok(tables.into_iter().map(|(table, (front, back))| (table, directory(front, back, batch))).collect())
}

/// What walks from the front and from the back have found, by table.
type Halves = (BTreeMap<u32, Stored>, BTreeMap<u32, Stored>);

/// Reads what the store has. All is in key order.
fn read(kv: &dyn OrderedKv, shelf: &Arc<Shelf>, batch: usize) -> Result<Halves, TableError> {
    let meeting = Meeting::default();
    let mut front = Walk::new(kv, shelf, Direction::Forward)?;
    if !front.advance(batch)? {
        return Ok((front.tables, BTreeMap::new()));
    }
    let back = std::thread::scope(|scope| {
        let walk = || {
            let mut back = Walk::new(kv, shelf, Direction::Reverse)?;
            back.meet(&meeting, batch).map(|()| back)
        };
        // Without another thread this one comes to the end.
        let back = in_thread(scope, walk);
        let met = front.meet(&meeting, batch);
        let back = back.map(join).transpose();
        met.and(back)
    })?;
    let last = front.last.unwrap_or_default();
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
    front: Option<Bytes>,
    back: Option<Bytes>,
    is_over: bool,
}

impl Meeting {
    /// A walk has come to a place: whether it goes on.
    fn come_to(&self, place: Option<&Bytes>, direction: Direction) -> bool {
        let mut places = self.0.lock();
        match direction {
            Direction::Forward => places.front = place.cloned(),
            Direction::Reverse => places.back = place.cloned(),
        }
        let have_met = places.front.as_ref().zip(places.back.as_ref()).is_some_and(|(front, back)| front >= back);
        places.is_over |= have_met;
        !places.is_over
    }

    fn end(&self) {
        self.0.lock().is_over = true;
    }
}

/// What the store has of one table's directory, in the order of the walk.
#[derive(Default)]
struct Stored {
    entries: Vec<Arc<Entry>>,
    /// Oldest first from the front.
    runs: Vec<StoredRun>,
}

/// A run, and whose rows it has.
type StoredRun = (Arc<Run>, Vec<PartRecord>);

/// A walk over all keys of directories.
struct Walk<'a> {
    cursor: Box<dyn Cursor>,
    direction: Direction,
    shelf: &'a Arc<Shelf>,
    homes: BTreeMap<u32, Arc<Home>>,
    tables: BTreeMap<u32, Stored>,
    /// The key read last.
    last: Option<Bytes>,
}

impl<'a> Walk<'a> {
    fn new(kv: &dyn OrderedKv, shelf: &'a Arc<Shelf>, direction: Direction) -> Result<Self, TableError> {
        let cursor = kv.cursor(DIR, KeyBounds::all(), direction)?;
        Ok(Self { cursor, direction, shelf, homes: BTreeMap::new(), tables: BTreeMap::new(), last: None })
    }

    /// Goes on until it meets the other walk, or one of them ends.
    fn meet(&mut self, meeting: &Meeting, batch: usize) -> Result<(), TableError> {
        let mut walk = || {
            while meeting.come_to(self.last.as_ref(), self.direction) && self.advance(batch)? {}
            Ok(())
        };
        let walked = walk();
        meeting.end();
        walked
    }

    /// Takes so many keys more; whether there were.
    fn advance(&mut self, batch: usize) -> Result<bool, TableError> {
        for _ in 0..batch {
            let Some((key, value)) = self.cursor.next()? else { return Ok(false) };
            self.take(&key, &value).ok_or(TableError::CorruptLayout("a directory entry"))?;
            self.last = Some(key);
        }
        Ok(true)
    }

    fn take(&mut self, key: &[u8], value: &[u8]) -> Option<()> {
        let (table, rest) = split_table(key)?;
        let of_table = self.tables.entry(table.0).or_default();
        let home = self.homes.entry(table.0).or_insert_with(|| Home::new(table, self.shelf));
        match rest.split_first()? {
            (&DIR_ENTRY, fence) => of_table.entries.push(Arc::new(Entry::read(fence, value, home)?)),
            (&DIR_RUN, _) => {
                let (id, summary, filter, parts) = read_run(value)?;
                let block = BlockRef::new(id, summary, Vec::new(), home.clone());
                of_table.runs.push((Arc::new(Run::new(Arc::new(block), filter)), parts));
            }
            _ => return None,
        }
        Some(())
    }

    /// What a walk from the back has of keys behind `last`, in key order.
    fn behind(self, last: &[u8]) -> BTreeMap<u32, Stored> {
        let mut tables = self.tables;
        if let Some((table, rest)) = split_table(last) {
            tables.retain(|of, _| *of >= table.0);
            if let (Some(stored), Some((kind, rest))) = (tables.get_mut(&table.0), rest.split_first()) {
                let entries = stored.entries.partition_point(|entry| (&DIR_ENTRY, &*entry.fence) > (kind, rest));
                stored.entries.truncate(entries);
                let is_run_behind = |(run, _): &StoredRun| (&DIR_RUN, &run.block.id.to_be_bytes()[..]) > (kind, rest);
                stored.runs.truncate(stored.runs.partition_point(is_run_behind));
            }
        }
        for stored in tables.values_mut() {
            stored.entries.reverse();
            stored.runs.reverse();
        }
        tables
    }
}

/// The directory of what two walks have found of a table: each half is put together by a thread.
fn directory(mut front: Stored, back: Stored, batch: usize) -> Directory {
    front.runs.extend(back.runs);
    let (runs, mut entries, mut behind) = (front.runs, front.entries, back.entries);
    if entries.len().min(behind.len()) < batch {
        entries.append(&mut behind);
    }
    // Taken by a thread, or by this one where there is no other to be had.
    let behind = Mutex::new(behind);
    let take = || with_runs(std::mem::take(&mut *behind.lock()), &runs);
    std::thread::scope(|scope| {
        let thread = (!behind.lock().is_empty()).then(|| in_thread(scope, take)).flatten();
        let part = with_runs(entries, &runs);
        Directory::of_parts([part, thread.map_or_else(take, join)])
    })
}

/// The entries with the runs that they name: by their blocks, so that an entry whose block was written anew has
/// none of those that were before.
fn with_runs(mut entries: Vec<Arc<Entry>>, runs: &[StoredRun]) -> DirectoryPart {
    if !runs.is_empty() {
        let ids = entries.iter().enumerate().filter_map(|(i, entry)| Some((entry.block.as_ref()?.id, i)));
        let by_block: HashMap<u64, usize, BuildHasherDefault<IdHasher>> = ids.collect();
        for (run, parts) in runs {
            let mut start = 0;
            for PartRecord { block, rows, oldest } in parts {
                let end = start + rows;
                if let Some(entry) = by_block.get(block).and_then(|index| entries.get_mut(*index)) {
                    let taken = entry.runs.partition_point(|older| older.run.block.id >= *oldest);
                    *entry = Arc::new(entry.with_run(RunPart::new(run.clone(), start..end, *oldest), taken));
                }
                start = end;
            }
        }
        entries.iter().flat_map(|entry| &*entry.runs).for_each(|part| part.run.gain(1));
    }
    DirectoryPart::new(entries)
}

/// Numbers of blocks are a count: they need no hash that nobody can foresee.
#[derive(Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(self.0 << 8 | u64::from(*byte)));
    }

    fn write_u64(&mut self, id: u64) {
        // Odd, so that low bits differ where ids do; the highest ones, which tables look at too, are mixed of all.
        self.0 = id.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use proptest::prelude::*;
    use saltwing_store::fault::{Call, Failure, Fault, FaultStore};
    use saltwing_store::{Durability, MemoryStore, WriteBatch};
    use saltwing_types::TableId;

    use super::super::block_columns::BlockColumns;
    use super::super::block_ref::Summary;
    use super::super::directory_format::write_run;
    use super::super::spaces::{dir_key, run_key};
    use super::*;

    /// Keys of a table's entries, by number, and runs of all entries in some ranges of them, oldest first.
    type Table = (Vec<u16>, Vec<Range<usize>>);

    fn table() -> impl Strategy<Value = Table> {
        prop::collection::btree_set(0u16..500, 0..40).prop_flat_map(|keys| {
            let keys: Vec<u16> = keys.into_iter().collect();
            let run = (0..keys.len().max(1), 1usize..6);
            (Just(keys), prop::collection::vec(run.prop_map(|(from, count)| from..from + count), 0..4))
        })
    }

    fn summary(rows: u32) -> Summary {
        let columns = BlockColumns::new(&[0], &[]);
        Summary { rows, bytes: 10 * rows, last_key: Bytes::default(), times_ms: (0, 0), columns }
    }

    /// A store with directories: an entry's block has its key's number, a run numbers behind these, and a row for each
    /// of its entries.
    fn store(tables: &BTreeMap<u32, Table>) -> (MemoryStore, Arc<Shelf>) {
        let kv = MemoryStore::new();
        let mut batch = WriteBatch::new();
        for (&id, (keys, runs)) in tables {
            let id = TableId(id);
            for &key in keys {
                batch.put(DIR, dir_key(id, &key.to_be_bytes()), summary(1).write(key.into(), &[]));
            }
            for (number, entries) in (1000..).zip(runs) {
                let parts: Vec<PartRecord> = entries
                    .clone()
                    .filter_map(|at| keys.get(at))
                    .map(|key| PartRecord { block: u64::from(*key), rows: 1, oldest: number })
                    .collect();
                let rows = parts.len();
                if rows == 0 {
                    continue;
                }
                batch.put(DIR, run_key(id, number), write_run(number, &summary(rows as u32), &vec![255; rows], &parts));
            }
        }
        kv.write(batch, Durability::Buffered).unwrap();
        let shelf = Arc::new(Shelf::new(Arc::new(kv.clone()), 0));
        (kv, shelf)
    }

    /// Numbers of entries' blocks and of their runs.
    type Named = Vec<(u64, Vec<u64>)>;

    fn named(directory: &Directory) -> Named {
        let runs = |entry: &Entry| entry.runs.iter().map(|part| part.run.block.id).collect();
        directory.entries().filter_map(|entry| Some((entry.block.as_ref()?.id, runs(entry)))).collect()
    }

    fn wanted((keys, runs): &Table) -> Named {
        let named = |at| move |(_, run): &(usize, &Range<usize>)| run.contains(&at);
        let newest_first = |at| runs.iter().enumerate().rev().filter(named(at)).map(|(number, _)| 1000 + number as u64);
        keys.iter().enumerate().map(|(at, key)| (u64::from(*key), newest_first(at).collect())).collect()
    }

    fn all_wanted(tables: &BTreeMap<u32, Table>) -> BTreeMap<u32, Named> {
        let filled = tables.iter().filter(|(_, (keys, _))| !keys.is_empty());
        filled.map(|(id, table)| (*id, wanted(table))).collect()
    }

    fn all_named(directories: BTreeMap<u32, Directory>) -> BTreeMap<u32, Named> {
        directories.into_iter().map(|(id, directory)| (id, named(&directory))).collect()
    }

    fn tables() -> impl Strategy<Value = BTreeMap<u32, Table>> {
        prop::collection::btree_map(1u32..4, table(), 0..4)
    }

    proptest! {
        /// Wherever the two meet, and however much they have read both.
        #[test]
        fn walks_from_both_ends_take_every_key_once(tables in tables(), front_keys in 0usize..100, both in 0usize..20) {
            let (kv, shelf) = store(&tables);
            let mut front = Walk::new(&kv, &shelf, Direction::Forward).unwrap();
            let mut back = Walk::new(&kv, &shelf, Direction::Reverse).unwrap();
            front.advance(front_keys).unwrap();
            let mut all = kv.cursor(DIR, KeyBounds::all(), Direction::Forward).unwrap();
            let count = std::iter::from_fn(|| all.next().unwrap()).count();
            back.advance(count.saturating_sub(front_keys) + both).unwrap();
            let mut halves = front.tables;
            for (id, behind) in back.behind(&front.last.unwrap_or_default()) {
                let of_table = halves.entry(id).or_default();
                of_table.entries.extend(behind.entries);
                of_table.runs.extend(behind.runs);
            }
            let whole = halves.into_iter().map(|(id, half)| (id, directory(half, Stored::default(), 1)));
            prop_assert_eq!(all_named(whole.collect()), all_wanted(&tables));
        }

        #[test]
        fn directories_are_those_that_were_stored(tables in tables(), batch in 1usize..60) {
            let (kv, shelf) = store(&tables);
            prop_assert_eq!(all_named(directories(&kv, &shelf, batch).unwrap()), all_wanted(&tables));
        }

        /// Whichever of the two it is that fails.
        #[test]
        fn a_walk_that_fails_is_an_error(tables in tables(), batch in 1usize..10, at in 0usize..200) {
            let (kv, shelf) = store(&tables);
            let keys: usize = tables.values().map(|(keys, _)| keys.len()).sum();
            let faulty = FaultStore::new(kv, Fault::Fail(Failure::once(Call::Next, at as u64)));
            let read = directories(&faulty, &shelf, batch);
            prop_assert!(at >= keys || read.is_err());
            let read = read.or_else(|_| directories(&faulty, &shelf, batch)).unwrap();
            prop_assert_eq!(all_named(read), all_wanted(&tables));
        }
    }
}
