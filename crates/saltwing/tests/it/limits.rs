//! What one statement may take: time until it stops, nodes of a plan, memory.
#![cfg(feature = "datafusion")]

use std::time::{Duration, Instant};

use saltwing::blocking::Connection;
use saltwing::{Builder, Database, Error};

use crate::{code, texts};

/// Far beyond what stopping takes: a statement that takes longer hangs.
const HANGS: Duration = Duration::from_secs(600);

fn filled(builder: Builder) -> Connection {
    let connection = builder.open().unwrap().connect().blocking();
    connection.execute("CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, v VARCHAR)", ()).unwrap();
    let rows: Vec<String> = (0..100).map(|k| format!("({k}, 'x')")).collect();
    connection.execute(&format!("UPSERT INTO t VALUES {}", rows.join(", ")), ()).unwrap();
    connection.execute("SET full_scan = 'allow'", ()).unwrap();
    connection
}

fn run(connection: &Connection, sql: &str) -> Result<Vec<String>, Error> {
    let started = Instant::now();
    let rows = texts(connection, sql);
    assert!(started.elapsed() < HANGS, "{} ..", &sql[..sql.len().min(100)]);
    rows
}

fn listed(count: usize, item: impl Fn(usize) -> String, between: &str) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(between)
}

/// Statements that take long to plan.
fn long_to_plan() -> Vec<String> {
    let joins = listed(98, |i| format!("JOIN t t{} ON t{}.k = t{i}.k", i + 1, i + 1), " ");
    vec![
        format!("SELECT count(*) FROM t t0 {joins} WHERE t0.k = 1"),
        format!("SELECT {} FROM t WHERE k = 1", listed(10_000, |i| format!("k + {i}"), ", ")),
        format!("SELECT k FROM t WHERE {}", listed(20_000, |i| format!("k = {i}"), " OR ")),
        format!("SELECT k FROM t WHERE k > 0 ORDER BY {}", listed(1000, |i| format!("k + {i}"), ", ")),
        format!("SELECT k FROM t WHERE k IN (SELECT max(t0.k) FROM t t0 {joins}) AND k > 0"),
    ]
}

#[test]
fn planning_stops_when_its_time_is_over() {
    let connection = filled(Database::memory_builder());
    connection.execute("SET executor = 'datafusion'", ()).unwrap();
    for sql in long_to_plan() {
        for timeout in [1, 100] {
            connection.execute(&format!("SET statement_timeout = '{timeout}ms'"), ()).unwrap();
            assert_eq!(code(run(&connection, &sql)), "timeout", "{} ..", &sql[..100]);
        }
    }
}

#[test]
fn planning_is_cancelled_from_another_thread() {
    let connection = filled(Database::memory_builder());
    connection.execute("SET executor = 'datafusion'", ()).unwrap();
    let sql = long_to_plan().remove(1);
    let planning = std::thread::spawn({
        let connection = connection.clone();
        move || code(run(&connection, &sql))
    });
    while !planning.is_finished() {
        connection.cancel();
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(planning.join().unwrap(), "cancelled");
}

/// Statements whose text or values make one step long, on the direct path for the most part.
fn long_steps() -> Vec<String> {
    let ors =
        |first: &str, second: &str, count| listed(count, |i| format!("({first} = {i} OR {second} = '{i}')"), " AND ");
    let numbers = listed(150_000, |i| (i * 5).to_string(), ", ");
    let rows = listed(100_000, |i| format!("({i}, '{i}')"), ", ");
    vec![
        format!("SELECT k FROM t WHERE {}", ors("k", "v", 20_000)),
        format!("EXPLAIN SELECT k FROM t WHERE {}", ors("k", "v", 20_000)),
        format!("DELETE FROM t WHERE {}", ors("k", "v", 20_000)),
        format!(
            "SELECT k FROM t WHERE {}",
            listed(50_000, |i| format!("(k > {} AND k < {})", 3 * i, 3 * i + 2), " OR ")
        ),
        format!("SELECT count(*) FROM t WHERE k IN ({numbers})"),
        format!("SELECT count(*) FROM t WHERE k NOT IN ({numbers})"),
        format!("SELECT count(*) FROM (VALUES {rows}) x (a, b)"),
        format!("UPSERT INTO t VALUES {rows}"),
        format!("SELECT CASE {} END FROM t WHERE k = 1", listed(50_000, |i| format!("WHEN k = {i} THEN {i}"), " ")),
        format!("SELECT CASE k {} END FROM t WHERE k = 1", listed(50_000, |i| format!("WHEN {i} THEN {i}"), " ")),
        format!("SELECT {} FROM t WHERE k = 1", listed(50_000, |i| format!("k + {i}"), ", ")),
        "SELECT max(length(LPAD(v, 30000000))) FROM t WHERE k >= 0".into(),
        "SELECT k FROM t WHERE k >= 0 AND length(LPAD(v, 30000000)) < 7".into(),
        "SELECT length(v || REPEAT('x', 1000000) || REPEAT('y', 30000000)) FROM t WHERE k >= 0".into(),
        format!("SELECT max(length(v || '{}' || REPEAT('y', 30000000))) FROM t WHERE k >= 0", "x".repeat(1 << 20)),
    ]
}

#[test]
fn a_long_step_stops_when_its_time_is_over() {
    let connection = filled(Database::memory_builder());
    for sql in long_steps() {
        for prepared in [false, true] {
            connection.execute("SET statement_timeout = '5ms'", ()).unwrap();
            let started = Instant::now();
            let result = match prepared {
                false => connection.execute(&sql, ()).map(drop),
                true => connection.prepare(&sql).and_then(|prepared| prepared.execute(()).map(drop)),
            };
            let sql: String = sql.chars().take(80).collect();
            assert_eq!(code(result), "timeout", "{sql} ..");
            println!("{:>6} ms {sql}", started.elapsed().as_millis());
        }
    }
}

#[test]
fn plans_have_a_size() {
    let connection = filled(Database::memory_builder());
    let doubling = |count: usize, body: fn(usize) -> String| {
        let ctes = listed(count, |i| format!("c{} AS ({})", i + 1, body(i)), ", ");
        format!("WITH c0 AS (SELECT 1 AS x), {ctes} SELECT count(*) FROM c{count}")
    };
    let union: fn(usize) -> String = |i| format!("SELECT x FROM c{i} UNION ALL SELECT x FROM c{i}");
    let join: fn(usize) -> String = |i| format!("SELECT a.x FROM c{i} a, c{i} b");
    assert_eq!(run(&connection, &doubling(5, union)).unwrap(), ["32"]);
    assert_eq!(run(&connection, &doubling(5, join)).unwrap(), ["1"]);
    for body in [union, join] {
        let error = run(&connection, &doubling(24, body)).unwrap_err();
        assert_eq!(error.sqlstate(), "54000");
        assert!(error.to_string().contains("above the limit of 2000"), "{error}");
        assert!(error.help().is_some());
    }
    let keys = format!("SELECT k FROM t WHERE k > 0 ORDER BY {}", listed(5000, |i| format!("k + {i}"), ", "));
    assert_eq!(run(&connection, &keys).unwrap_err().sqlstate(), "54000");
}

#[test]
fn values_have_a_size() {
    let connection = filled(Database::memory_builder());
    let concat = format!("LENGTH(CONCAT({}))", vec!["REPEAT(v, 1000000)"; 70].join(", "));
    for bomb in [
        concat.as_str(),
        "LENGTH(LPAD('x', 2000000000, 'y'))",
        "LENGTH(RPAD(v, 2000000000, 'yz'))",
        "LENGTH(REPEAT('x', 1000000000))",
        "LENGTH(REPEAT(v, 9223372036854775807))",
        "LENGTH(REPLACE(REPLACE(REPLACE(REPEAT('x', 10000), 'x', REPEAT('x', 10000)), 'x', REPEAT('x', 10000)), 'x', 'xx'))",
        "LENGTH(REGEXP_REPLACE(REPEAT(v, 1000000), '', REPEAT('x', 1000), 'g'))",
        "ARRAY_LENGTH(ARRAY_REPEAT(1, 400000000))",
        "ARRAY_LENGTH(ARRAY_REPEAT(ARRAY_REPEAT(v, 10000), 100000))",
        "ARRAY_LENGTH(RANGE(1, 9223372036854775807))",
        "ARRAY_LENGTH(GENERATE_SERIES(TIMESTAMP '1900-01-01 00:00:00', TIMESTAMP '2100-01-01 00:00:00', INTERVAL '1' SECOND))",
        "LENGTH(ARRAY_TO_STRING(RANGE(1, 100000), REPEAT('x', 100000)))",
    ] {
        let error = run(&connection, &format!("SELECT {bomb} FROM t WHERE k = 1")).unwrap_err();
        assert_eq!(error.sqlstate(), "54000", "{bomb}: {error}");
        assert!(error.to_string().contains("above the limit of 67108864"), "{bomb}: {error}");
    }
    let sql = "SELECT LENGTH(REPEAT(v, 1000)), LENGTH(LPAD(v, 100, 'é')), REPLACE('abab', 'a', 'xyz'), \
               CONCAT('a', NULL, v), CONCAT_WS('-', 'a', v, 'c'), REPEAT(NULL, 5), RPAD('abc', -1), \
               ARRAY_LENGTH(RANGE(0, 100, 10)), LENGTH(REPEAT('x', 60000000)) FROM t WHERE k = 1";
    let expected = "1000|100|xyzbxyzb|NULL|a-x-c|NULL||10|60000000";
    assert_eq!(run(&connection, sql).unwrap(), [expected]);
}

#[test]
fn what_functions_make_counts_as_memory() {
    let connection = filled(Database::memory_builder().memory_limit(120 << 20));
    // 100 rows of 2 MB, as rows of the direct path and of the relational engine, and within a group.
    for made in ["REPEAT(v, 2000000)", "LPAD(v, 2000000)", "REPLACE(LPAD(v, 1000), ' ', LPAD('y', 2001))"] {
        for sql in [
            format!("SELECT {made} FROM t WHERE k >= 0"),
            format!("SELECT x.s FROM (SELECT {made} AS s, k FROM t WHERE k >= 0 ORDER BY v LIMIT 1000) x"),
            format!("SELECT MAX({made}) FROM t WHERE k >= 0"),
        ] {
            let error = run(&connection, &sql).unwrap_err();
            assert_eq!(error.code().as_str(), "out_of_memory", "{sql}: {error}");
            let text = error.to_string();
            assert!(text.contains("memory_limit") && text.contains("125829120"), "{sql}: {text}");
        }
        // Values inside an expression are made one at a time.
        let lengths = format!("SELECT COUNT(*) FROM t WHERE k >= 0 AND LENGTH({made}) > 1000000");
        assert_eq!(run(&connection, &lengths).unwrap(), ["100"], "{made}");
    }
    let half = "SELECT SUM(LENGTH(REPEAT(v, 1000000))) FROM t WHERE k BETWEEN 0 AND 39";
    for _ in 0..5 {
        assert_eq!(run(&connection, half).unwrap(), ["40000000"]);
    }
    let arrays = "SELECT SUM(ARRAY_LENGTH(ARRAY_REPEAT(k, 100000))) FROM t WHERE k BETWEEN 0 AND 39";
    assert_eq!(run(&connection, arrays).unwrap(), ["4000000"]);
    let values = "SELECT COUNT(*), MIN(LENGTH(s)) FROM \
                  (SELECT RPAD(CAST(k AS VARCHAR), 1000000, 'z') AS s FROM t WHERE k < 40) x WHERE SUBSTR(s, 3, 1) = 'z'";
    assert_eq!(run(&connection, values).unwrap(), ["40|1000000"]);
}

#[test]
fn rows_that_a_query_writes_count_as_memory() {
    let connection = filled(Database::memory_builder().memory_limit(8 << 20));
    connection.execute("CREATE TABLE wide (k BIGINT NOT NULL PRIMARY KEY, v VARCHAR) FULL_SCAN = 'allow'", ()).unwrap();
    let copied =
        "UPSERT INTO wide SELECT a.k * 100 + b.k, RPAD('x', 2000, 'y') FROM t a, t b WHERE a.k >= 0 AND b.k >= 0";
    for write in [copied, "INSERT INTO wide SELECT value, RPAD('x', 2000, 'y') FROM generate_series(1, 10000)"] {
        let error = connection.execute(write, ()).unwrap_err();
        assert_eq!(error.code().as_str(), "out_of_memory", "{write}: {error}");
        assert!(error.help().unwrap().contains("autocommit_rows"), "{:?}", error.help());
    }
    assert_eq!(run(&connection, "SELECT COUNT(*) FROM wide").unwrap(), ["0"]);
    // Parts give back what they took, and so do failed statements.
    connection.execute("SET autocommit_rows = 1000", ()).unwrap();
    assert_eq!(connection.execute(copied, ()).unwrap().rows_affected, 10_000);
}

/// A semi join that looks rows up remembers by which values it has done so.
#[test]
fn values_that_a_lookup_has_met_count_as_memory() {
    let connection = filled(Database::memory_builder().memory_limit(4 << 20));
    let sql = |met: u64| {
        format!("SELECT COUNT(*) FROM t WHERE k IN (SELECT s.value % 1000000 FROM generate_series(1, {met}) s)")
    };
    let plan = run(&connection, &format!("EXPLAIN {}", sql(200_000))).unwrap().join("\n");
    assert!(plan.to_lowercase().contains("lookup"), "{plan}");
    assert_eq!(run(&connection, &sql(1000)).unwrap(), ["99"]);
    let error = run(&connection, &sql(200_000)).unwrap_err();
    assert_eq!(error.code().as_str(), "out_of_memory", "{error}");
}

#[test]
fn the_memory_limit_is_a_setting() {
    let connection = filled(Database::memory_builder().memory_limit(100 << 20));
    let sort = "SELECT COUNT(*) FROM (SELECT a.k FROM t a, t b ORDER BY a.k + b.k, b.v LIMIT 9000) x";
    assert_eq!(texts(&connection, "SHOW memory_limit").unwrap(), ["memory_limit|104857600"]);
    connection.execute("SET memory_limit = '100kB'", ()).unwrap();
    assert_eq!(texts(&connection, "SHOW memory_limit").unwrap(), ["memory_limit|102400"]);
    let error = run(&connection, "SELECT a.k, b.k, COUNT(*) FROM t a, t b GROUP BY a.k, b.k").unwrap_err();
    assert_eq!(error.code().as_str(), "out_of_memory", "{error}");
    // The limit is all connections' and executors'.
    let direct = "SELECT v || CAST(k AS VARCHAR), COUNT(*) FROM t WHERE k >= 0 GROUP BY v || CAST(k AS VARCHAR)";
    connection.execute("SET memory_limit = 1000", ()).unwrap();
    assert_eq!(code(run(&connection, direct)), "out_of_memory");
    connection.execute("SET memory_limit = DEFAULT", ()).unwrap();
    assert_eq!(run(&connection, direct).unwrap().len(), 100);
    assert_eq!(run(&connection, sort).unwrap(), ["9000"]);
    for bad in ["'much'", "0", "-1", "'101MB'", "'1.5MB'"] {
        let error = connection.execute(&format!("SET memory_limit = {bad}"), ()).unwrap_err();
        assert!(["22023", "42601"].contains(&error.sqlstate()), "{bad}: {error}");
    }
}

/// A statement's own limit leaves memory to the others. SET lowers it, and lifts it no higher than the opening.
#[test]
fn one_statement_has_a_memory_limit_of_its_own() {
    let builder = Database::memory_builder().memory_limit(100 << 20).statement_memory_limit(8 << 20);
    let database = filled(builder);
    let own = "SHOW statement_memory_limit";
    assert_eq!(texts(&database, own).unwrap(), ["statement_memory_limit|8388608"]);
    let made = "SELECT REPEAT(v, 200000) FROM t WHERE k >= 0";
    let groups = "SELECT COUNT(*) FROM (SELECT a.k, b.k AS l, c.k AS m, COUNT(*) FROM t a, t b, t c WHERE c.k < 20 GROUP BY a.k, b.k, c.k) x";
    let written = "UPSERT INTO t SELECT k + 1000, REPEAT(v, 200000) FROM t WHERE k >= 0";
    for (sql, executor) in [(made, "direct"), (made, "datafusion"), (written, "auto")] {
        database.execute(&format!("SET executor = '{executor}'"), ()).unwrap();
        let error = database.execute(sql, ()).unwrap_err();
        assert_eq!((error.code().as_str(), error.sqlstate()), ("out_of_memory", "53200"), "{sql}: {error}");
        assert!(error.to_string().contains("of the 8388608 that statement_memory_limit allows"), "{sql}: {error}");
        assert!(error.help().unwrap().contains("SET statement_memory_limit"), "{:?}", error.help());
    }
    // Groups go to temporary files, though all statements together may take much more.
    database.execute("SET executor = 'auto'", ()).unwrap();
    assert_eq!(run(&database, groups).unwrap(), ["200000"]);
    for more in ["'9MB'", "0"] {
        let set = database.execute(&format!("SET statement_memory_limit = {more}"), ());
        assert_eq!(code(set), "bad_argument", "{more}");
    }
    database.execute("SET statement_memory_limit = '100kB'", ()).unwrap();
    let error = run(&database, made).unwrap_err();
    assert!(error.to_string().contains("of the 102400 that"), "{error}");
    database.execute("SET statement_memory_limit = DEFAULT", ()).unwrap();
    assert_eq!(texts(&database, own).unwrap(), ["statement_memory_limit|8388608"]);
    // A limit of all that is lower bounds a statement, too.
    database.execute("SET memory_limit = '50kB'", ()).unwrap();
    let error = run(&database, made).unwrap_err();
    assert!(error.to_string().contains("of the 51200 that memory_limit allows"), "{error}");
}
