//! The table of the conformance suite, its rows, and how they are read.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use saltwing_expr::value_at;
use saltwing_types::table::TableHistory;
use saltwing_types::{
    ColumnDef, KeyColumn, KeySchema, KeySource, ObjectId, Salt, SortOrder, SqlType, TableDef, TableId, TableName, Value,
};

use crate::{
    Budget, Clock, Durability, KeySet, RowSource, ScanContext, ScanOrder, ScanRoute, ScanSpec, Table, TableStore,
};

/// Opens an empty store on a clock.
pub type Open<'a> = &'a dyn Fn(Arc<ManualClock>) -> Arc<dyn TableStore>;

/// A clock that stands where it is put, in milliseconds since 1970.
#[derive(Debug, Default)]
pub struct ManualClock(pub AtomicI64);

impl Clock for ManualClock {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Key `(k INTEGER [DESC], s VARCHAR)`, values v INTEGER and, in families of their own, f.a VARCHAR and g.b BIGINT.
pub fn table_def(salt: u16, desc: bool, ttl_s: Option<u64>) -> TableDef {
    let column = |name: &str, ty, family: Option<usize>| ColumnDef {
        name: name.into(),
        ty,
        nullable: name != "k",
        default: None,
        family,
        slot: 0,
        hidden: false,
        comment: None,
        absent: None,
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
        object_id: ObjectId::NEW,
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
        comment: None,
        checks: Vec::new(),
        indexes: Vec::new(),
    }
}

/// All rows, in the order of their keys.
pub fn everything() -> ScanRoute {
    ScanRoute { order: ScanOrder::Merged, ..ScanRoute::of(KeySet::all()) }
}

/// A scan of these columns of all rows that there are now.
pub fn scan(
    store: &dyn TableStore,
    table: &Arc<Table>,
    columns: &[usize],
    route: ScanRoute,
    context: ScanContext,
) -> Box<dyn RowSource> {
    let spec = ScanSpec::new(table, columns.to_vec(), Vec::new()).unwrap();
    store.snapshot().unwrap().scan(&spec, route, context).unwrap()
}

/// The rows that such a scan gives.
pub fn read(
    store: &dyn TableStore,
    table: &Arc<Table>,
    columns: &[usize],
    route: ScanRoute,
    context: &ScanContext,
) -> Vec<Vec<Value>> {
    rows_of(&mut *scan(store, table, columns, route, context.clone()), table, columns)
}

/// The rows that are left of a scan of these columns.
pub(super) fn rows_of(scan: &mut dyn RowSource, table: &Table, columns: &[usize]) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    while let Some(batch) = scan.next_batch().unwrap() {
        for row in 0..batch.num_rows() {
            let value = |(i, c): (usize, &usize)| value_at(batch.column(i), row, table.column_type(*c)).unwrap();
            rows.push(columns.iter().enumerate().map(value).collect());
        }
    }
    rows
}

/// A context without limits.
pub fn context() -> ScanContext {
    ScanContext::new(Budget::default())
}

/// A row of [`table_def`].
pub fn row(k: i64, s: Option<&str>, v: Option<i64>, a: Option<&str>, b: Option<i64>) -> Vec<Value> {
    let int = |v: Option<i64>| v.map_or(Value::Null, Value::Int);
    let text = |t: Option<&str>| t.map_or(Value::Null, Value::text);
    vec![Value::Int(k), text(s), int(v), text(a), int(b)]
}

/// An empty store with a table.
pub(super) fn empty(open: Open<'_>, def: TableDef) -> (Arc<dyn TableStore>, Arc<Table>) {
    let store = open(Arc::default());
    let table = store.open_table(Table::new(Arc::new(def)).unwrap());
    (store, table)
}

/// Writes a row for each of some keys.
pub(super) fn put_all(store: &dyn TableStore, table: &Arc<Table>, keys: impl Iterator<Item = i64>) {
    let mut batch = store.batch();
    keys.for_each(|k| batch.put(table, row(k, None, Some(k % 7), None, None)).unwrap());
    batch.commit(Durability::Buffered).unwrap();
}

/// The physical key of a row with a first column alone.
pub(super) fn key_of(table: &Table, k: i64) -> Vec<u8> {
    table.codec().encode(&[Value::Int(k), Value::Null]).unwrap().to_vec()
}
