//! What was acknowledged is there, whatever happened to the process.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use saltwing::{Database, StoreKind, params};

use crate::{code, texts};

const CHILD: &str = "SALTWING_TEST_IMPORT_INTO";
const TABLE: &str =
    "CREATE TABLE IF NOT EXISTS t (k BIGINT NOT NULL PRIMARY KEY, a VARCHAR, b VARCHAR) SALT_BUCKETS = 4";

/// Not a test of its own: the process that is killed. It writes two rows a statement, and prints each acknowledgement.
#[test]
fn imports_until_it_is_killed() {
    let Ok(target) = std::env::var(CHILD) else { return };
    let (kind, path) = target.split_once(':').unwrap();
    let db = Database::builder(path).store(StoreKind::by_name(kind).unwrap()).open().unwrap();
    let connection = db.connect().blocking();
    connection.execute(TABLE, ()).unwrap();
    let upsert = connection.prepare("UPSERT INTO t VALUES (?1, 'x', 'y'), (-?1, 'x', 'y')").unwrap();
    for k in 1i64.. {
        upsert.execute(params![k]).unwrap();
        println!("acknowledged {k}");
    }
}

#[test]
fn a_killed_import_loses_no_acknowledged_row() {
    // With tiny blocks each commit is a step of a merge, so that every phase of one is killed in at times.
    let redb = StoreKind::Redb;
    for (kind, tiny) in [(redb, false), (redb, true), (StoreKind::Sled, true)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let mut acknowledged = 0;
        // Killed more than once: recovery itself may be what is interrupted.
        for round in 1..=3 {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "durability::imports_until_it_is_killed", "--nocapture"])
                .env(CHILD, format!("{}:{}", kind.as_str(), path.display()))
                .envs(tiny.then_some(("SALTWING_TINY_LAYOUT", "1")))
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let mut numbers =
                lines.map_while(Result::ok).filter_map(|l| l.split("acknowledged ").nth(1)?.parse::<i64>().ok());
            let last = numbers.by_ref().take(50 * round).last().unwrap();
            child.kill().unwrap();
            // What it had printed before it died counts too.
            acknowledged = acknowledged.max(numbers.last().unwrap_or(last));
            child.wait().unwrap();
            let db = Database::open(&path).unwrap();
            let connection = db.connect().blocking();
            let present = connection.prepare("SELECT COUNT(*) FROM t WHERE k IN (?1, -?1)").unwrap();
            for k in 1..=acknowledged + 1 {
                let count: i64 = present.query(params![k]).unwrap().next().unwrap().unwrap().get(0).unwrap();
                assert!(
                    count == 2 || (count == 0 && k > acknowledged),
                    "{kind:?}: {count} rows of {k}, {acknowledged} acknowledged"
                );
            }
            db.close().unwrap();
        }
    }
}

#[test]
fn only_a_store_that_a_power_cut_may_empty_has_a_notice() {
    for kind in StoreKind::ALL {
        let folder = tempfile::tempdir().unwrap();
        let builder = match kind {
            StoreKind::Memory => Database::memory_builder(),
            _ => Database::builder(folder.path().join("db")).store(kind),
        };
        let notices = builder.open().unwrap().notices().to_vec();
        match kind {
            StoreKind::Sled => assert!(notices.len() == 1 && notices[0].contains("power cut"), "{notices:?}"),
            _ => assert!(notices.is_empty(), "{kind:?}: {notices:?}"),
        }
    }
}

#[test]
fn a_database_comes_back_as_it_was_left() {
    for kind in [StoreKind::Redb, StoreKind::Sled] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let open = || Database::builder(&path).store(kind).open();
        {
            let db = open().unwrap();
            let connection = db.connect().blocking();
            connection
                .execute("CREATE TABLE s.T (k VARCHAR NOT NULL PRIMARY KEY, \"Mixed\" DECIMAL(9,2) DEFAULT 1.5)", ())
                .unwrap();
            connection.execute("UPSERT INTO s.t (k) VALUES ('a')", ()).unwrap();
            assert_eq!(code(open()), "locked");
            connection.execute("CREATE TABLE gone (k BIGINT PRIMARY KEY)", ()).unwrap();
            connection.execute("DROP TABLE gone", ()).unwrap();
        }
        let db = open().unwrap();
        let connection = db.connect().blocking();
        assert_eq!(texts(&connection, "SHOW TABLES").unwrap(), ["s|T"]);
        assert_eq!(texts(&connection, "SELECT * FROM S.t WHERE k = 'a'").unwrap(), ["a|1.50"]);
        drop((connection, db));
        let readonly = Database::builder(&path).readonly(true).open().unwrap();
        let connection = readonly.connect().blocking();
        assert_eq!(code(connection.execute("UPSERT INTO s.t (k) VALUES ('b')", ())), "read_only");
        assert_eq!(code(connection.execute("DROP TABLE s.t", ())), "read_only");
        assert_eq!(code(connection.execute("COMPACT s.t", ())), "read_only");
        assert_eq!(texts(&connection, "SHOW STORAGE FOR s.t").unwrap().len(), 1);
        assert_eq!(texts(&connection, "SELECT k FROM s.t WHERE k >= 'a'").unwrap(), ["a"]);
        drop((connection, readonly));
        let other = if kind == StoreKind::Redb { StoreKind::Sled } else { StoreKind::Redb };
        assert_eq!(code(Database::builder(&path).store(other).open()), "not_supported");
    }
}

#[test]
fn what_cannot_be_opened_says_why() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(code(Database::open(folder.path().join("no/such/parent"))), "io");
    assert_eq!(code(Database::builder(folder.path().join("none")).create(false).open()), "io");
    let file = folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    assert_eq!(code(Database::open(&file)), "io");
    let strange = folder.path().join("strange");
    std::fs::create_dir(&strange).unwrap();
    std::fs::write(strange.join("x"), "x").unwrap();
    assert_eq!(code(Database::open(&strange)), "io");
    let newer = folder.path().join("newer");
    drop(Database::open(&newer).unwrap());
    let marker = newer.join("SALTWING");
    let text = std::fs::read_to_string(&marker).unwrap();
    std::fs::write(&marker, text.replacen("format 1", "format 99", 1)).unwrap();
    assert_ne!(std::fs::read_to_string(&marker).unwrap(), text, "the marker's form has changed: {text}");
    assert_eq!(code(Database::open(&newer)), "not_supported");
}
