//! The calls of a connection that wait for their answers.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::address::Address;
use crate::error::Error;
use crate::frame::Response;

/// A call that waits.
struct Waiting {
    reply: oneshot::Sender<Result<Response, Error>>,
    /// Whether its frame may have left this process.
    sent: bool,
}

struct State {
    waiting: HashMap<u32, Waiting>,
    next_id: u32,
    /// Why the connection has ended.
    ended: Option<String>,
}

/// The calls of a connection that wait for their answers.
pub(super) struct Pending {
    server: Address,
    state: Mutex<State>,
}

impl Pending {
    pub(super) fn new(server: Address) -> Self {
        let state = State { waiting: HashMap::new(), next_id: 0, ended: None };
        Self { server, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change of the state is complete before anything can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new call, and where its answer comes.
    pub(super) fn register(&self) -> Result<(u32, oneshot::Receiver<Result<Response, Error>>), Error> {
        let mut state = self.state();
        if let Some(reason) = &state.ended {
            return Err(Error::Disconnected { server: self.server.clone(), sent: false, reason: reason.clone() });
        }
        // After four billion calls the numbers begin again; one that is still in use is left out.
        while state.waiting.contains_key(&state.next_id) {
            state.next_id = state.next_id.wrapping_add(1);
        }
        let id = state.next_id;
        state.next_id = id.wrapping_add(1);
        let (reply, receiver) = oneshot::channel();
        state.waiting.insert(id, Waiting { reply, sent: false });
        Ok((id, receiver))
    }

    /// Notes that the frame of a call is about to be written; false if nobody waits for the call any more.
    pub(super) fn mark_sent(&self, id: u32) -> bool {
        match self.state().waiting.get_mut(&id) {
            Some(waiting) => {
                waiting.sent = true;
                true
            }
            None => false,
        }
    }

    /// Takes a call out; whether its frame may have left.
    pub(super) fn forget(&self, id: u32) -> bool {
        self.state().waiting.remove(&id).is_some_and(|waiting| waiting.sent)
    }

    /// Gives an answer to its call. The answer to a call that was cancelled is thrown away.
    pub(super) fn answer(&self, id: u32, response: Response) {
        let waiting = self.state().waiting.remove(&id);
        if let Some(waiting) = waiting {
            // The receiver is gone if the call is cancelled at this moment.
            let _ = waiting.reply.send(Ok(response));
        }
    }

    /// Ends the connection: all calls fail with an error that says whether they were sent.
    pub(super) fn end(&self, reason: &str) {
        let waiting = {
            let mut state = self.state();
            state.ended.get_or_insert_with(|| reason.to_owned());
            std::mem::take(&mut state.waiting)
        };
        for (_, Waiting { reply, sent }) in waiting {
            let (server, reason) = (self.server.clone(), reason.to_owned());
            let _ = reply.send(Err(Error::Disconnected { server, sent, reason }));
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.state().ended.is_some()
    }
}
