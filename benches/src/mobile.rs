//! The mobile log: a phone's day by a range on the id, among two million sessions.

use std::fmt::Write as _;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use md5::{Digest, Md5};
use rusqlite::params;
use saltwing::Database;

use crate::report::Measure;
use crate::rows::{Mix, phone};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const COLUMNS: [&str; 19] = [
    "PHONE_NO",
    "TERM_MODEL_ID",
    "LAC",
    "CI",
    "BUSI_ID",
    "APP_ID",
    "BUSI_TYPE_ID",
    "START_TIME",
    "UP_FLOW",
    "DOWN_FLOW",
    "SITE_NAME_ID",
    "SITE_CHANNEL_ID",
    "CHARGING_ID",
    "C_GGSN_IP",
    "EX_TL_DOMAIN",
    "EX_COMP_DOMAIN",
    "ACCE_URL",
    "FLOW",
    "REV_01",
];

/// Sessions of one phone on one day.
const ROWS_A_DAY: u64 = 50;
const DAYS: u64 = 10;

/// The first three hex digits of a phone's MD5, and the phone.
fn id_prefix(phone: &str) -> String {
    let digest = Md5::digest(phone);
    let hex = digest.iter().take(2).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    format!("{}{phone}", &hex[..3])
}

/// The id and the columns of session `index` of `rows`.
fn session(index: u64, rows: u64) -> (String, [String; 19]) {
    let phones = (rows / (ROWS_A_DAY * DAYS)).max(1);
    let number = phone(index % phones);
    let nth = index / phones;
    let (day, second) = (20 + nth / ROWS_A_DAY, nth % ROWS_A_DAY * 60 * 20);
    let clock = (second / 3600, second / 60 % 60, second % 60);
    let id = format!("{}201406{day:02}{:02}{:02}{:02}{index:016x}", id_prefix(&number), clock.0, clock.1, clock.2);
    let mut mix = Mix(index);
    let mut digits = |end: u64| mix.below(end).to_string();
    let columns = [
        number,
        digits(5000),
        digits(65_536),
        digits(65_536),
        digits(100),
        digits(2000),
        digits(30),
        format!("2014-06-{day:02} {:02}:{:02}:{:02}", clock.0, clock.1, clock.2),
        digits(100_000),
        digits(1_000_000),
        digits(5000),
        digits(500),
        digits(1 << 32),
        format!("10.{}.{}.{}", digits(256), digits(256), digits(256)),
        "example.com".into(),
        "www.example.com".into(),
        format!("http://www.example.com/section/{}/article.html", digits(2000)),
        digits(1_100_000),
        String::new(),
    ];
    (id, columns)
}

/// Loads both engines and asks for `rounds` phone-days, comparing the counts.
pub fn run(rows: u64, rounds: usize, folder: &Path, measures: &mut Vec<Measure>) -> Result<()> {
    let file = folder.join("mobile.csv");
    let mut out = BufWriter::new(std::fs::File::create(&file)?);
    for index in 0..rows {
        let (id, columns) = session(index, rows);
        writeln!(out, "{id},{}", columns.join(","))?;
    }
    out.into_inner()?.sync_all()?;
    let database = Database::open(folder.join("mobile"))?;
    let connection = database.connect().blocking();
    let typed = |name: &&str| match *name {
        "START_TIME" => "START_TIME DATE".to_owned(),
        "UP_FLOW" | "DOWN_FLOW" | "FLOW" | "CHARGING_ID" => format!("{name} BIGINT"),
        name => format!("{name} VARCHAR"),
    };
    let columns = COLUMNS.iter().map(typed).collect::<Vec<_>>().join(", ");
    connection.execute(&format!("CREATE TABLE mobile (id VARCHAR NOT NULL PRIMARY KEY, {columns})"), ())?;
    let started = Instant::now();
    let loaded = connection.execute(&format!("COPY mobile FROM '{}'", file.display()), ())?.rows_affected;
    let per_s = Some(loaded as f64 / started.elapsed().as_secs_f64());
    measures.push(Measure { work: "mobile_copy", engine: "saltwing", rows, times: Vec::new(), per_s });
    let mut sqlite = rusqlite::Connection::open(folder.join("mobile.sqlite"))?;
    sqlite.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -1000000;
         CREATE TABLE mobile (id TEXT PRIMARY KEY, {columns}) WITHOUT ROWID;"
    ))?;
    let marks = vec!["?"; COLUMNS.len() + 1].join(", ");
    let started = Instant::now();
    for start in (0..rows).step_by(5000) {
        let transaction = sqlite.transaction()?;
        let mut insert = transaction.prepare_cached(&format!("INSERT INTO mobile VALUES ({marks})"))?;
        for index in start..(start + 5000).min(rows) {
            let (id, columns) = session(index, rows);
            insert.execute(rusqlite::params_from_iter(std::iter::once(&id).chain(&columns)))?;
        }
        drop(insert);
        transaction.commit()?;
    }
    let per_s = Some(rows as f64 / started.elapsed().as_secs_f64());
    measures.push(Measure { work: "mobile_copy", engine: "sqlite", rows, times: Vec::new(), per_s });

    let sql = "SELECT id, PHONE_NO, START_TIME, UP_FLOW, DOWN_FLOW, ACCE_URL FROM mobile WHERE id >= ? AND id < ?";
    let (ours, mut theirs) = (connection.prepare(sql)?, sqlite.prepare(sql)?);
    let mut times = [Vec::with_capacity(rounds), Vec::with_capacity(rounds)];
    let mut mix = Mix(7);
    for _ in 0..rounds {
        let prefix = id_prefix(&phone(mix.below((rows / (ROWS_A_DAY * DAYS)).max(1))));
        let day = 20 + mix.below(DAYS);
        let (from, to) = (format!("{prefix}201406{day:02}"), format!("{prefix}201406{:02}", day + 1));
        let started = Instant::now();
        let mut found = ours.query(saltwing::params![from.as_str(), to.as_str()])?;
        let count = found.by_ref().try_fold(0u64, |n, row| row.and_then(|row| row.get::<String>(5)).map(|_| n + 1))?;
        times[0].push(started.elapsed());
        if found.stats().keys_read != count {
            return Err(format!("{} keys read for {count} rows", found.stats().keys_read).into());
        }
        let started = Instant::now();
        let mut rows = theirs.query(params![from, to])?;
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
