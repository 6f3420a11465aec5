//! The socket of a client, with or without TLS.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use crate::ready::now;

/// How long a client's host may be silent before it counts as gone: it acknowledges neither data nor probes.
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// A connection to a client.
pub(crate) enum Transport {
    /// As it came in.
    Plain(TcpStream),
    /// Encrypted.
    Tls(Box<TlsStream<TcpStream>>),
}

impl Transport {
    /// A connection that has come in. A host that vanishes without a word ends it after about half a minute.
    pub(crate) fn new(stream: TcpStream) -> Self {
        let socket = SockRef::from(&stream);
        let keepalive = TcpKeepalive::new().with_time(SILENCE_MAX / 3).with_interval(SILENCE_MAX / 6).with_retries(4);
        let set = socket.set_tcp_keepalive(&keepalive).and_then(|()| socket.set_tcp_nodelay(true));
        #[cfg(target_os = "linux")]
        let set = set.and_then(|()| socket.set_tcp_user_timeout(Some(SILENCE_MAX)));
        if let Err(error) = set {
            tracing::debug!(target: "saltwing::postgres", %error, "a socket does not take its options");
        }
        Self::Plain(stream)
    }

    fn tcp(&self) -> &TcpStream {
        match self {
            Self::Plain(stream) => stream,
            Self::Tls(stream) => stream.get_ref().0,
        }
    }

    /// Whether the client has closed its side, even if bytes are left that were not read. Does not wait.
    pub(super) fn is_closed(&self) -> bool {
        // A socket without bytes and without an end is not ready.
        now(self.tcp().ready(Interest::READABLE)).is_some_and(|ready| ready.is_ok_and(|ready| ready.is_read_closed()))
    }
}

impl AsyncRead for Transport {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Transport {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
