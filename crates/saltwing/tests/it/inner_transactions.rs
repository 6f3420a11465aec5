//! What belongs to a transaction of the library: prepared statements, inner transactions, appenders, clones, and all else that a
//! connection has.

use saltwing::blocking::{Connection, Statement, Transaction};
use saltwing::{Database, Error, ErrorCode, TransactionState};

use crate::{code, texts};

fn connection() -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT)", ()).unwrap();
    connection
}

fn put(connection: &Connection, k: i64) -> Result<(), Error> {
    connection.execute("INSERT INTO t VALUES (?, 0)", (k,)).map(drop)
}

/// The keys that are there.
fn keys(connection: &Connection) -> String {
    texts(connection, "SELECT k FROM t WHERE k >= 0").unwrap().join(" ")
}

/// Is rolled back without a word.
fn undo<T>() -> Result<T, Error> {
    Err(Database::memory()?.connect().blocking().execute("SELECT", ()).unwrap_err())
}

#[test]
fn a_prepared_statement_runs_on_a_transaction() {
    let connection = connection();
    let (insert, count) = (
        connection.prepare("INSERT INTO t VALUES (?, ?) RETURNING k").unwrap(),
        connection.prepare("SELECT COUNT(*) FROM t WHERE k >= 0").unwrap(),
    );
    for is_kept in [false, true] {
        let given = connection.transaction(|tx| {
            insert.on(tx).execute((1, 1))?;
            assert_eq!(insert.on(tx).query_one::<(i64,)>((2, 2))?, (2,));
            assert_eq!(insert.on(tx).query_as::<(i64,)>((3, 3))?.count(), 1);
            insert.on(tx).query_arrow((4, 4))?;
            assert_eq!(count.on(tx).query_one::<(i64,)>(())?, (4,));
            if is_kept { Ok(()) } else { undo() }
        });
        assert_eq!((given.is_ok(), keys(&connection)), (is_kept, if is_kept { "1 2 3 4" } else { "" }.to_owned()));
    }
    // It runs by the settings and in the BEGIN of the connection that it is on.
    let other = connection.with_settings(|settings| settings.rows_max = Some(1));
    assert_eq!(code(count.on(&other).query_one::<(i64,)>(())), "budget_exceeded");
    connection.execute("BEGIN", ()).unwrap();
    insert.execute((5, 5)).unwrap();
    insert.on(&other).execute((6, 6)).unwrap();
    connection.execute("ROLLBACK", ()).unwrap();
    assert_eq!(keys(&connection), "1 2 3 4");
}

#[test]
fn a_prepared_statement_runs_on_another_database() {
    let (first, second) = (connection(), Database::memory().unwrap().connect().blocking());
    second.execute("CREATE TABLE t (v VARCHAR, k BIGINT PRIMARY KEY)", ()).unwrap();
    second.execute("UPSERT INTO t VALUES ('of the second', 1)", ()).unwrap();
    first.execute("UPSERT INTO t VALUES (1, 10)", ()).unwrap();
    let statement = first.prepare("SELECT v FROM t WHERE k = ?").unwrap();
    let on_second = statement.on(&second);
    for _ in 0..3 {
        assert_eq!(statement.query_one::<(i64,)>((1,)).unwrap(), (10,));
        assert_eq!(on_second.query_one::<(String,)>((1,)).unwrap().0, "of the second");
    }
}

/// Each call that would be no part of the transaction.
#[test]
fn inside_the_closure_the_connection_runs_nothing() {
    let connection = connection();
    let clone = connection.clone();
    let limited = connection.with_settings(|settings| settings.rows_max = Some(1_000));
    let (insert, read) = (connection.prepare("INSERT INTO t VALUES (?, 0)").unwrap(), {
        connection.prepare("SELECT k FROM t WHERE k = ?").unwrap()
    });
    let mut appender = connection.appender("t").unwrap();
    appender.append_row((100, 0)).unwrap();
    let mut refused = 0;
    connection
        .transaction(|tx| -> Result<(), Error> {
            put(tx, 1)?;
            let results = [
                ("prepared execute", insert.execute((9,)).map(drop)),
                ("prepared query", read.query((9,)).map(drop)),
                ("execute", put(&connection, 9)),
                ("a clone", put(&clone, 9)),
                ("other settings", put(&limited, 9)),
                ("query", connection.query("SELECT k FROM t WHERE k = 1", ()).map(drop)),
                ("execute_batch", connection.execute_batch("DELETE FROM t WHERE k = 1").map(drop)),
                ("BEGIN", connection.execute("BEGIN", ()).map(drop)),
                ("begin", connection.begin().map(drop)),
                ("transaction", connection.transaction(|tx| put(tx, 9))),
                ("append_row", appender.append_row((9, 9))),
                ("appender", connection.appender("t").map(drop)),
                ("copy", connection.copy_from_reader("COPY t FROM STDIN", "9,9\n".as_bytes()).map(drop)),
                ("query_page", connection.query_page::<(i64,)>("SELECT k FROM t LIMIT 1", (), None).map(drop)),
            ];
            for (name, result) in results {
                let error = result.expect_err(name);
                assert_eq!((name, error.code()), (name, ErrorCode::ActiveTransaction));
                assert!(error.help().unwrap().contains("prepared.on(tx)"), "{name}");
                refused += 1;
            }
            // What does not write is no mistake, nor is what the transaction or another connection runs.
            connection.prepare("SELECT k FROM t WHERE k = ?")?.on(tx).execute((1,))?;
            appender.flush()?;
            std::thread::scope(|scope| scope.spawn(|| put(&connection, 2)).join().unwrap())
        })
        .unwrap();
    assert_eq!((refused, keys(&connection).as_str()), (14, "1 2 100"));
    appender.append_row((101, 0)).unwrap();
    assert_eq!(appender.close().unwrap(), 2);
    // The closure is left by its error and by its panic, too.
    assert!(connection.transaction(|_| undo::<()>()).is_err());
    let panic =
        std::panic::AssertUnwindSafe(|| connection.transaction(|_| -> Result<(), Error> { panic!("on purpose") }));
    assert!(std::panic::catch_unwind(panic).is_err());
    put(&connection, 3).unwrap();
    assert_eq!(texts(&connection, "SHOW TRANSACTIONS").unwrap().len(), 0);
}

#[test]
fn an_inner_transaction_is_a_savepoint() {
    type Outer = fn(&Connection, &dyn Fn(&Connection) -> Result<(), Error>) -> Result<(), Error>;
    let outers: [(&str, Outer); 3] = [
        ("closure", |connection, work| connection.transaction(|tx| work(tx))),
        ("guard", |connection, work| {
            let tx = connection.begin()?;
            work(&tx)?;
            tx.commit()
        }),
        ("BEGIN", |connection, work| {
            connection.execute("BEGIN", ())?;
            work(connection)?;
            connection.execute("COMMIT", ()).map(drop)
        }),
    ];
    for (name, outer) in outers {
        let connection = connection();
        let work = |tx: &Connection| {
            put(tx, 1)?;
            // One that is committed, with one in it that is not.
            tx.transaction(|inner| -> Result<(), Error> {
                put(inner, 2)?;
                assert!(inner.transaction(|innermost| put(innermost, 3).and_then(|()| undo::<()>())).is_err());
                let guard = inner.begin()?;
                put(&guard, 4)?;
                guard.rollback()?;
                let guard = inner.begin()?;
                put(&guard, 5)?;
                // What runs on the outer one is a part of the inner one, as after SAVEPOINT.
                put(tx, 6)?;
                drop(guard);
                Ok(())
            })?;
            // One whose statement fails: the outer one goes on.
            let failed = tx.transaction(|inner| put(inner, 7).and_then(|()| put(inner, 1)));
            assert_eq!(code(failed), "duplicate_key", "{name}");
            // One whose closure hides that.
            let hidden = tx.transaction(|inner| -> Result<(), Error> {
                put(inner, 7)?;
                let _ = put(inner, 1);
                Ok(())
            });
            let error = hidden.unwrap_err();
            assert_eq!(error.code(), ErrorCode::FailedTransaction, "{name}");
            assert!(error.to_string().contains("nothing of the inner transaction is kept"), "{error}");
            let guard = tx.begin()?;
            put(&guard, 8)?;
            guard.commit()?;
            assert_eq!(keys(tx), "1 2 8", "{name}");
            Ok(())
        };
        outer(&connection, &work).unwrap();
        assert_eq!(keys(&connection), "1 2 8", "{name}");
        // The writes of an inner transaction go with those of the outer one.
        let undone = outer(&connection, &|tx| tx.transaction(|inner| put(inner, 9)).and_then(|()| undo()));
        assert!(undone.is_err());
        if name == "BEGIN" {
            connection.execute("ROLLBACK", ()).unwrap();
        }
        assert_eq!(keys(&connection), "1 2 8", "{name}");
    }
}

/// Inner transactions beside the savepoints of statements.
#[test]
fn inner_transactions_and_savepoints_nest() {
    let connection = connection();
    connection.execute("BEGIN", ()).unwrap();
    connection.execute("SAVEPOINT s", ()).unwrap();
    let guard = connection.begin().unwrap();
    put(&guard, 1).unwrap();
    guard.execute("SAVEPOINT s", ()).unwrap();
    put(&guard, 2).unwrap();
    guard.execute("ROLLBACK TO s", ()).unwrap();
    guard.commit().unwrap();
    assert_eq!(keys(&connection), "1");
    // The savepoint of the inner transaction has gone with it.
    let guard = connection.begin().unwrap();
    put(&guard, 3).unwrap();
    connection.execute("ROLLBACK TO s", ()).unwrap();
    assert_eq!(keys(&connection), "");
    assert_eq!(code(put(&guard, 4)), "no_transaction", "it ended with the savepoint before it");
    assert_eq!(code(guard.commit()), "no_transaction");
    assert_eq!(connection.transaction_state(), TransactionState::Open);
    connection.execute("COMMIT", ()).unwrap();
    // An outer COMMIT ends the inner ones, and another BEGIN is another transaction.
    connection.execute("BEGIN", ()).unwrap();
    let guard = connection.begin().unwrap();
    connection.execute("COMMIT", ()).unwrap();
    connection.execute("BEGIN", ()).unwrap();
    put(&connection, 5).unwrap();
    assert_eq!(code(put(&guard, 6)), "no_transaction");
    drop(guard);
    connection.execute("COMMIT", ()).unwrap();
    assert_eq!(keys(&connection), "5");
    // None begins in a transaction that has failed.
    connection.execute("BEGIN", ()).unwrap();
    assert_eq!(code(put(&connection, 5)), "duplicate_key");
    assert_eq!(code(connection.begin()), "failed_transaction");
    assert_eq!(code(connection.transaction(|tx| put(tx, 7))), "failed_transaction");
}

/// Nothing that was made for a transaction runs by itself when that has ended.
#[test]
fn what_a_transaction_leaves_runs_no_more() {
    type End = fn(Transaction);
    let ends: [(&str, End); 5] = [
        ("commit", |tx| tx.commit().unwrap()),
        ("rollback", |tx| tx.rollback().unwrap()),
        ("drop", drop),
        ("COMMIT", |tx| {
            tx.execute("COMMIT", ()).unwrap();
            assert_eq!(code(put(&tx, 7)), "no_transaction", "not as a statement of its own");
            assert_eq!(code(tx.execute("BEGIN", ())), "no_transaction");
            assert_eq!(code(tx.begin()), "no_transaction");
            assert_eq!(code(tx.commit()), "no_transaction");
        }),
        ("ROLLBACK", |tx| {
            tx.execute("ROLLBACK", ()).unwrap();
            assert_eq!(code(put(&tx, 7)), "no_transaction");
            assert_eq!(code(tx.rollback()), "no_transaction");
        }),
    ];
    for (name, end) in ends {
        let connection = connection();
        let tx = connection.begin().unwrap();
        put(&tx, 1).unwrap();
        let (clone, prepared) = (tx.clone(), tx.prepare("INSERT INTO t VALUES (?, 0)").unwrap());
        let limited = tx.with_settings(|settings| settings.rows_max = Some(100));
        let mut appender = tx.appender("t").unwrap();
        appender.append_row((7, 7)).unwrap();
        let mut rows = tx.query("SELECT k FROM t WHERE k >= 0", ()).unwrap();
        end(tx);
        assert!(texts(&connection, "SHOW TRANSACTIONS").unwrap().is_empty(), "{name}: nothing stays open");
        for result in [
            put(&clone, 7),
            put(&limited, 7),
            prepared.execute((7,)).map(drop),
            appender.close().map(drop),
            clone.begin().map(drop),
            clone.prepare("SELECT k FROM t WHERE k = 1").map(drop),
            rows.next().unwrap().map(drop),
        ] {
            assert_eq!(code(result), "no_transaction", "{name}");
        }
        let kept = matches!(name, "commit" | "COMMIT");
        assert_eq!(keys(&connection), if kept { "1" } else { "" }, "{name}");
    }
    // The same of an inner one: its connection is not the outer one's.
    let connection = connection();
    let tx = connection.begin().unwrap();
    let inner = tx.begin().unwrap();
    let (clone, prepared) = (inner.clone(), inner.prepare("INSERT INTO t VALUES (?, 0)").unwrap());
    let mut appender = inner.appender("t").unwrap();
    appender.append_row((7, 7)).unwrap();
    inner.rollback().unwrap();
    for result in [put(&clone, 7), prepared.execute((7,)).map(drop), appender.close().map(drop)] {
        assert_eq!(code(result), "no_transaction");
    }
    put(&tx, 1).unwrap();
    tx.commit().unwrap();
    assert_eq!(keys(&connection), "1");
}

/// A conflict ends the outer transaction: only a new snapshot helps.
#[test]
fn a_conflict_inside_an_inner_transaction_repeats_the_outer_one() {
    let database = Database::memory().unwrap();
    let (connection, beside) = (database.connect().blocking(), database.connect().blocking());
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT)", ()).unwrap();
    let (mut outer_tries, mut inner_tries) = (0, 0);
    let given = connection.transaction(|tx| {
        outer_tries += 1;
        if outer_tries < 3 {
            // Rows cannot be written by the definition of before.
            beside.execute("TRUNCATE TABLE t", ())?;
        }
        tx.transaction(|inner| {
            inner_tries += 1;
            put(inner, 1)
        })
    });
    given.unwrap();
    assert_eq!((outer_tries, inner_tries), (3, 3));
    assert_eq!(keys(&connection), "1");
    // An outer transaction that hides the conflict does not commit either.
    let hidden = connection.transaction(|tx| -> Result<(), Error> {
        outer_tries += 1;
        put(tx, outer_tries)?;
        beside.execute("UPSERT INTO t VALUES (1, ?)", (outer_tries,))?;
        let _ = tx.transaction(|inner| inner.execute("UPSERT INTO t VALUES (1, 0)", ()).map(drop));
        Ok(())
    });
    assert_eq!(code(hidden), "conflict");
}

#[test]
fn an_appender_belongs_to_the_transaction_in_which_it_was_made() {
    let connection = connection();
    let mut appender = connection.appender("t").unwrap();
    appender.append_row((1, 0)).unwrap();
    connection.execute("BEGIN", ()).unwrap();
    // The row of before is no part of the transaction, so it is written; another one would be one in vain.
    let error = appender.append_row((2, 0)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ActiveTransaction);
    assert!(error.to_string().contains("the appender was made before BEGIN"), "{error}");
    assert_eq!(appender.flush().unwrap(), 1);
    put(&connection, 3).unwrap();
    connection.execute("ROLLBACK", ()).unwrap();
    appender.append_row((2, 0)).unwrap();
    assert_eq!(appender.close().unwrap(), 2);
    assert_eq!(keys(&connection), "1 2");
}

#[test]
fn settings_sequences_and_temporary_tables_of_a_transaction() {
    let connection = connection();
    for sql in ["CREATE SEQUENCE s", "CREATE TEMP TABLE temporary (k BIGINT PRIMARY KEY)", "SET rows_max = 1000"] {
        connection.execute(sql, ()).unwrap();
    }
    let value = |connection: &Connection, sql: &str| connection.query_one::<(i64,)>(sql, ()).map(|row| row.0);
    assert_eq!(value(&connection, "SELECT NEXT VALUE FOR s").unwrap(), 1);
    let tx = connection.begin().unwrap();
    assert_eq!(tx.settings().rows_max, Some(1000), "a copy of the settings");
    tx.execute("SET rows_max = 5", ()).unwrap();
    assert_eq!(value(&tx, "SELECT CURRENT VALUE FOR s").unwrap(), 1, "and of the values taken last");
    assert_eq!(value(&tx, "SELECT NEXT VALUE FOR s").unwrap(), 2);
    assert_eq!(value(&connection, "SELECT CURRENT VALUE FOR s").unwrap(), 1);
    tx.execute("INSERT INTO temporary VALUES (1)", ()).unwrap();
    tx.rollback().unwrap();
    assert_eq!(connection.settings().rows_max, Some(1000));
    assert_eq!(texts(&connection, "SELECT k FROM temporary WHERE k >= 0").unwrap(), [""; 0]);
    assert_eq!(value(&connection, "SELECT NEXT VALUE FOR s").unwrap(), 3, "a value that was taken is not given again");
    // A clone joins BEGIN.
    connection.execute("BEGIN", ()).unwrap();
    let clone = connection.clone();
    put(&clone, 1).unwrap();
    clone.execute("INSERT INTO temporary VALUES (2)", ()).unwrap();
    connection.execute("ROLLBACK", ()).unwrap();
    assert_eq!((keys(&clone).as_str(), clone.transaction_state()), ("", TransactionState::None));
    assert_eq!(texts(&clone, "SELECT k FROM temporary WHERE k >= 0").unwrap(), [""; 0]);
}

#[test]
fn many_threads_run_one_prepared_statement_in_transactions_of_their_own() {
    let connection = connection();
    let insert: Statement = connection.prepare("INSERT INTO t VALUES (?, 0)").unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4i64 {
            let (connection, insert) = (&connection, &insert);
            scope.spawn(move || {
                for turn in 0..20 {
                    let given = connection.transaction(|tx| {
                        insert.on(tx).execute((2 * (100 * thread + turn),))?;
                        insert.on(tx).execute((2 * (100 * thread + turn) + 1,))?;
                        if turn % 2 == 0 { Ok(()) } else { undo() }
                    });
                    assert_eq!(given.is_ok(), turn % 2 == 0);
                    // Beside the transactions of the other threads.
                    insert.execute((-(100 * thread + turn) - 1,)).unwrap();
                }
            });
        }
    });
    assert_eq!(texts(&connection, "SELECT COUNT(*) FROM t WHERE k >= 0").unwrap(), ["80"]);
    assert_eq!(texts(&connection, "SELECT COUNT(*) FROM t WHERE k < 0").unwrap(), ["80"]);
}

#[test]
fn the_asynchronous_forms() {
    let database = Database::memory().unwrap();
    let connection = database.connect();
    let blocking = connection.blocking();
    blocking.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT)", ()).unwrap();
    let inside = async {
        let insert = connection.prepare("INSERT INTO t VALUES (?, 0)").await?;
        let mut appender = connection.appender("t").await?;
        connection
            .transaction(async |tx| {
                insert.on(tx).execute((1,)).await?;
                for result in [
                    insert.execute((9,)).await.map(drop),
                    insert.query((9,)).await.map(drop),
                    connection.execute("DELETE FROM t WHERE k = 1", ()).await.map(drop),
                    connection.begin().await.map(drop),
                    appender.append_row((9, 9)).await,
                    connection.appender("t").await.map(drop),
                    put(&connection.blocking(), 9),
                ] {
                    assert_eq!(code(result), "active_transaction");
                }
                let undone: Result<(), Error> = tx
                    .transaction(async |inner| {
                        insert.on(inner).execute((2,)).await?;
                        insert.on(inner).execute((1,)).await.map(drop)
                    })
                    .await;
                assert_eq!(code(undone), "duplicate_key");
                let inner = tx.begin().await?;
                insert.on(&inner).execute((3,)).await?;
                inner.commit().await?;
                drop(tx.begin().await?);
                insert.on(tx).execute((4,)).await.map(drop)
            })
            .await
    };
    // Another future of the same task is not inside the closure.
    let beside = async {
        for k in 10..30 {
            connection.execute("INSERT INTO t VALUES (?, 0)", (k,)).await?;
        }
        Ok::<_, Error>(())
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (inside, beside) = runtime.block_on(async { tokio::join!(inside, beside) });
    inside.unwrap();
    beside.unwrap();
    assert_eq!(texts(&blocking, "SELECT k FROM t WHERE k < 10").unwrap(), ["1", "3", "4"]);
    assert_eq!(texts(&blocking, "SELECT COUNT(*) FROM t WHERE k >= 10").unwrap(), ["20"]);
    // A dropped guard is rolled back, also an inner one.
    runtime.block_on(async {
        let tx = connection.begin().await.unwrap();
        let inner = tx.begin().await.unwrap();
        let clone = inner.clone();
        inner.execute("INSERT INTO t VALUES (5, 0)", ()).await.unwrap();
        drop(inner);
        assert_eq!(code(clone.execute("INSERT INTO t VALUES (5, 0)", ()).await), "no_transaction");
        tx.execute("INSERT INTO t VALUES (6, 0)", ()).await.unwrap();
        tx.commit().await.unwrap();
    });
    assert_eq!(texts(&blocking, "SELECT k FROM t WHERE k < 10").unwrap(), ["1", "3", "4", "6"]);
    assert!(texts(&blocking, "SHOW TRANSACTIONS").unwrap().is_empty());
}
