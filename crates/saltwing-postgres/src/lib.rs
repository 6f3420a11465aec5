//! The Postgres wire protocol over Saltwing's library.
//!
//! [`Postgres::serve`] serves one connection from its first byte to its last. A session is one task: it reads a message, runs what the message wants by the
//! library's asynchronous calls, and streams the answer. While a statement runs, the task reads ahead from the socket, so that it notices a client that goes.
//!
//! | module | has |
//! |---|---|
//! | `wire` | bytes: the transport, messages of clients, limits of their size, whether the client is still there |
//! | `login` | TLS, the version of the protocol, SCRAM, cancellation requests |
//! | `session` | the simple and the extended protocol, portals and cursors, transactions, COPY |
//! | `session_statement`, `settings` | statements that the session answers itself, and the parameters of PostgreSQL |
//! | `tokens` | the words of such statements and of COPY |
//! | `copy` | COPY statements, and the formats of their rows |
//! | `values` | types and values in their text and binary forms |
//! | `error_fields`, `messages` | errors and other messages of the server |
//!
//! pgwire has the messages of the server and the server's side of SCRAM. Its session loop is not used (decision 36).
//!
//! # Invariants
//! * Nothing that a client sends panics or allocates more than the limits allow: lengths and counts are checked before memory is taken.
//! * A result is in memory as a few batches at most, however slowly its client reads.
//! * A statement that was cancelled tells its outcome if it writes: a commit is never reported as an error.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod copy;
mod error_fields;
mod login;
mod messages;
mod ready;
mod server;
mod session;
mod session_statement;
mod settings;
mod tls;
mod tokens;
mod values;
mod wire;

pub use server::Postgres;
pub use tls::TlsConfig;
