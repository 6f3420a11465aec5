//! INTERVAL outside SQL: values, parameters, Arrow, files and reopened databases.

use saltwing::blocking::Connection;
use saltwing::{Database, Interval, Timestamp, Value};

use crate::{code, texts};

fn table() -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE v (k INTEGER PRIMARY KEY, i INTERVAL)", ()).unwrap();
    connection
}

#[test]
fn values_go_in_and_out() {
    let connection = table();
    let lengths = [
        Interval { months: 14, days: -3, nanos: 1 },
        Interval { months: i32::MIN, days: i32::MAX, nanos: i64::MIN },
        Interval::default(),
    ];
    for (k, length) in (0i32..).zip(lengths) {
        connection.execute("UPSERT INTO v VALUES (?, ?)", (k, length)).unwrap();
        let (read, text): (Interval, String) =
            connection.query_one("SELECT i, CAST(i AS VARCHAR) FROM v WHERE k = ?", (k,)).unwrap();
        assert_eq!((read, Interval::parse(&text).unwrap()), (length, length));
        let same = "SELECT k FROM v WHERE k = ? AND i = ?";
        assert_eq!(connection.query_one::<(i32,)>(same, (k, length)).unwrap(), (k,));
        assert_eq!(connection.query_one::<(i32,)>(same, (k, text)).unwrap(), (k,));
    }
    connection.execute("UPSERT INTO v VALUES (9, ?)", ("P1DT2H",)).unwrap();
    assert_eq!(texts(&connection, "SELECT i FROM v WHERE k = 9").unwrap(), ["1 day 02:00:00"]);
    assert_eq!(code(connection.execute("UPSERT INTO v VALUES (9, ?)", ("soon",))), "bad_datetime");
    let (arrow, none): (Interval, Option<Interval>) =
        connection.query_one("SELECT i, NULLIF(i, '26 hours') FROM v WHERE k = 9", ()).unwrap();
    assert_eq!((arrow, none), (Interval { days: 1, nanos: 7_200_000_000_000, ..Interval::default() }, None));
}

#[test]
fn files_have_the_texts() {
    let connection = table();
    let lines = "{\"k\":1,\"i\":\"1 mon -2 days +00:00:00.5\"}\n{\"k\":2,\"i\":null}\n";
    connection.copy_from_reader("COPY v FROM STDIN WITH (FORMAT json)", lines.as_bytes()).unwrap();
    for format in ["json", "csv"] {
        let mut out = Vec::new();
        let to = format!("COPY (SELECT * FROM v WHERE k > 0 ORDER BY k) TO STDOUT WITH (FORMAT {format})");
        connection.copy_to_writer(&to, (), &mut out).unwrap();
        if format == "json" {
            assert_eq!(String::from_utf8_lossy(&out), lines);
        }
        connection.execute("TRUNCATE v", ()).unwrap();
        connection.copy_from_reader(&format!("COPY v FROM STDIN WITH (FORMAT {format})"), &out[..]).unwrap();
        let all = "SELECT * FROM v WHERE k > 0 ORDER BY k";
        assert_eq!(texts(&connection, all).unwrap(), ["1|1 mon -2 days +00:00:00.5", "2|NULL"]);
    }
}

#[test]
fn reopened_databases_have_the_values() {
    let directory = tempfile::tempdir().unwrap();
    for round in 0..3 {
        let database = Database::open(directory.path()).unwrap();
        let connection = database.connect().blocking();
        if round == 0 {
            connection
                .execute(
                    "CREATE TABLE v (k INTEGER PRIMARY KEY, i INTERVAL DEFAULT '1 mon 1 day', a INTERVAL ARRAY)",
                    (),
                )
                .unwrap();
            connection.execute("UPSERT INTO v (k, a) VALUES (1, ARRAY[INTERVAL '1 day', NULL])", ()).unwrap();
        }
        let all = "SELECT k, i, a FROM v WHERE k = 1";
        assert_eq!(texts(&connection, all).unwrap(), ["1|1 mon 1 day|[\"1 day\",null]"]);
        connection.execute("COMPACT v", ()).unwrap();
        assert_eq!(texts(&connection, all).unwrap(), ["1|1 mon 1 day|[\"1 day\",null]"]);
    }
}

/// A parameter beside an interval is an instant, so that the guard and the plan see a range.
#[test]
fn parameters_beside_intervals_bound_keys() {
    let connection = Database::memory().unwrap().connect().blocking();
    let create = "CREATE TABLE e (ts TIMESTAMP NOT NULL, n INTEGER NOT NULL, CONSTRAINT pk PRIMARY KEY (ts, n))";
    connection.execute(create, ()).unwrap();
    let day = |n: i64| Timestamp { ms: n * 86_400_000, nanos: 0 };
    for n in 0..10 {
        connection.execute("UPSERT INTO e VALUES (?, ?)", (day(n), n)).unwrap();
    }
    let executors: &[&str] = if cfg!(feature = "datafusion") { &["direct", "datafusion"] } else { &["direct"] };
    for executor in executors {
        connection.execute(&format!("SET executor = '{executor}'"), ()).unwrap();
        for sql in [
            "SELECT n FROM e WHERE ts > ? - INTERVAL '2 days' ORDER BY ts",
            "SELECT n FROM e WHERE ts > INTERVAL '-2 days' + ? ORDER BY ts",
        ] {
            let prepared = connection.prepare(sql).unwrap();
            for value in [Value::Timestamp(day(9)), Value::Date(9 * 86_400_000)] {
                let rows = prepared.query((value,)).unwrap().map(|row| row.unwrap().get::<i32>(0).unwrap());
                assert_eq!(rows.collect::<Vec<_>>(), [8, 9], "{executor} {sql}");
            }
        }
    }
}
