//! A server that runs, and its end.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use saltwing_sessions::{Phase, Sessions};
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::certificates::Certificates;
use crate::listener::Listener;
use crate::listening_address::ListeningAddress;
use crate::{ServerError, recorder};

/// How long connections may take to end after their sessions have ended.
const CONNECTION_END_MAX: Duration = Duration::from_secs(1);
/// How long work of the runtime's threads may take to end after that.
const RUNTIME_END_MAX: Duration = Duration::from_secs(5);

/// A server that runs in threads of its own. Dropping it ends it, as [`Running::stop`] and [`Running::wait`] do.
pub struct Running {
    addresses: Vec<ListeningAddress>,
    control: Control,
    /// `None` after [`Running::wait`].
    thread: Option<JoinHandle<Result<(), ServerError>>>,
}

/// A handle of a running server, for other threads. Cheap to clone; it does not keep the server alive.
#[derive(Clone)]
pub struct Control {
    pub(crate) stop: Arc<watch::Sender<bool>>,
    pub(crate) certificates: Option<Arc<Certificates>>,
}

impl Control {
    /// Begins the end of the server, and returns at once: no new connections, the end of the sessions, and the closing of the database.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Reads the files of TLS again. If something is wrong with them it is logged, and the earlier certificate stays in use. Connections that are open are not touched.
    pub fn reload_certificates(&self) {
        match &self.certificates {
            Some(certificates) => certificates.reload(),
            None => tracing::info!(target: "saltwing::server", "there is no certificate to read again"),
        }
    }
}

/// The listeners of a server.
pub(crate) struct Listeners {
    /// Those whose connections become sessions.
    pub(crate) clients: Vec<Listener>,
    /// It answers until the sessions have ended, so that others see why.
    pub(crate) console: Option<Listener>,
}

/// The parts of a server that its thread owns.
pub(crate) struct Service {
    pub(crate) runtime: Runtime,
    pub(crate) sessions: Sessions,
    pub(crate) listeners: Listeners,
    pub(crate) stopping: watch::Receiver<bool>,
    pub(crate) grace: Duration,
}

impl Running {
    pub(crate) fn begin(
        addresses: Vec<ListeningAddress>,
        control: Control,
        service: Service,
    ) -> Result<Self, ServerError> {
        let thread = std::thread::Builder::new().name("saltwing-serve".to_owned()).spawn(|| service.run());
        let thread = thread.map_err(|source| ServerError::System { resource: "threads", source })?;
        Ok(Self { addresses, control, thread: Some(thread) })
    }

    /// The addresses that it listens on.
    pub fn addresses(&self) -> &[ListeningAddress] {
        &self.addresses
    }

    /// A handle for other threads.
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// As [`Control::stop`].
    pub fn stop(&self) {
        self.control.stop();
    }

    /// Waits until the server has ended and its database is closed. It blocks the thread.
    ///
    /// # Errors
    /// [`ServerError::Database`]: the database did not close well. [`ServerError::Bug`].
    pub fn wait(mut self) -> Result<(), ServerError> {
        self.thread.take().map_or(Ok(()), |thread| thread.join().unwrap_or(Err(ServerError::Bug)))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        self.stop();
        match thread.join() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!(target: "saltwing::server", %error, "the server did not end well"),
            Err(_) => tracing::error!(target: "saltwing::server", "the server ended by a bug"),
        }
    }
}

impl Service {
    /// Serves until it is stopped, and closes the database.
    fn run(self) -> Result<(), ServerError> {
        let Self { runtime, sessions, listeners, stopping, grace } = self;
        runtime.block_on(serve(&sessions, listeners, stopping, grace));
        // What still runs holds the database: its files would stay locked for the next opening in this process.
        runtime.shutdown_timeout(RUNTIME_END_MAX);
        let database = sessions.database().clone();
        drop(sessions);
        tracing::info!(target: "saltwing::server", "closing the database");
        database.close()?;
        tracing::info!(target: "saltwing::server", "the database is closed");
        Ok(())
    }
}

async fn serve(sessions: &Sessions, listeners: Listeners, mut stopping: watch::Receiver<bool>, grace: Duration) {
    let upkeep = tokio::spawn(async {
        let Some(recorder) = recorder::recorder() else { return };
        let mut ticks = tokio::time::interval(recorder::UPKEEP_EVERY);
        loop {
            ticks.tick().await;
            recorder.run_upkeep();
        }
    });
    // A sender that is gone would be a server that nobody can stop.
    let _: Result<_, watch::error::RecvError> = stopping.wait_for(|stop| *stop).await;
    tracing::info!(target: "saltwing::server", connections = sessions.connections(), ?grace, "the server stops");
    sessions.enter(Phase::Draining);
    listeners.clients.iter().for_each(Listener::close);
    if !sessions.stop(grace).await {
        tracing::warn!(target: "saltwing::server", connections = sessions.connections(), "sessions did not end and are cut");
    }
    for listener in listeners.clients.into_iter().chain(listeners.console) {
        listener.end(CONNECTION_END_MAX).await;
    }
    upkeep.abort();
}
