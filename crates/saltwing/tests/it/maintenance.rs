//! Backups under load, restored on every store; what they refuse; checks and salvage of a directory that does not open.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};

use saltwing::{Database, StoreKind, params};
use saltwing_store::{Access, Durability, OpenOptions, OrderedKv, Space, WriteBatch};

use crate::{code, texts};

const WRITERS: i64 = 3;
const KINDS: [StoreKind; 3] = [StoreKind::Redb, StoreKind::Sled, StoreKind::Memory];

fn database(kind: StoreKind, path: &Path, tiny: bool) -> Database {
    let builder = match kind {
        StoreKind::Memory => Database::memory_builder(),
        kind => Database::builder(path).store(kind),
    };
    let builder = if tiny { builder.tiny_layout() } else { builder };
    builder.buffered().open().unwrap()
}

/// Of each writer the numbers in a database, which must be the first so many, each there twice or not at all.
fn written(database: &Database) -> Vec<i64> {
    let connection = database.connect().blocking();
    let sql = "SELECT w, count(*), max(k), min(k) FROM t WHERE w >= 0 GROUP BY w ORDER BY w";
    let rows = texts(&connection, sql).unwrap();
    let number = |text: &str| text.parse::<i64>().unwrap();
    let last = |row: &String| {
        let numbers: Vec<i64> = row.split('|').map(number).collect();
        assert_eq!((numbers[1], numbers[3]), (2 * numbers[2], -numbers[2]), "a commit is there in part");
        numbers[2]
    };
    rows.iter().map(last).collect()
}

/// Writers go on, and merges with them; every statement that was acknowledged before is in the copy.
#[test]
fn a_backup_under_load_has_what_was_acknowledged_before() {
    let (redb, sled) = (StoreKind::Redb, StoreKind::Sled);
    for (kind, tiny) in [(redb, true), (redb, false), (StoreKind::Memory, false), (sled, true)] {
        let folder = tempfile::tempdir().unwrap();
        let source = database(kind, &folder.path().join("db"), tiny);
        let connection = source.connect().blocking();
        connection
            .execute(
                "CREATE TABLE t (w INTEGER NOT NULL, k BIGINT NOT NULL, v VARCHAR, CONSTRAINT pk PRIMARY KEY (w, k))",
                (),
            )
            .unwrap();
        let acknowledged: Vec<AtomicI64> = (0..WRITERS).map(|_| AtomicI64::new(0)).collect();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for (w, last) in (0i64..).zip(&acknowledged) {
                let (connection, is_over) = (source.connect().blocking(), &is_over);
                scope.spawn(move || {
                    let upsert =
                        connection.prepare("UPSERT INTO t VALUES (?1, ?2, 'some text'), (?1, -?2, 'other')").unwrap();
                    for k in 1i64.. {
                        upsert.execute(params![w, k]).unwrap();
                        last.store(k, SeqCst);
                        // Copies are to be small.
                        std::thread::sleep(std::time::Duration::from_millis(1));
                        if is_over.load(SeqCst) {
                            return;
                        }
                    }
                });
            }
            for round in 0..3 {
                while acknowledged.iter().any(|last| last.load(SeqCst) < 40 * (round + 1)) {
                    std::thread::yield_now();
                }
                let before: Vec<i64> = acknowledged.iter().map(|last| last.load(SeqCst)).collect();
                let backup = folder.path().join(format!("backup {round}"));
                let report = source.backup(&backup).unwrap();
                assert!(report.entries > 0 && report.bytes > 0);
                // On every store once, on the quickest each time.
                for target in KINDS.into_iter().filter(|kind| round == 2 || *kind == StoreKind::Memory) {
                    let path = folder.path().join(format!("restored {round} {}", target.as_str()));
                    let builder = match target {
                        StoreKind::Memory => Database::memory_builder(),
                        kind => Database::builder(&path).store(kind),
                    };
                    let restored = builder.restore(&backup).unwrap();
                    let found = written(&restored);
                    assert!(found.iter().zip(&before).all(|(found, before)| found >= before), "{found:?} {before:?}");
                    let report = restored.check().unwrap();
                    assert!(report.is_sound(), "{:#?}", report.faults);
                }
                // Where the store has snapshots a check is of one moment too; merges wait elsewhere.
                assert!(source.check().unwrap().is_sound());
            }
            is_over.store(true, SeqCst);
        });
    }
}

#[test]
fn backups_are_written_over_nothing_and_restored_over_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let source = database(StoreKind::Redb, &path("db"), false);
    let connection = source.connect().blocking();
    connection.execute("CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY)", ()).unwrap();
    connection.execute("UPSERT INTO t VALUES (1), (2)", ()).unwrap();
    assert_eq!(code(source.backup(path("db"))), "io");
    assert_eq!(code(source.backup(path("db/inside"))), "bad_argument");
    assert_eq!(code(source.backup(path("no/parent"))), "io");
    std::fs::create_dir(path("taken")).unwrap();
    assert_eq!(code(source.backup(path("taken"))), "io");
    let sql = format!("BACKUP TO '{}'", path("b").display());
    let done = connection.execute(&sql, ()).unwrap();
    assert_eq!((done.rows_affected, done.notices.len()), (0, 1));
    assert_eq!(code(connection.execute(&sql, ())), "io");
    connection.execute("SET statement_timeout = '1ms'", ()).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(2));
    // Over before the first look, or done: never half.
    let late = connection.execute(&format!("BACKUP TO '{}'", path("late").display()), ());
    assert_eq!(path("late").exists(), late.is_ok());
    // An empty directory is as good as none.
    assert_eq!(code(Database::builder(path("taken")).restore(path("b"))), "ok");
    assert_eq!(code(Database::builder(path("db")).restore(path("b"))), "bad_argument");
    assert_eq!(code(Database::builder(path("none")).restore(path("db"))), "io");
    assert_eq!(code(Database::builder(path("none")).restore(path("nothing"))), "io");
    assert_eq!(code(Database::builder(path("none")).readonly(true).restore(path("b"))), "read_only");
    std::fs::create_dir(path("cut.unfinished")).unwrap();
    assert_eq!(code(Database::builder(path("cut")).restore(path("b"))), "bad_argument");
    let entries = path("b").join("entries");
    let bytes = std::fs::read(&entries).unwrap();
    std::fs::write(&entries, &bytes[..bytes.len() - 1]).unwrap();
    assert_eq!(code(Database::builder(path("none")).restore(path("b"))), "corrupt");
    assert!(!path("none").exists() && !path("none.unfinished").exists());
    drop((connection, source));
    let readonly = Database::builder(path("db")).readonly(true).open().unwrap();
    let connection = readonly.connect().blocking();
    assert_eq!(code(connection.execute(&format!("BACKUP TO '{}'", path("r").display()), ())), "read_only");
    // The host program may.
    assert_eq!(code(readonly.backup(path("r"))), "ok");
    assert_eq!(
        texts(
            &Database::memory_builder().restore(path("r")).unwrap().connect().blocking(),
            "SELECT k FROM t WHERE k > 0"
        )
        .unwrap(),
        ["1", "2"]
    );
}

/// The directory of one table is damaged: the database does not open, and all rows are saved.
#[test]
fn a_database_that_does_not_open_is_checked_and_salvaged() {
    for kind in [StoreKind::Redb, StoreKind::Sled] {
        let folder = tempfile::tempdir().unwrap();
        let (path, saved) = (folder.path().join("db"), folder.path().join("saved"));
        let source = Database::builder(&path).store(kind).open().unwrap();
        let connection = source.connect().blocking();
        for name in ["t", "u"] {
            connection.execute(&format!("CREATE TABLE {name} (k BIGINT NOT NULL PRIMARY KEY, v VARCHAR)"), ()).unwrap();
            let values: Vec<String> = (0..1000).map(|k| format!("({k}, 'v{k}')")).collect();
            connection.execute(&format!("UPSERT INTO {name} VALUES {}", values.join(", ")), ()).unwrap();
        }
        connection.execute("COMPACT t, u", ()).unwrap();
        drop(connection);
        source.close().unwrap();
        let key = {
            let options = OpenOptions { access: Access::Existing, cache_bytes: 8 << 20, trace: None };
            let kv: Box<dyn OrderedKv> = match kind {
                StoreKind::Redb => Box::new(saltwing_redb::open(&path, options).unwrap()),
                _ => Box::new(saltwing_sled::open(&path, options).unwrap()),
            };
            let bounds = saltwing_store::KeyBounds::new(vec![0, 0, 0, 100, 0, 1], None);
            let mut cursor = kv.cursor(Space::new(4), bounds, saltwing_store::Direction::Forward).unwrap();
            let (key, value) = cursor.next().unwrap().unwrap();
            let mut wrong = value.to_vec();
            wrong[9] ^= 4;
            let mut batch = WriteBatch::new();
            batch.put(Space::new(4), key.clone(), wrong);
            kv.write(batch, Durability::Synced).unwrap();
            kv.close().unwrap();
            key.to_vec()
        };
        assert_eq!(key[3], 100);
        assert_eq!(code(Database::open(&path)), "corrupt");
        let report = Database::builder(&path).check().unwrap();
        assert_eq!((report.tables, report.rows, report.faults.len()), (2, 2000, 1), "{:#?}", report.faults);
        let fault = report.faults[0].to_string();
        assert!(fault.starts_with("t: directory (space 4), entry "), "{fault}");
        let report = Database::builder(&saved).salvage(&path).unwrap();
        assert_eq!((report.lost.len(), report.mended.len()), (0, 1), "{report:#?}");
        let saved = Database::open(&saved).unwrap();
        assert_eq!(saved.store_name(), kind.as_str());
        let connection = saved.connect().blocking();
        for name in ["t", "u"] {
            assert_eq!(
                texts(&connection, &format!("SELECT count(*), sum(k), min(v), max(v) FROM {name} WHERE k >= 0"))
                    .unwrap(),
                ["1000|499500|v0|v999"]
            );
        }
        assert_eq!(code(Database::builder(&path).salvage(&path)), "bad_argument");
    }
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy_folder(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// The process was killed, and then a byte of its journal changed: one statement is lost, and told.
#[test]
fn a_salvage_reads_around_the_damage_of_a_journal() {
    let folder = tempfile::tempdir().unwrap();
    let (live, path, saved) = (folder.path().join("live"), folder.path().join("db"), folder.path().join("saved"));
    let source = Database::builder(&live).store(StoreKind::Redb).sweep_every(None).open().unwrap();
    let connection = source.connect().blocking();
    for name in ["t", "u"] {
        connection.execute(&format!("CREATE TABLE {name} (k BIGINT NOT NULL PRIMARY KEY, v VARCHAR)"), ()).unwrap();
        let values: Vec<String> = (0..100).map(|k| format!("({k}, 'v{k}')")).collect();
        connection.execute(&format!("UPSERT INTO {name} VALUES {}", values.join(", ")), ()).unwrap();
    }
    for k in 100..120 {
        connection.execute(&format!("UPSERT INTO t VALUES ({k}, 'needle{k}.')"), ()).unwrap();
    }
    copy_folder(&live, &path);
    let journal = path.join("data/journal");
    let mut bytes = std::fs::read(&journal).unwrap();
    let at = bytes.windows(10).position(|bytes| bytes == b"needle105.").unwrap();
    bytes[at] ^= 1;
    std::fs::write(&journal, bytes).unwrap();
    assert_eq!(code(Database::open(&path)), "corrupt");
    let report = Database::builder(&saved).salvage(&path).unwrap();
    assert_eq!((report.lost.len(), report.mended.len()), (1, 0), "{report:#?}");
    let lost = report.lost[0].to_string();
    assert!(lost.starts_with("data/journal, bytes ") && lost.contains("are lost"), "{lost}");
    let saved = Database::open(&saved).unwrap();
    let connection = saved.connect().blocking();
    let count =
        |name: &str| texts(&connection, &format!("SELECT count(*), sum(k) FROM {name} WHERE k >= 0")).unwrap().concat();
    let all: i64 = (0..120).sum();
    assert_eq!((count("t"), count("u")), (format!("119|{}", all - 105), "100|4950".to_owned()));
}
