//! The mobile log: a phone's day, among many sessions.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::params;
use saltwing::{Database, blocking};
use saltwing_cli::mobile_log::{COLUMNS, CREATE_TABLE, FIRST_DAY, MobileLog, day_range, phone};

use crate::Result;
use crate::bench::Bench;
use crate::engine::EngineKind;
use crate::report::Figures;
use crate::rows::Mix;

/// Days, and sessions of one phone on one day.
const DAYS: u64 = 8;
const SESSIONS_A_DAY: u64 = 50;
/// Rows of one of SQLite's transactions, as many as COPY takes.
const BATCH_ROWS: usize = 5000;
const DAY: &str = "SELECT id, phone_no, start_time, up_flow, down_flow, acce_url FROM mobile_log \
                   WHERE phone_no = ? AND start_time >= ? AND start_time < ?";
/// The last of the columns asked for.
const URL: usize = 5;

pub fn names() -> Vec<String> {
    super::owned(["mobile_copy", "mobile_day"])
}

/// Loads Saltwing, and SQLite if it takes part, and asks for phone-days, comparing the counts.
pub fn run(bench: &mut Bench) -> Result<()> {
    let log = MobileLog {
        phones: (bench.log.rows / (DAYS * SESSIONS_A_DAY)).max(1),
        days: DAYS,
        sessions_a_day: SESSIONS_A_DAY,
    };
    let rows = log.row_count();
    let folder = tempfile::tempdir_in(&bench.folder)?;
    let (connection, ours) = load_saltwing(log, folder.path())?;
    let with_sqlite = bench.kinds().contains(&EngineKind::Sqlite);
    let sqlite = if with_sqlite { Some(load_sqlite(log, folder.path())?) } else { None };
    if bench.wants("mobile_copy") {
        let times = [(EngineKind::Saltwing, Some(ours)), (EngineKind::Sqlite, sqlite.as_ref().map(|(_, time)| *time))];
        let rate =
            |(kind, time): (EngineKind, Option<Duration>)| Some((kind, Figures::default().with_rate(rows, time?)));
        bench.report.work("mobile_copy", rows, times.into_iter().filter_map(rate).collect())?;
    }
    if bench.wants("mobile_day") {
        let times = ask(&connection, sqlite.as_ref().map(|(sqlite, _)| sqlite), log, bench.effort.of(500))?;
        let figures = times.into_iter().map(|(kind, times)| (kind, Figures::of_times(times))).collect();
        bench.report.work("mobile_day", rows, figures)?;
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

fn load_saltwing(log: MobileLog, folder: &Path) -> Result<(blocking::Connection, Duration)> {
    let file = csv(log, folder)?;
    let connection = Database::open(folder.join("mobile"))?.connect().blocking();
    connection.execute(CREATE_TABLE, ())?;
    let started = Instant::now();
    connection.execute(&format!("COPY mobile_log FROM '{}'", file.display()), ())?;
    let time = started.elapsed();
    std::fs::remove_file(file)?;
    Ok((connection, time))
}

fn load_sqlite(log: MobileLog, folder: &Path) -> Result<(rusqlite::Connection, Duration)> {
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
    Ok((sqlite, started.elapsed()))
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
