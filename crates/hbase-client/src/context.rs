//! What bounds a call: a deadline and a budget of retries.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// The retries of a context, by default.
pub const RETRIES: u32 = 100;

/// The longest time of one attempt, by default; HBase's own clients have the same.
pub const ATTEMPT: Duration = Duration::from_secs(60);

/// The bounds of a call. All calls that are made with one context, or with clones of it, share its deadline and its retries.
///
/// To cancel a call, drop its future: it ends at once, and its answer is thrown away when it comes.
#[derive(Clone, Debug)]
pub struct CallContext {
    deadline: Instant,
    retries_left: Arc<AtomicU32>,
    repeats_unknown: bool,
    attempt: Duration,
}

impl CallContext {
    /// A context whose deadline comes after `time`, with [`RETRIES`] retries.
    pub fn within(time: Duration) -> Self {
        Self {
            // Thirty years are beyond any deadline, and within what the clock can add.
            deadline: Instant::now() + time.min(Duration::from_secs(30 * 365 * 86_400)),
            retries_left: Arc::new(AtomicU32::new(RETRIES)),
            repeats_unknown: false,
            attempt: ATTEMPT,
        }
    }

    /// The same with a budget of `retries` retries, which this context shares with no other.
    #[must_use]
    pub fn with_retries(mut self, retries: u32) -> Self {
        self.retries_left = Arc::new(AtomicU32::new(retries));
        self
    }

    /// Sends a write again whose reply was lost, even if it may then be applied twice. Without this only those writes are sent again
    /// of which a second time changes nothing: puts and deletes whose cells all have times of their own, and increments by way of
    /// their nonces. Useful if no one else writes the same rows.
    #[must_use]
    pub fn repeating_unknown_writes(mut self) -> Self {
        self.repeats_unknown = true;
        self
    }

    /// The longest time of one attempt, [`ATTEMPT`] by default. After it a call is tried again, at another place perhaps, if it may be.
    /// Calls of coprocessors have time until the deadline.
    #[must_use]
    pub fn with_attempts_of(mut self, time: Duration) -> Self {
        self.attempt = time;
        self
    }

    /// When an attempt that begins now must end.
    pub(crate) fn attempt_until(&self) -> Instant {
        // A time that the clock can't add is beyond any deadline.
        Instant::now().checked_add(self.attempt).map_or(self.deadline, |until| until.min(self.deadline))
    }

    /// When an attempt must end that begins now and for whose answer a later call waits, which has a deadline of its own.
    pub(crate) fn attempt_ahead_until(&self) -> Instant {
        Instant::now().checked_add(self.attempt).unwrap_or(self.deadline)
    }

    /// When the calls must end.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Whether writes are sent again of which a second time may change something.
    pub fn repeats_unknown_writes(&self) -> bool {
        self.repeats_unknown
    }

    /// Takes a retry of the budget; false if there is none.
    pub(crate) fn take_retry(&self) -> bool {
        let left = |left: u32| left.checked_sub(1);
        self.retries_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).is_ok()
    }
}
