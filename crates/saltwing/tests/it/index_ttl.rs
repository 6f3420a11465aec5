//! Indexes of tables with TTL, by a clock that the test sets: an entry lives as long as its row.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use saltwing::blocking::Connection;
use saltwing::{Database, ErrorCode};

use crate::row_times::{ManualClock, run};
use crate::texts;

const START_MS: i64 = 1_000_000;
const TABLE: &str = "CREATE TABLE t (k BIGINT PRIMARY KEY, a BIGINT, b VARCHAR, c BIGINT, d BIGINT) SALT_BUCKETS = 2";
const INDEXES: [(&str, &str, &str); 5] = [
    ("covering", "CREATE INDEX covering ON t (a DESC) INCLUDE (c)", "a > 0"),
    ("plain", "CREATE INDEX plain ON t (a)", "a > 0"),
    ("near", "CREATE LOCAL INDEX near ON t (b)", "b > 'a'"),
    ("part", "CREATE INDEX part ON t (a) INCLUDE (c) WHERE c > 5", "a > 0 AND c > 5"),
    ("mail", "CREATE UNIQUE INDEX mail ON t (c)", "c > 0"),
];

struct Bed {
    clock: Arc<ManualClock>,
    database: Database,
    connection: Connection,
}

impl Bed {
    /// A table with an index of each kind.
    fn new(options: &str) -> Self {
        let bed = Self::plain(options);
        bed.create_indexes();
        bed
    }

    /// A table without indexes.
    fn plain(options: &str) -> Self {
        let clock = Arc::new(ManualClock(AtomicI64::new(START_MS)));
        let builder = Database::memory_builder().tiny_layout().sweep_every(None).full_scan("allow").unwrap();
        let database = builder.clock(clock.clone()).open().unwrap();
        let connection = database.connect().blocking();
        run(&connection, &[&format!("{TABLE} {options}")]);
        Self { clock, database, connection }
    }

    fn create_indexes(&self) {
        INDEXES.iter().for_each(|(_, create, _)| run(&self.connection, &[create]));
    }

    fn run(&self, statements: &[&str]) {
        run(&self.connection, statements);
    }

    /// Sets the clock to so many seconds behind the start.
    fn at(&self, seconds: i64) -> &Self {
        self.at_ms(seconds * 1000)
    }

    fn at_ms(&self, ms: i64) -> &Self {
        self.clock.0.store(START_MS + ms, SeqCst);
        self
    }

    fn code(&self, sql: &str) -> Option<ErrorCode> {
        self.connection.execute(sql, ()).err().map(|error| error.code())
    }

    /// The keys that are there: the same ones by each index, covered or not. The check finds nothing.
    #[track_caller]
    fn has(&self, keys: &[&str]) {
        let found = |hint: &str, columns: &str, condition: &str| {
            let mut rows =
                texts(&self.connection, &format!("SELECT {hint} {columns} FROM t WHERE {condition}")).unwrap();
            rows.sort();
            rows
        };
        assert_eq!(found("/*+ NO_INDEX(t) */", "k", "k >= 0"), keys);
        for (name, _, condition) in INDEXES {
            for columns in ["k", "k, c", "k, d", "COUNT(*)"] {
                let by_index = found(&format!("/*+ INDEX(t {name}) */"), columns, condition);
                assert_eq!(by_index, found("/*+ NO_INDEX(t) */", columns, condition), "{name}: {columns}");
            }
        }
        let report = self.database.check().unwrap();
        assert!(report.is_sound(), "{:#?}", report.faults);
    }
}

/// A write of a row gives all its entries a new time, also of columns that no index has.
#[test]
fn a_renewed_row_is_found_for_as_long_as_it_lives() {
    let bed = Bed::new("TTL = 100");
    bed.run(&["UPSERT INTO t VALUES (1, 1, 'x', 10, 0), (2, 2, 'y', 20, 0), (3, 3, 'z', 30, 0)"]);
    bed.at(50).run(&["UPSERT INTO t (k, d) VALUES (1, 7)", "UPDATE t SET d = 8 WHERE k = 2"]);
    bed.at(99).has(&["1", "2", "3"]);
    bed.at(100).has(&["1", "2"]);
    bed.run(&["COMPACT t"]);
    bed.at(120).has(&["1", "2"]);
    bed.run(&["UPSERT INTO t (k, a) VALUES (2, 5) ON DUPLICATE KEY UPDATE d = 9"]);
    bed.at_ms(149_999).has(&["1", "2"]);
    bed.at_ms(150_000).has(&["2"]);
    bed.database.sweep().unwrap();
    bed.has(&["2"]);
    bed.at(220).has(&[]);
    bed.database.sweep().unwrap();
    bed.has(&[]);
}

/// Rows and entries are deleted by merges of their own; none is seen without the other.
#[test]
fn rows_and_entries_expire_at_one_moment() {
    let bed = Bed::new("TTL = 100");
    for k in 0..60 {
        let row = format!("UPSERT INTO t VALUES ({k}, {}, 'x{}', {k}, 0)", k % 7, k % 5);
        bed.at(k).run(&[&row]);
        if k % 20 == 19 {
            bed.run(&["COMPACT t"]);
        }
    }
    for seconds in (100..170).step_by(9) {
        let alive: Vec<String> = (0..60).filter(|k| k + 100 > seconds).map(|k| k.to_string()).collect();
        let mut alive: Vec<&str> = alive.iter().map(String::as_str).collect();
        alive.sort_unstable();
        bed.at(seconds).has(&alive);
        match seconds % 3 {
            0 => drop(bed.database.sweep().unwrap()),
            1 => bed.run(&["COMPACT t"]),
            _ => {}
        }
        bed.has(&alive);
    }
}

/// By the time of a column, too: an entry has the time of its row although it lacks the column.
#[test]
fn entries_have_the_times_of_a_column() {
    let bed = Bed::new("TTL = 100, TTL_COLUMN = d");
    bed.run(&["UPSERT INTO t VALUES (1, 1, 'x', 10, 1000000), (2, 2, 'y', 20, 1050000), (3, 3, 'z', 30, NULL)"]);
    bed.at(100).has(&["2", "3"]);
    bed.run(&["UPSERT INTO t (k, d) VALUES (2, 1090000)", "UPSERT INTO t (k, d) VALUES (3, 1000001)"]);
    bed.has(&["2", "3"]);
    bed.at(160).has(&["2"]);
    bed.database.sweep().unwrap();
    bed.at(190).has(&[]);
}

#[test]
fn the_value_of_an_expired_row_is_free() {
    let bed = Bed::new("TTL = 100");
    bed.run(&["UPSERT INTO t VALUES (1, 1, 'x', 10, 0)"]);
    assert_eq!(bed.at(99).code("UPSERT INTO t VALUES (2, 2, 'y', 10, 0)"), Some(ErrorCode::DuplicateKey));
    bed.at(100).run(&["UPSERT INTO t VALUES (2, 2, 'y', 10, 0)"]);
    bed.has(&["2"]);
    // The expired row has no value any more that a write of another column would keep.
    bed.run(&["UPSERT INTO t (k, a) VALUES (1, 9)"]);
    assert_eq!(texts(&bed.connection, "SELECT k, a, c FROM t WHERE k = 1").unwrap(), ["1|9|NULL"]);
    bed.has(&["1", "2"]);
    assert_eq!(bed.code("UPDATE t SET c = 10 WHERE k = 1"), Some(ErrorCode::DuplicateKey));
    bed.database.sweep().unwrap();
    bed.has(&["1", "2"]);
}

/// A transaction that began before a row expired renews it, while another one gives its value to another row.
#[test]
fn a_value_is_not_renewed_and_given_away() {
    for is_renewed_first in [false, true] {
        let bed = Bed::new("TTL = 100");
        bed.run(&["UPSERT INTO t VALUES (1, 1, 'x', 10, 0)"]);
        let (old, new) = (bed.database.connect().blocking(), bed.database.connect().blocking());
        bed.at(90);
        run(&old, &["BEGIN", "UPSERT INTO t (k, d) VALUES (1, 7)"]);
        bed.at(110);
        run(&new, &["BEGIN", "UPSERT INTO t VALUES (2, 2, 'y', 10, 0)"]);
        let (first, second) = if is_renewed_first { (&old, &new) } else { (&new, &old) };
        run(first, &["COMMIT"]);
        assert_eq!(second.execute("COMMIT", ()).unwrap_err().code(), ErrorCode::Conflict);
        bed.has(&[if is_renewed_first { "1" } else { "2" }]);
    }
}

/// Rows that a new TTL shows have entries, and entries that it shows have rows.
#[test]
fn another_ttl_finds_the_entries_of_its_rows() {
    // Without TTL an entry does not follow the time of its row.
    let bed = Bed::new("");
    bed.run(&["UPSERT INTO t VALUES (1, 1, 'x', 10, 0), (2, 2, 'y', 20, 0)"]);
    bed.at(50).run(&["UPSERT INTO t (k, d) VALUES (1, 7)"]);
    bed.at(110).run(&["ALTER TABLE t SET TTL = 100"]);
    bed.has(&["1"]);
    // Of an expired row, and of one that it was before, the entries stay until a sweep.
    bed.at(120).run(&["UPSERT INTO t VALUES (2, 3, 'z', 20, 0)", "COMPACT t", "ALTER INDEX plain ON t DISABLE"]);
    bed.at(160).run(&["ALTER TABLE t SET TTL = 1000"]);
    let states = texts(&bed.connection, "SHOW INDEXES FROM t").unwrap();
    assert_eq!(states.iter().filter(|row| row.ends_with("disabled")).count(), 1, "{states:?}");
    bed.run(&["ALTER INDEX plain ON t USABLE"]);
    let rows = texts(&bed.connection, "SELECT k FROM t WHERE k >= 0 ORDER BY k").unwrap();
    bed.has(&rows.iter().map(String::as_str).collect::<Vec<_>>());
    bed.run(&["ALTER TABLE t SET TTL = NONE"]);
    bed.at(9_000).has(&rows.iter().map(String::as_str).collect::<Vec<_>>());
    bed.run(&["ALTER TABLE t SET TTL = 100"]);
    bed.has(&[]);
}

/// The build gives an entry the time of its row.
#[test]
fn a_built_index_has_the_times_of_the_rows() {
    let bed = Bed::plain("TTL = 100");
    bed.run(&["UPSERT INTO t VALUES (1, 1, 'x', 10, 0), (2, 2, 'y', 20, 0)"]);
    bed.at(30).run(&["UPSERT INTO t VALUES (3, 3, 'z', 30, 0)"]);
    bed.at(60).create_indexes();
    bed.has(&["1", "2", "3"]);
    bed.at(99).has(&["1", "2", "3"]);
    bed.at(100).has(&["3"]);
    bed.run(&["ALTER INDEX plain ON t REBUILD"]);
    bed.at(129).has(&["3"]);
    bed.at(130).has(&[]);
}

/// A TTL that would show two rows with one value is refused, and changes nothing.
#[test]
fn a_ttl_that_breaks_a_unique_index_is_refused() {
    let bed = Bed::new("TTL = 100");
    bed.run(&["UPSERT INTO t VALUES (1, 1, 'x', 10, 0)", "ALTER INDEX plain ON t DISABLE"]);
    bed.at(100).run(&["UPSERT INTO t VALUES (2, 2, 'y', 10, 0)"]);
    for ttl in ["NONE", "1000"] {
        let changed = format!("ALTER TABLE t SET BLOCK_ROWS = 7, TTL = {ttl}");
        assert_eq!(bed.code(&changed), Some(ErrorCode::DuplicateKey));
        let create = texts(&bed.connection, "SHOW CREATE TABLE t").unwrap().concat();
        assert!(create.contains("TTL = 100") && !create.contains("BLOCK_ROWS"), "{create}");
    }
    let states = texts(&bed.connection, "SHOW INDEXES FROM t").unwrap();
    let unready: Vec<_> = states.iter().filter(|row| !row.ends_with("ready")).collect();
    assert!(unready.len() == 1 && unready[0].contains("plain") && unready[0].ends_with("disabled"), "{unready:?}");
    bed.run(&["ALTER INDEX plain ON t USABLE"]);
    bed.has(&["2"]);
    // The rows are there in part, so that it may be set.
    bed.run(&["DELETE FROM t WHERE k = 2", "ALTER TABLE t SET TTL = 1000"]);
    bed.has(&["1"]);
}

/// What is expired stays so, although the computer's clock is put back: its entries may be deleted, and its value taken.
#[test]
fn a_clock_that_goes_back_brings_no_rows_back() {
    let bed = Bed::new("TTL = 100");
    bed.run(&["UPSERT INTO t VALUES (1, 1, 'x', 10, 0), (2, 2, 'y', 20, 0), (3, 3, 'z', 30, 0)", "COMPACT t"]);
    bed.at(100).run(&["UPSERT INTO t VALUES (4, 4, 'v', 10, 0)", "UPSERT INTO t (k, a) VALUES (2, 5)"]);
    bed.at(90).has(&["2", "4"]);
    bed.database.sweep().unwrap();
    bed.has(&["2", "4"]);
    // A row that is written now is not older than those before it.
    bed.run(&["UPSERT INTO t (k, a) VALUES (1, 7)"]);
    bed.at(199).has(&["1", "2", "4"]);
    bed.at(200).has(&[]);
}
