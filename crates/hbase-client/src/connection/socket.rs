//! A connection: one socket, a task that writes and a task that reads.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use super::pending::Pending;
use crate::address::Address;
use crate::error::Error;
use crate::frame::{Request, Response, put_preamble, take_frame};
use crate::proto::{ConnectionHeader, RequestHeader};

/// The frames that wait for the writer, beside those that it writes.
const QUEUE_FRAMES: usize = 64;
/// The writer joins frames into one write until it has 256 KiB.
const WRITE_BYTES: usize = 256 << 10;
/// The reader has room for 64 KiB at least.
const READ_BYTES: usize = 64 << 10;
/// A host that is gone acknowledges nothing: its connection ends after 20 seconds.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "fuchsia"))]
const UNACKNOWLEDGED_MAX: Duration = Duration::from_secs(20);
/// The system probes an idle connection after 20 seconds, and then every 5.
const PROBE: (Duration, Duration) = (Duration::from_secs(20), Duration::from_secs(5));
/// The time of requests whose answers nobody needs.
const POST: Duration = Duration::from_secs(10);

/// A frame for the writer. Nobody waits for the answer to a frame without a call.
struct Outgoing {
    call_id: Option<u32>,
    frame: Bytes,
}

/// A connection to one service of a server. If it is dropped, its calls end, and the socket is closed when the writer has sent the
/// requests whose answers nobody needs: they close scanners.
pub(super) struct Socket {
    server: Address,
    pending: Arc<Pending>,
    queue: mpsc::Sender<Outgoing>,
    reader: JoinHandle<()>,
}

impl Socket {
    /// Connects and introduces the client.
    ///
    /// # Errors
    /// [`Error::Connect`].
    pub(super) async fn open(
        server: &Address,
        header: &ConnectionHeader,
        frame_bytes_max: usize,
        until: Instant,
    ) -> Result<Self, Error> {
        let failed = |reason: String| Error::Connect { server: server.clone(), reason };
        let connect = TcpStream::connect((&*server.host, server.port));
        let stream = match timeout_at(until, connect).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return Err(failed(error.to_string())),
            Err(_) => return Err(failed("no answer before the deadline".to_owned())),
        };
        prepare(&stream).map_err(|error| failed(error.to_string()))?;
        let mut preamble = BytesMut::new();
        put_preamble(header, &mut preamble);
        let (reader, writer) = stream.into_split();
        let pending = Arc::new(Pending::new(server.clone()));
        let (queue, frames) = mpsc::channel(QUEUE_FRAMES);
        // The writer ends with its queue, whose other end is here.
        tokio::spawn(write(writer, preamble, frames, Arc::clone(&pending)));
        let reader = tokio::spawn(read(reader, frame_bytes_max, Arc::clone(&pending)));
        Ok(Self { server: server.clone(), pending, queue, reader })
    }

    /// Sends a request and waits for its response, which may hold an exception.
    ///
    /// # Errors
    /// [`Error::Disconnected`], [`Error::NoAnswer`], both with whether the call was sent; [`Error::Request`].
    pub(super) async fn call(
        &self,
        method: &'static str,
        message: Bytes,
        cells: Bytes,
        until: Instant,
    ) -> Result<Response, Error> {
        let (call_id, receiver) = self.pending.register()?;
        // Takes the call out if this future is dropped.
        let waiting = Call { pending: &self.pending, call_id };
        let frame = frame(Some(call_id), method, message, cells, until)?;
        let exchange = async {
            let ended = || Error::Disconnected {
                server: self.server.clone(),
                sent: self.pending.forget(call_id),
                reason: "it was closed".to_owned(),
            };
            self.queue.send(Outgoing { call_id: Some(call_id), frame }).await.map_err(|_| ended())?;
            receiver.await.unwrap_or_else(|_| Err(ended()))
        };
        let Ok(answer) = timeout_at(until, exchange).await else {
            let sent = waiting.pending.forget(call_id);
            return Err(Error::NoAnswer { server: self.server.clone(), method, sent });
        };
        answer
    }

    /// Sends a request whose answer nobody needs, if the writer has room for it.
    pub(super) fn post(&self, method: &'static str, message: Bytes) {
        let until = Instant::now() + POST;
        if let Ok(frame) = frame(None, method, message, Bytes::new(), until) {
            // If the queue is full, the server's lease ends what the request would have ended.
            let _ = self.queue.try_send(Outgoing { call_id: None, frame });
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.pending.has_ended()
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.reader.abort();
        self.pending.end("it was closed");
    }
}

fn prepare(stream: &TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(stream);
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(PROBE.0).with_interval(PROBE.1))?;
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "fuchsia"))]
    socket.set_tcp_user_timeout(Some(UNACKNOWLEDGED_MAX))?;
    Ok(())
}

struct Call<'p> {
    pending: &'p Pending,
    call_id: u32,
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.pending.forget(self.call_id);
    }
}

/// The call id of requests whose answers are thrown away.
const NOBODY: u32 = i32::MAX as u32;

fn frame(call_id: Option<u32>, method: &str, message: Bytes, cells: Bytes, until: Instant) -> Result<Bytes, Error> {
    let time = until.saturating_duration_since(Instant::now()).as_millis();
    let header = RequestHeader {
        call_id: Some(call_id.unwrap_or(NOBODY)),
        method_name: Some(method.to_owned()),
        request_param: Some(true),
        // Zero would be no limit at all.
        timeout: Some(u32::try_from(time).unwrap_or(i32::MAX as u32).clamp(1, i32::MAX as u32)),
        ..RequestHeader::default()
    };
    let mut out = BytesMut::new();
    Request { header, message, cells }.put(&mut out)?;
    Ok(out.freeze())
}

async fn write(
    mut socket: OwnedWriteHalf,
    preamble: BytesMut,
    mut queue: mpsc::Receiver<Outgoing>,
    pending: Arc<Pending>,
) {
    let mut bytes = preamble;
    while let Some(first) = queue.recv().await {
        let mut next = Some(first);
        while let Some(Outgoing { call_id, frame }) = next.take() {
            if call_id.is_none_or(|id| pending.mark_sent(id)) {
                bytes.extend_from_slice(&frame);
            }
            if bytes.len() < WRITE_BYTES {
                next = queue.try_recv().ok();
            }
        }
        if let Err(error) = socket.write_all(&bytes).await {
            return pending.end(&error.to_string());
        }
        bytes.clear();
        if bytes.capacity() > 4 * WRITE_BYTES {
            bytes = BytesMut::with_capacity(WRITE_BYTES);
        }
    }
}

async fn read(mut socket: OwnedReadHalf, frame_bytes_max: usize, pending: Arc<Pending>) {
    let mut received = BytesMut::with_capacity(READ_BYTES);
    let reason = loop {
        match take_response(&mut received, frame_bytes_max) {
            Ok(Some((call_id, response))) => pending.answer(call_id, response),
            Err(reason) => break reason,
            Ok(None) => {
                received.reserve(READ_BYTES);
                match socket.read_buf(&mut received).await {
                    Ok(0) => break "the server closed it".to_owned(),
                    Ok(_) => {}
                    Err(error) => break error.to_string(),
                }
            }
        }
    };
    pending.end(&reason);
}

fn take_response(received: &mut BytesMut, frame_bytes_max: usize) -> Result<Option<(u32, Response)>, String> {
    let Some(frame) = take_frame(received, frame_bytes_max).map_err(|error| error.to_string())? else {
        return Ok(None);
    };
    let response = Response::decode(frame).map_err(|error| error.to_string())?;
    match response.header.call_id {
        Some(id) => Ok(Some((id, response))),
        None => Err("a response has no number of a call".to_owned()),
    }
}
