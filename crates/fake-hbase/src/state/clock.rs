//! The servers' clock.

/// A clock that tests control: it goes on by a millisecond with each write, and may stand still.
#[derive(Debug)]
pub(crate) struct Clock {
    now_ms: u64,
    stands_still: bool,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self { now_ms: 1_750_000_000_000, stands_still: false }
    }

    /// The time of a write.
    pub(crate) fn tick(&mut self) -> u64 {
        if !self.stands_still {
            self.now_ms += 1;
        }
        self.now_ms
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.now_ms
    }

    /// Lets it stand still, or go on.
    pub(crate) fn stand_still(&mut self, still: bool) {
        self.stands_still = still;
    }

    /// Sets it, which may be back.
    pub(crate) fn set(&mut self, now_ms: u64) {
        self.now_ms = now_ms;
    }
}
