//! Older versions of rows, against the states of the table at some times.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use proptest::prelude::*;
use saltwing_access::{Clock, Direction, ScanOrder, Snapshot, Table, TableError, TableStore};
use saltwing_store::MemoryStore;
use saltwing_table::LayoutOptions;
use saltwing_types::table::{KEEP_VERSIONS, TableHistory, TableOption, VERSIONS};
use saltwing_types::{ErrorCode, TableDef, Value};

use crate::history::{Step, run, step};
use crate::world::{Request, Rows, World, plain_row, put_all, read, request, run_options, table};

/// The space of older versions.
const SPACE: u8 = 10;

fn versioned(def: TableDef, count: i64, keep_s: i64) -> TableDef {
    let option = |name: &str, number| TableOption { name: name.into(), value: Value::Int(number), honoured: true };
    let options = vec![option(VERSIONS, count), option(KEEP_VERSIONS, keep_s)];
    TableDef { options, history: TableHistory { versions_since: 1, ..def.history.clone() }, ..def }
}

/// A world whose clock is past the time at which versions begin.
fn world(def: TableDef, options: LayoutOptions) -> World {
    let world = World::open(Arc::new(MemoryStore::new()), options, def).unwrap();
    advance(&world, 1);
    world
}

fn advance(world: &World, ms: i64) {
    world.clock.0.fetch_add(ms, Ordering::Relaxed);
}

fn now(world: &World) -> i64 {
    world.clock.now_ms()
}

fn past(world: &World, at_ms: i64) -> Result<Arc<dyn Snapshot>, TableError> {
    world.store.snapshot()?.as_of(&world.table, at_ms)
}

fn rows_at(world: &World, at_ms: i64) -> Result<Rows, TableError> {
    let request = Request {
        direction: Direction::Forward,
        order: ScanOrder::Merged,
        ..request(&world.table, (0..world.def.columns.len()).collect())
    };
    let rows = read(world, past(world, at_ms)?, &request)?;
    Ok(rows.into_iter().map(|row| (world.logical(&row), row)).collect())
}

fn beyond<T>(read: Result<T, TableError>) -> bool {
    match read {
        Ok(_) => false,
        Err(error @ TableError::BeyondVersions { .. }) => error.code() == ErrorCode::BadArgument,
        Err(error) => panic!("{error}"),
    }
}

/// Whatever is merged, compacted and reopened: reads at each time find the table as it was, by scans, points and totals.
#[test]
fn every_state_reads_as_it_was() {
    proptest!(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(4)), |(
        steps in prop::collection::vec((step(), 0i64..3), 1..60),
        salt in prop_oneof![Just(0u16), Just(3)],
        options in prop_oneof![Just(LayoutOptions::tiny()), Just(run_options())],
    )| {
        let mut world = world(versioned(table(100, salt, None), 1, 3600), options);
        // Until the first commit, each opening starts the versions again.
        put_all(&mut world, [(8, 0)].into_iter());
        let mut states: Vec<(i64, Rows)> = Vec::new();
        for (mut step, pause) in steps {
            advance(&world, pause);
            match &mut step {
                Step::TakeView => {
                    states.push((now(&world), world.rows.clone()));
                    // A commit of the same millisecond belongs to the state.
                    advance(&world, 1);
                    continue;
                }
                Step::Read { view, .. } | Step::Get { view, .. } => {
                    let state = states.get(*view * states.len() / 4).cloned();
                    world.views = match state {
                        Some((at_ms, rows)) => vec![(past(&world, at_ms).unwrap(), rows)],
                        None => Vec::new(),
                    };
                    *view = 0;
                }
                _ => world.views.clear(),
            }
            run(&mut world, step).unwrap();
        }
        world.views.clear();
        for (at_ms, rows) in &states {
            prop_assert_eq!(&rows_at(&world, *at_ms).unwrap(), rows);
        }
        prop_assert_eq!(&rows_at(&world, now(&world)).unwrap(), &world.rows);
    });
}

/// Versions that are kept by number: a state reads as it was as long as no row has changed too often since, and is refused
/// otherwise, never read wrong.
#[test]
fn versions_by_number_are_right_or_refused() {
    proptest!(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(4)), |(
        commits in prop::collection::vec((prop::collection::vec((0i64..4, any::<bool>()), 1..4), 0u8..4), 1..30),
        count in 2i64..5,
    )| {
        let mut world = world(versioned(table(100, 0, None), count, 0), LayoutOptions::tiny());
        let mut states = vec![(now(&world), world.rows.clone(), BTreeMap::new())];
        for (number, (changes, then)) in commits.into_iter().enumerate() {
            advance(&world, 1);
            let changes: BTreeMap<i64, bool> = changes.into_iter().collect();
            let row = |(k, alive): (&i64, &bool)| (plain_row(*k, number as i64), *alive);
            let rows: Vec<_> = changes.iter().map(row).collect();
            // Deleting a row that is not there changes nothing.
            let is_change = |(row, alive): &&(Vec<Value>, bool)| *alive || world.rows.contains_key(&world.logical(row));
            let changed: Vec<Vec<u8>> = rows.iter().filter(is_change).map(|(row, _)| world.logical(row)).collect();
            world.commit(&rows).unwrap();
            for (.., since) in &mut states {
                changed.iter().for_each(|key| *since.entry(key.clone()).or_insert(0) += 1);
            }
            states.push((now(&world), world.rows.clone(), BTreeMap::new()));
            match then {
                0 => world.compact(),
                1 => drop(world.store.sweep().unwrap()),
                2 => world.reopen().unwrap(),
                _ => {}
            }
            for (at_ms, rows, since) in &states {
                match rows_at(&world, *at_ms) {
                    Ok(found) => prop_assert_eq!(&found, rows),
                    refused => {
                        prop_assert!(beyond(refused));
                        prop_assert!(since.values().any(|changes| *changes >= count), "{:?}", since);
                    }
                }
            }
        }
        world.compact();
        let most = states[0].2.values().map(|changes| (*changes).min(count) as usize).sum::<usize>() + 1;
        prop_assert!(world.keys(SPACE).len() <= most);
    });
}

#[test]
fn versions_by_time_are_deleted_when_it_is_over() {
    let mut world = world(versioned(table(100, 0, None), 1, 10), LayoutOptions::tiny());
    for i in 0..20 {
        put_all(&mut world, (0..5).map(|k| (k, i)));
        advance(&world, 1000);
    }
    let (now, before) = (now(&world), world.keys(SPACE).len());
    assert_eq!(before, 20 * 5 + 1);
    assert!(beyond(past(&world, now - 10_001)));
    let rows = rows_at(&world, now - 9_500).unwrap();
    assert!(rows.values().all(|row| row[2] == Value::Int(10)), "{rows:?}");
    world.store.sweep().unwrap();
    assert_eq!(world.keys(SPACE).len(), 9 * 5 + 1);
    assert_eq!(rows_at(&world, now - 9_500).unwrap(), rows);
    world.store.close_table(world.def.id);
    world.store.purge(world.def.id).unwrap();
    assert!(world.keys(SPACE).is_empty(), "a table's versions go with it");
}

/// A row expires by the time that is read, also if it has been swept since.
#[test]
fn rows_expire_by_the_time_that_is_read() {
    let mut world = world(versioned(table(100, 0, Some(5)), 1, 100), LayoutOptions::tiny());
    let written = now(&world);
    put_all(&mut world, [(1, 1), (2, 2)].into_iter());
    advance(&world, 2_000);
    put_all(&mut world, [(2, 3)].into_iter());
    for pause in [10_000, 40_000] {
        advance(&world, pause);
        world.store.sweep().unwrap();
        world.compact();
        let found = |after: i64| rows_at(&world, written + after).unwrap().into_values().map(|row| row[2].clone());
        let found = |after| found(after).collect::<Vec<_>>();
        assert_eq!(found(1_000), [Value::Int(1), Value::Int(2)]);
        assert_eq!(found(3_000), [Value::Int(1), Value::Int(3)]);
        assert_eq!(found(6_000), [Value::Int(3)]);
        assert_eq!(found(8_000), []);
        assert_eq!(world.read_all().unwrap(), Rows::new());
    }
    advance(&world, 100_000);
    world.store.sweep().unwrap();
    world.compact();
    assert_eq!(world.storage().block_rows, 0);
}

/// Versions begin when the option is set, and begin again if it was taken away in between.
#[test]
fn versions_begin_with_the_option() {
    let mut world = world(table(100, 0, None), LayoutOptions::tiny());
    put_all(&mut world, [(1, 1)].into_iter());
    let kept = |since: u32, version: u32| {
        let def = versioned(table(100, 0, None), 1, 3600);
        TableDef { history: TableHistory { version, versions_since: since, ..def.history.clone() }, ..def }
    };
    let open = |world: &mut World, def: TableDef| {
        world.def = Arc::new(def);
        world.table = world.store.open_table(Table::new(world.def.clone()).unwrap());
    };
    assert!(matches!(past(&world, now(&world)), Err(TableError::NoVersions { .. })));
    advance(&world, 10);
    let first = now(&world);
    open(&mut world, kept(1, 1));
    advance(&world, 10);
    put_all(&mut world, [(1, 2)].into_iter());
    let second = now(&world);
    assert!(beyond(past(&world, first - 1)));
    assert_eq!(rows_at(&world, first).unwrap().into_values().next().unwrap()[2], Value::Int(1));
    // Another definition that keeps them changes nothing.
    advance(&world, 10);
    open(&mut world, kept(1, 2));
    assert_eq!(rows_at(&world, second).unwrap(), world.rows);
    let without = TableDef {
        history: TableHistory { version: 3, versions_since: 1, ..TableHistory::default() },
        ..table(100, 0, None)
    };
    open(&mut world, without);
    put_all(&mut world, [(1, 3)].into_iter());
    advance(&world, 10);
    let third = now(&world);
    open(&mut world, kept(4, 4));
    advance(&world, 10);
    put_all(&mut world, [(1, 4)].into_iter());
    for _ in 0..2 {
        assert!(beyond(past(&world, third - 1)));
        assert_eq!(rows_at(&world, third).unwrap().into_values().next().unwrap()[2], Value::Int(3));
        let future = past(&world, now(&world) + 1);
        assert!(matches!(future, Err(TableError::FutureTime { .. })));
        world.reopen().unwrap();
    }
}
