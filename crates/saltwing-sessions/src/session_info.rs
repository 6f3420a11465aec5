//! Sessions as lists show them.

use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use crate::login::Protocol;

/// A session as lists show it.
#[derive(Clone, Debug)]
pub struct SessionInfo {
    /// Its number.
    pub id: u32,
    /// Its protocol.
    pub protocol: Protocol,
    /// The client's address.
    pub peer: Option<SocketAddr>,
    /// Its user.
    pub user: String,
    /// The name that the client gave itself.
    pub application: String,
    /// The time of its login.
    pub since: SystemTime,
    /// The statement that runs, or the last one that ran.
    pub statement: Option<StatementInfo>,
}

/// A statement as lists show it.
#[derive(Clone, Debug)]
pub struct StatementInfo {
    /// The beginning of its text, without passwords.
    pub text: String,
    /// Whether it runs.
    pub is_running: bool,
    /// How long it runs, or ran.
    pub elapsed: Duration,
    /// Rows that it has scanned so far, if it runs and scans.
    pub rows_scanned: Option<u64>,
}
