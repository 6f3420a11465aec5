//! Temporary tables: whose they are, and when their rows go.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use saltwing::blocking::Connection;
use saltwing::{Database, Error, params};
use saltwing_access::{Budget, ScanContext, SystemClock};
use saltwing_catalog::ReadableCatalog;
use saltwing_store::{Access, OpenOptions, OrderedKv};
use saltwing_table::EmbeddedTables;

use crate::{code, texts};

const CHILD: &str = "SALTWING_TEST_TEMPORARY_IN";

/// A stored table, and a temporary one that hides it: with rows in blocks, and recent ones.
const STORED_AND_HIDDEN: [&str; 8] = [
    "CREATE TABLE t (k INTEGER PRIMARY KEY, v VARCHAR)",
    "UPSERT INTO t VALUES (1, 'stored')",
    "CREATE TEMP TABLE t (k INTEGER PRIMARY KEY, v VARCHAR)",
    "UPSERT INTO t VALUES (1, 'temporary'), (2, 'temporary')",
    "CREATE INDEX by_v ON t (v)",
    "COMPACT t",
    "UPSERT INTO t VALUES (3, 'recent')",
    "ALTER INDEX by_v ON t REBUILD",
];

fn run(connection: &Connection, statements: &[&str]) {
    for sql in statements {
        connection.execute(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

fn value(connection: &Connection, sql: &str) -> Result<String, Error> {
    Ok(texts(connection, sql)?.join(" "))
}

/// Of a closed database: the tables whose rows are still to be deleted, and those that have rows and no definition.
fn leftovers(path: &Path) -> (usize, usize) {
    let options = OpenOptions { access: Access::ReadOnly, cache_bytes: 1 << 20, trace: None };
    let kv: Arc<dyn OrderedKv> = Arc::new(saltwing_redb::open(path, options).unwrap());
    let context = ScanContext::new(Budget::default());
    let (tables, _) = EmbeddedTables::open_readable(kv, Arc::new(SystemClock), &context).unwrap();
    let dropped = ReadableCatalog::read(&tables, &context).unwrap().dropped.len();
    (dropped, tables.strangers().len())
}

#[test]
fn clones_and_transactions_of_a_connection_share_its_tables() {
    let database = Database::memory().unwrap();
    let (connection, other) = (database.connect().blocking(), database.connect().blocking());
    run(&connection, &["CREATE TEMP TABLE t (k INTEGER PRIMARY KEY, v VARCHAR)", "UPSERT INTO t VALUES (1, 'a')"]);
    let clone = connection.with_settings(|settings| settings.rows_max = Some(100));
    assert_eq!(value(&clone, "SELECT v FROM t WHERE k = 1").unwrap(), "a");
    let transaction = connection.begin().unwrap();
    run(&transaction, &["UPSERT INTO t VALUES (2, 'b')"]);
    assert_eq!(value(&transaction, "SELECT COUNT(*) FROM t WHERE k > 0").unwrap(), "2");
    assert_eq!(value(&connection, "SELECT COUNT(*) FROM t WHERE k > 0").unwrap(), "1");
    transaction.commit().unwrap();
    assert_eq!(value(&connection, "SELECT COUNT(*) FROM t WHERE k > 0").unwrap(), "2");
    assert_eq!(code(other.query("SELECT v FROM t WHERE k = 1", ())), "no_such_table");
    // The tables are there as long as one of the clones is.
    drop(connection);
    assert_eq!(value(&clone, "SELECT v FROM t WHERE k = 2").unwrap(), "b");
}

/// A plan that is kept for one of the tables is not used for the other one.
#[test]
fn prepared_statements_find_the_table_of_the_moment() {
    let database = Database::memory().unwrap();
    let (connection, other) = (database.connect().blocking(), database.connect().blocking());
    run(&connection, &["CREATE TABLE t (k INTEGER PRIMARY KEY, v VARCHAR)", "UPSERT INTO t VALUES (1, 'stored')"]);
    let mut texts = vec!["SELECT v FROM t WHERE k = ?"];
    if cfg!(feature = "datafusion") {
        texts.push("SELECT MAX(x.v) FROM t x JOIN t y ON x.k = y.k WHERE x.k = ?");
    }
    let all =
        |connection: &Connection| -> Vec<_> { texts.iter().map(|sql| connection.prepare(sql).unwrap()).collect() };
    let (own, of_other) = (all(&connection), all(&other));
    let upsert = connection.prepare("UPSERT INTO t VALUES (?, ?)").unwrap();
    let check = |wanted: &str, of_other_wanted: &str| {
        for _ in 0..3 {
            for (statement, sql) in own.iter().zip(&texts) {
                assert_eq!(statement.query_one::<(String,)>(params![1]).unwrap().0, wanted, "{sql}");
                assert_eq!(connection.query_one::<(String,)>(sql, params![1]).unwrap().0, wanted, "{sql}");
            }
            for (statement, sql) in of_other.iter().zip(&texts) {
                assert_eq!(statement.query_one::<(String,)>(params![1]).unwrap().0, of_other_wanted, "{sql}");
                assert_eq!(other.query_one::<(String,)>(sql, params![1]).unwrap().0, of_other_wanted, "{sql}");
            }
        }
    };
    check("stored", "stored");
    run(&connection, &["CREATE TEMP TABLE t (k INTEGER PRIMARY KEY, v VARCHAR)"]);
    upsert.execute(params![1, "temporary"]).unwrap();
    check("temporary", "stored");
    run(
        &other,
        &["CREATE TEMP TABLE t (v VARCHAR, k INTEGER PRIMARY KEY)", "UPSERT INTO t (k, v) VALUES (1, 'third')"],
    );
    check("temporary", "third");
    run(&connection, &["DROP TABLE t"]);
    upsert.execute(params![1, "changed"]).unwrap();
    check("changed", "third");
    run(&connection, &["ALTER TABLE t ADD w INTEGER"]);
    check("changed", "third");
}

#[test]
fn an_appender_and_copy_fill_a_temporary_table() {
    let folder = tempfile::tempdir().unwrap();
    let connection = Database::memory().unwrap().connect().blocking();
    run(
        &connection,
        &[
            "CREATE TABLE t (k INTEGER PRIMARY KEY, v VARCHAR)",
            "CREATE TEMP TABLE t (k INTEGER PRIMARY KEY, v VARCHAR)",
        ],
    );
    let mut appender = connection.appender("t").unwrap();
    for k in 0..100 {
        appender.append_row(params![k, "a"]).unwrap();
    }
    appender.close().unwrap();
    let file = folder.path().join("t.csv");
    std::fs::write(&file, "100,b\n101,c\n").unwrap();
    run(&connection, &[&format!("COPY t FROM '{}'", file.display())]);
    assert_eq!(value(&connection, "SELECT COUNT(*) FROM temp.t WHERE k >= 0").unwrap(), "102");
    let copy = folder.path().join("copy.csv");
    run(&connection, &[&format!("COPY t TO '{}'", copy.display())]);
    assert_eq!(std::fs::read_to_string(copy).unwrap().lines().count(), 102);
    run(&connection, &["DROP TABLE t"]);
    assert_eq!(value(&connection, "SELECT COUNT(*) FROM t WHERE k >= 0").unwrap(), "0");
}

/// A plan that is kept for the index of one table is not used for another one of its name.
#[test]
fn prepared_statements_find_the_index_of_the_moment() {
    let connection = Database::memory().unwrap().connect().blocking();
    run(&connection, &["CREATE TABLE t (k INTEGER PRIMARY KEY, v VARCHAR)", "UPSERT INTO t VALUES (1, 'a')"]);
    run(&connection, &["CREATE INDEX by_v ON t (v)"]);
    let select = connection.prepare("SELECT k FROM t WHERE v = ?").unwrap();
    let found = || select.query_one::<(i32,)>(params!["a"]).map(|row| row.0);
    assert_eq!(found().unwrap(), 1);
    run(&connection, &["CREATE TEMP TABLE t (k INTEGER PRIMARY KEY, v VARCHAR)", "UPSERT INTO t VALUES (2, 'a')"]);
    assert_eq!(code(found()), "full_scan_refused");
    run(&connection, &["CREATE INDEX by_v ON t (v)"]);
    assert_eq!(found().unwrap(), 2);
    run(&connection, &["DROP INDEX by_v ON t"]);
    assert_eq!(code(found()), "full_scan_refused");
    run(&connection, &["DROP TABLE t"]);
    assert_eq!(found().unwrap(), 1);
}

/// A sweep leaves the tables of sessions alone, and a check knows them.
#[test]
fn a_sweep_and_a_check_pass_by_temporary_tables() {
    let database = Database::memory().unwrap();
    let connection = database.connect().blocking();
    run(&connection, &["CREATE TEMP TABLE t (k INTEGER PRIMARY KEY, v VARCHAR)", "UPSERT INTO t VALUES (1, 'a')"]);
    run(&connection, &["CREATE INDEX by_v ON t (v)"]);
    for rest in [2, 3] {
        database.sweep().unwrap();
        assert_eq!(texts(&connection, "SELECT v FROM t WHERE k > 0").unwrap(), ["a"]);
        assert_eq!(texts(&connection, "SELECT k FROM t WHERE v = 'a'").unwrap(), [(rest - 1).to_string()]);
        let report = database.check().unwrap();
        assert!(report.is_sound(), "{:?}", report.faults);
        run(&connection, &["TRUNCATE TABLE t", &format!("UPSERT INTO t VALUES ({rest}, 'a')")]);
    }
}

#[test]
fn a_closed_database_has_nothing_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let database = Database::open(&path).unwrap();
    let connection = database.connect().blocking();
    run(&connection, &STORED_AND_HIDDEN);
    drop((connection, database));
    assert_eq!(leftovers(&path), (0, 0));
    let readonly = Database::builder(&path).readonly(true).open().unwrap().connect().blocking();
    assert_eq!(value(&readonly, "SELECT v FROM t WHERE k > 0").unwrap(), "stored");
    assert_eq!(code(readonly.execute("CREATE TEMP TABLE u (k INTEGER PRIMARY KEY)", ())), "read_only");
}

/// Not a test of its own: the process that is killed.
#[test]
fn has_temporary_tables_until_it_is_killed() {
    let Ok(path) = std::env::var(CHILD) else { return };
    let database = Database::open(path).unwrap();
    let connection = database.connect().blocking();
    run(&connection, &STORED_AND_HIDDEN);
    run(
        &connection,
        &[
            "CREATE TEMP TABLE u (k INTEGER PRIMARY KEY)",
            "CREATE INDEX of_u ON u (k DESC)",
            "UPSERT INTO u VALUES (1)",
            "TRUNCATE TABLE u",
            "UPSERT INTO u VALUES (2)",
            "CREATE INDEX gone ON u (k)",
            "DROP INDEX gone ON u",
        ],
    );
    println!("filled");
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

#[test]
fn the_next_opening_removes_what_a_killed_process_has_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "temporary_tables::has_temporary_tables_until_it_is_killed", "--nocapture"])
        .env(CHILD, &path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.ends_with("filled")));
    child.kill().unwrap();
    child.wait().unwrap();
    // Two tables, each with an index.
    assert_eq!(leftovers(&path), (4, 4));
    assert!(Database::builder(&path).check().unwrap().is_sound());
    let database = Database::open(&path).unwrap();
    let connection = database.connect().blocking();
    assert_eq!(value(&connection, "SELECT v FROM t WHERE k > 0").unwrap(), "stored");
    assert_eq!(code(connection.query("SELECT k FROM u WHERE k = 2", ())), "no_such_table");
    database.sweep().unwrap();
    drop((connection, database));
    assert_eq!(leftovers(&path), (0, 0));
}
