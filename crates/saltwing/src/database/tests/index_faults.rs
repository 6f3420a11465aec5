//! Statements over an indexed table in random order, each of whose writes fails once, or is the last before a crash.
//!
//! A list of statements first runs without faults, to count its writes. Then it runs once for each write, with a fault at that write. At the
//! fault, after the database is opened again, and at the end, the rows equal those of a model, rows and index entries agree, and a query
//! finds the same rows with an index as without one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::sample::select;
use saltwing_store::MemoryStore;
use saltwing_store::conformance::fault::{Call, Failure, Fault, Faults, Lasting, Outcome};
use saltwing_types::ErrorCode;

use crate::blocking::Connection;
use crate::{Database, Error};

const TABLE: &str = "CREATE TABLE t (k BIGINT PRIMARY KEY, a BIGINT, b VARCHAR, c BIGINT) SALT_BUCKETS = 2";

/// An index of each kind, with a condition for which it is used.
const INDEXES: [(&str, &str, &str); 5] = [
    ("g", "CREATE INDEX g ON t (a DESC) INCLUDE (b)", "a = ?"),
    ("l", "CREATE LOCAL INDEX l ON t (a, b)", "a = ?"),
    ("p", "CREATE INDEX p ON t (a) WHERE c > 4", "a = ? AND c > 4"),
    ("e", "CREATE INDEX e ON t (UPPER(b), a)", "UPPER(b) = 'X' AND a = ?"),
    (UNIQUE, "CREATE UNIQUE INDEX u ON t (c)", "c = ?"),
];
const UNIQUE: &str = "u";
/// Values of `a` and `c` are below these.
const A_MAX: i64 = 4;
const C_MAX: i64 = 12;
/// The keys of rows are below this.
const KEYS: i64 = 8;

/// The columns after the key.
type Row = (Option<i64>, Option<&'static str>, Option<i64>);

#[derive(Clone, Debug)]
enum Write {
    Upsert(Vec<(i64, Row)>),
    UpsertA(i64, Option<i64>),
    Insert(i64, Row),
    InsertNew(i64, Row),
    OnDuplicate(i64, Row),
    Add(i64),
    SetC(i64, Option<i64>),
    NextC,
    DeleteKey(i64),
    DeleteByA(i64),
}

#[derive(Clone, Debug)]
enum InTransaction {
    Write(Write),
    Savepoint,
    RollbackTo,
    Release,
}

#[derive(Clone, Debug)]
enum Step {
    Write(Write),
    /// Its statements, and whether it commits.
    Transaction(Vec<InTransaction>, bool),
    Truncate,
    Create(usize),
    Drop(usize),
    Rebuild(usize),
    Disable(usize),
    Usable(usize),
    Compact,
    Reopen,
}

fn row() -> impl Strategy<Value = Row> {
    let a = prop::option::weighted(0.9, 0..A_MAX);
    let b = prop_oneof![Just(None), select(&["", "x", "X", "y"][..]).prop_map(Some)];
    (a, b, prop::option::weighted(0.7, 0..C_MAX))
}

fn write() -> impl Strategy<Value = Write> {
    let (key, a) = (0..KEYS, 0..A_MAX);
    prop_oneof![
        4 => prop::collection::vec((key.clone(), row()), 1..4).prop_map(Write::Upsert),
        1 => (key.clone(), prop::option::of(a.clone())).prop_map(|(k, a)| Write::UpsertA(k, a)),
        1 => (key.clone(), row()).prop_map(|(k, row)| Write::Insert(k, row)),
        1 => (key.clone(), row()).prop_map(|(k, row)| Write::InsertNew(k, row)),
        1 => (key.clone(), row()).prop_map(|(k, row)| Write::OnDuplicate(k, row)),
        1 => key.clone().prop_map(Write::Add),
        1 => (a.clone(), prop::option::of(0..C_MAX)).prop_map(|(a, c)| Write::SetC(a, c)),
        1 => Just(Write::NextC),
        1 => key.prop_map(Write::DeleteKey),
        1 => a.prop_map(Write::DeleteByA),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let in_transaction = prop_oneof![
        5 => write().prop_map(InTransaction::Write),
        1 => Just(InTransaction::Savepoint),
        1 => Just(InTransaction::RollbackTo),
        1 => Just(InTransaction::Release),
    ];
    let index = 0..INDEXES.len();
    prop_oneof![
        10 => write().prop_map(Step::Write),
        3 => (prop::collection::vec(in_transaction, 1..6), prop::bool::weighted(0.8))
            .prop_map(|(writes, commits)| Step::Transaction(writes, commits)),
        1 => Just(Step::Truncate),
        4 => index.clone().prop_map(Step::Create),
        2 => index.clone().prop_map(Step::Drop),
        2 => index.clone().prop_map(Step::Rebuild),
        1 => index.clone().prop_map(Step::Disable),
        1 => index.prop_map(Step::Usable),
        2 => Just(Step::Compact),
        1 => Just(Step::Reopen),
    ]
}

/// The rows, and the indexes by their positions in [`INDEXES`], each with whether it is disabled.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model {
    rows: BTreeMap<i64, Row>,
    indexes: BTreeMap<usize, bool>,
}

impl Model {
    fn is_unique(&self) -> bool {
        self.indexes.keys().any(|place| INDEXES[*place].0 == UNIQUE)
    }

    fn is_allowed(&self) -> bool {
        let is_unique = self.is_unique();
        let mut values: Vec<i64> = self.rows.values().filter_map(|row| row.2).collect();
        values.sort_unstable();
        !is_unique || values.windows(2).all(|pair| pair[0] != pair[1])
    }

    /// The tables after a statement; `None` if it is refused.
    fn written(&self, write: &Write) -> Option<Self> {
        let (mut model, is_unique) = (self.clone(), self.is_unique());
        let rows = &mut model.rows;
        match write {
            Write::Upsert(new) => rows.extend(new.iter().copied()),
            Write::UpsertA(k, a) => rows.entry(*k).or_default().0 = *a,
            Write::Insert(k, _) if rows.contains_key(k) => return None,
            Write::Insert(k, row) => drop(rows.insert(*k, *row)),
            // A row whose unique value another row has is left out, too.
            Write::InsertNew(_, row) if is_unique && row.2.is_some() && rows.values().any(|other| other.2 == row.2) => {
            }
            Write::InsertNew(k, row) => drop(rows.entry(*k).or_insert(*row)),
            Write::OnDuplicate(k, row) => {
                rows.entry(*k).and_modify(|row| row.0 = row.0.map(|a| (a + 1) % A_MAX)).or_insert(*row);
            }
            Write::Add(from) => rows.range_mut(from..).for_each(|(_, row)| row.0 = row.0.map(|a| (a + 1) % A_MAX)),
            Write::SetC(a, c) => rows.values_mut().filter(|row| row.0 == Some(*a)).for_each(|row| row.2 = *c),
            Write::NextC => rows.values_mut().for_each(|row| row.2 = row.2.map(|c| (c + 1) % C_MAX)),
            Write::DeleteKey(k) => drop(rows.remove(k)),
            Write::DeleteByA(a) => rows.retain(|_, row| row.0 != Some(*a)),
        }
        model.is_allowed().then_some(model)
    }

    /// After a refused statement, a transaction accepts only ROLLBACK TO.
    fn transacted(&self, statements: &[InTransaction], commits: bool) -> Option<Self> {
        let (mut model, mut savepoints) = (Some(self.clone()), Vec::new());
        for statement in statements {
            match (statement, &model) {
                (InTransaction::RollbackTo, _) => model = savepoints.last().cloned().or(model),
                (_, None) => {}
                (InTransaction::Write(write), Some(now)) => model = now.written(write),
                (InTransaction::Savepoint, Some(now)) => savepoints.push(now.clone()),
                (InTransaction::Release, _) => drop(savepoints.pop()),
            }
        }
        if commits { model } else { Some(self.clone()) }
    }

    fn after(&self, step: &Step) -> Option<Self> {
        let mut model = self.clone();
        match step {
            Step::Write(write) => return self.written(write),
            Step::Transaction(statements, commits) => return self.transacted(statements, *commits),
            Step::Truncate => model.rows.clear(),
            Step::Create(place) => {
                let is_new = model.indexes.insert(*place, false).is_none();
                return (is_new && model.is_allowed()).then_some(model);
            }
            Step::Drop(place) => drop(model.indexes.remove(place)?),
            Step::Rebuild(place) | Step::Usable(place) => *model.indexes.get_mut(place)? = false,
            Step::Disable(place) => *model.indexes.get_mut(place)? = true,
            Step::Compact | Step::Reopen => {}
        }
        Some(model)
    }
}

fn literal<T: ToString>(value: Option<T>) -> String {
    value.map_or("NULL".into(), |value| value.to_string())
}

fn text_row((k, (a, b, c)): &(i64, Row)) -> String {
    format!("({k}, {}, {}, {})", literal(*a), literal(b.map(|b| format!("'{b}'"))), literal(*c))
}

fn sql(write: &Write) -> String {
    match write {
        Write::Upsert(rows) => {
            format!("UPSERT INTO t VALUES {}", rows.iter().map(text_row).collect::<Vec<_>>().join(", "))
        }
        Write::UpsertA(k, a) => format!("UPSERT INTO t (k, a) VALUES ({k}, {})", literal(*a)),
        Write::Insert(k, row) => format!("INSERT INTO t VALUES {}", text_row(&(*k, *row))),
        Write::InsertNew(k, row) => format!("INSERT INTO t VALUES {} ON CONFLICT DO NOTHING", text_row(&(*k, *row))),
        Write::OnDuplicate(k, row) => {
            let row = text_row(&(*k, *row));
            format!("UPSERT INTO t VALUES {row} ON DUPLICATE KEY UPDATE a = (a + 1) % {A_MAX}")
        }
        Write::Add(from) => format!("UPDATE t SET a = (a + 1) % {A_MAX} WHERE k >= {from}"),
        Write::SetC(a, c) => format!("UPDATE t SET c = {} WHERE a = {a}", literal(*c)),
        Write::NextC => format!("UPDATE t SET c = (c + 1) % {C_MAX}"),
        Write::DeleteKey(k) => format!("DELETE FROM t WHERE k = {k}"),
        Write::DeleteByA(a) => format!("DELETE FROM t WHERE a = {a}"),
    }
}

/// Runs a transaction. After a statement that breaks a rule, ROLLBACK TO can continue it; any other error ends it.
fn transact(connection: &Connection, statements: &[InTransaction], commits: bool) -> Result<(), Error> {
    connection.execute("BEGIN", ())?;
    let (mut savepoints, mut is_failed) = (0usize, false);
    for statement in statements {
        let sql = match statement {
            InTransaction::RollbackTo if savepoints > 0 => format!("ROLLBACK TO s{savepoints}"),
            InTransaction::RollbackTo => continue,
            _ if is_failed => continue,
            InTransaction::Write(write) => sql(write),
            InTransaction::Savepoint => {
                savepoints += 1;
                format!("SAVEPOINT s{savepoints}")
            }
            InTransaction::Release if savepoints > 0 => {
                savepoints -= 1;
                format!("RELEASE s{}", savepoints + 1)
            }
            InTransaction::Release => continue,
        };
        match connection.execute(&sql, ()) {
            Ok(_) => is_failed = false,
            Err(error) if error.code() == ErrorCode::DuplicateKey => is_failed = true,
            Err(error) => {
                drop(connection.execute("ROLLBACK", ()));
                return Err(error);
            }
        }
    }
    connection.execute(if commits { "COMMIT" } else { "ROLLBACK" }, ()).map(drop)
}

/// A database over a store that fails.
struct Bed {
    faults: Faults,
    store: MemoryStore,
    /// `None` while the database is being opened.
    database: Option<Database>,
}

impl Bed {
    fn new() -> Self {
        let mut bed = Self { faults: Faults::new(Fault::None), store: MemoryStore::new(), database: None };
        bed.reopen();
        bed.execute(TABLE).unwrap();
        bed
    }

    fn execute(&self, sql: &str) -> Result<(), Error> {
        self.connect().execute(sql, ()).map(drop)
    }

    fn connect(&self) -> Connection {
        self.database.as_ref().unwrap().connect().blocking()
    }

    fn run(&mut self, step: &Step) -> Result<(), Error> {
        let name = |place: &usize| INDEXES[*place].0;
        match step {
            Step::Write(write) => self.execute(&sql(write)),
            Step::Transaction(statements, commits) => transact(&self.connect(), statements, *commits),
            Step::Truncate => self.execute("TRUNCATE TABLE t"),
            Step::Create(place) => self.execute(INDEXES[*place].1),
            Step::Drop(place) => self.execute(&format!("DROP INDEX {} ON t", name(place))),
            Step::Rebuild(place) => self.execute(&format!("ALTER INDEX {} ON t REBUILD", name(place))),
            Step::Disable(place) => self.execute(&format!("ALTER INDEX {} ON t DISABLE", name(place))),
            Step::Usable(place) => self.execute(&format!("ALTER INDEX {} ON t USABLE", name(place))),
            Step::Compact => self.execute("COMPACT t"),
            Step::Reopen => {
                self.database = None;
                self.database = Some(self.start()?);
                Ok(())
            }
        }
    }

    fn start(&self) -> Result<Database, Error> {
        let builder =
            Database::memory_builder().tiny_layout().index_commit_rows(4).sweep_every(None).full_scan("allow").unwrap();
        Database::start(Arc::new(self.faults.store(self.store.clone())), builder)
    }

    /// Opens the database, after a crash or after a normal end. The store has no more faults.
    fn reopen(&mut self) {
        self.database = None;
        self.faults.set(Fault::None);
        self.database = Some(self.start().unwrap());
    }

    fn rows<T: crate::FromRow>(&self, sql: &str) -> Vec<T> {
        let connection = self.connect();
        let rows = connection.query(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}"));
        rows.map(|row| T::from_row(&row.unwrap()).unwrap()).collect()
    }

    /// The indexes and their states, after all background builds have ended.
    fn indexes(&self) -> BTreeMap<usize, bool> {
        let began = Instant::now();
        loop {
            let states = self.states();
            assert!(began.elapsed() < Duration::from_secs(20), "{states:?}");
            if states.iter().all(|(_, state)| state == "ready" || state == "disabled") {
                let place = |name: &str| INDEXES.iter().position(|index| index.0 == name).unwrap();
                return states.iter().map(|(name, state)| (place(name), state == "disabled")).collect();
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn states(&self) -> Vec<(String, String)> {
        let connection = self.connect();
        let rows = connection.query("SHOW INDEXES FROM t", ()).unwrap().map(Result::unwrap);
        rows.map(|row| (row.get(2).unwrap(), row.get(9).unwrap())).collect()
    }

    /// The rows of the database. Checks that rows and entries agree, and that a query by each readable index finds the same rows.
    fn found(&self) -> Model {
        self.faults.suspended(|| {
            let rows = self.rows::<(i64, Option<i64>, Option<String>, Option<i64>)>("SELECT k, a, b, c FROM t");
            let text = |b: String| ["", "x", "X", "y"].into_iter().find(|text| *text == b).unwrap();
            let rows = rows.into_iter().map(|(k, a, b, c)| (k, (a, b.map(text), c))).collect();
            let model = Model { rows, indexes: self.indexes() };
            let report = self.database.as_ref().unwrap().check().unwrap();
            assert!(report.is_sound(), "{:#?}, {model:?}", report.faults);
            self.states().iter().filter(|(_, state)| state == "ready").for_each(|(name, _)| self.agrees(name));
            model
        })
    }

    fn agrees(&self, name: &str) {
        let (_, _, condition) = INDEXES.into_iter().find(|index| index.0 == name).unwrap();
        for values in ["= 2", ">= 0"] {
            let condition = condition.replace("= ?", values);
            let keys = |hint: String| {
                let mut keys = self.rows::<(i64, Option<i64>)>(&format!("SELECT {hint} k, c FROM t WHERE {condition}"));
                keys.sort_unstable();
                keys
            };
            let (by_index, by_rows) = (keys(format!("/*+ INDEX(t {name}) */")), keys("/*+ NO_INDEX(t) */".into()));
            assert_eq!(by_index, by_rows, "{name}: {condition}");
        }
    }
}

/// Runs all steps without a fault; returns the state after each step, and the numbers of writes and of mutations.
fn reference(steps: &[Step]) -> (Vec<Model>, u64, u64) {
    let mut bed = Bed::new();
    let before = bed.faults.counts();
    let mut states = vec![Model::default()];
    for step in steps {
        let (done, last) = (bed.run(step), &states[states.len() - 1]);
        let after = last.after(step);
        assert_eq!(done.is_ok(), after.is_some(), "{step:?} over {last:?}: {done:?}");
        let after = after.unwrap_or_else(|| last.clone());
        assert_eq!(bed.found(), after, "{step:?}");
        states.push(after);
    }
    let counts = bed.faults.counts();
    (states, counts.of(Call::Write) - before.of(Call::Write), counts.mutations - before.mutations)
}

/// The write of this number fails; the later steps run at once, or after the database is opened again.
fn with_failure(steps: &[Step], failure: Failure) {
    let mut bed = Bed::new();
    let (mut model, mut is_over) = (Model::default(), false);
    bed.faults.set(Fault::Fail(failure));
    for step in steps {
        let done = bed.run(step);
        let after = model.after(step);
        let has_failed = bed.faults.failed() > 0 && !is_over;
        match done {
            Ok(()) => model = after.unwrap_or_else(|| panic!("{step:?} is not refused")),
            Err(error) => {
                assert!(after.is_none() || has_failed, "{step:?} fails by itself: {error}");
                if has_failed {
                    is_over = true;
                    // The process ends in the middle of a statement, or continues if it can. The next opening completes the index builds
                    // that the statement has left.
                    if failure.lasting == Lasting::UntilSet || failure.outcome != Outcome::Refused {
                        bed.reopen();
                    } else {
                        bed.faults.set(Fault::None);
                    }
                    model = one_of(&bed.found(), [Some(model), after].into_iter().flatten(), step, failure);
                }
            }
        }
    }
    bed.reopen();
    assert_eq!(bed.found().rows, model.rows, "{failure:?}");
}

/// The one of the possible states that the database has.
fn one_of(found: &Model, mut may_be: impl Iterator<Item = Model>, step: &Step, failure: Failure) -> Model {
    may_be
        .find(|model| model == found)
        .map_or_else(|| panic!("{failure:?}: {step:?} left {found:?}"), |_| found.clone())
}

/// The mutation of this number and all later ones never reach the store; then the process crashes.
fn with_loss(steps: &[Step], states: &[Model], mutation: u64) {
    let mut bed = Bed::new();
    bed.faults.set(Fault::LoseMutation(mutation));
    for step in steps {
        // Opening the database again would read the lost mutations.
        if !matches!(step, Step::Reopen) {
            drop(bed.run(step));
        }
    }
    bed.reopen();
    let found = bed.found();
    assert!(states.iter().any(|state| state.rows == found.rows), "{mutation}: {found:?}");
}

/// The ways in which a write fails. The second is a crash before the write.
const FAILURES: [(Lasting, Outcome); 4] = [
    (Lasting::Once, Outcome::Refused),
    (Lasting::UntilSet, Outcome::Refused),
    (Lasting::Once, Outcome::Unknown { done: true }),
    (Lasting::Once, Outcome::Unknown { done: false }),
];

/// The loss test runs for each mutation whose number is a multiple of this one.
const LOSS_STEP: usize = 29;

#[test]
fn indexes_stay_in_step_through_faults_at_each_write() {
    let cases = ProptestConfig::default().cases.div_ceil(32);
    proptest!(ProptestConfig::with_cases(cases), |(steps in prop::collection::vec(step(), 8..20))| {
        let (states, writes, mutations) = reference(&steps);
        for number in 0..writes {
            // One kind of failure for each write; lists of other lengths have other kinds.
            let (lasting, outcome) = FAILURES[(number as usize + steps.len()) % FAILURES.len()];
            with_failure(&steps, Failure { call: Call::Write, number, lasting, outcome });
        }
        (0..mutations).step_by(LOSS_STEP).for_each(|mutation| with_loss(&steps, &states, mutation));
    });
}
