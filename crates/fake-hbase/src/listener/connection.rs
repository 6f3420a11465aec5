//! A connection: its preamble, then requests, each with its answer.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use hbase_client::frame::{FRAME_BYTES_MAX, Request as Frame, take_frame, take_preamble};
use hbase_client::proto::ConnectionHeader;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;
use tokio::sync::watch;

use super::answers::{Answer, Sender, channel, write};
use super::shared::Shared;
use crate::exception::Exception;
use crate::fault::Fault;
use crate::server_id::ServerId;
use crate::service::{CellForm, Reply, Request, response};
use crate::state::State;

/// Serves a connection until the client or the server ends it.
pub(crate) async fn serve(
    shared: Arc<Shared>,
    server: Option<ServerId>,
    socket: TcpStream,
    mut lives: watch::Receiver<bool>,
) {
    // Pieces of answers go out as they are.
    let _ = socket.set_nodelay(true);
    let (reader, writer) = socket.into_split();
    let (sender, answers) = channel();
    let mut cuts = {
        let state = shared.state();
        let process = server.and_then(|server| state.servers.get(server.0)).unwrap_or(&state.master);
        process.cuts.subscribe()
    };
    // Both halves are dropped, and the socket is closed, as soon as one of these ends.
    tokio::select! {
        _ = read(shared, server, reader, sender) => {}
        _ = write(answers, writer) => {}
        _ = lives.wait_for(|lives| !lives) => {}
        _ = cuts.changed() => {}
    }
}

/// What the connection's header says.
#[derive(Clone, Debug)]
struct Session {
    shared: Arc<Shared>,
    server: Option<ServerId>,
    service: String,
    form: CellForm,
    sender: Sender,
}

/// Reads requests; ends with the connection, or at bytes that are none.
async fn read(shared: Arc<Shared>, server: Option<ServerId>, mut reader: OwnedReadHalf, sender: Sender) -> Option<()> {
    let mut received = BytesMut::new();
    let header = loop {
        match take_preamble(&mut received) {
            Ok(Some(header)) => break header,
            Ok(None) => more(&mut reader, &mut received).await?,
            Err(_) => return None,
        }
    };
    let service = header.service_name.clone().unwrap_or_default();
    let session = Arc::new(Session { shared, server, service, form: form_of(&header), sender });
    loop {
        match take_frame(&mut received, FRAME_BYTES_MAX) {
            Ok(Some(frame)) => session.take(Frame::decode(frame).ok()?),
            Ok(None) => more(&mut reader, &mut received).await?,
            Err(_) => return None,
        }
    }
}

async fn more(reader: &mut OwnedReadHalf, received: &mut BytesMut) -> Option<()> {
    match reader.read_buf(received).await {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(()),
    }
}

fn form_of(header: &ConnectionHeader) -> CellForm {
    let version = header.version_info.as_ref();
    let number = version.map(|version| (version.version_major.unwrap_or(0), version.version_minor.unwrap_or(0)));
    CellForm {
        in_blocks: header.cell_block_codec_class.as_ref().is_some_and(|class| !class.is_empty()),
        gets_in_blocks: number.is_some_and(|number| number >= (1, 3)),
    }
}

impl Session {
    /// Takes a request: answers it, or lets a task do so later.
    fn take(self: &Arc<Self>, frame: Frame) {
        let method = frame.header.method_name.clone().unwrap_or_default();
        let call_id = frame.header.call_id;
        let request = Request::decode(&self.service, &method, frame.message.clone());
        let mut state = self.shared.state();
        let request = match request {
            Ok(request) => request,
            Err(exception) => return self.send(call_id, Err(exception), None),
        };
        let call = request.describe(&state, self.server, &self.service, &method);
        let fault = state.faults.take(&call);
        state.calls.push(call);
        let mut wait = state.options.latency;
        let is_full = match self.in_flight(&mut state) {
            Some((in_flight, queue_max)) => {
                *in_flight += 1;
                *in_flight > queue_max
            }
            None => false,
        };
        drop(state);
        let early = match (&fault, is_full) {
            (Some(Fault::Exception(exception)), _) => Some(exception.clone()),
            (_, true) => Some(Exception::call_queue_too_big()),
            _ => None,
        };
        match &fault {
            Some(Fault::CutBefore) => {
                self.done();
                return self.sender.send(Answer::cut(Bytes::new()));
            }
            Some(Fault::Lost) => return self.done(),
            Some(Fault::Slow(slow)) => wait = *slow,
            _ => {}
        }
        let session = Arc::clone(self);
        let work = move || {
            let answer = match early {
                Some(exception) => Some(Err(exception)),
                None => session.carry_out(request, frame.cells, fault.as_ref()),
            };
            session.done();
            if let Some(answer) = answer {
                session.send(call_id, answer, fault);
            }
        };
        if wait.is_zero() {
            return work();
        }
        self.shared.runtime.spawn(async move {
            tokio::time::sleep(wait).await;
            work();
        });
    }

    fn in_flight<'s>(&self, state: &'s mut State) -> Option<(&'s mut usize, usize)> {
        let queue_max = state.options.queue_max;
        let server = state.servers.get_mut(self.server?.0)?;
        Some((&mut server.in_flight, queue_max))
    }

    fn done(&self) {
        if let Some((in_flight, _)) = self.in_flight(&mut self.shared.state()) {
            *in_flight = in_flight.saturating_sub(1);
        }
    }

    /// Carries a request out, unless the server has died since it came.
    fn carry_out(&self, request: Request, cells: Bytes, fault: Option<&Fault>) -> Option<Result<Reply, Exception>> {
        let mut state = self.shared.state();
        let process = match self.server {
            Some(server) => state.servers.get(server.0)?,
            None => &state.master,
        };
        if !process.is_alive() {
            return None;
        }
        let answer = request.answer(&mut state, self.server, cells, fault, self.form);
        Some(match fault {
            Some(Fault::ExceptionAfter(exception)) => Err(exception.clone()),
            _ => answer,
        })
    }

    /// Sends an answer as the fault lets it.
    fn send(&self, call_id: Option<u32>, answer: Result<Reply, Exception>, fault: Option<Fault>) {
        let mut bytes = BytesMut::new();
        if response(call_id, answer).put(&mut bytes).is_err() {
            // An answer that fits no frame: the connection ends, as it does if a server fails.
            return self.sender.send(Answer::cut(Bytes::new()));
        }
        if let Some(Fault::Damaged(at, change)) = fault
            && let Some(byte) = bytes.get_mut(at)
        {
            *byte ^= change;
        }
        let bytes = bytes.freeze();
        let answer = match fault {
            Some(Fault::CutAfter) => Answer::cut(Bytes::new()),
            Some(Fault::CutInside(length)) => Answer::cut(bytes.slice(..length.min(bytes.len()))),
            Some(Fault::Silent) => return,
            Some(Fault::Held) => return self.shared.hold(self.sender.clone(), Answer::whole(bytes)),
            Some(Fault::Pieces(piece_bytes)) => Answer { piece_bytes, ..Answer::whole(bytes) },
            Some(Fault::Bytes(bytes)) => Answer::whole(bytes),
            Some(Fault::Late(wait)) => {
                let sender = self.sender.clone();
                self.shared.runtime.spawn(async move {
                    tokio::time::sleep(wait).await;
                    sender.send(Answer::whole(bytes));
                });
                return;
            }
            _ => Answer::whole(bytes),
        };
        self.sender.send(answer);
    }
}
