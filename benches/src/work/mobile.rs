//! The mobile log: a phone's day, among many sessions.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rusqlite::params;
use rusqlite::types::ValueRef;
use saltwing::{Database, blocking};
use saltwing_cli::mobile_log::{COLUMNS, CREATE_TABLE, FIRST_DAY, MobileLog, day_range, phone};

use crate::Result;
use crate::bench::Bench;
use crate::engine::{EngineKind, Fingerprint};
use crate::process;
use crate::report::Figures;
use crate::rows::Mix;
use crate::work::sizes::folder_bytes;

/// Days, and sessions of one phone on one day.
const DAYS: u64 = 8;
const SESSIONS_A_DAY: u64 = 50;
/// Rows of one of SQLite's transactions, as many as COPY takes.
const BATCH_ROWS: usize = 5000;
/// Days that are queried before memory is measured.
const PROBED_DAYS: usize = 2000;
const MB: f64 = 1e6;
const DAY: &str = "SELECT id, phone_no, start_time, up_flow, down_flow, acce_url FROM mobile_log \
                   WHERE phone_no = ? AND start_time >= ? AND start_time < ?";
/// The last of the selected columns.
const URL: usize = 5;

pub fn names() -> Vec<String> {
    super::owned(["mobile_copy", "mobile_day", "mobile_disk", "mobile_memory"])
}

fn log(rows: u64) -> MobileLog {
    MobileLog { phones: (rows / (DAYS * SESSIONS_A_DAY)).max(1), days: DAYS, sessions_a_day: SESSIONS_A_DAY }
}

/// Loads Saltwing, and SQLite if it takes part, asks for phone-days, comparing the answers, and looks at what they take.
pub fn run(bench: &mut Bench) -> Result<()> {
    let log = log(bench.log.rows);
    let folder = tempfile::tempdir_in(&bench.folder)?;
    let (ours_at, sqlite_at) = (folder.path().join("mobile"), folder.path().join("sqlite"));
    let (connection, copied) = load_saltwing(log, folder.path(), &ours_at)?;
    let with_sqlite = bench.kinds().contains(&EngineKind::Sqlite);
    let sqlite = if with_sqlite { Some(load_sqlite(log, &sqlite_at)?) } else { None };
    let rate = |time: Duration| Figures::default().with_rate(log.row_count(), time);
    report(bench, "mobile_copy", rate(copied), sqlite.as_ref().map(|(_, time)| rate(*time)))?;
    if bench.wants("mobile_day") {
        let times = ask(&connection, sqlite.as_ref().map(|(sqlite, _)| sqlite), log, bench.effort.of(500))?;
        let figures = times.into_iter().map(|(kind, times)| (kind, Figures::of_times(times))).collect();
        bench.report.work("mobile_day", log.row_count(), figures)?;
    }
    drop(connection);
    let megabytes = |bytes: u64| Figures::of_value(bytes as f64 / MB, "MB");
    let theirs = if with_sqlite { Some(folder_bytes(&sqlite_at)?) } else { None };
    report(bench, "mobile_disk", megabytes(folder_bytes(&ours_at)?), theirs.map(megabytes))?;
    if bench.wants("mobile_memory")
        && let Some(bytes) = memory_of(&ours_at, bench.log.rows)?
    {
        report(bench, "mobile_memory", megabytes(bytes), None)?;
    }
    Ok(())
}

fn report(bench: &mut Bench, work: &str, ours: Figures, sqlite: Option<Figures>) -> Result<()> {
    if !bench.wants(work) {
        return Ok(());
    }
    let sqlite = sqlite.map(|figures| (EngineKind::Sqlite, figures));
    let rows = log(bench.log.rows).row_count();
    bench.report.work(work, rows, std::iter::once((EngineKind::Saltwing, ours)).chain(sqlite).collect())
}

/// The memory of a process that has only the mobile log open and has queried days of it: [`probe_memory`].
fn memory_of(database: &Path, rows: u64) -> Result<Option<u64>> {
    let probe = Command::new(std::env::current_exe()?)
        .args(["--rows", &rows.to_string(), "--probe-mobile"])
        .arg(database)
        .output()?;
    if !probe.status.success() {
        return Err(format!("mobile_memory: {}", String::from_utf8_lossy(&probe.stderr)).into());
    }
    Ok(String::from_utf8_lossy(&probe.stdout).trim().parse().ok())
}

/// Opens the mobile log, asks for days, and prints the memory that the process has then.
pub fn probe_memory(database: &Path, rows: u64) -> Result<()> {
    let connection = Database::open(database)?.connect().blocking();
    ask(&connection, None, log(rows), PROBED_DAYS)?;
    match process::resident_bytes() {
        Some(bytes) => println!("{bytes}"),
        None => println!("unknown"),
    }
    Ok(())
}

fn csv(log: MobileLog, folder: &Path) -> Result<PathBuf> {
    let file = folder.join("mobile.csv");
    let mut out = BufWriter::new(std::fs::File::create(&file)?);
    for session in log.sessions() {
        writeln!(out, "{}", session.join(","))?;
    }
    out.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
    Ok(file)
}

/// Copies the log: how long that took. Afterwards all rows are where they stay.
fn load_saltwing(log: MobileLog, folder: &Path, database: &Path) -> Result<(blocking::Connection, Duration)> {
    let file = csv(log, folder)?;
    let connection = Database::open(database)?.connect().blocking();
    connection.execute(CREATE_TABLE, ())?;
    let started = Instant::now();
    connection.execute(&format!("COPY mobile_log FROM '{}'", file.display()), ())?;
    let time = started.elapsed();
    std::fs::remove_file(file)?;
    connection.execute("COMPACT mobile_log", ())?;
    Ok((connection, time))
}

fn load_sqlite(log: MobileLog, folder: &Path) -> Result<(rusqlite::Connection, Duration)> {
    std::fs::create_dir(folder)?;
    let mut sqlite = rusqlite::Connection::open(folder.join("mobile.sqlite"))?;
    sqlite.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -1000000;
         {} WITHOUT ROWID;",
        // SQLite computes no parts of keys, and needs none: it has one tree to descend.
        CREATE_TABLE.replace("SUBSTR(MD5(phone_no), 1, 3), ", "")
    ))?;
    let marks = ["?"; COLUMNS.len()].join(", ");
    let sql = format!("INSERT INTO mobile_log VALUES ({marks})");
    let started = Instant::now();
    let mut sessions = log.sessions().peekable();
    while sessions.peek().is_some() {
        let transaction = sqlite.transaction()?;
        let mut insert = transaction.prepare_cached(&sql)?;
        for session in sessions.by_ref().take(BATCH_ROWS) {
            insert.execute(rusqlite::params_from_iter(&session))?;
        }
        drop(insert);
        transaction.commit()?;
    }
    let time = started.elapsed();
    sqlite.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))?;
    Ok((sqlite, time))
}

/// Days whose rows are compared value by value, before any is timed.
const LOOKS: usize = 3;
/// What a text of a DATE leaves out.
const MIDNIGHT: &str = " 00:00:00";

/// Holds both engines' rows of some days to each other.
fn compare_days(ours: &blocking::Statement, theirs: &mut rusqlite::Statement<'_>, log: MobileLog) -> Result<()> {
    let mut mix = Mix(8);
    for _ in 0..LOOKS {
        let (from, to) = day_range(FIRST_DAY + mix.below(DAYS));
        let phone = phone(mix.below(log.phones));
        let (mut found, mut expected) = (Fingerprint::new(false), Fingerprint::new(false));
        for row in ours.query(saltwing::params![phone.as_str(), from.as_str(), to.as_str()])? {
            let row = row?;
            for place in 0..=URL {
                found.text(row.get::<String>(place)?.as_bytes());
            }
            found.end_row();
        }
        let mut rows = theirs.query(params![phone, from, to])?;
        while let Some(row) = rows.next()? {
            for place in 0..=URL {
                let text = match row.get_ref(place)? {
                    ValueRef::Integer(n) => n.to_string(),
                    _ => row.get::<_, String>(place)?,
                };
                expected.text(text.strip_suffix(MIDNIGHT).unwrap_or(&text).as_bytes());
            }
            expected.end_row();
        }
        if found != expected {
            return Err(
                format!("mobile_day: saltwing has {found}; sqlite has {expected}, of {phone} from {from}").into()
            );
        }
    }
    Ok(())
}

/// Asks for the same days, in turns: the times.
fn ask(
    connection: &blocking::Connection,
    sqlite: Option<&rusqlite::Connection>,
    log: MobileLog,
    rounds: usize,
) -> Result<Vec<(EngineKind, Vec<Duration>)>> {
    let ours = connection.prepare(DAY)?;
    let mut theirs = sqlite.map(|sqlite| sqlite.prepare(DAY)).transpose()?;
    if let Some(theirs) = &mut theirs {
        compare_days(&ours, theirs, log)?;
    }
    let mut times = vec![(EngineKind::Saltwing, Vec::with_capacity(rounds))];
    times.extend(theirs.as_ref().map(|_| (EngineKind::Sqlite, Vec::with_capacity(rounds))));
    let mut mix = Mix(7);
    for _ in 0..rounds {
        let (from, to) = day_range(FIRST_DAY + mix.below(DAYS));
        let phone = phone(mix.below(log.phones));
        let mut counts = Vec::with_capacity(2);
        let started = Instant::now();
        let mut found = ours.query(saltwing::params![phone.as_str(), from.as_str(), to.as_str()])?;
        let count =
            found.by_ref().try_fold(0u64, |n, row| row.and_then(|row| row.get::<String>(URL)).map(|_| n + 1))?;
        counts.push((count, started.elapsed()));
        if found.stats().keys_read != count {
            return Err(format!("{} keys read for {count} rows", found.stats().keys_read).into());
        }
        if let Some(theirs) = &mut theirs {
            let started = Instant::now();
            let mut rows = theirs.query(params![phone, from, to])?;
            let mut count = 0;
            while let Some(row) = rows.next()? {
                std::hint::black_box(row.get::<_, String>(URL)?);
                count += 1;
            }
            counts.push((count, started.elapsed()));
        }
        if counts.iter().any(|(other, _)| *other != count) {
            return Err(format!("mobile_day: the answers differ: {counts:?}").into());
        }
        times.iter_mut().zip(counts).for_each(|((_, times), (_, time))| times.push(time));
    }
    Ok(times)
}
