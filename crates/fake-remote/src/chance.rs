//! Random numbers that a seed repeats.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A sequence of random numbers (splitmix64).
#[derive(Debug)]
pub(crate) struct Chance(AtomicU64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    fn next(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut z = self.0.fetch_add(STEP, Relaxed).wrapping_add(STEP);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`; 0 where there is none.
    pub(crate) fn below(&self, end: usize) -> usize {
        (self.next() % (end.max(1) as u64)) as usize
    }

    /// True once in `times` calls on average; never if that is 0.
    pub(crate) fn one_in(&self, times: u32) -> bool {
        times > 0 && self.next().is_multiple_of(u64::from(times))
    }
}
