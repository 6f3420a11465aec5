//! How a change ended.

use crate::error::Error;

/// How a change ended: made, certainly not made, or unknown.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a change may have been refused, or its outcome may be unknown"]
pub enum Outcome<T> {
    /// It was made.
    Done(T),
    /// It was not made.
    Refused(Error),
    /// It may have been made or not: the reply was lost, and sending it again could make it twice. Reading the row tells.
    Unknown(Error),
}

impl<T> Outcome<T> {
    /// The value of a change that was made.
    pub fn done(self) -> Option<T> {
        match self {
            Self::Done(value) => Some(value),
            Self::Refused(_) | Self::Unknown(_) => None,
        }
    }

    /// Whether it was made.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done(_))
    }

    /// Whether it may have been made or not.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown(_))
    }

    /// The error of a change that was not made, or may not have been made.
    pub fn error(&self) -> Option<&Error> {
        match self {
            Self::Done(_) => None,
            Self::Refused(error) | Self::Unknown(error) => Some(error),
        }
    }

    /// The value with another meaning.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Self::Done(value) => Outcome::Done(f(value)),
            Self::Refused(error) => Outcome::Refused(error),
            Self::Unknown(error) => Outcome::Unknown(error),
        }
    }

    /// The value, or the error. This gives up the difference between refused and unknown: it is meant for reads, and for callers to
    /// whom both are the same.
    ///
    /// # Errors
    /// The error of an outcome that is not [`Outcome::Done`].
    pub fn into_result(self) -> Result<T, Error> {
        match self {
            Self::Done(value) => Ok(value),
            Self::Refused(error) | Self::Unknown(error) => Err(error),
        }
    }
}
