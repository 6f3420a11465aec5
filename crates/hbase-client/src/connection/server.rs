//! One service of one server: its connection, which is made again when it has ended, and its limit of calls in flight.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use prost::Message;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};

use super::in_flight::InFlight;
use super::socket::Socket;
use crate::address::Address;
use crate::error::Error;
use crate::frame::Response;
use crate::proto::ConnectionHeader;
use crate::server_error::ServerError;
use crate::wire_error::WireError;

/// The longest time to wait for a connection.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// A service of a server.
pub(crate) struct Server {
    address: Address,
    header: ConnectionHeader,
    frame_bytes_max: usize,
    in_flight: Arc<InFlight>,
    socket: std::sync::Mutex<Option<Arc<Socket>>>,
    /// One attempt to connect at a time, with the last failure and its time.
    connecting: Mutex<Option<(Instant, Error)>>,
}

/// The message of an answer, and its cell block.
pub(crate) struct Answer<M> {
    pub(crate) message: M,
    pub(crate) cells: Bytes,
}

impl Server {
    pub(super) fn new(address: Address, header: ConnectionHeader, frame_bytes_max: usize) -> Self {
        let (socket, connecting) = (std::sync::Mutex::default(), Mutex::default());
        Self { address, header, frame_bytes_max, in_flight: InFlight::new(), socket, connecting }
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// Calls a method once.
    ///
    /// # Errors
    /// Those of connections; [`Error::Server`] if the server answers with an exception; [`Error::Answer`].
    pub(crate) async fn call<M: Message + Default>(
        &self,
        method: &'static str,
        request: &impl Message,
        cells: Bytes,
        until: Instant,
    ) -> Result<Answer<M>, Error> {
        let message = Bytes::from(request.encode_to_vec());
        let not_sent = || Error::NoAnswer { server: self.address.clone(), method, sent: false };
        let permit = self.in_flight.permit(until).await.ok_or_else(not_sent)?;
        let socket = self.socket(until).await?;
        let Response { header, message, cells } = socket.call(method, message, cells, until).await?;
        if let Some(exception) = header.exception {
            let error = ServerError::of_response(&self.address, method, exception);
            if error.overloaded || error.short_class() == "CallQueueTooBigException" {
                permit.overloaded();
            }
            return Err(Error::Server(error));
        }
        permit.answered();
        let message = M::decode(message)
            .map_err(|source| self.damaged(method, WireError::Message { message: "response", source }))?;
        Ok(Answer { message, cells })
    }

    /// Sends a request whose answer nobody needs, if a connection is open.
    pub(crate) fn post(&self, method: &'static str, request: &impl Message) {
        if let Some(socket) = self.living() {
            socket.post(method, request.encode_to_vec().into());
        }
    }

    /// The error for an answer that is not what the protocol says.
    pub(crate) fn damaged(&self, method: &'static str, source: WireError) -> Error {
        Error::Answer { server: self.address.clone(), method, source }
    }

    /// The error for an answer that lacks something.
    pub(crate) fn wrong(&self, method: &'static str, reason: &'static str) -> Error {
        Error::WrongAnswer { server: self.address.clone(), method, reason }
    }

    fn living(&self) -> Option<Arc<Socket>> {
        let socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        socket.as_ref().filter(|socket| !socket.has_ended()).cloned()
    }

    /// The connection; a new one if there is none that lives. All callers wait for one attempt, and share its failure.
    async fn socket(&self, until: Instant) -> Result<Arc<Socket>, Error> {
        if let Some(socket) = self.living() {
            return Ok(socket);
        }
        let asked = Instant::now();
        let late = || Error::Connect { server: self.address.clone(), reason: "no answer before the deadline".into() };
        let mut failed = timeout_at(until, self.connecting.lock()).await.map_err(|_| late())?;
        if let Some(socket) = self.living() {
            return Ok(socket);
        }
        if let Some((at, error)) = &*failed
            && *at > asked
        {
            return Err(error.clone());
        }
        let until = until.min(Instant::now() + CONNECT_MAX);
        match Socket::open(&self.address, &self.header, self.frame_bytes_max, until).await {
            Ok(socket) => {
                let socket = Arc::new(socket);
                *self.socket.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&socket));
                *failed = None;
                Ok(socket)
            }
            Err(error) => {
                *failed = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }
}
