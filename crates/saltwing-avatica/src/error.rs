//! The error of the crate, and the message that a client gets of it.
//!
//! Drivers read an error's text: `ERROR 1012 (42M03): text ->`. The number is Phoenix's for the same, or 0; advice comes before the arrow,
//! since the Python driver drops what follows it.

use saltwing_sessions::Refusal;

use crate::messages::{ErrorResponse, Severity};
use crate::phoenix_states;

/// Why a request has no other answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AvaticaError {
    /// The statement fails.
    #[error(transparent)]
    Library(#[from] saltwing::Error),
    /// There is no session for the client.
    #[error(transparent)]
    Refusal(#[from] Refusal),
    /// The bytes are no message.
    #[error("the body is no message of Avatica: {0}")]
    BadMessage(#[from] prost::DecodeError),
    /// The client speaks JSON.
    #[error("the body is JSON, and this server speaks protobuf")]
    Json,
    /// A body above the limit.
    #[error("the message has {bytes} bytes, and the limit is {max}")]
    MessageTooLarge {
        /// Its bytes.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// A message with more parts than the limit.
    #[error("the message has more than {max} values, rows or texts, which is the limit")]
    TooManyParts {
        /// The limit.
        max: usize,
    },
    /// The server does not know the request.
    #[error("there is no request {name}")]
    NoSuchRequest {
        /// The beginning of its name.
        name: String,
    },
    /// The client has no credentials, or is not the user of the connection.
    #[error("the request needs the name and the password of the user")]
    Unauthorized,
    /// No connection has this id.
    #[error("there is no connection {id}")]
    NoSuchConnection {
        /// The beginning of the id.
        id: String,
    },
    /// Another connection has this id.
    #[error("there is a connection {id} already")]
    ConnectionExists {
        /// The id.
        id: String,
    },
    /// A text that is no id.
    #[error("the id of a connection has 1 to {max} bytes, and this one has {bytes}")]
    BadConnectionId {
        /// Its bytes.
        bytes: usize,
        /// The most bytes.
        max: usize,
    },
    /// The connection has as many statements as it may.
    #[error("the connection has {max} statements, which is the limit")]
    TooManyStatements {
        /// The limit.
        max: usize,
    },
    /// The connection has as many open results as it may.
    #[error("the connection has {max} open results, which is the limit")]
    TooManyCursors {
        /// The limit.
        max: usize,
    },
    /// A value of a parameter that cannot be read.
    #[error("parameter {place}: {reason}")]
    BadParameter {
        /// Its place, from 1.
        place: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A value that has no form in the protocol.
    #[error("{value} has no form as {name} of Avatica")]
    ValueOutOfRange {
        /// The value as text.
        value: String,
        /// The type's name.
        name: &'static str,
    },
    /// The connection is read-only, and the statement writes.
    #[error("the connection is read-only")]
    ReadOnlyConnection,
    /// Something that this server does not have, with what to do instead.
    #[error("{feature} is not supported")]
    Unsupported {
        /// What it is.
        feature: &'static str,
        /// What the client does instead.
        help: &'static str,
    },
    /// A pattern for names above the limit.
    #[error("a pattern for names has at most {max} characters")]
    PatternTooLong {
        /// The most characters.
        max: usize,
    },
    /// A table that does not exist, or that the user does not see.
    #[error("no table {name}")]
    NoSuchTable {
        /// Its name.
        name: String,
    },
    /// A broken invariant.
    #[error("{0}")]
    Bug(&'static str),
}

/// The class that drivers know a lost connection by; JDBC knows it by the number 1.
const NO_SUCH_CONNECTION: (&str, u32) = ("org.apache.calcite.avatica.NoSuchConnectionException", 1);

impl AvaticaError {
    /// The status of HTTP: 500, on which no client tries again, or 401.
    pub(crate) fn status(&self) -> u16 {
        match self {
            Self::Unauthorized | Self::Refusal(Refusal::WrongPassword { .. }) => 401,
            _ => 500,
        }
    }

    /// The SQLSTATE: Phoenix's, if it has the error.
    pub(crate) fn sqlstate(&self) -> &'static str {
        match self {
            Self::Library(error) => error.phoenix_code().and_then(phoenix_states::state).unwrap_or(error.sqlstate()),
            Self::Refusal(refusal) => refusal.sqlstate(),
            Self::BadMessage(_) | Self::NoSuchRequest { .. } | Self::BadConnectionId { .. } => "08P01",
            Self::Json | Self::Unsupported { .. } => "0A000",
            Self::MessageTooLarge { .. } | Self::TooManyParts { .. } => "54000",
            Self::Unauthorized => "28000",
            Self::NoSuchConnection { .. } => "08003",
            Self::ConnectionExists { .. } => "08002",
            Self::TooManyStatements { .. } | Self::TooManyCursors { .. } => "53400",
            Self::BadParameter { .. } | Self::PatternTooLong { .. } => "22023",
            Self::ValueOutOfRange { .. } => "22008",
            Self::ReadOnlyConnection => "25502",
            Self::NoSuchTable { .. } => "42M03",
            Self::Bug(_) => "XX000",
        }
    }

    /// The number of Phoenix's error for the same; 0 if there is none.
    pub(crate) fn code(&self) -> u32 {
        match self {
            Self::Library(error) => error.phoenix_code().unwrap_or_default().into(),
            Self::NoSuchConnection { .. } => NO_SUCH_CONNECTION.1,
            Self::ReadOnlyConnection => 518,
            Self::NoSuchTable { .. } => 1012,
            _ => 0,
        }
    }

    /// What the client, or its operator, can do.
    fn help(&self) -> Option<String> {
        let help = match self {
            Self::Library(error) => error.help()?,
            Self::Refusal(refusal) => return refusal.help(),
            Self::Unsupported { help, .. } => help,
            Self::Json => "add ;serialization=PROTOBUF to the URL of the JDBC driver",
            Self::MessageTooLarge { .. } => "send smaller batches, or start the server with a higher --max-message",
            Self::Unauthorized => {
                "use HTTP Basic authentication: authentication=BASIC with avatica_user and avatica_password"
            }
            Self::NoSuchConnection { .. } => "connect again: the server ends connections that are idle for long",
            Self::TooManyStatements { .. } => {
                "close statements, or start the server with a higher --max-prepared-statements"
            }
            Self::TooManyCursors { .. } => {
                "read results to the end, close statements, or start the server with a higher --max-cursors"
            }
            _ => return None,
        };
        Some(help.to_owned())
    }

    fn exception(&self) -> &'static str {
        match self {
            Self::NoSuchConnection { .. } => NO_SUCH_CONNECTION.0,
            _ => "java.sql.SQLException",
        }
    }

    /// The text that drivers take apart.
    pub(crate) fn text(&self) -> String {
        let mut text = one_line(&self.to_string());
        if let Some(help) = self.help() {
            text = format!("{text}; {}", one_line(&help));
        }
        format!("ERROR {} ({}): {text} ->", self.code(), self.sqlstate())
    }

    /// The message.
    pub(crate) fn response(&self) -> ErrorResponse {
        let text = self.text();
        ErrorResponse {
            exceptions: vec![format!("{}: {text}", self.exception())],
            severity: Severity::Error.into(),
            error_code: self.code(),
            sql_state: self.sqlstate().to_owned(),
            has_exceptions: true,
            error_message: text,
        }
    }
}

/// The drivers' patterns end at the end of a line.
fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::AvaticaError;

    fn failure(sql: &str) -> AvaticaError {
        let connection = saltwing::Database::memory().unwrap().connect().blocking();
        connection.execute("CREATE TABLE log (k BIGINT PRIMARY KEY)", ()).unwrap();
        connection.execute(sql, ()).unwrap_err().into()
    }

    #[test]
    fn the_text_has_number_state_and_advice_before_the_arrow() {
        let response = failure("SELECT k FROM lag WHERE k = 1").response();
        assert_eq!((response.error_code, response.sql_state.as_str(), response.severity), (1012, "42M03", 2));
        assert!(response.error_message.starts_with("ERROR 1012 (42M03): "), "{}", response.error_message);
        assert!(
            response.error_message.contains("; ") && response.error_message.ends_with(" ->"),
            "{}",
            response.error_message
        );
        assert!(response.has_exceptions);
    }

    #[test]
    fn a_text_of_several_lines_becomes_one() {
        let text = failure("SELECT k FROM log").text();
        assert!(text.starts_with("ERROR 0 (54F01): ") && !text.contains('\n'), "{text}");
    }

    #[test]
    fn a_lost_connection_is_known_by_its_class_and_its_number() {
        let response = AvaticaError::NoSuchConnection { id: "a".to_owned() }.response();
        assert_eq!((response.error_code, response.sql_state.as_str()), (1, "08003"));
        assert!(response.exceptions[0].starts_with("org.apache.calcite.avatica.NoSuchConnectionException: "));
    }

    #[test]
    fn only_a_missing_or_wrong_password_asks_for_another_one() {
        assert_eq!(AvaticaError::Unauthorized.status(), 401);
        assert_eq!(AvaticaError::Json.status(), 500);
        assert_eq!(AvaticaError::Bug("x").status(), 500);
    }
}
