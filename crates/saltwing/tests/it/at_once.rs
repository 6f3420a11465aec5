//! Queries of the async API that the caller's thread runs, because they read little.

use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;

use saltwing::{Connection, Database, Error, Response, Value, blocking, params};

use crate::code;

/// The value of a future that is ready when it is first polled; `None` of one that waits for a thread of the library.
fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// The first value of a call. A try on a machine with other work may take too long, after which some calls are not tried.
fn soon<T>(call: impl Fn() -> Option<T>) -> Option<T> {
    (0..2000).find_map(|_| call())
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// The only thread of a database for calls works while this lives, so a call that needs the thread waits.
struct BusyThread {
    /// The end of the work.
    release: Option<Sender<()>>,
    worker: Option<JoinHandle<()>>,
}

/// A stream that has no byte, and tells when it is read.
struct Blocked {
    reads: Sender<()>,
    released: Receiver<()>,
}

impl Read for Blocked {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        let _ = self.reads.send(());
        let _ = self.released.recv();
        Ok(0)
    }
}

impl BusyThread {
    fn of(connection: &Connection) -> Self {
        let (reads, is_read) = channel();
        let (release, released) = channel();
        let connection = connection.clone();
        let worker = std::thread::spawn(move || {
            block_on(connection.copy_from_reader("COPY busy FROM STDIN", Blocked { reads, released })).unwrap();
        });
        is_read.recv().unwrap();
        Self { release: Some(release), worker: Some(worker) }
    }
}

impl Drop for BusyThread {
    fn drop(&mut self) {
        self.release.take();
        let worked = self.worker.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || matches!(worked, Some(Ok(()))), "the worker panicked");
    }
}

/// `accounts` accounts of 1,000 rows each, half of them in blocks. The database has one thread for calls.
fn events(accounts: i64, salt: u16) -> Connection {
    let connection = Database::memory_builder().blocking_threads_max(NonZeroUsize::MIN).open().unwrap().connect();
    connection.blocking().execute("CREATE TABLE busy (k BIGINT PRIMARY KEY)", ()).unwrap();
    let blocking = connection.blocking();
    let create = format!(
        "CREATE TABLE e (account BIGINT NOT NULL, id BIGINT NOT NULL, kind SMALLINT, amount BIGINT, note VARCHAR, \
         CONSTRAINT pk PRIMARY KEY (account, id)) SALT_BUCKETS = {salt}"
    );
    blocking.execute(&create, ()).unwrap();
    for account in 0..accounts {
        let row = |id: i64| {
            let note = if id % 7 == 0 { "NULL".to_owned() } else { format!("'note {id}'") };
            format!("({account}, {id}, {}, {}, {note})", id % 10, account * 7 + id)
        };
        let rows: Vec<String> = (0..1000).map(row).collect();
        blocking.execute(&format!("UPSERT INTO e VALUES {}", rows.join(", ")), ()).unwrap();
        if account == accounts / 2 {
            blocking.execute("COMPACT e", ()).unwrap();
        }
    }
    connection
}

fn rows_at_once(connection: &Connection, sql: &str) -> Option<Result<Vec<Vec<Value>>, Error>> {
    let rows = match at_once(connection.query(sql, ()))? {
        Ok(rows) => rows,
        Err(error) => return Some(Err(error)),
    };
    let mut rows = rows;
    let mut found = Vec::new();
    loop {
        match at_once(rows.next())? {
            Ok(Some(row)) => found.push(row.values().unwrap()),
            Ok(None) => return Some(Ok(found)),
            Err(error) => return Some(Err(error)),
        }
    }
}

fn rows_of(connection: &blocking::Connection, sql: &str) -> Vec<Vec<Value>> {
    connection.query(sql, ()).unwrap().map(|row| row.unwrap().values().unwrap()).collect()
}

#[test]
fn queries_that_read_little_have_the_same_rows_at_once() {
    for salt in [0, 4] {
        let connection = events(4, salt);
        let _busy = BusyThread::of(&connection);
        for sql in [
            "SELECT amount, note FROM e WHERE account = 1 AND id = 7",
            "SELECT * FROM e WHERE account = 1 AND id = 7000",
            "SELECT id, kind, amount, note FROM e WHERE account = 3 ORDER BY id DESC LIMIT 100",
            "SELECT id, note FROM e WHERE account = 0 AND id >= 10 ORDER BY id LIMIT 200",
            "SELECT id FROM e WHERE account = 2 AND id < 90 ORDER BY id LIMIT 50 OFFSET 60",
            "SELECT count(*), min(amount), sum(id), max(note) FROM e WHERE account = 2 AND id >= 100 AND id < 250",
            "SELECT account, id FROM e WHERE (account, id) IN ((1, 5), (3, 999), (2, 2000)) ORDER BY account, id",
            "SELECT id, amount + 1 FROM e WHERE account = 1 AND id < 150 AND kind = 3 AND note IS NULL ORDER BY id",
            "SELECT DISTINCT account FROM e WHERE account IN (1, 2) AND id = 4 ORDER BY account",
        ] {
            let wanted = rows_of(&connection.blocking(), sql);
            let found = soon(|| rows_at_once(&connection, sql)).unwrap_or_else(|| panic!("{sql} waits for a thread"));
            assert_eq!(found.unwrap(), wanted, "{sql}");
            let parsed = connection.parse(sql).unwrap();
            let Some(Ok(Response::Rows(rows))) = soon(|| at_once(connection.run_parsed(&parsed, ()))) else {
                panic!("{sql} waits for a thread when it was parsed before")
            };
            assert!(rows.progress().is_none(), "{sql}: its rows are read");
            let stats = connection.blocking().query(sql, ()).unwrap();
            let stats = {
                let mut rows = stats;
                while rows.next().is_some() {}
                rows.stats()
            };
            assert_eq!(rows.stats(), stats, "{sql}");
        }
    }
}

#[test]
fn a_query_beyond_the_limits_runs_on_a_thread_of_the_library() {
    let connection = events(4, 0);
    let sql = "SELECT count(*), sum(amount) FROM e WHERE account >= ? AND account < ?";
    let wanted = connection.blocking().prepare(sql).unwrap().query_one::<(i64, i64)>((0, 9)).unwrap();
    let busy = BusyThread::of(&connection);
    assert!(at_once(connection.query(sql, (0, 9))).is_none(), "4,000 rows");
    assert!(at_once(connection.query(sql, (3, 4))).is_none(), "after a long run the next ones are not tried");
    // Other statements are still tried.
    assert!(soon(|| at_once(connection.query("SELECT note FROM e WHERE account = 1 AND id = 1", ()))).is_some());
    drop(busy);
    assert_eq!(block_on(connection.query_one::<(i64, i64)>(sql, (0, 9))).unwrap(), wanted);
    for _ in 0..100 {
        assert_eq!(block_on(connection.query_one::<(i64, i64)>(sql, (3, 4))).unwrap().0, 1000);
    }
    let _busy = BusyThread::of(&connection);
    assert!(soon(|| at_once(connection.query(sql, (4, 9)))).is_some(), "later they are tried again");
}

#[test]
fn nothing_but_queries_is_tried() {
    let connection = events(1, 0);
    connection.blocking().execute("CREATE SEQUENCE s", ()).unwrap();
    let _busy = BusyThread::of(&connection);
    for sql in [
        "UPSERT INTO e VALUES (0, 1, 1, 1, 'one')",
        "DELETE FROM e WHERE account = 0 AND id = 1",
        "SELECT NEXT VALUE FOR s FROM e WHERE account = 0 AND id = 2",
        "EXPLAIN SELECT * FROM e WHERE account = 0 AND id = 2",
        "SHOW TABLES",
        "CREATE TABLE u (k BIGINT PRIMARY KEY)",
    ] {
        assert!(at_once(connection.run(sql, ())).is_none(), "{sql}");
    }
}

#[test]
fn errors_at_once_are_those_of_the_statement() {
    let connection = events(1, 0);
    let sql = "SELECT 1 / kind FROM e WHERE account = 0 AND id = 10";
    let wanted = connection.blocking().query_one::<(i64,)>(sql, ()).unwrap_err();
    let found = soon(|| at_once(connection.query_one::<(i64,)>(sql, ()))).unwrap().unwrap_err();
    assert_eq!((found.to_string(), found.code(), found.span()), (wanted.to_string(), wanted.code(), wanted.span()));
    assert_eq!(code(block_on(connection.query("SELECT x FROM e WHERE account = 0", ()))), "no_such_column");
    assert_eq!(code(block_on(connection.query("SELECT * FROM e", ()))), "full_scan_refused");
    let refusals = connection.guard_refusals().unwrap();
    assert_eq!(refusals.iter().map(|refusal| refusal.count).sum::<u64>(), 1, "a refusal counts once");
    assert_eq!(
        code(soon(|| at_once(connection.query("SELECT note FROM e WHERE account = ? AND id = 1", ()))).unwrap()),
        "bad_parameter"
    );
}

#[test]
fn queries_at_once_belong_to_the_open_transaction() {
    let connection = events(1, 0);
    block_on(connection.execute("BEGIN", ())).unwrap();
    block_on(connection.execute("UPSERT INTO e VALUES (0, 5, 1, 55, 'mine')", ())).unwrap();
    let sql = "SELECT note FROM e WHERE account = 0 AND id = ?";
    let (note,): (String,) = block_on(connection.query_one(sql, params![5])).unwrap();
    assert_eq!(note, "mine");
    // An error fails the transaction, as it does on another thread.
    let failing = "SELECT 1 / (id - 5) FROM e WHERE account = 0 AND id = 5";
    assert_eq!(code(block_on(connection.query_one::<(i64,)>(failing, ()))), "division_by_zero");
    assert_eq!(code(block_on(connection.query(sql, params![5]))), "failed_transaction");
    block_on(connection.execute("ROLLBACK", ())).unwrap();
    let (note,): (String,) = block_on(connection.query_one(sql, params![5])).unwrap();
    assert_eq!(note, "note 5");
}

#[test]
fn a_statement_that_was_described_is_prepared_at_once() {
    let connection = events(1, 0);
    let parsed = connection.parse("SELECT id, note FROM e WHERE account = ? AND id = ?").unwrap();
    let types = [Some(saltwing::SqlType::BigInt), None];
    let first = block_on(connection.prepare_unjudged(&parsed, &types)).unwrap();
    let busy = BusyThread::of(&connection);
    let again = at_once(connection.prepare_unjudged(&parsed, &types)).expect("its description is known").unwrap();
    drop(busy);
    assert_eq!(again.description(), first.description());
    block_on(connection.execute("ALTER TABLE e DROP COLUMN note", ())).unwrap();
    assert_eq!(code(block_on(connection.prepare_unjudged(&parsed, &types))), "no_such_column");
    // The guard judges the run, not the preparation.
    let whole = connection.parse("SELECT id FROM e").unwrap();
    let statement = block_on(connection.prepare_unjudged(&whole, &[])).unwrap();
    assert_eq!(code(block_on(statement.run(()))), "full_scan_refused");
    assert_eq!(code(block_on(connection.prepare("SELECT id FROM e"))), "full_scan_refused");
}

#[test]
fn a_text_with_literals_has_the_same_rows_as_without_its_template() {
    let connection = Database::memory().unwrap().connect();
    let blocking = connection.blocking();
    blocking
        .execute(
            "CREATE TABLE c (s SMALLINT NOT NULL, t VARCHAR NOT NULL, d DATE NOT NULL, c CHAR(4), u UNSIGNED_INT, b BOOLEAN, x DECIMAL(8, 2), \
             CONSTRAINT pk PRIMARY KEY (s, t, d))",
            (),
        )
        .unwrap();
    for s in 0..6 {
        for (place, t) in ["", "a", "a ", "it''s", "z"].iter().enumerate() {
            let row =
                format!("({s}, '{t}x', '2024-05-0{} 0{s}:00:00', 'a', {place}, {}, {s}.5)", place + 1, s % 2 == 0);
            blocking.execute(&format!("UPSERT INTO c VALUES {row}"), ()).unwrap();
        }
    }
    let names = ["s", "t", "d", "c", "u", "b", "x", "S", "\"t\"", "c.d", "nothing"];
    let literals = [
        "0",
        "3",
        "100000",
        "99999999999",
        "''",
        "'ax'",
        "'a x'",
        "'it''sx'",
        "'a'",
        "'a   '",
        "'3'",
        "'2024-05-02'",
        "'2024-05-02 03:00:00'",
        "'no date'",
        "'2024-13-01'",
    ];
    let mut found_at_once = 0;
    for name in names {
        for literal in literals {
            for operator in ["=", "<", ">="] {
                for head in ["s = 3 AND", ""] {
                    let sql = format!(
                        "SELECT s, t, d FROM c WHERE {head} {name} {operator} {literal} ORDER BY s, t LIMIT 20"
                    );
                    let as_answer = |rows: Result<Vec<Vec<Value>>, Error>| {
                        rows.map_err(|error| (error.code(), error.to_string(), error.span()))
                    };
                    let wanted = as_answer(
                        blocking
                            .query(&sql, ())
                            .and_then(|rows| rows.map(|row| row?.values()).collect::<Result<Vec<_>, Error>>()),
                    );
                    if let Some(found) = rows_at_once(&connection, &sql) {
                        found_at_once += usize::from(found.is_ok());
                        assert_eq!(as_answer(found), wanted, "{sql}");
                    }
                    let all = block_on(async {
                        let mut rows = connection.query(&sql, ()).await?;
                        let mut all = Vec::new();
                        while let Some(row) = rows.next().await? {
                            all.push(row.values()?);
                        }
                        Ok(all)
                    });
                    assert_eq!(as_answer(all), wanted, "{sql}");
                }
            }
        }
    }
    assert!(found_at_once > 20, "only {found_at_once} were run at once");
}

#[test]
fn a_template_that_fails_does_not_fail_the_transaction() {
    let connection = events(1, 0);
    block_on(connection.execute("BEGIN", ())).unwrap();
    let (count,): (i64,) =
        block_on(connection.query_one("SELECT count(*) FROM e WHERE account = 0 AND kind = 99999999999", ())).unwrap();
    assert_eq!(count, 0);
    let (id,): (i64,) = block_on(connection.query_one("SELECT id FROM e WHERE account = 0 AND id = 3", ())).unwrap();
    assert_eq!(id, 3);
    block_on(connection.execute("COMMIT", ())).unwrap();
}
