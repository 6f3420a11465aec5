//! Scans in parts against the whole scan.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use arrow::array::ArrayRef;
use proptest::prelude::*;
use saltwing_access::{
    Budget, Direction, KeyRanges, KeySet, ScanContext, ScanRoute, ScanSpec, Snapshot, SplitTarget, TableStore,
};
use saltwing_expr::value_at;
use saltwing_rowkey::KeyRange;
use saltwing_store::MemoryStore;
use saltwing_table::LayoutOptions;
use saltwing_types::table::{SPLIT_KEYS, TableOption};
use saltwing_types::{Expr, Value};

use crate::history::row;
use crate::world::{World, more_than, plain_row, put_all, run_options, table};

#[derive(Debug, PartialEq)]
struct Read {
    rows: Vec<Vec<Value>>,
    /// Keys read, seeks, rows out, buckets.
    counts: (u64, u64, u64, u32),
}

/// The rows that scans along these routes read, in sequence.
fn read(world: &World, view: &dyn Snapshot, routes: &[ScanRoute], filter: &[Expr]) -> Read {
    let columns = [0usize, 1, 2];
    let spec = ScanSpec::new(&world.table, columns.to_vec(), filter.to_vec()).unwrap();
    let context = ScanContext::new(Budget::default());
    let mut rows = Vec::new();
    for route in routes {
        let mut scan = view.scan(&spec, route.clone(), context.clone()).unwrap();
        while let Some((arrays, count)) = scan.next_columns().unwrap() {
            for at in 0..count {
                let value = |(array, column): (&ArrayRef, usize)| {
                    value_at(array.as_ref(), at, world.table.column_type(column)).unwrap()
                };
                rows.push(arrays.iter().zip(columns).map(value).collect());
            }
        }
    }
    let counters = &context.counters;
    let [keys, seeks, out] =
        [&counters.keys_read, &counters.seeks, &counters.rows_out].map(|count| count.load(Relaxed));
    Read { rows, counts: (keys, seeks, out, counters.buckets_touched()) }
}

/// The routes of the parts of a scan.
fn routes(world: &World, view: &dyn Snapshot, whole: &ScanRoute, target: SplitTarget) -> Vec<ScanRoute> {
    let parts = view.split(&world.table, whole, target).unwrap();
    parts.iter().filter_map(|part| whole.within(&world.table.def().key, part)).collect()
}

fn route(ranges: Vec<KeyRange>) -> ScanRoute {
    ScanRoute::of(KeySet::everywhere(KeyRanges::from_iter(ranges)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(4)))]

    #[test]
    fn parts_read_what_the_whole_reads(
        commits in prop::collection::vec((prop::collection::vec((row(), prop::bool::weighted(0.8)), 1..40), any::<bool>()), 1..6),
        later in prop::collection::vec((row(), prop::bool::weighted(0.8)), 1..9),
        ends in prop::collection::vec(row(), 0..6),
        salt in prop_oneof![Just(0u16), Just(1), Just(3)],
        rows_each in 1u64..40,
        above in prop::option::of(-2i64..300),
        has_runs: bool,
    ) {
        let options = if has_runs { run_options() } else { LayoutOptions::tiny() };
        let mut world = World::open(Arc::new(MemoryStore::new()), options, table(1, salt, None)).unwrap();
        for (changes, merges) in commits {
            world.commit(&changes).unwrap();
            if merges {
                world.store.merge().unwrap();
            }
        }
        // Ranges between every other two keys.
        let mut keys: Vec<Vec<u8>> = ends.iter().map(|row| world.logical(row)).collect();
        keys.sort();
        let ranges: Vec<KeyRange> = match keys.as_slice() {
            [] => vec![KeyRange::all()],
            keys => keys.chunks(2).filter_map(|ends| KeyRange::new(ends[0].clone(), ends.get(1).cloned())).collect(),
        };
        let filter: Vec<Expr> = above.map(more_than).into_iter().collect();
        let (whole, view) = (route(ranges), world.store.snapshot().unwrap());
        let parts = routes(&world, &*view, &whole, SplitTarget { rows_each, rows_min: 0 });
        prop_assert_eq!(read(&world, &*view, &parts, &filter), read(&world, &*view, std::slice::from_ref(&whole), &filter));
        // Where parts end is no matter of the view.
        world.commit(&later).unwrap();
        world.store.merge().unwrap();
        let view = world.store.snapshot().unwrap();
        prop_assert_eq!(read(&world, &*view, &parts, &filter), read(&world, &*view, &[whole], &filter));
    }
}

const EACH: SplitTarget = SplitTarget { rows_each: 2_000, rows_min: 10_000 };

#[test]
fn parts_have_about_as_many_rows_as_they_should() {
    for salt in [0, 1, 3, 50] {
        let options = LayoutOptions { run_deltas: u64::MAX, ..LayoutOptions::standard() };
        let mut world = World::open(Arc::new(MemoryStore::new()), options, table(1, salt, None)).unwrap();
        put_all(&mut world, (-10_000..10_000).map(|k| (k, k)));
        let (view, whole) = (world.store.snapshot().unwrap(), route(vec![KeyRange::all()]));
        // Recent rows are split between buckets only.
        assert_eq!(
            view.split(&world.table, &whole, EACH).unwrap().len(),
            [1, 3, 10][usize::from(salt > 1) + usize::from(salt > 3)],
            "nothing is in blocks"
        );
        world.store.merge().unwrap();
        let view = world.store.snapshot().unwrap();
        let parts = routes(&world, &*view, &whole, EACH);
        assert!((8..=10).contains(&parts.len()), "{salt}: {}", parts.len());
        for part in &parts {
            let rows = read(&world, &*view, std::slice::from_ref(part), &[]).rows.len();
            assert!(rows <= 3_000, "{salt}: {rows}");
        }
        let limited = ScanRoute { limit: Some(9), ..whole.clone() };
        let reverse = ScanRoute { direction: Direction::Reverse, ..whole.clone() };
        let few = route(vec![KeyRange::new(world.logical(&plain_row(5_000, 0)), None).unwrap()]);
        // Of 50 buckets each block has the end of one and the start of another.
        let few = if salt < 50 { few } else { limited.clone() };
        for other in [limited, reverse, few] {
            assert_eq!(view.split(&world.table, &other, EACH).unwrap().len(), 1);
        }
    }
}

#[test]
fn split_points_divide_rows_that_no_block_has() {
    let options = LayoutOptions { run_deltas: u64::MAX, ..LayoutOptions::standard() };
    let mut def = table(1, 0, None);
    // k = -5000, 0 and 100.
    let keys = Value::text("6c78,8000,8064");
    def.options.push(TableOption { name: SPLIT_KEYS.into(), value: keys, honoured: true });
    let mut world = World::open(Arc::new(MemoryStore::new()), options, def).unwrap();
    put_all(&mut world, (-10_000..10_000).map(|k| (k, k)));
    let (view, whole) = (world.store.snapshot().unwrap(), route(vec![KeyRange::all()]));
    let parts = view.split(&world.table, &whole, EACH).unwrap();
    let starts: Vec<&[u8]> = parts.iter().map(KeyRange::start).collect();
    assert_eq!(starts, [&[][..], &[0x6c, 0x78], &[0x80, 0], &[0x80, 100]]);
    let parts = routes(&world, &*view, &whole, EACH);
    assert_eq!(read(&world, &*view, &parts, &[]), read(&world, &*view, std::slice::from_ref(&whole), &[]));
    // Only points inside the ranges count.
    let ranges = [(-9_000, 0), (50, 9_000)].map(|(from, to)| {
        let key = |k| world.logical(&plain_row(k, 0));
        KeyRange::new(key(from), Some(key(to))).unwrap()
    });
    let parts = view.split(&world.table, &route(ranges.to_vec()), EACH).unwrap();
    assert_eq!(parts.len(), 3);
    // Blocks have more fences.
    world.store.merge().unwrap();
    let view = world.store.snapshot().unwrap();
    assert!(view.split(&world.table, &whole, EACH).unwrap().len() > 4);
}
