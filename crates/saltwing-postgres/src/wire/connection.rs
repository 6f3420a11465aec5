//! Messages over a transport.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use bytes::{Buf, BytesMut};
use pgwire::error::PgWireError;
use pgwire::messages::PgWireBackendMessage;
use saltwing_sessions::SendLimit;
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_util::io::poll_read_buf;

use super::frontend::Frontend;
use super::malformed::MalformedMessage;
use super::startup_packet::{STARTUP_BYTES_MAX, StartupPacket};
use super::transport::Transport;

/// Bytes that are read while a statement runs: a client may send on, and its going is noticed.
const READ_AHEAD: usize = 64 << 10;
/// Room that is made before a read.
const READ_BYTES: usize = 8 << 10;
/// Buffers above this size are given back as soon as they are empty, so that an idle connection is small.
const BUFFER_KEPT: usize = 16 << 10;
/// How often the wire looks whether the client is still there, while there is no room to read ahead.
const CLOSED_CHECK: Duration = Duration::from_millis(250);

/// Why nothing more can be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WireFailure {
    /// The client has closed the connection.
    #[error("the client is gone")]
    Gone,
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Io(#[from] io::Error),
    /// A message after which no later one can be found.
    #[error(transparent)]
    Malformed(#[from] MalformedMessage),
    /// A message of the server that cannot be encoded.
    #[error("a message of the server: {0}")]
    Encode(#[from] PgWireError),
}

/// A message with its type byte; a malformed one whose end is known is an error after which the next message can be read.
pub(crate) type Received = (u8, Result<Frontend, MalformedMessage>);

/// The connection to one client.
pub(crate) struct Wire {
    /// `None` after a handshake that failed.
    transport: Option<SendLimit<Transport>>,
    input: BytesMut,
    output: BytesMut,
    message_bytes_max: usize,
    send_timeout: Option<Duration>,
}

impl Wire {
    pub(crate) fn new(transport: Transport, message_bytes_max: usize, send_timeout: Option<Duration>) -> Self {
        let transport = Some(SendLimit::new(transport, send_timeout));
        let (input, output) = (BytesMut::new(), BytesMut::new());
        Self { transport, input, output, message_bytes_max, send_timeout }
    }

    /// Whether the connection is encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.transport.as_ref().is_some_and(|transport| matches!(transport.get_ref(), Transport::Tls(_)))
    }

    /// Encrypts the connection. Bytes that the client sent too early are refused: somebody between may have put them there.
    ///
    /// # Errors
    /// [`MalformedMessage::TooMuch`]; [`WireFailure::Gone`] if the handshake fails.
    pub(crate) async fn encrypt<F: Future<Output = Option<Transport>>>(
        &mut self,
        handshake: impl FnOnce(Transport) -> F,
    ) -> Result<(), WireFailure> {
        if !self.input.is_empty() {
            return Err(MalformedMessage::TooMuch.into());
        }
        let plain = self.transport.take().ok_or(WireFailure::Gone)?;
        let encrypted = handshake(plain.into_inner()).await;
        self.transport = encrypted.map(|transport| SendLimit::new(transport, self.send_timeout));
        if self.transport.is_some() { Ok(()) } else { Err(WireFailure::Gone) }
    }

    /// The next packet before the login.
    ///
    /// # Errors
    /// [`WireFailure`].
    pub(crate) async fn startup_packet(&mut self) -> Result<StartupPacket, WireFailure> {
        loop {
            if let Some(length) = self.length_at(0) {
                let length = checked_length(length, STARTUP_BYTES_MAX)?;
                // The version is there as well.
                if length < 8 {
                    return Err(MalformedMessage::Truncated.into());
                }
                if self.input.len() >= length {
                    let mut packet = self.input.split_to(length).freeze();
                    packet.advance(4);
                    return Ok(StartupPacket::decode(packet)?);
                }
            }
            self.read().await?;
        }
    }

    /// The next message, with its type byte. A future that is dropped loses no bytes. A malformed message whose end is known is an inner error: the next
    /// message can be read.
    ///
    /// # Errors
    /// [`WireFailure`].
    pub(crate) async fn message(&mut self) -> Result<Received, WireFailure> {
        loop {
            if let Some(message) = self.buffered_message()? {
                return Ok(message);
            }
            self.read().await?;
        }
    }

    /// The type byte of the next message, if the message has arrived as a whole.
    pub(crate) fn next_type(&self) -> Option<u8> {
        let length = usize::try_from(self.length_at(1)?).ok()?;
        self.input.first().copied().filter(|_| self.input.len() > length)
    }

    fn buffered_message(&mut self) -> Result<Option<Received>, WireFailure> {
        let Some(length) = self.length_at(1) else { return Ok(None) };
        let length = checked_length(length, self.message_bytes_max)?;
        if self.input.len() <= length {
            return Ok(None);
        }
        let mut message = self.input.split_to(1 + length).freeze();
        let kind = message.get_u8();
        message.advance(4);
        if self.input.is_empty() && length > BUFFER_KEPT {
            // The room of a large message is not kept for the session's life.
            self.input = BytesMut::new();
        }
        Ok(Some((kind, Frontend::decode(kind, message))))
    }

    /// The length field at an offset.
    fn length_at(&self, offset: usize) -> Option<i32> {
        let field = self.input.get(offset..offset.checked_add(4)?)?;
        Some(i32::from_be_bytes(field.try_into().ok()?))
    }

    async fn read(&mut self) -> Result<(), WireFailure> {
        self.input.reserve(READ_BYTES);
        let transport = self.transport.as_mut().ok_or(WireFailure::Gone)?;
        match transport.read_buf(&mut self.input).await? {
            0 => Err(WireFailure::Gone),
            _ => Ok(()),
        }
    }

    /// Adds a message to the output.
    ///
    /// # Errors
    /// [`WireFailure::Encode`] for a message that is longer than the protocol allows.
    pub(crate) fn put(&mut self, message: &PgWireBackendMessage) -> Result<(), WireFailure> {
        Ok(message.encode(&mut self.output)?)
    }

    /// The output, for rows, which are encoded in place.
    pub(crate) fn output(&mut self) -> &mut BytesMut {
        &mut self.output
    }

    /// Sends the output. Meanwhile it reads ahead, so that a client that writes and reads in turn is not stuck, and notices if the client goes.
    ///
    /// # Errors
    /// [`WireFailure::Gone`]; [`WireFailure::Io`], of the kind `TimedOut` if the client reads nothing for as long as the limit allows.
    pub(crate) async fn flush(&mut self) -> Result<(), WireFailure> {
        loop {
            tokio::select! {
                biased;
                done = self.write_and_read_ahead() => return done,
                // Wakes the writer for the case that the client closed its side with bytes in it that there is no room for.
                () = tokio::time::sleep(CLOSED_CHECK) => {}
            }
            if self.is_closed() {
                return Err(WireFailure::Gone);
            }
        }
    }

    async fn write_and_read_ahead(&mut self) -> Result<(), WireFailure> {
        let Self { transport, input, output, .. } = self;
        let transport = transport.as_mut().ok_or(WireFailure::Gone)?;
        poll_fn(|context| {
            while !output.is_empty() {
                match Pin::new(&mut *transport).poll_write(context, output) {
                    Poll::Ready(Ok(0)) => return Poll::Ready(Err(WireFailure::Gone)),
                    Poll::Ready(Ok(written)) => output.advance(written),
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error.into())),
                    Poll::Pending => break,
                }
            }
            if output.is_empty() {
                return Pin::new(&mut *transport).poll_flush(context).map_err(WireFailure::from);
            }
            while input.len() < READ_AHEAD {
                input.reserve(READ_BYTES);
                match poll_read_buf(Pin::new(&mut *transport), context, input) {
                    Poll::Ready(Ok(0)) => return Poll::Ready(Err(WireFailure::Gone)),
                    Poll::Ready(Ok(_)) => {}
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error.into())),
                    Poll::Pending => break,
                }
            }
            Poll::Pending
        })
        .await?;
        if output.capacity() > BUFFER_KEPT {
            *output = BytesMut::new();
        }
        Ok(())
    }

    /// The value of a future, unless the client goes first.
    ///
    /// # Errors
    /// [`WireFailure::Gone`]: the future is dropped.
    pub(crate) async fn while_connected<T>(&mut self, future: impl Future<Output = T>) -> Result<T, WireFailure> {
        tokio::select! {
            biased;
            value = future => Ok(value),
            () = self.client_left() => Err(WireFailure::Gone),
        }
    }

    /// Ends when the client has closed the connection.
    async fn client_left(&mut self) {
        loop {
            if self.input.len() < READ_AHEAD {
                if self.read().await.is_err() {
                    return;
                }
            } else {
                tokio::time::sleep(CLOSED_CHECK).await;
                if self.is_closed() {
                    return;
                }
            }
        }
    }

    fn is_closed(&self) -> bool {
        self.transport.as_ref().is_none_or(|transport| transport.get_ref().is_closed())
    }

    /// Closes the connection, after what was sent.
    pub(crate) async fn close(self) {
        if let Some(mut transport) = self.transport {
            // A client that is gone needs no farewell.
            let _ = tokio::time::timeout(Duration::from_secs(1), transport.shutdown()).await;
        }
    }
}

/// A length of a message or packet in bytes, which counts its own four bytes.
fn checked_length(length: i32, max: usize) -> Result<usize, MalformedMessage> {
    match usize::try_from(length) {
        Ok(length) if length > max => Err(MalformedMessage::TooLong { length, max }),
        Ok(length) if length >= 4 => Ok(length),
        _ => Err(MalformedMessage::Length(length.into())),
    }
}
