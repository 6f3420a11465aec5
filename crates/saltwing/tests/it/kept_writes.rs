//! Prepared writes: how often they are planned, and that a plan which is kept writes what a new one does.

use std::cell::Cell;
use std::sync::Once;

use saltwing::blocking::Connection;
use saltwing::{Database, Error, Value, params};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::{code, texts};

thread_local! {
    /// The plans that this thread has made from a statement's text.
    static PLANS: Cell<u64> = const { Cell::new(0) };
}

/// Counts the plans of each thread.
///
/// It is the subscriber of all threads. The first thread that meets a span asks its own subscriber whether to record the span, and
/// tracing keeps the answer for all threads. Without a subscriber the answer is no, and this test would count nothing.
struct PlanCounter;

impl Subscriber for PlanCounter {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "saltwing::plan"
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        PLANS.set(PLANS.get() + 1);
        Id::from_u64(PLANS.get())
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn connection() -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    for sql in [
        "CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT, d DECIMAL(10, 2), s VARCHAR(5), i INTEGER)",
        "CREATE TABLE u (k BIGINT PRIMARY KEY, v BIGINT)",
        "UPSERT INTO t VALUES (1, 10, 1.25, 'one', 1), (2, 20, 2.5, 'two', 2), (3, NULL, NULL, NULL, NULL)",
    ] {
        connection.execute(sql, ()).unwrap();
    }
    connection
}

fn plans_of(run: impl FnOnce()) -> u64 {
    static COUNTED: Once = Once::new();
    COUNTED.call_once(|| tracing::subscriber::set_global_default(PlanCounter).unwrap());
    // Another test may have met a span for the first time while there was no subscriber.
    tracing::callsite::rebuild_interest_cache();
    let before = PLANS.get();
    run();
    PLANS.get() - before
}

#[test]
fn a_prepared_write_is_planned_once() {
    let connection = connection();
    // So that the spans are known before they are counted.
    connection.execute("UPDATE t SET v = v WHERE k = 0", ()).unwrap();
    connection.execute("UPSERT INTO u SELECT k, v FROM t WHERE k = 0", ()).unwrap();
    for (sql, values) in [
        ("UPDATE t SET v = v + 1 WHERE k = ?", params![1]),
        ("UPDATE t SET v = ? WHERE k = ?", params![7, 1]),
        ("UPDATE t SET v = v + ?, s = ? WHERE k = ?", params![1, "x", 1]),
        ("UPDATE t SET v = v * 2 - v, d = ? WHERE k > ? AND k < ?", params![2, 0, 3]),
        ("UPDATE t SET i = i + 1 WHERE k = 2", params![]),
        ("UPDATE t SET v = v + 1 WHERE k = ? RETURNING v", params![1]),
        ("UPSERT INTO u SELECT k, v FROM t WHERE k = ?", params![1]),
        ("UPSERT INTO u SELECT k, v + ? FROM t WHERE k = ?", params![1, 2]),
        ("INSERT INTO u SELECT k, v FROM t WHERE k = ? ON CONFLICT DO NOTHING", params![1]),
    ] {
        let statement = connection.prepare(sql).unwrap();
        let run = |runs: usize| (0..runs).for_each(|_| drop(statement.execute(values.clone()).unwrap()));
        let first = plans_of(|| run(1));
        assert!(first >= 1, "{sql}: {first} plans: they are counted");
        assert_eq!(plans_of(|| run(20)), 0, "{sql}");
        // As a text, too, and in a transaction.
        let texts = || (0..5).for_each(|_| drop(connection.execute(sql, values.clone()).unwrap()));
        assert_eq!(plans_of(texts), 0, "{sql}");
        let within = || {
            connection
                .transaction(|tx| -> Result<(), Error> {
                    (0..5).try_for_each(|_| statement.on(tx).execute(values.clone()).map(drop))
                })
                .unwrap();
        };
        assert_eq!(plans_of(within), 0, "{sql}");
    }
}

#[test]
fn a_kept_write_follows_the_definitions() {
    let connection = connection();
    let add = connection.prepare("UPDATE t SET v = v + ? WHERE k = ?").unwrap();
    let run = |wanted: &str| {
        add.execute((1, 1)).unwrap();
        assert_eq!(texts(&connection, "SELECT * FROM t WHERE k = 1").unwrap(), [wanted]);
    };
    run("1|11|1.25|one|1");
    connection.execute("ALTER TABLE t ADD w BIGINT DEFAULT 5", ()).unwrap();
    run("1|12|1.25|one|1|5");
    connection.execute("ALTER TABLE t DROP COLUMN d", ()).unwrap();
    run("1|13|one|1|5");
    connection.execute("CREATE UNIQUE INDEX by_v ON t (v)", ()).unwrap();
    run("1|14|one|1|5");
    assert_eq!(code(add.execute((6, 1))), "duplicate_key", "the index is obeyed");
    connection.execute("TRUNCATE TABLE t", ()).unwrap();
    assert_eq!(add.execute((1, 1)).unwrap().rows_affected, 0);
    connection.execute("DROP TABLE t", ()).unwrap();
    assert_eq!(code(add.execute((1, 1))), "no_such_table");
    connection.execute("CREATE TABLE t (v VARCHAR, k BIGINT PRIMARY KEY)", ()).unwrap();
    connection.execute("UPSERT INTO t VALUES ('x', 1)", ()).unwrap();
    assert!(add.execute((1, 1)).is_err(), "v + 1 of a text");
}

/// The guard judges each run by the settings of the moment.
#[test]
fn a_kept_write_is_judged_at_each_run() {
    let connection = connection();
    connection.execute("SET full_scan = 'allow'", ()).unwrap();
    let all = connection.prepare("UPDATE t SET v = ? WHERE i >= 0").unwrap();
    assert_eq!(all.execute((1,)).unwrap().rows_affected, 2);
    connection.execute("SET full_scan = 'error'", ()).unwrap();
    let error = all.execute((1,)).unwrap_err();
    assert_eq!(error.code().as_str(), "full_scan_refused");
    assert!(error.help().unwrap().contains("UPDATE /*+ FULL_SCAN(t) */"), "{:?}", error.help());
    let ranged = connection.prepare("UPDATE t SET v = 0 WHERE k >= ?").unwrap();
    assert_eq!(ranged.execute((2,)).unwrap().rows_affected, 2);
    assert_eq!(ranged.execute((Value::Null,)).unwrap().rows_affected, 0);
    // So does a budget.
    connection.execute("SET rows_max = 1", ()).unwrap();
    assert_eq!(code(ranged.execute((1,))), "budget_exceeded");
}

/// A kept plan writes what the relational engine's plan for the values writes, which is not kept, or fails as it does.
#[cfg(feature = "datafusion")]
#[test]
fn a_kept_write_takes_all_values() {
    let values = [
        Value::Null,
        Value::Int(7),
        Value::Int(i64::MAX),
        Value::Double(1.5),
        Value::Double(f64::NAN),
        Value::Decimal(saltwing::Decimal::new(125, 2).unwrap()),
        Value::text("7"),
        Value::text(""),
        Value::text("too long"),
        Value::Bool(true),
        Value::Date(86_400_000),
        Value::Bytes(vec![1]),
    ];
    let statements = [
        "UPDATE t SET v = ? WHERE k = 1",
        "UPDATE t SET d = ? WHERE k = 1",
        "UPDATE t SET s = ? WHERE k = 1",
        "UPDATE t SET i = ? WHERE k <= 2",
        "UPDATE t SET v = v + ? WHERE k <= 3",
        "UPDATE t SET v = ? - v WHERE k <= 3",
        "UPDATE t SET d = d * ? WHERE k <= 3",
        "UPDATE t SET i = i + ? WHERE k <= 3",
        "UPDATE t SET k = k + ? WHERE k = 3",
        "UPDATE t SET k = ? WHERE k = 2",
        "UPDATE t SET v = 5 WHERE k = ?",
        "UPDATE t SET v = 5 WHERE k < ?",
        "UPSERT INTO t (k, v) SELECT k + 1, ? FROM t WHERE k = 3",
        "UPSERT INTO t (k, v) SELECT k, v + ? FROM t WHERE k >= 1",
    ];
    let (kept, planned) = (connection(), connection());
    planned.execute("SET executor = 'datafusion'", ()).unwrap();
    for sql in statements {
        let all: Vec<saltwing::blocking::Statement> =
            [&kept, &planned].map(|connection| connection.prepare(sql).unwrap()).into();
        for value in &values {
            let runs = [0, 1].map(|which| {
                let connection = [&kept, &planned][which];
                connection.execute("BEGIN", ()).unwrap();
                let result = all[which].execute((value.clone(),)).map(|result| result.rows_affected);
                let rows = result.as_ref().ok().map(|_| texts(connection, "SELECT * FROM t WHERE k >= 0").unwrap());
                connection.execute("ROLLBACK", ()).unwrap();
                (result.map_err(|error| error.to_string()), rows)
            });
            let [(kept, kept_rows), (planned, planned_rows)] = runs;
            assert_eq!(kept.is_ok(), planned.is_ok(), "{sql} with {value:?}: {kept:?}, and {planned:?}");
            if kept.is_ok() {
                assert_eq!((kept, kept_rows), (planned, planned_rows), "{sql} with {value:?}");
            }
        }
    }
}
