//! EXPORT .. AS PHOENIX.

use saltwing::Database;
use saltwing::blocking::Connection;

use crate::texts;

fn connection() -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    let tables = "CREATE SCHEMA s;
        CREATE TABLE s.e (a INTEGER NOT NULL, b VARCHAR, f.c DOUBLE NOT NULL DEFAULT 1.5, d DATE, ts TIMESTAMP, x VARBINARY, j JSON, i INTERVAL, u UUID,
            n DOUBLE, l VARCHAR ARRAY, CONSTRAINT pk PRIMARY KEY (a DESC, b), CONSTRAINT small CHECK (a < 100)) SALT_BUCKETS = 2, TTL = 86400, FULL_SCAN = 'allow';
        CREATE TABLE h (k VARCHAR NOT NULL, CONSTRAINT pk PRIMARY KEY (HASH(k), k));
        CREATE SEQUENCE s.q START WITH 5 INCREMENT BY 2;
        CREATE VIEW s.v AS SELECT * FROM s.e WHERE a = 1";
    connection.execute_batch(tables).unwrap();
    connection
        .execute(
            "UPSERT INTO s.e VALUES (1, 'it''s \\', 2, DATE '2024-01-31', TIMESTAMP '2024-01-31 10:00:00.5', X'00ff', '{\"a\": 1}', INTERVAL '1 day', '01234567-89ab-cdef-0123-456789abcdef', 1e30, ARRAY['x', NULL])",
            (),
        )
        .unwrap();
    let nan = "UPSERT INTO s.e (a, b, c, n) VALUES (2, E'a\\nb', 0.5, CAST('NaN' AS DOUBLE))";
    connection.execute(nan, ()).unwrap();
    connection
}

#[test]
fn a_table_is_its_definition_and_its_rows() {
    let lines = texts(&connection(), "EXPORT s.e AS PHOENIX").unwrap();
    let pattern = "'yyyy-MM-dd HH:mm:ss.SSS'";
    let row = format!(
        "UPSERT INTO s.e (a, b, c, d, ts, x, j, i, u, n, l) VALUES (1, 'it''s \\\\', 2.0, TO_DATE('2024-01-31 00:00:00.000', {pattern}), \
         TO_TIMESTAMP('2024-01-31 10:00:00.500', {pattern}), X'00ff', '{{\"a\": 1}}', '1 day', X'0123456789abcdef0123456789abcdef', 1E30, ARRAY['x', NULL]);"
    );
    let create = "CREATE TABLE IF NOT EXISTS s.e (\n    a INTEGER NOT NULL,\n    b VARCHAR,\n    f.c DOUBLE DEFAULT 1.5,\n    d DATE,\n    ts TIMESTAMP,\n    \
        x VARBINARY,\n    j VARCHAR,\n    i VARCHAR,\n    u BINARY(16),\n    n DOUBLE,\n    l VARCHAR ARRAY,\n    CONSTRAINT pk PRIMARY KEY (a DESC, b)\n) SALT_BUCKETS = 2, TTL = 86400;";
    assert!(lines.contains(&row), "{lines:#?}");
    assert!(lines.contains(&create.to_owned()), "{lines:#?}");
    let noted: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("-- s.e: ")).collect();
    assert_eq!(noted.len(), 6, "{noted:?}");
    let nan = lines.iter().find(|line| line.contains("'a\\nb'")).unwrap();
    assert!(nan.starts_with("-- n: NaN has no literal in Phoenix\nUPSERT INTO"), "{nan}");
}

#[test]
fn a_schema_has_its_sequences_and_all_has_a_comment_for_what_is_left_out() {
    let connection = connection();
    let schema = texts(&connection, "EXPORT SCHEMA s AS PHOENIX").unwrap();
    assert!(schema[0] == "CREATE SCHEMA IF NOT EXISTS s;", "{schema:#?}");
    assert!(schema[1].starts_with("CREATE SEQUENCE IF NOT EXISTS s.q START WITH 5 INCREMENT BY 2"), "{schema:#?}");
    assert_eq!(schema.last().unwrap(), "CREATE VIEW IF NOT EXISTS s.v AS SELECT * FROM s.e WHERE a = 1;");
    assert!(!schema.iter().any(|line| line.contains("-- h is left out")), "{schema:#?}");
    let all = texts(&connection, "EXPORT ALL AS PHOENIX").unwrap();
    assert!(all.iter().any(|line| line.contains("-- h is left out: its key has the part")), "{all:#?}");
}

#[test]
fn words_of_phoenix_split_points_and_dynamic_columns_are_exported() {
    let from = Database::memory().unwrap().connect().blocking();
    let tables = "CREATE TABLE t (\"key\" INTEGER PRIMARY KEY, v VARCHAR) SPLIT ON (5);
        UPSERT INTO t (\"key\", v) VALUES (1, 'x');
        UPSERT INTO t (\"key\", v, extra VARCHAR, f.n INTEGER) VALUES (2, 'y', 'more', 7)";
    from.execute_batch(tables).unwrap();
    let script = texts(&from, "EXPORT t AS PHOENIX").unwrap();
    let expected = [
        "CREATE TABLE IF NOT EXISTS t (\n    \"key\" INTEGER NOT NULL,\n    v VARCHAR,\n    CONSTRAINT pk PRIMARY KEY (\"key\")\n) COLUMN_ENCODED_BYTES = 0 SPLIT ON (X'80000005');",
        "UPSERT INTO t (\"key\", v) VALUES (1, 'x');",
        "UPSERT INTO t (\"key\", v, extra VARCHAR, f.n INTEGER) VALUES (2, 'y', 'more', 7);",
    ];
    assert_eq!(script, expected);
    let to = Database::memory().unwrap().connect().blocking();
    to.execute("SET dialect = 'phoenix'", ()).unwrap();
    to.execute_batch(&script.join("\n")).unwrap();
    // Names without quotes are in upper case there.
    let again = texts(&to, "EXPORT t AS PHOENIX").unwrap();
    assert!(again.iter().zip(&script).all(|(again, first)| again.eq_ignore_ascii_case(first)), "{again:#?}");
}

#[test]
fn views_are_exported_with_columns_of_their_own() {
    let connection = Database::memory().unwrap().connect().blocking();
    let tables = "CREATE TABLE t (k INTEGER PRIMARY KEY, kind VARCHAR, v INTEGER);
        CREATE VIEW b (extra VARCHAR, j JSON) AS SELECT * FROM t WHERE kind = 'it''s';
        CREATE VIEW a (n INTEGER) AS SELECT * FROM b WHERE v = 5 AND extra = 'x';
        CREATE VIEW few AS SELECT k FROM t;
        CREATE VIEW over_few (e VARCHAR) AS SELECT * FROM few";
    connection.execute_batch(tables).unwrap();
    let lines = texts(&connection, "EXPORT ALL AS PHOENIX").unwrap();
    let views: Vec<&str> =
        lines.iter().map(String::as_str).filter(|line| line.contains("VIEW") || line.contains("view")).collect();
    let expected = [
        "CREATE VIEW IF NOT EXISTS b (extra VARCHAR, j VARCHAR) AS SELECT * FROM t WHERE kind = 'it''s';",
        "-- view few is left out: Phoenix's views are SELECT * FROM table WHERE ..: SELECT k FROM t",
        "CREATE VIEW IF NOT EXISTS a (n INTEGER) AS SELECT * FROM b WHERE v = 5 AND extra = 'x';",
        "-- view over_few is left out: Phoenix's views are SELECT * FROM table WHERE ..: SELECT k, e FROM few (e VARCHAR)",
    ];
    let views: Vec<&str> = views.into_iter().filter(|line| !line.contains("that views have")).collect();
    assert_eq!(views, expected);
}

/// Phoenix numbers the columns of a table, and a view's own too, unless told otherwise: the dynamic ones have names alone.
#[test]
fn a_table_with_dynamic_columns_has_names_in_phoenix() {
    let connection = Database::memory().unwrap().connect().blocking();
    let tables = "CREATE TABLE plain (k INTEGER PRIMARY KEY) COLUMN_ENCODED_BYTES = 2;
        CREATE TABLE d (k INTEGER PRIMARY KEY) COLUMN_ENCODED_BYTES = 2;
        CREATE VIEW of_d (own VARCHAR) AS SELECT * FROM d;
        CREATE IMMUTABLE TABLE i (k INTEGER PRIMARY KEY) IMMUTABLE_STORAGE_SCHEME = SINGLE_CELL_ARRAY_WITH_OFFSETS;
        UPSERT INTO i (k, extra VARCHAR) VALUES (1, 'x')";
    connection.execute_batch(tables).unwrap();
    let options = |table: &str| {
        let lines = texts(&connection, &format!("EXPORT {table} AS PHOENIX")).unwrap();
        let create = lines.iter().find(|line| line.starts_with("CREATE TABLE")).unwrap();
        create.rsplit_once(") ").map(|(_, options)| options.to_owned()).unwrap()
    };
    assert_eq!(options("plain"), "COLUMN_ENCODED_BYTES = 2;");
    assert_eq!(options("d"), "COLUMN_ENCODED_BYTES = 0;");
    assert_eq!(
        options("i"),
        "COLUMN_ENCODED_BYTES = 0, IMMUTABLE_STORAGE_SCHEME = ONE_CELL_PER_COLUMN, IMMUTABLE_ROWS = TRUE;"
    );
}

/// What is exported is read in the dialect, and gives the same rows.
#[test]
fn the_dialect_reads_what_is_exported() {
    let from = connection();
    let to = Database::memory().unwrap().connect().blocking();
    let script = texts(&from, "EXPORT SCHEMA s AS PHOENIX").unwrap().join("\n");
    to.execute("SET dialect = 'phoenix'", ()).unwrap();
    to.execute_batch(&script).unwrap();
    to.execute("SET dialect = 'saltwing'", ()).unwrap();
    let rows = "SELECT /*+ FULL_SCAN */ a, b, c, d, ts, x, j, i, n FROM s.e ORDER BY a";
    let expected: Vec<String> = texts(&from, rows).unwrap().into_iter().map(|row| row.replace("NaN", "NULL")).collect();
    assert_eq!(texts(&to, rows).unwrap(), expected);
}

#[test]
fn options_that_phoenix_hands_to_hbase_are_exported() {
    let connection = Database::memory().unwrap().connect().blocking();
    let table = "CREATE TABLE t (k VARCHAR NOT NULL PRIMARY KEY, f.v INTEGER) DATA_BLOCK_ENCODING='NONE', VERSIONS=5, MAX_FILESIZE=2000000, \
                 f.COMPRESSION='GZ', MIN_VERSIONS=1, IN_MEMORY=true, BLOCK_ROWS=100";
    connection.execute(table, ()).unwrap();
    let lines = texts(&connection, "EXPORT t AS PHOENIX").unwrap();
    let create = lines.iter().find(|line| line.starts_with("CREATE TABLE")).unwrap();
    let options = create.rsplit_once(") ").unwrap().1;
    assert_eq!(
        options,
        "DATA_BLOCK_ENCODING = 'NONE', VERSIONS = 5, MAX_FILESIZE = 2000000, f.COMPRESSION = 'GZ', MIN_VERSIONS = 1, IN_MEMORY = TRUE;"
    );
    let notes: Vec<&String> = lines.iter().filter(|line| line.starts_with("--")).collect();
    assert_eq!(notes, ["-- t: BLOCK_ROWS = 100: Phoenix has no such option"]);
}
