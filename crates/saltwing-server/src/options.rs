//! The options of a server. The command line, the file of `--config` and the help are made of this one definition.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use saltwing_sessions::Limits;

use crate::ServerError;
use crate::option_value::{HostNames, MessageSize, Port, SlowMs, Time, TimeLimit, listen_address};

/// The options of a server, as arguments of clap. Options about the database itself belong to its opening.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct ServerOptions {
    /// Where it listens.
    #[command(flatten)]
    pub listen: ListenOptions,
    /// How connections are encrypted.
    #[command(flatten)]
    pub tls: TlsOptions,
    /// What clients may take.
    #[command(flatten)]
    pub limits: LimitOptions,
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
#[command(next_help_heading = "Listeners")]
pub struct ListenOptions {
    /// The address to listen on; outside loopback a server needs users and TLS
    #[arg(long = "listen", value_name = "ADDR", value_parser = listen_address, default_value_t = Self::default().address)]
    pub address: IpAddr,

    /// The port for PostgreSQL's clients; 0 chooses a free one, off leaves it out
    #[arg(long, value_name = "PORT", default_value_t = Self::default().pg_port)]
    pub pg_port: Port,

    /// The port for Phoenix's thin clients
    #[arg(long, value_name = "PORT", default_value_t = Self::default().avatica_port)]
    pub avatica_port: Port,

    /// The port of the console, of health and of metrics
    #[arg(long, value_name = "PORT", default_value_t = Self::default().http_port)]
    pub http_port: Port,

    /// Names of this machine by which requests may come to the HTTP port, besides localhost and addresses
    #[arg(long, value_name = "NAME,..")]
    pub http_host: Option<HostNames>,
}

impl Default for ListenOptions {
    fn default() -> Self {
        Self {
            address: Ipv4Addr::LOCALHOST.into(),
            pg_port: Port::Number(5433),
            avatica_port: Port::Number(8765),
            http_port: Port::Number(8080),
            http_host: None,
        }
    }
}

/// How connections are encrypted.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
#[command(next_help_heading = "TLS")]
pub struct TlsOptions {
    /// The server's certificate and those above it, PEM; read again on SIGHUP
    #[arg(long = "tls-cert", value_name = "FILE")]
    pub certificate: Option<PathBuf>,

    /// The private key of the certificate, PEM; read again on SIGHUP
    #[arg(long = "tls-key", value_name = "FILE")]
    pub key: Option<PathBuf>,

    /// Allow connections without TLS: outside loopback others can then read passwords of Avatica, and data
    #[arg(long)]
    pub insecure: bool,
}

/// What clients may take, and how long the end of the process may.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitOptions {
    /// Connections at once
    #[arg(long, value_name = "N", value_parser = positive, default_value_t = Self::default().max_connections)]
    pub max_connections: usize,

    /// Connections of one user at once
    #[arg(long, value_name = "N", value_parser = positive, default_value_t = Self::default().max_connections_per_user)]
    pub max_connections_per_user: usize,

    /// How long a login may take
    #[arg(long, value_name = "TIME", value_parser = positive_time, default_value_t = Self::default().login_timeout)]
    pub login_timeout: Time,

    /// How long a session may wait for its next statement outside a transaction, or off
    #[arg(long, value_name = "TIME", default_value_t = Self::default().idle_timeout)]
    pub idle_timeout: TimeLimit,

    /// How long a session may wait for its next statement inside a transaction, or off
    #[arg(long, value_name = "TIME", default_value_t = Self::default().idle_in_transaction_timeout)]
    pub idle_in_transaction_timeout: TimeLimit,

    /// How long a statement may run, or off; SET statement_timeout changes it for a session
    #[arg(long, value_name = "TIME", default_value_t = Self::default().statement_timeout)]
    pub statement_timeout: TimeLimit,

    /// How long a transaction may last, or off; SET transaction_timeout changes it for a session
    #[arg(long, value_name = "TIME", default_value_t = Self::default().transaction_timeout)]
    pub transaction_timeout: TimeLimit,

    /// How long a client may read nothing of an answer that waits for it, or off
    #[arg(long, value_name = "TIME", default_value_t = Self::default().send_timeout)]
    pub send_timeout: TimeLimit,

    /// The longest message of a client
    #[arg(long, value_name = "SIZE", default_value_t = Self::default().max_message)]
    pub max_message: MessageSize,

    /// Prepared statements of a session at once
    #[arg(long, value_name = "N", value_parser = positive, default_value_t = Self::default().max_prepared_statements)]
    pub max_prepared_statements: usize,

    /// Open cursors of a session at once
    #[arg(long, value_name = "N", value_parser = positive, default_value_t = Self::default().max_cursors)]
    pub max_cursors: usize,

    /// Log statements that take as long, in milliseconds, or off
    #[arg(long, value_name = "MS", default_value_t = Self::default().slow_ms)]
    pub slow_ms: SlowMs,

    /// How long statements may go on after SIGTERM before they are cancelled
    #[arg(long, value_name = "TIME", default_value_t = Self::default().grace)]
    pub grace: Time,
}

/// How long statements may go on after SIGTERM, unless the options say otherwise.
const GRACE: Duration = Duration::from_secs(10);

impl Default for LimitOptions {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            max_connections: limits.connections_max,
            max_connections_per_user: limits.connections_per_user_max,
            login_timeout: Time(limits.login_timeout),
            idle_timeout: TimeLimit(limits.idle_timeout),
            idle_in_transaction_timeout: TimeLimit(limits.idle_in_transaction_timeout),
            statement_timeout: TimeLimit(limits.statement_timeout),
            transaction_timeout: TimeLimit(limits.transaction_timeout),
            send_timeout: TimeLimit(limits.send_timeout),
            max_message: MessageSize(limits.message_bytes_max),
            max_prepared_statements: limits.prepared_statements_max,
            max_cursors: limits.cursors_max,
            slow_ms: SlowMs(limits.slow_statement.and_then(|time| u64::try_from(time.as_millis()).ok())),
            grace: Time(GRACE),
        }
    }
}

impl LimitOptions {
    /// The limits of the sessions.
    pub fn limits(&self) -> Limits {
        Limits {
            connections_max: self.max_connections,
            connections_per_user_max: self.max_connections_per_user,
            login_timeout: self.login_timeout.0,
            idle_timeout: self.idle_timeout.0,
            idle_in_transaction_timeout: self.idle_in_transaction_timeout.0,
            transaction_timeout: self.transaction_timeout.0,
            statement_timeout: self.statement_timeout.0,
            send_timeout: self.send_timeout.0,
            message_bytes_max: self.max_message.0,
            prepared_statements_max: self.max_prepared_statements,
            cursors_max: self.max_cursors,
            slow_statement: self.slow_ms.0.map(Duration::from_millis),
        }
    }
}

impl ServerOptions {
    /// Checks what can be known before a database is open.
    ///
    /// # Errors
    /// [`ServerError::NoListener`]; [`ServerError::HalfOfTls`]; [`ServerError::NoTls`].
    pub fn check(&self) -> Result<(), ServerError> {
        let ListenOptions { address, pg_port, avatica_port, http_port, .. } = self.listen;
        if [pg_port, avatica_port, http_port].iter().all(|port| *port == Port::Off) {
            return Err(ServerError::NoListener);
        }
        if self.tls.certificate.is_some() != self.tls.key.is_some() {
            return Err(ServerError::HalfOfTls);
        }
        if !self.is_loopback() && self.tls.certificate.is_none() && !self.tls.insecure {
            return Err(ServerError::NoTls { address });
        }
        Ok(())
    }

    /// Whether only this machine can connect.
    pub(crate) fn is_loopback(&self) -> bool {
        self.listen.address.to_canonical().is_loopback()
    }
}

fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "a number from 1 on".to_owned())
}

fn positive_time(text: &str) -> Result<Time, String> {
    let time: Time = text.parse()?;
    match time.0.is_zero() {
        true => Err("a time longer than 0".to_owned()),
        false => Ok(time),
    }
}
