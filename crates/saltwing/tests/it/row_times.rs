//! Times of rows, by a clock that the test sets: ROW_TIMESTAMP, and TTL that counts from a column.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use saltwing::Database;
use saltwing::blocking::Connection;
use saltwing_access::Clock;

use crate::texts;

/// A clock that the test sets, in milliseconds.
#[derive(Default)]
pub(crate) struct ManualClock(pub(crate) AtomicI64);

impl Clock for ManualClock {
    fn now_ms(&self) -> i64 {
        self.0.load(SeqCst)
    }
}

pub(crate) fn run(connection: &Connection, statements: &[&str]) {
    for sql in statements {
        connection.execute(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

#[test]
fn a_row_timestamp_is_the_time_of_its_write_unless_it_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let (path, clock) = (folder.path().join("db"), Arc::new(ManualClock(AtomicI64::new(1_000_000))));
    let open = || Database::builder(&path).sweep_every(None).clock(clock.clone()).open().unwrap();
    let read = "SELECT k, CAST(ts AS BIGINT), CAST(PHOENIX_ROW_TIMESTAMP() AS BIGINT) FROM t WHERE k > 0 ORDER BY k";
    {
        let database = open();
        let connection = database.connect().blocking();
        run(
            &connection,
            &[
                "CREATE TABLE t (k INTEGER NOT NULL, ts DATE NOT NULL, CONSTRAINT pk PRIMARY KEY (k, ts ROW_TIMESTAMP)) TTL = 100",
                "UPSERT INTO t (k) VALUES (1)",
                "UPSERT INTO t VALUES (2, CAST(950000 AS DATE)), (3, CAST(899000 AS DATE)), (4, CAST(2000000 AS DATE))",
                "BEGIN",
            ],
        );
        clock.0.store(1_010_000, SeqCst);
        // The time of BEGIN.
        run(&connection, &["UPSERT INTO t (k) VALUES (5)", "COMMIT"]);
        let all = ["1|1000000|1000000", "2|950000|950000", "4|2000000|2000000", "5|1000000|1000000"];
        assert_eq!(texts(&connection, read).unwrap(), all);
        // The transaction begins when row 2 is there.
        clock.0.store(1_049_000, SeqCst);
        run(&connection, &["BEGIN"]);
        clock.0.store(1_051_000, SeqCst);
        assert_eq!(texts(&database.connect().blocking(), read).unwrap().len(), 3);
        clock.0.store(1_200_000, SeqCst);
        assert_eq!(texts(&connection, read).unwrap(), all);
        run(&connection, &["COMMIT"]);
        assert_eq!(texts(&connection, read).unwrap(), ["4|2000000|2000000"]);
    }
    let database = open();
    let connection = database.connect().blocking();
    assert_eq!(texts(&connection, read).unwrap(), ["4|2000000|2000000"]);
}

#[test]
fn ttl_counts_from_a_column() {
    let clock = Arc::new(ManualClock(AtomicI64::new(1_000_000)));
    let folder = tempfile::tempdir().unwrap();
    let builder = Database::builder(folder.path().join("db")).sweep_every(None).merge_when_idle(None);
    let database = builder.clock(clock.clone()).open().unwrap();
    let connection = database.connect().blocking();
    run(
        &connection,
        &[
            "CREATE TABLE t (k INTEGER PRIMARY KEY, at BIGINT) TTL = 100, TTL_COLUMN = at",
            "UPSERT INTO t VALUES (1, 1000000), (2, NULL), (3, 1050000), (4, 0)",
        ],
    );
    let keys = || texts(&connection, "SELECT k FROM t WHERE k > 0 ORDER BY k").unwrap();
    assert_eq!(keys(), ["1", "2", "3"]);
    run(&connection, &["COMPACT t"]);
    clock.0.store(1_100_001, SeqCst);
    assert_eq!(keys(), ["2", "3"]);
    assert_eq!(database.sweep().unwrap(), 1);
    clock.0.store(1_200_000, SeqCst);
    assert_eq!(keys(), ["2"]);
    run(&connection, &["UPSERT INTO t VALUES (2, 1150000)"]);
    assert_eq!(keys(), ["2"]);
    clock.0.store(9_000_000, SeqCst);
    assert!(keys().is_empty());
    assert!(database.sweep().unwrap() > 0);
    assert!(database.check().unwrap().is_sound());
}
