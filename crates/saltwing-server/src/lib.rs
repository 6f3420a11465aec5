//! The server process: listeners, limits, logs and metrics.
//!
//! ```text
//!  saltwing serve ──► options ──► Server::start ──► Running ◄── signals: stop, read the certificate again
//!                                      │
//!              ┌───────────────────────┼───────────────────────┐
//!        listener: postgres      listener: avatica       listener: http          accept, TCP_NODELAY, one task a connection
//!              │                  http_connection         http_connection        TLS, times and sizes of HTTP
//!        saltwing-postgres         avatica_port            console_port          messages; health, metrics, the console
//!              └────────────── saltwing-sessions ──────────────┘                 admission, limits, cancellation
//! ```
//!
//! [`Server::start`] serves an open database in threads of its own, so that a program or a test can have a server within itself; `saltwing serve` adds the opening, the log,
//! and [`handle_signals`].
//!
//! # The end
//! [`Running::stop`] begins it, and the order is the same whoever calls it:
//!
//! 1. `/readyz` answers 503, and the ports of Postgres and Avatica are closed;
//! 2. sessions without a statement end; the others have the time of `--grace`, and are cancelled then;
//! 3. the HTTP port is closed: until now it has answered why the server is not ready;
//! 4. connections that are left are cut, and the database is closed.
//!
//! # Invariants
//! * A listener accepts until it is closed: no error of a connection or of the system ends it.
//! * A panic in a connection's task ends that connection and no other.
//! * Outside loopback nothing is served without users, and nothing without TLS unless the options say so.
//! * A client that has not logged in takes bounded memory: the header of a request, and a share of the bodies of its port.
//!
//! What a session may do, and what it costs, is the business of `saltwing-sessions` and of the protocols.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod avatica_port;
mod certificates;
mod config_file;
mod console_port;
mod error;
mod http_connection;
mod listener;
mod listening_address;
mod option_value;
mod options;
mod readiness;
mod recorder;
mod request_body;
mod request_origin;
mod running;
mod server;
mod signals;

pub use config_file::{ConfigError, config_arguments};
pub use error::ServerError;
pub use listening_address::ListeningAddress;
pub use option_value::{HostNames, MessageSize, Port, SlowMs, Time, TimeLimit};
pub use options::{LimitOptions, ListenOptions, ServerOptions, TlsOptions};
pub use running::{Control, Running};
pub use saltwing_sessions::Protocol;
pub use server::Server;
pub use signals::{EXIT_INTERRUPTED, EXIT_TERMINATED, handle_signals};
