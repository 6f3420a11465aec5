//! Random histories of rows against a map, on tables of several shapes.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use proptest::prelude::*;
use saltwing_access::{
    Buckets, Budget, Direction, Durability, KeySet, Projection, RangeIter, RangeSource, RangeWalk, RowChange,
    RowSource, ScanContext, ScanOrder, ScanRoute, ScanSpec, Table, TableStore,
};
use saltwing_expr::value_at;
use saltwing_rowkey::KeyRange;
use saltwing_store::MemoryStore;
use saltwing_table::EmbeddedTables;
use saltwing_types::table::TableHistory;
use saltwing_types::{
    ColumnDef, KeyColumn, KeySchema, KeySource, Salt, SortOrder, SqlType, TableDef, TableId, TableName, Value,
};
use support::{ManualClock, Ranges};

/// Key (k INTEGER [DESC], s VARCHAR), values v INTEGER and, in families of their own, f.a VARCHAR and g.b BIGINT.
fn table(salt: u16, desc: bool, ttl_s: Option<u64>) -> TableDef {
    let column = |name: &str, ty, family: Option<usize>| ColumnDef {
        name: name.into(),
        ty,
        nullable: name != "k",
        default: None,
        family,
        slot: 0,
        hidden: false,
    };
    let key = |column, name: &str, ty, order| KeyColumn {
        source: KeySource::Column(column),
        name: name.into(),
        ty,
        order,
        nullable: column == 1,
    };
    TableDef {
        id: TableId(100),
        name: TableName::bare("t"),
        columns: vec![
            column("k", SqlType::Integer, None),
            column("s", SqlType::Varchar(None), None),
            column("v", SqlType::Integer, Some(0)),
            column("a", SqlType::Varchar(None), Some(1)),
            column("b", SqlType::BigInt, Some(2)),
        ],
        key: KeySchema {
            columns: vec![
                key(0, "k", SqlType::Integer, if desc { SortOrder::Desc } else { SortOrder::Asc }),
                key(1, "s", SqlType::Varchar(None), SortOrder::Asc),
            ],
            salt: (salt > 0).then_some(Salt { buckets: salt, by: None }),
        },
        key_name: None,
        families: vec![None, Some("f".into()), Some("g".into())],
        ttl_s,
        options: Vec::new(),
        history: TableHistory::default(),
    }
}

/// All rows, in the order of their keys.
fn everything() -> ScanRoute {
    ScanRoute { order: ScanOrder::Merged, ..ScanRoute::of(KeySet::all()) }
}

fn in_ranges(ranges: impl RangeSource + 'static) -> KeySet {
    KeySet::Ranges { ranges: Arc::new(ranges), buckets: Buckets::All }
}

fn scan(
    store: &EmbeddedTables,
    table: &Arc<Table>,
    columns: &[usize],
    route: ScanRoute,
    context: ScanContext,
) -> Box<dyn RowSource> {
    let spec = ScanSpec::new(table, columns.to_vec(), Vec::new()).unwrap();
    store.snapshot().unwrap().scan(&spec, route, context).unwrap()
}

fn read(
    store: &EmbeddedTables,
    table: &Arc<Table>,
    columns: &[usize],
    route: ScanRoute,
    context: &ScanContext,
) -> Vec<Vec<Value>> {
    let mut scan = scan(store, table, columns, route, context.clone());
    let mut rows = Vec::new();
    while let Some(batch) = scan.next_batch().unwrap() {
        for row in 0..batch.num_rows() {
            let value = |(i, c): (usize, &usize)| value_at(batch.column(i), row, table.column_type(*c)).unwrap();
            rows.push(columns.iter().enumerate().map(value).collect());
        }
    }
    rows
}

fn context() -> ScanContext {
    ScanContext::new(Budget::default())
}

fn row(k: i64, s: Option<&str>, v: Option<i64>, a: Option<&str>, b: Option<i64>) -> Vec<Value> {
    let int = |v: Option<i64>| v.map_or(Value::Null, Value::Int);
    let text = |t: Option<&str>| t.map_or(Value::Null, Value::text);
    vec![Value::Int(k), text(s), int(v), text(a), int(b)]
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(4)))]
    #[test]
    fn rows_are_those_of_a_map(
        steps in proptest::collection::vec(step(), 1..60),
        salt in prop_oneof![Just(0u16), Just(1), Just(7)],
        desc in any::<bool>(),
    ) {
        let store = EmbeddedTables::open(Arc::new(MemoryStore::new()), Arc::new(ManualClock::default())).unwrap();
        let table = store.open_table(Table::new(Arc::new(table(salt, desc, None))).unwrap());
        let mut model: BTreeMap<Vec<u8>, Vec<Value>> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Put(row) => {
                    let mut writes = store.batch();
                    writes.put(&table, row.clone()).unwrap();
                    writes.commit(Durability::Buffered).unwrap();
                    model.insert(table.codec().encode_logical(&row[..2]).unwrap(), row);
                }
                Step::Delete(k, s) => {
                    let key = [Value::Int(k), s.map_or(Value::Null, Value::text)];
                    let mut writes = store.batch();
                    writes.delete(&table, table.codec().encode(&key).unwrap()).unwrap();
                    writes.commit(Durability::Buffered).unwrap();
                    model.remove(&table.codec().encode_logical(&key).unwrap());
                }
                Step::Read { reverse, columns, limit } => {
                    let direction = if reverse { Direction::Reverse } else { Direction::Forward };
                    let context = context();
                    let rows = read(&store, &table, &columns, ScanRoute { direction, limit, ..everything() }, &context);
                    let mut expected: Vec<Vec<Value>> =
                        model.values().map(|row| columns.iter().map(|&c| row[c].clone()).collect()).collect();
                    if reverse {
                        expected.reverse();
                    }
                    let all = expected.len();
                    expected.truncate(limit.map_or(all, |n| n as usize));
                    let keys_read = context.counters.keys_read.load(Ordering::Relaxed);
                    let keys_most = limit.map_or(all as u64, |n| if n == 0 { 0 } else { n + u64::from(salt.max(1)) - 1 });
                    prop_assert_eq!(rows, expected);
                    prop_assert!(keys_read <= keys_most, "{} keys read", keys_read);
                }
            }
        }
    }
}

#[test]
fn rows_expire_and_their_space_comes_back() {
    let clock = Arc::new(ManualClock::default());
    let store = EmbeddedTables::open(Arc::new(MemoryStore::new()), clock.clone()).unwrap();
    let table = store.open_table(Table::new(Arc::new(table(0, false, Some(10)))).unwrap());
    let put = |k: i64| {
        let mut writes = store.batch();
        let row = row(k, None, Some(1), Some("x"), Some(2));
        writes.put(&table, &row).unwrap();
        writes.commit(Durability::Buffered).unwrap();
        table.row_key(&row).unwrap()
    };
    let keys = || read(&store, &table, &[0], everything(), &context()).len();
    let old = put(1);
    clock.0.store(9_999, Ordering::Relaxed);
    put(2);
    assert_eq!(keys(), 2);
    clock.0.store(10_000, Ordering::Relaxed);
    assert_eq!(keys(), 1);
    assert!(store.snapshot().unwrap().get(&Projection::all(&table), &old).unwrap().is_none());
    put(1);
    assert_eq!(store.sweep().unwrap(), 0, "a row that was written anew is not swept");
    clock.0.store(20_000, Ordering::Relaxed);
    assert_eq!(store.sweep().unwrap(), 2);
    assert_eq!(store.sweep().unwrap(), 0);
    assert_eq!(keys(), 0);
}

#[test]
fn the_first_committer_wins() {
    let store = EmbeddedTables::open(Arc::new(MemoryStore::new()), Arc::new(ManualClock::default())).unwrap();
    let table = store.open_table(Table::new(Arc::new(table(0, false, None))).unwrap());
    let begin = |v| {
        let mut transaction = store.begin().unwrap();
        transaction.apply(&table, &[RowChange::put(&row(1, None, Some(v), None, None))], None).unwrap();
        transaction
    };
    let (first, second) = (begin(1), begin(2));
    first.commit(Durability::Synced).unwrap();
    let error = second.commit(Durability::Synced).unwrap_err();
    assert_eq!(error.code().as_str(), "conflict");
    begin(3).commit(Durability::Synced).unwrap();
    assert_eq!(read(&store, &table, &[2], everything(), &context()), [[Value::Int(3)]]);
}

#[test]
fn a_view_stays_as_it_was() {
    let store = EmbeddedTables::open(Arc::new(MemoryStore::new()), Arc::new(ManualClock::default())).unwrap();
    let table = store.open_table(Table::new(Arc::new(table(3, false, None))).unwrap());
    let mut writes = store.batch();
    (0..100).for_each(|k| {
        writes.put(&table, row(k, None, Some(0), None, None)).unwrap();
    });
    writes.commit(Durability::Buffered).unwrap();
    let mut scan = scan(&store, &table, &[0], everything(), context());
    let mut writes = store.batch();
    for k in 0..100 {
        writes.delete(&table, table.codec().encode(&[Value::Int(k), Value::Null]).unwrap()).unwrap();
    }
    writes.commit(Durability::Buffered).unwrap();
    assert_eq!(scan.next_batch().unwrap().unwrap().num_rows(), 100);
    assert_eq!(read(&store, &table, &[0], everything(), &context()).len(), 0);
}

#[test]
fn budgets_and_cancel_stop_a_scan() {
    let store = EmbeddedTables::open(Arc::new(MemoryStore::new()), Arc::new(ManualClock::default())).unwrap();
    let table = store.open_table(Table::new(Arc::new(table(0, false, None))).unwrap());
    let mut writes = store.batch();
    (0..5000).for_each(|k| {
        writes.put(&table, row(k, None, Some(0), None, None)).unwrap();
    });
    writes.commit(Durability::Buffered).unwrap();
    let run = |context: ScanContext| {
        let mut scan = scan(&store, &table, &[0], everything(), context);
        scan.next_batch().map(|_| ()).map_err(|error| error.code().as_str())
    };
    assert_eq!(run(context()), Ok(()));
    assert_eq!(run(ScanContext::new(Budget { rows_max: Some(2000), ..Budget::default() })), Err("budget_exceeded"));
    assert_eq!(run(ScanContext::new(Budget { bytes_max: Some(1000), ..Budget::default() })), Err("budget_exceeded"));
    assert_eq!(
        run(ScanContext::new(Budget { time_max: Some(std::time::Duration::ZERO), ..Budget::default() })),
        Err("timeout")
    );
    let cancelled = context();
    cancelled.cancel();
    assert_eq!(run(cancelled), Err("cancelled"));
}

#[test]
fn row_ids_go_on_after_reopening() {
    let kv: Arc<MemoryStore> = Arc::new(MemoryStore::new());
    let def = Arc::new(TableDef {
        columns: table(0, false, None)
            .columns
            .into_iter()
            .take(1)
            .map(|c| ColumnDef { ty: SqlType::BigInt, ..c })
            .collect(),
        key: KeySchema {
            columns: vec![KeyColumn {
                source: KeySource::Column(0),
                name: "k".into(),
                ty: SqlType::BigInt,
                order: SortOrder::Asc,
                nullable: false,
            }],
            salt: Some(Salt { buckets: 4, by: None }),
        },
        ..table(0, false, None)
    });
    for start in [1, 11, 21] {
        let store = EmbeddedTables::open(kv.clone(), Arc::new(ManualClock::default())).unwrap();
        let table = store.open_table(Table::new(def.clone()).unwrap());
        let ids = store.allocate_row_ids(&table, 10).unwrap();
        assert_eq!(ids, start..start + 10);
        let mut writes = store.batch();
        ids.for_each(|id| {
            writes.put(&table, vec![Value::Int(id)]).unwrap();
        });
        writes.commit(Durability::Buffered).unwrap();
    }
}

#[test]
fn long_lists_of_absent_keys_cost_what_the_rows_cost() {
    for (salt, reverse) in [(0, false), (0, true), (3, false), (3, true)] {
        let store = EmbeddedTables::open(Arc::new(MemoryStore::new()), Arc::new(ManualClock::default())).unwrap();
        let table = store.open_table(Table::new(Arc::new(table(salt, false, None))).unwrap());
        let mut writes = store.batch();
        // Two next to each other, one behind all ranges, one beside a point.
        for (k, s) in [(5, None), (40_000, None), (40_001, None), (70_000, Some("a")), (99_999, None), (200_000, None)]
        {
            writes.put(&table, row(k, s, Some(0), None, None)).unwrap();
        }
        writes.commit(Durability::Buffered).unwrap();
        let logical = |k| table.codec().encode_logical(&[Value::Int(k), Value::Null]).unwrap();
        let points: Vec<KeyRange> = (0..100_000).map(|k| KeyRange::point(logical(k))).collect();
        let direction = if reverse { Direction::Reverse } else { Direction::Forward };
        let context = context();
        let route = ScanRoute { keys: in_ranges(Ranges(points)), direction, ..everything() };
        let rows = read(&store, &table, &[0], route, &context);
        let mut expected: Vec<_> = [5, 40_000, 40_001, 99_999].map(|k| vec![Value::Int(k)]).into();
        if reverse {
            expected.reverse();
        }
        assert_eq!(rows, expected);
        let seeks = context.counters.seeks.load(Ordering::Relaxed);
        assert!(seeks < 8 * 1030 * u64::from(salt.max(1)), "{seeks} seeks, salt {salt}");
    }
}

/// The same range for ever.
struct Endless(KeyRange);

impl Iterator for Endless {
    type Item = KeyRange;

    fn next(&mut self) -> Option<KeyRange> {
        Some(self.0.clone())
    }
}

impl RangeWalk for Endless {}

impl RangeSource for Endless {
    fn ranges(&self, _bucket: Option<u8>, _direction: Direction) -> RangeIter {
        Box::new(Endless(self.0.clone()))
    }
}

#[test]
fn a_scan_that_finds_nothing_stops_in_time() {
    let store = EmbeddedTables::open(Arc::new(MemoryStore::new()), Arc::new(ManualClock::default())).unwrap();
    let table = store.open_table(Table::new(Arc::new(table(0, false, None))).unwrap());
    let mut writes = store.batch();
    writes.put(&table, row(1, None, Some(0), None, None)).unwrap();
    writes.commit(Durability::Buffered).unwrap();
    let absent = KeyRange::point(table.codec().encode_logical(&[Value::Int(0), Value::Null]).unwrap());
    let context =
        ScanContext::new(Budget { time_max: Some(std::time::Duration::from_millis(20)), ..Budget::default() });
    let route = ScanRoute { keys: in_ranges(Endless(absent)), ..everything() };
    let mut scan = scan(&store, &table, &[0], route, context);
    assert_eq!(scan.next_batch().unwrap_err().code().as_str(), "timeout");
}
