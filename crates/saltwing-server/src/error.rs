//! Why a server does not start, or did not end well.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// Why a server does not start, or did not end well.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// All ports are `off`.
    #[error("the server has no listener: all ports are off")]
    NoListener,
    /// One of the two options of TLS is missing.
    #[error("--tls-cert and --tls-key belong together: one of them is missing")]
    HalfOfTls,
    /// The address is outside loopback, and neither TLS nor `--insecure` was given.
    #[error("listening on {address}, outside loopback, takes TLS")]
    NoTls {
        /// The address of `--listen`.
        address: IpAddr,
    },
    /// The address is outside loopback, and the database has no users: every client would be its owner.
    #[error(
        "listening on {address}, outside loopback, takes a user with a password: every client would be the owner of the database"
    )]
    NoUsers {
        /// The address of `--listen`.
        address: IpAddr,
    },
    /// A listener cannot have its address.
    #[error("{option}: {address} cannot be listened on")]
    Bind {
        /// The option of its port.
        option: &'static str,
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// A file of TLS cannot be read.
    #[error("{path}")]
    TlsFile {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file of TLS has not what it should have.
    #[error("{path}: {reason}")]
    TlsContent {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The system gives no thread, timer or signal.
    #[error("the system gives the server no {resource}")]
    System {
        /// Threads or signals.
        resource: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// The server's thread panicked, which is a bug.
    #[error("the server ended by a bug: its log has the place")]
    Bug,
    /// The database's.
    #[error(transparent)]
    Database(#[from] saltwing::Error),
}

impl ServerError {
    /// What the operator can do.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::NoListener => Some("give --pg-port, --avatica-port or --http-port a number"),
            Self::HalfOfTls => Some("give both files, or none"),
            Self::NoTls { .. } => Some(
                "there are three ways out: give --tls-cert FILE and --tls-key FILE; or --insecure, which lets others on the network read what clients send; \
                 or listen on this machine alone (--listen 127.0.0.1)",
            ),
            Self::NoUsers { .. } => Some(
                "there are three ways out: make a user (saltwing DB -c \"CREATE USER ann PASSWORD '..'\"); or listen on this machine alone \
                 (--listen 127.0.0.1); or let clients come through a tunnel to this machine, such as one of ssh",
            ),
            Self::Bind { source, .. } if source.kind() == io::ErrorKind::AddrInUse => {
                Some("another program listens there: give the option another port, 0 for a free one, or off")
            }
            Self::Bind { .. }
            | Self::TlsFile { .. }
            | Self::TlsContent { .. }
            | Self::System { .. }
            | Self::Bug
            | Self::Database(_) => None,
        }
    }

    /// Whether the options are wrong, rather than the database or the machine.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::NoListener | Self::HalfOfTls | Self::NoTls { .. } | Self::NoUsers { .. })
    }
}
