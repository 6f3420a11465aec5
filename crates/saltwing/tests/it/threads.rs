//! Statements on several threads: what they give does not depend on how many there are.

use std::num::NonZeroUsize;

use saltwing::{Database, Error, Value, blocking, params};

const ROWS: i64 = 6_000;

/// 6,000 rows in blocks, the last few of them recent.
fn connection(threads: usize, salt: u16) -> blocking::Connection {
    let builder = Database::memory_builder().threads(NonZeroUsize::new(threads).unwrap()).threads_from_rows(500);
    let connection = builder.full_scan("allow").unwrap().buffered().open().unwrap().connect().blocking();
    let create = format!(
        "CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, g INTEGER, d DOUBLE, s VARCHAR, big BIGINT) SALT_BUCKETS = {salt}, BLOCK_ROWS = 32"
    );
    connection.execute(&create, ()).unwrap();
    let insert = |from: i64, to: i64| {
        let row = |k: i64| format!("({k}, {}, {}e-1, 's{}', {})", k % 17, (k * 7919) % 1013, k % 5, k * 1_000_000_007);
        let rows: Vec<String> = (from..to).map(row).collect();
        connection.execute(&format!("UPSERT INTO t VALUES {}", rows.join(", ")), ()).unwrap();
    };
    (0..ROWS).step_by(1_000).for_each(|from| insert(from, from + 1_000));
    connection.execute("COMPACT t", ()).unwrap();
    insert(ROWS - 10, ROWS + 5);
    connection
}

fn answer(connection: &blocking::Connection, sql: &str) -> Result<Vec<Vec<Value>>, &'static str> {
    let rows = || connection.query(sql, ())?.map(|row| row?.values()).collect::<Result<_, Error>>();
    rows().map_err(|error| error.code().as_str())
}

const QUERIES: [&str; 12] = [
    "SELECT count(*), sum(k), avg(g), count(s) FROM t",
    "SELECT sum(d), avg(d), min(s), max(d) FROM t",
    "SELECT g, count(*), sum(d), avg(k) FROM t GROUP BY g ORDER BY g",
    "SELECT g, s, sum(d) FROM t WHERE d > 40.5 GROUP BY g, s ORDER BY 1, 2",
    "SELECT g, sum(d) FROM t WHERE k BETWEEN 100 AND 5000 GROUP BY g HAVING count(*) > 3 ORDER BY sum(d) DESC LIMIT 5",
    "SELECT count(DISTINCT g), sum(DISTINCT k % 100) FROM t WHERE k > 10",
    "SELECT count(*) FILTER (WHERE s = 's1'), sum(k) FILTER (WHERE g = 3) FROM t WHERE k <> 77",
    "SELECT s, count(*) FROM t GROUP BY s",
    "SELECT DISTINCT g FROM t WHERE d < 50 ORDER BY g",
    // What fails, in whichever part.
    "SELECT sum(big * 1000) FROM t",
    "SELECT g, sum(1 / (k - 5900)) FROM t GROUP BY g",
    // Relational sums of floats round by the order of rows.
    "SELECT a.g, count(*), sum(b.k) FROM t a JOIN t b ON a.k = b.k + 1 GROUP BY a.g ORDER BY a.g",
];

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    for salt in [0, 3] {
        let connections = [1, 2, 3, 8].map(|threads| connection(threads, salt));
        for sql in QUERIES {
            if !cfg!(feature = "datafusion") && sql.contains("JOIN") {
                continue;
            }
            let [one, others @ ..] = &connections;
            let wanted = answer(one, sql);
            for other in others {
                assert_eq!(answer(other, sql), wanted, "{sql}");
            }
        }
        let counted = |connection: &blocking::Connection, sql: &str| {
            let mut rows = connection.query(sql, ()).unwrap();
            assert!(rows.by_ref().all(|row| row.is_ok()));
            let stats = rows.stats();
            (stats.keys_read, stats.seeks, stats.buckets)
        };
        for sql in [QUERIES[0], QUERIES[2], QUERIES[4]] {
            let wanted = counted(&connections[0], sql);
            assert!(connections.iter().all(|connection| counted(connection, sql) == wanted), "{sql}");
        }
        assert_eq!(counted(&connections[1], QUERIES[2]).0, ROWS as u64 + 5);
    }
}

#[test]
fn many_rows_are_read_in_parts() {
    let connection = connection(2, 0);
    let batches = |sql: &str| {
        let row =
            connection.query(&format!("EXPLAIN ANALYZE (FORMAT JSON) {sql}"), ()).unwrap().next().unwrap().unwrap();
        let json: serde_json::Value = serde_json::from_str(&row.get::<String>(0).unwrap()).unwrap();
        json["accesses"][0]["batches"].as_u64().unwrap()
    };
    // Parts of 64 rows about, in blocks of 32.
    for sql in [QUERIES[2], QUERIES[3], QUERIES[5]] {
        assert!((60..110).contains(&batches(sql)), "{}", batches(sql));
    }
    assert_eq!(batches("SELECT g, count(*) FROM t WHERE k < 300 GROUP BY g"), 1);
}

#[test]
fn budgets_hold_for_all_threads_together() {
    let connection = connection(3, 0);
    connection.execute("SET rows_max = 5000", ()).unwrap();
    for sql in [QUERIES[0], QUERIES[2]] {
        assert_eq!(answer(&connection, sql), Err("budget_exceeded"), "{sql}");
    }
    connection.execute("SET rows_max = 7000", ()).unwrap();
    for sql in [QUERIES[0], QUERIES[2]] {
        assert!(answer(&connection, sql).is_ok(), "{sql}");
    }
}

#[test]
fn a_cancel_stops_all_threads() {
    let connection = connection(3, 3);
    let runner = connection.clone();
    let run = std::thread::spawn(move || {
        loop {
            for sql in [QUERIES[0], QUERIES[2]] {
                if let Err(code) = answer(&runner, sql) {
                    return code;
                }
            }
        }
    });
    while !run.is_finished() {
        connection.cancel();
        std::thread::yield_now();
    }
    assert_eq!(run.join().unwrap(), "cancelled");
    let statement = connection.prepare("SELECT count(*) FROM t WHERE k >= ?").unwrap();
    let count: i64 = statement.query(params![0]).unwrap().next().unwrap().unwrap().get(0).unwrap();
    assert_eq!(count, ROWS + 5);
}
