//! Why a session ends, and why a statement does.

use pgwire::error::ErrorInfo;

use crate::messages::fatal;
use crate::wire::WireFailure;

/// Why a session ends.
#[derive(Debug)]
pub(super) enum SessionEnd {
    /// The client has sent Terminate.
    Terminated,
    /// The connection broke, or its bytes make no sense.
    Wire(WireFailure),
    /// The client was idle for too long.
    Idle,
    /// The client was idle for too long inside a transaction.
    IdleInTransaction,
    /// The process is about to end.
    ShuttingDown,
}

impl SessionEnd {
    /// The error that the client gets, if it gets one.
    pub(super) fn farewell(&self) -> Option<Box<ErrorInfo>> {
        match self {
            Self::Terminated => None,
            Self::Wire(WireFailure::Malformed(malformed)) => Some(fatal(malformed.sqlstate(), malformed.to_string())),
            Self::Wire(_) => None,
            Self::Idle => Some(fatal("57P05", "terminating connection due to idle-session timeout")),
            Self::IdleInTransaction => {
                Some(fatal("25P03", "terminating connection due to idle-in-transaction timeout"))
            }
            Self::ShuttingDown => Some(fatal("57P01", "terminating connection due to administrator command")),
        }
    }
}

/// Why a message of the client has no success.
#[derive(Debug)]
pub(super) enum Failure {
    /// The client gets an error, and the session goes on.
    Statement(Box<ErrorInfo>),
    /// The session ends.
    Ended(SessionEnd),
}

impl From<Box<ErrorInfo>> for Failure {
    fn from(info: Box<ErrorInfo>) -> Self {
        Self::Statement(info)
    }
}

impl From<WireFailure> for Failure {
    fn from(failure: WireFailure) -> Self {
        Self::Ended(SessionEnd::Wire(failure))
    }
}
