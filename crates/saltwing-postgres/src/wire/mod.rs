//! The connection to a client: its bytes, its messages, and whether the client is still there.

mod connection;
mod cursor;
mod frontend;
mod malformed;
mod startup_packet;
mod transport;

pub(crate) use connection::{Received, Wire, WireFailure};
pub(crate) use frontend::{Bind, Frontend, Target};
pub(crate) use malformed::MalformedMessage;
pub(crate) use startup_packet::{StartupPacket, StartupParameters};
pub(crate) use transport::Transport;
