//! Statements in random order; each may fail because a call of the store fails.
//!
//! After a failed statement, the tables are as before the statement or as after it. When the fault is over, statements work again. The
//! tables are the same after the database is opened again, and dropped tables then leave nothing in the store.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use proptest::prelude::*;
use saltwing_access::Clock;
use saltwing_store::conformance::fault::{Call, Failure, Fault, Faults, Lasting, Outcome};
use saltwing_store::{Direction, KeyBounds, MemoryStore, OrderedKv, Space};
use saltwing_types::{ErrorCode, Value};

use crate::blocking::Connection;
use crate::{Database, Error};

const NAMES: [&str; 2] = ["a", "b"];
/// Seconds until a row expires.
const TTL_S: i64 = 60;
/// The id of the first table that a statement can create.
const FIRST_TABLE: u32 = 100;

#[derive(Default)]
struct ManualClock(AtomicI64);

impl Clock for ManualClock {
    fn now_ms(&self) -> i64 {
        self.0.load(Relaxed)
    }
}

#[derive(Clone, Debug)]
enum Step {
    Set(Option<Failure>),
    Create(&'static str),
    Upsert(&'static str, Vec<(i64, String)>),
    Copy(&'static str, &'static str),
    Delete(&'static str, i64, i64),
    /// Adds the column `w`, or drops it if the table has it.
    Alter(&'static str),
    Compact(&'static str),
    Drop(&'static str),
    Truncate(&'static str),
    /// All tables in one statement.
    DropAll,
    TruncateAll,
    Sweep,
    Wait(i64),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let name = || prop::sample::select(&NAMES[..]);
    let row = (0i64..40, prop_oneof!["[a-c]{0,3}", "long value [a-z]{20}"]);
    let outcome = prop_oneof![
        3 => Just(Outcome::Refused),
        1 => any::<bool>().prop_map(|done| Outcome::Unknown { done }),
    ];
    let lasting = prop_oneof![5 => Just(Lasting::Once), 1 => Just(Lasting::UntilSet)];
    let of_call = prop_oneof![
        1 => Just((Call::Get, 12u64)),
        2 => Just((Call::Cursor, 4)),
        2 => Just((Call::Next, 30)),
        6 => Just((Call::Write, 10)),
        1 => Just((Call::Clear, 2)),
        1 => Just((Call::Reclaim, 2)),
        2 => Just((Call::Sync, 3)),
        1 => Just((Call::Close, 1)),
    ];
    let failure = (of_call, any::<prop::sample::Index>(), lasting, outcome).prop_map(
        |((call, most), number, lasting, outcome)| {
            // Both stores refuse writes after a failed sync.
            let outcome = if call == Call::Sync { Outcome::Unknown { done: true } } else { outcome };
            Failure { call, number: number.index(most as usize) as u64, lasting, outcome }
        },
    );
    prop_oneof![
        6 => failure.prop_map(|failure| Step::Set(Some(failure))),
        1 => Just(Step::Set(None)),
        3 => name().prop_map(Step::Create),
        10 => (name(), prop::collection::vec(row, 1..12)).prop_map(|(name, rows)| Step::Upsert(name, rows)),
        1 => (name(), name()).prop_map(|(from, to)| Step::Copy(from, to)),
        2 => (name(), 0i64..40, 0i64..20).prop_map(|(name, from, width)| Step::Delete(name, from, from + width)),
        2 => name().prop_map(Step::Alter),
        3 => name().prop_map(Step::Compact),
        3 => name().prop_map(Step::Drop),
        2 => name().prop_map(Step::Truncate),
        2 => Just(Step::DropAll),
        2 => Just(Step::TruncateAll),
        2 => Just(Step::Sweep),
        2 => (1i64..40).prop_map(Step::Wait),
        2 => Just(Step::Reopen),
    ]
}

/// The expected state of a table: its rows, and their write times.
#[derive(Clone, Debug, Default, PartialEq)]
struct Content {
    rows: BTreeMap<i64, (String, i64)>,
    has_extra: bool,
}

type Tables = BTreeMap<&'static str, Content>;

/// The tables after a statement; `None` if the statement is refused.
fn applied(tables: &Tables, step: &Step, now_ms: i64) -> Option<Tables> {
    let mut tables = tables.clone();
    match step {
        Step::Create(name) => {
            let is_new = tables.insert(name, Content::default()).is_none();
            return is_new.then_some(tables);
        }
        Step::Upsert(name, rows) => {
            let written = rows.iter().map(|(k, v)| (*k, (v.clone(), now_ms)));
            tables.get_mut(name)?.rows.extend(written);
        }
        Step::Copy(from, to) => {
            let rows = tables.get(from)?.rows.clone();
            tables.get_mut(to)?.rows.extend(rows.into_iter().map(|(k, (v, _))| (k + 40, (v, now_ms))));
        }
        Step::Delete(name, from, to) => tables.get_mut(name)?.rows.retain(|k, _| !(from..to).contains(&k)),
        Step::Alter(name) => {
            let table = tables.get_mut(name)?;
            table.has_extra = !table.has_extra;
        }
        Step::Compact(name) => drop(tables.get(name)?),
        Step::Drop(name) => drop(tables.remove(name)?),
        Step::Truncate(name) => tables.get_mut(name)?.rows.clear(),
        Step::DropAll => {
            let is_there = tables.len() == NAMES.len();
            tables.clear();
            return is_there.then_some(tables);
        }
        Step::TruncateAll => {
            let is_there = tables.len() == NAMES.len();
            tables.values_mut().for_each(|table| table.rows.clear());
            return is_there.then_some(tables);
        }
        Step::Sweep | Step::Set(_) | Step::Wait(_) | Step::Reopen => {}
    }
    Some(tables)
}

type Open = Box<dyn Fn() -> Arc<dyn OrderedKv>>;

struct Bed {
    faults: Faults,
    failure: Option<Failure>,
    open: Open,
    clock: Arc<ManualClock>,
    /// `None` while the database is being opened.
    database: Option<Database>,
    tables: Tables,
    /// The other state that the tables may have after the database is opened again.
    instead: Option<Tables>,
    /// A call since the opening left its outcome open.
    is_unknown: bool,
}

impl Bed {
    fn start(&self) -> Result<Database, Error> {
        let builder = Database::memory_builder().tiny_layout().sweep_every(None).clock(self.clock.clone());
        Database::start((self.open)(), builder)
    }

    fn database(&self) -> &Database {
        self.database.as_ref().unwrap()
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Set(failure) => {
                self.faults.set(failure.map_or(Fault::None, Fault::Fail));
                self.failure = failure;
                return;
            }
            // An unknown outcome must be known first, because the write time of its rows is unknown.
            Step::Wait(seconds) if self.instead.is_none() => return self.wait(seconds),
            Step::Wait(_) => return,
            Step::Reopen => return self.reopen(),
            _ => {}
        }
        let failed_before = self.faults.failed();
        let after = applied(&self.tables, &step, self.clock.now_ms());
        let done = self.run(&step);
        let has_failed = self.faults.failed() > failed_before;
        let failure = self.failure.filter(|failure| has_failed && failure.outcome != Outcome::Refused);
        self.is_unknown |= failure.is_some();
        // A read changes nothing, and a write that is refused later is not done.
        let may_be_done = failure.is_some_and(|failure| !matches!(failure.call, Call::Get | Call::Cursor | Call::Next));
        match (done, after) {
            (Ok(()), Some(after)) => self.tables = after,
            (Ok(()), None) => panic!("{step:?} is not refused"),
            // The fault may occur before or after the refusal.
            (Err(_), None) => {}
            (Err(error), Some(after)) => {
                assert!(has_failed || self.is_unknown, "{step:?} fails by itself: {error}");
                let found = self.found();
                if found == shown(&after) {
                    self.tables = after;
                } else if self.instead.is_none() && may_be_done {
                    self.instead = Some(after);
                }
            }
        }
        assert_eq!(self.found(), shown(&self.tables), "after {step:?}");
    }

    fn run(&self, step: &Step) -> Result<(), Error> {
        let sql = match step {
            Step::Create(name) => format!(
                "CREATE TABLE {name} (k BIGINT NOT NULL PRIMARY KEY, v VARCHAR) TTL = {TTL_S}, SALT_BUCKETS = 2"
            ),
            Step::Upsert(name, rows) => {
                let mut sql = format!("UPSERT INTO {name} (k, v) VALUES ");
                for (place, (k, v)) in rows.iter().enumerate() {
                    write!(sql, "{}({k}, '{v}')", if place == 0 { "" } else { ", " }).unwrap();
                }
                sql
            }
            Step::Copy(from, to) => format!("UPSERT INTO {to} (k, v) SELECT k + 40, v FROM {from} WHERE k >= 0"),
            Step::Delete(name, from, to) => format!("DELETE FROM {name} WHERE k >= {from} AND k < {to}"),
            Step::Alter(name) => match self.tables.get(name).is_some_and(|table| table.has_extra) {
                true => format!("ALTER TABLE {name} DROP COLUMN w"),
                false => format!("ALTER TABLE {name} ADD w INTEGER DEFAULT 7"),
            },
            Step::Compact(name) => format!("COMPACT {name}"),
            Step::Drop(name) => format!("DROP TABLE {name}"),
            Step::Truncate(name) => format!("TRUNCATE TABLE {name}"),
            Step::DropAll => format!("DROP TABLE {}", NAMES.join(", ")),
            Step::TruncateAll => format!("TRUNCATE TABLE {}", NAMES.join(", ")),
            Step::Sweep => return self.database().sweep().map(drop),
            Step::Set(_) | Step::Wait(_) | Step::Reopen => return Ok(()),
        };
        self.database().connect().blocking().execute(&sql, ()).map(drop)
    }

    fn wait(&mut self, seconds: i64) {
        let now_ms = self.clock.0.fetch_add(seconds * 1000, Relaxed) + seconds * 1000;
        for table in self.tables.values_mut() {
            table.rows.retain(|_, (_, written_ms)| *written_ms > now_ms - TTL_S * 1000);
        }
    }

    fn found(&self) -> Shown {
        self.faults.suspended(|| found(&self.database().connect().blocking()))
    }

    /// Closes the database and opens it again, without faults if the first try fails, and finds out the outcome of the last statement.
    fn reopen(&mut self) {
        self.database = None;
        let failed_before = self.faults.failed();
        let started = self.start().or_else(|error| {
            assert!(self.faults.failed() > failed_before, "opening fails by itself: {error}");
            self.faults.suspended(|| self.start())
        });
        self.database = Some(started.unwrap());
        self.is_unknown = false;
        let found = self.found();
        match self.instead.take() {
            Some(instead) if shown(&instead) == found => self.tables = instead,
            _ => assert_eq!(found, shown(&self.tables), "after opening again"),
        }
    }

    /// Ends all faults: a sweep removes the remains of failed drops, and statements work.
    fn finish(mut self) {
        self.faults.set(Fault::None);
        if self.is_unknown {
            self.reopen();
        }
        let report = self.database().check().unwrap();
        assert!(report.is_sound(), "{:#?}", report.faults);
        let drop_all = |bed: &mut Self| NAMES.into_iter().for_each(|name| bed.take(Step::Drop(name)));
        drop_all(&mut self);
        self.take(Step::Sweep);
        self.assert_nothing_is_left();
        for name in NAMES {
            for step in [Step::Create(name), Step::Upsert(name, vec![(1, "last".into())]), Step::Compact(name)] {
                self.take(step);
            }
        }
        self.reopen();
        drop_all(&mut self);
        self.assert_nothing_is_left();
    }

    /// Checks that the store holds no keys of tables that statements have created.
    fn assert_nothing_is_left(&mut self) {
        self.database = None;
        let kv = (self.open)();
        for space in (0..=u8::MAX).map(Space::new) {
            let mut cursor = kv.cursor(space, KeyBounds::all(), Direction::Forward).unwrap();
            while let Some((key, _)) = cursor.next().unwrap() {
                let table = key.first_chunk().map(|id| u32::from_be_bytes(*id));
                let is_meta = &*key == b"layout";
                assert!(is_meta || table.is_some_and(|id| id < FIRST_TABLE), "{space} has {key:?}");
            }
        }
        drop(kv);
        self.reopen();
    }
}

/// The number of columns of each table, and its rows.
type Shown = BTreeMap<&'static str, (usize, Vec<Vec<Value>>)>;

/// The tables as queries show them.
fn found(connection: &Connection) -> Shown {
    let mut tables = BTreeMap::new();
    for name in NAMES {
        match connection.query(&format!("SELECT * FROM {name} WHERE k >= 0 ORDER BY k"), ()) {
            Ok(rows) => {
                let columns = rows.columns().len();
                tables.insert(name, (columns, rows.map(|row| row.unwrap().values().unwrap()).collect()));
            }
            Err(error) => assert_eq!(error.code(), ErrorCode::NoSuchTable, "{error}"),
        }
    }
    tables
}

/// The tables as the model has them.
fn shown(tables: &Tables) -> Shown {
    let row = |table: &Content, k: &i64, v: &String| {
        let extra = table.has_extra.then_some(Value::Int(7));
        [Value::Int(*k), Value::text(v.as_str())].into_iter().chain(extra).collect()
    };
    let rows = |table: &Content| table.rows.iter().map(|(k, (v, _))| row(table, k, v)).collect();
    tables.iter().map(|(name, table)| (*name, (2 + usize::from(table.has_extra), rows(table)))).collect()
}

fn holds(faults: Faults, open: Open, steps: Vec<Step>) {
    let (tables, clock) = (Tables::new(), Arc::new(ManualClock::default()));
    let mut bed = Bed { faults, failure: None, open, clock, database: None, tables, instead: None, is_unknown: false };
    bed.database = Some(bed.start().unwrap());
    steps.into_iter().for_each(|step| bed.take(step));
    bed.finish();
}

fn rows(connection: &Connection, sql: &str) -> usize {
    connection.query(sql, ()).map_or(0, |rows| rows.map(Result::unwrap).count())
}

/// Three tables, the first of them temporary, each with two rows.
const LIST: [&str; 3] = ["own", "a", "b"];

fn opened(faults: &Faults, store: &MemoryStore) -> Database {
    let builder = Database::memory_builder().tiny_layout().sweep_every(None);
    Database::start(Arc::new(faults.store(store.clone())), builder).unwrap()
}

/// A database with the tables of [`LIST`], on a store whose faults `faults` controls.
fn with_list(faults: &Faults, store: &MemoryStore) -> (Database, Connection) {
    let database = opened(faults, store);
    let connection = database.connect().blocking();
    for (table, temporary) in LIST.into_iter().zip(["TEMP", "", ""]) {
        connection.execute(&format!("CREATE {temporary} TABLE {table} (k INTEGER PRIMARY KEY)"), ()).unwrap();
        connection.execute(&format!("UPSERT INTO {table} VALUES (1), (2)"), ()).unwrap();
    }
    (database, connection)
}

fn counts(connection: &Connection) -> [usize; 3] {
    LIST.map(|table| rows(connection, &format!("SELECT k FROM {table} WHERE k > 0")))
}

fn lose_writes_from(faults: &Faults, number: u64) {
    let (lasting, outcome) = (Lasting::UntilSet, Outcome::Refused);
    faults.set(Fault::Fail(Failure { call: Call::Write, number, lasting, outcome }));
}

/// For each write, that write and all later ones are lost: then all tables are unchanged, or the commit is stored and the next opening
/// removes the rows.
#[test]
fn lists_are_dropped_and_emptied_by_one_commit() {
    for statement in ["DROP TABLE own, a, b", "TRUNCATE own, a, b"] {
        let (faults, mut number) = (Faults::new(Fault::None), 0);
        let (store, database, connection, done) = loop {
            let store = MemoryStore::new();
            let (database, connection) = with_list(&faults, &store);
            lose_writes_from(&faults, number);
            let result = connection.execute(statement, ());
            faults.set(Fault::None);
            match result {
                Ok(done) => break (store, database, connection, done),
                Err(_) => assert_eq!(counts(&connection), [2, 2, 2], "{statement}, write {number}"),
            }
            number += 1;
        };
        assert!(number > 0, "{statement} needs no write");
        assert_eq!(done.notices.len(), 3, "{:?}", done.notices);
        assert_eq!(counts(&connection), [0; 3], "{statement}");
        drop((connection, database));
        let database = opened(&faults, &store);
        database.sweep().unwrap();
        let connection = database.connect().blocking();
        assert_eq!(counts(&connection), [0; 3], "{statement}");
        let report = database.check().unwrap();
        assert!(report.is_sound(), "{:#?}", report.faults);
        let dropped = rows(&connection, "SHOW TABLES");
        assert_eq!(dropped, if statement.starts_with("DROP") { 0 } else { 2 });
    }
}

#[test]
fn statements_that_fail_are_done_or_not() {
    proptest!(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(6)), |(
        steps in prop::collection::vec(step(), 5..50),
    )| {
        let faults = Faults::new(Fault::None);
        let (memory, of_store) = (MemoryStore::new(), faults.clone());
        holds(faults, Box::new(move || Arc::new(of_store.store(memory.clone()))), steps);
    });
}

#[cfg(all(feature = "redb", feature = "sled"))]
#[test]
fn statements_that_fail_are_done_or_not_on_every_store() {
    use saltwing_store::{Access, OpenOptions};

    proptest!(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(60)), |(
        steps in prop::collection::vec(step(), 5..50),
    )| {
        for store in ["redb", "sled"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(store);
            let faults = Faults::new(Fault::None);
            let of_store = faults.clone();
            let open: Open = Box::new(move || {
                let options = OpenOptions { access: Access::Create, cache_bytes: 8 << 20, trace: None };
                let kv: Arc<dyn OrderedKv> = match store {
                    "redb" => Arc::new(saltwing_redb::open(&path, options).unwrap()),
                    _ => Arc::new(saltwing_sled::open(&path, options).unwrap()),
                };
                Arc::new(of_store.store(kv))
            });
            holds(faults, open, steps.clone());
        }
    });
}
