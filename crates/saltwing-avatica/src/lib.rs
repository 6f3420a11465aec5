//! Phoenix Query Server's protocol (Avatica) over Saltwing's library: protobuf messages in the bodies of HTTP requests.
//!
//! ```text
//! POST body ──wire──> request ──connections──> connection ──> statements, results ──wire──> body
//!                                 id, user       session        library
//! ```
//!
//! The HTTP server belongs to the caller: it gives each body to [`Avatica::handle`] and sends the [`Reply`].
//!
//! | module | has |
//! |---|---|
//! | `messages`, `message_parts`, `wire` | the messages, their size, and their bytes |
//! | `jdbc_type`, `values`, `signatures` | types, values and columns as clients know them |
//! | `authorization` | HTTP Basic authentication |
//! | `connections`, `connection` | the connections by their ids; one of them |
//! | `statements`, `results` | the statements of a connection; open results and their frames |
//! | `executions`, `batches`, `transactions` | what runs |
//! | `metadata`, `properties` | schemas, tables, columns and keys; properties of the database |
//! | `requests` | which request is answered by what |
//! | `error`, `phoenix_states` | errors, and their texts and states for drivers |
//!
//! # Invariants
//! * Any body has an answer: messages are bounded, and no byte of them is trusted.
//! * A result takes the memory of one frame and some batches, whatever its size.
//! * A request whose future is dropped stops its statement.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

mod authorization;
mod batches;
mod connection;
mod connections;
mod error;
mod executions;
mod jdbc_type;
mod message_parts;
mod messages;
mod metadata;
mod phoenix_states;
mod properties;
mod requests;
mod results;
mod signatures;
mod statements;
mod transactions;
mod values;
mod wire;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use bytes::Bytes;
use saltwing_sessions::{Sessions, sweep};
use tokio::time::Instant;

use crate::authorization::Credentials;
use crate::connections::{Connections, SWEEP_EVERY};
use crate::error::AvaticaError;
use crate::wire::{Body, Response};

/// The type of all bodies but those for clients that speak JSON.
const PROTOBUF: &str = "application/x-google-protobuf";

/// The protocol over the sessions of a process. Cheap to clone; clones share the connections.
#[derive(Clone)]
pub struct Avatica {
    connections: Arc<Connections>,
    is_swept: Arc<AtomicBool>,
}

/// The answer to a request of HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// 200; 500 for a request that fails, with a body that says why; 401 for a missing or wrong password.
    pub status: u16,
    /// Names and values.
    pub headers: Vec<(&'static str, String)>,
    /// The body, which must not be compressed: the Python driver does not decompress.
    pub body: Bytes,
}

impl Avatica {
    /// The protocol without connections yet. Starts nothing: the first request starts the task that ends idle connections.
    pub fn new(sessions: Sessions) -> Self {
        Self { connections: Arc::new(Connections::new(sessions)), is_swept: Arc::default() }
    }

    /// Answers the body of a POST, on whatever path. `authorization` is the header of that name. Called on a runtime of tokio with timers.
    ///
    /// If the future is dropped, because the client is gone, its statement is cancelled; the connection stays.
    pub async fn handle(&self, peer: Option<SocketAddr>, authorization: Option<&str>, body: Bytes) -> Reply {
        self.start_sweep();
        match self.answer(peer, authorization, body).await {
            Ok(response) => {
                Reply { status: 200, headers: vec![("content-type", PROTOBUF.to_owned())], body: response.encode() }
            }
            Err(error) => refused(&error),
        }
    }

    async fn answer(
        &self,
        peer: Option<SocketAddr>,
        authorization: Option<&str>,
        body: Bytes,
    ) -> Result<Response, AvaticaError> {
        let (bytes, max) = (body.len(), self.connections.sessions().limits().message_bytes_max);
        if bytes > max {
            return Err(AvaticaError::MessageTooLarge { bytes, max });
        }
        let body = Body::decode(body)?;
        self.connections.answer(peer, authorization.and_then(Credentials::of_header), body).await
    }

    fn start_sweep(&self) {
        if !self.is_swept.swap(true, SeqCst) {
            let phase = self.connections.sessions().phase();
            let connections = Arc::downgrade(&self.connections);
            tokio::spawn(sweep(connections, SWEEP_EVERY, phase, |open, phase| open.sweep(phase, Instant::now())));
        }
    }
}

/// The answer to a request that fails.
fn refused(error: &AvaticaError) -> Reply {
    let mut reply = match error {
        AvaticaError::Json => Reply {
            status: error.status(),
            headers: vec![("content-type", "application/json".to_owned())],
            body: Bytes::from(json_error(error)),
        },
        _ => Reply {
            status: error.status(),
            headers: vec![("content-type", PROTOBUF.to_owned())],
            body: Response::Error(error.response()).encode(),
        },
    };
    if reply.status == 401 {
        reply.headers.push(("www-authenticate", "Basic realm=\"saltwing\", charset=\"UTF-8\"".to_owned()));
    }
    reply
}

/// The error of a client that speaks JSON, in the form that it reads.
fn json_error(error: &AvaticaError) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let (text, state) = (quoted(&error.text()), quoted(error.sqlstate()));
    format!(
        "{{\"response\":\"error\",\"exceptions\":[{text}],\"errorMessage\":{text},\"errorCode\":{},\"sqlState\":{state},\"severity\":\"ERROR\",\
         \"rpcMetadata\":null}}",
        error.code()
    )
}

#[cfg(test)]
mod tests;
