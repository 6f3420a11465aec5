//! Definitions that statements make, change and drop.

use std::sync::atomic::{AtomicBool, Ordering};

use fake_hbase::{Call, Exception, Fault};
use hbase_client::TableName;
use saltwing::{Database, ErrorCode};

use crate::sql::{execute, rows};
use crate::world::World;

fn open() -> (World, Database) {
    let world = World::new();
    let (tables, catalog) = (world.store.clone(), world.catalog.clone());
    let database = Database::memory_builder().open_with_catalog(tables, catalog).unwrap();
    (world, database)
}

fn done(database: &Database, sql: &str) -> u64 {
    execute(database, sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// The regions of an HBase table, by the keys at which they begin, and its families.
fn shape(world: &World, name: &str) -> (Vec<Vec<u8>>, Vec<String>) {
    let name: TableName = name.parse().unwrap();
    world.block_on(async |client, context| {
        let starts = client.table(name.clone()).regions(context).await.unwrap();
        let starts = starts.iter().map(|region| region.start().to_vec()).collect();
        let descriptor = client.admin().descriptor(context, &name).await.unwrap().unwrap();
        let families = descriptor.families().map(|family| String::from_utf8(family.name().to_vec()).unwrap());
        (starts, families.collect())
    })
}

#[test]
fn a_table_is_made_changed_and_dropped() {
    let (world, database) = open();
    let sql = "CREATE TABLE log (phone VARCHAR NOT NULL, ts BIGINT NOT NULL, up INTEGER DEFAULT 7, f.note VARCHAR(20),
        CONSTRAINT pk PRIMARY KEY (phone, ts DESC)) SALT_BUCKETS = 3, TTL = 86400, f.COMPRESSION = 'GZ'";
    done(&database, sql);
    // The names are those that Phoenix finds without quotes.
    assert_eq!(shape(&world, "LOG"), (vec![vec![], vec![1], vec![2]], vec!["0".to_owned(), "F".to_owned()]));
    done(&database, "UPSERT INTO log VALUES ('a', 1, 10, 'x'), ('a', 2, 20, 'y'), ('b', 1, 30, NULL)");
    done(&database, "INSERT INTO LOG (phone, ts) VALUES ('c', 5)");
    assert_eq!(rows(&database, "SELECT ts, up, note FROM log WHERE phone = 'a'"), ["2 20 y", "1 10 x"]);
    assert_eq!(rows(&database, "SELECT up FROM log WHERE phone = 'c'"), ["7"]);
    done(&database, "ALTER TABLE log ADD down INTEGER, g.more VARCHAR");
    assert_eq!(shape(&world, "LOG").1, ["0", "F", "G"]);
    done(&database, "UPSERT INTO log (phone, ts, down, more) VALUES ('a', 1, 99, 'm')");
    let all = "SELECT * FROM log WHERE phone = 'a'";
    assert_eq!(rows(&database, all), ["a 2 20 y - -", "a 1 10 x 99 m"]);
    done(&database, "ALTER TABLE log DROP COLUMN up, note");
    assert_eq!(rows(&database, all), ["a 2 - -", "a 1 99 m"]);
    // A later column of the same name has none of the values.
    done(&database, "ALTER TABLE log ADD up INTEGER");
    assert_eq!(rows(&database, "SELECT up FROM log WHERE phone = 'a' AND ts = 1"), ["-"]);
    done(&database, "DROP TABLE log");
    let error = execute(&database, "UPSERT INTO log (phone, ts) VALUES ('a', 1)").unwrap_err();
    assert_eq!(error.code(), ErrorCode::NoSuchTable, "{error}");
    let is_there = world.block_on(async |client, context| {
        client.admin().descriptor(context, &"LOG".parse().unwrap()).await.unwrap().is_some()
    });
    assert!(!is_there, "the HBase table is gone");
    // Made again, it has no rows.
    done(&database, "CREATE TABLE log (phone VARCHAR PRIMARY KEY, up INTEGER)");
    assert_eq!(rows(&database, "SELECT /*+ FULL_SCAN */ * FROM log"), Vec::<String>::new());
}

#[test]
fn keys_of_split_on_are_regions() {
    let (world, database) = open();
    done(&database, "CREATE TABLE s.t (k VARCHAR PRIMARY KEY, v INTEGER) SPLIT ON ('b', 'm')");
    assert_eq!(shape(&world, "S.T").0, [&b""[..], b"b", b"m"]);
    done(&database, "UPSERT INTO s.t VALUES ('a', 1), ('c', 2), ('z', 3)");
    assert_eq!(rows(&database, "SELECT v FROM s.t WHERE k >= 'b' ORDER BY k"), ["2", "3"]);
}

#[test]
fn what_is_there_is_told() {
    let (_world, database) = open();
    done(&database, "CREATE TABLE t (k VARCHAR PRIMARY KEY, v INTEGER)");
    done(&database, "UPSERT INTO t VALUES ('a', 1)");
    let error = execute(&database, "CREATE TABLE T (k VARCHAR PRIMARY KEY)").unwrap_err();
    assert_eq!(error.code(), ErrorCode::DuplicateTable, "{error}");
    done(&database, "CREATE TABLE IF NOT EXISTS t (k VARCHAR PRIMARY KEY, v INTEGER)");
    assert_eq!(rows(&database, "SELECT v FROM t WHERE k = 'a'"), ["1"]);
    done(&database, "DROP TABLE IF EXISTS t");
    done(&database, "DROP TABLE IF EXISTS t");
    assert_eq!(execute(&database, "DROP TABLE t").unwrap_err().code(), ErrorCode::NoSuchTable);
    done(&database, "CREATE TABLE u (k VARCHAR PRIMARY KEY, v INTEGER)");
    done(&database, "ALTER TABLE u ADD IF NOT EXISTS v INTEGER");
    done(&database, "ALTER TABLE u DROP COLUMN IF EXISTS w");
}

/// The HBase tables of a table that is dropped go one after the other; one that cannot be deleted now is deleted later.
#[test]
fn hbase_tables_that_are_left_are_deleted_later() {
    let (world, database) = open();
    done(&database, "CREATE TABLE t (k VARCHAR PRIMARY KEY, v INTEGER)");
    world.cluster.create_table("_IDX_T", &["0"], &[]).unwrap();
    let is_there = |name: &str| {
        let name: TableName = name.parse().unwrap();
        world.block_on(async |client, context| client.admin().descriptor(context, &name).await.unwrap().is_some())
    };
    assert!(is_there("T") && is_there("_IDX_T"));
    world.cluster.on_next("DeleteTable", Fault::Exception(Exception::do_not_retry("the test wants it so")));
    done(&database, "DROP TABLE t");
    assert!(is_there("T") && !is_there("_IDX_T"), "one of them is left");
    assert_eq!(execute(&database, "DROP TABLE t").unwrap_err().code(), ErrorCode::NoSuchTable);
    world.catalog.finish_drops().unwrap();
    assert!(!is_there("T"));
}

/// The HBase table is made, and the rows of the catalog are not: the statement can be repeated.
#[test]
fn an_interrupted_creation_is_repeated() {
    let (world, database) = open();
    world.phoenix.fail("createTable");
    let sql = "CREATE TABLE t (k VARCHAR PRIMARY KEY, v INTEGER)";
    let error = execute(&database, sql).unwrap_err();
    assert!(error.to_string().contains("the test wants it so"), "{error}");
    assert_eq!(shape(&world, "T").1, ["0"]);
    done(&database, sql);
    done(&database, "UPSERT INTO t VALUES ('a', 1)");
    assert_eq!(rows(&database, "SELECT v FROM t WHERE k = 'a'"), ["1"]);
}

/// The reply of the catalog's server is lost: the statement does not claim that nothing was made.
#[test]
fn a_lost_reply_is_told() {
    let (world, database) = open();
    let is_made = AtomicBool::new(false);
    let is_of_catalog = move |call: &Call| {
        is_made.fetch_or(call.method == "CreateTable", Ordering::Relaxed);
        call.method == "ExecService" && is_made.load(Ordering::Relaxed)
    };
    world.cluster.on_call(1, is_of_catalog, Fault::CutAfter);
    let sql = "CREATE TABLE t (k VARCHAR PRIMARY KEY, v INTEGER)";
    let error = execute(&database, sql).unwrap_err();
    assert_eq!(error.code(), ErrorCode::CommitUnknown, "{error}");
    assert_eq!(execute(&database, sql).unwrap_err().code(), ErrorCode::DuplicateTable);
    done(&database, "UPSERT INTO t VALUES ('a', 1)");
    assert_eq!(rows(&database, "SELECT v FROM t WHERE k = 'a'"), ["1"]);
}

/// An HBase table with rows, or of another form, is not taken.
#[test]
fn an_hbase_table_of_others_stays() {
    let (world, database) = open();
    world.cluster.create_table("T", &["0"], &[]).unwrap();
    let sql = "CREATE TABLE t (k VARCHAR PRIMARY KEY, v INTEGER)";
    let error = execute(&database, sql).unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotSupported, "{error}");
    assert!(error.to_string().contains("HBase has a table T that Phoenix's catalog does not know"), "{error}");
    world.phoenix.fail("createTable");
    execute(&database, "CREATE TABLE u (k VARCHAR PRIMARY KEY, v INTEGER)").unwrap_err();
    world.cluster.put("U", b"k", ("0", "q"), b"v").unwrap();
    let error = execute(&database, "CREATE TABLE u (k VARCHAR PRIMARY KEY, v INTEGER)").unwrap_err();
    assert!(error.to_string().contains("it has rows"), "{error}");
}

/// A change that another client has made first is no obstacle: the statement is bound again.
#[test]
fn a_change_of_another_client_comes_first() {
    let (world, database) = open();
    done(&database, "CREATE TABLE t (k VARCHAR PRIMARY KEY, v INTEGER)");
    done(&database, "UPSERT INTO t VALUES ('a', 1)");
    world.phoenix.touch("T");
    done(&database, "ALTER TABLE t ADD w INTEGER");
    assert_eq!(rows(&database, "SELECT * FROM t WHERE k = 'a'"), ["a 1 -"]);
}

#[test]
fn what_phoenix_has_not_is_refused_by_name() {
    let (world, database) = open();
    done(&database, "CREATE TABLE t (k VARCHAR PRIMARY KEY, a INTEGER, b INTEGER, f.c VARCHAR)");
    done(&database, "CREATE TABLE names (k VARCHAR PRIMARY KEY, a INTEGER, b INTEGER) COLUMN_ENCODED_BYTES = 0");
    done(&database, "CREATE TABLE v (k VARCHAR PRIMARY KEY, f.a INTEGER, g.b INTEGER)");
    for (sql, reason) in [
        ("CREATE TABLE x (a INTEGER)", "declare one"),
        ("CREATE TABLE x (a VARCHAR NOT NULL, b VARCHAR NOT NULL, PRIMARY KEY (b, a))", "declare b, a so"),
        ("CREATE TABLE x (a VARCHAR PRIMARY KEY, b INTEGER NOT NULL)", "b is NOT NULL"),
        ("CREATE TABLE x (a VARCHAR PRIMARY KEY, b INTEGER CHECK (b > 0))", "CHECK"),
        ("CREATE TABLE x (a VARCHAR PRIMARY KEY, b UUID)", "b"),
        ("CREATE TABLE x (a VARCHAR PRIMARY KEY, b TIMESTAMP DEFAULT now())", "now()"),
        ("CREATE TABLE x (a VARCHAR PRIMARY KEY, b VARCHAR GENERATED ALWAYS AS (a || 'x'))", "generated"),
        ("CREATE TABLE x (a VARCHAR PRIMARY KEY) BLOCK_ROWS = 5", "BLOCK_ROWS"),
        (
            "CREATE TABLE x (a VARCHAR NOT NULL, b VARCHAR, PRIMARY KEY (a, b)) SALT_BUCKETS = 4, SALT_BY = (a)",
            "SALT_BY",
        ),
        ("CREATE TEMPORARY TABLE x (a VARCHAR PRIMARY KEY)", "temporary"),
        ("CREATE VIEW x AS SELECT * FROM t", "with Phoenix"),
        ("CREATE SEQUENCE x", "with Phoenix"),
        ("CREATE SCHEMA x", "CREATE TABLE s.t"),
        ("CREATE INDEX x ON t (a)", "with Phoenix"),
        ("ALTER TABLE t SET TTL = 5", "SET there"),
        ("ALTER TABLE t RENAME TO u", "names"),
        ("ALTER TABLE t ADD CHECK (a > 0)", "CHECK"),
        ("ALTER TABLE names DROP COLUMN b", "with Phoenix"),
        ("ALTER TABLE v DROP COLUMN f.a", "with Phoenix"),
        ("COMMENT ON TABLE t IS 'x'", "comments"),
        ("TRUNCATE TABLE t", "DELETE"),
        ("DROP TABLE t, names", "a DROP for each"),
        ("CREATE USER u PASSWORD 'p'", "users"),
    ] {
        let error = execute(&database, sql).expect_err(sql);
        assert_eq!(error.code(), ErrorCode::NotSupported, "{sql}: {error}");
        let text = format!("{error} {}", error.help().unwrap_or_default());
        assert!(text.contains(reason), "{sql}: {text}");
    }
    assert!(rows(&database, "SELECT a FROM t WHERE k = 'a'").is_empty());
    assert_eq!(shape(&world, "T").1, ["0", "F"]);
}
