//! Tests of the statements of a session.

use saltwing::{Dialect, SqlType, Value};

use super::*;
use crate::settings::{IsolationLevel, NewValue, TextAt, TransactionModes};

mod cursors;
mod laws;
mod prepared;
mod settings;
mod transactions;

fn parsed(sql: &str) -> Option<SessionStatement> {
    parse(sql, Dialect::Saltwing).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

fn own(sql: &str) -> SessionStatement {
    parsed(sql).unwrap_or_else(|| panic!("{sql} is left to the library"))
}

/// The SQLSTATE of a refusal and its place.
fn refusal(sql: &str) -> (&'static str, usize) {
    let error = parse(sql, Dialect::Saltwing).expect_err(sql);
    (error.sqlstate(), error.position())
}

fn at(text: &str, position: usize) -> TextAt {
    TextAt { text: text.into(), position: Some(position) }
}

#[test]
fn statements_of_the_library_are_left_to_it() {
    for sql in [
        "",
        ";",
        "-- nothing",
        "SELECT 1",
        "SET full_scan = 'allow'",
        "set \"full_scan\" to 'warn'",
        "SET dialect = 'phoenix'",
        "SET transaction_timeout = '5s'",
        "SHOW TABLES",
        "SHOW tables FROM s LIKE 'a%'",
        "SHOW CREATE TABLE t",
        "SHOW STORAGE FOR t",
        "SHOW TRANSACTIONS",
        "SHOW full_scan",
        "SHOW 'x'",
        "SHOW",
        "SHOW several words",
        "SAVEPOINT s",
        "RELEASE SAVEPOINT s",
        "ROLLBACK TO s",
        "ROLLBACK WORK TO SAVEPOINT s",
        "BEGIN IMMEDIATE",
        "START",
        "EXPLAIN SELECT 1",
        "COPY t FROM STDIN",
        "VACUUM",
        "ANALYZE t",
        "REINDEX TABLE t",
        "LOCK TABLE t",
        "CLUSTER t",
        "SETTLE",
        "'SET'",
        "(SELECT 1)",
        "incomprehensibilities",
    ] {
        assert_eq!(parsed(sql), None, "{sql}");
    }
}

/// Each SHOW that is left to the library is a statement there, and each that it has is left to it.
#[test]
fn the_library_knows_the_statements_that_are_left_to_it() {
    let connection = saltwing::Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY)", ()).unwrap();
    for sql in [
        "SHOW ATTACHED",
        "SHOW COLUMNS FROM t",
        "SHOW CREATE TABLE t",
        "SHOW DATABASES",
        "SHOW FUNCTIONS",
        "SHOW GRANTS",
        "SHOW INDEX",
        "SHOW INDEXES",
        "SHOW SCHEMAS",
        "SHOW SEQUENCES",
        "SHOW STORAGE",
        "SHOW TABLES",
        "SHOW TRANSACTIONS",
        "SHOW USERS",
        "SHOW VIEWS",
    ] {
        assert_eq!(parsed(sql), None, "{sql}");
        assert!(connection.query(sql, ()).is_ok(), "{sql}");
    }
    for setting in saltwing::SETTINGS.iter().filter(|setting| setting.name != "statement_timeout") {
        let (show, set) = (format!("SHOW {}", setting.name), format!("SET {} = DEFAULT", setting.name));
        assert_eq!((parsed(&show), parsed(&set)), (None, None));
        assert!(connection.query(&show, ()).is_ok() && connection.execute(&set, ()).is_ok(), "{}", setting.name);
        for sql in [format!("SET SESSION {} = DEFAULT", setting.name), format!("RESET {}", setting.name)] {
            let SessionStatement::OfTheLibrary { sql, .. } = own(&sql) else { panic!("{sql}") };
            assert!(connection.execute(&sql, ()).is_ok(), "{sql}");
        }
    }
}

#[test]
fn comments_and_semicolons_change_nothing() {
    for sql in ["/* app */ RESET ALL", "RESET -- all of them\n ALL;", "\u{feff}reset/*+ h */all ; ;", "// c\nReset All"]
    {
        assert_eq!(own(sql), SessionStatement::ResetAll, "{sql}");
    }
    assert_eq!(refusal("RESET ALL; SELECT 1"), ("42601", 12));
    assert_eq!(refusal("RESET ALL now"), ("42601", 11));
}

#[test]
fn places_count_characters() {
    assert_eq!(own("/* äöü */ SHOW jit"), SessionStatement::Show(at("jit", 16)));
    assert_eq!(refusal("/* 😀 */ DISCARD 'é'"), ("42601", 17));
    assert_eq!(refusal("DISCARD"), ("42601", 8));
}

#[test]
fn notifications_and_checkpoints() {
    for sql in ["UNLISTEN *", "UNLISTEN channel"] {
        assert_eq!(own(sql), SessionStatement::Nothing { tag: "UNLISTEN" }, "{sql}");
    }
    assert_eq!(refusal("UNLISTEN"), ("42601", 9));
    for sql in ["LISTEN c", "NOTIFY c, 'x'", "CHECKPOINT"] {
        assert_eq!(refusal(sql), ("0A000", 1), "{sql}");
    }
}

#[test]
fn tags_are_those_of_postgresql() {
    for (sql, tag) in [
        ("SET jit = on", "SET"),
        ("SET TRANSACTION READ ONLY", "SET"),
        ("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "SET"),
        ("SET CONSTRAINTS ALL IMMEDIATE", "SET CONSTRAINTS"),
        ("SHOW ALL", "SHOW"),
        ("RESET jit", "RESET"),
        ("DISCARD TEMPORARY", "DISCARD TEMP"),
        ("DEALLOCATE ALL", "DEALLOCATE ALL"),
        ("DEALLOCATE a", "DEALLOCATE"),
        ("BEGIN", "BEGIN"),
        ("START TRANSACTION", "START TRANSACTION"),
        ("END", "COMMIT"),
        ("ABORT", "ROLLBACK"),
        ("DECLARE c CURSOR FOR SELECT 1", "DECLARE CURSOR"),
        ("FETCH c", "FETCH"),
        ("MOVE c", "MOVE"),
        ("CLOSE c", "CLOSE CURSOR"),
        ("CLOSE ALL", "CLOSE CURSOR ALL"),
        ("PREPARE p AS SELECT 1", "PREPARE"),
    ] {
        assert_eq!(own(sql).tag(), tag, "{sql}");
    }
}
