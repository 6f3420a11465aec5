//! What bounds a call: a deadline and a budget of retries.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// The retries of a context, by default.
pub const RETRIES: u32 = 100;

/// The bounds of a call. All calls that are made with one context, or with clones of it, share its deadline and its retries.
///
/// To cancel a call, drop its future: it ends at once, and its answer is thrown away when it comes.
#[derive(Clone, Debug)]
pub struct CallContext {
    deadline: Instant,
    retries_left: Arc<AtomicU32>,
    repeats_unknown: bool,
}

impl CallContext {
    /// A context whose deadline comes after `time`, with [`RETRIES`] retries.
    pub fn within(time: Duration) -> Self {
        Self {
            // Thirty years are beyond any deadline, and within what the clock can add.
            deadline: Instant::now() + time.min(Duration::from_secs(30 * 365 * 86_400)),
            retries_left: Arc::new(AtomicU32::new(RETRIES)),
            repeats_unknown: false,
        }
    }

    /// The same with so many retries, which this context shares with no other.
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
