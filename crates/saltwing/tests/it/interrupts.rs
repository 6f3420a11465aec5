//! Statements that are stopped from another thread, and limits of single statements.

use std::time::{Duration, Instant};

use saltwing::blocking::Connection;
use saltwing::{Database, Error, InterruptHandle, params};

use crate::code;

fn filled() -> Database {
    let database = Database::memory().unwrap();
    let connection = database.connect().blocking();
    connection.execute("CREATE TABLE t (k INTEGER NOT NULL PRIMARY KEY, v INTEGER)", ()).unwrap();
    let mut appender = connection.appender("t").unwrap();
    (0..10_000).for_each(|k| appender.append_row(params![k, k % 7]).unwrap());
    appender.close().unwrap();
    database
}

fn connect() -> Connection {
    filled().connect().blocking()
}

fn is_sent_and_shared<T: Send + Sync + Clone>(_: &T) {}

/// Interrupts until `work` has ended; its result.
fn interrupted<T: Send + 'static>(handle: InterruptHandle, work: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::spawn(work);
    while !thread.is_finished() {
        handle.interrupt();
        std::thread::sleep(Duration::from_millis(1));
    }
    thread.join().unwrap()
}

#[test]
fn an_interrupt_stops_what_runs_and_nothing_else() {
    let database = filled();
    let connection = database.connect().blocking();
    let handle = connection.interrupt_handle();
    is_sent_and_shared(&handle);
    // Nothing runs: the next statement is not stopped.
    handle.interrupt();
    let sql = "SELECT count(*) FROM t WHERE k >= 0 AND v % 2 = 0";
    let count = |connection: &Connection| connection.query_one::<(i64,)>(sql, ()).map(|(count,)| count);
    assert!(count(&connection).is_ok());
    // A clone's statements are stopped as well, and the statements of prepared ones.
    for prepared in [false, true] {
        let clone = connection.clone();
        let run = move || loop {
            let result = if prepared { clone.prepare(sql).unwrap().execute(()) } else { clone.execute(sql, ()) };
            if let Err(error) = result {
                return error.code().as_str();
            }
        };
        assert_eq!(interrupted(handle.clone(), run), "cancelled");
    }
    // Another connection of the same database is not.
    let other = database.connect().blocking();
    let run = move || {
        let started = Instant::now();
        while started.elapsed() < Duration::from_millis(100) {
            other.execute(sql, ())?;
        }
        Ok::<_, Error>(())
    };
    assert_eq!(code(interrupted(handle, run)), "ok");
}

#[test]
fn an_interrupt_stops_rows_that_are_still_to_be_read() {
    let connection = connect();
    let mut rows = connection.query_arrow("SELECT k FROM t WHERE k >= 0", ()).unwrap();
    assert!(rows.next_blocking().unwrap().is_some());
    connection.interrupt_handle().interrupt();
    assert_eq!(code(rows.next_blocking()), "cancelled");
    assert_eq!(code(connection.execute("SELECT k FROM t WHERE k >= 0", ())), "ok");
}

#[test]
fn settings_of_some_statements() {
    let connection = connect();
    let sql = "SELECT k FROM t WHERE k >= 0";
    let limited = connection.with_settings(|settings| settings.rows_max = Some(100));
    assert_eq!(code(limited.execute(sql, ())), "budget_exceeded");
    assert_eq!(code(connection.execute(sql, ())), "ok");
    let limited = connection.with_settings(|settings| settings.bytes_max = Some(100));
    assert_eq!(code(limited.execute(sql, ())), "budget_exceeded");
    let limited = connection.with_settings(|settings| settings.statement_timeout = Some(Duration::ZERO));
    assert_eq!(code(limited.execute(sql, ())), "timeout");
    // Each has its own settings from then on, and both are in one transaction.
    limited.execute("SET statement_timeout = 0", ()).unwrap();
    connection.execute("SET rows_max = 1", ()).unwrap();
    assert_eq!(code(limited.execute(sql, ())), "ok");
    connection.execute("BEGIN", ()).unwrap();
    limited.execute("DELETE FROM t WHERE k = 1", ()).unwrap();
    connection.execute("ROLLBACK", ()).unwrap();
    assert_eq!(limited.query_one::<(i64,)>("SELECT count(*) FROM t WHERE k >= 0", ()).unwrap(), (10_000,));
    // One interrupt stops the statements of both.
    let run = move || loop {
        if let Err(error) = limited.execute(sql, ()) {
            return error.code().as_str();
        }
    };
    assert_eq!(interrupted(connection.interrupt_handle(), run), "cancelled");
}
