//! Standard input for a statement that can be stopped while it waits.
//!
//! A read of standard input blocks until bytes arrive. So a separate thread waits for them, and a read that takes
//! long returns [`io::ErrorKind::WouldBlock`]: the library tries again unless the statement was stopped. The thread consumes
//! no bytes: bytes that arrive after the statement was stopped are left for the next reader.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// The longest wait of a read for bytes.
const WAIT_MAX: Duration = Duration::from_millis(50);

/// Standard input for one statement.
pub(crate) struct StandardInput {
    /// Makes the thread wait once more.
    wait: SyncSender<()>,
    /// The number of available bytes after a wait: 0 at the end of the input.
    waited: Receiver<io::Result<usize>>,
    /// Whether the thread is waiting; it holds the lock of standard input meanwhile.
    is_waiting: bool,
}

impl StandardInput {
    /// # Errors
    /// The thread cannot be started.
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
        // After a statement is stopped, the thread continues until bytes arrive.
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
            // The bytes are in the buffer of standard input, so this read does not wait.
            _ => io::stdin().lock().read(buffer),
        }
    }
}
