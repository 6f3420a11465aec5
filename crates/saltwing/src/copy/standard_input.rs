//! Standard input for a statement that can be stopped while it waits.
//!
//! A read of standard input blocks until somebody sends bytes. So a thread of its own waits for them. It takes none
//! away: bytes that come after the statement was stopped are still there for the next reader.

use saltwing_access::ScanContext;
use std::io::{self, BufRead, Read, StdinLock};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// How often a statement that waits looks whether it was stopped.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Standard input, as one statement reads it.
pub(super) struct StandardInput {
    context: ScanContext,
    /// Has the thread wait once more.
    wait: SyncSender<()>,
    /// How many bytes are there then: 0 at the end.
    waited: Receiver<io::Result<usize>>,
    /// Standard input while its buffer has bytes; the thread needs the lock otherwise.
    lock: Option<StdinLock<'static>>,
    /// Bytes of the buffer that nobody has taken yet.
    left: usize,
}

impl StandardInput {
    /// # Errors
    /// The operating system has no thread to give.
    pub(super) fn new(context: &ScanContext) -> io::Result<Self> {
        let (wait, asked) = sync_channel::<()>(1);
        let (answer, waited) = sync_channel(1);
        let waits = move || {
            while asked.recv().is_ok() {
                let bytes = io::stdin().lock().fill_buf().map(<[u8]>::len);
                if answer.send(bytes).is_err() {
                    break;
                }
            }
        };
        // It outlives a statement that is stopped, until bytes come.
        drop(std::thread::Builder::new().name("saltwing-stdin".into()).spawn(waits)?);
        Ok(Self { context: context.clone(), wait, waited, lock: None, left: 0 })
    }

    /// Waits for bytes; how many there are.
    fn fill(&mut self) -> io::Result<usize> {
        let ended = || io::Error::other("the thread that reads standard input has ended");
        self.wait.send(()).map_err(|_| ended())?;
        loop {
            match self.waited.recv_timeout(LOOK_EVERY) {
                Ok(bytes) => return bytes,
                Err(RecvTimeoutError::Timeout) => self.context.check().map_err(io::Error::other)?,
                Err(RecvTimeoutError::Disconnected) => return Err(ended()),
            }
        }
    }
}

impl BufRead for StandardInput {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.left == 0 {
            self.left = self.fill()?;
            if self.left == 0 {
                return Ok(&[]);
            }
        }
        self.lock.get_or_insert_with(|| io::stdin().lock()).fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        if let Some(lock) = &mut self.lock {
            lock.consume(bytes);
        }
        self.left = self.left.saturating_sub(bytes);
        if self.left == 0 {
            self.lock = None;
        }
    }
}

impl Read for StandardInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill_buf()?.read(buffer)?;
        self.consume(bytes);
        Ok(bytes)
    }
}
