//! The time of rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};

/// Tells the time: milliseconds since 1970.
pub trait Clock: Send + Sync {
    /// Now.
    fn now_ms(&self) -> i64;
}

/// The computer's clock.
#[derive(Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as i64)
    }
}

/// A clock that stands still while the one below it shows an earlier time: what was expired once stays expired.
pub struct SteadyClock {
    clock: Arc<dyn Clock>,
    last_ms: AtomicI64,
}

impl SteadyClock {
    /// The clock over another one.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, last_ms: AtomicI64::new(i64::MIN) }
    }
}

impl Clock for SteadyClock {
    fn now_ms(&self) -> i64 {
        let (now_ms, last_ms) = (self.clock.now_ms(), self.last_ms.load(Relaxed));
        // Most readers come in the millisecond of another one, and write nothing.
        if now_ms <= last_ms { last_ms } else { self.last_ms.fetch_max(now_ms, Relaxed).max(now_ms) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct ManualClock(AtomicI64);

    impl Clock for ManualClock {
        fn now_ms(&self) -> i64 {
            self.0.load(Relaxed)
        }
    }

    #[test]
    fn a_steady_clock_never_goes_back() {
        let below = Arc::new(ManualClock(AtomicI64::new(-5)));
        let clock = SteadyClock::new(below.clone());
        for (now_ms, steady_ms) in [(-5, -5), (10, 10), (9, 10), (-20, 10), (10, 10), (11, 11), (3, 11)] {
            below.0.store(now_ms, Relaxed);
            assert_eq!(clock.now_ms(), steady_ms);
        }
    }
}
