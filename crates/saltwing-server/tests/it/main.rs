//! Servers within the test's process, over real sockets.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod client;
mod console;
mod options;
mod ports;
mod probes;
mod stop;
mod tls;

use saltwing::Database;
use saltwing_server::{ListenOptions, Port, Protocol, Running, Server, ServerOptions};

/// Options of a server on free ports of loopback.
fn free_ports() -> ServerOptions {
    let free = Port::Number(0);
    let listen = ListenOptions { pg_port: free, avatica_port: free, http_port: free, ..ListenOptions::default() };
    ServerOptions { listen, ..ServerOptions::default() }
}

/// A server over an empty database in memory.
fn started(options: ServerOptions) -> Running {
    Server::start(Database::memory().unwrap(), options).unwrap()
}

/// The address of the listener of a protocol.
fn address(running: &Running, protocol: Protocol) -> std::net::SocketAddr {
    running.addresses().iter().find(|address| address.protocol == protocol).unwrap().address
}
