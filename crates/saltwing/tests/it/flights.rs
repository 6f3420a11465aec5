//! A year of flights: what SQLite answers, Saltwing answers.

use std::fmt::Write;
use std::path::Path;

use rusqlite::types::ValueRef;
use saltwing::blocking::Connection;
use saltwing::{Database, ErrorCode};

use crate::code;

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
    "SELECT * FROM flights WHERE origin = 'JFK' AND time_hour = '2013-07-04 12:00:00' AND carrier = 'HA' AND flight = 1200",
    "SELECT count(*) FROM flights WHERE origin = 'JFK' AND time_hour >= '2013-07-04 00:00:00' AND time_hour < '2013-07-05 00:00:00'",
    "SELECT carrier, flight, dest FROM flights WHERE origin = 'EWR' AND time_hour >= '2013-12-24 20:00:00' ORDER BY time_hour, carrier, flight LIMIT 25",
    "SELECT time_hour, carrier, flight FROM flights WHERE origin = 'LGA' ORDER BY time_hour DESC, carrier DESC, flight DESC LIMIT 10",
    "SELECT carrier, count(*), sum(distance) FROM flights WHERE origin = 'EWR' AND time_hour BETWEEN '2013-03-01 00:00:00' AND '2013-03-07 23:00:00' GROUP BY carrier ORDER BY carrier",
    "SELECT month, avg(dep_delay), max(arr_delay), min(air_time) FROM flights WHERE origin = 'LGA' GROUP BY month ORDER BY month",
    "SELECT a.name, count(*) AS n FROM flights f JOIN airlines a ON a.carrier = f.carrier WHERE f.origin = 'JFK' AND f.time_hour < '2013-01-03 00:00:00' GROUP BY a.name ORDER BY n DESC, a.name",
    "SELECT p.manufacturer, count(*) FROM flights f JOIN planes p ON p.tailnum = f.tailnum WHERE f.origin = 'EWR' AND f.time_hour >= '2013-10-01 00:00:00' AND f.time_hour < '2013-10-02 00:00:00' GROUP BY p.manufacturer ORDER BY 2 DESC, 1",
    "SELECT f.flight, ap.name, ap.alt FROM flights f JOIN airports ap ON ap.faa = f.dest WHERE f.origin = 'LGA' AND f.time_hour = '2013-05-05 13:00:00' ORDER BY f.flight, f.carrier",
    "SELECT origin, count(*), sum(dep_delay) FROM flights WHERE origin IN ('JFK', 'LGA') AND time_hour >= '2013-02-08 00:00:00' AND time_hour < '2013-02-10 00:00:00' GROUP BY origin ORDER BY origin",
    "SELECT carrier, flight, dep_delay FROM flights WHERE origin = 'JFK' AND dep_delay > 600 ORDER BY dep_delay DESC, carrier, flight, time_hour",
    "SELECT DISTINCT dest FROM flights WHERE origin = 'JFK' AND carrier = 'DL' ORDER BY dest",
    "SELECT dest, count(*) AS n FROM flights WHERE origin = 'EWR' GROUP BY dest HAVING count(*) > 500 ORDER BY n DESC, dest",
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

const CARRIERS: [&str; 16] =
    ["9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"];
const ORIGINS: [&str; 3] = ["EWR", "JFK", "LGA"];
const DESTINATIONS: [&str; 9] = ["ATL", "BOS", "CLT", "FLL", "LAX", "MCO", "ORD", "SFO", "SJU"];
const DAYS_OF_MONTHS: [u64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// A small generator of numbers: the same ones each time.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    /// A number, or NULL once in so many.
    fn or_null(&mut self, once_in: u64, value: impl std::fmt::Display) -> String {
        if self.below(once_in) == 0 { "NA".into() } else { value.to_string() }
    }
}

/// Writes the tables as CSV files; their numbers of rows.
fn write_data(folder: &Path) -> Vec<u64> {
    let mut random = Random(2013);
    let mut files = TABLES.map(|(_, columns, _)| {
        let names: Vec<&str> = columns.split(", ").map(|column| column.split(' ').next().unwrap()).collect();
        names.join(",") + "\n"
    });
    let [airlines, airports, planes, weather, flights] = &mut files;
    for carrier in CARRIERS {
        writeln!(airlines, "{carrier},\"{carrier} Airlines, Inc.\"").unwrap();
    }
    // One destination is no airport of the list.
    for (i, faa) in DESTINATIONS.iter().skip(1).chain(&ORIGINS).enumerate() {
        let altitude = random.below(5_000);
        writeln!(airports, "{faa},{faa} Airport,{}.5,-{}.25,{altitude},-5,A,America/New_York", 30 + i, 70 + i).unwrap();
    }
    for i in 0..300 {
        let (year, speed) = (random.or_null(10, 1960 + i % 50), random.or_null(2, 90 + i));
        let maker = ["BOEING", "AIRBUS", "EMBRAER"][i % 3];
        writeln!(planes, "N{i:03},{year},Fixed wing,{maker},M-{},2,{},{speed},Turbo-fan", i % 7, 50 + i).unwrap();
    }
    for day in 0..365_u64 {
        let (mut month, mut of_month) = (0, day);
        while of_month >= DAYS_OF_MONTHS[month] {
            of_month -= DAYS_OF_MONTHS[month];
            month += 1;
        }
        let date = format!("2013,{},{}", month + 1, of_month + 1);
        for hour in 5..23 {
            let time = format!("2013-{:02}-{:02}T{hour:02}:00:00Z", month + 1, of_month + 1);
            for origin in ORIGINS {
                let temperature = format!("{}.{:02}", random.below(90), random.below(100));
                let (wind, gust) = (random.below(33), random.below(50));
                let wind = random.or_null(40, format!("{wind}.5"));
                let gust = random.or_null(2, format!("{gust}.25"));
                writeln!(
                    weather,
                    "{origin},{date},{hour},{temperature},20.5,60.25,{},{wind},{gust},0,1012.5,10,{time}",
                    random.or_null(30, 270)
                )
                .unwrap();
                let is_busy = origin == "EWR" && hour == 8 && day % 30 == 0;
                let count = if is_busy { 31 + random.below(5) } else { 1 + random.below(3) };
                for place in 0..count {
                    let (carrier, flight) = (CARRIERS[((place + day) % 16) as usize], hour * 100 + place);
                    let tail = format!("N{:03}", random.below(320));
                    let tail = random.or_null(100, tail);
                    let minute = random.below(60);
                    let scheduled = hour * 100 + minute;
                    // Cancelled, some hours late, or about on time.
                    let (departed, late, arrived, arrived_late, in_air) = match random.below(2_000) {
                        0 => ("NA".into(), "NA".into(), "NA".into(), "NA".into(), "NA".into()),
                        n => {
                            let late =
                                if n < 4 { 601 + random.below(300) as i64 } else { random.below(60) as i64 - 20 };
                            let (arrived, in_air) = (scheduled + 200, 40 + random.below(300));
                            let of = |number: i64| number.to_string();
                            (of(scheduled as i64 + late), of(late), of(arrived as i64), of(late - 7), of(in_air as i64))
                        }
                    };
                    // The first destinations are the busiest.
                    let destination = DESTINATIONS[(random.below(9) * random.below(9) / 9) as usize];
                    writeln!(
                        flights,
                        "{date},{departed},{scheduled},{late},{arrived},{},{arrived_late},{carrier},{flight},{tail},{origin},{destination},{in_air},{},{hour},{minute},{time}",
                        scheduled + 190,
                        200 + random.below(2_500)
                    )
                    .unwrap();
                }
            }
        }
    }
    let write = |((table, _, _), text): ((&str, &str, &str), &String)| {
        std::fs::write(folder.join(format!("{table}.csv")), text).unwrap();
        text.lines().count() as u64 - 1
    };
    TABLES.into_iter().zip(&files).map(write).collect()
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
    let folder = tempfile::tempdir().unwrap();
    let rows = write_data(folder.path());
    let sqlite = load_sqlite(folder.path());
    let db = Database::builder(folder.path().join("db")).buffered().open().unwrap();
    let connection = db.connect().blocking();
    assert_eq!(load_saltwing(folder.path(), &connection), rows);
    for sql in QUESTIONS {
        let refused = connection.query(sql, ()).err().is_some_and(|error| error.code() == ErrorCode::NotSupported);
        if refused && cfg!(not(feature = "datafusion")) {
            println!("skipped without the relational engine: {sql}");
            continue;
        }
        let expected = sqlite_rows(&sqlite, sql);
        assert!(!expected.is_empty(), "the data answers nothing to {sql}");
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
}
