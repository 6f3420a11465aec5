//! Rows of an indexed table expire while writes of the store fail: writes of sweeps, of merges and of ALTER TABLE .. SET TTL.
//!
//! Each list of steps first runs without faults, to count its writes, and then once for each write, with a fault at that write. At the
//! fault, after the database is opened again, and at the end, the rows equal those of a model, rows and index entries agree, and a query
//! finds the same rows with an index as without one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::sample::select;
use saltwing_access::Clock;
use saltwing_store::MemoryStore;
use saltwing_store::conformance::fault::{Call, Failure, Fault, Faults, Lasting, Outcome};
use saltwing_types::ErrorCode;

use crate::blocking::Connection;
use crate::{Database, Error};

const TABLE: &str = "CREATE TABLE t (k BIGINT PRIMARY KEY, a BIGINT, c BIGINT) SALT_BUCKETS = 2, TTL = 30";

/// An index of each kind, with a condition for which it is used.
const INDEXES: [(&str, &str, &str); 4] = [
    ("g", "CREATE INDEX g ON t (a DESC) INCLUDE (c)", "a >= 0"),
    ("l", "CREATE LOCAL INDEX l ON t (a)", "a >= 0"),
    ("p", "CREATE INDEX p ON t (a) WHERE c > 4", "a >= 0 AND c > 4"),
    ("u", "CREATE UNIQUE INDEX u ON t (c)", "c >= 0"),
];
/// All rows, with the times of their writes.
const ALL: &str = "SELECT /*+ NO_INDEX(t) */ k, a, c, CAST(PHOENIX_ROW_TIMESTAMP() AS BIGINT) FROM t";
const START_MS: i64 = 1_000_000;

/// The ways in which a write fails. The second is a crash before the write.
const FAILURES: [(Lasting, Outcome); 4] = [
    (Lasting::Once, Outcome::Refused),
    (Lasting::UntilSet, Outcome::Refused),
    (Lasting::Once, Outcome::Unknown { done: true }),
    (Lasting::Once, Outcome::Unknown { done: false }),
];

struct ManualClock(AtomicI64);

impl Clock for ManualClock {
    fn now_ms(&self) -> i64 {
        self.0.load(Relaxed)
    }
}

/// The columns after the key.
type Values = (Option<i64>, Option<i64>);

#[derive(Clone, Debug)]
enum Step {
    Upsert(Vec<(i64, Values)>),
    UpsertA(i64, Option<i64>),
    Delete(i64),
    /// Seconds.
    Wait(i64),
    Sweep,
    Compact,
    SetTtl(Option<i64>),
    Rebuild(&'static str),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let a = || prop::option::weighted(0.9, 0..4i64);
    let row = (0..8i64, (a(), prop::option::weighted(0.7, 0..10i64)));
    prop_oneof![
        8 => prop::collection::vec(row, 1..4).prop_map(Step::Upsert),
        5 => (0..8i64, a()).prop_map(|(k, a)| Step::UpsertA(k, a)),
        2 => (0..8i64).prop_map(Step::Delete),
        6 => (1..25i64).prop_map(Step::Wait),
        4 => Just(Step::Sweep),
        2 => Just(Step::Compact),
        3 => select(vec![None, Some(10), Some(30), Some(60)]).prop_map(Step::SetTtl),
        1 => select(vec!["g", "l", "p"]).prop_map(Step::Rebuild),
        1 => Just(Step::Reopen),
    ]
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    values: Values,
    written_ms: i64,
    /// Whether the row has ever been expired, so that storage may have removed it.
    is_maybe: bool,
}

/// The rows that may be stored, including expired ones.
#[derive(Clone, Debug, PartialEq)]
struct Model {
    rows: BTreeMap<i64, Row>,
    ttl_s: Option<i64>,
}

impl Model {
    fn new() -> Self {
        Self { rows: BTreeMap::new(), ttl_s: Some(30) }
    }

    fn is_shown(&self, row: &Row, now_ms: i64) -> bool {
        self.ttl_s.is_none_or(|ttl_s| row.written_ms > now_ms - ttl_s * 1000)
    }

    fn note_expired(&mut self, now_ms: i64) {
        let Self { ttl_s, .. } = *self;
        let limit_ms = ttl_s.map(|ttl_s| now_ms - ttl_s * 1000);
        self.rows.values_mut().for_each(|row| row.is_maybe |= limit_ms.is_some_and(|limit| row.written_ms <= limit));
    }

    /// Whether two visible rows have the same unique value.
    fn has_twice(&self, now_ms: i64) -> bool {
        let shown = self.rows.values().filter(|row| self.is_shown(row, now_ms));
        let mut values: Vec<i64> = shown.filter_map(|row| row.values.1).collect();
        values.sort_unstable();
        values.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// The model after a step that succeeds; `None` if the step is refused.
    fn after(&self, step: &Step, now_ms: i64) -> Option<Self> {
        let mut model = self.clone();
        let new = |values| Row { values, written_ms: now_ms, is_maybe: false };
        match step {
            Step::Upsert(rows) => model.rows.extend(rows.iter().map(|(k, values)| (*k, new(*values)))),
            Step::UpsertA(k, a) => {
                let old = model.rows.get(k).filter(|row| self.is_shown(row, now_ms));
                let c = old.and_then(|row| row.values.1);
                model.rows.insert(*k, new((*a, c)));
            }
            Step::Delete(k) => {
                let is_there = self.rows.get(k).is_some_and(|row| self.is_shown(row, now_ms));
                if is_there {
                    model.rows.remove(k);
                }
            }
            Step::SetTtl(ttl_s) => model.ttl_s = *ttl_s,
            Step::Wait(_) | Step::Sweep | Step::Compact | Step::Rebuild(_) | Step::Reopen => {}
        }
        let is_write = matches!(step, Step::Upsert(_) | Step::UpsertA(..));
        (!is_write || !model.has_twice(now_ms)).then_some(model)
    }

    /// The model after the rows that `found` lacks are removed; `None` if the model does not permit `found`.
    fn agreed(mut self, found: &BTreeMap<i64, (Values, i64)>, now_ms: i64) -> Option<Self> {
        let row = |k: &i64| self.rows.get(k).map(|row| (row.values, row.written_ms));
        if found.iter().any(|(k, found)| row(k) != Some(*found)) {
            return None;
        }
        let shown = self.clone();
        for (k, row) in &shown.rows {
            match (shown.is_shown(row, now_ms), found.contains_key(k)) {
                (true, true) => drop(self.rows.insert(*k, Row { is_maybe: false, ..*row })),
                (true, false) if row.is_maybe => drop(self.rows.remove(k)),
                (true, false) | (false, true) => return None,
                (false, false) => {}
            }
        }
        self.note_expired(now_ms);
        Some(self)
    }
}

struct Bed {
    faults: Faults,
    store: MemoryStore,
    clock: Arc<ManualClock>,
    /// `None` while the database is being opened.
    database: Option<Database>,
}

impl Bed {
    fn new() -> Self {
        let clock = Arc::new(ManualClock(AtomicI64::new(START_MS)));
        let mut bed = Self { faults: Faults::new(Fault::None), store: MemoryStore::new(), clock, database: None };
        bed.reopen();
        bed.execute(TABLE).unwrap();
        INDEXES.iter().for_each(|(_, create, _)| bed.execute(create).unwrap());
        bed
    }

    fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    fn wait(&self, seconds: i64) {
        self.clock.0.fetch_add(seconds * 1000, Relaxed);
    }

    fn database(&self) -> &Database {
        self.database.as_ref().unwrap()
    }

    fn connect(&self) -> Connection {
        self.database().connect().blocking()
    }

    fn execute(&self, sql: &str) -> Result<(), Error> {
        self.connect().execute(sql, ()).map(drop)
    }

    fn start(&self) -> Result<Database, Error> {
        let builder =
            Database::memory_builder().tiny_layout().index_commit_rows(4).sweep_every(None).clock(self.clock.clone());
        Database::start(Arc::new(self.faults.store(self.store.clone())), builder.full_scan("allow").unwrap())
    }

    /// Opens the database, after a crash or after a normal end. The store has no more faults.
    fn reopen(&mut self) {
        self.database = None;
        self.faults.set(Fault::None);
        self.database = Some(self.start().unwrap());
    }

    fn run(&mut self, step: &Step) -> Result<(), Error> {
        let literal = |value: &Option<i64>| value.map_or("NULL".into(), |value: i64| value.to_string());
        match step {
            Step::Upsert(rows) => {
                let row = |(k, (a, c)): &(i64, Values)| format!("({k}, {}, {})", literal(a), literal(c));
                self.execute(&format!("UPSERT INTO t VALUES {}", rows.iter().map(row).collect::<Vec<_>>().join(", ")))
            }
            Step::UpsertA(k, a) => self.execute(&format!("UPSERT INTO t (k, a) VALUES ({k}, {})", literal(a))),
            Step::Delete(k) => self.execute(&format!("DELETE FROM t WHERE k = {k}")),
            Step::Wait(seconds) => {
                self.wait(*seconds);
                Ok(())
            }
            Step::Sweep => self.database().sweep().map(drop),
            Step::Compact => self.execute("COMPACT t"),
            Step::SetTtl(None) => self.execute("ALTER TABLE t SET TTL = NONE"),
            Step::SetTtl(Some(ttl_s)) => self.execute(&format!("ALTER TABLE t SET TTL = {ttl_s}")),
            Step::Rebuild(name) => self.execute(&format!("ALTER INDEX {name} ON t REBUILD")),
            Step::Reopen => {
                self.database = None;
                self.database = Some(self.start()?);
                Ok(())
            }
        }
    }

    fn rows<T: crate::FromRow>(&self, sql: &str) -> Vec<T> {
        let connection = self.connect();
        let rows = connection.query(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}"));
        rows.map(|row| T::from_row(&row.unwrap()).unwrap()).collect()
    }

    fn ttl_s(&self) -> Option<i64> {
        let create: Vec<(String,)> = self.rows("SHOW CREATE TABLE t");
        let (_, behind) = create[0].0.split_once("TTL = ")?;
        Some(behind.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap())
    }

    fn states(&self) -> Vec<(String, String)> {
        let connection = self.connect();
        let rows = connection.query("SHOW INDEXES FROM t", ()).unwrap().map(Result::unwrap);
        rows.map(|row| (row.get(2).unwrap(), row.get(9).unwrap())).collect()
    }

    /// Waits for background builds of indexes.
    fn settle(&self) {
        let began = Instant::now();
        while self.states().iter().any(|(_, state)| state != "ready") {
            assert!(began.elapsed() < Duration::from_secs(20), "{:?}", self.states());
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(self.states().len(), INDEXES.len());
    }

    /// Compares the database with these models, of which one must agree: the rows, the entries of all rows, and queries by each index.
    fn agreed(&self, may_be: impl IntoIterator<Item = Model>, at: &dyn std::fmt::Debug) -> Model {
        self.faults.suspended(|| {
            let found = self.rows::<(i64, Option<i64>, Option<i64>, i64)>(ALL);
            let found = found.into_iter().map(|(k, a, c, written_ms)| (k, ((a, c), written_ms))).collect();
            let (now_ms, ttl_s) = (self.now_ms(), self.ttl_s());
            let may_be: Vec<Model> = may_be.into_iter().filter(|model| model.ttl_s == ttl_s).collect();
            let agreed = may_be.iter().find_map(|model| model.clone().agreed(&found, now_ms));
            let model = agreed.unwrap_or_else(|| panic!("{at:?}: {found:?}, TTL {ttl_s:?}, not {may_be:?}"));
            self.settle();
            let report = self.database().check().unwrap();
            assert!(report.is_sound(), "{at:?}: {:#?}", report.faults);
            INDEXES.iter().for_each(|(name, ..)| self.agrees(name));
            model
        })
    }

    fn agrees(&self, name: &str) {
        let (_, _, condition) = INDEXES.into_iter().find(|index| index.0 == name).unwrap();
        let rows = |hint: String, columns: &str| {
            let found = self.rows::<(i64, Option<i64>)>(&format!("SELECT {hint} {columns} FROM t WHERE {condition}"));
            let mut found: Vec<_> = found.into_iter().collect();
            found.sort_unstable();
            found
        };
        for columns in ["k, c", "k, a"] {
            let by_rows = rows("/*+ NO_INDEX(t) */".into(), columns);
            assert_eq!(rows(format!("/*+ INDEX(t {name}) */"), columns), by_rows, "{name}: {columns}");
        }
    }
}

/// Runs all steps without a fault; returns the number of their writes.
fn writes_of(steps: &[Step]) -> u64 {
    let mut bed = Bed::new();
    let before = bed.faults.counts();
    let mut model = Model::new();
    for step in steps {
        let done = bed.run(step);
        model.note_expired(bed.now_ms());
        model = taken(&bed, model, step, done);
    }
    bed.faults.counts().of(Call::Write) - before.of(Call::Write)
}

/// The model after a step without a fault.
fn taken(bed: &Bed, model: Model, step: &Step, done: Result<(), Error>) -> Model {
    let now_ms = bed.now_ms();
    match (done, model.after(step, now_ms)) {
        (Ok(()), Some(after)) => bed.agreed([after], step),
        (Err(error), after) => {
            // Rows that become visible again may have the unique value of another row, and storage may have removed some of them.
            let may_fail = after.is_none_or(|after| matches!(step, Step::SetTtl(_)) && after.has_twice(now_ms));
            assert!(error.code() == ErrorCode::DuplicateKey && may_fail, "{step:?}: {error}");
            bed.agreed([model], step)
        }
        (Ok(()), None) => panic!("{step:?} is not refused"),
    }
}

/// The write of this number fails; the later steps run at once, or after the database is opened again.
fn with_failure(steps: &[Step], failure: Failure) {
    let mut bed = Bed::new();
    let (mut model, mut is_over) = (Model::new(), false);
    bed.faults.set(Fault::Fail(failure));
    for step in steps {
        let done = bed.run(step);
        model.note_expired(bed.now_ms());
        if bed.faults.failed() == 0 || is_over {
            model = taken(&bed, model, step, done);
            continue;
        }
        is_over = true;
        let after = model.after(step, bed.now_ms());
        let before = Some(model).filter(|_| done.is_err());
        let goes_on = failure == Failure::once(Call::Write, failure.number) && done.is_err();
        if !goes_on || matches!(step, Step::Reopen) {
            bed.reopen();
        }
        bed.faults.set(Fault::None);
        model = bed.agreed(before.into_iter().chain(after), &(step, failure));
    }
    bed.reopen();
    model.note_expired(bed.now_ms());
    bed.agreed([model], &failure);
}

#[test]
fn entries_expire_with_their_rows() {
    let cases = ProptestConfig::default().cases.div_ceil(6);
    proptest!(ProptestConfig::with_cases(cases), |(steps in prop::collection::vec(step(), 10..50))| {
        writes_of(&steps);
    });
}

#[test]
fn expired_rows_and_entries_stay_in_step_through_faults_at_each_write() {
    let cases = ProptestConfig::default().cases.div_ceil(32);
    proptest!(ProptestConfig::with_cases(cases), |(steps in prop::collection::vec(step(), 8..25))| {
        for number in 0..writes_of(&steps) {
            // One kind of failure for each write; lists of other lengths have other kinds.
            let (lasting, outcome) = FAILURES[(number as usize + steps.len()) % FAILURES.len()];
            with_failure(&steps, Failure { call: Call::Write, number, lasting, outcome });
        }
    });
}

/// A TTL is set together with the entries of all indexes, or not at all. Tried for a first TTL, a longer one, and none.
#[test]
fn a_ttl_comes_with_the_entries_of_its_rows() {
    let rows = [
        Step::Upsert(vec![(0, (Some(0), Some(7)))]),
        Step::Wait(24),
        Step::UpsertA(4, Some(0)),
        Step::Upsert(vec![(1, (Some(2), Some(8)))]),
        Step::Wait(8),
    ];
    for ttls in [[None, Some(10)], [Some(10), Some(60)], [Some(30), None]] {
        let [before, after] = ttls.map(Step::SetTtl);
        let steps: Vec<Step> = std::iter::once(before).chain(rows.clone()).chain([after]).collect();
        for number in 0..writes_of(&steps) {
            for (lasting, outcome) in FAILURES {
                with_failure(&steps, Failure { call: Call::Write, number, lasting, outcome });
            }
        }
    }
}

/// Rows of three ages, in blocks and in memory; the oldest third is expired.
fn of_three_ages() -> (Bed, Model) {
    let (mut bed, mut model) = (Bed::new(), Model::new());
    for age in 0..3 {
        let row = |k: i64| (k, (Some(k % 7), (k % 5 > 0).then_some(k)));
        let rows = Step::Upsert((0..120).filter(|k| k % 3 == age).map(row).collect());
        // Some rows of the previous age are written again, so they and their entries get a new time.
        for step in [rows, Step::UpsertA(age + 60, Some(1)), Step::UpsertA(age + 2, None), Step::Wait(12)] {
            bed.run(&step).unwrap();
            model = model.after(&step, bed.now_ms()).unwrap();
        }
        if age == 1 {
            bed.run(&Step::Compact).unwrap();
        }
    }
    model.note_expired(bed.now_ms());
    (bed, model)
}

#[test]
fn a_sweep_that_fails_leaves_rows_and_entries_in_step() {
    let (bed, model) = of_three_ages();
    let before = bed.faults.counts().of(Call::Write);
    assert!(bed.database().sweep().unwrap() > 40, "rows, and entries of each index");
    let writes = bed.faults.counts().of(Call::Write) - before;
    assert!(writes > 10, "{writes}");
    bed.agreed([model], &"a sweep");
    for number in 0..writes {
        let (lasting, outcome) = FAILURES[number as usize % FAILURES.len()];
        let failure = Failure { call: Call::Write, number, lasting, outcome };
        let (mut bed, model) = of_three_ages();
        bed.faults.set(Fault::Fail(failure));
        let done = bed.database().sweep();
        assert!(done.is_err() && bed.faults.failed() > 0, "{failure:?}");
        let model = bed.agreed([model], &failure);
        bed.reopen();
        let model = bed.agreed([model], &failure);
        bed.database().sweep().unwrap();
        let model = bed.agreed([model], &failure);
        let stored = bed.database().check().unwrap().rows as usize;
        assert_eq!(stored, model.rows.values().filter(|row| model.is_shown(row, bed.now_ms())).count(), "{failure:?}");
    }
}
