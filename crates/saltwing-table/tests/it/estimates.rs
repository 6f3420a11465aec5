//! Estimates against what scans find.

use std::sync::Arc;

use proptest::prelude::*;
use saltwing_access::{Budget, KeyRanges, KeySet, ScanContext, ScanSpec, TableStore};
use saltwing_rowkey::KeyRange;
use saltwing_store::MemoryStore;
use saltwing_table::LayoutOptions;
use saltwing_types::{Expr, SqlType, Value};

use crate::history::row;
use crate::world::{Request, World, more_than, plain_row, put_all, read, request, run_options, table, tailed};

#[derive(Clone, Debug)]
enum Step {
    Commit(Vec<(Vec<Value>, bool)>),
    Merge,
    Compact,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => prop::collection::vec((row(), prop::bool::weighted(0.8)), 1..25).prop_map(Step::Commit),
        2 => Just(Step::Merge),
        1 => Just(Step::Compact),
    ]
}

fn keys(ranges: impl IntoIterator<Item = KeyRange>) -> KeySet {
    KeySet::everywhere(KeyRanges::from_iter(ranges))
}

/// Rows that a scan of these ranges finds.
fn count(world: &World, ranges: &[KeyRange]) -> u64 {
    let scan = Request { ranges: ranges.iter().cloned().collect(), ..request(&world.table, vec![0]) };
    read(world, world.store.snapshot().unwrap(), &scan).unwrap().len() as u64
}

/// No claim is wrong.
fn claims_hold(world: &World, ends: &(Vec<Value>, Vec<Value>)) -> Result<(), TestCaseError> {
    let view = world.store.snapshot().unwrap();
    let (a, b) = (world.logical(&ends.0), world.logical(&ends.1));
    let range = KeyRange::new(a.clone().min(b.clone()), Some(a.clone().max(b)));
    let lists = [
        vec![KeyRange::all()],
        range.into_iter().collect(),
        vec![KeyRange::point(a.clone())],
        KeyRange::new(a, None).into_iter().collect(),
    ];
    for ranges in lists {
        let estimate = view.estimate(&world.table, &keys(ranges.clone())).unwrap();
        let found = count(world, &ranges);
        prop_assert!(!estimate.is_exact || estimate.rows == found, "{:?} {} {:?}", estimate, found, ranges);
    }
    let columns: Vec<usize> = (0..world.def.columns.len()).collect();
    let estimates = view.estimate_columns(&world.table, &columns).unwrap();
    for (column, known) in estimates.iter().enumerate().filter(|(_, known)| known.unseen == 0) {
        for value in world.rows.values().map(|row| &row[column]).filter(|value| !value.is_null()) {
            prop_assert!(
                known.min.as_ref().is_none_or(|min| min.compare(value).unwrap().is_le()),
                "{:?} {:?}",
                known,
                value
            );
            prop_assert!(
                known.max.as_ref().is_none_or(|max| max.compare(value).unwrap().is_ge()),
                "{:?} {:?}",
                known,
                value
            );
        }
        let nulls = world.rows.values().filter(|row| row[column].is_null()).count() as u64;
        prop_assert!(known.nulls.is_none_or(|known| known == nulls));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(4)))]

    #[test]
    fn exact_estimates_are_exact(
        steps in prop::collection::vec(step(), 1..12),
        ends in prop::collection::vec((row(), row()), 4),
        salt in prop_oneof![Just(0u16), Just(3)],
        ttl_s in prop_oneof![3 => Just(None), 1 => Just(Some(5u64))],
        is_tailed: bool,
        has_runs: bool,
    ) {
        let options = if has_runs { run_options() } else { LayoutOptions::tiny() };
        let def = table(1, salt, ttl_s);
        let def = if is_tailed { tailed(def) } else { def };
        let mut world = World::open(Arc::new(MemoryStore::new()), options, def).unwrap();
        for step in steps {
            match step {
                Step::Commit(changes) => world.commit(&changes).unwrap(),
                Step::Merge => world.store.merge().unwrap(),
                Step::Compact => {
                    let context = request(&world.table, Vec::new()).context;
                    world.store.compact(world.def.id, &context).unwrap();
                }
            }
            for ends in &ends {
                claims_hold(&world, ends)?;
            }
        }
        if ttl_s.is_none() {
            // Where all lies in blocks, all is known.
            let context = request(&world.table, Vec::new()).context;
            world.store.compact(world.def.id, &context).unwrap();
            let all = world.store.snapshot().unwrap().estimate(&world.table, &KeySet::all()).unwrap();
            prop_assert!(all.is_exact);
            prop_assert_eq!(all.rows, world.rows.len() as u64);
        }
    }
}

/// 20,000 rows in blocks of 256, every other key.
fn even_rows(salt: u16) -> World {
    let options = LayoutOptions { run_deltas: u64::MAX, ..LayoutOptions::standard() };
    let mut world = World::open(Arc::new(MemoryStore::new()), options, table(1, salt, None)).unwrap();
    put_all(&mut world, (-10_000..10_000).map(|k| (k, k / 100)));
    world.store.merge().unwrap();
    world
}

#[test]
fn a_range_is_estimated_to_a_part_of_a_block() {
    for salt in [0, 4] {
        let world = even_rows(salt);
        let key = |k: i64| world.logical(&plain_row(k, 0));
        for (from, to) in [(-10_000, 10_000), (0, 5_000), (17, 1_017), (3, 4), (-9_000, -8_990), (9_990, 10_000)] {
            let range = KeyRange::new(key(from), (to < 10_000).then(|| key(to))).unwrap();
            let view = world.store.snapshot().unwrap();
            let found = view.estimate(&world.table, &keys(vec![range])).unwrap();
            let (wanted, slack) = (to - from, 130 * i64::from(salt.max(1)));
            assert!((found.rows as i64 - wanted).abs() <= slack, "{salt}: {from}..{to}: {found:?}");
        }
    }
}

#[test]
fn many_ranges_are_estimated_by_some() {
    let world = even_rows(4);
    let view = world.store.snapshot().unwrap();
    let key = |k: i64| world.logical(&plain_row(k, 0));
    let range = |k: i64| KeyRange::new(key(k), Some(key(k + 50))).unwrap();
    let some = keys((0..100).map(|i| range(i * 100)));
    let found = view.estimate(&world.table, &some).unwrap();
    assert!((2_500..7_500).contains(&found.rows) && !found.is_exact, "{found:?}");
    let points = keys((-32_000..32_000).map(|k| KeyRange::point(key(k))));
    // There are no more than all.
    assert_eq!(view.estimate(&world.table, &points).unwrap().rows, 20_000);
}

#[test]
fn recent_rows_are_counted_and_many_of_them_estimated() {
    let mut world = World::open(Arc::new(MemoryStore::new()), LayoutOptions::standard(), table(1, 0, None)).unwrap();
    put_all(&mut world, (0..20_000).map(|k| (k, k)));
    let estimate = |from: i64, to: i64| {
        let key = |k: i64| world.logical(&plain_row(k, 0));
        let range = KeyRange::new(key(from), Some(key(to))).unwrap();
        world.store.snapshot().unwrap().estimate(&world.table, &keys(vec![range])).unwrap()
    };
    assert_eq!(estimate(5, 505).rows, 500);
    assert!((9_000..11_000).contains(&estimate(5_000, 15_000).rows), "{:?}", estimate(5_000, 15_000));
    let all = world.store.snapshot().unwrap().estimate(&world.table, &KeySet::all()).unwrap();
    assert_eq!((all.rows, all.is_exact), (20_000, false));
}

#[test]
fn columns_have_the_bounds_of_their_zones() {
    let world = even_rows(0);
    let of =
        |column: usize| world.store.snapshot().unwrap().estimate_columns(&world.table, &[column]).unwrap().remove(0);
    let i = of(2);
    assert_eq!(world.def.columns[2].ty, SqlType::Integer);
    assert_eq!((i.min, i.max, i.nulls, i.unseen), (Some(Value::Int(-100)), Some(Value::Int(99)), Some(0), 0));
    // A text has no number that is its own, and a key column no zone.
    assert_eq!((of(3).min, of(0).min), (None, None));
}

#[test]
fn totals_are_known_of_rows_in_blocks_of_which_all_are_wanted() {
    let mut world = World::open(Arc::new(MemoryStore::new()), LayoutOptions::tiny(), table(100, 0, None)).unwrap();
    let knows = |world: &World, columns: &[usize], filter: Vec<Expr>| {
        let spec = ScanSpec::new(&world.table, columns.to_vec(), filter).unwrap();
        world.store.snapshot().unwrap().knows_totals(&spec).unwrap()
    };
    let i = [2];
    put_all(&mut world, (0..3).map(|k| (k, k)));
    assert!(!knows(&world, &i, Vec::new()), "all rows are recent");
    world.store.compact(world.table.def().id, &ScanContext::new(Budget::default())).unwrap();
    assert!(knows(&world, &i, Vec::new()) && knows(&world, &[], Vec::new()));
    assert!(!knows(&world, &[0], Vec::new()), "a key is not added up by the directory");
    assert!(!knows(&world, &i, vec![more_than(3)]));
}
