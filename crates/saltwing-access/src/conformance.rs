//! The contract of every store of tables: histories of rows compared with a map, snapshots, conflicts, expiry, limits.
//!
//! A store calls [`check`] in its tests, with a function that opens an empty one.

#![allow(clippy::unwrap_used, clippy::panic, clippy::missing_panics_doc)]

mod by_region;
mod fixture;
mod own_writes;
mod partials;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use saltwing_rowkey::{BucketRange, KeyRange};
use saltwing_types::{ColumnDef, ErrorCode, Value};

use crate::{
    AtomicScope, Budget, Direction, Durability, KeySet, OldRow, Projection, RowChange, ScanContext, ScanOrder,
    ScanRoute, ShortRange, SnapshotScope, SplitTarget, Table, TableError, TableStore,
};

pub use fixture::{ManualClock, Open, context, everything, read, row, scan, table_def};
use fixture::{empty, key_of, put_all};

/// Checks a store by its [`Capabilities`](crate::Capabilities).
pub fn check(open: Open<'_>) {
    let capabilities = open(Arc::new(ManualClock::default())).capabilities().clone();
    rows_are_those_of_a_map(open);
    rows_expire(open);
    definitions_change(open);
    budgets_and_cancel_stop_a_scan(open);
    row_ids_are_new(open);
    nothing_is_lost_between_threads(open);
    if capabilities.snapshots == SnapshotScope::Store {
        a_snapshot_stays_as_it_was(open);
        the_first_committer_wins(open);
        claims_are_held_against_each_other(open);
        parts_of_a_transaction_do_not_conflict(open);
        own_writes::a_transaction_reads_its_own_writes(open);
    } else {
        by_region::a_scan_reads_each_row_whole_and_once(open);
        by_region::a_commit_compares_rows(open);
    }
    if capabilities.atomic == AtomicScope::Row {
        by_region::a_commit_counts_its_rows(open);
    }
    if capabilities.sets_columns {
        by_region::columns_are_set_alone(open);
        by_region::columns_set_by_threads_are_all_there(open);
    }
}

#[derive(Clone, Debug)]
enum Step {
    Put(Vec<Value>),
    Delete(i64, Option<&'static str>),
    Read { reverse: bool, columns: Vec<usize>, limit: Option<u64> },
}

fn step() -> impl Strategy<Value = Step> {
    let text = || prop_oneof![Just(None), Just(Some("a")), Just(Some("ab")), Just(Some("b"))];
    let int = || proptest::option::of(0i64..3);
    let put = (-3i64..4, text(), int(), text(), int()).prop_map(|(k, s, v, a, b)| Step::Put(row(k, s, v, a, b)));
    let delete = (-3i64..4, text()).prop_map(|(k, s)| Step::Delete(k, s));
    let columns = proptest::sample::subsequence(vec![0usize, 1, 2, 3, 4], 0..=5).prop_shuffle();
    let read = (any::<bool>(), columns, proptest::option::of(0u64..6))
        .prop_map(|(reverse, columns, limit)| Step::Read { reverse, columns, limit });
    prop_oneof![5 => put, 2 => delete, 2 => read]
}

fn rows_are_those_of_a_map(open: Open<'_>) {
    let config = Config::with_cases(Config::default().cases.div_ceil(4));
    let histories = (vec(step(), 1..60), prop_oneof![Just(0u16), Just(1), Just(7)], any::<bool>());
    let outcome = TestRunner::new(config).run(&histories, |(steps, salt, desc)| {
        let (store, table) = empty(open, table_def(salt, desc, None));
        let mut model: BTreeMap<Vec<u8>, Vec<Value>> = BTreeMap::new();
        for step in steps {
            looks_right(&*store, &table, &mut model, step, salt)?;
        }
        Ok(())
    });
    outcome.unwrap();
}

fn looks_right(
    store: &dyn TableStore,
    table: &Arc<Table>,
    model: &mut BTreeMap<Vec<u8>, Vec<Value>>,
    step: Step,
    salt: u16,
) -> Result<(), TestCaseError> {
    match step {
        Step::Put(row) => {
            let mut writes = store.batch();
            writes.put(table, &row).unwrap();
            writes.commit(Durability::Buffered).unwrap();
            let found = store.snapshot().unwrap().get(&Projection::all(table), &table.row_key(&row).unwrap()).unwrap();
            prop_assert_eq!(found.as_ref(), Some(&row));
            model.insert(table.codec().encode_logical(&row[..2]).unwrap(), row);
        }
        Step::Delete(k, s) => {
            let key = [Value::Int(k), s.map_or(Value::Null, Value::text)];
            let physical = table.codec().encode(&key).unwrap();
            let mut writes = store.batch();
            writes.delete(table, &physical).unwrap();
            writes.commit(Durability::Buffered).unwrap();
            prop_assert!(!store.snapshot().unwrap().contains(table, &physical).unwrap());
            model.remove(&table.codec().encode_logical(&key).unwrap());
        }
        Step::Read { reverse, columns, limit } => {
            let direction = if reverse { Direction::Reverse } else { Direction::Forward };
            let (context, route) = (context(), ScanRoute { direction, limit, ..everything() });
            let rows = read(store, table, &columns, route.clone(), &context);
            let mut expected: Vec<Vec<Value>> =
                model.values().map(|row| columns.iter().map(|&c| row[c].clone()).collect()).collect();
            if reverse {
                expected.reverse();
            }
            let all = expected.len();
            expected.truncate(limit.map_or(all, |n| n as usize));
            let keys_read = context.counters.keys_read.load(Ordering::Relaxed);
            let keys_most = limit.map_or(all as u64, |n| if n == 0 { 0 } else { n + u64::from(salt.max(1)) - 1 });
            prop_assert_eq!(&rows, &expected);
            prop_assert!(keys_read <= keys_most, "{} keys read", keys_read);
            // Rows without columns have no values to be counted by.
            if !columns.is_empty() {
                prop_assert_eq!(as_values(store, table, &columns, route), expected);
                let mut rows: Vec<&Vec<Value>> = model.values().collect();
                // Neither in key order nor against it.
                rows.rotate_left(all / 2);
                let keys: Vec<Vec<u8>> = rows.iter().map(|row| table.row_key(row).unwrap()).collect();
                let wanted: Vec<Value> =
                    rows.iter().flat_map(|row| columns.iter().map(|&c| row[c].clone()).collect::<Vec<_>>()).collect();
                prop_assert_eq!(values_of_keys(store, table, &columns, &keys), (all, wanted));
                let with_another = [&keys[..], &[[keys.concat(), vec![1]].concat()]].concat();
                prop_assert_eq!(values_of_keys(store, table, &columns, &with_another).0, all);
            }
            partials::partials_are_those_of_rows(store, table, &columns)?;
            short_ranges_are_those_of_scans(store, table, &columns, (direction, limit))?;
            let parts = in_parts(store, table, &columns);
            prop_assert_eq!(parts.len(), model.len());
            let in_any_order = ScanRoute { order: ScanOrder::Any, ..ScanRoute::of(KeySet::all()) };
            let sorted = |mut rows: Vec<Vec<Value>>| {
                rows.sort_by_key(|row| format!("{row:?}"));
                rows
            };
            prop_assert_eq!(sorted(read(store, table, &columns, in_any_order, &self::context())), sorted(parts));
        }
    }
    Ok(())
}

/// The rows returned by [`read`], as values.
fn as_values(store: &dyn TableStore, table: &Arc<Table>, columns: &[usize], route: ScanRoute) -> Vec<Vec<Value>> {
    let projection = Projection::new(table, columns.iter().copied());
    let mut scan = scan(store, table, columns, route, context());
    let (mut values, mut all) = (saltwing_expr::RowValues::new(columns.len()), Vec::new());
    while scan.next_values(&projection, &mut values).unwrap() {
        let row = |row: usize| (0..columns.len()).map(|column| values.column(column).nth(row).unwrap()).collect();
        all.extend((0..values.rows()).map(row).collect::<Vec<Vec<Value>>>());
        values.clear();
    }
    all
}

/// How many rows some keys have, and their values.
fn values_of_keys(
    store: &dyn TableStore,
    table: &Arc<Table>,
    columns: &[usize],
    keys: &[Vec<u8>],
) -> (usize, Vec<Value>) {
    let (projection, context) = (Projection::new(table, columns.iter().copied()), context());
    let mut values = saltwing_expr::RowValues::new(columns.len());
    let found = store.snapshot().unwrap().get_all(&projection, keys, &mut values, Some(&context)).unwrap();
    assert_eq!(values.rows(), found);
    assert_eq!(context.counters.keys_read.load(Ordering::Relaxed), found as u64);
    (found, values.values().collect())
}

/// A store may decline to read few rows at once. If it reads them, they are those of the scan.
fn short_ranges_are_those_of_scans(
    store: &dyn TableStore,
    table: &Arc<Table>,
    columns: &[usize],
    (direction, limit): (Direction, Option<u64>),
) -> Result<(), TestCaseError> {
    let projection = Projection::new(table, columns.iter().copied());
    for bucket in KeySet::all().buckets(&table.def().key) {
        let keys = BucketRange { bucket, range: KeyRange::all().in_bucket(bucket) };
        let mut values = saltwing_expr::RowValues::new(columns.len());
        let range = ShortRange { keys: &keys, direction, limit };
        if store.snapshot().unwrap().get_range(&projection, range, &mut values).unwrap().is_some() {
            let route = ScanRoute { direction, limit, ..ScanRoute::of(KeySet::Range(keys)) };
            let scanned = read(store, table, columns, route, &context()).concat();
            prop_assert_eq!(values.values().collect::<Vec<_>>(), scanned);
        }
    }
    Ok(())
}

/// All rows, read in parts.
fn in_parts(store: &dyn TableStore, table: &Arc<Table>, columns: &[usize]) -> Vec<Vec<Value>> {
    let snapshot = store.snapshot().unwrap();
    let whole = ScanRoute::of(KeySet::all());
    let parts = snapshot.split(table, &whole, SplitTarget { rows_each: 2, rows_min: 0 }).unwrap();
    let of_part = |route: ScanRoute| read(store, table, columns, route, &context());
    let parts = parts.iter().filter_map(|part| whole.within(&table.def().key, part));
    let rows: Vec<Vec<Value>> = parts.flat_map(of_part).collect();
    assert_eq!(rows, of_part(whole), "the parts, one after the other, are the whole");
    rows
}

fn a_snapshot_stays_as_it_was(open: Open<'_>) {
    let (store, table) = empty(open, table_def(3, false, None));
    put_all(&*store, &table, 0..100);
    let before = store.snapshot().unwrap();
    let mut scan = scan(&*store, &table, &[0], everything(), context());
    let mut writes = store.batch();
    for k in 0..100 {
        writes.delete(&table, table.codec().encode(&[Value::Int(k), Value::Null]).unwrap()).unwrap();
    }
    writes.commit(Durability::Buffered).unwrap();
    let mut seen = 0;
    while let Some((_, rows)) = scan.next_columns().unwrap() {
        seen += rows;
    }
    assert_eq!(seen, 100);
    assert!(before.contains(&table, &key_of(&table, 5)).unwrap());
    assert_eq!(read(&*store, &table, &[0], everything(), &context()).len(), 0);
}

fn the_first_committer_wins(open: Open<'_>) {
    let (store, table) = empty(open, table_def(0, false, None));
    let begin = |v| {
        let mut transaction = store.begin().unwrap();
        transaction.apply(&table, RowChange::put(&row(1, None, Some(v), None, None)), None).unwrap();
        transaction
    };
    let (first, second) = (begin(1), begin(2));
    first.commit(Durability::Synced).unwrap();
    assert!(matches!(second.commit(Durability::Synced), Err(TableError::Conflict { .. })));
    begin(3).commit(Durability::Synced).unwrap();
    assert_eq!(read(&*store, &table, &[2], everything(), &context()), [[Value::Int(3)]]);
}

fn claims_are_held_against_each_other(open: Open<'_>) {
    let (store, table) = empty(open, table_def(0, false, None));
    // Each writes a row of its own.
    let begin = |k: i64, claimed: i64| {
        let mut transaction = store.begin().unwrap();
        transaction.apply(&table, RowChange::put(&row(k, None, None, None, None)), None).unwrap();
        transaction.claim(&table, &key_of(&table, claimed));
        assert_eq!(transaction.rows(), 1, "a claim is no row");
        transaction
    };
    let (first, second, other) = (begin(1, 100), begin(2, 100), begin(3, 101));
    first.commit(Durability::Synced).unwrap();
    assert!(matches!(second.commit(Durability::Synced), Err(TableError::Conflict { .. })));
    other.commit(Durability::Synced).unwrap();
    // One that begins later knows what the first has written.
    begin(4, 100).commit(Durability::Synced).unwrap();
    // What is rolled back claims nothing.
    let (mut first, mut second) = (begin(5, 102), begin(6, 103));
    let savepoint = second.savepoint();
    second.claim(&table, &key_of(&table, 102));
    second.rollback_to(savepoint).unwrap();
    first.claim(&table, &key_of(&table, 102));
    first.commit(Durability::Synced).unwrap();
    second.commit(Durability::Synced).unwrap();
    // A claim writes no row.
    let keys = [1, 3, 4, 5, 6].map(|k| [Value::Int(k)]);
    assert_eq!(read(&*store, &table, &[0], everything(), &context()), keys);
}

fn parts_of_a_transaction_do_not_conflict(open: Open<'_>) {
    let (store, table) = empty(open, table_def(0, false, None));
    let put = |v: i64| row(1, None, Some(v), None, None);
    let mut transaction = store.begin().unwrap();
    for v in 1..4 {
        transaction.apply(&table, RowChange::put(&put(v)), None).unwrap();
        transaction.commit_part(Durability::Buffered).unwrap();
        let key = key_of(&table, 1);
        assert!(!transaction.snapshot().contains(&table, &key).unwrap(), "the snapshot is that of the beginning");
        assert_eq!(transaction.latest().get(&Projection::all(&table), &key).unwrap(), Some(put(v)));
    }
    put_all(&*store, &table, 1..2);
    transaction.apply(&table, RowChange::put(&put(9)), None).unwrap();
    assert!(matches!(transaction.commit(Durability::Buffered), Err(TableError::Conflict { .. })));
}

fn rows_expire(open: Open<'_>) {
    let clock = Arc::new(ManualClock::default());
    let store = open(clock.clone());
    let table = store.open_table(Table::new(Arc::new(table_def(0, false, Some(10)))).unwrap());
    let keys = || read(&*store, &table, &[0], everything(), &context()).len();
    put_all(&*store, &table, 1..2);
    clock.0.store(9_999, Ordering::Relaxed);
    let before = store.snapshot().unwrap();
    put_all(&*store, &table, 2..3);
    assert_eq!(keys(), 2);
    clock.0.store(10_000, Ordering::Relaxed);
    assert_eq!(keys(), 1);
    let old = key_of(&table, 1);
    assert!(!store.snapshot().unwrap().contains(&table, &old).unwrap());
    assert!(store.point(&Projection::all(&table), &old).unwrap().is_none());
    assert!(before.contains(&table, &old).unwrap(), "a snapshot has its time");
}

fn definitions_change(open: Open<'_>) {
    let (store, old) = empty(open, table_def(0, false, None));
    put_all(&*store, &old, 0..5);
    let (before, transaction) = (store.snapshot().unwrap(), store.begin().unwrap());
    let mut def = table_def(0, false, None);
    let (added, slot) = (ColumnDef { name: "w".into(), slot: 1, ..def.columns[2].clone() }, 5);
    def.columns.push(added);
    def.history.version += 1;
    let new = store.open_table(Table::new(Arc::new(def)).unwrap());
    for mut batch in [store.batch(), transaction] {
        batch.put(&old, row(1, None, Some(9), None, None)).unwrap();
        assert!(matches!(batch.commit(Durability::Buffered), Err(TableError::DefinitionChanged { .. })));
    }
    let key = key_of(&old, 3);
    assert_eq!(before.get(&Projection::all(&old), &key).unwrap().unwrap()[2], Value::Int(3));
    let after = store.snapshot().unwrap();
    assert!(matches!(after.get(&Projection::all(&old), &key), Err(TableError::DefinitionChanged { .. })));
    let row = after.get(&Projection::all(&new), &key).unwrap().unwrap();
    assert_eq!((&row[2], &row[slot]), (&Value::Int(3), &Value::Null));
    store.close_table(new.def().id);
    let mut late = store.batch();
    late.put(&new, row).unwrap();
    assert!(matches!(late.commit(Durability::Buffered), Err(TableError::DefinitionChanged { .. })));
}

fn budgets_and_cancel_stop_a_scan(open: Open<'_>) {
    let (store, table) = empty(open, table_def(0, false, None));
    put_all(&*store, &table, 0..5000);
    let run = |context: ScanContext| {
        let mut scan = scan(&*store, &table, &[0], everything(), context);
        loop {
            match scan.next_columns() {
                Ok(Some(_)) => {}
                Ok(None) => return None,
                Err(error) => return Some(error.code()),
            }
        }
    };
    assert_eq!(run(context()), None);
    let limited = |budget: Budget| run(ScanContext::new(budget));
    assert_eq!(limited(Budget { rows_max: Some(2000), ..Budget::default() }), Some(ErrorCode::BudgetExceeded));
    assert_eq!(limited(Budget { bytes_max: Some(1000), ..Budget::default() }), Some(ErrorCode::BudgetExceeded));
    let cancelled = context();
    cancelled.cancel();
    assert_eq!(run(cancelled), Some(ErrorCode::Cancelled));
}

fn row_ids_are_new(open: Open<'_>) {
    let (store, table) = empty(open, table_def(0, false, None));
    let (first, second) = (store.allocate_row_ids(&table, 10).unwrap(), store.allocate_row_ids(&table, 5).unwrap());
    assert_eq!((first.end - first.start, second.end - second.start), (10, 5));
    assert!(first.start > 0 && first.end <= second.start);
}

/// Threads that add to one row, each in transactions that are tried again after a conflict.
fn nothing_is_lost_between_threads(open: Open<'_>) {
    const THREADS: i64 = 4;
    const ADDED: i64 = 25;
    let (store, table) = empty(open, table_def(0, false, None));
    let (key, all) = (key_of(&table, 1), Projection::all(&table));
    let add = || loop {
        let mut transaction = store.begin().unwrap();
        let old = transaction.snapshot().get(&all, &key).unwrap();
        let sum = match old.as_ref().map(|row| &row[2]) {
            Some(Value::Int(sum)) => sum + 1,
            _ => 1,
        };
        let new = row(1, None, Some(sum), None, None);
        let old = old.as_deref().map_or(OldRow::Absent, OldRow::Present);
        transaction.apply(&table, RowChange::Put { new: &new, old, written_ms: None }, None).unwrap();
        match transaction.commit(Durability::Buffered) {
            Ok(_) => return,
            Err(TableError::Conflict { .. } | TableError::SnapshotTooOld) => {}
            Err(error) => panic!("{error}"),
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| (0..ADDED).for_each(|_| add()));
        }
    });
    assert_eq!(read(&*store, &table, &[2], everything(), &context()), [[Value::Int(THREADS * ADDED)]]);
}
