//! A real cluster: definitions that are made here are Phoenix's, and the reverse.
//!
//! `HBASE_ADDRESS` is the address of the cluster. `PHOENIX_SQL` is a command that runs statements of its standard input with Phoenix's own client, one after the other with a semicolon behind each, and
//! prints a JSON object for each: `rows` are its rows as texts, `error` is why it failed.

use std::io::Write;
use std::process::{Command, Stdio};

use saltwing::Database;
use saltwing_hbase::{Options, open};

use crate::sql::{execute, rows};

/// The rows of each statement, its values with blanks between them.
fn phoenix(statements: &[&str]) -> Vec<Vec<String>> {
    let command = std::env::var("PHOENIX_SQL").unwrap();
    let mut child =
        Command::new("sh").args(["-c", &command]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{};\n", statements.join(";\n")).as_bytes()).unwrap();
    let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let text = |value: &serde_json::Value| match value {
        serde_json::Value::Null => "-".to_owned(),
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let row = |row: &serde_json::Value| row.as_array().unwrap().iter().map(text).collect::<Vec<_>>().join(" ");
    let done: Vec<Vec<String>> = output
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|line| {
            assert!(line.get("error").is_none_or(serde_json::Value::is_null), "{line}");
            line["rows"].as_array().map(|rows| rows.iter().map(row).collect()).unwrap_or_default()
        })
        .collect();
    assert_eq!(done.len(), statements.len(), "{output}");
    done
}

fn done(database: &Database, sql: &str) {
    execute(database, sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

fn live() -> Database {
    let (store, catalog) = open(&std::env::var("HBASE_ADDRESS").unwrap(), Options::default()).unwrap();
    Database::memory_builder().open_with_catalog(store, catalog).unwrap()
}

const OURS: [&str; 4] = [
    "CREATE TABLE ddl_log (phone VARCHAR NOT NULL, ts BIGINT NOT NULL, up INTEGER DEFAULT 7, f.note VARCHAR(20), price DECIMAL(10,2),
        CONSTRAINT pk PRIMARY KEY (phone, ts DESC)) SALT_BUCKETS = 4, TTL = 86400, f.DATA_BLOCK_ENCODING = 'NONE'",
    "CREATE TABLE ddl_s.ddl_split (k VARCHAR PRIMARY KEY, v INTEGER, tags VARCHAR ARRAY) SPLIT ON ('b', 'm')",
    "CREATE TABLE ddl_once (k CHAR(3) PRIMARY KEY, a INTEGER NOT NULL, b VARCHAR) IMMUTABLE_ROWS = true",
    "CREATE TABLE ddl_named (k UNSIGNED_INT PRIMARY KEY, a BOOLEAN, t TIMESTAMP) COLUMN_ENCODED_BYTES = 0, DEFAULT_COLUMN_FAMILY = 'D'",
];

/// Phoenix reads, writes, alters, indexes and drops what is made here.
#[test]
#[ignore = "needs a cluster"]
fn definitions_made_here_are_phoenixs() {
    let database = live();
    for table in ["ddl_log", "ddl_s.ddl_split", "ddl_once", "ddl_named"] {
        done(&database, &format!("DROP TABLE IF EXISTS {table}"));
    }
    OURS.iter().for_each(|sql| done(&database, sql));
    done(
        &database,
        "UPSERT INTO ddl_log VALUES ('a', 1, 10, 'x', 1.5), ('a', 2, 20, 'y', 2.25), ('b', 1, 30, NULL, NULL)",
    );
    done(&database, "INSERT INTO ddl_log (phone, ts) VALUES ('c', 5)");
    done(&database, "UPSERT INTO ddl_s.ddl_split VALUES ('a', 1, ARRAY['p', 'q']), ('c', 2, NULL), ('z', 3, NULL)");
    done(&database, "UPSERT INTO ddl_once VALUES ('k1', 1, 'one'), ('k2', 2, NULL)");
    done(&database, "UPSERT INTO ddl_named VALUES (1, true, '2026-01-02 03:04:05')");
    done(&database, "ALTER TABLE ddl_log ADD down INTEGER, g.more VARCHAR");
    let read = phoenix(&[
        "SELECT PHONE, TS, UP, NOTE, PRICE FROM DDL_LOG ORDER BY PHONE, TS",
        "SELECT K, V FROM DDL_S.DDL_SPLIT ORDER BY K",
        "SELECT K, A, B FROM DDL_ONCE ORDER BY K",
        "SELECT K, A FROM DDL_NAMED",
        "UPSERT INTO DDL_LOG (PHONE, TS, DOWN, MORE) VALUES ('a', 1, 99, 'm')",
        "UPSERT INTO DDL_LOG (PHONE, TS, NOTE) VALUES ('d', 9, 'phoenix')",
        "UPSERT INTO DDL_ONCE VALUES ('k3', 3, 'three')",
        "ALTER TABLE DDL_LOG ADD LATER BIGINT",
        "ALTER TABLE DDL_LOG DROP COLUMN PRICE",
        "UPSERT INTO DDL_LOG (PHONE, TS, LATER) VALUES ('a', 2, 5000000000)",
        "CREATE INDEX DDL_LOG_I ON DDL_LOG (DOWN) INCLUDE (NOTE)",
        "ALTER TABLE DDL_ONCE ADD C VARCHAR",
        "CREATE VIEW DDL_VIEW AS SELECT * FROM DDL_LOG WHERE PHONE = 'a'",
    ]);
    assert_eq!(read[0], ["a 1 10 x 1.5", "a 2 20 y 2.25", "b 1 30 - -", "c 5 7 - -"]);
    assert_eq!(read[1], ["a 1", "c 2", "z 3"]);
    assert_eq!(read[2], ["k1 1 one", "k2 2 -"]);
    assert_eq!(read[3], ["1 true"]);
    std::thread::sleep(std::time::Duration::from_secs(2));
    let all = "SELECT * FROM ddl_log WHERE phone IN ('a', 'd') ORDER BY phone, ts DESC";
    let rows_here = ["a 2 20 y - - 5000000000", "a 1 10 x 99 m -", "d 9 7 phoenix - - -"];
    assert_eq!(rows(&database, all), rows_here);
    assert_eq!(rows(&database, "SELECT ts FROM ddl_view"), ["2", "1"]);
    assert_eq!(rows(&database, "SELECT * FROM ddl_once WHERE k IN ('k1', 'k3')"), ["k1 1 one -", "k3 3 three -"]);
    // A row from here is in Phoenix's index.
    done(&database, "UPSERT INTO ddl_log (phone, ts, down, note) VALUES ('e', 1, 77, 'indexed')");
    let read = phoenix(&[
        "SELECT /*+ INDEX(DDL_LOG DDL_LOG_I) */ NOTE FROM DDL_LOG WHERE DOWN = 77",
        "DROP VIEW DDL_VIEW",
        "DROP TABLE DDL_S.DDL_SPLIT",
    ]);
    assert_eq!(read[0], ["indexed"]);
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert!(execute(&database, "UPSERT INTO ddl_s.ddl_split (k) VALUES ('x')").is_err());
    for table in ["ddl_log", "ddl_once", "ddl_named"] {
        done(&database, &format!("DROP TABLE {table}"));
    }
    let left = phoenix(&["SELECT TABLE_NAME FROM SYSTEM.CATALOG WHERE TABLE_NAME LIKE 'DDL%' AND COLUMN_NAME IS NULL"]);
    assert_eq!(left[0], Vec::<String>::new());
    // The names are free again, also in HBase.
    done(&database, OURS[0]);
    assert_eq!(phoenix(&["SELECT * FROM DDL_LOG", "DROP TABLE DDL_LOG"])[0], Vec::<String>::new());
}

/// What Phoenix has made is altered and dropped here.
#[test]
#[ignore = "needs a cluster"]
fn definitions_of_phoenix_are_changed_here() {
    let database = live();
    phoenix(&[
        "DROP TABLE IF EXISTS DDL_P CASCADE",
        "CREATE TABLE DDL_P (K VARCHAR NOT NULL, N BIGINT NOT NULL, A INTEGER, F.B VARCHAR, C DECIMAL, CONSTRAINT PK PRIMARY KEY (K, N DESC)) SALT_BUCKETS=3",
        "UPSERT INTO DDL_P VALUES ('a', 1, 10, 'b', 1.5)",
    ]);
    done(&database, "ALTER TABLE ddl_p ADD d VARCHAR(5), h.e INTEGER");
    done(&database, "UPSERT INTO ddl_p (k, n, d, e) VALUES ('a', 1, 'dd', 5)");
    done(&database, "ALTER TABLE ddl_p DROP COLUMN c");
    done(&database, "ALTER TABLE ddl_p ADD c INTEGER");
    let read = phoenix(&[
        "SELECT * FROM DDL_P",
        "ALTER TABLE DDL_P ADD X INTEGER",
        "UPSERT INTO DDL_P (K, N, C, X) VALUES ('a', 1, 3, 4)",
        "SELECT * FROM DDL_P",
        "CREATE VIEW DDL_PV AS SELECT * FROM DDL_P WHERE K = 'a'",
    ]);
    assert_eq!(read[0], ["a 1 10 b dd 5 -"]);
    assert_eq!(read[3], ["a 1 10 b dd 5 3 4"]);
    let error = execute(&database, "DROP TABLE ddl_p").unwrap_err();
    assert!(error.to_string().contains("CASCADE"), "{error}");
    done(&database, "DROP VIEW ddl_pv");
    done(&database, "DROP TABLE ddl_p");
    let left =
        phoenix(&["SELECT TABLE_NAME FROM SYSTEM.CATALOG WHERE TABLE_NAME LIKE 'DDL_P%' AND COLUMN_NAME IS NULL"]);
    assert_eq!(left[0], Vec::<String>::new());
}
