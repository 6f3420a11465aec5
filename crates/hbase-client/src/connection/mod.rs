//! Connections to servers: many calls in flight on each, within a limit for each server.

mod in_flight;
mod pending;
mod server;
mod servers;
mod socket;

pub(crate) use server::{Answer, Server};
pub use servers::Settings;
pub(crate) use servers::{Servers, Service};
