//! Standard input for a statement that can be stopped while it waits.
//!
//! A read of standard input blocks until somebody sends bytes. So a thread of its own waits for them, and a read that
//! takes long is [`io::ErrorKind::WouldBlock`]: the library tries again unless the statement was stopped. The thread takes
//! no bytes away: those that come after the statement was stopped are still there for the next reader.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// How long a read waits for bytes.
const WAIT_MAX: Duration = Duration::from_millis(50);

/// Standard input, as one statement reads it.
pub(crate) struct StandardInput {
    /// Has the thread wait once more.
    wait: SyncSender<()>,
    /// The number of bytes available then: 0 at the end.
    waited: Receiver<io::Result<usize>>,
    /// Whether the thread waits: it holds the lock of standard input meanwhile.
    is_waiting: bool,
}

impl StandardInput {
    /// # Errors
    /// The operating system has no thread to give.
    pub(crate) fn new() -> io::Result<Self> {
        let (wait, requests) = sync_channel::<()>(1);
        let (answer, waited) = sync_channel(1);
        let waits = move || {
            while requests.recv().is_ok() {
                let bytes = io::stdin().lock().fill_buf().map(<[u8]>::len);
                if answer.send(bytes).is_err() {
                    break;
                }
            }
        };
        // It outlives a statement that is stopped, until bytes come.
        drop(std::thread::Builder::new().name("saltwing-stdin".into()).spawn(waits)?);
        Ok(Self { wait, waited, is_waiting: false })
    }
}

impl Read for StandardInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let ended = || io::Error::other("the thread that reads standard input has ended");
        if !self.is_waiting {
            self.wait.send(()).map_err(|_| ended())?;
            self.is_waiting = true;
        }
        let there = match self.waited.recv_timeout(WAIT_MAX) {
            Ok(there) => there,
            Err(RecvTimeoutError::Timeout) => return Err(io::ErrorKind::WouldBlock.into()),
            Err(RecvTimeoutError::Disconnected) => return Err(ended()),
        };
        self.is_waiting = false;
        match there? {
            0 => Ok(0),
            // They are in the buffer of standard input: this read does not wait.
            _ => io::stdin().lock().read(buffer),
        }
    }
}
