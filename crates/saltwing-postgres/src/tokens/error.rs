//! Why a word of a statement cannot be read.

/// Why a word of a statement cannot be read, with its place in characters from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TokenError {
    /// The text goes on otherwise than the statement can.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// The words or values that may stand there.
        expected: String,
        /// The text that stands there.
        found: String,
        /// Its place.
        position: usize,
    },
    /// A malformed string, name or number.
    #[error("{reason}")]
    Malformed {
        /// What is wrong with it.
        reason: &'static str,
        /// Its place.
        position: usize,
    },
}

impl TokenError {
    /// The SQLSTATE: a syntax error.
    pub(crate) const SQLSTATE: &'static str = "42601";

    /// The place in the statement, in characters from 1.
    pub(crate) fn position(&self) -> usize {
        match self {
            Self::Expected { position, .. } | Self::Malformed { position, .. } => *position,
        }
    }
}
