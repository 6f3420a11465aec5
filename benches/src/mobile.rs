//! The mobile log: a phone's day, among two million sessions.

use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::params;
use saltwing::Database;
use saltwing_cli::mobile_log::{COLUMNS, CREATE_TABLE, FIRST_DAY, MobileLog, day_range, phone};

use crate::report::Measure;
use crate::rows::Mix;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Days, from the 22nd of June 2014 on, and sessions of one phone on one day.
const DAYS: u64 = 8;
const SESSIONS_A_DAY: u64 = 50;

/// Loads both engines and asks for `rounds` phone-days, comparing the counts.
pub fn run(rows: u64, rounds: usize, folder: &Path, measures: &mut Vec<Measure>) -> Result<()> {
    let log = MobileLog { phones: (rows / (DAYS * SESSIONS_A_DAY)).max(1), days: DAYS, sessions_a_day: SESSIONS_A_DAY };
    let rows = log.row_count();
    let file = folder.join("mobile.csv");
    let mut out = BufWriter::new(std::fs::File::create(&file)?);
    for session in log.sessions() {
        writeln!(out, "{}", session.join(","))?;
    }
    out.into_inner()?.sync_all()?;
    let database = Database::open(folder.join("mobile"))?;
    let connection = database.connect().blocking();
    connection.execute(CREATE_TABLE, ())?;
    let started = Instant::now();
    let loaded = connection.execute(&format!("COPY mobile_log FROM '{}'", file.display()), ())?.rows_affected;
    let per_s = Some(loaded as f64 / started.elapsed().as_secs_f64());
    measures.push(Measure { work: "mobile_copy", engine: "saltwing", rows, times: Vec::new(), per_s });
    let mut sqlite = rusqlite::Connection::open(folder.join("mobile.sqlite"))?;
    sqlite.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -1000000;
         {} WITHOUT ROWID;",
        // SQLite computes no parts of keys, and needs none: it has one tree to descend.
        CREATE_TABLE.replace("SUBSTR(MD5(phone_no), 1, 3), ", "")
    ))?;
    let marks = vec!["?"; COLUMNS.len()].join(", ");
    let started = Instant::now();
    let mut sessions = log.sessions().peekable();
    while sessions.peek().is_some() {
        let transaction = sqlite.transaction()?;
        let mut insert = transaction.prepare_cached(&format!("INSERT INTO mobile_log VALUES ({marks})"))?;
        for session in sessions.by_ref().take(5000) {
            insert.execute(rusqlite::params_from_iter(&session))?;
        }
        drop(insert);
        transaction.commit()?;
    }
    let per_s = Some(rows as f64 / started.elapsed().as_secs_f64());
    measures.push(Measure { work: "mobile_copy", engine: "sqlite", rows, times: Vec::new(), per_s });

    let sql = "SELECT id, phone_no, start_time, up_flow, down_flow, acce_url FROM mobile_log \
               WHERE phone_no = ? AND start_time >= ? AND start_time < ?";
    let (ours, mut theirs) = (connection.prepare(sql)?, sqlite.prepare(sql)?);
    let mut times = [Vec::with_capacity(rounds), Vec::with_capacity(rounds)];
    let mut mix = Mix(7);
    for _ in 0..rounds {
        let (from, to) = day_range(FIRST_DAY + mix.below(DAYS));
        let phone = phone(mix.below(log.phones));
        let started = Instant::now();
        let mut found = ours.query(saltwing::params![phone.as_str(), from.as_str(), to.as_str()])?;
        let count = found.by_ref().try_fold(0u64, |n, row| row.and_then(|row| row.get::<String>(5)).map(|_| n + 1))?;
        times[0].push(started.elapsed());
        if found.stats().keys_read != count {
            return Err(format!("{} keys read for {count} rows", found.stats().keys_read).into());
        }
        let started = Instant::now();
        let mut rows = theirs.query(params![phone, from, to])?;
        let mut expected = 0;
        while let Some(row) = rows.next()? {
            std::hint::black_box(row.get::<_, String>(5)?);
            expected += 1;
        }
        times[1].push(started.elapsed());
        if count != expected {
            return Err(format!("the answers differ: {count} and {expected} rows").into());
        }
    }
    for (engine, mut times) in ["saltwing", "sqlite"].into_iter().zip(times) {
        times.sort_unstable_by_key(Duration::as_nanos);
        measures.push(Measure { work: "mobile_day", engine, rows, times, per_s: None });
    }
    Ok(())
}
