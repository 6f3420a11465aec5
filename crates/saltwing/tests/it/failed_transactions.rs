//! An error of a statement fails the transaction, by whatever call the statement runs and whenever the error comes.

use std::future::Future;

use saltwing::blocking::{Connection, Response};
use saltwing::{ArrowRows, Database, Error, Rows, TransactionState};

use crate::code;

/// A way to run a statement to its end.
type Way = (&'static str, fn(&Connection, &saltwing::Connection, &str) -> Result<(), Error>);

const WAYS: [Way; 21] = [
    ("execute", |c, _, sql| c.execute(sql, ()).map(drop)),
    ("execute_batch", |c, _, sql| c.execute_batch(&format!("SELECT k FROM t WHERE k = 1; {sql}")).map(drop)),
    ("execute with other settings", |c, _, sql| {
        c.with_settings(|settings| settings.rows_max = Some(1_000_000)).execute(sql, ()).map(drop)
    }),
    ("query", |c, _, sql| all(c.query(sql, ())?)),
    ("query_one", |c, _, sql| c.query_one::<saltwing::Row>(sql, ()).map(drop)),
    ("query_opt", |c, _, sql| c.query_opt::<saltwing::Row>(sql, ()).map(drop)),
    ("query_as", |c, _, sql| c.query_as::<saltwing::Row>(sql, ())?.try_for_each(|row| row.map(drop))),
    ("query_arrow", |c, _, sql| all_batches(c.query_arrow(sql, ())?)),
    ("into_reader", |c, _, sql| {
        let read = c.query_arrow(sql, ())?.into_reader().find_map(Result::err);
        read.map_or(Ok(()), |error| match error {
            arrow::error::ArrowError::ExternalError(error) => Err(*error.downcast::<Error>().unwrap()),
            error => panic!("{error}"),
        })
    }),
    ("run", |c, _, sql| match c.run(sql, ())? {
        Response::Done(_) => Ok(()),
        Response::Rows(rows) => all_batches(rows),
    }),
    ("prepared execute", |c, _, sql| c.prepare(sql)?.execute(()).map(drop)),
    ("prepared query", |c, _, sql| all(c.prepare(sql)?.query(())?)),
    ("prepared query_arrow", |c, _, sql| all_batches(c.prepare(sql)?.query_arrow(())?)),
    ("rows that are read after another statement", |c, _, sql| {
        let rows = c.query(sql, ())?;
        c.execute("SELECT k FROM t WHERE k = 1", ())?;
        all(rows)
    }),
    ("query_page", |c, _, sql| c.query_page::<saltwing::Row>(&format!("{sql} LIMIT 1000000"), (), None).map(drop)),
    ("copy_to_writer", |c, _, sql| c.copy_to_writer(&format!("COPY ({sql}) TO STDOUT"), (), std::io::sink()).map(drop)),
    ("async execute", |_, a, sql| wait(async { a.execute(sql, ()).await.map(drop) })),
    ("async query", |_, a, sql| wait(async { all_async(a.query(sql, ()).await?).await })),
    ("async query_arrow", |_, a, sql| {
        wait(async {
            let mut rows = a.query_arrow(sql, ()).await?;
            while rows.next().await?.is_some() {}
            Ok(())
        })
    }),
    ("async prepared", |_, a, sql| wait(async { all_async(a.prepare(sql).await?.query(()).await?).await })),
    ("async collect", |_, a, sql| wait(async { a.query(sql, ()).await?.collect().await.map(drop) })),
];

fn all(mut rows: saltwing::blocking::Rows) -> Result<(), Error> {
    rows.try_for_each(|row| row.map(drop))
}

fn all_batches(mut rows: ArrowRows) -> Result<(), Error> {
    while rows.next_blocking()?.is_some() {}
    Ok(())
}

async fn all_async(mut rows: Rows) -> Result<(), Error> {
    while rows.next().await?.is_some() {}
    Ok(())
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// A statement, the code of its error, and the ways by which it does not run, or not with this error.
type Case = (&'static str, &'static str, &'static [&'static str]);

/// PREPARE refuses these statements, and runs nothing: see below.
const PREPARED: &[&str] = &["prepared execute", "prepared query", "prepared query_arrow", "async prepared"];

const QUERIES: [Case; 13] = [
    ("SELECT CURRENT VALUE FOR s", "no_current_value", &["query_page"]),
    ("SELECT NEXT VALUE FOR at_its_end", "sequence_limit", &["query_page"]),
    ("SELECT k, CURRENT VALUE FOR s FROM t WHERE k >= 0", "no_current_value", &["query_page"]),
    ("SELECT k, NEXT VALUE FOR at_its_end FROM t WHERE k = 1", "sequence_limit", &["query_page"]),
    ("SELECT k, 1 / v FROM t WHERE k >= 0", "division_by_zero", &["query_one", "query_opt"]),
    ("SELECT k, 1 / v FROM t WHERE k = 19000", "division_by_zero", &[]),
    ("SELECT k FROM t WHERE k >= 0 AND 1 / v > 7", "division_by_zero", &["query_one", "query_opt"]),
    ("SELECT SUM(1 / v) FROM t WHERE k >= 0", "division_by_zero", &["query_page"]),
    ("SELECT v / 2, MAX(1 / v) FROM t WHERE k >= 0 GROUP BY v / 2", "division_by_zero", &["query_page"]),
    ("SELECT k FROM t WHERE v = 1", "full_scan_refused", PREPARED),
    ("SELECT no_such FROM t WHERE k = 1", "no_such_column", PREPARED),
    ("SELECT k FROM t WHERE k = ?", "bad_parameter", &[]),
    ("SELECT k FROM t WHERE k = 'x'", "bad_text", PREPARED),
];

/// They need the relational engine.
#[cfg(feature = "datafusion")]
const RELATIONAL: [Case; 3] = [
    (
        "SELECT a.k, 1 / b.v FROM t a JOIN t b ON b.k = a.k WHERE a.k >= 18990 AND b.k > 0",
        "division_by_zero",
        &["query_one", "query_opt", "query_page"],
    ),
    ("SELECT k, 1 / v FROM t WHERE k > 18000 ORDER BY v DESC", "division_by_zero", &["query_page"]),
    ("SELECT k, CURRENT VALUE FOR s FROM t WHERE k > 18000 ORDER BY v DESC", "no_current_value", &["query_page"]),
];

/// Queries do not write, so these have no pages and no COPY.
const WRITES: [Case; 8] = [
    ("INSERT INTO t VALUES (1, 1) RETURNING k", "duplicate_key", &["query_page", "copy_to_writer"]),
    (
        "INSERT INTO t SELECT k + 100000, 1 / v FROM t WHERE k >= 0 RETURNING k",
        "division_by_zero",
        &["query_page", "copy_to_writer"],
    ),
    (
        "UPSERT INTO t VALUES (1, NEXT VALUE FOR at_its_end) RETURNING k",
        "sequence_limit",
        &["query_page", "copy_to_writer"],
    ),
    ("UPDATE t SET v = 1 / v WHERE k >= 0 RETURNING k", "division_by_zero", &["query_page", "copy_to_writer"]),
    ("UPDATE t SET v = v WHERE k = 19000 RETURNING 1 / v", "division_by_zero", &["query_page", "copy_to_writer"]),
    ("DELETE FROM t WHERE k >= 0 AND 1 / v > 0 RETURNING k", "division_by_zero", &["query_page", "copy_to_writer"]),
    ("DELETE FROM t WHERE k = 19000 RETURNING 1 / v", "division_by_zero", &["query_page", "copy_to_writer"]),
    (
        "CREATE TABLE u (k BIGINT PRIMARY KEY)",
        "active_transaction",
        &[
            "query",
            "query_one",
            "query_opt",
            "query_as",
            "query_arrow",
            "into_reader",
            "prepared query",
            "prepared query_arrow",
            "rows that are read after another statement",
            "query_page",
            "copy_to_writer",
            "async query",
            "async query_arrow",
            "async prepared",
            "async collect",
        ],
    ),
];

fn database() -> Database {
    let database = Database::memory().unwrap();
    let connection = database.connect().blocking();
    for sql in [
        "CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT)",
        "CREATE SEQUENCE s",
        "CREATE SEQUENCE at_its_end MAXVALUE 1",
        "SELECT NEXT VALUE FOR at_its_end",
    ] {
        connection.execute(sql, ()).unwrap();
    }
    let mut appender = connection.appender("t").unwrap();
    (0..20_000i64).for_each(|k| appender.append_row((k, 19_000 - k)).unwrap());
    appender.close().unwrap();
    database
}

fn check(cases: &[Case]) {
    let database = database();
    for (sql, wanted, left_out) in cases {
        for (name, run) in WAYS.iter().filter(|(name, _)| !left_out.contains(name)) {
            // As BEGIN on the connection, and as a connection of its own.
            let asynchronous = database.connect();
            let connection = asynchronous.blocking();
            connection.execute("BEGIN", ()).unwrap();
            check_fails(&format!("{name}: {sql}"), &connection, run(&connection, &asynchronous, sql), wanted);
            if name.starts_with("async") {
                let transaction = wait(database.connect().begin()).unwrap();
                let result = run(&transaction.blocking(), &transaction, sql);
                check_fails(&format!("transaction, {name}: {sql}"), &transaction.blocking(), result, wanted);
            }
        }
    }
}

fn check_fails(what: &str, connection: &Connection, result: Result<(), Error>, wanted: &str) {
    let error = result.expect_err(what);
    assert_eq!(error.code().as_str(), wanted, "{what}: {error}");
    assert_eq!(connection.transaction_state(), TransactionState::Failed, "{what}");
    let later = connection.execute("SELECT k FROM t WHERE k = 1", ()).unwrap_err();
    assert_eq!(later.code().as_str(), "failed_transaction", "{what}");
    assert!(later.to_string().contains(&error.to_string()), "{what}: {later}, and not {error}");
    assert_eq!(code(connection.execute("COMMIT", ())), "failed_transaction", "{what}");
}

#[test]
fn errors_of_queries() {
    check(&QUERIES);
}

#[cfg(feature = "datafusion")]
#[test]
fn errors_of_relational_queries() {
    check(&RELATIONAL);
}

#[test]
fn errors_of_writes() {
    check(&WRITES);
}

/// An error of a later row names its place in the statement's text by every call.
#[test]
fn an_error_of_a_later_row_has_the_text() {
    let connection = database().connect().blocking();
    for sql in ["SELECT 1 / v FROM t WHERE k >= 0", "SELECT CURRENT VALUE FOR s"] {
        assert_eq!(connection.execute(sql, ()).unwrap_err().sql(), Some(sql));
        let mut rows = connection.query(sql, ()).unwrap();
        assert_eq!(rows.find_map(Result::err).unwrap().sql(), Some(sql));
    }
}

/// A write that is asked for rows and gives none is refused before it writes.
#[test]
fn a_write_without_rows_is_not_queried() {
    let connection = database().connect().blocking();
    let write = "UPSERT INTO t VALUES (-1, 1)";
    for result in [
        connection.query(write, ()).map(drop),
        connection.query_one::<(i64,)>(write, ()).map(drop),
        connection.query_arrow(write, ()).map(drop),
        connection.prepare(write).unwrap().query(()).map(drop),
        connection.query("CREATE TABLE u (k BIGINT PRIMARY KEY)", ()).map(drop),
    ] {
        let error = result.unwrap_err();
        assert_eq!((error.code().as_str(), error.help()), ("syntax", Some("use execute")));
    }
    assert_eq!(code(connection.query_one::<(i64,)>("SELECT v FROM t WHERE k = -1", ())), "no_row");
    assert_eq!(code(connection.execute("SELECT k FROM u WHERE k = 1", ())), "no_such_table");
    connection.execute("BEGIN", ()).unwrap();
    connection.execute(write, ()).unwrap();
    assert_eq!(code(connection.query("COMMIT", ())), "syntax", "it does not commit");
    assert_eq!(connection.transaction_state(), TransactionState::Failed);
}

#[test]
fn a_statement_that_cannot_be_prepared_changes_nothing() {
    let connection = database().connect().blocking();
    connection.execute("BEGIN", ()).unwrap();
    for (sql, wanted, _) in QUERIES.iter().filter(|case| case.2 == PREPARED) {
        assert_eq!(code(connection.prepare(sql)), *wanted);
    }
    assert_eq!(code(connection.prepare("SELEC")), "syntax");
    assert_eq!(connection.transaction_state(), TransactionState::Open);
}

/// The errors of an appender: of its making and of its parts, not those of rows that it refuses.
#[test]
fn errors_of_appenders() {
    let database = database();
    for table in ["no_such", "t (", "t; x"] {
        let connection = database.connect().blocking();
        connection.execute("BEGIN", ()).unwrap();
        assert!(connection.appender(table).is_err(), "{table}");
        assert_eq!(connection.transaction_state(), TransactionState::Failed, "{table}");
        assert_eq!(code(connection.appender("t")), "failed_transaction");
    }
    let connection = database.connect().blocking();
    connection.execute("BEGIN", ()).unwrap();
    let mut appender = connection.appender("t").unwrap();
    assert_eq!(code(appender.append_row(("x", 1))), "bad_text");
    assert_eq!(
        connection.transaction_state(),
        TransactionState::Open,
        "the row is not taken, and nothing else happens"
    );
    appender.append_row((-1, 1)).unwrap();
    appender.close().unwrap();
    let mut appender = connection.appender("t").unwrap().on_conflict(saltwing::OnConflict::Error);
    appender.append_row((-1, 2)).unwrap();
    assert_eq!(code(appender.close()), "duplicate_key");
    assert_eq!(connection.transaction_state(), TransactionState::Failed);
}
