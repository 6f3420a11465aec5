//! A listener: it accepts connections until it is closed, whatever errors come, and ends those that it accepted.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use saltwing_sessions::Protocol;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinHandle, JoinSet};

/// Connections that the system keeps until they are accepted.
const BACKLOG: u32 = 1024;
/// The pauses after an error that the next connection would meet as well, such as too many open files: doubled up to the second.
const PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));

/// What a listener does. The stages follow each other, and none comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// It accepts connections.
    Open,
    /// Its port is closed. Its connections go on.
    Closed,
    /// Its connections end as soon as they have answered what they have read.
    Ending,
}

/// The stage of a listener, for its connections.
#[derive(Clone)]
pub(crate) struct StageWatch(watch::Receiver<Stage>);

impl StageWatch {
    /// Waits until the listener is in this stage, or in a later one. A listener that is gone has gone through all.
    pub(crate) async fn reached(&mut self, stage: Stage) {
        let _: Result<_, watch::error::RecvError> = self.0.wait_for(|present| *present >= stage).await;
    }
}

/// An accepted connection.
pub(crate) struct Accepted {
    pub(crate) stream: TcpStream,
    pub(crate) peer: SocketAddr,
    pub(crate) stage: StageWatch,
}

/// A bound socket, which accepts nothing yet.
pub(crate) struct Bound {
    protocol: Protocol,
    socket: TcpListener,
    address: SocketAddr,
}

impl Bound {
    /// Takes the address. Port 0 becomes a free one. A runtime must be entered.
    pub(crate) fn new(protocol: Protocol, address: SocketAddr) -> io::Result<Self> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        // A port is free again at once after its process has ended. Other systems mean something else by this option.
        #[cfg(unix)]
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        let socket = socket.listen(BACKLOG)?;
        let address = socket.local_addr()?;
        Ok(Self { protocol, socket, address })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Accepts from now on, and runs `serve` for each connection. A runtime must be entered.
    pub(crate) fn open<F, S>(self, serve: F) -> Listener
    where
        F: Fn(Accepted) -> S + Send + 'static,
        S: Future<Output = ()> + Send + 'static,
    {
        let (stage, watched) = watch::channel(Stage::Open);
        let task = tokio::spawn(run(self.protocol, self.socket, StageWatch(watched), serve));
        Listener { protocol: self.protocol, stage, task }
    }
}

/// A listener that runs.
pub(crate) struct Listener {
    protocol: Protocol,
    stage: watch::Sender<Stage>,
    task: JoinHandle<()>,
}

impl Listener {
    /// Stops accepting. Connections go on.
    pub(crate) fn close(&self) {
        self.stage.send_replace(Stage::Closed);
    }

    /// Ends the connections: those that do not end within `patience` are cut.
    pub(crate) async fn end(mut self, patience: Duration) {
        self.stage.send_replace(Stage::Ending);
        match tokio::time::timeout(patience, &mut self.task).await {
            Ok(ended) => note(self.protocol, ended),
            Err(_) => {
                tracing::warn!(target: "saltwing::server", protocol = self.protocol.as_str(), "connections did not end and are cut");
                self.task.abort();
            }
        }
    }
}

async fn run<F, S>(protocol: Protocol, socket: TcpListener, mut stage: StageWatch, serve: F)
where
    F: Fn(Accepted) -> S,
    S: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    let mut pause = PAUSES.0;
    let watched = stage.clone();
    loop {
        tokio::select! {
            () = stage.reached(Stage::Closed) => break,
            Some(ended) = connections.join_next(), if !connections.is_empty() => note(protocol, ended),
            accepted = socket.accept() => match accepted {
                Ok((stream, peer)) => {
                    pause = PAUSES.0;
                    if let Err(error) = stream.set_nodelay(true) {
                        // The connection may be gone already, which its protocol finds out.
                        tracing::debug!(target: "saltwing::server", %peer, %error, "TCP_NODELAY was not set");
                    }
                    connections.spawn(serve(Accepted { stream, peer, stage: watched.clone() }));
                }
                Err(error) if is_of_one_connection(&error) => {
                    tracing::debug!(target: "saltwing::server", protocol = protocol.as_str(), %error, "a connection was gone before it was accepted");
                }
                Err(error) => {
                    metrics::counter!("saltwing_server_accept_errors_total", "protocol" => protocol.as_str()).increment(1);
                    tracing::error!(target: "saltwing::server", protocol = protocol.as_str(), %error, ?pause, "no connection can be accepted");
                    tokio::select! {
                        () = stage.reached(Stage::Closed) => break,
                        () = tokio::time::sleep(pause) => {}
                    }
                    pause = pause.saturating_mul(2).min(PAUSES.1);
                }
            },
        }
    }
    drop(socket);
    while let Some(ended) = connections.join_next().await {
        note(protocol, ended);
    }
}

/// Whether the error is that of a connection which ended before it was accepted, so that the next one may be well.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

/// Logs a task that panicked. Its connection is gone; the others are not touched.
fn note(protocol: Protocol, ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(target: "saltwing::server", protocol = protocol.as_str(), %error, "a connection ended by a bug");
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{Ipv4Addr, TcpStream};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::time::Duration;

    use saltwing_sessions::Protocol;

    use super::{Accepted, Bound, Stage};

    const PATIENCE: Duration = Duration::from_secs(60);

    fn bound() -> Bound {
        Bound::new(Protocol::Http, (Ipv4Addr::LOCALHOST, 0).into()).unwrap()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_panic_ends_its_connection_and_no_other() {
        let (bound, count) = (bound(), Arc::new(AtomicUsize::new(0)));
        let address = bound.address();
        let listener = bound.open(move |accepted: Accepted| {
            let number = count.fetch_add(1, SeqCst);
            async move {
                assert_ne!(number, 0, "the bug of a test");
                assert_eq!(accepted.stream.try_write(b"served").unwrap(), 6);
            }
        });
        let texts = tokio::task::spawn_blocking(move || {
            ["", "served"].map(|_| {
                let mut text = String::new();
                TcpStream::connect(address).unwrap().read_to_string(&mut text).unwrap();
                text
            })
        });
        assert_eq!(texts.await.unwrap(), ["", "served"]);
        listener.end(PATIENCE).await;
    }

    /// A connection that ignores the end of its listener is cut.
    #[tokio::test(flavor = "multi_thread")]
    async fn connections_see_the_stages() {
        let bound = bound();
        let address = bound.address();
        let listener = bound.open(|mut accepted: Accepted| async move {
            for (stage, letter) in [(Stage::Open, b"o"), (Stage::Closed, b"c"), (Stage::Ending, b"e")] {
                accepted.stage.reached(stage).await;
                assert_eq!(accepted.stream.try_write(letter).unwrap(), 1);
            }
            std::future::pending::<()>().await;
        });
        let letter = |mut client: TcpStream| async {
            let read = move || {
                let mut letter = [b'-'];
                let _: usize = client.read(&mut letter).unwrap();
                (client, char::from(letter[0]))
            };
            tokio::task::spawn_blocking(read).await.unwrap()
        };
        let client = TcpStream::connect(address).unwrap();
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        let (client, open) = letter(client).await;
        listener.close();
        let (client, closed) = letter(client).await;
        assert!(TcpStream::connect(address).is_err());
        listener.end(Duration::from_millis(1)).await;
        // `e`, or nothing if the connection was cut before.
        let (client, ending) = letter(client).await;
        let (_, end) = letter(client).await;
        assert_eq!((open, closed, end), ('o', 'c', '-'));
        assert!(matches!(ending, 'e' | '-'), "{ending}");
    }
}
