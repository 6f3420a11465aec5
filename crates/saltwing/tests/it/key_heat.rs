//! The heat of keys: what loads look like, names, rights and limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use saltwing::blocking::Connection;
use saltwing::{Database, HeatShape, KeyHeat, params};
use saltwing_access::Clock;

use crate::users;

/// A clock that is set.
struct ManualClock(AtomicI64);

impl Clock for ManualClock {
    fn now_ms(&self) -> i64 {
        self.0.load(Relaxed)
    }
}

fn database() -> (Database, Connection, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock(AtomicI64::new(1_700_000_000_000)));
    let database = Database::memory_builder().clock(clock.clone()).open().unwrap();
    let connection = database.connect().blocking();
    (database, connection, clock)
}

const SHAPE: HeatShape = HeatShape { key_spans: 8, time_slots: 10, seconds: 40 };

fn sum(field: &[Vec<f64>]) -> f64 {
    field.iter().flatten().sum()
}

/// The mean share of the hottest span in the slots that have counts.
fn hottest_share(field: &[Vec<f64>]) -> f64 {
    let slots = field.iter().filter(|slot| slot.iter().sum::<f64>() > 0.0);
    let shares: Vec<f64> =
        slots.map(|slot| slot.iter().copied().fold(0.0, f64::max) / slot.iter().sum::<f64>()).collect();
    shares.iter().sum::<f64>() / shares.len() as f64
}

/// Writes growing keys for 40 seconds, 200 each second.
fn write_growing(connection: &Connection, clock: &ManualClock) -> KeyHeat {
    for second in 0..40_i64 {
        for row in 0..200 {
            connection.execute("UPSERT INTO t VALUES (?, 'v')", params![second * 200 + row]).unwrap();
        }
        clock.0.fetch_add(1000, Relaxed);
    }
    clock.0.fetch_sub(1, Relaxed);
    connection.key_heat("t", SHAPE).unwrap()
}

#[test]
fn a_monotonic_key_burns_in_one_span_and_a_salted_one_in_none() {
    let (_database, connection, clock) = database();
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)", ()).unwrap();
    let plain = write_growing(&connection, &clock);
    assert_eq!(plain.key_columns, ["k"]);
    assert_eq!((plain.spans.len(), plain.slots.len()), (8, 10));
    let (_salted_database, connection, clock) = database();
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR) SALT_BUCKETS = 8", ()).unwrap();
    let salted = write_growing(&connection, &clock);
    assert_eq!(salted.key_columns, ["_salt", "k"]);
    let texts: Vec<&str> = salted.spans.iter().map(|span| span.from_text.as_str()).collect();
    assert_eq!(texts[..3], ["", "bucket 1", "bucket 2"]);
    let (burning, even) = (hottest_share(&plain.writes), hottest_share(&salted.writes));
    assert!(burning > 0.7 && even < 0.35, "{burning} and {even}");
    for heat in [&plain, &salted] {
        assert!((sum(&heat.writes) - 8000.0).abs() < 200.0, "{}", sum(&heat.writes));
        assert_eq!(sum(&heat.reads), 0.0);
    }
}

/// Each way of reading is counted where it reads. There are at most three accesses a second, so that every one is a sample.
#[test]
fn every_read_and_write_is_counted() {
    let (_database, connection, clock) = database();
    let next_second = || clock.0.fetch_add(1000, Relaxed);
    let make = "CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR, n BIGINT); CREATE INDEX i ON t (v);
                UPSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3)";
    connection.execute_batch(make).unwrap();
    let counts = |relation: &str| {
        let heat = connection.key_heat(relation, SHAPE).unwrap();
        (sum(&heat.reads), sum(&heat.writes))
    };
    // A write to a table with an index reads the row that was there, for the entry of the index.
    assert_eq!((counts("t"), counts("t.i")), ((3.0, 3.0), (0.0, 3.0)));
    for (sql, of_table, of_index) in [
        ("SELECT v FROM t WHERE k = 1", 1.0, 0.0),
        ("SELECT v FROM t WHERE k = 9", 1.0, 0.0),
        ("SELECT v FROM t WHERE k > 1", 1.0, 0.0),
        ("SELECT n FROM t WHERE v = 'a'", 1.0, 1.0),
        ("SELECT count(*) FROM t WHERE k > 1", 1.0, 0.0),
    ] {
        next_second();
        let before = (counts("t").0, counts("t.i").0);
        connection.execute(sql, ()).unwrap();
        let after = (counts("t").0, counts("t.i").0);
        assert_eq!((after.0 - before.0, after.1 - before.1), (of_table, of_index), "{sql}");
    }
    next_second();
    connection.execute("DELETE FROM t WHERE k = 1", ()).unwrap();
    assert_eq!((counts("t").1, counts("t.i").1), (4.0, 4.0));
    connection.execute("COMPACT TABLE t", ()).unwrap();
    next_second();
    let before = counts("t").0;
    connection.execute("SELECT v FROM t WHERE k > 1", ()).unwrap();
    assert_eq!(counts("t").0 - before, 1.0, "the rows of one block");
    let heat = connection.key_heat("t", SHAPE).unwrap();
    assert!(heat.spans.iter().skip(1).any(|span| span.from_text == "2"), "{:?}", heat.spans);
}

#[test]
fn names_shapes_and_rights_are_checked() {
    let database = users::database();
    let owner = database.connect().blocking();
    users::run(&owner, "CREATE INDEX w ON s.secret (w)");
    users::run(&owner, "GRANT SELECT ON t TO ann");
    let ann = database.connect_as("ann").unwrap().blocking();
    for (name, of_owner, of_ann) in [
        ("t", "", ""),
        ("T", "", ""),
        ("s.secret", "", "insufficient_privilege"),
        ("s.secret.w", "", "insufficient_privilege"),
        ("S . \"secret\" . w", "", "insufficient_privilege"),
        ("w", "", "no_such_table"),
        ("nothing", "no_such_table", "no_such_table"),
        ("t.nothing", "no_such_table", "no_such_table"),
        ("few", "wrong_object", "wrong_object"),
        ("t.", "bad_argument", "bad_argument"),
        ("t x", "bad_argument", "bad_argument"),
        ("", "bad_argument", "bad_argument"),
    ] {
        assert_eq!(users::code(owner.key_heat(name, SHAPE)), of_owner, "{name}");
        assert_eq!(users::code(ann.key_heat(name, SHAPE)), of_ann, "{name} of ann");
    }
    for shape in
        [HeatShape { key_spans: 0, ..SHAPE }, HeatShape { time_slots: 0, ..SHAPE }, HeatShape { seconds: 0, ..SHAPE }]
    {
        assert_eq!(users::code(owner.key_heat("t", shape)), "bad_argument");
    }
    let large = HeatShape { key_spans: usize::MAX, time_slots: usize::MAX, seconds: u64::MAX };
    assert_eq!(users::code(owner.key_heat("t", large)), "bad_argument", "larger than anybody draws");
}

#[test]
fn nothing_counted_is_an_empty_picture() {
    let (_database, connection, clock) = database();
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY)", ()).unwrap();
    let heat = connection.key_heat("t", SHAPE).unwrap();
    assert_eq!((heat.spans.len(), heat.slots.len(), sum(&heat.reads)), (0, 10, 0.0));
    connection.execute("UPSERT INTO t VALUES (1)", ()).unwrap();
    assert_eq!(connection.key_heat("t", SHAPE).unwrap().spans.len(), 1);
    clock.0.fetch_add(3_600_000, Relaxed);
    assert_eq!(connection.key_heat("t", SHAPE).unwrap().spans.len(), 0, "too long ago");
    let day = HeatShape { seconds: 86_400, ..SHAPE };
    let old = connection.key_heat("t", day).unwrap();
    assert_eq!((sum(&old.writes), old.slots.len()), (1.0, 10));
    // A temporary table has keys, too.
    connection.execute("CREATE TEMPORARY TABLE own (k BIGINT PRIMARY KEY)", ()).unwrap();
    connection.execute("UPSERT INTO own VALUES (1)", ()).unwrap();
    assert_eq!(sum(&connection.key_heat("own", SHAPE).unwrap().writes), 1.0);
}
