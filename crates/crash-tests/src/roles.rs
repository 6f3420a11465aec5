//! The jobs of the child processes: the writer, the checker, the reader of all rows.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use saltwing::blocking::Connection;
use saltwing::{Builder, Database, Error, Loss, Row, StoreKind, Value};

use history_tests::{change_indexes, wait_for_indexes};

use crate::workload::{DEFINITIONS, INDEX_CHANGES, State, Step, Steps};

/// Exit code of a checker whose database could not be opened.
pub const NOT_OPENED: i32 = 3;
/// Exit code of a checker that found something missing or changed.
pub const WRONG: i32 = 4;

/// How a database is opened: with blocks and deltas so small that they are merged all the time.
pub struct Setup {
    pub store: StoreKind,
    pub seed: u64,
    pub threads: u64,
}

impl Setup {
    pub fn builder(&self, path: &Path) -> Builder {
        Database::builder(path)
            .store(self.store)
            .sweep_every(None)
            .delta_limits(1_500, 150 << 10)
            .merge_when_idle(Some(Duration::from_millis(150)))
            .full_scan("allow")
            .unwrap_or_else(|error| fail(&error.to_string()))
    }
}

fn fail(why: &str) -> ! {
    eprintln!("crash-tests: {why}");
    std::process::exit(2);
}

/// Each of several threads writes `statements` statements, while indexes are created and dropped; each acknowledged statement is a
/// line `thread` in the file `log`. The database is closed at the end unless `is_killed`: then this waits to be killed.
pub fn write(setup: &Setup, path: &Path, log: &Path, statements: usize, is_killed: bool) -> Result<(), Error> {
    let database = setup.builder(path).open()?;
    let connection = database.connect().blocking();
    for definition in DEFINITIONS {
        connection.execute(definition, ())?;
    }
    let files = log.parent().unwrap_or(Path::new("."));
    let writing = AtomicU64::new(setup.threads);
    std::thread::scope(|scope| {
        for thread in 0..setup.threads {
            let connection = database.connect().blocking();
            let writing = &writing;
            scope.spawn(move || {
                write_thread(setup, thread, &connection, log, files, statements);
                writing.fetch_sub(1, Ordering::Relaxed);
            });
        }
        let changed = change_indexes(&database, &INDEX_CHANGES, || writing.load(Ordering::Relaxed) == 0);
        changed.unwrap_or_else(|error| fail(&format!("a change of indexes: {error}")));
    });
    println!("written");
    if is_killed {
        std::thread::sleep(Duration::from_secs(600));
    }
    drop(connection);
    database.close()
}

fn write_thread(setup: &Setup, thread: u64, connection: &Connection, log: &Path, files: &Path, statements: usize) {
    let mut steps = Steps::new(setup.seed, thread);
    let log = OpenOptions::new().create(true).append(true).open(log);
    let mut log = log.unwrap_or_else(|error| fail(&error.to_string()));
    for _ in 0..statements {
        let step = steps.next();
        if let Err(error) = step.run(connection, thread, files) {
            fail(&format!("thread {thread}: {error} in {}", cropped(&step)));
        }
        step.apply(&mut steps.state);
        if log.write_all(format!("{thread}\n").as_bytes()).is_err() {
            fail("the log cannot be written");
        }
    }
}

/// Makes a database of what can be read of a damaged one. Prints each table with the rows that were saved, and the losses:
/// `saved 12 a`, `lost 3 why`, `lost ? why`.
pub fn salvage(setup: &Setup, damaged: &Path, target: &Path) -> i32 {
    let report = match setup.builder(target).salvage(damaged) {
        Ok(report) => report,
        Err(error) => {
            println!("not salvaged: {error}");
            return NOT_OPENED;
        }
    };
    for table in &report.tables {
        println!("saved {} {}", table.rows, table.name);
    }
    for fault in &report.lost {
        let count = if let Loss::Rows { count, .. } = fault.loss { count.to_string() } else { "?".into() };
        println!("lost {count} {fault}");
    }
    0
}

/// Opens a database and closes it.
pub fn open(setup: &Setup, path: &Path) -> Result<(), Error> {
    setup.builder(path).open()?.close()
}

/// How many statements of each thread a log says were acknowledged.
pub fn acknowledged(log: &[u8], threads: u64) -> Vec<u64> {
    let mut counts = vec![0; threads as usize];
    for line in String::from_utf8_lossy(log).lines() {
        if let Some(count) = line.parse::<usize>().ok().and_then(|thread| counts.get_mut(thread)) {
            *count += 1;
        }
    }
    counts
}

/// Opens a database and holds it to a log; then writes to it, closes it and holds it to the log again. Prints what is wrong.
pub fn check(setup: &Setup, path: &Path, log: &[u8]) -> i32 {
    let mut after: Option<Vec<State>> = None;
    for _ in 0..2 {
        let database = match setup.builder(path).open() {
            Ok(database) => database,
            Err(error) => {
                println!("not opened: {error}");
                return NOT_OPENED;
            }
        };
        database.notices().iter().for_each(|notice| println!("notice: {notice}"));
        let found = match held(setup, &database, log, after.as_deref()) {
            Ok(found) => found,
            Err(wrong) => {
                println!("{wrong}");
                return WRONG;
            }
        };
        let mut states = found;
        if let Err(error) = write_more(&database, &mut states) {
            println!("a statement after opening: {error}");
            return WRONG;
        }
        after = Some(states);
        if let Err(error) = database.close() {
            println!("close: {error}");
            return WRONG;
        }
    }
    0
}

/// The states that are there, if they are those of the log, or `exact`.
fn held(setup: &Setup, database: &Database, log: &[u8], exact: Option<&[State]>) -> Result<Vec<State>, String> {
    let (found, counts) = observe(database, setup.threads).map_err(|error| format!("reading: {error}"))?;
    let rows = [found.iter().map(|s| s.a.len()).sum::<usize>(), found.iter().map(|s| s.b.len()).sum()];
    if rows.map(|rows| rows as i64) != counts {
        return Err(format!("a and b have {rows:?} rows, and count {counts:?}"));
    }
    // The check also compares indexes with rows, once these are complete.
    wait_for_indexes(database).map_err(|error| format!("the builds of indexes: {error}"))?;
    let report = database.check().map_err(|error| format!("check: {error}"))?;
    if !report.faults.is_empty() {
        return Err(format!("check: {:?}", report.faults));
    }
    for (thread, (count, found)) in acknowledged(log, setup.threads).iter().zip(&found).enumerate() {
        if let Some(exact) = exact {
            if exact.get(thread) != Some(found) {
                return Err(format!("thread {thread}: other rows after a close"));
            }
            continue;
        }
        let mut steps = Steps::new(setup.seed, thread as u64);
        for _ in 0..*count {
            let step = steps.next();
            step.apply(&mut steps.state);
        }
        let without = steps.state.clone();
        let step = steps.next();
        step.apply(&mut steps.state);
        if *found != without && *found != steps.state {
            let (difference, step) = (difference(&without, found), cropped(&step));
            return Err(format!("thread {thread} after {count} statements: {difference}; next {step}"));
        }
    }
    Ok(found)
}

/// Characters of a statement, and rows of a difference, that are printed.
const PRINTED_CHARACTERS: usize = 60;
const PRINTED_ROWS: usize = 3;

fn cropped(step: &Step) -> String {
    format!("{step:?}").chars().take(PRINTED_CHARACTERS).collect()
}

fn difference(wanted: &State, found: &State) -> String {
    fn rows(what: &str, keys: Vec<i64>) -> String {
        let (count, first) = (keys.len(), keys.get(..PRINTED_ROWS).unwrap_or(&keys));
        if count == 0 { format!("0 {what}") } else { format!("{count} {what}, from {first:?}") }
    }
    fn of<V: PartialEq>(name: &str, wanted: &BTreeMap<i64, V>, found: &BTreeMap<i64, V>) -> String {
        let missing = wanted.keys().copied().filter(|key| !found.contains_key(key)).collect();
        let extra = found.keys().copied().filter(|key| !wanted.contains_key(key)).collect();
        let is_other = |key: &i64| found.get(key).is_some_and(|found| wanted.get(key) != Some(found));
        let other = wanted.keys().copied().filter(is_other).collect();
        let (missing, extra, other) = (rows("missing", missing), rows("extra", extra), rows("changed", other));
        format!("{name}: {missing}; {extra}; {other}; of {}", wanted.len())
    }
    let own = if wanted.own == found.own { "the same" } else { "another" };
    format!("{}; {}; own table: {own}", of("a", &wanted.a, &found.a), of("b", &wanted.b, &found.b))
}

fn write_more(database: &Database, states: &mut [State]) -> Result<(), Error> {
    let connection = database.connect().blocking();
    for (thread, state) in states.iter_mut().enumerate() {
        let step = Step::Upsert(vec![(7, (Some(-7), Some("after".into())))]);
        // Before its table was made a cut leaves nothing to write to.
        if connection.execute("SELECT count(*) FROM a", ()).is_err() {
            return Ok(());
        }
        step.run(&connection, thread as u64, Path::new("."))?;
        step.apply(state);
    }
    Ok(())
}

/// What each thread's rows are, read by ranges; and how many a and b count.
fn observe(database: &Database, threads: u64) -> Result<(Vec<State>, [i64; 2]), Error> {
    let connection = database.connect().blocking();
    let tables = rows(&connection, "SHOW TABLES")?;
    let has = |name: &str| tables.iter().any(|row| row.values().is_ok_and(|row| row.contains(&Value::from(name))));
    let mut states = vec![State::default(); threads as usize];
    for (thread, state) in states.iter_mut().enumerate() {
        for (name, table) in [("a", &mut state.a), ("b", &mut state.b)] {
            if has(name) {
                let sql = format!("SELECT k, n, s FROM {name} WHERE th = {thread}");
                for row in rows(&connection, &sql)? {
                    table.insert(row.get(0)?, (row.get(1)?, row.get(2)?));
                }
            }
        }
        if has(&format!("own{thread}")) {
            let mut own = BTreeMap::new();
            for row in rows(&connection, &format!("SELECT k, n FROM own{thread}"))? {
                own.insert(row.get(0)?, row.get(1)?);
            }
            state.own = Some(own);
        }
    }
    let count = |name: &str| match has(name) {
        true => rows(&connection, &format!("SELECT count(*) FROM {name}"))?.first().map_or(Ok(-1), |row| row.get(0)),
        false => Ok(0),
    };
    let counts = [count("a")?, count("b")?];
    Ok((states, counts))
}

fn rows(connection: &Connection, sql: &str) -> Result<Vec<Row>, Error> {
    connection.query(sql, ())?.collect()
}

/// Prints what can be read, table by table: `rows TABLE CHECKSUM` or `error TABLE TEXT`.
pub fn read(setup: &Setup, path: &Path) -> i32 {
    let database = match setup.builder(path).open() {
        Ok(database) => database,
        Err(error) => {
            println!("error opening: {error}");
            return NOT_OPENED;
        }
    };
    let connection = database.connect().blocking();
    let own = (0..setup.threads).map(|thread| format!("own{thread}"));
    for table in ["a".to_owned(), "b".to_owned()].into_iter().chain(own) {
        match rows(&connection, &format!("SELECT * FROM {table}")) {
            Ok(rows) => {
                let mut lines: Vec<String> = rows.iter().map(|row| format!("{:?}", row.values())).collect();
                lines.sort();
                println!("rows {table} {} {:016x}", lines.len(), sum(&lines));
            }
            Err(error) if error.code() == saltwing::ErrorCode::NoSuchTable => println!("rows {table} none"),
            Err(error) => println!("error {table}: {error}"),
        }
    }
    0
}

/// FNV-1a.
fn sum(lines: &[String]) -> u64 {
    lines
        .iter()
        .flat_map(|line| line.bytes())
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A log, empty if there is none.
pub fn log(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_default()
}
