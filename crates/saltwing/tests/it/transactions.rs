//! Transactions of several statements.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use saltwing::{Builder, Database, Error, ErrorCode, blocking::Connection, params};

use crate::{code, texts};

fn memory() -> Database {
    Database::memory().unwrap()
}

fn run(connection: &Connection, sql: &str) {
    connection.execute(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// A table of accounts 1 to 4 with 100 each.
fn accounts(database: &Database) -> Connection {
    let connection = database.connect().blocking();
    run(&connection, "CREATE TABLE account (id BIGINT PRIMARY KEY, amount BIGINT)");
    run(&connection, "UPSERT INTO account VALUES (1, 100), (2, 100), (3, 100), (4, 100)");
    connection
}

fn amount(connection: &Connection, id: i64) -> Result<i64, Error> {
    Ok(connection.query_one::<(i64,)>("SELECT amount FROM account WHERE id = ?", (id,))?.0)
}

fn set_amount(connection: &Connection, id: i64, amount: i64) -> Result<(), Error> {
    connection.execute("UPSERT INTO account (id, amount) VALUES (?, ?)", (id, amount)).map(drop)
}

#[test]
fn all_statements_read_the_snapshot_of_the_beginning() {
    let database = memory();
    let (first, second) = (accounts(&database), database.connect().blocking());
    run(&first, "BEGIN");
    run(&second, "UPSERT INTO account VALUES (1, 7), (5, 5)");
    assert_eq!(amount(&first, 1).unwrap(), 100);
    let total = || texts(&first, "SELECT COUNT(*), SUM(amount) FROM account WHERE id > 0").unwrap();
    assert_eq!(total(), ["4|400"]);
    run(&first, "UPSERT INTO account VALUES (2, 50)");
    assert_eq!(total(), ["4|350"]);
    assert_eq!(amount(&second, 2).unwrap(), 100, "writes of an open transaction are its own");
    run(&first, "COMMIT");
    assert_eq!(total(), ["5|262"]);
}

#[test]
fn the_first_committer_wins_by_key() {
    let database = memory();
    let (first, second) = (accounts(&database), database.connect().blocking());
    run(&first, "BEGIN");
    set_amount(&first, 1, 1).unwrap();
    // Neither an UPSERT that reads nothing nor a DELETE goes unchecked.
    run(&second, "BEGIN");
    run(&second, "DELETE FROM account WHERE id = 1");
    run(&second, "COMMIT");
    let error = first.execute("COMMIT", ()).unwrap_err();
    assert_eq!((error.sqlstate(), error.is_retryable()), ("40001", true));
    assert_eq!((error.table(), error.key().is_some()), (Some("account"), true));
    assert_eq!(code(first.execute("ROLLBACK", ())), "no_transaction", "a failed COMMIT has ended the transaction");
    // Write skew is no conflict: the transactions write different rows.
    run(&first, "BEGIN");
    run(&second, "BEGIN");
    let (a, b) = (amount(&first, 2).unwrap(), amount(&second, 3).unwrap());
    set_amount(&first, 3, a + 1).unwrap();
    set_amount(&second, 2, b + 1).unwrap();
    run(&first, "COMMIT");
    run(&second, "COMMIT");
}

#[test]
fn a_transaction_older_than_a_definition_that_it_writes_by_ends_with_a_conflict() {
    let database = memory();
    let (first, second) = (accounts(&database), database.connect().blocking());
    for change in ["ALTER TABLE account ADD note VARCHAR", "TRUNCATE TABLE account", "DROP TABLE account"] {
        run(&first, "BEGIN");
        run(&second, change);
        let written = set_amount(&first, 1, 1).and_then(|()| first.execute("COMMIT", ()).map(drop));
        assert_eq!(written.unwrap_err().sqlstate(), "40001", "{change}");
        let _ = first.execute("ROLLBACK", ());
    }
}

#[test]
fn rows_of_before_stay_readable_through_alter_truncate_and_drop() {
    let database = memory();
    let (first, second) = (accounts(&database), database.connect().blocking());
    for change in ["ALTER TABLE account ADD note VARCHAR", "TRUNCATE TABLE account", "DROP TABLE account"] {
        run(&first, "BEGIN");
        let before = texts(&first, "SELECT * FROM account WHERE id > 0").unwrap();
        run(&second, change);
        match texts(&first, "SELECT * FROM account WHERE id > 0") {
            Ok(rows) => assert_eq!(rows, before, "{change}"),
            Err(error) => assert_eq!(error.sqlstate(), "40001", "{change}: {error}"),
        }
        run(&first, "ROLLBACK");
    }
}

#[test]
fn a_dropped_transaction_is_rolled_back() {
    let database = memory();
    let connection = accounts(&database);
    let transaction = connection.begin().unwrap();
    set_amount(&transaction, 1, 1).unwrap();
    assert_eq!(amount(&transaction, 1).unwrap(), 1);
    assert_eq!(amount(&connection, 1).unwrap(), 100, "the transaction is a connection of its own");
    drop(transaction);
    assert_eq!(amount(&connection, 1).unwrap(), 100);
    let transaction = connection.begin().unwrap();
    set_amount(&transaction, 1, 2).unwrap();
    transaction.commit().unwrap();
    assert_eq!(amount(&connection, 1).unwrap(), 2);
    assert!(texts(&connection, "SHOW TRANSACTIONS").unwrap().is_empty(), "nothing stays open");
    // So is the transaction of a connection that is dropped.
    let other = database.connect().blocking();
    run(&other, "BEGIN");
    set_amount(&other, 1, 3).unwrap();
    drop(other);
    assert!(texts(&connection, "SHOW TRANSACTIONS").unwrap().is_empty());
    assert_eq!(amount(&connection, 1).unwrap(), 2);
}

#[test]
fn transfers_of_many_threads_lose_nothing() {
    const THREADS: i64 = 8;
    let database = memory();
    let connection = accounts(&database);
    let (barrier, tries) = (Barrier::new(THREADS as usize), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (database, barrier, tries) = (&database, &barrier, &tries);
            scope.spawn(move || {
                let connection = database.connect().blocking();
                barrier.wait();
                for turn in 0..50 {
                    let (from, to) = (1 + (thread + turn) % 4, 1 + (thread + turn * 3 + 1) % 4);
                    let transfer = connection.transaction(|transaction| {
                        tries.fetch_add(1, SeqCst);
                        let total: (i64,) =
                            transaction.query_one("SELECT SUM(amount) FROM account WHERE id > 0", ())?;
                        assert_eq!(total, (400,), "a snapshot has whole transfers");
                        let left = amount(transaction, from)?;
                        set_amount(transaction, from, left - 1)?;
                        let right = amount(transaction, to)?;
                        set_amount(transaction, to, right + 1)
                    });
                    match transfer {
                        Ok(()) => {}
                        Err(error) => assert_eq!(error.sqlstate(), "40001", "{error}"),
                    }
                }
            });
        }
    });
    assert_eq!(texts(&connection, "SELECT SUM(amount) FROM account WHERE id > 0").unwrap(), ["400"]);
    assert!(tries.load(SeqCst) >= 50 * THREADS as u64);
}

#[test]
fn a_transaction_is_repeated_after_a_conflict_and_after_nothing_else() {
    let database = memory();
    let (connection, beside) = (accounts(&database), database.connect().blocking());
    let mut tries = 0;
    let given = connection.transaction(|transaction| {
        tries += 1;
        let amount = amount(transaction, 1)?;
        if tries < 3 {
            set_amount(&beside, 1, amount + 10)?;
        }
        set_amount(transaction, 1, amount + 1)?;
        Ok::<_, Error>(tries)
    });
    assert_eq!((given.unwrap(), amount(&connection, 1).unwrap()), (3, 121));
    let mut tries = 0;
    let failed = connection.transaction(|transaction| {
        tries += 1;
        transaction.execute("INSERT INTO account VALUES (1, 1)", ()).map(drop)
    });
    assert_eq!((code(failed), tries), ("duplicate_key", 1));
    // An error of the caller's own rolls back.
    let given: Result<(), Box<dyn std::error::Error>> = connection.transaction(|transaction| {
        set_amount(transaction, 1, 0)?;
        Err("no money".into())
    });
    assert_eq!(given.unwrap_err().to_string(), "no money");
    assert_eq!(amount(&connection, 1).unwrap(), 121);
    // It ends some time if others are always first.
    let mut tries = 0;
    let contended = connection.transaction(|transaction| {
        tries += 1;
        set_amount(&beside, 2, tries.into())?;
        set_amount(transaction, 2, 0)
    });
    assert_eq!((code(contended), tries), ("conflict", saltwing::TRANSACTION_TRIES_MAX));
}

#[test]
fn an_error_that_the_caller_hides_does_not_commit_the_rest() {
    let database = memory();
    let connection = accounts(&database);
    let given = connection.transaction(|transaction| {
        set_amount(transaction, 1, 0)?;
        let _ = transaction.execute("INSERT INTO account VALUES (2, 1)", ());
        Ok::<_, Error>(())
    });
    let error = given.unwrap_err();
    assert_eq!(error.code(), ErrorCode::FailedTransaction);
    assert!(error.to_string().contains("nothing is committed"), "{error}");
    assert_eq!(amount(&connection, 1).unwrap(), 100);
}

#[test]
fn a_second_statement_at_the_same_time_is_refused() {
    let database = memory();
    let connection = accounts(&database);
    run(&connection, "BEGIN");
    let clone = connection.clone();
    let in_statement = |line: &[u8]| {
        assert_eq!(code(clone.execute("UPSERT INTO account VALUES (9, 9)", ())), "locked");
        assert_eq!(code(clone.execute("COMMIT", ())), "locked");
        line.len()
    };
    struct Lines<F: FnMut(&[u8]) -> usize>(F, &'static [u8]);
    impl<F: FnMut(&[u8]) -> usize> std::io::Read for Lines<F> {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            (self.0)(self.1);
            self.1.read(out)
        }
    }
    connection.copy_from_reader("COPY account FROM STDIN", Lines(in_statement, b"7,7\n8,8\n")).unwrap();
    run(&connection, "COMMIT");
    assert_eq!((amount(&connection, 7).unwrap(), code(amount(&connection, 9))), (7, "no_row"));
}

#[test]
fn a_rollback_cancels_the_statement_that_runs() {
    let database = memory();
    let connection = accounts(&database);
    run(&connection, "BEGIN");
    /// Rolls back while it is read, and gives a row behind that.
    struct RollsBack(Option<Connection>);
    impl std::io::Read for RollsBack {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let Some(connection) = self.0.take() else { return Ok(0) };
            run(&connection, "ROLLBACK");
            out[..4].copy_from_slice(b"7,7\n");
            Ok(4)
        }
    }
    let copied = connection.copy_from_reader("COPY account FROM STDIN", RollsBack(Some(connection.clone())));
    assert_eq!(code(copied), "cancelled");
    assert_eq!(code(amount(&connection, 7)), "no_row");
    assert_eq!(code(connection.execute("COMMIT", ())), "no_transaction");
}

#[test]
fn copy_is_a_part_of_the_transaction() {
    let database = memory();
    let connection = accounts(&database);
    let load = |sql: &str, text: &'static str| connection.copy_from_reader(sql, text.as_bytes());
    run(&connection, "BEGIN");
    load("COPY account FROM STDIN", "5,5\n6,6\n").unwrap();
    assert_eq!(amount(&connection, 6).unwrap(), 6);
    let mut out = Vec::new();
    connection.copy_to_writer("COPY (SELECT id FROM account WHERE id > 4) TO STDOUT", (), &mut out).unwrap();
    assert_eq!(out, b"5\n6\n");
    let skipped =
        load("COPY account FROM STDIN WITH (ON_ERROR SKIP, ON_CONFLICT ERROR)", "6,0\n7,7\n7,8\n8,8\n").unwrap();
    assert_eq!(skipped.rows_affected, 2, "{skipped:?}");
    assert_eq!(texts(&connection, "SELECT * FROM account WHERE id > 5").unwrap(), ["6|6", "7|7", "8|8"]);
    // Nothing of a load that fails stays, nor is anything said to stay.
    let error = load("COPY account FROM STDIN", "9,9\nx,y\n").unwrap_err();
    assert_eq!((error.rows_committed(), error.to_string().contains("committed")), (0, false), "{error}");
    run(&connection, "ROLLBACK");
    assert_eq!(texts(&connection, "SELECT COUNT(*) FROM account WHERE id > 4").unwrap(), ["0"]);
}

#[test]
fn the_end_of_a_transaction_ends_its_row_streams() {
    let database = memory();
    let connection = database.connect().blocking();
    run(&connection, "CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT)");
    let rows: Vec<String> = (0..20_000).map(|k| format!("({k}, {k})")).collect();
    run(&connection, &format!("UPSERT INTO t VALUES {}", rows.join(",")));
    for end in ["COMMIT", "ROLLBACK"] {
        run(&connection, "BEGIN");
        let mut rows = connection.query("SELECT k, v FROM t WHERE k >= 0", ()).unwrap();
        assert!(rows.next().unwrap().is_ok());
        // Statements may run while rows are read: these do not change.
        run(&connection, "DELETE FROM t WHERE k >= 0");
        let read = (&mut rows).take(9_000).filter(|row| row.is_ok()).count();
        assert_eq!(read, 9_000, "{end}");
        run(&connection, end);
        let error = rows.find_map(Result::err).unwrap();
        assert_eq!(error.code(), ErrorCode::NoTransaction, "{end}: {error}");
        run(&connection, &format!("UPSERT INTO t VALUES {}", "(1, 1)"));
        if end == "COMMIT" {
            let rows: Vec<String> = (0..20_000).map(|k| format!("({k}, {k})")).collect();
            run(&connection, &format!("UPSERT INTO t VALUES {}", rows.join(",")));
        }
    }
}

#[test]
fn an_error_of_a_later_row_fails_the_transaction() {
    let database = memory();
    let connection = database.connect().blocking();
    run(&connection, "CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT)");
    let rows: Vec<String> = (0..20_000).map(|k| format!("({k}, {})", 19_000 - k)).collect();
    run(&connection, &format!("UPSERT INTO t VALUES {}", rows.join(",")));
    run(&connection, "BEGIN");
    let mut rows = connection.query("SELECT k, 1 / v FROM t WHERE k >= 0", ()).unwrap();
    assert_eq!(rows.find_map(Result::err).unwrap().code(), ErrorCode::DivisionByZero);
    assert_eq!(code(connection.execute("DELETE FROM t WHERE k = 1", ())), "failed_transaction");
    assert_eq!(code(connection.execute("COMMIT", ())), "failed_transaction");
}

/// Begins a transaction with a timeout that is as short as these first statements allow: a busy machine may take long for them.
fn begins_with_a_timeout<T>(connection: &Connection, first: impl Fn() -> Result<T, Error>) -> T {
    let mut timeout_ms = 20;
    loop {
        run(connection, &format!("SET transaction_timeout = '{timeout_ms}ms'"));
        run(connection, "BEGIN");
        match first() {
            Ok(begun) => return begun,
            Err(error) => assert!(error.to_string().contains("transaction_timeout"), "{error}"),
        }
        run(connection, "ROLLBACK");
        timeout_ms *= 2;
    }
}

#[test]
fn a_transaction_that_is_open_for_too_long_is_rolled_back() {
    let database = memory();
    let (connection, beside) = (accounts(&database), database.connect().blocking());
    run(&connection, "CREATE TABLE many (k INTEGER PRIMARY KEY)");
    let mut appender = connection.appender("many").unwrap();
    (0..20_000).for_each(|k| appender.append_row((k,)).unwrap());
    appender.close().unwrap();
    let read = begins_with_a_timeout(&connection, || {
        set_amount(&connection, 1, 1)?;
        connection.query("SELECT k FROM many WHERE k >= 0", ())
    });
    let state = || texts(&beside, "SHOW TRANSACTIONS").unwrap();
    let began = Instant::now();
    while !state().iter().any(|row| row.contains("failed")) {
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", state());
        std::thread::sleep(Duration::from_millis(5));
    }
    // Rows that are still read end with it, and say why.
    let error = read.into_iter().find_map(Result::err).unwrap();
    assert_eq!(error.code(), ErrorCode::NoTransaction);
    assert!(error.to_string().contains("transaction_timeout"), "{error}");
    let error = amount(&connection, 1).unwrap_err();
    assert_eq!(error.code(), ErrorCode::FailedTransaction);
    assert!(error.to_string().contains("transaction_timeout"), "{error}");
    assert_eq!(code(connection.execute("COMMIT", ())), "failed_transaction");
    assert_eq!(amount(&connection, 1).unwrap(), 100);
}

/// A statement that is not stopped by it in time has not written either.
#[test]
fn a_transaction_that_expires_under_a_statement_is_rolled_back_at_its_end() {
    let database = memory();
    let (connection, beside) = (accounts(&database), database.connect().blocking());
    begins_with_a_timeout(&connection, || {
        connection.execute("SAVEPOINT s", ())?;
        set_amount(&connection, 1, 1)
    });
    /// Ends when the transaction has expired.
    struct Waits<'c>(&'c Connection);
    impl std::io::Read for Waits<'_> {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            let began = Instant::now();
            while !texts(self.0, "SHOW TRANSACTIONS").unwrap().iter().any(|row| row.contains("failed")) {
                assert!(began.elapsed() < Duration::from_secs(20));
                std::thread::sleep(Duration::from_millis(2));
            }
            Ok(0)
        }
    }
    let copied = connection.copy_from_reader("COPY account FROM STDIN", Waits(&beside));
    assert_eq!(code(copied), "failed_transaction");
    // A savepoint does not bring it back.
    assert_eq!(code(connection.execute("ROLLBACK TO s", ())), "failed_transaction");
    run(&connection, "ROLLBACK");
    assert_eq!(amount(&connection, 1).unwrap(), 100);
}

#[test]
fn open_transactions_are_shown_with_what_they_hold() {
    let database = memory();
    let (connection, beside) = (accounts(&database), database.connect().blocking());
    run(&connection, "BEGIN");
    set_amount(&connection, 1, 1).unwrap();
    set_amount(&beside, 2, 1).unwrap();
    set_amount(&beside, 2, 2).unwrap();
    let shown = texts(&beside, "SHOW TRANSACTIONS").unwrap();
    let [row] = shown.as_slice() else { panic!("{shown:?}") };
    let cells: Vec<&str> = row.split('|').collect();
    assert_eq!((cells[1], cells[2], cells[4], cells[5], cells[7]), ("read write", "idle", "1", "1", "2"), "{row}");
    run(&connection, "COMMIT");
    assert!(texts(&beside, "SHOW TRANSACTIONS").unwrap().is_empty());
}

/// A snapshot pins the rows that were written again since, and the blocks that were replaced; once it is gone, nothing.
#[test]
fn open_transactions_are_shown_with_the_bytes_that_they_pin() {
    let database = Database::memory_builder().tiny_layout().merge_when_idle(None).open().unwrap();
    let connection = database.connect().blocking();
    run(&connection, "CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)");
    let write = |from: u32, text: &str| {
        let rows: Vec<String> = (from..from + 10).map(|k| format!("({k}, '{text}')")).collect();
        run(&connection, &format!("UPSERT INTO t VALUES {}", rows.join(",")));
    };
    let pinned = || -> Vec<u64> {
        let rows = texts(&connection, "SHOW TRANSACTIONS").unwrap();
        rows.iter().map(|row| row.rsplit('|').next().unwrap().parse().unwrap()).collect()
    };
    let text = "x".repeat(18);
    (0..3).for_each(|part| write(10 * part, &text));
    run(&connection, "COMPACT t");
    write(100, &text);
    let first = database.connect().blocking().begin().unwrap();
    assert_eq!(pinned(), [0], "all of it is the newest yet");
    write(200, &text);
    assert_eq!(pinned(), [0], "new rows are not pinned by an older snapshot");
    write(100, &text.to_uppercase());
    let recent = pinned()[0];
    assert!((10 * 18..10 * 80).contains(&recent), "ten recent rows: {recent}");
    write(0, "y");
    run(&connection, "COMPACT t");
    let all = pinned()[0];
    assert!(all > recent + 9 * 18, "the blocks of ten rows, too: {all}");
    let second = database.connect().blocking().begin().unwrap();
    assert_eq!(pinned(), [all, 0]);
    drop(first);
    assert_eq!(pinned(), [0]);
    run(&connection, "DROP TABLE t");
    assert!(pinned()[0] >= 50 * 8, "{:?}", pinned());
    drop(second);
}

#[test]
fn the_advice_for_a_large_transaction_is_not_what_a_transaction_refuses() {
    let database = memory();
    let connection = accounts(&database);
    run(&connection, "SET commit_bytes_max = 1000000");
    run(&connection, "CREATE TABLE large (k BIGINT PRIMARY KEY, v VARCHAR)");
    run(&connection, "BEGIN");
    let text = "x".repeat(400_000);
    let write = |k: i64| connection.execute("UPSERT INTO large VALUES (?, ?)", params![k, text.as_str()]);
    let error = (0..9).find_map(|k| write(k).err()).unwrap();
    let help = error.help().unwrap();
    assert_eq!(error.sqlstate(), "54000");
    assert!(!help.contains("autocommit_rows") && help.contains("commit_bytes_max"), "{help}");
}

#[test]
fn prepared_statements_see_the_transaction() {
    let database = memory();
    let connection = accounts(&database);
    let point = connection.prepare("SELECT amount FROM account WHERE id = ?").unwrap();
    let range = connection.prepare("SELECT SUM(amount) FROM account WHERE id BETWEEN ? AND ?").unwrap();
    let write = connection.prepare("UPSERT INTO account VALUES (?, ?)").unwrap();
    run(&connection, "BEGIN");
    write.execute((1, 40)).unwrap();
    assert_eq!(point.query_one::<(i64,)>((1,)).unwrap(), (40,));
    assert_eq!(range.query_one::<(i64,)>((1, 2)).unwrap(), (140,));
    run(&connection, "ROLLBACK");
    assert_eq!(point.query_one::<(i64,)>((1,)).unwrap(), (100,));
}

#[cfg(feature = "datafusion")]
#[test]
fn now_is_the_time_of_the_beginning() {
    let database = memory();
    let connection = accounts(&database);
    let now = || texts(&connection, "SELECT now() FROM account WHERE id = 1").unwrap();
    run(&connection, "CREATE TABLE event (k BIGINT PRIMARY KEY, at TIMESTAMP DEFAULT now())");
    run(&connection, "BEGIN");
    let first = now();
    std::thread::sleep(Duration::from_millis(3));
    run(&connection, "INSERT INTO event (k) VALUES (1)");
    assert_eq!(now(), first);
    assert_eq!(texts(&connection, "SELECT at FROM event WHERE k = 1").unwrap(), first);
    run(&connection, "COMMIT");
    assert_ne!(now(), first);
}

#[test]
fn asynchronous_transactions() {
    let database = memory();
    let blocking = accounts(&database);
    let connection = database.connect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let transfer = connection.transaction(async |transaction| {
            let (amount,): (i64,) =
                transaction.query_one("SELECT amount FROM account WHERE id = ?", params![1]).await?;
            transaction.execute("UPSERT INTO account VALUES (1, ?)", params![amount - 30]).await?;
            transaction.execute("UPSERT INTO account VALUES (2, 130)", ()).await?;
            Ok::<_, Error>(amount)
        });
        assert_eq!(transfer.await.unwrap(), 100);
        let transaction = connection.begin().await.unwrap();
        transaction.execute("DELETE FROM account WHERE id = 1", ()).await.unwrap();
        drop(transaction);
    });
    assert_eq!(texts(&blocking, "SELECT amount FROM account WHERE id < 3").unwrap(), ["70", "130"]);
    // A service runs them as tasks of several threads.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let tasks = (0..4i64).map(|_| {
        let connection = connection.clone();
        runtime.spawn(async move {
            let add = async |transaction: &saltwing::Transaction| {
                let (amount,): (i64,) = transaction.query_one("SELECT amount FROM account WHERE id = 3", ()).await?;
                transaction.execute("UPSERT INTO account VALUES (3, ?)", params![amount + 1]).await?;
                Ok::<_, Error>(())
            };
            for _ in 0..5 {
                connection.transaction(add).await.unwrap();
            }
        })
    });
    let tasks: Vec<_> = tasks.collect();
    tasks.into_iter().for_each(|task| runtime.block_on(task).unwrap());
    assert_eq!(texts(&blocking, "SELECT amount FROM account WHERE id = 3").unwrap(), ["120"]);
}

/// A write of the random histories, and a read.
#[derive(Clone, Debug)]
enum Step {
    Write(String),
    Read(String),
    Prepared(usize, i64, i64),
    Savepoint,
    RollbackTo,
}

const PREPARED: [&str; 5] = [
    "SELECT a, b, v FROM t WHERE a = ? AND b = ?",
    "SELECT v, a FROM t WHERE a >= ? AND b = ? ORDER BY a, b",
    "SELECT COUNT(*), SUM(v), MIN(v), MAX(b) FROM t WHERE a >= ? AND a < ? + 3",
    "SELECT a, b FROM t WHERE a IN (?, ?) ORDER BY a DESC, b DESC LIMIT 3",
    "SELECT b, COUNT(*) FROM t WHERE a BETWEEN ? AND 9 AND v > ? GROUP BY b ORDER BY b",
];

fn step() -> impl Strategy<Value = Step> {
    let key = || (0..10i64, 0..4i64);
    let write = prop_oneof![
        4 => (key(), 0..99i64).prop_map(|((a, b), v)| format!("UPSERT INTO t VALUES ({a}, {b}, {v}, 's{v}')")),
        2 => (key(), 0..99i64).prop_map(|((a, b), v)| format!("UPSERT INTO t (a, b, v) VALUES ({a}, {b}, {v})")),
        1 => (0..10i64, 0..9i64).prop_map(|(a, by)| {
            format!("UPSERT INTO t (a, b, v) SELECT a, b, v + {by} FROM t WHERE a BETWEEN {a} AND {a} + 3")
        }),
        2 => (0..10i64, 0..9i64).prop_map(|(a, by)| format!("UPDATE t SET v = v + {by}, s = 'u' WHERE a >= {a} AND b = 1")),
        1 => (0..10i64).prop_map(|a| format!("UPDATE t SET a = {a} + 5 - a WHERE a BETWEEN {a} AND 5")),
        2 => key().prop_map(|(a, b)| format!("DELETE FROM t WHERE a = {a} AND b = {b}")),
        1 => (0..10i64).prop_map(|a| format!("DELETE FROM t WHERE a BETWEEN {a} AND {a} + 1 AND v < 50")),
    ];
    let read = prop::sample::select(vec![
        "SELECT a, b, v, s FROM t WHERE a >= 0 ORDER BY a, b",
        "SELECT COUNT(*) FROM t WHERE a >= 0",
        "SELECT COUNT(*), SUM(v), MIN(a), MAX(a) FROM t WHERE a >= 0",
        "SELECT MAX(a) FROM t WHERE a < 7",
        "SELECT DISTINCT a FROM t WHERE a >= 0 ORDER BY a",
        "SELECT a, SUM(v) FROM t WHERE a >= 0 GROUP BY a ORDER BY a",
        "SELECT v, COUNT(*) FROM t WHERE a >= 0 GROUP BY v ORDER BY v",
        "SELECT a, b, s FROM t WHERE a >= 0 AND b = 2 ORDER BY a, b",
        "SELECT a, b FROM t WHERE a >= 0 ORDER BY a DESC, b DESC LIMIT 4",
        "SELECT v FROM t WHERE a = 3 AND b = 1",
        "SELECT a, b, v FROM t WHERE (a, b) IN ((1, 1), (3, 1), (5, 2)) ORDER BY a, b",
        "SELECT s FROM t WHERE a >= 0 AND s LIKE 's1%' ORDER BY s",
    ]);
    let relational = prop::sample::select(vec![
        "SELECT x.a, x.b, y.v FROM t x JOIN t y ON y.a = x.a AND y.b = x.b + 1 WHERE x.a >= 0 ORDER BY x.a, x.b",
        "SELECT a, b FROM t WHERE a >= 0 AND v = (SELECT MAX(v) FROM t WHERE a >= 0) ORDER BY a, b",
    ]);
    prop_oneof![
        5 => write.prop_map(Step::Write),
        4 => read.prop_map(|sql| Step::Read(sql.into())),
        1 => relational.prop_map(|sql| Step::Read(sql.into())),
        3 => (0..PREPARED.len(), 0..9i64, 0..4i64).prop_map(|(which, a, b)| Step::Prepared(which, a, b)),
        1 => Just(Step::Savepoint),
        1 => Just(Step::RollbackTo),
    ]
}

/// Every way to read inside a transaction gives what it gives in a database in which the same writes are committed one by
/// one: points, ranges, skips, limits, totals of blocks, groups, joins, kept and prepared plans, on both executors.
#[test]
fn statements_read_as_if_the_writes_before_were_committed() {
    let large = || Database::memory_builder().default_salt_buckets(0);
    let tiny = || Database::memory_builder().tiny_layout().threads_from_rows(4).default_salt_buckets(3);
    let layouts: [fn() -> Builder; 2] = [large, tiny];
    let executors: &[&str] = if cfg!(feature = "datafusion") { &["auto", "datafusion"] } else { &["auto"] };
    let config = Config::with_cases(Config::default().cases.div_ceil(8));
    for layout in layouts {
        let histories = (prop::collection::vec(step(), 0..30), prop::collection::vec(step(), 1..30));
        let outcome = TestRunner::new(config.clone()).run(&histories, |(before, steps)| {
            let pair = [(); 2].map(|()| {
                let database = layout().open().unwrap();
                let connection = database.connect().blocking();
                run(&connection, "CREATE TABLE t (a BIGINT, b BIGINT, v BIGINT, s VARCHAR, PRIMARY KEY (a, b))");
                connection
            });
            for step in &before {
                if let Step::Write(sql) = step {
                    // Both databases come to the same.
                    pair.iter().for_each(|connection| drop(connection.execute(sql, ())));
                }
            }
            same_reads(&pair[0], &pair[1], &steps, executors)
        });
        outcome.unwrap();
    }
}

fn same_reads(
    inside: &Connection,
    committed: &Connection,
    steps: &[Step],
    executors: &[&str],
) -> Result<(), TestCaseError> {
    let prepared = |connection: &Connection| PREPARED.map(|sql| connection.prepare(sql).unwrap());
    let (prepared_inside, prepared_committed) = (prepared(inside), prepared(committed));
    run(inside, "BEGIN");
    // The writes that lead to each savepoint, for the database that has none.
    let mut savepoint: Option<Vec<String>> = None;
    for step in steps {
        match step {
            Step::Write(sql) => {
                run(inside, "SAVEPOINT before");
                match (inside.execute(sql, ()), committed.execute(sql, ())) {
                    (Ok(a), Ok(b)) => prop_assert_eq!(a.rows_affected, b.rows_affected, "{}", sql),
                    // An UPDATE of the key may meet a row that is there.
                    (Err(a), Err(b)) => {
                        prop_assert_eq!((a.code(), b.code()), (ErrorCode::DuplicateKey, ErrorCode::DuplicateKey));
                        run(inside, "ROLLBACK TO before");
                    }
                    (a, b) => prop_assert!(false, "{}: {:?}, and {:?}", sql, a, b),
                }
                run(inside, "RELEASE before");
            }
            Step::Read(sql) => {
                let wanted = match texts(committed, sql) {
                    // Without the relational engine.
                    Err(error) if error.code() == ErrorCode::NotSupported => continue,
                    wanted => wanted.unwrap(),
                };
                for executor in executors {
                    run(inside, &format!("SET executor = '{executor}'"));
                    prop_assert_eq!(&texts(inside, sql).unwrap(), &wanted, "{}: {}", executor, sql);
                }
                run(inside, "SET executor = 'auto'");
            }
            Step::Prepared(which, a, b) => {
                let rows = |statement: &saltwing::blocking::Statement| {
                    let rows = statement.query((*a, *b)).unwrap();
                    rows.map(|row| row.unwrap().values().unwrap()).collect::<Vec<_>>()
                };
                prop_assert_eq!(
                    rows(&prepared_inside[*which]),
                    rows(&prepared_committed[*which]),
                    "{} with {} and {}",
                    PREPARED[*which],
                    a,
                    b
                );
            }
            Step::Savepoint => {
                run(inside, "SAVEPOINT s");
                savepoint = Some(contents(committed));
            }
            Step::RollbackTo => {
                let Some(rows) = &savepoint else { continue };
                run(inside, "ROLLBACK TO s");
                run(committed, "DELETE FROM t WHERE a >= 0");
                rows.iter().for_each(|row| run(committed, &format!("UPSERT INTO t VALUES {row}")));
            }
        }
    }
    run(inside, "COMMIT");
    prop_assert_eq!(contents(inside), contents(committed));
    Ok(())
}

/// The rows as VALUES takes them.
fn contents(connection: &Connection) -> Vec<String> {
    let quoted = |cell: &str| if cell == "NULL" { cell.to_owned() } else { format!("'{cell}'") };
    let rows = texts(connection, "SELECT a, b, v, s FROM t WHERE a >= 0 ORDER BY a, b").unwrap();
    let row = |row: &String| {
        let cells: Vec<&str> = row.split('|').collect();
        format!("({}, {}, {}, {})", cells[0], cells[1], cells[2], quoted(cells[3]))
    };
    rows.iter().map(row).collect()
}
