//! TLS of the connections.

use std::sync::Arc;

use tokio::sync::watch;
use tokio_rustls::rustls::ServerConfig;

/// TLS of the connections.
#[derive(Clone)]
pub struct TlsConfig {
    /// The certificate and its key. New connections take the present value.
    pub current: watch::Receiver<Arc<ServerConfig>>,
    /// Whether a connection without TLS is refused.
    pub is_required: bool,
}
