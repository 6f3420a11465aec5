//! How long writers wait for work that is not their own.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Counts the waits for one kind of work, from any thread.
#[derive(Debug, Default)]
pub struct Waits {
    count: AtomicU64,
    longest_us: AtomicU64,
}

/// The waits since the store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitStats {
    /// How many there were.
    pub count: u64,
    /// The longest one, in whole microseconds.
    pub longest: Duration,
}

impl Waits {
    /// Runs work for which writers wait, and counts its time.
    pub fn timed<T>(&self, work: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let done = work();
        self.count(began.elapsed());
        done
    }

    fn count(&self, wait: Duration) {
        self.count.fetch_add(1, Relaxed);
        self.longest_us.fetch_max(u64::try_from(wait.as_micros()).unwrap_or(u64::MAX), Relaxed);
    }

    /// The waits so far.
    pub fn stats(&self) -> WaitStats {
        WaitStats { count: self.count.load(Relaxed), longest: Duration::from_micros(self.longest_us.load(Relaxed)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_wait_is_kept() {
        let waits = Waits::default();
        assert_eq!(waits.stats(), WaitStats::default());
        for micros in [3, 70, 5] {
            waits.count(Duration::from_micros(micros));
        }
        assert_eq!(waits.stats(), WaitStats { count: 3, longest: Duration::from_micros(70) });
        assert_eq!(waits.timed(|| 7), 7);
        assert_eq!(waits.stats().count, 4);
    }
}
