//! ATTACH: the tables of another database in queries.

use std::path::Path;

use saltwing::blocking::Connection;
use saltwing::{Database, StoreKind, params};

use crate::{code, texts};

fn run(connection: &Connection, statements: &[&str]) {
    for sql in statements {
        connection.execute(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

fn rows(connection: &Connection, sql: &str) -> Vec<String> {
    texts(connection, sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// Tables whose numbers are those of other tables in the database that attaches it.
fn make(kind: StoreKind, path: &Path) {
    let connection = Database::builder(path).store(kind).open().unwrap().connect().blocking();
    run(
        &connection,
        &[
            "CREATE TABLE t (host VARCHAR NOT NULL, n INTEGER NOT NULL, v VARCHAR, CONSTRAINT pk PRIMARY KEY (host, n))",
            "UPSERT INTO t VALUES ('a', 1, 'x'), ('a', 2, 'y'), ('b', 1, 'z')",
            "COMPACT t",
            "UPSERT INTO t VALUES ('a', 3, 'recent')",
            "CREATE TABLE s.u (k INTEGER PRIMARY KEY, w VARCHAR) SALT_BUCKETS = 3",
            "UPSERT INTO s.u VALUES (1, 'one'), (2, 'two')",
            "CREATE VIEW v AS SELECT host FROM t WHERE n = 1",
        ],
    );
}

fn own(database: &Database) -> Connection {
    let connection = database.connect().blocking();
    run(
        &connection,
        &[
            "CREATE TABLE t (k INTEGER PRIMARY KEY, host VARCHAR)",
            "UPSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')",
            "CREATE TABLE u (x VARCHAR PRIMARY KEY)",
        ],
    );
    connection
}

#[test]
fn queries_read_the_tables_of_an_attached_database() {
    for kind in [StoreKind::Redb, StoreKind::Fjall] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other");
        make(kind, &path);
        let database = Database::memory().unwrap();
        let connection = own(&database);
        connection.attach(&path, "other").unwrap();
        for executor in if cfg!(feature = "datafusion") { &["auto", "datafusion"][..] } else { &["auto"] } {
            run(&connection, &[&format!("SET executor = '{executor}'")]);
            for _ in 0..3 {
                let check =
                    |sql: &str, wanted: &[&str]| assert_eq!(rows(&connection, sql), wanted, "{executor}: {sql}");
                check("SELECT v FROM other.t WHERE host = 'a' AND n = 2", &["y"]);
                check("SELECT n, v FROM other.t WHERE host = 'a' AND n > 1 ORDER BY n", &["2|y", "3|recent"]);
                check("SELECT w FROM other.s.u WHERE k IN (1, 2) ORDER BY k", &["one", "two"]);
                check("SELECT x.w FROM OTHER.S.U AS x WHERE x.k = 2", &["two"]);
                check("SELECT COUNT(*) FROM other.t WHERE host = 'a'", &["3"]);
                check("SELECT t.host FROM t WHERE k = 2", &["b"]);
            }
        }
        run(&connection, &["SET executor = DEFAULT"]);
        let prepared = connection.prepare("SELECT v FROM other.t WHERE host = ? AND n = ?").unwrap();
        for (host, n, v) in [("a", 1, "x"), ("b", 1, "z")] {
            assert_eq!(prepared.query_one::<(String,)>(params![host, n]).unwrap().0, v);
        }
        // The guard and the plan are those of any table.
        assert_eq!(code(connection.query("SELECT v FROM other.t WHERE n = 1", ())), "full_scan_refused");
        let plan = rows(&connection, "EXPLAIN SELECT v FROM other.t WHERE host = 'a' AND n > 1").join("\n");
        assert!(plan.contains("range of other.t, key (host, n)"), "{plan}");
        if cfg!(feature = "datafusion") {
            let join =
                "SELECT t.k, o.v FROM t JOIN other.t o ON o.host = t.host WHERE t.k IN (1, 2) AND o.n = 1 ORDER BY t.k";
            (0..3).for_each(|_| assert_eq!(rows(&connection, join), ["1|x", "2|z"]));
            let sql =
                "SELECT k FROM t WHERE host = (SELECT MIN(host) FROM other.t WHERE n = 1 AND host > 'a') AND k > 0";
            assert_eq!(rows(&connection, sql), ["2"]);
        }
        run(&connection, &["CREATE TABLE copy PRIMARY KEY (host, n) AS SELECT * FROM other.t WHERE host >= 'a'"]);
        run(&connection, &["INSERT INTO u SELECT w FROM other.s.u WHERE k > 0"]);
        assert_eq!(rows(&connection, "SELECT COUNT(*) FROM copy WHERE host = 'a'"), ["3"]);
        assert_eq!(rows(&connection, "SELECT x FROM u WHERE x > 'a' ORDER BY x"), ["one", "two"]);
        assert_eq!(rows(&connection, "SHOW TABLES FROM other"), ["other|t"]);
        assert_eq!(rows(&connection, "SHOW TABLES"), ["NULL|copy", "NULL|t", "NULL|u"]);
        assert_eq!(rows(&connection, "SHOW ATTACHED"), [format!("other|{}", path.display())]);
        assert!(rows(&connection, "DESCRIBE other.s.u")[0].starts_with("k|INTEGER|"));
        // Of this connection alone, and its clones.
        let other = database.connect().blocking();
        assert_eq!(code(other.query("SELECT v FROM other.t WHERE host = 'a'", ())), "no_such_schema");
        let clone = connection.with_settings(|settings| settings.rows_max = Some(1_000));
        assert_eq!(rows(&clone, "SELECT COUNT(*) FROM other.s.u WHERE k > 0"), ["2"]);
    }
}

#[test]
fn an_attached_database_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other");
    make(StoreKind::Redb, &path);
    let database = Database::memory().unwrap();
    let connection = own(&database);
    connection.attach(&path, "other").unwrap();
    for sql in [
        "UPSERT INTO other.t VALUES ('a', 9, 'q')",
        "INSERT INTO other.s.u VALUES (9, 'q')",
        "UPDATE other.t SET v = 'q' WHERE host = 'a' AND n = 1",
        "DELETE FROM other.t WHERE host = 'a'",
        "TRUNCATE TABLE other.t",
        "DROP TABLE other.t",
        "DROP TABLE IF EXISTS other.t",
        "ALTER TABLE other.t ADD x INTEGER",
        "COMMENT ON TABLE other.t IS 'x'",
        "COMPACT other.t",
        "CREATE TABLE other.x (k INTEGER PRIMARY KEY)",
        "CREATE TEMP TABLE other.x (k INTEGER PRIMARY KEY)",
        "CREATE TABLE other.x PRIMARY KEY (k) AS SELECT k FROM t WHERE k = 1",
        "CREATE VIEW other.x AS SELECT k FROM t WHERE k = 1",
        "CREATE SEQUENCE other.s",
        "CREATE SCHEMA other",
        "SHOW STORAGE FOR other.t",
        "EXPLAIN DELETE FROM other.t WHERE host = 'a'",
    ] {
        assert_eq!(code(connection.execute(sql, ())), "read_only", "{sql}");
    }
    assert_eq!(code(connection.appender("other.t").map(drop)), "read_only");
    assert_eq!(code(connection.copy_from_reader("COPY other.t FROM STDIN", &mut &b"a,1,x\n"[..])), "read_only");
    let view = connection.execute("CREATE VIEW x AS SELECT k FROM other.s.u WHERE k = 1", ()).unwrap_err();
    assert!(view.to_string().contains("view x would read other.s.u, a table of an attached database"), "{view}");
    assert_eq!(code(connection.query("SELECT host FROM other.v WHERE host = 'a'", ())), "not_supported");
    assert_eq!(rows(&connection, "SELECT COUNT(*) FROM t WHERE k > 0"), ["3"]);
    assert_eq!(rows(&connection, "SELECT COUNT(*) FROM other.t WHERE host = 'a'"), ["3"]);
}

#[test]
fn attaching_fails_as_opening_does_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (path, empty) = (folder.path().join("other"), folder.path().join("empty"));
    make(StoreKind::Redb, &path);
    std::fs::create_dir(&empty).unwrap();
    let connection = own(&Database::memory().unwrap());
    let opening = |path: &Path| Database::builder(path).readonly(true).create(false).open().err().unwrap().to_string();
    for path in [folder.path().join("missing"), empty] {
        let error = connection.attach(&path, "other").unwrap_err();
        assert!(error.to_string().contains(&opening(&path)), "{error}");
    }
    let writer = Database::open(&path).unwrap();
    assert_eq!(code(connection.attach(&path, "other")), "locked");
    drop(writer);
    run(&connection, &["CREATE SCHEMA taken"]);
    for (alias, wanted) in
        [("taken", "duplicate_schema"), ("temp", "invalid_definition"), ("a.b", "invalid_definition")]
    {
        assert_eq!(code(connection.attach(&path, alias)), wanted, "{alias}");
    }
    assert_eq!(code(connection.execute("DETACH other", ())), "no_such_schema");
    run(&connection, &["BEGIN"]);
    assert_eq!(code(connection.attach(&path, "other")), "active_transaction");
    run(&connection, &["ROLLBACK"]);
    connection.attach(&path, "other").unwrap();
    assert_eq!(code(connection.attach(&path, "OTHER")), "duplicate_schema");
    // Readers share the database; a writer waits until it is detached.
    drop(Database::builder(&path).readonly(true).open().unwrap());
    assert_eq!(rows(&connection, "SELECT v FROM other.t WHERE host = 'b'"), ["z"]);
    assert_eq!(code(Database::open(&path).map(drop)), "locked");
    run(&connection, &["DETACH other"]);
    assert_eq!(code(connection.query("SELECT v FROM other.t WHERE host = 'b'", ())), "no_such_schema");
    assert_eq!(rows(&connection, "SHOW ATTACHED"), [""; 0]);
    run(&Database::open(&path).unwrap().connect().blocking(), &["UPSERT INTO t VALUES ('b', 1, 'changed')"]);
    connection.attach(&path, "again").unwrap();
    assert_eq!(rows(&connection, "SELECT v FROM again.t WHERE host = 'b'"), ["changed"]);
    let closed =
        Database::memory_builder().file_access(saltwing::FileAccess::None).open().unwrap().connect().blocking();
    assert_eq!(code(closed.attach(&path, "other")), "file_access_refused");
}

/// Every statement of a transaction has the databases of its beginning, and one snapshot of each.
#[test]
fn a_transaction_reads_the_databases_of_its_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other");
    make(StoreKind::Redb, &path);
    let connection = own(&Database::memory().unwrap());
    connection.attach(&path, "other").unwrap();
    let transaction = connection.begin().unwrap();
    run(&transaction, &["INSERT INTO u SELECT w FROM other.s.u WHERE k = 1", "UPSERT INTO t VALUES (9, 'b')"]);
    run(&connection, &["DETACH other"]);
    assert_eq!(rows(&transaction, "SELECT v FROM other.t WHERE host = 'b' AND n = 1"), ["z"]);
    assert_eq!(code(connection.query("SELECT v FROM other.t WHERE host = 'b'", ())), "no_such_schema");
    if cfg!(feature = "datafusion") {
        let sql = "SELECT o.v FROM t JOIN other.t o ON o.host = t.host WHERE t.k = 9 AND o.n = 1";
        assert_eq!(rows(&transaction, sql), ["z"]);
    }
    transaction.commit().unwrap();
    assert_eq!(rows(&connection, "SELECT x FROM u WHERE x > 'a'"), ["one"]);
}
