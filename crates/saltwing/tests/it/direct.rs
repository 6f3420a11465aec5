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
fn errors_point_at_what_they_are_about_and_name_phoenixs_number() {
    let connection = Database::memory().unwrap().connect().blocking();
    connection
        .execute("CREATE TABLE e (k INTEGER NOT NULL PRIMARY KEY, v VARCHAR NOT NULL, u UNSIGNED_INT)", ())
        .unwrap();
    connection.execute("UPSERT INTO e VALUES (1, 'a', 1)", ()).unwrap();
    for (sql, place, code, number) in [
        ("UPSERT INTO e VALUES (2, 'n', -1)", "-1", "out_of_range", Some(203)),
        ("INSERT INTO e VALUES (2, 'n', 1), (1, 'n', 1)", "(1, 'n', 1)", "duplicate_key", None),
        ("UPSERT INTO e VALUES (2, NULL, 1)", "NULL", "not_null", Some(218)),
        ("UPSERT INTO e (k, u) VALUES (2, 1)", "e (k, u)", "not_null", Some(218)),
        ("UPSERT INTO e VALUES (2, 'n')", "(2, 'n')", "syntax", Some(1020)),
        ("UPSERT INTO e VALUES (1, 'a', 1) ON DUPLICATE KEY UPDATE v = 'b', k = 2", "k = 2", "syntax", Some(1218)),
        ("UPSERT INTO e VALUES (2, v, 1)", "v, 1)", "no_such_column", Some(504)),
        ("SELECT k FROM e WHERE k = 1 + 'a'", "1 + 'a'", "type_mismatch", Some(203)),
        ("SELECT k FROM e WHERE k = 'x'", "k = 'x'", "bad_text", Some(201)),
        ("CREATE TABLE f (a INTEGER PRIMARY KEY, b INTEGER DEFAULT a + 1)", "a + 1", "no_such_column", Some(504)),
        ("CREATE TABLE e (a INTEGER PRIMARY KEY)", "e (a", "duplicate_table", Some(1013)),
        ("CREATE TABLE f (a INTEGER PRIMARY KEY) SALT_BUCKETS = 257", "257", "invalid_definition", Some(1021)),
        ("DROP TABLE nothing", "nothing", "no_such_table", Some(1012)),
        ("DELETE FROM information_schema.tables WHERE table_name = 'e'", "information_schema", "read_only", Some(518)),
        ("SHOW CREATE TABLE information_schema.tables", "information_schema", "not_supported", None),
        ("SELEC 1", "SELEC", "syntax", Some(601)),
    ] {
        let error = connection.execute(sql, ()).unwrap_err();
        assert_eq!(error.code().as_str(), code, "{}", error.render(sql));
        let column = error.span().map(|span| span.start.column as usize);
        assert_eq!(column, sql.find(place).map(|at| at + 1), "{}", error.render(sql));
        assert_eq!(error.phoenix_code(), number, "{sql}");
        assert!(!error.render(sql).contains("Phoenix"), "{}", error.render(sql));
        assert_eq!(error.sql(), Some(sql));
    }
    let columns: Vec<String> = (0..1001).map(|i| format!("c{i} INTEGER")).collect();
    let sql = format!("CREATE TABLE wide ({}, PRIMARY KEY (c0))", columns.join(", "));
    let error = connection.execute(&sql, ()).unwrap_err();
    assert_eq!(error.span().map(|span| span.start.column as usize), sql.find("c1000").map(|at| at + 1));
    let error = connection.execute("UPSERT INTO e (k) VALUES (1, 2)", ()).unwrap_err();
    assert_eq!(error.to_string(), "2 values for 1 column");
    let error = connection.execute("CREATE TABLE f (a INTEGER PRIMARY KEY, b INTEGER DEFAULT a)", ()).unwrap_err();
    assert_eq!(error.to_string(), "a DEFAULT takes no columns, and a is one");
}

/// Unknown is not false: what stands behind it is computed. What stands behind an error decides nothing.
#[test]
fn a_condition_keeps_rows_from_errors_where_it_is_false_and_stands_before() {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE c (k INTEGER NOT NULL PRIMARY KEY, i INTEGER, n DECIMAL(4,1))", ()).unwrap();
    for rows in ["(1, 1, 1), (2, 0, -1), (3, NULL, 5)", "(4, 20, 2)"] {
        connection.execute(&format!("UPSERT INTO c VALUES {rows}"), ()).unwrap();
        for _ in 0..2 {
            let count = |filter: &str| {
                let found = texts(&connection, &format!("SELECT count(*), sum(i) FROM c WHERE k > 0 AND {filter}"));
                found.map(|rows| rows.concat()).map_err(|error| error.code().as_str())
            };
            assert_eq!(count("i <> 0 AND 10 / i > 1"), Ok("1|1".to_owned()));
            assert_eq!(count("i < 1 AND 10 / i > 1"), Err("division_by_zero"));
            assert_eq!(count("10 / i > 1 AND i <> 0"), Err("division_by_zero"));
            assert_eq!(count("n > 0 AND 10 / i > 1"), Ok("1|1".to_owned()));
            assert_eq!(count("i > 100 AND 10 / (k - 3) > 1"), Err("division_by_zero"));
            assert_eq!(count("i > 100 AND i IS NOT NULL AND 10 / (k - 3) > 1"), Ok("0|NULL".to_owned()));
            connection.execute("COMPACT c", ()).unwrap();
        }
    }
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
    connection.execute("SET bytes_warn = 1", ()).unwrap();
    assert!(matches!(notices(all).as_slice(), [said] if said.ends_with("SET bytes_warn = 1 says so")));
    connection.execute("SET bytes_warn = 0", ()).unwrap();
    connection.execute("SET time_warn = '1h'", ()).unwrap_err();
    connection.execute("SET time_warn = '60min'", ()).unwrap();
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
