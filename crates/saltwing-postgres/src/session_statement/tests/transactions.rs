//! BEGIN, COMMIT, ROLLBACK and savepoints.

use super::*;

fn modes(
    isolation: Option<IsolationLevel>,
    is_read_only: Option<bool>,
    is_deferrable: Option<bool>,
) -> TransactionModes {
    TransactionModes { isolation, is_read_only, is_deferrable }
}

#[test]
fn begin_has_modes() {
    use IsolationLevel::{ReadCommitted, ReadUncommitted, RepeatableRead};
    for (text, expected) in [
        ("READ ONLY", modes(None, Some(true), None)),
        ("READ WRITE", modes(None, Some(false), None)),
        ("ISOLATION LEVEL READ UNCOMMITTED", modes(Some(ReadUncommitted), None, None)),
        ("isolation level Read Committed, READ ONLY", modes(Some(ReadCommitted), Some(true), None)),
        (
            "ISOLATION LEVEL REPEATABLE READ READ WRITE NOT DEFERRABLE",
            modes(Some(RepeatableRead), Some(false), Some(false)),
        ),
        ("DEFERRABLE, ISOLATION LEVEL SNAPSHOT", modes(Some(RepeatableRead), None, Some(true))),
    ] {
        for (words, tag) in [("BEGIN", "BEGIN"), ("BEGIN WORK", "BEGIN"), ("START TRANSACTION", "START TRANSACTION")] {
            let sql = format!("{words} {text}");
            assert_eq!(own(&sql), SessionStatement::Begin { modes: expected, tag }, "{sql}");
        }
        assert_eq!(own(&format!("SET TRANSACTION {text};")), SessionStatement::SetTransaction(expected));
        assert_eq!(own(&format!("SET LOCAL TRANSACTION {text}")), SessionStatement::SetTransaction(expected));
        let later = own(&format!("SET SESSION CHARACTERISTICS AS TRANSACTION {text}"));
        assert_eq!(later, SessionStatement::SetCharacteristics(expected));
    }
    for sql in ["BEGIN", "BEGIN;", "begin transaction", "BEGIN WORK"] {
        assert_eq!(own(sql), SessionStatement::Begin { modes: TransactionModes::default(), tag: "BEGIN" }, "{sql}");
    }
}

#[test]
fn serializable_is_refused_with_the_reason() {
    for (sql, position) in [
        ("BEGIN ISOLATION LEVEL SERIALIZABLE", 23),
        ("START TRANSACTION READ ONLY, ISOLATION LEVEL SERIALIZABLE", 46),
        ("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", 33),
        ("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE", 60),
    ] {
        assert_eq!(refusal(sql), ("0A000", position), "{sql}");
        assert!(parse(sql, Dialect::Saltwing).unwrap_err().to_string().contains("write skew"));
    }
    assert_eq!(refusal("SET TRANSACTION SNAPSHOT '1'"), ("0A000", 17));
}

#[test]
fn commit_and_rollback() {
    for words in ["", " WORK", " TRANSACTION", " AND NO CHAIN", " WORK AND NO CHAIN;"] {
        for (verb, expected) in [
            ("COMMIT", SessionStatement::Commit),
            ("end", SessionStatement::Commit),
            ("ROLLBACK", SessionStatement::Rollback),
            ("Abort", SessionStatement::Rollback),
        ] {
            assert_eq!(own(&format!("{verb}{words}")), expected, "{verb}{words}");
        }
    }
    for (sql, expected) in [
        ("COMMIT AND CHAIN", ("0A000", 8)),
        ("ROLLBACK WORK AND CHAIN", ("0A000", 15)),
        ("COMMIT PREPARED 'a'", ("0A000", 8)),
        ("ROLLBACK PREPARED 'a'", ("0A000", 10)),
        ("PREPARE TRANSACTION 'a'", ("0A000", 9)),
        ("COMMIT now", ("42601", 8)),
        ("COMMIT AND", ("42601", 11)),
        ("COMMIT AND NO", ("42601", 12)),
        ("BEGIN READ", ("42601", 7)),
        ("BEGIN READ ONLY,", ("42601", 17)),
        ("BEGIN ISOLATION LEVEL", ("42601", 22)),
        ("BEGIN ISOLATION LEVEL CHAOS", ("42601", 23)),
        ("SET TRANSACTION", ("42601", 16)),
        ("SET SESSION CHARACTERISTICS AS TRANSACTION", ("42601", 43)),
    ] {
        assert_eq!(refusal(sql), expected, "{sql}");
    }
}

#[test]
fn savepoints_are_recognized_for_the_settings() {
    for (sql, expected) in [
        ("SAVEPOINT a", SavepointStatement::Set("a".into())),
        ("savepoint \"A b\";", SavepointStatement::Set("A b".into())),
        ("RELEASE a", SavepointStatement::Release("a".into())),
        ("RELEASE SAVEPOINT A", SavepointStatement::Release("a".into())),
        ("ROLLBACK TO a", SavepointStatement::RollbackTo("a".into())),
        ("/* x */ ABORT WORK TO SAVEPOINT a", SavepointStatement::RollbackTo("a".into())),
    ] {
        assert_eq!(savepoint(sql, Dialect::Saltwing), Some(expected), "{sql}");
        assert_eq!(parsed(sql), None, "{sql}");
    }
    for sql in ["", "SAVEPOINT", "SAVEPOINT a b", "ROLLBACK", "RELEASE 'a'", "SELECT 1"] {
        assert_eq!(savepoint(sql, Dialect::Saltwing), None, "{sql}");
    }
}
