//! Connections that send what bytes they like: messages are made by hand, so that they can be wrong.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::frontend;

use crate::{Target, TestError};

/// How long a server may take to answer, or to end a connection.
pub const ANSWER_MAX: Duration = Duration::from_secs(10);
/// The longest answer that is read.
const BODY_BYTES_MAX: usize = 1 << 24;

/// A connection.
pub struct Wire {
    stream: TcpStream,
    /// The number of the session and its secret, as a request to cancel has them.
    cancel_key: Vec<u8>,
}

/// A message of the server: its tag, and its body.
pub type Message = (u8, Vec<u8>);

impl Wire {
    /// A connection on which nothing was sent.
    ///
    /// # Errors
    /// Those of the socket.
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(&address, ANSWER_MAX)?;
        stream.set_read_timeout(Some(ANSWER_MAX))?;
        stream.set_write_timeout(Some(ANSWER_MAX))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, cancel_key: Vec::new() })
    }

    /// A connection with a session that waits for statements.
    ///
    /// # Errors
    /// Those of the socket; the server refuses the login.
    pub fn log_in(target: &Target) -> Result<Self, TestError> {
        let mut wire = Self::open(target.loopback()?)?;
        wire.send(&startup(target))?;
        let mut scram = ScramSha256::new(target.password.as_bytes(), ChannelBinding::unsupported());
        loop {
            let Some((tag, body)) = wire.message()? else {
                return Err(TestError::Found("the connection has ended in the login".to_owned()));
            };
            let code = body.first_chunk::<4>().map(|bytes| i32::from_be_bytes(*bytes));
            let rest = body.get(4..).unwrap_or_default();
            let mut answer = BytesMut::new();
            match (tag, code) {
                (b'R', Some(10)) => frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), &mut answer)?,
                (b'R', Some(11)) => {
                    scram.update(rest)?;
                    frontend::sasl_response(scram.message(), &mut answer)?;
                }
                (b'R', Some(12)) => scram.finish(rest)?,
                (b'K', _) => wire.cancel_key.clone_from(&body),
                (b'Z', _) => return Ok(wire),
                (b'E', _) => {
                    let text = String::from_utf8_lossy(&body).replace('\0', " ");
                    return Err(TestError::Found(format!("the login is refused: {text}")));
                }
                _ => {}
            }
            wire.send(&answer)?;
        }
    }

    /// The session's number and secret; empty before the login.
    pub fn cancel_key(&self) -> &[u8] {
        &self.cancel_key
    }

    /// The same connection, for a thread that reads.
    ///
    /// # Errors
    /// Those of the system.
    pub fn try_clone(&self) -> io::Result<TcpStream> {
        self.stream.try_clone()
    }

    /// How long the server may let the client wait for an answer, and for room to write.
    ///
    /// # Errors
    /// Those of the socket.
    pub fn wait_at_most(&self, read: Duration, write: Duration) -> io::Result<()> {
        self.stream.set_read_timeout(Some(read))?;
        self.stream.set_write_timeout(Some(write))
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// Those of the socket.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Sends bytes, unless the server has ended the connection before, which is one of its answers.
    ///
    /// # Errors
    /// The server does not read in time.
    pub fn send_if_open(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.send(bytes).or_else(|error| if is_end(&error) { Ok(()) } else { Err(error) })
    }

    /// Sends no more.
    ///
    /// # Errors
    /// Those of the socket, but none if the server has ended the connection.
    pub fn half_close(&mut self) -> io::Result<()> {
        self.stream.shutdown(Shutdown::Write).or_else(|error| if is_end(&error) { Ok(()) } else { Err(error) })
    }

    /// The next message. `None`: the connection has ended.
    ///
    /// # Errors
    /// No answer in time; a message that is too long.
    pub fn message(&mut self) -> io::Result<Option<Message>> {
        let mut head = [0; 5];
        if !self.fill(&mut head)? {
            return Ok(None);
        }
        let [tag, length @ ..] = head;
        let length = (u32::from_be_bytes(length) as usize).checked_sub(4).filter(|length| *length <= BODY_BYTES_MAX);
        let Some(length) = length else {
            return Err(io::Error::new(ErrorKind::InvalidData, format!("the message {tag} has no valid length")));
        };
        let mut body = vec![0; length];
        Ok(self.fill(&mut body)?.then_some((tag, body)))
    }

    /// Reads messages up to one that the condition accepts, and gives its tags up to there. `None`: the connection has ended before.
    ///
    /// # Errors
    /// No answer in time.
    pub fn read_up_to(&mut self, is_last: impl Fn(&Message) -> bool) -> io::Result<Option<Vec<u8>>> {
        let mut tags = Vec::new();
        while let Some(message) = self.message()? {
            tags.push(message.0);
            if is_last(&message) {
                return Ok(Some(tags));
            }
        }
        Ok(None)
    }

    /// Reads up to the end of the connection, and gives the bytes before it.
    ///
    /// # Errors
    /// It has not ended in time.
    pub fn read_to_end(&mut self) -> Result<Vec<u8>, TestError> {
        let (began, mut bytes, mut buffer) = (Instant::now(), Vec::new(), [0; 4096]);
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Ok(bytes),
                Ok(count) => bytes.extend_from_slice(buffer.get(..count).unwrap_or_default()),
                Err(error) if is_end(&error) => return Ok(bytes),
                Err(error) => return Err(error.into()),
            }
            if began.elapsed() > ANSWER_MAX {
                return Err(TestError::Found(format!("the connection has not ended after {ANSWER_MAX:?}")));
            }
        }
    }

    /// Fills a buffer. `false`: the connection has ended before.
    fn fill(&mut self, buffer: &mut [u8]) -> io::Result<bool> {
        match self.stream.read_exact(buffer) {
            Ok(()) => Ok(true),
            Err(error) if is_end(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Whether an error says that the other side has ended the connection.
pub fn is_end(error: &io::Error) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected | UnexpectedEof)
}

/// A message of a tag with its length.
pub fn frame(tag: u8, body: &[u8]) -> Vec<u8> {
    frame_of_length(tag, body.len() as u32 + 4, body)
}

/// A message whose length is another one.
pub fn frame_of_length(tag: u8, length: u32, body: &[u8]) -> Vec<u8> {
    [&[tag], length.to_be_bytes().as_slice(), body].concat()
}

/// The first message of a connection.
pub fn startup(target: &Target) -> Vec<u8> {
    startup_of_version(target, 3 << 16)
}

/// The first message in another version of the protocol.
pub fn startup_of_version(target: &Target, version: u32) -> Vec<u8> {
    let parameters = format!("user\0{}\0database\0{}\0\0", target.user, target.database);
    untagged(&[&version.to_be_bytes(), parameters.as_bytes()].concat())
}

/// A message without a tag, as they are before the login.
pub fn untagged(body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32 + 4).to_be_bytes(), body].concat()
}

/// A simple query.
pub fn query(text: &str) -> Vec<u8> {
    frame(b'Q', &[text.as_bytes(), b"\0"].concat())
}
