//! Queries over a store whose scans read ahead by threads of their own: the relational engine waits for them without a thread. What comes first
//! depends on the threads, so the files, whose rows have one order, do not run over such a store.

use std::sync::Arc;

use fake_remote::{AtomicScope, Faults, RemoteStore};
use saltwing::Database;
use sql_tests::has_relational_engine;

const ROWS: i64 = 600;

#[test]
fn queries_of_either_executor_read_every_row() {
    let faults = Faults { scans_at_once: 3, page_rows: 16, ..Faults::often(21) };
    let store = Arc::new(RemoteStore::new(AtomicScope::Row, faults));
    let connection = Database::memory_builder().open_beside(store).unwrap().connect().blocking();
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT) SALT_BUCKETS = 7", ()).unwrap();
    let rows: Vec<String> = (0..ROWS).map(|k| format!("({k}, {})", k % 10)).collect();
    connection.execute(&format!("UPSERT INTO t VALUES {}", rows.join(", ")), ()).unwrap();
    let sum = (0..ROWS).sum::<i64>();
    let mut queries = vec![
        ("SELECT COUNT(*), SUM(k + 0) FROM t WHERE k >= 0", (ROWS, sum)),
        ("SELECT k, v FROM t WHERE k >= 0 ORDER BY k DESC LIMIT 1", (ROWS - 1, 9)),
    ];
    if has_relational_engine().unwrap() {
        queries.extend([
            ("SELECT COUNT(*), SUM(a.k) FROM t a JOIN t b ON a.k = b.k WHERE a.k >= 0 AND b.k >= 0", (ROWS, sum)),
            ("SELECT COUNT(*), SUM(n) FROM (SELECT v, COUNT(*) AS n FROM t WHERE k >= 0 GROUP BY v) g", (10, ROWS)),
            ("SELECT k, SUM(v) OVER (ORDER BY k) FROM t WHERE k >= 0 ORDER BY k DESC LIMIT 1", (ROWS - 1, 2700)),
        ]);
    }
    for (sql, expected) in queries {
        assert_eq!(connection.query_one::<(i64, i64)>(sql, ()).unwrap(), expected, "{sql}");
    }
}
