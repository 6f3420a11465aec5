//! Why a statement of the session cannot be read.

use saltwing::ErrorCode;

use crate::tokens::TokenError;

/// Why a statement of the session cannot be read. Each error has a SQLSTATE and a place in the statement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SessionSyntaxError {
    /// A word that cannot be read, or does not belong there.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// PostgreSQL has the statement, and Saltwing does not.
    #[error("{statement} is not supported: {reason}")]
    NotSupported {
        /// The statement, or the part of it.
        statement: &'static str,
        /// Why it is not.
        reason: &'static str,
        /// What the client can do.
        help: Option<&'static str>,
        /// The place of the part.
        position: usize,
    },
    /// A cursor would move backwards.
    #[error("{direction} is not possible: cursors move forward only")]
    ForwardOnly {
        /// The direction.
        direction: &'static str,
        /// Its place.
        position: usize,
    },
    /// There is no type of this name.
    #[error("type \"{name}\" does not exist")]
    NoSuchType {
        /// The name.
        name: String,
        /// Its place.
        position: usize,
    },
    /// An argument of EXECUTE that is no value of its type.
    #[error("{message}")]
    BadArgument {
        /// The library's code.
        code: ErrorCode,
        /// The library's text.
        message: String,
        /// The place of the argument.
        position: usize,
    },
    /// More values, or deeper ones, than a statement may have.
    #[error("a statement has at most {limit} {counted}")]
    TooMany {
        /// The limit.
        limit: usize,
        /// What is counted.
        counted: &'static str,
        /// The place of the first one too many.
        position: usize,
    },
}

impl SessionSyntaxError {
    /// The SQLSTATE, which is PostgreSQL's for the same.
    pub(crate) fn sqlstate(&self) -> &'static str {
        match self {
            Self::Token(_) => TokenError::SQLSTATE,
            Self::NotSupported { .. } => "0A000",
            Self::ForwardOnly { .. } => "55000",
            Self::NoSuchType { .. } => "42704",
            Self::BadArgument { code, .. } => code.sqlstate(),
            Self::TooMany { .. } => "54000",
        }
    }

    /// What the client can do.
    pub(crate) fn help(&self) -> Option<&'static str> {
        match self {
            Self::NotSupported { help, .. } => *help,
            Self::ForwardOnly { .. } => Some("declare the cursor again, or order its query the other way"),
            Self::Token(_) | Self::NoSuchType { .. } | Self::BadArgument { .. } | Self::TooMany { .. } => None,
        }
    }

    /// The place in the statement, in characters from 1.
    pub(crate) fn position(&self) -> usize {
        match self {
            Self::Token(error) => error.position(),
            Self::NotSupported { position, .. }
            | Self::ForwardOnly { position, .. }
            | Self::NoSuchType { position, .. }
            | Self::BadArgument { position, .. }
            | Self::TooMany { position, .. } => *position,
        }
    }
}
