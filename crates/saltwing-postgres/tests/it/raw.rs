//! A client that sends messages byte by byte.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::Server;

/// A connection whose messages are those of the test.
pub(crate) struct Raw {
    pub(crate) stream: TcpStream,
}

/// A message of the server: its type and its body.
pub(crate) type Message = (char, Vec<u8>);

impl Raw {
    /// A connection that has sent nothing.
    pub(crate) async fn connect(server: &Server) -> Self {
        Self { stream: TcpStream::connect(server.address).await.unwrap() }
    }

    /// A session of a database without users.
    pub(crate) async fn log_in(server: &Server) -> Self {
        let mut raw = Self::connect(server).await;
        raw.send_packet(b"\0\x03\0\0user\0ann\0\0").await;
        raw.until('Z').await;
        raw
    }

    pub(crate) async fn send_packet(&mut self, body: &[u8]) {
        let mut packet = (body.len() as u32 + 4).to_be_bytes().to_vec();
        packet.extend_from_slice(body);
        self.stream.write_all(&packet).await.unwrap();
    }

    /// Sends messages at once.
    pub(crate) async fn send(&mut self, messages: &[(u8, &[u8])]) {
        self.stream.write_all(&encoded(messages)).await.unwrap();
    }

    /// The next message; `None` if the server has closed the connection.
    pub(crate) async fn next(&mut self) -> Option<Message> {
        let read = async {
            let kind = self.stream.read_u8().await.ok()?;
            let length = self.stream.read_u32().await.ok()?;
            let mut body = vec![0; length as usize - 4];
            self.stream.read_exact(&mut body).await.ok()?;
            Some((char::from(kind), body))
        };
        tokio::time::timeout(Duration::from_secs(10), read).await.expect("the server answers")
    }

    /// The messages up to one of this type, which is the last one.
    pub(crate) async fn until(&mut self, kind: char) -> Vec<Message> {
        let mut messages = Vec::new();
        loop {
            let message = self.next().await.unwrap_or_else(|| panic!("closed before {kind}: {messages:?}"));
            messages.push(message);
            if messages.last().is_some_and(|(last, _)| *last == kind) {
                return messages;
            }
        }
    }

    /// Asserts that the server closes the connection; gives the SQLSTATE of its last error.
    pub(crate) async fn is_closed(&mut self) -> Option<String> {
        let mut last = None;
        while let Some((kind, body)) = self.next().await {
            last = (kind == 'E').then(|| field(&body, 'C')).or(last);
        }
        last
    }
}

/// The bytes of messages.
pub(crate) fn encoded(messages: &[(u8, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (kind, body) in messages {
        bytes.push(*kind);
        bytes.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
        bytes.extend_from_slice(body);
    }
    bytes
}

/// The types of messages, in a word.
pub(crate) fn kinds(messages: &[Message]) -> String {
    messages.iter().map(|(kind, _)| *kind).collect()
}

/// A field of an error or a notice.
pub(crate) fn field(body: &[u8], name: char) -> String {
    let mut fields = body.split(|byte| *byte == 0);
    let found = fields.find(|field| field.first() == Some(&(name as u8)));
    String::from_utf8_lossy(found.unwrap_or_default().get(1..).unwrap_or_default()).into_owned()
}

/// The SQLSTATE of the first error.
pub(crate) fn first_state(messages: &[Message]) -> String {
    let error = messages.iter().find(|(kind, _)| *kind == 'E').expect("an error");
    field(&error.1, 'C')
}

/// The tags of the statements that ended.
pub(crate) fn tags(messages: &[Message]) -> Vec<String> {
    let ended = messages.iter().filter(|(kind, _)| *kind == 'C');
    ended.map(|(_, body)| String::from_utf8_lossy(body).trim_end_matches('\0').to_owned()).collect()
}
