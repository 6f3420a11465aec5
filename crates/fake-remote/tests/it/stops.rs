//! Servers that answer no more: each statement ends at its limit or by an interrupt, and names the server.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use fake_remote::{AtomicScope, Faults, RemoteStore};
use saltwing::blocking::Connection;
use saltwing::{Database, Error, ErrorCode};

/// Longer than a statement of these tests takes that ends at all.
const FOR_EVER: Duration = Duration::from_secs(50);

/// A statement of each kind of call, and what runs before it while the servers answer.
const STATEMENTS: [(&str, &str); 23] = [
    ("", "SELECT * FROM t WHERE h = 'h1' AND k = 1"),
    ("", "SELECT * FROM t WHERE h = 'h1' AND k IN (1, 2, 3)"),
    ("", "SELECT * FROM t WHERE h = 'h1'"),
    ("", "SELECT * FROM t WHERE h = 'h1' ORDER BY k DESC LIMIT 3"),
    ("", "SELECT COUNT(*), SUM(a) FROM t WHERE h = 'h1'"),
    ("", "SELECT a, COUNT(*) FROM t WHERE h = 'h1' GROUP BY a ORDER BY 2"),
    ("", "SELECT k FROM t WHERE a = 7"),
    ("", "SELECT /*+ FULL_SCAN(t) */ DISTINCT h FROM t"),
    ("", "EXPLAIN ANALYZE SELECT * FROM t WHERE h = 'h1'"),
    ("", "UPSERT INTO t VALUES ('h1', 1, 1)"),
    ("", "UPSERT INTO t VALUES ('h1', 1, 1), ('h2', 2, 2)"),
    ("", "INSERT INTO t VALUES ('new', 1, 1)"),
    ("", "INSERT INTO t VALUES ('h1', 1, 1) ON CONFLICT (h, k) DO UPDATE SET a = t.a + 1"),
    ("", "UPDATE t SET a = a + 1 WHERE h = 'h1' AND k = 1"),
    ("", "DELETE FROM t WHERE h = 'h1'"),
    ("", "UPSERT INTO t SELECT h, k + 100, a FROM t WHERE h = 'h1'"),
    ("BEGIN; UPSERT INTO t VALUES ('h1', 1, 2)", "COMMIT"),
    ("BEGIN", "SELECT * FROM t WHERE h = 'h1' AND k = 1"),
    ("", "CREATE TABLE other (k BIGINT PRIMARY KEY)"),
    ("", "CREATE INDEX further ON t (k)"),
    ("", "ALTER TABLE t ADD b BIGINT"),
    ("", "DROP TABLE dropped"),
    ("", "SELECT NEXT VALUE FOR s"),
];

/// A query of the relational engine. The caller waits for the engine, which waits for the server, so the error does not name the server.
const RELATIONAL: (&str, &str) = ("", "SELECT * FROM t JOIN t AS o ON t.k = o.a WHERE t.h = 'h1' AND o.h = 'h2'");

struct Cluster {
    store: Arc<RemoteStore>,
    database: Database,
}

impl Cluster {
    fn new() -> Self {
        let store = Arc::new(RemoteStore::new(AtomicScope::Store, Faults::none()));
        let database = Database::memory_builder().open_over(store.clone()).unwrap();
        let connection = database.connect().blocking();
        let definitions = "CREATE TABLE t (h VARCHAR, k BIGINT, a BIGINT, CONSTRAINT pk PRIMARY KEY (h, k));
            CREATE INDEX i ON t (a); CREATE TABLE dropped (k BIGINT PRIMARY KEY); CREATE SEQUENCE s CACHE 1;
            UPSERT INTO t VALUES ('h1', 1, 1), ('h1', 2, 2), ('h2', 1, 7)";
        connection.execute_batch(definitions).unwrap();
        Self { store, database }
    }

    fn connect(&self, before: &str) -> Connection {
        let connection = self.database.connect().blocking();
        if !before.is_empty() {
            connection.execute_batch(before).unwrap();
        }
        connection
    }
}

/// All statements; the relational one only if the library has that engine.
fn statements() -> Vec<(&'static str, &'static str)> {
    let explained = Cluster::new().connect("").query(&format!("EXPLAIN {}", RELATIONAL.1), ()).map(drop);
    STATEMENTS.into_iter().chain(explained.is_ok().then_some(RELATIONAL)).collect()
}

/// Runs a statement to its end on a thread of its own, and gives its error.
fn failing(connection: &Connection, sql: &'static str) -> mpsc::Receiver<Option<Error>> {
    let (sender, receiver) = mpsc::channel();
    let connection = connection.clone();
    std::thread::spawn(move || {
        let gives_rows = sql.starts_with("SELECT") || sql.starts_with("EXPLAIN");
        let ended = match gives_rows {
            true => connection.query(sql, ()).and_then(|rows| rows.collect::<Result<Vec<_>, _>>()).map(drop),
            false => connection.execute(sql, ()).map(drop),
        };
        let _ = sender.send(ended.err());
    });
    receiver
}

/// A statement that could not be stopped in silence: it has this code, or the commit's outcome is unknown.
fn assert_ended(ended: Option<Error>, code: ErrorCode, sql: &str) {
    let Some(error) = ended else { panic!("{sql}: no error") };
    let is_known = [code, ErrorCode::CommitUnknown].contains(&error.code());
    assert!(is_known, "{sql}: {} {error}", error.code().as_str());
    assert!(sql == RELATIONAL.1 || error.to_string().contains("fake-remote server"), "{sql}: {error}");
}

#[test]
fn a_limit_ends_each_kind_of_statement() {
    for (before, sql) in statements() {
        let cluster = Cluster::new();
        let connection = cluster.connect(before);
        connection.execute("SET statement_timeout = 30", ()).unwrap();
        cluster.store.hang(true);
        let ended = failing(&connection, sql).recv_timeout(FOR_EVER);
        assert_ended(ended.unwrap_or_else(|_| panic!("{sql} does not end")), ErrorCode::Timeout, sql);
        cluster.store.hang(false);
        let later = cluster.connect("");
        let count = later.query_one::<(i64,)>("SELECT COUNT(*) FROM t WHERE h = 'h2'", ()).unwrap().0;
        assert!(count >= 1, "{sql}: the database goes on");
    }
}

#[test]
fn an_interrupt_ends_each_kind_of_statement() {
    for (before, sql) in statements() {
        let cluster = Cluster::new();
        let connection = cluster.connect(before);
        cluster.store.hang(true);
        let calls = cluster.store.calls();
        let ended = failing(&connection, sql);
        while cluster.store.calls() == calls {
            std::thread::yield_now();
        }
        connection.interrupt_handle().interrupt();
        let ended = ended.recv_timeout(FOR_EVER);
        assert_ended(ended.unwrap_or_else(|_| panic!("{sql} does not end")), ErrorCode::Cancelled, sql);
    }
}

#[test]
fn without_a_limit_the_client_gives_a_server_up() {
    let faults = Faults { answer_max: Duration::from_millis(20), ..Faults::none() };
    let store = Arc::new(RemoteStore::new(AtomicScope::Store, faults));
    let database = Database::memory_builder().open_over(store.clone()).unwrap();
    let connection = database.connect().blocking();
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY)", ()).unwrap();
    store.hang(true);
    let error = connection.query("SELECT * FROM t WHERE k = 1", ()).map(drop).unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), (ErrorCode::Unavailable, true), "{error}");
    assert!(error.to_string().contains("gave no answer within 20 ms"), "{error}");
    let error = connection.execute("UPSERT INTO t VALUES (1)", ()).unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), (ErrorCode::CommitUnknown, false), "{error}");
}
