//! Ctrl-C stops the statement that runs, never what is committed.
//!
//! One thread waits for the signal. While a statement runs it is cancelled, again and
//! again until it ends: it may not have got far enough to hear the first call. While
//! a batch waits for input, there is nothing to stop but the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use saltwing::blocking::Connection;

use crate::failure::EXIT_INTERRUPTED;

/// How often a statement is told to stop.
const CANCEL_EVERY: Duration = Duration::from_millis(50);

/// Who runs statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Idle {
    /// Ctrl-C between statements, and a second one within, ends the process.
    Ends,
    /// The shell stays.
    Stays,
}

/// What the signal's thread and the shell share.
#[derive(Clone)]
pub(crate) struct Interrupt {
    shared: Arc<Shared>,
}

struct Shared {
    connection: Connection,
    idle: Idle,
    running: AtomicBool,
    /// Signals since the statement began.
    count: AtomicU32,
}

impl Interrupt {
    /// Listens from now on. Without it (no thread, no signals) Ctrl-C ends the process, as ever.
    pub(crate) fn listen(connection: &Connection, idle: Idle) -> Self {
        let shared =
            Shared { connection: connection.clone(), idle, running: AtomicBool::new(false), count: AtomicU32::new(0) };
        let this = Self { shared: Arc::new(shared) };
        let listener = this.clone();
        let (listening, started) = std::sync::mpsc::channel();
        let builder = std::thread::Builder::new().name("saltwing-interrupt".into());
        drop(builder.spawn(move || {
            if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
                runtime.block_on(async {
                    // The first look at a signal takes it over from the system, for good.
                    drop(tokio::time::timeout(Duration::ZERO, tokio::signal::ctrl_c()).await);
                    drop(listening);
                    listener.wait().await;
                });
            }
        }));
        // Nothing is sent: the sender goes when the signal is taken over, or when that failed.
        let _: Result<(), _> = started.recv();
        this
    }

    /// A statement begins; it ends when the result is dropped.
    pub(crate) fn begin(&self) -> Running<'_> {
        self.shared.count.store(0, SeqCst);
        self.shared.running.store(true, SeqCst);
        Running(self)
    }

    /// Whether Ctrl-C came since the last statement began.
    pub(crate) fn came(&self) -> bool {
        self.shared.count.load(SeqCst) > 0
    }

    async fn wait(&self) {
        loop {
            let pending = self.came() && self.shared.running.load(SeqCst);
            if pending {
                self.shared.connection.cancel();
            }
            let signal = tokio::signal::ctrl_c();
            let signalled = match pending {
                true => tokio::time::timeout(CANCEL_EVERY, signal).await.ok(),
                false => Some(signal.await),
            };
            match signalled {
                None => {}
                Some(Ok(())) => self.on_signal(),
                Some(Err(_)) => return,
            }
        }
    }

    fn on_signal(&self) {
        let running = self.shared.running.load(SeqCst);
        let before = self.shared.count.fetch_add(1, SeqCst);
        if self.shared.idle == Idle::Ends && (!running || before > 0) {
            std::process::exit(EXIT_INTERRUPTED.into());
        }
    }
}

/// A statement that runs.
pub(crate) struct Running<'a>(&'a Interrupt);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.shared.running.store(false, SeqCst);
    }
}
