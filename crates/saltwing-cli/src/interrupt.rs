//! Ctrl-C stops the running statement, and no committed data is lost.
//!
//! One thread waits for the signal. A running statement is cancelled repeatedly until it
//! ends, because the first cancel may come before the statement can receive it. While
//! a batch waits for input, the signal ends the process.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use saltwing::blocking::Connection;

use crate::failure::EXIT_INTERRUPTED;

/// The interval at which a statement is cancelled again.
const CANCEL_EVERY: Duration = Duration::from_millis(50);

/// The effect of Ctrl-C while no statement runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Idle {
    /// Ctrl-C between statements, and a second one during a statement, ends the process.
    Ends,
    /// The shell continues.
    Stays,
}

/// The shell's handle of the listener.
#[derive(Clone)]
pub(crate) struct Interrupt {
    shared: Arc<Shared>,
    _connection: Arc<Connection>,
}

/// The state shared by the signal's thread and the shell.
struct Shared {
    /// Weak, because the thread outlives the database and must not keep it open: the database closes when the shell's handle is dropped.
    connection: Mutex<Weak<Connection>>,
    idle: Idle,
    running: AtomicBool,
    /// Signals since the statement began.
    count: AtomicU32,
}

impl Interrupt {
    /// Starts to listen. If that fails (no thread, no signals), Ctrl-C ends the process as usual.
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
        // Nothing is sent: the sender is dropped after the signal handler is installed, or has failed.
        let _: Result<(), _> = started.recv();
        Self { shared, _connection: connection }
    }

    /// Directs later signals to the statements of another connection.
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

/// A running statement.
pub(crate) struct Running<'a>(&'a Interrupt);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.shared.running.store(false, SeqCst);
    }
}
