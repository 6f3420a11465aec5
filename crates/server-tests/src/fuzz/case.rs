//! What is sent in one case.

use std::fmt::Write;

/// Which port a case goes to, and what comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// PostgreSQL's, without a login.
    Postgres,
    /// PostgreSQL's, after the login.
    Session,
    /// That of Phoenix's clients.
    Avatica,
    /// The console's; [`TOKEN`] stands for the token of a login.
    Console,
}

/// In the bytes of a case for the console: the token of its login.
pub const TOKEN: &str = "@@@@@@@@@@@@@@@@";

/// A part of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Bytes, as they are.
    Send(Vec<u8>),
    /// The client waits for this number of milliseconds.
    Pause(u64),
    /// A request to cancel, with the session's own key, on a connection of its own.
    Cancel,
}

/// How a case ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client is gone at once.
    Vanish,
    /// The client sends no more; the server must end the connection.
    HalfClose,
    /// A session of PostgreSQL must take a next statement.
    GoesOn,
}

/// A conversation's half: that of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Where it goes.
    pub port: Port,
    /// What is sent.
    pub steps: Vec<Step>,
    /// How it ends.
    pub end: End,
    /// Whether the client reads the answers meanwhile.
    pub reads: bool,
}

impl Case {
    /// Its bytes as text, a line for each step.
    pub fn shown(&self) -> String {
        let mut text = format!("{:?}, {:?}, reads: {}\n", self.port, self.end, self.reads);
        for step in &self.steps {
            // Writing into a String does not fail.
            let _ = match step {
                Step::Send(bytes) => writeln!(text, "send \"{}\"", bytes.escape_ascii()),
                Step::Pause(milliseconds) => writeln!(text, "pause {milliseconds}"),
                Step::Cancel => writeln!(text, "cancel"),
            };
        }
        text
    }
}
