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
    for kind in [StoreKind::Redb, StoreKind::Sled] {
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
        assert_eq!(rows(&connection, "SHOW TABLES FROM other"), ["other|t", "other|v"]);
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
        "CREATE OR REPLACE VIEW other.v AS SELECT k FROM t WHERE k = 1",
        "ALTER VIEW other.v ADD x INTEGER",
        "DROP VIEW other.v",
        "COMMENT ON VIEW other.v IS 'x'",
        "UPSERT INTO other.v VALUES ('c')",
        "DELETE FROM other.v WHERE host = 'a'",
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
    let view = connection.execute("CREATE VIEW x AS SELECT host FROM other.v WHERE host = 'a'", ()).unwrap_err();
    assert!(view.to_string().contains("view x would read other.v, a table of an attached database"), "{view}");
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

/// The views of the database below, with tables here that have the names of those in them.
#[cfg(feature = "datafusion")]
fn attached_views(folder: &Path) -> Connection {
    let path = folder.join("other");
    make(StoreKind::Redb, &path);
    let connection = Database::open(&path).unwrap().connect().blocking();
    run(
        &connection,
        &[
            "CREATE TABLE s.t (k INTEGER PRIMARY KEY, host VARCHAR)",
            "UPSERT INTO s.t VALUES (1, 'a'), (2, 'b')",
            // The alias of ATTACH below.
            "CREATE TABLE other.t (host VARCHAR PRIMARY KEY, v VARCHAR)",
            "UPSERT INTO other.t VALUES ('a', 'of the schema other')",
            "CREATE TABLE f (k INTEGER PRIMARY KEY, cf.a INTEGER, cg.a INTEGER)",
            "UPSERT INTO f (k, cf.a, cg.a) VALUES (1, 10, 20)",
            "CREATE VIEW all_of_t AS SELECT * FROM t",
            "CREATE VIEW with_name AS SELECT t.host, t.n FROM t WHERE t.n > 1",
            "CREATE VIEW s.u_of_one AS SELECT s.u.w FROM s.u WHERE s.u.k = 1",
            "CREATE VIEW short AS SELECT u.w FROM s.u WHERE u.k = 2",
            "CREATE VIEW over_view AS SELECT host FROM with_name WHERE n = 2",
            "CREATE VIEW \"Odd name\" AS SELECT host AS \"Der Host\" FROM T AS \"x y\" WHERE \"x y\".n = 1",
            "CREATE VIEW families AS SELECT k, f.cf.a AS b, cg.a AS c FROM f",
            "CREATE VIEW s.own (extra VARCHAR) AS SELECT * FROM t WHERE host = 'a'",
            "UPSERT INTO s.own (n, extra) VALUES (1, 'more')",
            "CREATE VIEW of_schema AS SELECT v FROM other.t WHERE host = 'a'",
            "CREATE VIEW of_catalog AS SELECT table_name FROM information_schema.tables",
            "COMMENT ON VIEW with_name IS 'some'",
        ],
    );
    if cfg!(feature = "datafusion") {
        run(
            &connection,
            &[
                "CREATE VIEW joined AS SELECT t.host, s.t.k, u.w FROM t JOIN s.t ON s.t.host = t.host JOIN s.u ON u.k = s.t.k WHERE t.n = 1",
                "CREATE VIEW counted AS SELECT t.host, count(*) AS n FROM t GROUP BY t.host ORDER BY t.host LIMIT 5",
                "CREATE VIEW with_queries AS WITH t AS (SELECT host, n FROM t WHERE n = 3), u AS (SELECT t.host FROM t) \
                 SELECT u.host, (SELECT max(x.w) FROM s.u AS x WHERE x.k > 0) AS w FROM u",
                "CREATE VIEW inner_names AS SELECT t.host FROM t WHERE t.n = 1 AND EXISTS (SELECT 1 FROM s.u AS t WHERE t.k = 1)",
                "CREATE VIEW correlated AS SELECT t.host FROM t WHERE t.n = 1 AND t.host IN (SELECT s.t.host FROM s.t WHERE s.t.k = t.n)",
                "CREATE VIEW united AS SELECT host FROM t WHERE n = 1 UNION SELECT host FROM s.t WHERE k > 0",
                "CREATE VIEW over_joined AS SELECT joined.w, t.v FROM joined JOIN t ON t.host = joined.host AND t.n = 2",
            ],
        );
    }
    drop(connection);
    let connection = own(&Database::memory().unwrap());
    connection.attach(&path, "other").unwrap();
    connection
}

#[cfg(feature = "datafusion")]
#[test]
fn views_of_an_attached_database_read_its_tables() {
    let folder = tempfile::tempdir().unwrap();
    let connection = attached_views(folder.path());
    let check = |sql: &str, wanted: &[&str]| assert_eq!(rows(&connection, sql), wanted, "{sql}");
    for executor in ["auto", "datafusion"] {
        run(&connection, &[&format!("SET executor = '{executor}'")]);
        check("SELECT n, v FROM other.all_of_t WHERE host = 'a' AND n > 1 ORDER BY n", &["2|y", "3|recent"]);
        check("SELECT n FROM OTHER.With_Name WHERE host = 'a' ORDER BY n", &["2", "3"]);
        check("SELECT other.with_name.n FROM other.with_name WHERE with_name.host = 'a' AND n = 2", &["2"]);
        check("SELECT w FROM other.s.u_of_one", &["one"]);
        check("SELECT w FROM other.short", &["two"]);
        check("SELECT host FROM other.over_view WHERE host = 'a'", &["a"]);
        check("SELECT \"Der Host\" FROM other.\"Odd name\" WHERE \"Der Host\" > 'a'", &["b"]);
        check("SELECT b, c FROM other.families WHERE k = 1", &["10|20"]);
        check("SELECT n, extra FROM other.s.own WHERE n = 1", &["1|more"]);
        check("SELECT v FROM other.of_schema", &["of the schema other"]);
    }
    run(&connection, &["SET executor = 'auto'"]);
    let plan = rows(&connection, "EXPLAIN SELECT n FROM other.with_name WHERE host = 'a'").join("\n");
    assert!(plan.contains("range of other.t as with_name, key (host, n)") && plan.contains("direct"), "{plan}");
    let refused = connection.query("SELECT n FROM other.with_name", ()).err().unwrap();
    assert_eq!(refused.code(), saltwing::ErrorCode::FullScanRefused);
    check("SELECT /*+ FULL_SCAN(other.with_name) */ COUNT(*) FROM other.with_name", &["2"]);
    let prepared = connection.prepare("SELECT n FROM other.with_name WHERE host = ?").unwrap();
    assert_eq!(
        prepared.query_one::<(i32,)>(params!["b"]).err().map(|error| error.code()),
        Some(saltwing::ErrorCode::NoRow)
    );
    run(&connection, &["CREATE TABLE copy PRIMARY KEY (n) AS SELECT n FROM other.with_name WHERE host = 'a'"]);
    check("SELECT COUNT(*) FROM copy WHERE n > 0", &["2"]);
    // Own tables, also temporary ones, are others.
    run(&connection, &["CREATE TEMP TABLE t (host VARCHAR PRIMARY KEY, n INTEGER)"]);
    check("SELECT n FROM other.with_name WHERE host = 'a' AND n = 2", &["2"]);
    run(&connection, &["DETACH other"]);
    assert_eq!(code(connection.query("SELECT n FROM other.with_name WHERE host = 'a'", ())), "no_such_schema");
}

#[cfg(feature = "datafusion")]
#[test]
fn views_of_several_tables_of_an_attached_database_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let connection = attached_views(folder.path());
    run(&connection, &["SET full_scan = 'allow'"]);
    for (sql, wanted) in [
        ("SELECT host, k, w FROM other.joined ORDER BY k", &["a|1|one", "b|2|two"][..]),
        ("SELECT host, n FROM other.counted ORDER BY host", &["a|3", "b|1"]),
        ("SELECT host, w FROM other.with_queries", &["a|two"]),
        ("SELECT host FROM other.inner_names ORDER BY host", &["a", "b"]),
        ("SELECT host FROM other.correlated", &["a"]),
        ("SELECT host FROM other.united ORDER BY host", &["a", "b"]),
        ("SELECT w, v FROM other.over_joined", &["one|y"]),
        ("SELECT t.k, j.w FROM t JOIN other.joined j ON j.host = t.host ORDER BY t.k", &["1|one", "2|two"]),
        (
            "WITH u AS (SELECT 1 AS k), t AS (SELECT 2 AS n) SELECT j.host, u.k, t.n FROM other.joined j, u, t WHERE j.k = 1",
            &["a|1|2"],
        ),
        ("SELECT k FROM t WHERE host = (SELECT max(host) FROM other.joined)", &["2"]),
    ] {
        assert_eq!(rows(&connection, sql), wanted, "{sql}");
    }
}

#[cfg(feature = "datafusion")]
#[test]
fn views_of_an_attached_database_are_shown_and_some_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let connection = attached_views(folder.path());
    let views = rows(&connection, "SHOW VIEWS FROM other");
    let place = |name: &str| views.iter().position(|row| *row == format!("other|{name}"));
    assert!(place("with_name").is_some() && place("with_name") < place("over_view"), "{views:?}");
    assert!(place("of_catalog").is_some(), "{views:?}");
    assert!(rows(&connection, "SHOW TABLES FROM other").contains(&"other|short".to_owned()));
    assert_eq!(rows(&connection, "SHOW VIEWS"), [""; 0]);
    let described = rows(&connection, "DESCRIBE other.with_name");
    assert!(described[0].starts_with("host|VARCHAR|"), "{described:?}");
    assert!(described.iter().any(|row| row.contains("USES|(view)") && row.contains("other.t")), "{described:?}");
    let created = rows(&connection, "SHOW CREATE VIEW other.with_name");
    assert!(created[0].ends_with("AS SELECT t.host, t.n FROM t WHERE t.n > 1"), "{created:?}");
    let unreadable = connection.query("SELECT table_name FROM other.of_catalog", ()).err().unwrap();
    assert_eq!(unreadable.code(), saltwing::ErrorCode::NotSupported);
    assert!(unreadable.to_string().contains("other.of_catalog is a view of an attached database"), "{unreadable}");
    let slip = connection.query("SELECT n FROM other.with_nam WHERE n = 1", ()).err().unwrap();
    assert_eq!(slip.help(), Some("there is other.with_name"));
    assert_eq!(code(connection.execute("COPY other.with_name FROM STDIN", ())), "read_only");
}
