//! What an error knows of itself, and what it advises.

use saltwing::blocking::Connection;
use saltwing::{Database, Error, ErrorCode};

fn connection() -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE n (k INTEGER NOT NULL PRIMARY KEY, v INTEGER, s VARCHAR(3))", ()).unwrap();
    connection.execute("CREATE TABLE m (k INTEGER NOT NULL PRIMARY KEY, v INTEGER)", ()).unwrap();
    connection.execute("UPSERT INTO n VALUES (1, 10, 'a')", ()).unwrap();
    connection
}

fn fails(connection: &Connection, sql: &str) -> Error {
    match connection.execute(sql, ()) {
        Ok(_) => panic!("{sql} ran"),
        Err(error) => error,
    }
}

#[test]
fn debug_is_the_rendered_text() {
    let connection = connection();
    let sql = "SELECT vv FROM n WHERE k = 1";
    let error = fails(&connection, sql);
    assert_eq!(format!("{error:?}"), error.render(sql));
    assert_eq!(error.sql(), Some(sql));
    assert!(format!("{error:?}").contains("^^"), "{error:?}");
    let error = connection.prepare(sql).map(drop).unwrap_err();
    assert_eq!(error.sql(), Some(sql));
    let error = connection.execute_batch("SELECT 1; SELEC 2").map(drop).unwrap_err();
    assert_eq!(format!("{error:?}"), error.render("SELECT 1; SELEC 2"));
    // An error of a later row knows its statement too.
    let sql = "SELECT 10 / (k - 1) FROM n WHERE k = 1";
    let error = connection.query(sql, ()).and_then(|rows| rows.collect::<Result<Vec<_>, _>>()).unwrap_err();
    assert_eq!((error.code(), error.sql()), (ErrorCode::DivisionByZero, Some(sql)));
}

#[test]
fn table_column_and_key_are_data() {
    let connection = connection();
    for (sql, table, column, key) in [
        ("SELECT vv FROM n WHERE k = 1", Some("n"), Some("vv"), None),
        ("SELECT * FROM nn", Some("nn"), None, None),
        ("SELECT * FROM n WHERE v = 1", Some("n"), Some("k"), None),
        ("INSERT INTO n VALUES (1, 2, 'b')", Some("n"), None, Some("1")),
        ("UPSERT INTO n VALUES (NULL, 2, 'b')", Some("n"), Some("k"), None),
        ("UPSERT INTO n VALUES (1, 2, 'abcd')", Some("n"), Some("s"), None),
        ("SELECT 1 / 0", None, None, None),
    ] {
        let error = fails(&connection, sql);
        assert_eq!((error.table(), error.column(), error.key()), (table, column, key), "{error:?}");
    }
}

#[test]
fn a_refusal_names_all_tables_and_the_statements_own_form() {
    let connection = connection();
    for (sql, tables, hint) in [
        ("SELECT k FROM n WHERE k IN (SELECT v FROM m)", &["all of m:"][..], "SELECT /*+ FULL_SCAN(m) */ .."),
        ("SELECT * FROM n, m", &["2 tables, n and m"], "SELECT /*+ FULL_SCAN(m, n) */ .."),
        (
            "SELECT * FROM n WHERE v = 1 AND s > (SELECT max(v)::VARCHAR FROM m)",
            &["2 tables, n and m", "n: v = 1 does not count", "m: no condition bounds k"],
            "SELECT /*+ FULL_SCAN(m, n) */ ..",
        ),
        ("DELETE FROM n WHERE v = 1", &["all of n:"], "DELETE /*+ FULL_SCAN(n) */ FROM .."),
        ("DELETE FROM n WHERE k IN (SELECT v FROM m)", &["all of m:"], "DELETE /*+ FULL_SCAN(m) */ FROM .."),
        ("UPSERT INTO n (k, v) SELECT * FROM m", &["all of m:"], "UPSERT /*+ FULL_SCAN(m) */ INTO .."),
        ("INSERT INTO n (k, v) SELECT * FROM m", &["all of m:"], "INSERT /*+ FULL_SCAN(m) */ INTO .."),
    ] {
        let error = fails(&connection, sql);
        let text = format!("{error:?}");
        assert_eq!(error.code(), ErrorCode::FullScanRefused, "{text}");
        assert!(tables.iter().all(|part| text.contains(part)), "{text}");
        assert!(
            text.contains(hint) && text.contains("ALTER TABLE") && text.contains("SET FULL_SCAN = 'allow'"),
            "{text}"
        );
        let prepared = connection.prepare(sql).map(drop).unwrap_err();
        assert_eq!(format!("{prepared:?}"), text);
        // The advice is right: with the hint it runs.
        let words: Vec<&str> = hint.split(" /*+").collect();
        let hinted = hint.split("*/").next().unwrap().to_owned() + "*/";
        connection.execute(&sql.replacen(words[0], &hinted, 1), ()).unwrap();
    }
}

#[test]
fn a_text_in_double_quotes_and_near_names() {
    let connection = connection();
    let help = |sql: &str| fails(&connection, sql).help().unwrap_or_default().to_owned();
    assert!(help("SELECT k FROM n WHERE s = \"abc\" AND k = 1").contains("text stands in single quotes: 'abc'"));
    assert!(help("SELECT n.k FROM n JOIN m ON n.k = m.k WHERE s = \"abc\"").contains("single quotes: 'abc'"));
    assert_eq!(help("SELECT cuont(k) FROM n WHERE k = 1"), "there is COUNT");
    for name in ["last_week", "epoch_days", "typename"] {
        assert_eq!(help(&format!("SELECT {name}(k) FROM n WHERE k = 1")), "", "{name}");
    }
}

/// Who prints an error with its sources says nothing twice.
#[test]
fn an_error_has_its_causes_in_its_text_alone() {
    let connection = connection();
    for sql in
        ["SELECT vv FROM n WHERE k = 1", "SELECT 1 / (k - 1) FROM n WHERE k = 1", "SELEC", "COPY n FROM '/no/such'"]
    {
        let error = fails(&connection, sql);
        assert!(std::error::Error::source(&error).is_none(), "{error:?}");
    }
    assert_eq!(fails(&connection, "SELEC").io_kind(), None);
    struct Closed;
    impl std::io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let error = connection.copy_to_writer("COPY n TO STDOUT", (), Closed).unwrap_err();
    assert_eq!(error.io_kind(), Some(std::io::ErrorKind::BrokenPipe), "{error:?}");
}

#[test]
fn a_conflict_names_the_row_by_its_values() {
    let database = Database::memory().unwrap();
    let (first, second) = (database.connect().blocking(), database.connect().blocking());
    first.execute("CREATE TABLE p (a VARCHAR NOT NULL, b BIGINT NOT NULL, v BIGINT, PRIMARY KEY (a, b DESC)) SALT_BUCKETS = 3", ()).unwrap();
    first.execute("BEGIN", ()).unwrap();
    first.execute("UPSERT INTO p VALUES ('it''s', 7, 1)", ()).unwrap();
    second.execute("UPSERT INTO p VALUES ('it''s', 7, 2)", ()).unwrap();
    let error = fails(&first, "COMMIT");
    assert_eq!((error.code(), error.table(), error.key()), (ErrorCode::Conflict, Some("p"), Some("'it''s', 7")));
    assert_eq!(error.to_string(), "another transaction wrote the row ('it''s', 7) of p first");
}

/// The guard judges the values of parameters, too; its refusal says so where PREPARE had allowed the statement.
#[test]
fn a_refusal_for_values_says_so() {
    let connection = connection();
    connection.execute("CREATE TABLE w (host VARCHAR NOT NULL PRIMARY KEY, v BIGINT)", ()).unwrap();
    let advice = "the statement is allowed for other values of its parameters";
    for (sql, value) in [
        ("SELECT v FROM w WHERE host >= ?", ""),
        ("SELECT v FROM w WHERE host LIKE ?", "%"),
        ("UPDATE w SET v = 1 WHERE host >= ?", ""),
        ("DELETE FROM w WHERE host >= ?", ""),
        ("SELECT count(*) FROM w x JOIN w y ON x.host = y.host WHERE x.host >= ?", ""),
    ] {
        let statement = connection.prepare(sql).unwrap();
        for error in [statement.execute((value,)).unwrap_err(), connection.execute(sql, (value,)).unwrap_err()] {
            assert_eq!(error.code(), ErrorCode::FullScanRefused, "{sql}");
            assert!(error.help().unwrap().starts_with(advice), "{sql}: {:?}", error.help());
        }
        statement.execute(("a",)).unwrap();
    }
    // One that is refused whatever its values are has nothing of it.
    let error = connection.execute("SELECT v FROM w WHERE v = ?", (1,)).unwrap_err();
    assert!(!error.help().unwrap().contains(advice), "{:?}", error.help());
}

#[test]
fn an_array_in_a_list_is_advised_to_be_any() {
    let connection = connection();
    for (sql, wanted) in [
        ("SELECT v FROM n WHERE k IN (?)", "write k = ANY(?)"),
        ("SELECT v FROM n WHERE k = 1 AND v NOT IN (?)", "write v <> ALL(?)"),
    ] {
        let error = connection.query(sql, (vec![1, 2],)).map(drop).unwrap_err();
        assert!(error.help().is_some_and(|help| help.contains(wanted)), "{sql}: {error:?}");
    }
}

#[test]
fn a_refused_write_points_at_its_table() {
    let connection = connection();
    for (sql, line, columns) in [
        ("UPDATE n SET v = v + 1", 1, 8..=8),
        ("\n\nUPDATE n SET v = v + 1", 3, 8..=8),
        ("UPDATE\n  n AS x SET v = x.v + 1", 2, 3..=3),
        ("\nUPDATE n SET v = m.v FROM m WHERE m.k = 1", 2, 8..=8),
        ("\nDELETE FROM n", 2, 13..=13),
    ] {
        let error = fails(&connection, sql);
        let span = error.span().unwrap();
        assert_eq!((span.start.line, span.end.line), (line, line), "{error:?}");
        assert_eq!((span.start.column, span.end.column), (*columns.start(), *columns.end()), "{error:?}");
    }
}

#[test]
fn words_of_other_databases_have_advice() {
    let connection = connection();
    for (sql, advice) in [
        ("SELECT k FROM n WHERE k = 1 ORDER k", "write ORDER BY"),
        ("SELECT v, count(*) FROM n WHERE k = 1 GROUP v", "write GROUP BY"),
        ("VACUUM", "COMPACT"),
        ("VACUUM n", "COMPACT"),
        ("OPTIMIZE TABLE n", "COMPACT"),
        ("ANALYZE n", "EXPLAIN ANALYZE"),
        ("PRAGMA integrity_check", "DESCRIBE"),
        ("REINDEX n", "REBUILD"),
    ] {
        let error = fails(&connection, sql);
        assert!(error.help().is_some_and(|help| help.contains(advice)), "{error:?}");
    }
}
