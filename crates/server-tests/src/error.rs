use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a test could not be made, or what it found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TestError {
    /// A file of the tests.
    #[error("{path}")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// Of the system.
        source: io::Error,
    },
    /// A program that cannot be run.
    #[error("{program}")]
    Program {
        /// Its name, or its path.
        program: String,
        /// Of the system.
        source: io::Error,
    },
    /// A socket of the tests.
    #[error("the connection")]
    Socket(#[from] io::Error),
    /// The server's program ended before it had printed its addresses, or did not print them in time.
    #[error("the server does not serve after {waited:?}: {output}")]
    NotServing {
        /// The time since its start.
        waited: Duration,
        /// What it has written.
        output: String,
    },
    /// Not the address of a server.
    #[error("{url} is not postgresql://user:password@host:port/database")]
    Url {
        /// The text.
        url: String,
    },
    /// Tests of load and of attacks are for servers of this machine.
    #[error("{host} is not an address of this machine")]
    NotLoopback {
        /// The host of the URL.
        host: String,
    },
    /// An answer of the server, or the end of its connection.
    #[error("{doing}")]
    Postgres {
        /// What was done.
        doing: &'static str,
        /// Of the client.
        source: tokio_postgres::Error,
    },
    /// What a check found.
    #[error("{0}")]
    Found(String),
}

impl From<tokio_postgres::Error> for TestError {
    fn from(source: tokio_postgres::Error) -> Self {
        Self::Postgres { doing: "a statement", source }
    }
}

impl TestError {
    /// The error and its causes in one line.
    pub fn line(&self) -> String {
        let mut line = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            let text = error.to_string();
            if !line.ends_with(&text) {
                line.push_str(": ");
                line.push_str(&text);
            }
            cause = error.source();
        }
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// An error with this text, unless the condition holds.
pub(crate) fn ensure(holds: bool, text: impl FnOnce() -> String) -> Result<(), TestError> {
    if holds { Ok(()) } else { Err(TestError::Found(text())) }
}

/// An error with both values, unless they are equal.
pub(crate) fn equal<T: PartialEq + std::fmt::Debug>(got: &T, expected: &T) -> Result<(), TestError> {
    ensure(got == expected, || format!("expected {expected:?}, got {got:?}"))
}
