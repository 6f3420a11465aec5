//! What opening reads of the store.

use std::sync::Arc;

use saltwing_access::{Table, TableStore};
use saltwing_store::conformance::fault::{Call, Fault, Faults, Reads};
use saltwing_store::{Direction, KeyBounds, MemoryStore, OrderedKv, Space};
use saltwing_table::{EmbeddedTables, LayoutOptions};

use crate::world::{ManualClock, World, plain_row, run_options, table};

const DELTAS: [Space; 2] = [Space::new(2), Space::new(3)];
const DIR: Space = Space::new(4);
const PARTS: [Space; 3] = [Space::new(5), Space::new(6), Space::new(9)];
const REPLACED: Space = Space::new(7);
const META: Space = Space::new(8);

/// What a walk over a space finds.
fn whole(kv: &MemoryStore, space: Space) -> Reads {
    let mut cursor = kv.cursor(space, KeyBounds::all(), Direction::Forward).unwrap();
    let mut reads = Reads { cursors: 1, ..Reads::default() };
    while let Some((key, value)) = cursor.next().unwrap() {
        reads.entries += 1;
        reads.bytes += (key.len() + value.len()) as u64;
    }
    reads
}

/// A store that has something in every space: blocks, runs and long values, both generations, and blocks that a view keeps.
fn filled(options: &LayoutOptions) -> MemoryStore {
    let kv = MemoryStore::new();
    let mut world = World::open(Arc::new(kv.clone()), options.clone(), table(100, 0, None)).unwrap();
    let long = |k: i64| {
        let mut row = plain_row(k, k);
        row[3] = saltwing_types::Value::text("long ".repeat(9));
        (row, k % 3 == 0)
    };
    world.commit(&(0..300).map(long).collect::<Vec<_>>()).unwrap();
    put_all(&mut world, 0..300);
    world.store.merge().unwrap();
    world.views.push((world.store.snapshot().unwrap(), world.rows.clone()));
    put_all(&mut world, (0..300).step_by(7));
    world.store.merge().unwrap();
    // The first fills the delta; a step of its merge comes with the second.
    put_all(&mut world, 0..100);
    put_all(&mut world, 200..203);
    assert!(world.storage().runs > 0);
    kv
}

/// Rows beside those with long values.
fn put_all(world: &mut World, keys: impl Iterator<Item = i64>) {
    crate::world::put_all(world, keys.filter(|k| k % 3 != 0).map(|k| (k, k + 1)));
}

/// Opens with directories read in batches of so many entries: what was read.
fn opened(kv: &MemoryStore, options: &LayoutOptions, open_entries: usize) -> Faults {
    let faults = Faults::new(Fault::None);
    let options = LayoutOptions { open_entries, ..options.clone() };
    let store = Arc::new(faults.store(kv.clone()));
    let tables = EmbeddedTables::open_with(store, Arc::new(ManualClock::default()), options).unwrap();
    tables.open_table(Table::new(Arc::new(table(100, 0, None))).unwrap());
    faults
}

/// Directory, recent rows, and what waits for being deleted, each key once; of blocks and long values nothing.
#[test]
fn opening_reads_each_key_once_and_no_block() {
    let options = run_options();
    let kv = filled(&options);
    let faults = opened(&kv, &options, usize::MAX);
    let reads = faults.reads();
    for space in [DELTAS[0], DELTAS[1], DIR, REPLACED] {
        let whole = whole(&kv, space);
        assert!(whole.entries > 0, "{space} is not empty");
        assert_eq!(reads.get(&space), Some(&whole), "{space}");
    }
    let meta = kv.get(META, b"layout").unwrap().unwrap();
    assert_eq!(reads.get(&META), Some(&Reads { gets: 1, bytes: meta.len() as u64, ..Reads::default() }));
    assert_eq!(reads.len(), 5, "nothing of another space");
    for space in PARTS {
        assert!(whole(&kv, space).entries > 0, "{space} is not empty");
    }
    let counts = faults.counts();
    assert_eq!((counts.commits(), counts.of(Call::Sync), counts.of(Call::Reclaim)), (0, 0, 0), "nothing is written");
}

/// Two walks that meet read little twice: what they read before they look at each other again.
#[test]
fn a_directory_read_from_both_ends_is_read_once() {
    let options = run_options();
    let kv = filled(&options);
    let dir = whole(&kv, DIR);
    for batch in [1, 4, 16] {
        let found = opened(&kv, &options, batch).reads().remove(&DIR).unwrap();
        assert!(found.cursors <= 2, "{found:?}");
        assert!((dir.entries..=dir.entries + 2 * batch as u64).contains(&found.entries), "{found:?}, {dir:?}");
    }
}
