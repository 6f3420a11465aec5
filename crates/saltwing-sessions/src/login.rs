//! Who has logged in, and how the client speaks.

/// The protocol of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// PostgreSQL's.
    Postgres,
    /// Avatica's, of Phoenix Query Server.
    Avatica,
    /// HTTP of the console, of health and of metrics.
    Http,
}

impl Protocol {
    /// Its word in logs, metrics and lists.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Avatica => "avatica",
            Self::Http => "console",
        }
    }
}

/// The user of a session after the login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Login {
    /// The owner of a database without users: every client is.
    Owner {
        /// The name that the client gave.
        name: String,
    },
    /// A user of the database, whose password was right.
    User(String),
}

impl Login {
    /// The name of the user.
    pub fn name(&self) -> &str {
        match self {
            Self::Owner { name } | Self::User(name) => name,
        }
    }
}
