//! A call of a scanner that goes on while the caller works on rows.

use bytes::Bytes;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use super::arrival::Arrival;
use super::open_scanner::OpenScanner;
use super::opening::Opening;
use crate::error::Error;
use crate::proto::{ScanRequest, ScanResponse};
use crate::region::Region;

/// A call of a scanner, in a task of its own.
///
/// A call that nobody waits for any more is not cut off: servers refuse to close a scanner that they read at the moment. When its answer
/// has come, or at its end, the scanner goes with the task, and is closed.
pub(super) struct Flight {
    region: Region,
    /// The call itself ends here.
    until: Instant,
    task: JoinHandle<Arrival>,
}

impl Flight {
    /// Sends a request for rows.
    pub(super) fn send(open: OpenScanner, request: ScanRequest, until: Instant) -> Self {
        let region = open.region.clone();
        Self { region, until, task: tokio::spawn(call(open, request, until)) }
    }

    /// Opens a scanner.
    pub(super) fn open(opening: Opening, until: Instant) -> Self {
        let region = opening.region().clone();
        Self { region, until, task: tokio::spawn(opening.call(until)) }
    }

    /// The region that the call reads.
    pub(super) fn region(&self) -> &Region {
        &self.region
    }

    /// Waits for the answer. If this future is dropped, the call goes on, and another wait gets the answer. After the flight has given
    /// an arrival or an error it must be dropped.
    ///
    /// # Errors
    /// [`Error::NoAnswer`] if there is none at `bound`, [`Error::Task`].
    pub(super) async fn arrival(&mut self, bound: Instant) -> Result<Arrival, Error> {
        let ended = if self.until <= bound {
            // The call ends by itself, and knows best how it has ended.
            (&mut self.task).await
        } else {
            let late = |_| Error::NoAnswer { server: self.region.server().clone(), method: "Scan", sent: true };
            timeout_at(bound, &mut self.task).await.map_err(late)?
        };
        ended.map_err(|error| Error::Task { reason: error.to_string() })
    }
}

async fn call(mut open: OpenScanner, request: ScanRequest, until: Instant) -> Arrival {
    let answer = open.server.call::<ScanResponse>("Scan", &request, Bytes::new(), until).await;
    if let Ok(answer) = &answer {
        open.next_call += 1;
        open.note_end(&answer.message);
    }
    Arrival { open, opens: false, answer }
}
