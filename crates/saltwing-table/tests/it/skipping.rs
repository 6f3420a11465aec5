//! Skipping inside ranges: what is left out, what is counted, and that neither depends on where rows lie.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use proptest::prelude::*;
use saltwing_access::{Budget, Direction, KeyRanges, KeySet, ScanContext, ScanOrder, ScanRoute, ScanSpec, TableStore};
use saltwing_expr::value_at;
use saltwing_plan::{CandidateKey, Condition, Request, choose};
use saltwing_rowkey::KeyRange;
use saltwing_store::MemoryStore;
use saltwing_table::LayoutOptions;
use saltwing_types::{ColumnRef, CompareOp, Expr, SqlType, Value, typing};

use crate::world::{World, plain_row, run_options, table};

/// The row of a number: all have the same `k`, and the number as text in `s`, of which no range is made where `k` is open.
fn numbered(number: i64, i: i64) -> Vec<Value> {
    let mut row = plain_row(0, i);
    row[1] = Value::text(text(number));
    row
}

fn text(number: i64) -> String {
    format!("{number:04}")
}

#[derive(Debug, PartialEq)]
struct Read {
    keys: Vec<i64>,
    keys_read: u64,
    seeks: u64,
    blocks_read: u64,
}

fn scan(world: &World, ranges: KeyRanges, direction: Direction, order: ScanOrder, limit: Option<u64>) -> Read {
    let context = ScanContext::new(Budget::default());
    let route = ScanRoute { keys: KeySet::everywhere(ranges), direction, order, limit, first_batch: None };
    let spec = ScanSpec::new(&world.table, vec![1], Vec::new()).unwrap();
    let mut scan = world.store.snapshot().unwrap().scan(&spec, route, context.clone()).unwrap();
    let mut keys = Vec::new();
    while let Some(batch) = scan.next_batch().unwrap() {
        keys.extend((0..batch.num_rows()).map(|row| {
            match value_at(batch.column(0), row, world.table.column_type(1)).unwrap() {
                Value::Text(s) => s.parse::<i64>().unwrap(),
                other => panic!("{other:?}"),
            }
        }));
    }
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    Read {
        keys,
        keys_read: count(&context.counters.keys_read),
        seeks: count(&context.counters.seeks),
        blocks_read: count(&context.counters.blocks_read),
    }
}

/// Rows of a delta alone; or of blocks of four, with the later half of the changes in deltas; or of larger ones, with
/// runs above them.
fn worlds(salt: u16, changes: &[Vec<(i64, bool)>]) -> [World; 3] {
    let recent = LayoutOptions { delta_rows: 1 << 20, ..LayoutOptions::tiny() };
    [recent, LayoutOptions::tiny(), run_options()].map(|options| {
        let is_tiny = options.delta_rows < 1 << 20;
        let mut world = World::open(Arc::new(MemoryStore::new()), options, table(100, salt, None)).unwrap();
        for (i, commit) in changes.iter().enumerate() {
            let rows: Vec<_> = commit.iter().map(|(k, alive)| (numbered(*k, i as i64), *alive)).collect();
            world.commit(&rows).unwrap();
            if is_tiny && i < changes.len() / 2 {
                world.store.merge().unwrap();
            }
        }
        world
    })
}

fn between(world: &World, (start, end): (i64, i64)) -> KeyRanges {
    let key = |number: i64| world.logical(&numbered(number, 0));
    KeyRange::new(key(start), Some(key(end))).into_iter().collect()
}

/// A range of numbers. Inside it are unwanted and wanted ones by turns, an unwanted one first.
fn gaps(world: &World, range: (i64, i64), turns: &[i64]) -> KeyRanges {
    let column = ColumnRef { index: 1, name: "s".into(), ty: SqlType::Varchar(None), nullable: true, span: None };
    let compared = |op, number: &i64| typing::compare(op, Expr::Column(column.clone()), typing::string(text(*number)));
    let wanted = turns.chunks(2).map(|turns| {
        let from = compared(CompareOp::GtEq, &turns[0]);
        let to = turns.get(1).map(|end| compared(CompareOp::Lt, end));
        typing::and(std::iter::once(from).chain(to).collect::<Result<_, _>>()?)
    });
    let condition = Condition::new(typing::or(wanted.collect::<Result<_, _>>().unwrap()).unwrap());
    let table = &world.table;
    let key = CandidateKey::of_table("t", &table.def().key, table.codec());
    let access = choose(Request::new("t", &[key], vec![condition])).unwrap();
    assert!(access.skip.is_some(), "{access:?}");
    between(world, range).skipping(access.skip)
}

fn changes() -> impl Strategy<Value = Vec<Vec<(i64, bool)>>> {
    prop::collection::vec(prop::collection::vec((0i64..400, prop::bool::weighted(0.9)), 1..120), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.div_ceil(4), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn wanted_rows_come_wherever_they_lie(
        changes in changes(),
        turns in prop::collection::btree_set(0i64..400, 1..40),
        range in (0i64..200, 200i64..400),
        salt in prop::sample::select(vec![0u16, 3]),
        reverse: bool,
        merged: bool,
        limit in prop::option::of(1u64..20),
    ) {
        let turns: Vec<i64> = turns.into_iter().collect();
        let direction = if reverse { Direction::Reverse } else { Direction::Forward };
        let order = if merged { ScanOrder::Merged } else { ScanOrder::ByBucket };
        let worlds = worlds(salt, &changes);
        let [recent, packed, runs] = worlds.each_ref().map(|world| {
            let gaps = gaps(world, range, &turns);
            scan(world, gaps, direction, order, limit)
        });
        // Blocks apart, all is the same.
        prop_assert_eq!(&recent, &Read { blocks_read: 0, ..packed });
        prop_assert_eq!(&recent, &Read { blocks_read: 0, ..runs });
        let plain = scan(&worlds[0], between(&worlds[0], range), direction, order, None);
        let is_wanted = |k: &&i64| turns.partition_point(|turn| turn <= k) % 2 == 1;
        let (found, wanted): (Vec<&i64>, Vec<&i64>) = (recent.keys.iter().collect(), plain.keys.iter().filter(is_wanted).collect());
        // What is found are rows, in order; none that is wanted is left out before the limit.
        let mut all = plain.keys.iter();
        prop_assert!(found.iter().all(|k| all.any(|other| other == *k)), "{:?} of {:?}", found, plain.keys);
        let mut left = found.iter();
        let missing = wanted.iter().find(|k| !left.any(|other| other == *k));
        let is_full = limit.is_some_and(|limit| limit == found.len() as u64);
        prop_assert!(missing.is_none() || is_full, "{:?} is not among {:?}", missing, found);
        prop_assert!(recent.keys_read <= plain.keys_read);
    }
}

/// One wanted row in ten: the others are skipped. In three: they are read over, and soon nobody asks any more.
#[test]
fn a_scan_seeks_where_that_pays() {
    let changes = [(0..3000).map(|k| (k, true)).collect::<Vec<_>>(), vec![(0, true)]];
    for world in worlds(0, &changes) {
        for direction in [Direction::Forward, Direction::Reverse] {
            let read = |stride: i64| {
                let turns: Vec<i64> = (0..3000).step_by(stride as usize).flat_map(|k| [k + 1, k + 2]).collect();
                scan(&world, gaps(&world, (0, 3000), &turns), direction, ScanOrder::ByBucket, None)
            };
            let overflow = read(10);
            assert!(overflow.keys.iter().all(|k| k % 10 == 1));
            // One seek for the range, one for each gap of rows that are eight or nine: what comes before the first is a single row.
            let expected = if direction == Direction::Forward { (301, 300) } else { (300, 301) };
            assert_eq!((overflow.keys_read, overflow.seeks), expected);
            let near = read(3);
            assert_eq!((near.keys_read, near.seeks), (3000, 1));
            // Of each sixteen probes some leave rows out; the next rows are returned without probes.
            assert!(near.keys.len() > 2900, "{}", near.keys.len());
        }
    }
}

/// Blocks without a wanted row are not looked at.
#[test]
fn blocks_are_passed_over() {
    let mut world = World::open(Arc::new(MemoryStore::new()), LayoutOptions::tiny(), table(100, 0, None)).unwrap();
    let rows: Vec<_> = (0..400).map(|k| (numbered(k, 0), true)).collect();
    world.commit(&rows).unwrap();
    world.store.merge().unwrap();
    let context = ScanContext::new(Budget::default());
    let ranges = gaps(&world, (0, 400), &[5, 6, 395, 396]);
    let route = ScanRoute::of(KeySet::everywhere(ranges));
    let spec = ScanSpec::new(&world.table, vec![1], Vec::new()).unwrap();
    let mut scan = world.store.snapshot().unwrap().scan(&spec, route, context.clone()).unwrap();
    assert_eq!(scan.next_batch().unwrap().map(|batch| batch.num_rows()), Some(2));
    assert!(scan.next_batch().unwrap().is_none());
    let blocks = context.counters.blocks_read.load(Ordering::Relaxed);
    assert!(blocks <= 5, "{blocks} of 100");
}

/// A jump among rows of an entry with a run goes on in what was merged of it.
#[test]
fn runs_are_merged_once_however_often_is_jumped() {
    for direction in [Direction::Forward, Direction::Reverse] {
        let options = LayoutOptions { block_rows: 256, block_bytes: 64 << 10, ..run_options() };
        let mut world = World::open(Arc::new(MemoryStore::new()), options, table(100, 0, None)).unwrap();
        world.commit(&(0..200).map(|k| (numbered(2 * k, 0), true)).collect::<Vec<_>>()).unwrap();
        world.store.merge().unwrap();
        world.commit(&(0..40).map(|k| (numbered(10 * k + 1, 0), true)).collect::<Vec<_>>()).unwrap();
        world.store.merge().unwrap();
        assert_eq!((world.storage().blocks, world.storage().runs), (1, 1));
        let turns: Vec<i64> = (0..400).step_by(20).flat_map(|k| [k + 1, k + 2]).collect();
        let found = scan(&world, gaps(&world, (0, 400), &turns), direction, ScanOrder::ByBucket, None);
        assert!(found.seeks >= 20 && found.keys.iter().all(|k| k % 20 == 1) && found.keys.len() == 20, "{found:?}");
        assert_eq!(found.blocks_read, 2, "{direction:?}");
    }
}
