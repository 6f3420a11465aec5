//! What opening keeps as it was read: a large directory is looked into here and there, in any order.

use std::sync::Arc;

use proptest::prelude::*;
use saltwing_access::{Direction, Durability, KeyRanges, KeySet, Projection, Snapshot, TableError, TableStore};
use saltwing_rowkey::KeyRange;
use saltwing_store::{Bytes, KeyBounds, MemoryStore, OrderedKv, Space, WriteBatch};
use saltwing_table::{LayoutOptions, Merging};
use saltwing_types::Value;

use crate::world::{Request, Rows, World, plain_row, put_all, read, request, run_options, table, totals};

/// Keys lie between this and its negative: entries of blocks of four or 16 rows fill several of a directory's chunks.
const KEYS: i64 = 5000;

#[derive(Clone, Debug)]
enum Step {
    Put(Vec<(i64, i64)>),
    Delete(Vec<i64>),
    Merge,
    Reopen,
    TakeView,
    Get(i64),
    Read { from: i64, width: i64, reverse: bool },
    Count { from: i64, width: i64 },
    Estimate { from: i64, width: i64 },
}

fn step() -> impl Strategy<Value = Step> {
    let key = || -KEYS..KEYS;
    let width = || prop_oneof![3 => 1i64..40, 1 => 1i64..4000];
    prop_oneof![
        3 => prop::collection::vec((key(), 0i64..100), 1..60).prop_map(Step::Put),
        1 => prop::collection::vec(key(), 1..60).prop_map(Step::Delete),
        2 => Just(Step::Merge),
        4 => Just(Step::Reopen),
        1 => Just(Step::TakeView),
        6 => key().prop_map(Step::Get),
        6 => (key(), width(), any::<bool>()).prop_map(|(from, width, reverse)| Step::Read { from, width, reverse }),
        2 => (key(), width()).prop_map(|(from, width)| Step::Count { from, width }),
        2 => (key(), width()).prop_map(|(from, width)| Step::Estimate { from, width }),
    ]
}

fn range(world: &World, from: i64, width: i64) -> KeyRange {
    let logical = |k: i64| world.logical(&plain_row(k, 0));
    KeyRange::new(logical(from), Some(logical(from + width))).unwrap()
}

fn inside<'r>(rows: &'r Rows, range: &KeyRange) -> Vec<&'r Vec<Value>> {
    rows.iter().filter(|(key, _)| range.contains(key)).map(|(_, row)| row).collect()
}

/// What reading gives is what a map has.
fn looks_right(world: &World, view: &Arc<dyn Snapshot>, rows: &Rows, step: &Step) -> Result<(), TestCaseError> {
    let request_in =
        |range: KeyRange, columns| Request { ranges: KeyRanges::from_iter([range]), ..request(&world.table, columns) };
    match *step {
        Step::Get(k) => {
            let row = plain_row(k, 0);
            let found = view.get(&Projection::all(&world.table), &world.physical(&row)).unwrap();
            prop_assert_eq!(found.as_ref(), rows.get(&world.logical(&row)));
        }
        Step::Read { from, width, reverse } => {
            let range = range(world, from, width);
            let direction = if reverse { Direction::Reverse } else { Direction::Forward };
            let found =
                read(world, view.clone(), &Request { direction, ..request_in(range.clone(), vec![0, 2]) }).unwrap();
            let mut wanted: Vec<_> = inside(rows, &range).iter().map(|row| [0, 2].map(|c| row[c].clone())).collect();
            if reverse {
                wanted.reverse();
            }
            prop_assert_eq!(found, wanted);
        }
        Step::Count { from, width } => {
            let range = range(world, from, width);
            let found = totals(world, view.clone(), &request_in(range.clone(), Vec::new())).unwrap();
            prop_assert_eq!(found.rows, inside(rows, &range).len() as u64);
        }
        Step::Estimate { from, width } => {
            let range = range(world, from, width);
            let keys = KeySet::everywhere(KeyRanges::from_iter([range.clone()]));
            let estimate = view.estimate(&world.table, &keys).unwrap();
            prop_assert!(!estimate.is_exact || estimate.rows == inside(rows, &range).len() as u64);
        }
        _ => {}
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(32)))]

    /// Whatever is looked at first after an opening, written and merged: a table is a map, and its sizes are what they were.
    #[test]
    fn an_opened_directory_is_the_one_that_was_closed(
        steps in prop::collection::vec(step(), 20..50),
        salt in prop_oneof![Just(0u16), Just(3)],
        has_runs: bool,
        open_entries in prop_oneof![Just(4usize), Just(700), Just(1 << 20)],
    ) {
        let options = if has_runs { run_options() } else { LayoutOptions::tiny() };
        let options = LayoutOptions { open_entries, merging: Merging::Background, ..options };
        let mut world = World::open(Arc::new(MemoryStore::new()), options, table(100, salt, None)).unwrap();
        put_all(&mut world, (-KEYS..KEYS).filter(|k| k % 2 == 0).map(|k| (k, k)));
        world.store.merge().unwrap();
        // Runs of entries here and there.
        put_all(&mut world, (-KEYS..KEYS).step_by(37).map(|k| (k, 1)));
        world.store.merge().unwrap();
        for step in steps {
            match &step {
                Step::Put(rows) => put_all(&mut world, rows.iter().copied()),
                Step::Delete(keys) => {
                    world.commit(&keys.iter().map(|k| (plain_row(*k, 0), false)).collect::<Vec<_>>()).unwrap();
                }
                Step::Merge => world.store.merge().unwrap(),
                Step::TakeView => world.views.push((world.store.snapshot().unwrap(), world.rows.clone())),
                Step::Reopen => {
                    let held = |world: &World| {
                        let held = world.storage();
                        let blocks = (held.blocks, held.block_rows, held.block_bytes);
                        (blocks, held.runs, held.run_rows, held.run_bytes, held.delta_rows)
                    };
                    let before = held(&world);
                    world.reopen().unwrap();
                    prop_assert_eq!(held(&world), before);
                }
                look => {
                    looks_right(&world, &world.store.snapshot().unwrap(), &world.rows, look)?;
                    for (view, rows) in &world.views {
                        looks_right(&world, view, rows, look)?;
                    }
                }
            }
        }
        prop_assert_eq!(&world.read_all().unwrap(), &world.rows);
        world.views.clear();
        world.reopen().unwrap();
        world.store.merge().unwrap();
        world.assert_nothing_is_left_over();
    }
}

/// Opening holds every entry to its checksum, also those that nobody would look at.
#[test]
fn a_damaged_entry_is_an_error_at_opening() {
    let directory = Space::new(4);
    let mut world = World::open(Arc::new(MemoryStore::new()), run_options(), table(100, 0, None)).unwrap();
    put_all(&mut world, (0..200).map(|k| (k, k)));
    world.store.merge().unwrap();
    put_all(&mut world, [3, 30, 90].map(|k| (k, 1)).into_iter());
    world.store.merge().unwrap();
    let mut cursor = world.kv.cursor(directory, KeyBounds::all(), Direction::Forward).unwrap();
    let stored: Vec<(Bytes, Bytes)> = std::iter::from_fn(|| cursor.next().unwrap()).collect();
    assert!(stored.len() > 10 && world.storage().runs > 0);
    let put = |world: &World, key: &Bytes, value: &[u8]| {
        let mut batch = WriteBatch::new();
        batch.put(directory, key.clone(), value);
        world.kv.write(batch, Durability::Buffered).unwrap();
    };
    for (key, value) in &stored {
        for at in [0, 9, value.len() / 2, value.len() - 1] {
            let mut damaged = value.to_vec();
            damaged[at] ^= 4;
            put(&world, key, &damaged);
            assert!(matches!(world.reopen(), Err(TableError::CorruptLayout("a directory entry"))), "{at}");
        }
        put(&world, key, value);
    }
    world.reopen().unwrap();
    assert_eq!(world.read_all().unwrap(), world.rows);
}
