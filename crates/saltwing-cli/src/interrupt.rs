//! Ctrl-C stops the running statement, and no committed data is lost.
//!
//! One thread waits for the signal. While a statement runs it is cancelled, again and
//! again until it ends: it may not have got far enough to hear the first call. While
//! a batch waits for input, there is nothing to stop but the process.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use saltwing::blocking::Connection;

use crate::failure::EXIT_INTERRUPTED;

/// How often a statement gets the cancel.
const CANCEL_EVERY: Duration = Duration::from_millis(50);

/// The connection that runs statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Idle {
    /// Ctrl-C between statements, and a second one within, ends the process.
    Ends,
    /// The shell stays.
    Stays,
}

/// The shell's end.
#[derive(Clone)]
pub(crate) struct Interrupt {
    shared: Arc<Shared>,
    _connection: Arc<Connection>,
}

/// The state shared by the signal's thread and the shell.
struct Shared {
    /// The thread outlives the database, and must not hold it: it closes when the shell's end is gone.
    connection: Mutex<Weak<Connection>>,
    idle: Idle,
    running: AtomicBool,
    /// Signals since the statement began.
    count: AtomicU32,
}

impl Interrupt {
    /// Listens from now on. Without it (no thread, no signals) Ctrl-C ends the process, as ever.
    pub(crate) fn listen(connection: &Connection, idle: Idle) -> Self {
        let connection = Arc::new(connection.clone());
        let (running, count) = (AtomicBool::new(false), AtomicU32::new(0));
        let shared = Arc::new(Shared { connection: Mutex::new(Arc::downgrade(&connection)), idle, running, count });
        let listener = shared.clone();
        let (listening, started) = std::sync::mpsc::channel();
        let builder = std::thread::Builder::new().name("saltwing-interrupt".into());
        drop(builder.spawn(move || {
            if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
                runtime.block_on(async {
                    // The first use of the signal replaces the system's handler permanently.
                    drop(tokio::time::timeout(Duration::ZERO, tokio::signal::ctrl_c()).await);
                    drop(listening);
                    listener.wait().await;
                });
            }
        }));
        // Nothing is sent: the sender goes when the signal is taken over, or when that failed.
        let _: Result<(), _> = started.recv();
        Self { shared, _connection: connection }
    }

    /// Stops the statements of another connection from now on.
    pub(crate) fn turn_to(&mut self, connection: &Connection) {
        self._connection = Arc::new(connection.clone());
        *self.shared.connection() = Arc::downgrade(&self._connection);
    }

    /// A statement begins; it ends when the result is dropped.
    pub(crate) fn begin(&self) -> Running<'_> {
        self.shared.count.store(0, SeqCst);
        self.shared.running.store(true, SeqCst);
        Running(self)
    }

    /// Whether Ctrl-C came since the last statement began.
    pub(crate) fn came(&self) -> bool {
        self.shared.came()
    }
}

impl Shared {
    fn connection(&self) -> MutexGuard<'_, Weak<Connection>> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn came(&self) -> bool {
        self.count.load(SeqCst) > 0
    }

    async fn wait(&self) {
        loop {
            let pending = self.came() && self.running.load(SeqCst);
            let connection = self.connection().upgrade();
            if let Some(connection) = connection.filter(|_| pending) {
                connection.cancel();
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
        let running = self.running.load(SeqCst);
        let before = self.count.fetch_add(1, SeqCst);
        if self.idle == Idle::Ends && (!running || before > 0) {
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
