//! What all listeners of a cluster share.

use parking_lot::{Mutex, MutexGuard};
use tokio::runtime::Handle;

use super::answers::{Answer, Sender};
use crate::state::State;

/// The state of a cluster, and answers that a test holds back.
#[derive(Debug)]
pub(crate) struct Shared {
    state: Mutex<State>,
    held: Mutex<Vec<(Sender, Answer)>>,
    pub(crate) runtime: Handle,
}

impl Shared {
    pub(crate) fn new(state: State, runtime: Handle) -> Self {
        Self { state: Mutex::new(state), held: Mutex::default(), runtime }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    pub(crate) fn hold(&self, sender: Sender, answer: Answer) {
        self.held.lock().push((sender, answer));
    }

    /// The number of answers that are held back.
    pub(crate) fn held(&self) -> usize {
        self.held.lock().len()
    }

    /// Sends the answers that are held back, the last one first; the result is their number.
    pub(crate) fn release(&self) -> usize {
        let held = std::mem::take(&mut *self.held.lock());
        let count = held.len();
        for (sender, answer) in held.into_iter().rev() {
            sender.send(answer);
        }
        count
    }
}
