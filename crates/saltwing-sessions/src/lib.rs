//! What the sessions of all protocols have in common.
//!
//! A server of one protocol accepts a connection and asks [`Sessions::arrive`] for a place. After the login, [`Arrival::log_in`] makes it a [`Session`]: the
//! library's connection of its user, with a number by which it is listed and cancelled. Each statement runs under the guard that [`Session::begin`] gives:
//! the guard is how a cancellation reaches the statement, how the list of sessions shows it, and what logs it if it is slow.
//!
//! | module | has |
//! |---|---|
//! | `limits` | the limits of a server, with their defaults |
//! | `sessions` | the sessions of a process: admission, list, cancellation, stop |
//! | `registry` | counted places, and the list of sessions |
//! | `arrival` | a connection before its login |
//! | `session`, `session_info` | one session; sessions as lists show them |
//! | `shared` | the part of a session that other tasks see, and its running statement |
//! | `statement_log` | the statements that ended lately |
//! | `login` | users and protocols of sessions |
//! | `failed_logins` | how long a client waits that has guessed passwords |
//! | `refusal` | why a connection gets no session |
//! | `send_limit` | how long a client may read nothing of its answer |
//! | `phase` | how far the end of the process is |
//! | `sweep` | the task that ends what clients have left |
//!
//! # Invariants
//! * A place that [`Sessions::arrive`] counts is given back when the [`Arrival`], or the [`Session`] that it became, is dropped. A leak would refuse
//!   connections for as long as the process runs.
//! * A cancellation stops the statement that runs when it comes, and none that begins later.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod arrival;
mod failed_logins;
mod limits;
mod login;
mod phase;
mod refusal;
mod registry;
mod send_limit;
mod session;
mod session_info;
mod sessions;
mod shared;
mod statement_log;
mod sweep;

pub use arrival::Arrival;
pub use limits::Limits;
pub use login::{Login, Protocol};
pub use phase::Phase;
pub use refusal::Refusal;
pub use send_limit::SendLimit;
pub use session::Session;
pub use session_info::{SessionInfo, StatementInfo};
pub use sessions::Sessions;
pub use shared::RunningStatement;
pub use statement_log::EndedStatement;
pub use sweep::sweep;
