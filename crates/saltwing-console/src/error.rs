//! Errors of calls.

use http::StatusCode;
use saltwing_sessions::Refusal;

use crate::failed::Failed;

/// Why a call fails.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConsoleError {
    #[error("there is no login, or it has ended")]
    NoLogin,
    #[error("there is no such call")]
    NoSuchCall,
    #[error("the body of a call is JSON (content-type: application/json)")]
    NotJson,
    #[error("the body of the call: {reason}")]
    BadBody { reason: String },
    #[error("a statement of this login still runs")]
    Runs,
    #[error("the result is closed")]
    NoResult,
    #[error("there is no such session")]
    NoSession,
    #[error("the console has {max} logins, which is its limit")]
    TooManyLogins { max: usize },
    #[error("the system gives no random bytes")]
    NoRandomBytes,
    #[error("a bug of the server: {0}")]
    Bug(&'static str),
    #[error(transparent)]
    Statement(#[from] Failed),
    #[error(transparent)]
    Refusal(#[from] Refusal),
    #[error(transparent)]
    Database(#[from] saltwing::Error),
}

impl ConsoleError {
    /// The status of the answer.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::NoLogin | Self::Refusal(Refusal::WrongPassword { .. } | Refusal::NoPassword) => {
                StatusCode::UNAUTHORIZED
            }
            Self::NoSuchCall | Self::NoSession => StatusCode::NOT_FOUND,
            Self::NotJson => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::BadBody { .. } => StatusCode::BAD_REQUEST,
            Self::Runs => StatusCode::CONFLICT,
            Self::NoResult => StatusCode::GONE,
            Self::TooManyLogins { .. } | Self::Refusal(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::NoRandomBytes | Self::Bug(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Statement(_) | Self::Database(_) => StatusCode::UNPROCESSABLE_ENTITY,
        }
    }

    /// Five characters.
    pub(crate) fn sqlstate(&self) -> &str {
        match self {
            Self::NoLogin => "28000",
            Self::NoSuchCall | Self::NotJson | Self::BadBody { .. } => "08P01",
            Self::Runs => "55006",
            Self::NoResult => "24000",
            Self::NoSession => "42704",
            Self::TooManyLogins { .. } => "53300",
            Self::NoRandomBytes | Self::Bug(_) => "XX000",
            Self::Statement(failed) => failed.sqlstate(),
            Self::Refusal(refusal) => refusal.sqlstate(),
            Self::Database(error) => error.sqlstate(),
        }
    }

    /// What the user can do.
    pub(crate) fn help(&self) -> Option<String> {
        match self {
            Self::Refusal(refusal) => refusal.help(),
            Self::Database(error) => error.help().map(str::to_owned),
            Self::NoResult => Some("run the statement again".to_owned()),
            Self::Runs => Some("wait for its end, or cancel it".to_owned()),
            Self::TooManyLogins { .. } => Some("log out in other browsers, or wait until their logins end".to_owned()),
            _ => None,
        }
    }
}
