//! Errors as the fields of an ErrorResponse.

use pgwire::error::ErrorInfo;
use saltwing::{ErrorCode, Span};
use saltwing_pg_catalog::PgCatalog;
use saltwing_sessions::Refusal;

use crate::values::WireError;

/// The statement fails, and the session goes on.
const ERROR: &str = "ERROR";
/// The connection ends.
const FATAL: &str = "FATAL";

pub(crate) fn fields(severity: &str, code: &str, message: String) -> Box<ErrorInfo> {
    let mut info = Box::new(ErrorInfo::new(severity.to_owned(), code.to_owned(), message));
    info.severity_nonlocalized = Some(severity.to_owned());
    info
}

/// The fields of an error of a statement. `position` is that of [`position_in`].
///
/// The help is the hint, and the key of the row is the detail. A unique index counts as a constraint, as in PostgreSQL.
pub(crate) fn error_info(error: &saltwing::Error, position: Option<u32>) -> Box<ErrorInfo> {
    let mut info = fields(ERROR, error.sqlstate(), error.to_string());
    add_subject(&mut info, error);
    info.position = position.map(|position| position.to_string());
    info
}

/// Adds what an error is about, and the advice.
fn add_subject(info: &mut ErrorInfo, error: &saltwing::Error) {
    info.hint = error.help().map(str::to_owned);
    info.detail = error.key().map(|key| match error.code() {
        ErrorCode::DuplicateKey => format!("Key ({key}) already exists."),
        ErrorCode::Check => format!("Failing row has the key ({key})."),
        _ => format!("The row has the key ({key})."),
    });
    if let Some(name) = error.table() {
        let (schema, table) = name.split_once('.').map_or((None, name), |(schema, table)| (Some(schema), table));
        info.schema = schema.map(str::to_owned);
        info.table = Some(table.to_owned());
    }
    info.column = error.column().map(str::to_owned);
    info.constraint = match (error.code(), &info.table, error.key()) {
        // Of the primary key.
        (ErrorCode::DuplicateKey, Some(table), Some(_)) => Some(PgCatalog::key_constraint(table, error.constraint())),
        _ => error.constraint().map(str::to_owned),
    };
}

/// The fields of an error of a value: of a parameter, or of a row.
pub(crate) fn value_error_info(error: &WireError) -> Box<ErrorInfo> {
    fields(ERROR, error.sqlstate(), error.to_string())
}

/// The fields of a refusal, after which the connection ends.
pub(crate) fn refusal_info(refusal: &Refusal) -> Box<ErrorInfo> {
    let mut info = fields(FATAL, refusal.sqlstate(), refusal.to_string());
    if let Refusal::Database(error) = refusal {
        add_subject(&mut info, error);
    }
    info.hint = refusal.help();
    info
}

/// Where an error stands in the text that the client sent, in characters from 1. `statement` is the statement that failed, in
/// which the span is a place, and `offset_chars` is the number of characters before it in the whole text. `None` if the statement
/// has no such place.
///
/// The text is read once, up to the place.
pub(crate) fn position_in(statement: &str, span: Span, offset_chars: u32) -> Option<u32> {
    let (line, column) = (span.start.line, span.start.column);
    let mut at = (1, 1);
    let mut position = offset_chars.checked_add(1)?;
    let mut characters = statement.chars();
    while at != (line, column) {
        // A column beyond the end of its line is no place.
        if at > (line, column) {
            return None;
        }
        at = match characters.next()? {
            '\n' => (at.0 + 1, 1),
            _ => (at.0, at.1 + 1),
        };
        position = position.checked_add(1)?;
    }
    Some(position)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use saltwing::{Database, Position, params};

    use super::*;

    fn info_of(statements: &[&str]) -> Box<ErrorInfo> {
        let connection = Database::memory().unwrap().connect().blocking();
        let (last, first) = statements.split_last().unwrap();
        for statement in first {
            connection.execute(statement, ()).unwrap();
        }
        let error = connection.execute(last, ()).unwrap_err();
        let position = error.span().and_then(|span| position_in(last, span, 0));
        error_info(&error, position)
    }

    #[test]
    fn an_error_of_a_statement_has_its_place_and_its_advice() {
        let info = info_of(&["SELECT 1,\n  é.x FROM missing"]);
        assert_eq!((info.severity.as_str(), info.code.as_str()), ("ERROR", "42P01"));
        assert_eq!(info.severity_nonlocalized.as_deref(), Some("ERROR"));
        assert_eq!(info.position.as_deref(), Some("22"));
        assert_eq!(info.table.as_deref(), Some("missing"));
        assert!(info.message.contains("missing"));
    }

    #[test]
    fn an_error_of_a_row_names_table_column_and_key() {
        let table =
            "CREATE TABLE s.t (a VARCHAR, b BIGINT NOT NULL, c BIGINT CHECK (c > 0), CONSTRAINT pk PRIMARY KEY (a, b))";
        let created = ["CREATE SCHEMA s", table, "INSERT INTO s.t VALUES ('it''s', 7, 1)"];
        let run = |last| info_of(&[&created[..], &[last]].concat());
        let info = run("INSERT INTO s.t VALUES ('it''s', 7, 2)");
        assert_eq!((info.code.as_str(), info.detail.as_deref()), ("23505", Some("Key ('it''s', 7) already exists.")));
        assert_eq!((info.schema.as_deref(), info.table.as_deref()), (Some("s"), Some("t")));
        assert_eq!(info.hint.as_deref(), Some("UPSERT replaces a row that is there"));
        assert_eq!(info.constraint.as_deref(), Some("t_pkey"));
        let info = run("INSERT INTO s.t VALUES ('x', 1, 0)");
        assert_eq!((info.code.as_str(), info.detail.as_deref()), ("23514", Some("Failing row has the key ('x', 1).")));
        assert_eq!((info.table.as_deref(), info.constraint.as_deref()), (Some("t"), Some("t_c_check")));
        let info = run("UPSERT INTO s.t (a, b) VALUES ('x', NULL)");
        assert_eq!((info.code.as_str(), info.column.as_deref()), ("23502", Some("b")));
        assert_eq!((info.schema.as_deref(), info.table.as_deref(), info.detail), (Some("s"), Some("t"), None));
        assert_eq!(info.constraint, None);
    }

    #[test]
    fn an_error_of_a_unique_index_names_it() {
        let table = "CREATE TABLE s.t (a BIGINT, b VARCHAR, CONSTRAINT own_name PRIMARY KEY (a))";
        let created =
            ["CREATE SCHEMA s", table, "CREATE UNIQUE INDEX t_b ON s.t (b)", "INSERT INTO s.t VALUES (1, 'x')"];
        let run = |last| info_of(&[&created[..], &[last]].concat());
        let names =
            |info: Box<ErrorInfo>| [info.code, info.schema.unwrap(), info.table.unwrap(), info.constraint.unwrap()];
        assert_eq!(names(run("INSERT INTO s.t VALUES (2, 'x')")), ["23505", "s", "t", "t_b"]);
        assert_eq!(names(run("INSERT INTO s.t VALUES (1, 'y')")), ["23505", "s", "t", "own_name"]);
    }

    #[test]
    fn a_conflict_shows_the_key() {
        let database = Database::memory().unwrap();
        let [one, two] = [(); 2].map(|()| database.connect().blocking());
        one.execute("CREATE TABLE t (a BIGINT PRIMARY KEY, b BIGINT)", ()).unwrap();
        one.execute("UPSERT INTO t VALUES (1, 1)", ()).unwrap();
        for connection in [&one, &two] {
            connection.execute("BEGIN", ()).unwrap();
            connection.execute("UPDATE t SET b = b + 1 WHERE a = ?", params![1]).unwrap();
        }
        one.execute("COMMIT", ()).unwrap();
        let info = error_info(&two.execute("COMMIT", ()).unwrap_err(), None);
        assert_eq!((info.code.as_str(), info.detail.as_deref()), ("40001", Some("The row has the key (1).")));
        assert_eq!((info.table.as_deref(), info.position), (Some("t"), None));
    }

    #[test]
    fn errors_that_end_the_connection_are_fatal() {
        let info = refusal_info(&Refusal::TooManyConnections { max: 5 });
        assert_eq!((info.severity.as_str(), info.code.as_str()), ("FATAL", "53300"));
        assert!(info.hint.is_some_and(|hint| hint.contains("--max-connections")));
        let info = refusal_info(&Refusal::WrongPassword { user: "ann".into() });
        assert_eq!(
            (info.code.as_str(), info.message.as_str()),
            ("28P01", "password authentication failed for user \"ann\"")
        );
        assert_eq!(info.severity_nonlocalized.as_deref(), Some("FATAL"));
        let failed = Database::memory().unwrap().connect().blocking().execute("SELECT FROM", ()).unwrap_err();
        let info = refusal_info(&Refusal::Database(failed));
        assert_eq!((info.severity.as_str(), info.code.as_str()), ("FATAL", "42601"));
    }

    #[test]
    fn an_error_of_a_value_is_one_of_the_statement() {
        let info = value_error_info(&WireError::FormatCode { code: 7 });
        assert_eq!((info.severity.as_str(), info.code.as_str()), ("ERROR", "08P01"));
        assert_eq!(info.message, "unsupported format code: 7");
    }

    proptest! {
        /// The position of each character of a text, by the line and the column that count to it.
        #[test]
        fn positions_count_characters(text in "[aé\n]{0,20}", offset in 0u32..100) {
            let (mut line, mut column) = (1, 1);
            for (index, character) in text.chars().chain(['x']).enumerate() {
                let span = Span { start: Position { line, column }, end: Position { line, column } };
                prop_assert_eq!(position_in(&text, span, offset), Some(offset + index as u32 + 1));
                (line, column) = if character == '\n' { (line + 1, 1) } else { (line, column + 1) };
            }
        }
    }

    #[test]
    fn a_place_outside_the_statement_is_none() {
        for (line, column) in [(1, 4), (2, 2), (3, 1), (0, 0), (1, 0)] {
            assert_eq!(position_in("ab\n", Span::on_line(line, column, column), 0), None, "{line} {column}");
        }
        assert_eq!(position_in("ab", Span::on_line(1, 2, 2), u32::MAX - 1), None);
    }
}
