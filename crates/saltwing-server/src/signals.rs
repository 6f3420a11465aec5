//! The signals of the process: the first SIGTERM or SIGINT stops the server, the second ends the process, SIGHUP reads the certificate again.

use crate::ServerError;
use crate::running::Control;

/// The exit code after a second SIGINT: 128 and the signal's number, as command shells have it.
pub const EXIT_INTERRUPTED: i32 = 130;
/// The exit code after a second SIGTERM.
pub const EXIT_TERMINATED: i32 = 143;

/// Takes the signals over, for the rest of the process. They are handled on a thread of their own, so that a second one ends the process while the database
/// closes, too.
///
/// # Errors
/// [`ServerError::System`].
pub fn handle_signals(control: Control) -> Result<(), ServerError> {
    let no_signals = |source| ServerError::System { resource: "signals", source };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(no_signals)?;
    let entered = runtime.enter();
    let mut signals = Signals::new().map_err(no_signals)?;
    drop(entered);
    let thread = std::thread::Builder::new().name("saltwing-signals".to_owned());
    let thread = thread.spawn(move || {
        runtime.block_on(async {
            let mut is_stopping = false;
            loop {
                match signals.next().await {
                    Signal::Reload => control.reload_certificates(),
                    Signal::Stop { code, name } if is_stopping => {
                        tracing::warn!(target: "saltwing::server", signal = name, "a second signal ends the process");
                        std::process::exit(code);
                    }
                    Signal::Stop { name, .. } => {
                        tracing::info!(target: "saltwing::server", signal = name, "the server stops; a second signal ends it at once");
                        is_stopping = true;
                        control.stop();
                    }
                }
            }
        });
    });
    thread.map(drop).map_err(|source| ServerError::System { resource: "threads", source })
}

enum Signal {
    /// The end. The code is that of a process which a second such signal ends.
    Stop { code: i32, name: &'static str },
    /// Reading the certificate again.
    Reload,
}

#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let (terminate, interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        Ok(Self { terminate, interrupt, hang_up: signal(SignalKind::hangup())? })
    }

    async fn next(&mut self) -> Signal {
        // `recv` gives `None` only if the runtime is gone, which runs this.
        tokio::select! {
            _ = self.terminate.recv() => Signal::Stop { code: EXIT_TERMINATED, name: "SIGTERM" },
            _ = self.interrupt.recv() => Signal::Stop { code: EXIT_INTERRUPTED, name: "SIGINT" },
            _ = self.hang_up.recv() => Signal::Reload,
        }
    }
}

/// Where there is Ctrl-C alone.
#[cfg(windows)]
struct Signals(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Signals {
    fn new() -> std::io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    async fn next(&mut self) -> Signal {
        self.0.recv().await;
        Signal::Stop { code: EXIT_INTERRUPTED, name: "Ctrl-C" }
    }
}
