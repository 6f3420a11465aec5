//! Signals between commits and the merging thread.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// Interval at which a waiting writer checks without a signal.
pub(crate) const WAIT: Duration = Duration::from_millis(20);

/// The state shared by commits and the merging thread.
#[derive(Default)]
pub(crate) struct MergeSignal {
    state: Mutex<State>,
    to_worker: Condvar,
    to_writers: Condvar,
    commits: AtomicU64,
}

#[derive(Default)]
struct State {
    running: bool,
    full: bool,
    stop: bool,
    /// Merges that failed.
    failures: u64,
}

pub(crate) enum Wake {
    Stop,
    /// The delta is full.
    Full,
    /// Nothing was written for some time.
    Idle,
    /// It is time to look again.
    Look,
}

impl MergeSignal {
    /// A commit was made; the delta may be full with it.
    pub(crate) fn committed(&self, full: bool) {
        self.commits.fetch_add(1, Relaxed);
        if full {
            self.state.lock().full = true;
            self.to_worker.notify_one();
        }
    }

    /// Waits while there is cause and a thread that merges, until it fails.
    pub(crate) fn wait_for_merge(&self, cause: impl Fn() -> bool) {
        let failures = self.state.lock().failures;
        while cause() {
            let mut state = self.state.lock();
            if !state.running || state.failures != failures {
                return;
            }
            state.full = true;
            self.to_worker.notify_one();
            self.to_writers.wait_for(&mut state, WAIT);
        }
    }

    /// A merge failed. Writers stop waiting, because it may fail forever.
    pub(crate) fn failed(&self) {
        self.state.lock().failures += 1;
    }

    /// The thread runs from now on.
    pub(crate) fn start(&self) {
        let mut state = self.state.lock();
        (state.running, state.stop) = (true, false);
    }

    /// The thread is to end, or did not start: no writer waits for it any more.
    pub(crate) fn stop(&self) {
        {
            let mut state = self.state.lock();
            state.stop = true;
            state.running = false;
        }
        self.to_worker.notify_all();
        self.merged();
    }

    /// Commits so far.
    pub(crate) fn commits(&self) -> u64 {
        self.commits.load(Relaxed)
    }

    pub(crate) fn merged(&self) {
        self.to_writers.notify_all();
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.state.lock().stop
    }

    pub(crate) fn wait(&self, idle: Duration) -> Wake {
        let before = self.commits.load(Relaxed);
        let mut state = self.state.lock();
        if !state.full && !state.stop {
            self.to_worker.wait_for(&mut state, idle);
        }
        if state.stop {
            Wake::Stop
        } else if std::mem::take(&mut state.full) {
            Wake::Full
        } else if self.commits.load(Relaxed) == before {
            Wake::Idle
        } else {
            Wake::Look
        }
    }
}
