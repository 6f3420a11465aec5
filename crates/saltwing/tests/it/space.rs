//! Space that comes back: by TTL, TRUNCATE, DROP; and what a full disk lets happen.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use saltwing::{Database, StoreKind, params};
use saltwing_access::Clock;
use saltwing_store::conformance::SmallDisk;

use crate::{code, texts};

#[derive(Default)]
struct ManualClock(AtomicI64);

impl Clock for ManualClock {
    fn now_ms(&self) -> i64 {
        self.0.load(SeqCst)
    }
}

/// Stores that give space back.
const STORES: [StoreKind; 1] = [StoreKind::Redb];

/// Bytes of all files in a directory but for the journal, which is written over.
fn bytes_in(path: &Path) -> u64 {
    let mut sum = 0;
    for entry in std::fs::read_dir(path).unwrap().flatten() {
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_dir() {
            sum += bytes_in(&entry.path());
        } else if entry.file_name() != "journal" {
            sum += metadata.len();
        }
    }
    sum
}

/// Space is given back in the background.
fn comes_below(path: &Path, bytes: u64) -> bool {
    let started = Instant::now();
    while bytes_in(path) >= bytes {
        if started.elapsed() > Duration::from_secs(20) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// Rows that no compression makes small.
fn fill(database: &Database, options: &str, rows: u64) {
    let connection = database.connect().blocking();
    connection.execute(&format!("CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, v VARCHAR) {options}"), ()).unwrap();
    let text = |k: u64| {
        (0..12u64).map(|n| format!("{:016x}", (k * 31 + n).wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect::<String>()
    };
    for start in (0..rows).step_by(1000) {
        let values: Vec<String> = (start..start + 1000).map(|k| format!("({k}, '{}')", text(k))).collect();
        connection.execute(&format!("UPSERT INTO t VALUES {}", values.join(", ")), ()).unwrap();
    }
}

#[test]
fn what_expires_gives_its_space_back_without_a_compaction() {
    for kind in STORES {
        let folder = tempfile::tempdir().unwrap();
        let (path, clock) = (folder.path().join("db"), Arc::new(ManualClock::default()));
        let open = || {
            let builder = Database::builder(&path).store(kind).sweep_every(None).merge_when_idle(None).buffered();
            builder.clock(clock.clone()).delta_limits(4000, 1 << 30).open().unwrap()
        };
        let database = open();
        fill(&database, "TTL = 60", 40_000);
        // In blocks, and files.
        database.connect().blocking().execute("COMPACT t", ()).unwrap();
        database.close().unwrap();
        let database = open();
        let full = bytes_in(&path);
        assert!(full > 4 << 20, "{kind:?}: {full}");
        clock.0.fetch_add(61_000, SeqCst);
        assert_eq!(database.sweep().unwrap(), 40_000);
        assert!(comes_below(&path, full / 4), "{kind:?}: {} of {full} bytes", bytes_in(&path));
    }
}

#[test]
fn truncate_and_drop_give_space_back() {
    for (kind, sql) in STORES.into_iter().flat_map(|kind| ["TRUNCATE TABLE t", "DROP TABLE t"].map(|sql| (kind, sql))) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let open = || Database::builder(&path).store(kind).buffered().open().unwrap();
        let database = open();
        fill(&database, "SALT_BUCKETS = 4", 40_000);
        database.connect().blocking().execute("COMPACT t", ()).unwrap();
        // redb keeps in memory what no file has yet.
        database.close().unwrap();
        let database = open();
        let connection = database.connect().blocking();
        let full = bytes_in(&path);
        let done = connection.execute(sql, ()).unwrap();
        assert_eq!(done.notices, Vec::<String>::new());
        assert!(comes_below(&path, full / 4), "{kind:?}, {sql}: {} of {full} bytes", bytes_in(&path));
        assert!(database.check().unwrap().is_sound());
    }
}

#[test]
fn a_truncated_table_is_empty_at_once_and_stays_the_same_table() {
    for kind in [StoreKind::Redb, StoreKind::Sled] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let open = || Database::builder(&path).store(kind).tiny_layout().open().unwrap();
        let database = open();
        let connection = database.connect().blocking();
        connection
            .execute("CREATE TABLE s.t (k BIGINT NOT NULL PRIMARY KEY, v VARCHAR DEFAULT 'd') TTL = 1000000", ())
            .unwrap();
        let shown = texts(&connection, "SHOW CREATE TABLE s.t").unwrap();
        let upsert = connection.prepare("UPSERT INTO s.t (k) VALUES (?)").unwrap();
        let point = connection.prepare("SELECT v FROM s.t WHERE k = ?").unwrap();
        for round in 0..3i64 {
            (0..100).for_each(|k| drop(upsert.execute(params![k]).unwrap()));
            let mut reader = connection.query("SELECT k FROM s.t WHERE k >= 0", ()).unwrap();
            assert!(reader.next().is_some());
            connection.execute("TRUNCATE TABLE s.t", ()).unwrap();
            // Who began before goes on.
            assert_eq!(reader.map(Result::unwrap).count(), if round == 0 { 99 } else { 100 });
            assert_eq!(texts(&connection, "SELECT count(*) FROM s.t WHERE k >= 0").unwrap(), ["0"]);
            assert_eq!(point.query(params![5]).unwrap().count(), 0);
            upsert.execute(params![1000 + round]).unwrap();
            assert_eq!(point.query(params![1000 + round]).unwrap().count(), 1);
        }
        drop((upsert, point, connection, database));
        let connection = open().connect().blocking();
        assert_eq!(texts(&connection, "SELECT k, v FROM s.t WHERE k >= 0").unwrap(), ["1002|d"]);
        assert_eq!(texts(&connection, "SHOW CREATE TABLE s.t").unwrap(), shown);
        assert_eq!(code(connection.execute("TRUNCATE TABLE nothing", ())), "no_such_table");
    }
}

/// What is acknowledged after a TRUNCATE is there, whatever definition its writer knew.
#[test]
fn no_row_goes_with_a_truncate_that_came_before_it() {
    let database = Database::memory_builder().tiny_layout().open().unwrap();
    let connection = database.connect().blocking();
    connection.execute("CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, v VARCHAR)", ()).unwrap();
    let (begun, acknowledged, is_over) = (AtomicI64::new(0), AtomicI64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let upsert = database.connect().blocking();
            let upsert = upsert.prepare("UPSERT INTO t VALUES (?, 'x')").unwrap();
            for k in 1i64.. {
                begun.store(k, SeqCst);
                upsert.execute(params![k]).unwrap();
                acknowledged.store(k, SeqCst);
                if is_over.load(SeqCst) {
                    return;
                }
            }
        });
        for _ in 0..60 {
            connection.execute("TRUNCATE TABLE t", ()).unwrap();
            // Statements that begin from here on come after it.
            let from = begun.load(SeqCst) + 1;
            while acknowledged.load(SeqCst) < from + 5 {
                std::thread::yield_now();
            }
            let count = format!("SELECT count(*) FROM t WHERE k BETWEEN {from} AND {}", from + 5);
            assert_eq!(texts(&connection, &count).unwrap(), ["6"]);
        }
        is_over.store(true, SeqCst);
    });
}

#[test]
fn a_full_disk_says_so_and_lets_rows_be_deleted() {
    STORES.into_iter().for_each(fills_a_disk);
}

fn fills_a_disk(kind: StoreKind) {
    let Some(disk) = SmallDisk::mount(96 << 20) else { return };
    for give_back in ["DELETE FROM t WHERE k >= 0 AND k < 1000000", "TRUNCATE TABLE t", "DROP TABLE t"] {
        let path = disk.path().join("db");
        let open = || Database::builder(&path).store(kind).delta_bytes(4 << 20).open().unwrap();
        let database = open();
        let connection = database.connect().blocking();
        connection.execute("CREATE TABLE kept (k BIGINT NOT NULL PRIMARY KEY)", ()).unwrap();
        connection.execute("UPSERT INTO kept VALUES (1), (2)", ()).unwrap();
        connection.execute("CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, v VARCHAR)", ()).unwrap();
        let text = |k: u64| {
            (0..60u64).map(|n| format!("{:016x}", (k * 61 + n).wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect::<String>()
        };
        let mut full = None;
        for start in (0..200_000u64).step_by(100) {
            let values: Vec<String> = (start..start + 100).map(|k| format!("({k}, '{}')", text(k))).collect();
            if let Err(error) = connection.execute(&format!("UPSERT INTO t VALUES {}", values.join(", ")), ()) {
                full = Some((start, error));
                break;
            }
        }
        let (rows, error) = full.unwrap();
        assert_eq!((error.code().as_str(), error.sqlstate()), ("disk_full", "53100"), "{kind:?}: {error}");
        assert!(rows > 5_000, "{kind:?}: {rows}");
        assert_eq!(texts(&connection, "SELECT count(*) FROM t WHERE k >= 0").unwrap(), [rows.to_string()]);
        connection.execute(give_back, ()).unwrap_or_else(|error| panic!("{kind:?}, {give_back}: {error}"));
        connection
            .execute("COMPACT kept", ())
            .unwrap_or_else(|error| panic!("{kind:?}, COMPACT after {give_back}: {error}"));
        let started = Instant::now();
        while let Err(error) = connection.execute("UPSERT INTO kept VALUES (3)", ()) {
            assert_eq!(error.code().as_str(), "disk_full", "{kind:?}, {give_back}: {error}");
            assert!(started.elapsed() < Duration::from_secs(30), "{kind:?}, {give_back}: no space came back");
            std::thread::sleep(Duration::from_millis(50));
        }
        drop((connection, database));
        let database = open();
        assert_eq!(texts(&database.connect().blocking(), "SELECT k FROM kept WHERE k > 0").unwrap(), ["1", "2", "3"]);
        assert!(database.check().unwrap().is_sound());
        drop(database);
        std::fs::remove_dir_all(&path).unwrap();
    }
}
