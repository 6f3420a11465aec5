//! A real data set: what SQLite answers, Saltwing answers.

use std::fs::File;
use std::path::Path;

use rusqlite::types::ValueRef;
use saltwing::blocking::Connection;
use saltwing::{Database, ErrorCode};

use crate::{code, shared, texts};

/// Table, its columns with their types, its key.
const TABLES: [(&str, &str, &str); 5] = [
    ("airlines", "carrier VARCHAR NOT NULL, name VARCHAR", "carrier"),
    (
        "airports",
        "faa VARCHAR NOT NULL, name VARCHAR, lat DOUBLE, lon DOUBLE, alt INTEGER, tz INTEGER, dst VARCHAR, tzone VARCHAR",
        "faa",
    ),
    (
        "planes",
        "tailnum VARCHAR NOT NULL, year INTEGER, type VARCHAR, manufacturer VARCHAR, model VARCHAR, engines INTEGER, seats INTEGER, speed INTEGER, engine VARCHAR",
        "tailnum",
    ),
    (
        "weather",
        "origin VARCHAR NOT NULL, year INTEGER, month INTEGER, day INTEGER, hour INTEGER, temp DOUBLE, dewp DOUBLE, humid DOUBLE, wind_dir INTEGER, wind_speed DOUBLE, wind_gust DOUBLE, precip DOUBLE, pressure DOUBLE, visib DOUBLE, time_hour TIMESTAMP NOT NULL",
        "origin, time_hour",
    ),
    (
        "flights",
        "year INTEGER, month INTEGER, day INTEGER, dep_time INTEGER, sched_dep_time INTEGER, dep_delay INTEGER, arr_time INTEGER, sched_arr_time INTEGER, arr_delay INTEGER, carrier VARCHAR NOT NULL, flight INTEGER NOT NULL, tailnum VARCHAR, origin VARCHAR NOT NULL, dest VARCHAR, air_time INTEGER, distance INTEGER, hour INTEGER, minute INTEGER, time_hour TIMESTAMP NOT NULL",
        "origin, time_hour, carrier, flight",
    ),
];

/// The questions; both systems read the same text. No table is read whole: joins look small ones up.
const QUESTIONS: [&str; 24] = [
    "SELECT name FROM airlines WHERE carrier = 'UA'",
    "SELECT * FROM flights WHERE origin = 'JFK' AND time_hour = '2013-07-04 12:00:00' AND carrier = 'B6' AND flight = 583",
    "SELECT count(*) FROM flights WHERE origin = 'JFK' AND time_hour >= '2013-07-04 00:00:00' AND time_hour < '2013-07-05 00:00:00'",
    "SELECT carrier, flight, dest FROM flights WHERE origin = 'EWR' AND time_hour >= '2013-12-24 20:00:00' ORDER BY time_hour, carrier, flight LIMIT 25",
    "SELECT time_hour, carrier, flight FROM flights WHERE origin = 'LGA' ORDER BY time_hour DESC, carrier DESC, flight DESC LIMIT 10",
    "SELECT carrier, count(*), sum(distance) FROM flights WHERE origin = 'EWR' AND time_hour BETWEEN '2013-03-01 00:00:00' AND '2013-03-07 23:00:00' GROUP BY carrier ORDER BY carrier",
    "SELECT month, avg(dep_delay), max(arr_delay), min(air_time) FROM flights WHERE origin = 'LGA' GROUP BY month ORDER BY month",
    "SELECT a.name, count(*) AS n FROM flights f JOIN airlines a ON a.carrier = f.carrier WHERE f.origin = 'JFK' AND f.time_hour < '2013-01-03 00:00:00' GROUP BY a.name ORDER BY n DESC, a.name",
    "SELECT p.manufacturer, count(*) FROM flights f JOIN planes p ON p.tailnum = f.tailnum WHERE f.origin = 'EWR' AND f.time_hour >= '2013-10-01 00:00:00' AND f.time_hour < '2013-10-02 00:00:00' GROUP BY p.manufacturer ORDER BY 2 DESC, 1",
    "SELECT f.flight, ap.name, ap.alt FROM flights f JOIN airports ap ON ap.faa = f.dest WHERE f.origin = 'LGA' AND f.time_hour = '2013-05-05 13:00:00' ORDER BY f.flight, f.carrier",
    "SELECT origin, count(*), sum(dep_delay) FROM flights WHERE origin IN ('JFK', 'LGA') AND time_hour >= '2013-02-08 00:00:00' AND time_hour < '2013-02-10 00:00:00' GROUP BY origin ORDER BY origin",
    "SELECT carrier, flight, dep_delay FROM flights WHERE origin = 'JFK' AND dep_delay > 600 ORDER BY dep_delay DESC",
    "SELECT DISTINCT dest FROM flights WHERE origin = 'JFK' AND carrier = 'DL' ORDER BY dest",
    "SELECT dest, count(*) AS n FROM flights WHERE origin = 'EWR' GROUP BY dest HAVING count(*) > 3000 ORDER BY n DESC",
    "SELECT count(*) FROM flights WHERE origin = 'LGA' AND arr_delay > (SELECT avg(arr_delay) FROM flights WHERE origin = 'LGA')",
    "SELECT name FROM airlines WHERE carrier IN (SELECT carrier FROM flights WHERE origin = 'LGA' AND time_hour < '2013-01-02 00:00:00') ORDER BY name",
    "SELECT count(*), avg(f.dep_delay) FROM flights f JOIN weather w ON w.origin = f.origin AND w.time_hour = f.time_hour WHERE f.origin = 'JFK' AND w.origin = 'JFK' AND w.wind_speed > 30",
    "SELECT count(*) FROM flights f LEFT JOIN planes p ON p.tailnum = f.tailnum WHERE f.origin = 'LGA' AND f.time_hour < '2013-02-01 00:00:00' AND p.tailnum IS NULL",
    "SELECT carrier, flight, dep_delay FROM (SELECT carrier, flight, dep_delay, row_number() OVER (PARTITION BY carrier ORDER BY dep_delay DESC, flight, time_hour) AS place FROM flights WHERE origin = 'LGA' AND dep_delay IS NOT NULL) t WHERE place = 1 ORDER BY carrier",
    "SELECT flight FROM flights WHERE origin = 'JFK' AND time_hour = '2013-01-01 11:00:00' UNION SELECT flight FROM flights WHERE origin = 'EWR' AND time_hour = '2013-01-01 11:00:00' ORDER BY flight",
    "SELECT CASE WHEN dep_delay <= 0 THEN 'early' WHEN dep_delay <= 15 THEN 'ok' ELSE 'late' END AS kind, count(*) FROM flights WHERE origin = 'EWR' AND dep_delay IS NOT NULL GROUP BY kind ORDER BY kind",
    "SELECT carrier, flight FROM flights WHERE (origin = 'JFK' AND time_hour = '2013-06-01 12:00:00') OR (origin = 'LGA' AND time_hour = '2013-06-02 12:00:00') ORDER BY carrier, flight",
    "SELECT year, count(*), count(year) FROM planes WHERE tailnum >= 'N1' AND tailnum < 'N2' GROUP BY year ORDER BY year",
    "WITH busy AS (SELECT time_hour, count(*) AS n FROM flights WHERE origin = 'EWR' GROUP BY time_hour) SELECT time_hour, n FROM busy WHERE n > 30 ORDER BY n DESC, time_hour",
];

/// What the guard refuses.
const REFUSED: [&str; 6] = [
    "SELECT * FROM flights WHERE dest = 'LAX'",
    "SELECT count(*) FROM flights",
    "SELECT f.flight FROM flights f JOIN planes p ON p.tailnum = f.tailnum WHERE p.year = 2004",
    "SELECT * FROM flights WHERE time_hour >= '2013-01-01 00:00:00'",
    "SELECT * FROM flights WHERE origin <> 'JFK'",
    "DELETE FROM flights WHERE carrier = 'UA'",
];

fn unpacked(folder: &Path, into: &Path) {
    let archive = File::open(folder.join("flights.csv.zip")).unwrap();
    let mut archive = zip::ZipArchive::new(archive).unwrap();
    std::io::copy(&mut archive.by_name("flights.csv").unwrap(), &mut File::create(into.join("flights.csv")).unwrap())
        .unwrap();
    for name in ["airlines", "airports", "planes", "weather"] {
        std::fs::copy(folder.join(format!("{name}.csv")), into.join(format!("{name}.csv"))).unwrap();
    }
}

fn load_sqlite(folder: &Path) -> rusqlite::Connection {
    let sqlite = rusqlite::Connection::open_in_memory().unwrap();
    for (table, columns, key) in TABLES {
        let columns = columns.replace("TIMESTAMP", "VARCHAR");
        sqlite
            .execute_batch(&format!("CREATE TABLE {table} ({columns}, PRIMARY KEY ({key})) WITHOUT ROWID; BEGIN"))
            .unwrap();
        let mut reader = csv::Reader::from_path(folder.join(format!("{table}.csv"))).unwrap();
        let header = reader.headers().unwrap().clone();
        let names: Vec<&str> = header.iter().collect();
        let marks = vec!["?"; names.len()].join(", ");
        let insert = format!("INSERT OR REPLACE INTO {table} ({}) VALUES ({marks})", names.join(", "));
        let mut statement = sqlite.prepare(&insert).unwrap();
        for record in reader.records() {
            let record = record.unwrap();
            let field = |(text, name): (&str, &str)| match text {
                "NA" => None,
                text if name == "time_hour" => Some(text.replace('T', " ").replace('Z', "")),
                text => Some(text.to_owned()),
            };
            let values: Vec<Option<String>> = record.iter().zip(names.iter().copied()).map(field).collect();
            statement.execute(rusqlite::params_from_iter(values)).unwrap();
        }
        drop(statement);
        sqlite.execute_batch("COMMIT").unwrap();
    }
    sqlite
}

fn load_saltwing(folder: &Path, connection: &Connection) -> Vec<u64> {
    let load = |(table, columns, key): (&str, &str, &str)| {
        let salt = if table == "flights" { " SALT_BUCKETS = 4, SALT_BY = (origin)" } else { "" };
        connection
            .execute(&format!("CREATE TABLE {table} ({columns}, CONSTRAINT pk PRIMARY KEY ({key})){salt}"), ())
            .unwrap();
        let path = folder.join(format!("{table}.csv"));
        let copy = format!("COPY {table} FROM '{}' WITH (HEADER, NULL 'NA')", path.display());
        connection.execute(&copy, ()).unwrap().rows_affected
    };
    TABLES.into_iter().map(load).collect()
}

/// A number as both systems would print it, to nine digits.
fn rounded(value: f64) -> String {
    format!("{value:.9}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn sqlite_rows(sqlite: &rusqlite::Connection, sql: &str) -> Vec<String> {
    let mut statement = sqlite.prepare(sql).unwrap();
    let columns = statement.column_count();
    let mut rows = statement.query(()).unwrap();
    let mut texts = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        let value = |i| match row.get_ref(i).unwrap() {
            ValueRef::Null => "NULL".to_owned(),
            ValueRef::Integer(n) => n.to_string(),
            ValueRef::Real(x) => rounded(x),
            ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
            ValueRef::Blob(_) => "blob".to_owned(),
        };
        texts.push((0..columns).map(value).collect::<Vec<_>>().join("|"));
    }
    texts
}

fn saltwing_rows(connection: &Connection, sql: &str) -> Vec<String> {
    let mut texts = Vec::new();
    for row in connection.query(sql, ()).unwrap_or_else(|error| panic!("{sql}\n{}", error.render(sql))) {
        let row = row.unwrap();
        let value = |i: usize| match row.get::<saltwing::Value>(i).unwrap() {
            saltwing::Value::Double(x) => rounded(x),
            _ => row.get::<Option<String>>(i).unwrap().unwrap_or_else(|| "NULL".into()),
        };
        texts.push((0..row.columns().len()).map(value).collect::<Vec<_>>().join("|"));
    }
    texts
}

#[test]
fn questions_have_sqlites_answers() {
    let Some(data) = shared("data/nycflights13") else { return };
    let folder = tempfile::tempdir().unwrap();
    unpacked(&data, folder.path());
    let sqlite = load_sqlite(folder.path());
    let db = Database::builder(folder.path().join("db")).buffered().open().unwrap();
    let connection = db.connect().blocking();
    assert_eq!(load_saltwing(folder.path(), &connection), [16, 1458, 3322, 26115, 336_776]);
    for sql in QUESTIONS {
        let refused = connection.query(sql, ()).err().is_some_and(|error| error.code() == ErrorCode::NotSupported);
        if refused && cfg!(not(feature = "datafusion")) {
            println!("skipped without the relational engine: {sql}");
            continue;
        }
        let expected = sqlite_rows(&sqlite, sql);
        let mut actual = saltwing_rows(&connection, sql);
        if !sql.contains("ORDER BY") {
            actual.sort();
        }
        assert_eq!(actual, expected, "{sql}");
    }
    for sql in REFUSED {
        let code = code(connection.execute(sql, ()));
        if cfg!(feature = "datafusion") || code != "not_supported" {
            assert_eq!(code, "full_scan_refused", "{sql}");
        }
    }
    assert_eq!(texts(&connection, "SELECT count(*) FROM flights WHERE origin = 'JFK'").unwrap(), ["111279"]);
}
