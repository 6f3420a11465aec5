//! Why a connection gets no session.

/// Why a connection gets no session. Each has a SQLSTATE and a text for the client.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// As many connections as [`Limits::connections_max`](crate::Limits::connections_max) are open.
    #[error("the server has {max} connections, which is its limit")]
    TooManyConnections {
        /// The limit.
        max: usize,
    },
    /// As many connections of the user as [`Limits::connections_per_user_max`](crate::Limits::connections_per_user_max) are open.
    #[error("user {user} has {max} connections, which is the limit for one user")]
    TooManyOfUser {
        /// The user.
        user: String,
        /// The limit.
        max: usize,
    },
    /// The process is about to end.
    #[error("the server is shutting down")]
    ShuttingDown,
    /// The password is wrong, or there is no such user; clients are not told which.
    #[error("password authentication failed for user \"{user}\"")]
    WrongPassword {
        /// The name that the client gave.
        user: String,
    },
    /// The client is no user: the database has users, or has lost them while [`Sessions::require_users`](crate::Sessions::require_users) is in force.
    #[error("the server takes no clients without a password")]
    NoPassword,
    /// The library refuses the connection.
    #[error(transparent)]
    Database(#[from] saltwing::Error),
}

impl Refusal {
    /// Five characters, as PostgreSQL gives for the same.
    pub fn sqlstate(&self) -> &'static str {
        match self {
            Self::TooManyConnections { .. } | Self::TooManyOfUser { .. } => "53300",
            Self::ShuttingDown => "57P03",
            Self::WrongPassword { .. } => "28P01",
            Self::NoPassword => "28000",
            Self::Database(error) => error.sqlstate(),
        }
    }

    /// What the client, or its operator, can do.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::TooManyConnections { .. } => {
                Some("close connections, or start the server with a higher --max-connections".to_owned())
            }
            Self::TooManyOfUser { .. } => Some(
                "close connections of this user, or start the server with a higher --max-connections-per-user"
                    .to_owned(),
            ),
            Self::NoPassword => {
                Some("log in as a user of the database, which its owner makes by CREATE USER".to_owned())
            }
            Self::ShuttingDown | Self::WrongPassword { .. } => None,
            Self::Database(error) => error.help().map(str::to_owned),
        }
    }
}
