//! Who sent a request.

use std::net::SocketAddr;

/// Who sent a request.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    /// Its address.
    pub peer: Option<SocketAddr>,
    /// Whether the connection has TLS, so that the cookie may be kept to such connections.
    pub is_tls: bool,
}
