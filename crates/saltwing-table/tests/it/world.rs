//! A database of one table beside its model.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use saltwing_access::{
    Budget, Direction, Durability, KeyRanges, KeySet, Projection, RowSource, ScanContext, ScanOrder, ScanRoute,
    ScanSpec, Snapshot, Table, TableError, TableStore, Total, Totals,
};
use saltwing_expr::{RowValues, value_at};
use saltwing_rowkey::KeyRange;
use saltwing_store::{Bytes, KeyBounds, MemoryStore, OrderedKv, Space};
use saltwing_table::{EmbeddedTables, LayoutOptions, Merging, TableStorage};
use saltwing_types::table::TableHistory;
use saltwing_types::{
    ColumnDef, ColumnRef, CompareOp, Expr, KeyColumn, KeySchema, KeySource, ObjectId, Salt, SortOrder, SqlType,
    TableDef, TableId, TableName, Value,
};

pub(crate) use saltwing_access::conformance::ManualClock;

/// The value columns: name, type, family.
pub(crate) const COLUMNS: [(&str, SqlType, usize); 8] = [
    ("i", SqlType::Integer, 0),
    ("t", SqlType::Varchar(None), 0),
    ("b", SqlType::Boolean, 0),
    ("d", SqlType::Double, 1),
    ("n", SqlType::Decimal(Some((10, 2))), 1),
    ("x", SqlType::Varbinary, 1),
    ("at", SqlType::Timestamp, 2),
    ("day", SqlType::Date, 2),
];

/// Key (k SMALLINT, s VARCHAR), value columns of many types in three families.
pub(crate) fn table(id: u32, salt: u16, ttl_s: Option<u64>) -> TableDef {
    let column = |name: &str, ty, family: Option<usize>, slot| ColumnDef {
        name: name.into(),
        ty,
        nullable: name != "k",
        default: None,
        family,
        slot,
        hidden: false,
        comment: None,
        absent: None,
    };
    let key = |column, name: &str, ty| KeyColumn {
        source: KeySource::Column(column),
        name: name.into(),
        ty,
        order: SortOrder::Asc,
        nullable: column == 1,
    };
    let mut columns = vec![column("k", SqlType::SmallInt, None, 0), column("s", SqlType::Varchar(None), None, 0)];
    let mut slots = [0; 3];
    for (name, ty, family) in COLUMNS {
        columns.push(column(name, ty, Some(family), slots[family]));
        slots[family] += 1;
    }
    TableDef {
        id: TableId(id),
        object_id: ObjectId::NEW,
        name: TableName::bare("t"),
        columns,
        key: KeySchema {
            columns: vec![key(0, "k", SqlType::SmallInt), key(1, "s", SqlType::Varchar(None))],
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

/// The same with the key (s VARCHAR, k SMALLINT DESC): it ends in a column of fixed width.
pub(crate) fn tailed(def: TableDef) -> TableDef {
    let mut columns = def.key.columns.clone();
    columns.reverse();
    columns[1].order = SortOrder::Desc;
    TableDef { key: KeySchema { columns, ..def.key }, ..def }
}

pub(crate) fn is_tailed(def: &TableDef) -> bool {
    def.key.columns[0].column() == Some(1)
}

pub(crate) type Rows = BTreeMap<Vec<u8>, Vec<Value>>;

pub(crate) type OpenFiles = Box<dyn Fn() -> Arc<dyn OrderedKv> + Send + Sync>;

/// A database of one table, its model, and the views taken of both.
pub(crate) struct World {
    pub(crate) kv: Arc<dyn OrderedKv>,
    /// Opens the store anew, where it has files.
    open_files: Option<OpenFiles>,
    pub(crate) options: LayoutOptions,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) def: Arc<TableDef>,
    pub(crate) store: EmbeddedTables,
    pub(crate) table: Arc<Table>,
    pub(crate) rows: Rows,
    pub(crate) views: Vec<(Arc<dyn Snapshot>, Rows)>,
    /// Rows written into runs, and blocks written anew with theirs, before the last opening.
    run_work: (u64, u64),
}

impl World {
    pub(crate) fn open(kv: Arc<dyn OrderedKv>, options: LayoutOptions, def: TableDef) -> Result<Self, TableError> {
        let clock = Arc::new(ManualClock::default());
        let def = Arc::new(def);
        let store = EmbeddedTables::open_with(kv.clone(), clock.clone(), options.clone())?;
        let table = store.open_table(Table::new(def.clone())?);
        let (open_files, rows, views) = (None, Rows::new(), Vec::new());
        Ok(Self { kv, open_files, options, clock, def, store, table, rows, views, run_work: (0, 0) })
    }

    /// On a store with files, which a reopening opens anew.
    pub(crate) fn open_files(open: OpenFiles, options: LayoutOptions, def: TableDef) -> Result<Self, TableError> {
        let world = Self::open(open(), options, def)?;
        Ok(Self { open_files: Some(open), ..world })
    }

    pub(crate) fn reopen(&mut self) -> Result<(), TableError> {
        self.views.clear();
        self.run_work = self.run_work();
        // The one before is closed first: its thread may be merging.
        self.store = EmbeddedTables::open(Arc::new(MemoryStore::new()), self.clock.clone())?;
        if let Some(open) = &self.open_files {
            self.kv = Arc::new(MemoryStore::new());
            self.kv = open();
        }
        self.store = EmbeddedTables::open_with(self.kv.clone(), self.clock.clone(), self.options.clone())?;
        self.table = self.store.open_table(Table::new(self.def.clone())?);
        Ok(())
    }

    /// The values of a row's key columns in key order.
    pub(crate) fn key(&self, row: &[Value]) -> Vec<Value> {
        self.def.key.columns.iter().map(|k| row[k.column().unwrap()].clone()).collect()
    }

    pub(crate) fn physical(&self, row: &[Value]) -> Vec<u8> {
        self.table.codec().encode(&self.key(row)).unwrap()
    }

    pub(crate) fn logical(&self, row: &[Value]) -> Vec<u8> {
        self.table.codec().encode_logical(&self.key(row)).unwrap()
    }

    /// The rows after a commit, if it is made.
    pub(crate) fn commit(&mut self, changes: &[(Vec<Value>, bool)]) -> Result<(), TableError> {
        let mut writes = self.store.batch();
        let mut rows = self.rows.clone();
        for (row, alive) in changes {
            if *alive {
                writes.put(&self.table, row.clone()).unwrap();
                rows.insert(self.logical(row), row.clone());
            } else {
                writes.delete(&self.table, self.physical(row)).unwrap();
                rows.remove(&self.logical(row));
            }
        }
        writes.commit(Durability::Buffered)?;
        self.rows = rows;
        Ok(())
    }

    /// All rows as the table has them now.
    pub(crate) fn read_all(&self) -> Result<Rows, TableError> {
        rows_of(self, &self.table)
    }
}

/// All rows of a table that is like that of the world.
pub(crate) fn rows_of(world: &World, table: &Arc<Table>) -> Result<Rows, TableError> {
    let columns: Vec<usize> = (0..world.def.columns.len()).collect();
    let request = request(table, columns);
    let rows = batches(scan_of(table, world.store.snapshot()?, &request, request.context.clone())?, &request, table)?;
    Ok(rows.into_iter().map(|row| (world.logical(&row), row)).collect())
}

pub(crate) struct Request {
    pub(crate) ranges: KeyRanges,
    pub(crate) columns: Vec<usize>,
    pub(crate) filter: Vec<Expr>,
    pub(crate) direction: Direction,
    pub(crate) order: ScanOrder,
    pub(crate) limit: Option<u64>,
    pub(crate) context: ScanContext,
}

pub(crate) fn request(_: &Table, columns: Vec<usize>) -> Request {
    Request {
        ranges: KeyRanges::from_iter([KeyRange::all()]),
        columns,
        filter: Vec::new(),
        direction: Direction::Forward,
        order: ScanOrder::Merged,
        limit: None,
        context: ScanContext::new(Budget::default()),
    }
}

fn scan(
    world: &World,
    view: Arc<dyn Snapshot>,
    request: &Request,
    context: ScanContext,
) -> Result<Box<dyn RowSource>, TableError> {
    scan_of(&world.table, view, request, context)
}

fn scan_of(
    table: &Arc<Table>,
    view: Arc<dyn Snapshot>,
    request: &Request,
    context: ScanContext,
) -> Result<Box<dyn RowSource>, TableError> {
    let Request { ranges, columns, filter, direction, order, limit, .. } = request;
    let spec = ScanSpec::new(table, columns.clone(), filter.clone())?;
    let keys = KeySet::everywhere(ranges.clone());
    let (direction, order, limit) = (*direction, *order, *limit);
    view.scan(&spec, ScanRoute { keys, direction, order, limit, first_batch: None }, context)
}

/// The rows of a request as values, without batches.
pub(crate) fn read_values(world: &World, view: Arc<dyn Snapshot>, request: &Request) -> Result<Vec<Value>, TableError> {
    let columns = Projection::new(&world.table, request.columns.iter().copied());
    let mut scan = scan(world, view, request, request.context.for_another_scan())?;
    let (mut values, mut all) = (RowValues::new(request.columns.len()), Vec::new());
    while scan.next_values(&columns, &mut values)? {
        all.extend(values.values());
        values.clear();
    }
    Ok(all)
}

pub(crate) fn totals(world: &World, view: Arc<dyn Snapshot>, request: &Request) -> Result<Totals, TableError> {
    totals_in(world, view, request, &request.context.for_another_scan())
}

/// As [`totals`], counted in a context.
pub(crate) fn totals_in(
    world: &World,
    view: Arc<dyn Snapshot>,
    request: &Request,
    context: &ScanContext,
) -> Result<Totals, TableError> {
    let totals = scan(world, view, request, context.clone())?.totals()?;
    if request.filter.is_empty() {
        assert_eq!(context.counters.keys_read.load(Ordering::Relaxed), totals.rows, "what is passed over counts");
    }
    Ok(totals)
}

/// What the rows that a request found have together.
pub(crate) fn totals_of(table: &Table, columns: &[usize], found: &[Vec<Value>]) -> Totals {
    let total = |(place, column): (usize, &usize)| {
        let values = || found.iter().map(|row| &row[place]).filter(|value| !value.is_null());
        let is_integer = table.column_type(*column).is_integer();
        let int = |value: &Value| if let (true, Value::Int(n)) = (is_integer, value) { i128::from(*n) } else { 0 };
        Total { known: values().count() as u64, sum: values().map(int).sum() }
    };
    Totals { rows: found.len() as u64, columns: columns.iter().enumerate().map(total).collect() }
}

pub(crate) fn read(world: &World, view: Arc<dyn Snapshot>, request: &Request) -> Result<Vec<Vec<Value>>, TableError> {
    batches(scan(world, view, request, request.context.clone())?, request, &world.table)
}

fn batches(mut scan: Box<dyn RowSource>, request: &Request, table: &Table) -> Result<Vec<Vec<Value>>, TableError> {
    let mut rows = Vec::new();
    while let Some(batch) = scan.next_batch()? {
        for row in 0..batch.num_rows() {
            let value = |(i, c): (usize, &usize)| value_at(batch.column(i), row, table.column_type(*c)).unwrap();
            rows.push(request.columns.iter().enumerate().map(value).collect());
        }
    }
    Ok(rows)
}

impl World {
    /// After a merge, without a view: what the store has is what the rows need.
    pub(crate) fn assert_nothing_is_left_over(&self) {
        self.assert_all_is_named();
        // Rows in runs hide some of blocks, with their long values.
        self.compact();
        let (steps, blocks) = (self.storage().merge_steps, self.storage().blocks);
        self.compact();
        assert_eq!((self.storage().merge_steps, self.storage().blocks), (steps, blocks), "what was compacted fits");
        assert_eq!(self.read_all().unwrap(), self.rows);
        self.assert_all_is_named();
        let storage = self.storage();
        assert_eq!((storage.runs, storage.run_rows, storage.run_bytes), (0, 0, 0));
        let is_far = |value: &&Value| match value {
            Value::Text(text) => text.len() >= self.options.value_bytes,
            Value::Bytes(bytes) => bytes.len() >= self.options.value_bytes,
            _ => false,
        };
        let values = self.rows.values().flat_map(|row| row.iter().skip(2)).filter(is_far).count();
        assert_eq!(self.keys(9).len(), values, "values that lie by themselves");
    }

    /// What the store has is named, and nothing waits for being deleted.
    fn assert_all_is_named(&self) {
        let [even, odd, named, replaced] = [2, 3, 4, 7].map(|id| self.keys(id).len());
        assert_eq!((even, odd, replaced), (0, 0, 0), "deltas, and what was replaced");
        let stored = self.keys(5).iter().filter(|key| key.last() == Some(&0)).count();
        assert_eq!(stored, named, "blocks and runs");
        let storage = self.storage();
        assert_eq!(storage.blocks + storage.runs, named as u64);
    }

    pub(crate) fn compact(&self) {
        self.store.compact(self.def.id, &ScanContext::new(Budget::default())).unwrap();
    }

    /// Rows written into runs so far, and how often a block was written anew with theirs.
    pub(crate) fn run_work(&self) -> (u64, u64) {
        // There is no table after an opening that failed.
        let tables = self.store.storage_stats().tables;
        let (rows, folds) = tables.first().map_or((0, 0), |storage| (storage.run_rows_written, storage.folds));
        (self.run_work.0 + rows, self.run_work.1 + folds)
    }

    pub(crate) fn storage(&self) -> TableStorage {
        self.store.storage_stats().tables.remove(0)
    }

    pub(crate) fn keys(&self, id: u8) -> Vec<Bytes> {
        let mut cursor = self.kv.cursor(Space::new(id), KeyBounds::all(), Direction::Forward).unwrap();
        std::iter::from_fn(|| cursor.next().unwrap()).map(|(key, _)| key).collect()
    }
}

/// Column `i` above a number.
pub(crate) fn more_than(number: i64) -> Expr {
    compared(2, CompareOp::Gt, Value::Int(number))
}

/// A value column, by index in the row, compared with a value of its type.
pub(crate) fn compared(index: usize, op: CompareOp, value: Value) -> Expr {
    let (name, ty, _) = COLUMNS[index - 2];
    let column = ColumnRef { index, name: name.into(), ty, nullable: true, span: None };
    Expr::Compare(op, Box::new(Expr::Column(column)), Box::new(Expr::Literal(value, ty)))
}

pub(crate) fn plain_row(k: i64, i: i64) -> Vec<Value> {
    let mut row = vec![Value::Null; 10];
    row[0] = Value::Int(k);
    row[2] = Value::Int(i);
    row
}

pub(crate) fn put_all(world: &mut World, rows: impl Iterator<Item = (i64, i64)>) {
    let changes: Vec<_> = rows.map(|(k, i)| (plain_row(k, i), true)).collect();
    world.commit(&changes).unwrap();
}

/// Blocks alone: what is counted of them does not hang on runs.
pub(crate) fn thread_options() -> LayoutOptions {
    LayoutOptions { merging: Merging::Background, run_deltas: u64::MAX, ..LayoutOptions::tiny() }
}

/// Blocks of 16 rows and deltas of 4: entries have up to three runs.
pub(crate) fn run_options() -> LayoutOptions {
    LayoutOptions { block_rows: 16, delta_rows: 4, run_share: 4, ..LayoutOptions::tiny() }
}
