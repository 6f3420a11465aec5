//! One connection of a client.

use std::time::Duration;

use saltwing::{Connection as Library, Dialect, Settings, Statement as Prepared, TransactionState};
use saltwing_sessions::{Limits, RunningStatement, Session};
use tokio::time::Instant;

use crate::error::AvaticaError;
use crate::messages::ConnectionProperties;
use crate::statements::Statements;

/// A connection that is not used for as long is closed, unless the limits say otherwise.
pub(crate) const CONNECTION_IDLE_MAX: Duration = Duration::from_secs(600);

/// `REPEATABLE_READ` of JDBC, which is the nearest to snapshot isolation.
const REPEATABLE_READ: u32 = 4;
/// `SERIALIZABLE` of JDBC.
const SERIALIZABLE: u32 = 8;

/// A connection of a client: its session, its settings and its statements.
pub(crate) struct Connection {
    /// The id that the client has chosen.
    pub(crate) id: String,
    pub(crate) session: Session,
    /// The session's connection, in Phoenix's dialect.
    pub(crate) library: Library,
    pub(crate) statements: Statements,
    /// Whether each statement is a transaction of its own.
    pub(crate) auto_commit: bool,
    pub(crate) read_only: bool,
    /// Whether a statement of the open transaction may have written rows.
    pub(crate) has_written: bool,
    isolation: u32,
    catalog: String,
    idle_max: (Duration, Duration),
    used: Instant,
}

impl Connection {
    /// A connection over a session, as Avatica has it at first: with autocommit.
    pub(crate) fn new(id: String, session: Session, limits: &Limits) -> Self {
        let library = session.connection().with_settings(|settings: &mut Settings| settings.dialect = Dialect::Phoenix);
        let outside = limits.idle_timeout.unwrap_or(CONNECTION_IDLE_MAX);
        let inside = limits.idle_in_transaction_timeout.map_or(outside, |timeout| timeout.min(outside));
        Self {
            id,
            session,
            library,
            statements: Statements::new(limits),
            auto_commit: true,
            read_only: false,
            has_written: false,
            isolation: REPEATABLE_READ,
            catalog: String::new(),
            idle_max: (outside, inside),
            used: Instant::now(),
        }
    }

    /// Notes that a request ends now.
    pub(crate) fn touch(&mut self) {
        self.used = Instant::now();
    }

    /// Whether it was not used for so long that it ends.
    pub(crate) fn is_expired(&self, now: Instant) -> bool {
        let (outside, inside) = self.idle_max;
        let max = if self.library.transaction_state() == TransactionState::None { outside } else { inside };
        now.saturating_duration_since(self.used) >= max
    }

    /// The settings as a client gets them.
    pub(crate) fn properties(&self) -> ConnectionProperties {
        ConnectionProperties {
            is_dirty: false,
            auto_commit: self.auto_commit,
            read_only: self.read_only,
            transaction_isolation: self.isolation,
            catalog: self.catalog.clone(),
            schema: String::new(),
            has_auto_commit: true,
            has_read_only: true,
        }
    }

    /// Takes over those settings of a client that need no transaction to end or begin. A catalog is taken and has no effect, as JDBC wants it of
    /// databases without catalogs; an isolation of 0 is an absent one.
    ///
    /// # Errors
    /// [`AvaticaError::Unsupported`] for SERIALIZABLE, and for a schema: names without one would mean another table then.
    pub(crate) fn set_properties(&mut self, given: &ConnectionProperties) -> Result<(), AvaticaError> {
        if given.transaction_isolation >= SERIALIZABLE {
            return Err(AvaticaError::Unsupported {
                feature: "SERIALIZABLE",
                help: "use REPEATABLE_READ: transactions have snapshot isolation",
            });
        }
        if !given.schema.is_empty() {
            return Err(AvaticaError::Unsupported {
                feature: "a schema of the connection",
                help: "write the schema before the name, as in s.t",
            });
        }
        if given.transaction_isolation != 0 {
            self.isolation = given.transaction_isolation;
        }
        if given.has_read_only {
            self.read_only = given.read_only;
        }
        given.catalog.clone_into(&mut self.catalog);
        Ok(())
    }

    /// Prepares a statement.
    ///
    /// # Errors
    /// The library's.
    pub(crate) async fn prepare(&mut self, sql: &str) -> Result<Prepared, AvaticaError> {
        Ok(self.library.prepare(sql).await?)
    }

    /// Ends a statement that [`Session::begin`] began: gives its value without the number of rows that it sent or wrote, which is counted.
    ///
    /// # Errors
    /// That of the statement.
    pub(crate) fn ended<T>(
        mut running: RunningStatement,
        done: Result<(T, u64), AvaticaError>,
    ) -> Result<T, AvaticaError> {
        match done {
            Ok((value, rows)) => {
                running.add_rows(rows);
                Ok(value)
            }
            Err(error) => {
                running.fail(error.sqlstate());
                Err(error)
            }
        }
    }
}
