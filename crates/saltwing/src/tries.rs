//! The limits of tries on the caller's thread (`at_once.rs`), and whether they are worth it.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use saltwing_access::Budget;

/// The limits of a try.
pub(crate) const TRY_BUDGET: Budget =
    Budget { rows_max: Some(2000), bytes_max: Some(1 << 20), time_max: Some(Duration::from_millis(1)) };
/// Longer texts are parsed on threads of the library.
const TEXT_BYTES_MAX: usize = 4 << 10;
/// Runs for which nothing is tried after a try that reached a limit.
const RUNS_PAUSED: u32 = 64;

/// Whether tries are worth it: after one that reached a limit, some runs go to threads of the library at once.
#[derive(Debug, Default)]
pub(crate) struct Tries {
    paused: AtomicU32,
}

impl Tries {
    /// Whether the next run is tried.
    pub(crate) fn allows_next(&self) -> bool {
        self.paused.load(Relaxed) == 0
            || self.paused.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err()
    }

    /// Notes that a try has reached a limit.
    pub(crate) fn pause(&self) {
        self.paused.store(RUNS_PAUSED, Relaxed);
    }
}

/// Whether a text is parsed on the caller's thread.
pub(crate) fn is_short(sql: &str) -> bool {
    sql.len() <= TEXT_BYTES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_try_that_reached_a_limit_sends_the_next_runs_to_other_threads() {
        let tries = Tries::default();
        assert!(tries.allows_next() && tries.allows_next());
        tries.pause();
        assert!((0..RUNS_PAUSED).all(|_| !tries.allows_next()));
        assert!(tries.allows_next() && tries.allows_next());
    }
}
