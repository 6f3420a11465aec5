//! What the storage of this process does beyond what every store does.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use saltwing_access::conformance::{self, ManualClock, context, everything, read, row, scan, table_def};
use saltwing_access::{
    Budget, Direction, Durability, KeyRanges, KeySet, Projection, ScanContext, ScanRoute, Table, TableStore,
};
use saltwing_rowkey::KeyRange;
use saltwing_store::MemoryStore;
use saltwing_table::{EmbeddedTables, LayoutOptions};
use saltwing_types::{ColumnDef, KeyColumn, KeySchema, KeySource, Salt, SortOrder, SqlType, TableDef, Value};

#[test]
fn the_storage_conforms() {
    conformance::check(&|clock| Arc::new(EmbeddedTables::open(Arc::new(MemoryStore::new()), clock).unwrap()));
}

#[test]
fn the_storage_conforms_with_tiny_blocks() {
    let open = |clock| EmbeddedTables::open_with(Arc::new(MemoryStore::new()), clock, LayoutOptions::tiny()).unwrap();
    conformance::check(&|clock| Arc::new(open(clock)));
}

fn in_ranges(ranges: impl IntoIterator<Item = KeyRange>) -> KeySet {
    KeySet::everywhere(KeyRanges::from_iter(ranges))
}

#[test]
fn rows_expire_and_their_space_comes_back() {
    let clock = Arc::new(ManualClock::default());
    let store = EmbeddedTables::open(Arc::new(MemoryStore::new()), clock.clone()).unwrap();
    let table = store.open_table(Table::new(Arc::new(table_def(0, false, Some(10)))).unwrap());
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
fn row_ids_go_on_after_reopening() {
    let kv: Arc<MemoryStore> = Arc::new(MemoryStore::new());
    let def = Arc::new(TableDef {
        columns: table_def(0, false, None)
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
        ..table_def(0, false, None)
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
        let table = store.open_table(Table::new(Arc::new(table_def(salt, false, None))).unwrap());
        let mut writes = store.batch();
        // Two next to each other, one after all ranges, one beside a point.
        for (k, s) in [(5, None), (40_000, None), (40_001, None), (70_000, Some("a")), (99_999, None), (200_000, None)]
        {
            writes.put(&table, row(k, s, Some(0), None, None)).unwrap();
        }
        writes.commit(Durability::Buffered).unwrap();
        let logical = |k| table.codec().encode_logical(&[Value::Int(k), Value::Null]).unwrap();
        let points: Vec<KeyRange> = (0..100_000).map(|k| KeyRange::point(logical(k))).collect();
        let direction = if reverse { Direction::Reverse } else { Direction::Forward };
        let context = context();
        let route = ScanRoute { keys: in_ranges(points), direction, ..everything() };
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

#[test]
fn a_scan_that_finds_nothing_stops_in_time() {
    let store = EmbeddedTables::open(Arc::new(MemoryStore::new()), Arc::new(ManualClock::default())).unwrap();
    let table = store.open_table(Table::new(Arc::new(table_def(0, false, None))).unwrap());
    let mut writes = store.batch();
    writes.put(&table, row(1_000_000, None, Some(0), None, None)).unwrap();
    writes.commit(Durability::Buffered).unwrap();
    let absent = |k| KeyRange::point(table.codec().encode_logical(&[Value::Int(k), Value::Null]).unwrap());
    let route = ScanRoute { keys: in_ranges((0..1_000_000).map(absent)), ..everything() };
    let context = ScanContext::new(Budget { time_max: Some(std::time::Duration::from_millis(2)), ..Budget::default() });
    let mut scan = scan(&store, &table, &[0], route, context);
    assert_eq!(scan.next_batch().unwrap_err().code().as_str(), "timeout");
}
