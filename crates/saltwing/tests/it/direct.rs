//! The library without its relational engine: single tables.

use saltwing::{Database, Params, params};

use crate::{code, texts};

#[test]
fn rows_go_in_and_come_out() {
    let connection = Database::memory().unwrap().connect().blocking();
    connection
        .execute("CREATE TABLE log (host VARCHAR NOT NULL, ts BIGINT NOT NULL, up INTEGER, url VARCHAR DEFAULT '-', CONSTRAINT pk PRIMARY KEY (host, ts DESC)) SALT_BUCKETS=4", ())
        .unwrap();
    let written = connection
        .execute("UPSERT INTO log VALUES ('a', 1, 10, '/x'), ('a', 2, 20, '/y'), ('b', 1, NULL, NULL)", ())
        .unwrap();
    assert_eq!(written.rows_affected, 3);
    connection.execute("UPSERT INTO log (ts, host) VALUES (?, ?)", params![3, "a"]).unwrap();
    assert_eq!(
        texts(&connection, "SELECT * FROM log WHERE host = 'a' ORDER BY host, ts DESC").unwrap(),
        ["a|3|NULL|-", "a|2|20|/y", "a|1|10|/x"]
    );
    assert_eq!(
        texts(&connection, "SELECT ts, up + 1 AS u FROM log WHERE host = 'a' AND up > 5 ORDER BY ts").unwrap(),
        ["1|11", "2|21"]
    );
    assert_eq!(texts(&connection, "SELECT COUNT(*) FROM log WHERE host IN ('a', 'b')").unwrap(), ["4"]);
    assert_eq!(texts(&connection, "SELECT ts FROM log WHERE host = 'a' ORDER BY ts LIMIT 1 OFFSET 1").unwrap(), ["2"]);
    assert_eq!(code(texts(&connection, "SELECT * FROM log WHERE up = 10")), "full_scan_refused");
    assert_eq!(texts(&connection, "SELECT /*+ FULL_SCAN(log) */ ts FROM log WHERE up = 10").unwrap(), ["1"]);
    assert_eq!(code(connection.execute("INSERT INTO log (host, ts) VALUES ('a', 1)", ())), "duplicate_key");
    connection.execute("UPSERT INTO log (host, ts, up) VALUES ('a', 1, 11)", ()).unwrap();
    assert_eq!(texts(&connection, "SELECT up, url FROM log WHERE host = 'a' AND ts = 1").unwrap(), ["11|/x"]);
    let deleted = connection.execute("DELETE FROM log WHERE host = 'a' AND ts >= 2", ()).unwrap();
    assert_eq!(deleted.rows_affected, 2);
    assert_eq!(texts(&connection, "SELECT _row_key FROM log WHERE host = 'a'").unwrap().len(), 1);
    let named = connection.query(
        "SELECT up FROM log WHERE host = :h AND ts = :t",
        Params::named([("h", saltwing::Value::from("a")), ("t", 1.into())]),
    );
    assert_eq!(named.unwrap().next().unwrap().unwrap().get::<i64>("up").unwrap(), 11);
}

#[test]
fn many_scanned_rows_are_noticed_at_the_end() {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE n (k INTEGER NOT NULL PRIMARY KEY, v INTEGER)", ()).unwrap();
    connection.execute("UPSERT INTO n VALUES (1, 1), (2, 2), (3, 3), (4, 4)", ()).unwrap();
    let notices = |sql: &str| connection.execute(sql, ()).unwrap().notices;
    let all = "SELECT v FROM n WHERE k > 0";
    assert!(notices(all).is_empty(), "ten million is the default");
    connection.execute("SET rows_warn = 4", ()).unwrap();
    let said = ["4 rows were scanned; SET rows_warn = 4 says so"];
    assert_eq!(notices(all), said);
    assert!(notices("SELECT v FROM n WHERE k > 1").is_empty());
    assert_eq!(notices("UPSERT INTO n SELECT k + 10, v FROM n WHERE k > 0"), said);
    assert_eq!(notices("DELETE FROM n WHERE k > 10"), said);

    let mut rows = connection.query(all, ()).unwrap();
    assert!(rows.next().is_some_and(|row| row.is_ok()));
    assert!(rows.notices().is_empty(), "not before the end");
    assert_eq!(rows.by_ref().filter(Result::is_ok).count(), 3);
    assert_eq!(rows.notices(), said);
    connection.execute("SET rows_warn = 0", ()).unwrap();
    assert!(notices(all).is_empty());
}

#[test]
fn the_pasted_table_works_and_its_faulty_twin_points_at_the_second_column() {
    let connection = Database::memory().unwrap().connect().blocking();
    let sql = |second: &str| {
        format!(
            "CREATE TABLE TEST_ACL_YJY.TEST_C_01 (\n  key01 BIGINT NOT NULL, // the key\n{second}  key02 BIGINT, // another\n  col01 VARCHAR,\n  col02 VARCHAR,\n  col03 VARCHAR,\n  CONSTRAINT ID_PK PRIMARY KEY (key01)\n) DATA_BLOCK_ENCODING = 'FAST_DIFF', COMPRESSION = 'SNAPPY', COLUMN_ENCODED_BYTES = NONE, UPDATE_CACHE_FREQUENCY=300000, SALT_BUCKETS = 1, TTL=86400"
        )
    };
    let faulty = sql("  key01 INTEGER,\n");
    let error = connection.execute(&faulty, ()).unwrap_err();
    assert_eq!(error.code().as_str(), "duplicate_column");
    let span = error.span().unwrap();
    assert_eq!((span.start.line, span.start.column, span.end.column), (3, 3, 7));
    let created = connection.execute(&sql(""), ()).unwrap();
    assert_eq!(created.notices.len(), 4, "{:?}", created.notices);
    connection.execute("UPSERT INTO test_acl_yjy.test_c_01 VALUES (1, 2, 'a', 'b', NULL)", ()).unwrap();
    assert_eq!(texts(&connection, "SELECT * FROM TEST_ACL_YJY.TEST_C_01 WHERE KEY01 = 1").unwrap(), ["1|2|a|b|NULL"]);
    assert!(texts(&connection, "DESCRIBE TEST_ACL_YJY.TEST_C_01").unwrap().iter().any(|row| row.contains("SNAPPY")));
    let again = texts(&connection, "SHOW CREATE TABLE TEST_ACL_YJY.TEST_C_01").unwrap().concat();
    connection.execute("DROP TABLE TEST_ACL_YJY.TEST_C_01", ()).unwrap();
    connection.execute(&again, ()).unwrap();
    assert_eq!(texts(&connection, "SHOW CREATE TABLE TEST_ACL_YJY.TEST_C_01").unwrap().concat(), again);
}
