//! Sockets: listeners, connections, and what faults do to calls and answers.

mod accept;
mod answers;
mod connection;
mod shared;

pub(crate) use accept::{bind, listen};
pub(crate) use shared::Shared;
