//! Connections of HTTP: TLS, the limits of time and size, and the end in good order.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::rt::{Read, Write};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use saltwing_sessions::{Protocol, SendLimit};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

use crate::listener::{Accepted, Stage, StageWatch};

/// How long the handshake of TLS may take.
const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(10);
/// How long a connection may take for the header of a request, and how long it may wait for the next request.
const HEADER_TIME_MAX: Duration = Duration::from_secs(60);
/// The longest header of a request, and what is read ahead of a body.
const HEADER_BYTES_MAX: usize = 64 << 10;
/// How long a refused client may take to read why.
const REFUSAL_TIME_MAX: Duration = Duration::from_secs(1);
const REFUSAL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: 46\r\nconnection: close\r\n\r\n\
this port has as many connections as it takes\n";

/// Who sent a request: an extension of each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client {
    pub(crate) peer: SocketAddr,
    /// Whether the connection has TLS.
    pub(crate) is_tls: bool,
}

/// Serves the connections of one HTTP port.
#[derive(Clone)]
pub(crate) struct HttpConnections {
    protocol: Protocol,
    router: Router,
    tls: Option<watch::Receiver<Arc<ServerConfig>>>,
    places: Arc<Semaphore>,
    header_time_max: Duration,
    send_timeout: Option<Duration>,
}

impl HttpConnections {
    /// At most `connections_max` at once; a further one is answered with 503, and with TLS closed. One whose client takes nothing of its answer for the
    /// time of `send_timeout` is ended.
    pub(crate) fn new(
        protocol: Protocol,
        router: Router,
        tls: Option<watch::Receiver<Arc<ServerConfig>>>,
        connections_max: usize,
        send_timeout: Option<Duration>,
    ) -> Self {
        let places = Arc::new(Semaphore::new(connections_max.min(Semaphore::MAX_PERMITS)));
        Self { protocol, router, tls, places, header_time_max: HEADER_TIME_MAX, send_timeout }
    }

    /// Serves a connection until it ends.
    pub(crate) async fn serve(self, accepted: Accepted) {
        let Accepted { stream, peer, stage } = accepted;
        let protocol = self.protocol.as_str();
        let Ok(_place) = self.places.try_acquire() else {
            tracing::warn!(target: "saltwing::server", protocol, %peer, "connection refused: the port has as many as it takes");
            metrics::counter!("saltwing_server_http_refused_total", "protocol" => protocol).increment(1);
            if self.tls.is_none() {
                refuse(stream).await;
            }
            return;
        };
        let configuration = self.tls.as_ref().map(|current| current.borrow().clone());
        let Some(configuration) = configuration else {
            return self.answer(self.limited(stream), peer, stage).await;
        };
        match tokio::time::timeout(HANDSHAKE_TIME_MAX, TlsAcceptor::from(configuration).accept(stream)).await {
            Ok(Ok(stream)) => self.answer(self.limited(stream), peer, stage).await,
            Ok(Err(error)) => {
                metrics::counter!("saltwing_server_tls_failures_total", "protocol" => protocol).increment(1);
                tracing::info!(target: "saltwing::server", protocol, %peer, %error, "no TLS with this client");
            }
            Err(_) => {
                metrics::counter!("saltwing_server_tls_failures_total", "protocol" => protocol).increment(1);
                tracing::info!(target: "saltwing::server", protocol, %peer, "the handshake of TLS took too long");
            }
        }
    }

    fn limited<S>(&self, stream: S) -> TokioIo<SendLimit<S>> {
        TokioIo::new(SendLimit::new(stream, self.send_timeout))
    }

    /// Answers requests until the connection or the listener ends.
    async fn answer(&self, io: impl Read + Write + Unpin + Send + 'static, peer: SocketAddr, mut stage: StageWatch) {
        let (router, is_tls) = (TowerToHyperService::new(self.router.clone()), self.tls.is_some());
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(Client { peer, is_tls });
            router.call(request)
        });
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(self.header_time_max).max_buf_size(HEADER_BYTES_MAX);
        let mut connection = std::pin::pin!(builder.serve_connection(io, service));
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = stage.reached(Stage::Ending) => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            // Clients that leave, are silent or send no HTTP: nothing that the operator can mend.
            tracing::debug!(target: "saltwing::server", %peer, %error, "an HTTP connection ended early");
        }
    }
}

/// Answers a connection without having read a request. What the client sends meanwhile is read: closing the socket before would take the answer from it.
async fn refuse(stream: TcpStream) {
    let answer = async {
        let mut sent = 0;
        while let Some(rest) = REFUSAL.get(sent..).filter(|rest| !rest.is_empty()) {
            stream.writable().await?;
            match stream.try_write(rest) {
                Ok(bytes) => sent += bytes,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        let mut unread = [0; 4096];
        loop {
            stream.readable().await?;
            match stream.try_read(&mut unread) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    };
    if let Ok(Err(error)) = tokio::time::timeout(REFUSAL_TIME_MAX, answer).await {
        tracing::debug!(target: "saltwing::server", %error, "a refused client left before it was answered");
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, SocketAddr, TcpStream};
    use std::time::Duration;

    use axum::Router;
    use axum::routing::get;
    use saltwing_sessions::Protocol;
    use tokio::runtime::Runtime;

    use super::HttpConnections;
    use crate::listener::{Bound, Listener};

    const PATIENCE: Duration = Duration::from_secs(60);

    /// A port that takes one connection.
    fn port(header_time_max: Duration) -> (Runtime, Listener, SocketAddr) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let entered = runtime.enter();
        let bound = Bound::new(Protocol::Http, (Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let address = bound.address();
        let router = Router::new().route("/", get(|| async { "here" }));
        let mut connections = HttpConnections::new(Protocol::Http, router, None, 1, None);
        connections.header_time_max = header_time_max;
        let listener = bound.open(move |accepted| connections.clone().serve(accepted));
        drop(entered);
        (runtime, listener, address)
    }

    fn connect(address: SocketAddr) -> TcpStream {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends a request on a connection that goes on, and reads the answer.
    fn answered(stream: &mut TcpStream) -> String {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut text = String::new();
        while !text.ends_with("here") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            text.push(char::from(byte[0]));
        }
        text
    }

    fn rest(stream: &mut TcpStream) -> String {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_connection_above_the_limit_is_refused_in_http() {
        let (runtime, listener, address) = port(PATIENCE);
        let mut first = connect(address);
        assert!(answered(&mut first).starts_with("HTTP/1.1 200 "));
        let mut second = connect(address);
        second.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let refusal = rest(&mut second);
        let text = "\r\n\r\nthis port has as many connections as it takes\n";
        assert!(refusal.starts_with("HTTP/1.1 503 ") && refusal.ends_with(text), "{refusal}");
        first.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(rest(&mut first), "");
        // The place comes back some time after the client has seen the end.
        let is_served = |_| {
            let mut third = connect(address);
            let _: std::io::Result<()> = third.write_all(b"GET / HTTP/1.0\r\n\r\n");
            let mut text = String::new();
            let _: std::io::Result<usize> = third.read_to_string(&mut text);
            text.contains(" 200 ")
        };
        assert!((0..1000).any(is_served));
        runtime.block_on(listener.end(PATIENCE));
    }

    #[test]
    fn a_header_that_does_not_end_ends_its_connection() {
        let (_runtime, _listener, address) = port(Duration::from_millis(50));
        let mut half = connect(address);
        half.write_all(b"GET / HTTP/1.1\r\nHost: ").unwrap();
        assert!(!rest(&mut half).contains("here"));
    }

    #[test]
    fn connections_end_with_their_listener() {
        let (runtime, listener, address) = port(PATIENCE);
        let mut idle = connect(address);
        answered(&mut idle);
        listener.close();
        answered(&mut idle);
        runtime.block_on(listener.end(PATIENCE));
        assert_eq!(rest(&mut idle), "");
        assert!(TcpStream::connect(address).is_err());
    }
}
