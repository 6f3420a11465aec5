//! Random transactions of several threads, and what they saw.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use saltwing::blocking::Connection;
use saltwing::{Database, Error, ErrorCode};

use crate::history::{End, History, Span, Transaction};
use crate::index::Index;
use crate::random::Random;
use crate::state::State;
use crate::statement::{Answer, KEYS, Statement};
use crate::table::{COLUMNS, Row, Table};

/// Most statements of a transaction.
const STATEMENTS_MAX: u64 = 7;
/// The column of SHOW INDEXES that has the state.
const STATE: usize = 9;
/// The pause between two changes of indexes.
const CHANGE_PAUSE: Duration = Duration::from_millis(15);
/// How far apart the ends of a short range of values are.
const NEAR: u64 = 200;
/// The longest pause between two statements, in microseconds.
const PAUSE_MAX: u64 = 300;

/// The clock of a history. It also gives the values that are written: no two are the same.
#[derive(Debug, Default)]
pub struct Clock(AtomicU64);

impl Clock {
    /// A clock that starts here.
    pub fn starting_at(time: u64) -> Self {
        Self(AtomicU64::new(time))
    }

    /// A time after all others so far.
    pub fn tick(&self) -> u64 {
        self.0.fetch_add(1, SeqCst)
    }

    /// Runs a call, and says when.
    pub fn timed<T>(&self, call: impl FnOnce() -> T) -> (T, Span) {
        let sent = self.tick();
        let given = call();
        (given, Span { sent, answered: self.tick() })
    }
}

/// Creates the tables that are not there.
///
/// # Errors
/// The database's.
pub fn create_tables(database: &Database) -> Result<(), Error> {
    let connection = database.connect().blocking();
    Table::ALL.iter().try_for_each(|table| connection.execute(table.definition(), ()).map(drop))
}

/// Creates the indexes that are not there. A load with [`Load::indexed`] reads them.
///
/// # Errors
/// The database's.
pub fn create_indexes(database: &Database) -> Result<(), Error> {
    let connection = database.connect().blocking();
    Index::ALL.iter().try_for_each(|index| connection.execute(index.definition(), ()).map(drop))
}

/// The rows of the database, read in one transaction.
///
/// # Errors
/// The database's.
pub fn contents(database: &Database) -> Result<State, Error> {
    let transaction = database.connect().blocking().begin()?;
    let mut state = State::default();
    for table in Table::ALL {
        if let Answer::Rows(rows) = Statement::all(table).run(&transaction)? {
            let row = |row: Vec<Option<i64>>| Some((*row.first()?.as_ref()?, [*row.get(1)?, *row.get(2)?]));
            state.rows_mut(table).extend(rows.into_iter().filter_map(row));
        }
    }
    Ok(state)
}

/// Statements that create indexes more on the tables, rebuild them and drop them.
pub const INDEX_CHANGES: [&str; 6] = [
    "CREATE INDEX IF NOT EXISTS more ON a (w, v DESC)",
    "ALTER INDEX more ON a REBUILD",
    "CREATE LOCAL INDEX IF NOT EXISTS near ON b (v) INCLUDE (w)",
    "ALTER INDEX near ON b REBUILD",
    "DROP INDEX IF EXISTS more ON a",
    "DROP INDEX IF EXISTS near ON b",
];

/// Runs statements that change indexes, again and again until `is_over`.
///
/// # Errors
/// The database's, but for conflicts.
pub fn change_indexes(database: &Database, statements: &[&str], is_over: impl Fn() -> bool) -> Result<(), Error> {
    let connection = database.connect().blocking();
    for sql in statements.iter().cycle() {
        if is_over() {
            break;
        }
        match connection.execute(sql, ()) {
            Err(error) if error.code() != ErrorCode::Conflict => return Err(error),
            // Each change ends the transactions that are open: others are to come to their ends.
            _ => std::thread::sleep(CHANGE_PAUSE),
        }
    }
    Ok(())
}

/// Waits until no index is built in the background any more: a process that was killed leaves builds to the next opening.
///
/// # Errors
/// The database's.
pub fn wait_for_indexes(database: &Database) -> Result<(), Error> {
    let connection = database.connect().blocking();
    loop {
        let rows = connection.query("SHOW INDEXES", ())?;
        let states: Vec<String> = rows.map(|row| row.and_then(|row| row.get(STATE))).collect::<Result<_, _>>()?;
        if states.iter().all(|state| !state.ends_with("building")) {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// What statements find by each index, over all values: none is negative.
///
/// # Errors
/// The database's.
pub fn found_by_indexes(database: &Database) -> Result<Vec<(Statement, Answer)>, Error> {
    let connection = database.connect().blocking();
    let found = |index: &Index| {
        let statement = Statement::ByIndex { index: *index, from: 0, to: i64::MAX };
        let answer = statement.run(&connection)?;
        Ok((statement, answer))
    };
    Index::ALL.iter().map(found).collect()
}

/// Which transactions run.
pub struct Load<'a> {
    /// Where.
    pub database: &'a Database,
    /// What statements follow from.
    pub seed: u64,
    /// How many at once.
    pub threads: usize,
    /// How many of each thread.
    pub transactions: usize,
    /// Whether some statements read the indexes, and write values that others have.
    pub indexed: bool,
    /// Whether calls fail: an error other than a conflict is part of the history then, and else a panic.
    pub may_fail: bool,
    /// Gets each transaction before its COMMIT is sent, as one of unknown outcome, and once it has ended: by its thread.
    pub report: &'a (dyn Fn(usize, &Transaction) + Sync),
}

impl Load<'_> {
    /// Runs them.
    pub fn run(&self, clock: &Clock) -> History {
        let barrier = Barrier::new(self.threads);
        let run = |thread: usize| {
            let random = Random::new(self.seed.wrapping_mul(1_000).wrapping_add(thread as u64));
            let connection = self.database.connect().blocking();
            let mut client = Client { load: self, thread, clock, random, connection };
            barrier.wait();
            (0..self.transactions).map(|_| client.transaction()).collect()
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.threads).map(|thread| scope.spawn(move || run(thread))).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        })
    }
}

/// A thread that runs transactions.
struct Client<'a> {
    load: &'a Load<'a>,
    thread: usize,
    clock: &'a Clock,
    random: Random,
    connection: Connection,
}

impl Client<'_> {
    fn transaction(&mut self) -> Transaction {
        if cfg!(feature = "datafusion") {
            let executor = self.random.pick(&["auto", "auto", "datafusion"]);
            let set = self.connection.execute(&format!("SET executor = '{executor}'"), ());
            let _ = self.checked(set);
        }
        let transaction = if self.random.one_in(5) { self.single() } else { self.several() };
        self.report(&transaction);
        transaction
    }

    fn report(&self, transaction: &Transaction) {
        (self.load.report)(self.thread, transaction);
    }

    /// One statement outside BEGIN .. COMMIT.
    fn single(&mut self) -> Transaction {
        let statement = self.statement();
        let sent = self.clock.tick();
        let over = |statement: Statement, answer, answered, end| {
            let span = Span { sent, answered };
            Transaction { began: span, statements: vec![(statement, answer)], ended: span, end }
        };
        self.report(&over(statement.clone(), Answer::None, u64::MAX, End::Unknown));
        let answer = self.checked(statement.run(&self.connection));
        let (answer, end) = match answer {
            Ok(answer) => (answer, End::Committed),
            Err(ErrorCode::CommitUnknown) => (Answer::None, End::Unknown),
            Err(_) => (Answer::Failed, End::RolledBack),
        };
        over(statement, answer, self.clock.tick(), end)
    }

    fn several(&mut self) -> Transaction {
        let (begun, began) = self.clock.timed(|| self.connection.execute("BEGIN", ()));
        if self.checked(begun).is_err() {
            return Transaction { began, statements: Vec::new(), ended: began, end: End::RolledBack };
        }
        let mut statements = Vec::new();
        let (mut savepoints, mut is_failed) = (0, false);
        for _ in 0..=self.random.below(STATEMENTS_MAX) {
            let statement = match self.random.below(12) {
                // All that it takes after a refused statement.
                _ if is_failed && savepoints > 0 => Statement::RollbackTo,
                _ if is_failed => break,
                0 => Statement::Savepoint,
                1 if savepoints > 0 => Statement::RollbackTo,
                2 if savepoints > 0 => Statement::Release,
                _ => self.statement(),
            };
            let answer = self.checked(statement.run(&self.connection)).unwrap_or(Answer::Failed);
            is_failed = answer == Answer::Refused;
            match (&statement, &answer) {
                (Statement::Savepoint, Answer::Done) => savepoints += 1,
                (Statement::Release, Answer::Done) => savepoints -= 1,
                _ => {}
            }
            statements.push((statement, answer));
            if self.random.one_in(2) {
                std::thread::sleep(Duration::from_micros(self.random.below(PAUSE_MAX)));
            }
        }
        let (sent, is_commit) = (self.clock.tick(), !is_failed && !self.random.one_in(6));
        let ended = Span { sent, answered: u64::MAX };
        let mut transaction = Transaction { began, statements, ended, end: End::Unknown };
        if is_commit {
            self.report(&transaction);
        }
        let end = self.connection.execute(if is_commit { "COMMIT" } else { "ROLLBACK" }, ());
        transaction.end = match self.checked(end) {
            Ok(_) if is_commit => End::Committed,
            Err(ErrorCode::CommitUnknown) => End::Unknown,
            Err(ErrorCode::Conflict | ErrorCode::SnapshotTooOld) => End::Conflict,
            _ => End::RolledBack,
        };
        transaction.ended.answered = self.clock.tick();
        transaction
    }

    /// The code of an error, which must be a conflict if nothing fails.
    fn checked<T>(&self, result: Result<T, Error>) -> Result<T, ErrorCode> {
        result.map_err(|error| {
            let is_conflict = matches!(error.code(), ErrorCode::Conflict | ErrorCode::SnapshotTooOld);
            assert!(self.load.may_fail || is_conflict, "thread {}: {error}", self.thread);
            error.code()
        })
    }

    fn statement(&mut self) -> Statement {
        let random = &mut self.random;
        let table = random.pick(&Table::ALL);
        let (from, key) = (random.below(KEYS as u64) as i64, random.below(KEYS as u64) as i64);
        let to = from + random.below(6) as i64;
        let (value, column) = (self.clock.tick() as i64, random.below(COLUMNS.len() as u64) as usize);
        let row: Row = [Some(value), Some(value)];
        if self.load.indexed && random.one_in(3) {
            return by_index(random, value);
        }
        match random.below(20) {
            0..2 => Statement::Point { table, key },
            2..6 => Statement::Range { table, from, to },
            6 => Statement::all(table),
            7 => Statement::Totals { table, from: 0, to: KEYS },
            8 if cfg!(feature = "datafusion") => Statement::Join { from: 0, to: KEYS },
            8..10 => Statement::Totals { table, from, to },
            10..13 => Statement::Upsert { table, key, row },
            13 => Statement::UpsertOne { table, key, column, value },
            14 => Statement::InsertNew { table, key, row },
            15 => Statement::Set { table, from, to, column, value },
            16..18 => Statement::Add { table, from, to: from + 1, value },
            18 => Statement::Copy { from, to: from + 2 },
            _ => Statement::Delete { table, from, to: from + 2 },
        }
    }
}

/// A statement about an index; `value` is larger than most values that were written before.
fn by_index(random: &mut Random, value: i64) -> Statement {
    let (index, key) = (random.pick(&Index::ALL), random.below(KEYS as u64) as i64);
    let from = random.below(value.unsigned_abs() + 1) as i64;
    let to = if random.one_in(2) { i64::MAX } else { from + random.below(NEAR) as i64 };
    match random.below(12) {
        0..3 => Statement::ByIndex { index, from, to },
        3..5 => Statement::Page { index, from, to },
        5..7 => Statement::TotalsByIndex { index, from, to },
        7 => Statement::SetByIndex { index, from, to: from + random.below(NEAR) as i64, value },
        8 => Statement::DeleteByIndex { index, from, to: from + random.below(NEAR) as i64 },
        // One of few values, so that two rows are given one.
        _ => Statement::UpsertOne { table: Table::B, key, column: 1, value: random.below(6) as i64 },
    }
}
