//! Frees the space of expired rows, and of tables whose drop was interrupted or failed, in the background.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use saltwing_catalog::CatalogStore;
use saltwing_table::EmbeddedTables;
use saltwing_types::ErrorCode;

use crate::Error;

/// A thread that finishes drops, at its start, when it is woken and after each periodic sweep. It ends when this value is dropped.
pub(crate) struct Sweeper {
    wake: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Sweeper {
    pub(crate) fn start(
        tables: Arc<EmbeddedTables>,
        catalog: Arc<dyn CatalogStore>,
        every: Duration,
    ) -> Result<Self, Error> {
        let (wake, woken) = channel();
        let sweep = move || {
            // The next round deletes the rows that this one could not delete. Readers never see such rows.
            let finish_drops = || {
                if let Err(error) = catalog.finish_drops() {
                    tables.note_failure("drop", &error);
                }
            };
            finish_drops();
            let mut swept = Instant::now();
            loop {
                match woken.recv_timeout(every.saturating_sub(swept.elapsed())) {
                    Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(error) = tables.sweep() {
                            tables.note_failure("sweep", &error);
                        }
                        swept = Instant::now();
                    }
                    Ok(()) => {}
                }
                finish_drops();
            }
        };
        let thread = std::thread::Builder::new()
            .name("saltwing-sweep".into())
            .spawn(sweep)
            .map_err(|error| Error::new(ErrorCode::Io, format!("the sweeping thread cannot be started: {error}")))?;
        Ok(Self { wake: Some(wake), thread: Some(thread) })
    }

    /// Finishes drops now.
    pub(crate) fn wake(&self) {
        if let Some(wake) = &self.wake {
            // If the thread is gone, it has panicked, which is logged.
            let _ = wake.send(());
        }
    }
}

impl Drop for Sweeper {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!(task = "sweep", "background work panicked");
        }
    }
}
