//! Directories that a store has.

use std::collections::BTreeSet;
use std::ops::Range;

use proptest::prelude::*;
use saltwing_store::conformance::fault::{Call, Failure, Fault, FaultStore};
use saltwing_store::{Bytes, Durability, MemoryStore, WriteBatch};

use crate::engine::chunk::CHUNK_ENTRIES_MAX;
use crate::engine::entry::{Entry, Size};
use crate::engine::stored_directory::*;
use crate::engine::zone_sum::ColumnZone;
use crate::format::block_columns::BlockColumns;
use crate::format::directory_format::{PartRecord, write_run};
use crate::format::spaces::{dir_key, run_key};
use crate::format::summary::Summary;
use crate::format::zone::Zone;

/// Keys of a table's entries, by number, and runs of all entries in some ranges of them, oldest first; each with how many
/// before it have all of their rows of these entries in it.
type StoredTable = (Vec<u16>, Vec<(Range<usize>, u64)>);

fn table() -> impl Strategy<Value = StoredTable> {
    table_of(500, 40)
}

fn table_of(keys: u16, most: usize) -> impl Strategy<Value = StoredTable> {
    prop::collection::btree_set(0..keys, 0..most).prop_flat_map(|keys| {
        let keys: Vec<u16> = keys.into_iter().collect();
        let run = (0..keys.len().max(1), 1usize..6, 0u64..3);
        (Just(keys), prop::collection::vec(run.prop_map(|(from, count, taken)| (from..from + count, taken)), 0..6))
    })
}

/// With a column whose values all equal one number, which is also the write time.
fn summary(rows: u32, number: u64) -> Summary {
    let bounds = Some((number.into(), number.into()));
    let columns = BlockColumns::new(&[0], &[(0, Zone { slot: 0, bounds, has_null: false, sum: None })]);
    let time_ms = number as i64;
    Summary { rows, bytes: 10 * rows, last_key: Bytes::default(), times_ms: (time_ms, time_ms), columns }
}

/// A store with directories: an entry's block has its key's number, a run numbers after these, all from 10,000 on, and a row for each
/// of its entries.
fn store(tables: &BTreeMap<u32, StoredTable>) -> (MemoryStore, Arc<BlockStore>) {
    let kv = MemoryStore::new();
    let mut batch = WriteBatch::new();
    for (&id, (keys, runs)) in tables {
        let id = TableId(id);
        for &key in keys {
            batch.put(DIR, dir_key(id, &key.to_be_bytes()), summary(1, key.into()).write(key.into(), &[]));
        }
        for (number, (entries, taken)) in (10_000..).zip(runs) {
            let parts: Vec<PartRecord> = entries
                .clone()
                .filter_map(|at| keys.get(at))
                .map(|key| PartRecord { block: u64::from(*key), rows: 1, oldest: number - taken })
                .collect();
            let rows = parts.len();
            if rows == 0 {
                continue;
            }
            batch.put(
                DIR,
                run_key(id, number),
                write_run(number, &summary(rows as u32, number), &vec![255; rows], &parts),
            );
        }
    }
    kv.write(batch, Durability::Buffered).unwrap();
    let cache = Arc::new(BlockStore::new(Arc::new(kv.clone()), 0));
    (kv, cache)
}

/// Numbers of entries' blocks and of their runs.
type Named = Vec<(u64, Vec<u64>)>;

fn named(directory: &Directory) -> Named {
    let runs = |entry: &Entry| entry.runs.iter().map(|part| part.run.block.id).collect();
    directory.entries().filter_map(|entry| Some((entry.block.as_ref()?.id, runs(entry)))).collect()
}

fn wanted((keys, runs): &StoredTable) -> Named {
    let above = |at: usize| {
        let mut above = Vec::new();
        for (number, (_, taken)) in (10_000..).zip(runs).filter(|(_, (entries, _))| entries.contains(&at)) {
            above.retain(|older| *older < number - taken);
            above.insert(0, number);
        }
        above
    };
    keys.iter().enumerate().map(|(at, key)| (u64::from(*key), above(at))).collect()
}

fn all_wanted(tables: &BTreeMap<u32, StoredTable>) -> BTreeMap<u32, Named> {
    let filled = tables.iter().filter(|(_, (keys, _))| !keys.is_empty());
    filled.map(|(id, table)| (*id, wanted(table))).collect()
}

fn all_named(directories: BTreeMap<u32, Directory>) -> BTreeMap<u32, Named> {
    directories.into_iter().map(|(id, directory)| (id, named(&directory))).collect()
}

fn tables() -> impl Strategy<Value = BTreeMap<u32, StoredTable>> {
    prop::collection::btree_map(1u32..4, table(), 0..4)
}

proptest! {
    #[test]
    fn directories_are_those_that_were_stored(tables in tables(), batch in 1usize..60) {
        let (kv, cache) = store(&tables);
        prop_assert_eq!(all_named(directories(&kv, &cache, batch).unwrap()), all_wanted(&tables));
    }

    /// Whichever thread it is that reads.
    #[test]
    fn a_read_that_fails_is_an_error(tables in tables(), batch in 1usize..10, at in 0usize..200) {
        let (kv, cache) = store(&tables);
        let keys: usize = tables.values().map(|(keys, _)| keys.len()).sum();
        let faulty = FaultStore::new(kv, Fault::Fail(Failure::once(Call::Next, at as u64)));
        let read = directories(&faulty, &cache, batch);
        prop_assert!(at >= keys || read.is_err());
        let read = read.or_else(|_| directories(&faulty, &cache, batch)).unwrap();
        prop_assert_eq!(all_named(read), all_wanted(&tables));
    }
}

fn batch() -> impl Strategy<Value = usize> {
    prop_oneof![1usize..60, Just(2048)]
}

/// The directory of one table as opening has it.
fn opened(table: &StoredTable, batch: usize) -> Directory {
    let (kv, cache) = store(&BTreeMap::from([(1, table.clone())]));
    directories(&kv, &cache, batch).unwrap().remove(&1).unwrap_or_default()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(12)))]

    /// Questions about a directory as a whole have the same answers as if its entries had been decoded at once; and
    /// they decode none, except next to an entry that the store does not have.
    #[test]
    fn what_is_known_of_all_entries_makes_none(table in table_of(6000, 3000), batch in batch()) {
        let directory = opened(&table, batch);
        let above = wanted(&table);
        let run_rows: u64 = above.iter().map(|(_, runs)| runs.len() as u64).sum();
        let blocks = above.len() as u64;
        let size = Size { blocks, rows: blocks, bytes: 10 * blocks, run_rows, run_bytes: 10 * run_rows };
        prop_assert_eq!((directory.size(), directory.len()), (size, 1 + table.0.len()));
        let numbers = above.iter().flat_map(|(block, runs)| runs.iter().chain([block]));
        let bounds = numbers.clone().min().zip(numbers.max()).map(|(min, max)| ((*min).into(), (*max).into()));
        let zone = bounds.map(|bounds| ColumnZone { bounds: Some(bounds), has_null: false });
        prop_assert_eq!(directory.zones().column(0, 0), zone);
        let mut runs = 0;
        directory.visit_runs(|_| runs += 1);
        prop_assert_eq!(runs, run_rows);
        prop_assert_eq!(directory.find(1..directory.len(), |facts| facts.oldest_ms > 6000, |_, _| true), None);
        prop_assert!(directory.decoded_entries().count() <= CHUNK_ENTRIES_MAX + 1);
        let is_young = |_, entry: &Entry| entry.oldest_ms() >= 2000;
        let first_young = table.0.iter().position(|key| *key >= 2000).map(|at| at + 1);
        prop_assert_eq!(directory.find(1..directory.len(), |_| true, is_young), first_young);
        prop_assert_eq!(named(&directory), above);
        prop_assert_eq!(directory.decoded_entries().count(), directory.len());
        prop_assert_eq!(directory.entries().map(|entry| entry.size()).fold(Size::default(), Size::add), size);
    }

    /// Whether they are decoded before or later, and by any thread.
    #[test]
    fn entries_that_are_marked_are_dirty(
        table in table_of(6000, 3000),
        batch in batch(),
        marked in prop::collection::btree_set(0u16..6100, 0..60),
        one in 0u16..6100,
        looked_at in prop::collection::vec(0u16..6100, 0..20),
    ) {
        let directory = opened(&table, batch);
        // The first entry owns the keys before all blocks.
        let owner = |key: u16| table.0.partition_point(|fence| *fence <= key);
        for key in looked_at {
            let found = directory.owner(&key.to_be_bytes()).unwrap().entry;
            let fence = owner(key).checked_sub(1).map(|at| table.0[at].to_be_bytes().to_vec()).unwrap_or_default();
            prop_assert_eq!(&*found.fence, &fence[..]);
            prop_assert!(Arc::ptr_eq(found, directory.entry(owner(key)).unwrap()), "made once");
        }
        let keys: Vec<_> = marked.iter().map(|key| key.to_be_bytes()).collect();
        directory.mark_owners(keys.iter().map(|key| &key[..]));
        directory.mark_owners(std::iter::once(&one.to_be_bytes()[..]));
        let dirty: Vec<usize> = (0..directory.len()).filter(|i| directory.entry(*i).unwrap().is_dirty()).collect();
        let owners: BTreeSet<usize> = marked.iter().chain([&one]).map(|key| owner(*key)).collect();
        prop_assert_eq!(dirty, owners.into_iter().collect::<Vec<_>>());
    }
}

/// Whichever thread comes first: there is one entry, and it has the marks made meanwhile.
#[test]
fn entries_that_several_threads_look_at_are_made_once() {
    let keys: Vec<u16> = (0..2000).collect();
    let table = (keys.clone(), vec![(0..2000, 0), (5..9, 0)]);
    for _ in 0..20 {
        let directory = opened(&table, 100);
        let found: Vec<Vec<Arc<Entry>>> = std::thread::scope(|scope| {
            let look = |thread: usize| {
                let (directory, keys) = (&directory, &keys);
                scope.spawn(move || {
                    let mark = keys.iter().filter(|key| usize::from(**key) % 4 == thread);
                    mark.for_each(|key| directory.mark_owners(std::iter::once(&key.to_be_bytes()[..])));
                    keys.iter().map(|key| directory.owner(&key.to_be_bytes()).unwrap().entry.clone()).collect()
                })
            };
            let threads: Vec<_> = (0..3).map(look).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for (at, entry) in found[0].iter().enumerate() {
            assert!(found.iter().all(|others| Arc::ptr_eq(&others[at], entry)));
            assert_eq!(entry.is_dirty(), at % 4 < 3);
        }
    }
}
