//! The packed layout against a map: random histories with merges and reopenings at any
//! moment, old views, and a fault in every write and every read of the store.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use proptest::prelude::*;
use saltwing_expr::value_at;
use saltwing_rowkey::KeyRange;
use saltwing_store::fault::{Fault, FaultStore};
use saltwing_store::{MemoryStore, OrderedKv};
use saltwing_table::{
    Buckets, Budget, Clock, Direction, Durability, EmbeddedTables, LayoutOptions, Merging, RangeIter, RangeSource,
    ReadView, ScanContext, ScanOrder, ScanRequest, Table, TableError, WriteSet,
};
use saltwing_types::value::Timestamp;
use saltwing_types::{
    ColumnDef, ColumnRef, CompareOp, Expr, KeyColumn, KeySchema, KeySource, Salt, SortOrder, SqlType, TableDef,
    TableId, TableName, Value,
};

#[derive(Default)]
struct ManualClock(AtomicI64);

impl Clock for ManualClock {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The value columns: name, type, family.
const COLUMNS: [(&str, SqlType, usize); 8] = [
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
fn table(id: u32, salt: u16, ttl_s: Option<u64>) -> TableDef {
    let column = |name: &str, ty, family: Option<usize>, slot| ColumnDef {
        name: name.into(),
        ty,
        nullable: name != "k",
        default: None,
        family,
        slot,
        hidden: false,
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
    }
}

/// The same with the key (s VARCHAR, k SMALLINT DESC): it ends in a column of fixed width.
fn tailed(def: TableDef) -> TableDef {
    let mut columns = def.key.columns.clone();
    columns.reverse();
    columns[1].order = SortOrder::Desc;
    TableDef { key: KeySchema { columns, ..def.key }, ..def }
}

fn is_tailed(def: &TableDef) -> bool {
    def.key.columns[0].column() == Some(1)
}

struct Ranges(Vec<KeyRange>);

impl RangeSource for Ranges {
    fn ranges(&self, _bucket: Option<u8>, direction: Direction) -> RangeIter {
        let list = self.0.clone();
        match direction {
            Direction::Forward => Box::new(list.into_iter()),
            Direction::Reverse => Box::new(list.into_iter().rev()),
        }
    }
}

type Rows = BTreeMap<Vec<u8>, Vec<Value>>;

/// A database of one table, its model, and the views taken of both.
struct World {
    kv: Arc<dyn OrderedKv>,
    options: LayoutOptions,
    clock: Arc<ManualClock>,
    def: Arc<TableDef>,
    store: EmbeddedTables,
    table: Arc<Table>,
    rows: Rows,
    views: Vec<(Arc<ReadView>, Rows)>,
}

impl World {
    fn open(kv: Arc<dyn OrderedKv>, options: LayoutOptions, def: TableDef) -> Result<Self, TableError> {
        let clock = Arc::new(ManualClock::default());
        let def = Arc::new(def);
        let store = EmbeddedTables::open_with(kv.clone(), clock.clone(), options.clone())?;
        let table = store.register(def.clone())?;
        Ok(Self { kv, options, clock, def, store, table, rows: Rows::new(), views: Vec::new() })
    }

    fn reopen(&mut self) -> Result<(), TableError> {
        self.views.clear();
        self.store = EmbeddedTables::open_with(self.kv.clone(), self.clock.clone(), self.options.clone())?;
        self.table = self.store.register(self.def.clone())?;
        Ok(())
    }

    /// The values of a row's key columns in key order.
    fn key(&self, row: &[Value]) -> Vec<Value> {
        self.def.key.columns.iter().map(|k| row[k.column().unwrap()].clone()).collect()
    }

    fn physical(&self, row: &[Value]) -> Vec<u8> {
        self.table.codec().encode(&self.key(row)).unwrap()
    }

    fn logical(&self, row: &[Value]) -> Vec<u8> {
        self.table.codec().encode_logical(&self.key(row)).unwrap()
    }

    /// The rows after a commit, if it is made.
    fn commit(&mut self, changes: &[(Vec<Value>, bool)]) -> Result<(), TableError> {
        let mut writes = WriteSet::new();
        let mut rows = self.rows.clone();
        for (row, alive) in changes {
            if *alive {
                writes.put(&self.table, row.clone()).unwrap();
                rows.insert(self.logical(row), row.clone());
            } else {
                writes.delete(&self.table, self.physical(row));
                rows.remove(&self.logical(row));
            }
        }
        self.store.commit(&writes, None, Durability::Buffered)?;
        self.rows = rows;
        Ok(())
    }

    /// All rows as the table has them now.
    fn read_all(&self) -> Result<Rows, TableError> {
        let columns: Vec<usize> = (0..self.def.columns.len()).collect();
        let rows = read(self, self.store.view()?, &request(&self.table, columns))?;
        Ok(rows.into_iter().map(|row| (self.logical(&row), row)).collect())
    }
}

struct Request {
    ranges: Vec<KeyRange>,
    columns: Vec<usize>,
    filter: Vec<Expr>,
    direction: Direction,
    order: ScanOrder,
    limit: Option<u64>,
    context: ScanContext,
}

fn request(_: &Table, columns: Vec<usize>) -> Request {
    Request {
        ranges: vec![KeyRange::all()],
        columns,
        filter: Vec::new(),
        direction: Direction::Forward,
        order: ScanOrder::Merged,
        limit: None,
        context: ScanContext::new(Budget::default()),
    }
}

fn read(world: &World, view: Arc<ReadView>, request: &Request) -> Result<Vec<Vec<Value>>, TableError> {
    let scan = ScanRequest {
        table: world.table.clone(),
        ranges: Arc::new(Ranges(request.ranges.clone())),
        buckets: Buckets::All,
        columns: request.columns.clone(),
        filter: request.filter.clone(),
        direction: request.direction,
        order: request.order,
        limit: request.limit,
        first_batch: None,
    };
    let mut scan = world.store.scan(view, scan, request.context.clone())?;
    let mut rows = Vec::new();
    while let Some(batch) = scan.next_batch()? {
        for row in 0..batch.num_rows() {
            let value = |(i, c): (usize, &usize)| value_at(batch.column(i), row, world.table.column_type(*c)).unwrap();
            rows.push(request.columns.iter().enumerate().map(value).collect());
        }
    }
    Ok(rows)
}

#[derive(Clone, Debug)]
enum Step {
    Commit(Vec<(Vec<Value>, bool)>),
    TakeView,
    DropView,
    Merge,
    Reopen,
    Read {
        view: usize,
        from: i64,
        to: i64,
        reverse: bool,
        columns: Vec<usize>,
        limit: Option<u64>,
        more_than: Option<i64>,
    },
    Get {
        view: usize,
        k: i64,
        s: Option<String>,
    },
}

fn row() -> impl Strategy<Value = Vec<Value>> {
    let text = || prop_oneof![Just("a".to_owned()), Just("ab".into()), Just("b".into()), Just("long ".repeat(9))];
    let null = |values: BoxedStrategy<Value>| prop_oneof![1 => Just(Value::Null), 4 => values].boxed();
    (
        -4i64..9,
        proptest::option::of(text()),
        null((-2i64..300).prop_map(Value::Int).boxed()),
        null(prop_oneof![Just(Value::text("")), text().prop_map(Value::text)].boxed()),
        null(any::<bool>().prop_map(Value::Bool).boxed()),
        null((-3i32..3).prop_map(|v| Value::Double(f64::from(v) / 4.0)).boxed()),
        null((-3i64..1000).prop_map(|v| Value::Decimal(saltwing_types::Decimal::new(v.into(), 2).unwrap())).boxed()),
        null(prop::collection::vec(any::<u8>(), 0..4).prop_map(Value::Bytes).boxed()),
        null((-3i64..3).prop_map(|ms| Value::Timestamp(Timestamp { ms, nanos: 5 })).boxed()),
        null((-3i64..3).prop_map(|day| Value::Date(day * 86_400_000)).boxed()),
    )
        .prop_map(|(k, s, i, t, b, d, n, x, at, day)| {
            vec![Value::Int(k), s.map_or(Value::Null, Value::text), i, t, b, d, n, x, at, day]
        })
}

fn step() -> impl Strategy<Value = Step> {
    let text = || proptest::option::of(prop_oneof![Just("a".to_owned()), Just("ab".into()), Just("b".into())]);
    let columns = proptest::sample::subsequence((0..11usize).collect::<Vec<_>>(), 0..=11).prop_shuffle();
    let limit = proptest::option::of(0u64..9);
    let read = (0..4usize, -5i64..9, 0i64..9, any::<bool>(), columns, limit, proptest::option::of(-3i64..310))
        .prop_map(|(view, from, width, reverse, columns, limit, more_than)| Step::Read {
            view,
            from,
            to: from + width,
            reverse,
            columns,
            limit,
            more_than,
        });
    prop_oneof![
        12 => prop::collection::vec((row(), prop::bool::weighted(0.75)), 1..12).prop_map(Step::Commit),
        3 => Just(Step::TakeView),
        1 => Just(Step::DropView),
        2 => Just(Step::Merge),
        1 => Just(Step::Reopen),
        10 => read,
        5 => (0..4usize, -4i64..9, text()).prop_map(|(view, k, s)| Step::Get { view, k, s }),
    ]
}

/// Column `i` above a number.
fn more_than(number: i64) -> Expr {
    let column = ColumnRef { index: 2, name: "i".into(), ty: SqlType::Integer, nullable: true, span: None };
    let number = Expr::Literal(Value::Int(number), SqlType::Integer);
    Expr::Compare(CompareOp::Gt, Box::new(Expr::Column(column)), Box::new(number))
}

/// A view, and the rows that it must show: the newest one for a number beyond those taken.
fn view_of(world: &World, index: usize) -> (Arc<ReadView>, Rows) {
    match world.views.get(index) {
        Some((view, rows)) => (view.clone(), rows.clone()),
        None => (world.store.view().unwrap(), world.rows.clone()),
    }
}

fn run(world: &mut World, step: Step) -> Result<(), TestCaseError> {
    match step {
        Step::Commit(changes) => world.commit(&changes).unwrap(),
        Step::TakeView => world.views.push((world.store.view().unwrap(), world.rows.clone())),
        Step::DropView => drop((!world.views.is_empty()).then(|| world.views.remove(0))),
        Step::Merge => world.store.merge().unwrap(),
        Step::Reopen => world.reopen().unwrap(),
        Step::Get { view, k, s } => {
            let (view, rows) = view_of(world, view);
            let key = [Value::Int(k), s.map_or(Value::Null, Value::text)];
            let physical = world.physical(&key);
            let found = world.store.get(&view, &world.table, &physical).unwrap();
            prop_assert_eq!(found.as_ref(), rows.get(&world.logical(&key)));
            prop_assert_eq!(world.store.contains(&view, &world.table, &physical).unwrap(), found.is_some());
        }
        Step::Read { view, from, to, reverse, columns, limit, more_than: filter } => {
            let (view, rows) = view_of(world, view);
            let logical = |k| world.logical(&[Value::Int(k), Value::Null]);
            let range = if is_tailed(&world.def) {
                KeyRange::new(vec![b'a'], None)
            } else {
                KeyRange::new(logical(from), Some(logical(to)))
            };
            let Some(range) = range else { return Ok(()) };
            let request = Request {
                ranges: vec![range.clone()],
                filter: filter.map(more_than).into_iter().collect(),
                direction: if reverse { Direction::Reverse } else { Direction::Forward },
                limit,
                ..request(&world.table, columns.clone())
            };
            let found = read(world, view, &request).unwrap();
            let inside = rows.iter().filter(|(key, _)| range.contains(key)).count() as u64;
            let wanted = rows.iter().filter(|(key, row)| {
                range.contains(key) && filter.is_none_or(|number| matches!(row[2], Value::Int(i) if i > number))
            });
            let physical = |row: &[Value]| Value::Bytes(world.physical(row));
            let shown = |row: &Vec<Value>| -> Vec<Value> {
                columns.iter().map(|&c| row.get(c).cloned().unwrap_or_else(|| physical(row))).collect()
            };
            let mut wanted: Vec<Vec<Value>> = wanted.map(|(_, row)| shown(row)).collect();
            if reverse {
                wanted.reverse();
            }
            let all = wanted.len();
            wanted.truncate(limit.map_or(all, |n| n as usize));
            prop_assert_eq!(found, wanted);
            let keys_read = request.context.counters.keys_read.load(Ordering::Relaxed);
            match (limit, filter) {
                (None, _) => prop_assert_eq!(keys_read, inside),
                (Some(n), None) => prop_assert_eq!(keys_read, inside.min(n)),
                (Some(_), Some(_)) => prop_assert!(keys_read <= inside),
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever is merged, reopened and still looked at by older views: a table is a map.
    #[test]
    fn a_history_reads_as_that_of_a_map(
        steps in prop::collection::vec(step(), 1..60),
        salt in prop_oneof![Just(0u16), Just(3)],
        is_tailed: bool,
    ) {
        let def = table(100, salt, None);
        let def = if is_tailed { tailed(def) } else { def };
        let mut world = World::open(Arc::new(MemoryStore::new()), LayoutOptions::tiny(), def).unwrap();
        for step in steps {
            run(&mut world, step)?;
        }
        world.views.clear();
        world.store.merge().unwrap();
        prop_assert_eq!(&world.read_all().unwrap(), &world.rows);
        world.reopen().unwrap();
        prop_assert_eq!(&world.read_all().unwrap(), &world.rows);
    }
}

/// A fixed history that fills, merges, empties and reopens; it goes on after errors.
fn history() -> Vec<Step> {
    let mut seed = 7u64;
    let mut next = move |most: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % most
    };
    let mut steps = Vec::new();
    for round in 0..28 {
        let count = if round == 12 { 40 } else { 4 };
        let changes = (0..count).map(|_| {
            let mut row = vec![Value::Null; 10];
            row[0] = Value::Int(next(40) as i64);
            row[2] = Value::Int(next(100) as i64);
            row[3] = Value::text("t".repeat(next(30) as usize));
            row[7] = if next(3) == 0 { Value::Bytes(vec![1, 2]) } else { Value::Null };
            (row, next(4) != 0)
        });
        steps.push(Step::Commit(changes.collect()));
        if round % 9 == 8 {
            steps.push(Step::Merge);
        }
        if round % 10 == 9 {
            steps.push(Step::Reopen);
        }
    }
    steps
}

/// Runs the history over a fault. What was acknowledged must read back at each step, and what is there after
/// opening the store below again must be what was acknowledged, or with the crash one step less.
fn survives(fault: Fault) -> saltwing_store::fault::Counts {
    let memory = MemoryStore::new();
    let faulty = FaultStore::new(memory.clone(), fault);
    let mut world = World::open(Arc::new(faulty.clone()), LayoutOptions::tiny(), table(100, 2, None)).unwrap();
    // What may be there after a crash, and after a commit of which nobody knows.
    let mut possible = vec![world.rows.clone()];
    for step in history() {
        let crashed = faulty.crashed();
        let before = world.rows.clone();
        match step {
            Step::Commit(changes) => {
                let failed = world.commit(&changes).err();
                if failed.is_some_and(|error| error.code().as_str() == "commit_unknown") {
                    let mut rows = before.clone();
                    for (row, alive) in changes {
                        let key = world.logical(&row);
                        if alive {
                            rows.insert(key, row)
                        } else {
                            rows.remove(&key)
                        };
                    }
                    possible.push(rows);
                    return finish(world, &faulty, memory, possible, before);
                }
            }
            Step::Merge => drop(world.store.merge()),
            _ => {
                if world.reopen().is_err() {
                    world.reopen().unwrap();
                }
            }
        }
        if let Ok(rows) = world.read_all() {
            assert_eq!(rows, world.rows, "{fault:?}");
        }
        if !faulty.crashed() {
            possible = vec![world.rows.clone()];
        } else if !crashed {
            possible = vec![before, world.rows.clone()];
        }
    }
    let now = world.rows.clone();
    finish(world, &faulty, memory, possible, now)
}

fn finish(
    world: World,
    faulty: &FaultStore<MemoryStore>,
    memory: MemoryStore,
    possible: Vec<Rows>,
    now: Rows,
) -> saltwing_store::fault::Counts {
    let counts = faulty.counts();
    assert_eq!(world.read_all().unwrap(), now);
    drop(world);
    let mut world = World::open(Arc::new(memory), LayoutOptions::tiny(), table(100, 2, None)).unwrap();
    let found = world.read_all().unwrap();
    assert!(possible.contains(&found), "rows after reopening are those of no commit");
    // The layout is whole: it goes on.
    world.rows = found;
    for step in history() {
        if let Step::Commit(changes) = step {
            world.commit(&changes).unwrap();
        }
    }
    world.store.merge().unwrap();
    assert_eq!(world.read_all().unwrap(), world.rows);
    counts
}

#[test]
fn every_fault_leaves_what_was_acknowledged() {
    let counts = survives(Fault::None);
    for n in (0..counts.mutations).step_by(23) {
        survives(Fault::FailMutation(n));
        survives(Fault::LoseMutation(n + 5));
    }
    for n in (0..counts.entries).step_by(97) {
        survives(Fault::CutScan(n));
    }
    for commit in (0..counts.commits).step_by(7) {
        survives(Fault::UnknownCommit { commit, applied: commit % 2 == 0 });
    }
}

fn plain_row(k: i64, i: i64) -> Vec<Value> {
    let mut row = vec![Value::Null; 10];
    row[0] = Value::Int(k);
    row[2] = Value::Int(i);
    row
}

fn put_all(world: &mut World, rows: impl Iterator<Item = (i64, i64)>) {
    let changes: Vec<_> = rows.map(|(k, i)| (plain_row(k, i), true)).collect();
    world.commit(&changes).unwrap();
}

fn thread_options() -> LayoutOptions {
    LayoutOptions { merging: Merging::Background, ..LayoutOptions::tiny() }
}

#[test]
fn a_count_over_a_range_reads_no_values() {
    let mut world = World::open(Arc::new(MemoryStore::new()), thread_options(), table(100, 0, None)).unwrap();
    put_all(&mut world, (0..100).map(|k| (k, k)));
    world.store.merge().unwrap();
    let request = request(&world.table, Vec::new());
    assert_eq!(read(&world, world.store.view().unwrap(), &request).unwrap().len(), 100);
    let counters = &request.context.counters;
    assert_eq!(counters.keys_read.load(Ordering::Relaxed), 100);
    assert_eq!(counters.bytes_read.load(Ordering::Relaxed), 0);
}

#[test]
fn blocks_that_no_row_can_match_are_not_read() {
    for reverse in [false, true] {
        let mut world = World::open(Arc::new(MemoryStore::new()), thread_options(), table(100, 0, None)).unwrap();
        put_all(&mut world, (0..100).map(|k| (k, k)));
        world.store.merge().unwrap();
        let direction = if reverse { Direction::Reverse } else { Direction::Forward };
        let scan = |filter| {
            let request = Request { filter, direction, ..request(&world.table, vec![0]) };
            let rows = read(&world, world.store.view().unwrap(), &request).unwrap().len();
            let load = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
            let counters = &request.context.counters;
            (rows, load(&counters.keys_read), load(&counters.blocks_read), load(&counters.blocks_skipped))
        };
        assert_eq!(scan(vec![more_than(-1)]), (100, 100, 25, 0));
        assert_eq!(scan(vec![more_than(89)]), (10, 100, 3, 22));
        assert_eq!(scan(vec![more_than(1000)]), (0, 100, 0, 25));
    }
    // A row of the delta is looked at, whatever the block's summary says.
    let mut world = World::open(Arc::new(MemoryStore::new()), thread_options(), table(100, 0, None)).unwrap();
    put_all(&mut world, (0..100).map(|k| (k, k)));
    world.store.merge().unwrap();
    put_all(&mut world, [(0, 5000)].into_iter());
    let request = Request { filter: vec![more_than(1000)], ..request(&world.table, vec![0]) };
    assert_eq!(read(&world, world.store.view().unwrap(), &request).unwrap(), [[Value::Int(0)]]);
}

/// Each commit gives all rows one value; whoever looks sees them with one value, while blocks are made below.
#[test]
fn readers_see_whole_commits_while_a_thread_merges() {
    let world = World::open(Arc::new(MemoryStore::new()), thread_options(), table(100, 3, None)).unwrap();
    world.store.start_merging().unwrap();
    let done = AtomicBool::new(false);
    let commit = |value: i64| {
        let mut writes = WriteSet::new();
        for k in 0..30 {
            writes.put(&world.table, plain_row(k, value)).unwrap();
        }
        world.store.commit(&writes, None, Durability::Buffered).unwrap();
    };
    commit(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            (1..150).for_each(commit);
            done.store(true, Ordering::Relaxed);
        });
        let mut last = 0;
        while !done.load(Ordering::Relaxed) {
            let view = world.store.view().unwrap();
            for order in [ScanOrder::Merged, ScanOrder::ByBucket] {
                let request = Request { order, ..request(&world.table, vec![2]) };
                let rows = read(&world, view.clone(), &request).unwrap();
                assert_eq!(rows.len(), 30);
                assert!(rows.iter().all(|row| row == &rows[0]));
                let Value::Int(value) = rows[0][0] else { panic!("not an integer") };
                assert!(value >= last);
                last = value;
            }
        }
    });
}

#[test]
fn a_view_keeps_its_blocks_and_they_go_with_it() {
    let memory = MemoryStore::new();
    let mut world = World::open(Arc::new(memory.clone()), thread_options(), table(100, 0, None)).unwrap();
    put_all(&mut world, (0..50).map(|k| (k, 1)));
    world.store.merge().unwrap();
    let view = world.store.view().unwrap();
    put_all(&mut world, (0..50).map(|k| (k, 2)));
    world.store.merge().unwrap();
    let stored = || {
        let count = |space| {
            let mut cursor = memory
                .cursor(saltwing_store::Space::new(space), saltwing_store::KeyBounds::all(), Direction::Forward)
                .unwrap();
            std::iter::from_fn(|| cursor.next().unwrap()).count()
        };
        // Deltas, directory, fixed parts, and replaced blocks.
        [2, 3, 4, 5, 7].map(count)
    };
    let [even, odd, directory, fixed, replaced] = stored();
    assert_eq!((even, odd), (0, 0), "merged generations are gone");
    assert_eq!((fixed, replaced), (2 * directory, directory), "blocks of the view are there");
    let rows = read(&world, view.clone(), &request(&world.table, vec![2])).unwrap();
    assert!(rows.len() == 50 && rows.iter().all(|row| row[0] == Value::Int(1)));
    drop(view);
    world.store.merge().unwrap();
    assert_eq!(stored(), [0, 0, directory, directory, 0]);
    // A crash while a view lived leaves blocks that the next opening knows of.
    let view = world.store.view().unwrap();
    put_all(&mut world, (0..50).map(|k| (k, 3)));
    world.store.merge().unwrap();
    let later = World::open(Arc::new(memory.clone()), thread_options(), table(100, 0, None)).unwrap();
    later.store.merge().unwrap();
    assert_eq!(stored(), [0, 0, directory, directory, 0]);
    drop(view);
}

#[test]
fn a_large_batch_and_large_values_go_through() {
    let mut world = World::open(Arc::new(MemoryStore::new()), thread_options(), table(100, 0, None)).unwrap();
    world.store.start_merging().unwrap();
    let large = |k: i64, bytes: usize| {
        let mut row = plain_row(k, k);
        row[3] = Value::text("x".repeat(bytes));
        (row, true)
    };
    let changes: Vec<_> = (0..500).map(|k| large(k, if k % 100 == 0 { 200_000 } else { 3 })).collect();
    world.commit(&changes).unwrap();
    world.commit(&[large(501, 1_000_000)]).unwrap();
    world.store.merge().unwrap();
    assert_eq!(world.read_all().unwrap(), world.rows);
    world.reopen().unwrap();
    assert_eq!(world.read_all().unwrap(), world.rows);
}

#[test]
fn expired_rows_go_with_merges_and_sweeps() {
    let memory = MemoryStore::new();
    let mut world = World::open(Arc::new(memory), thread_options(), table(100, 0, Some(10))).unwrap();
    put_all(&mut world, (0..20).map(|k| (k, 1)));
    world.store.merge().unwrap();
    world.clock.0.store(5_000, Ordering::Relaxed);
    put_all(&mut world, (10..30).map(|k| (k, 2)));
    world.clock.0.store(10_000, Ordering::Relaxed);
    let count = |world: &World| {
        let request = request(&world.table, Vec::new());
        let rows = read(world, world.store.view().unwrap(), &request).unwrap().len() as u64;
        assert_eq!(request.context.counters.keys_read.load(Ordering::Relaxed), rows);
        rows
    };
    assert_eq!(count(&world), 20);
    assert_eq!(world.store.sweep().unwrap(), 10, "without a write to the blocks");
    assert_eq!(world.store.sweep().unwrap(), 0);
    assert_eq!(count(&world), 20);
    world.store.merge().unwrap();
    assert_eq!(count(&world), 20);
    world.clock.0.store(15_000, Ordering::Relaxed);
    assert_eq!(count(&world), 0);
    assert_eq!(world.store.sweep().unwrap(), 20);
    assert_eq!(count(&world), 0);
}

#[test]
fn a_purged_table_leaves_nothing() {
    let memory = MemoryStore::new();
    let mut world = World::open(Arc::new(memory.clone()), thread_options(), table(100, 0, None)).unwrap();
    let other = world.store.register(Arc::new(table(101, 0, None))).unwrap();
    let mut writes = WriteSet::new();
    writes.put(&other, plain_row(1, 1)).unwrap();
    world.store.commit(&writes, None, Durability::Buffered).unwrap();
    put_all(&mut world, (0..50).map(|k| (k, 1)));
    world.store.merge().unwrap();
    put_all(&mut world, (40..60).map(|k| (k, 2)));
    let view = world.store.view().unwrap();
    world.store.unregister(TableId(100));
    world.store.purge(TableId(100)).unwrap();
    assert_eq!(read(&world, view.clone(), &request(&world.table, vec![0])).unwrap().len(), 60, "an old view goes on");
    drop(view);
    world.store.purge(TableId(100)).unwrap();
    for space in 0..=255 {
        let bounds = saltwing_store::KeyBounds::prefix(&100u32.to_be_bytes());
        let mut cursor = memory.cursor(saltwing_store::Space::new(space), bounds, Direction::Forward).unwrap();
        assert!(cursor.next().unwrap().is_none(), "space {space}");
    }
    assert!(world.read_all().unwrap().is_empty());
    world.table = other;
    assert_eq!(world.read_all().unwrap().len(), 1);
}

#[test]
fn a_column_added_later_reads_as_its_default_and_rewrites_nothing() {
    let memory = MemoryStore::new();
    let mut old = table(100, 0, None);
    old.columns.pop();
    let mut world = World::open(Arc::new(memory), thread_options(), old).unwrap();
    let row = |k: i64| {
        let mut row = plain_row(k, k);
        row.pop();
        (row, true)
    };
    let changes: Vec<_> = (0..12).map(row).collect();
    world.commit(&changes).unwrap();
    world.store.merge().unwrap();
    world.commit(&[row(12)]).unwrap();
    let mut new = table(100, 0, None);
    let column = new.columns.last_mut().unwrap();
    // In the first family, which all rows have.
    (column.family, column.slot) = (Some(0), 3);
    let default = Expr::Literal(Value::Date(7), SqlType::Date);
    column.default = Some(saltwing_types::table::DefaultDef { text: "d".into(), expr: default });
    world.def = Arc::new(new);
    world.table = world.store.register(world.def.clone()).unwrap();
    let days = |world: &World| read(world, world.store.view().unwrap(), &request(&world.table, vec![9])).unwrap();
    assert_eq!(days(&world), vec![[Value::Date(7)]; 13]);
    let mut changed = plain_row(3, 3);
    changed[9] = Value::Date(9);
    let mut writes = WriteSet::new();
    writes.put(&world.table, changed).unwrap();
    world.store.commit(&writes, None, Durability::Buffered).unwrap();
    world.store.merge().unwrap();
    let found = days(&world);
    assert_eq!(found.iter().filter(|row| row[0] == Value::Date(9)).count(), 1);
    assert_eq!(found.iter().filter(|row| row[0] == Value::Date(7)).count(), 12);
}

#[test]
fn the_form_before_this_one_is_refused() {
    let memory = MemoryStore::new();
    let mut batch = saltwing_store::WriteBatch::new();
    batch.put(saltwing_store::Space::new(1), b"row", b"value");
    memory.write(batch, Durability::Buffered).unwrap();
    let error = World::open(Arc::new(memory), thread_options(), table(100, 0, None)).err().unwrap();
    assert_eq!(error.code().as_str(), "not_supported");
}
