//! Which accesses are sampled.

/// Samples with one mean gap, before the next one.
const SAMPLES_PER_STEP: u32 = 4;
/// The mean gap is four times as large from step to step: 1, 4, 16, 64.
const STEPS: u32 = 3;

/// Most accesses from one sample to the next.
const GAP_MAX: u64 = 2 * (1 << (2 * STEPS)) - 1;

/// Draws the gaps between samples. If accesses are few, all are sampled, so that they are known exactly; if they are many, one in 64. Each
/// second without many takes a step back. Gaps are random: a load that goes through keys with any period is sampled at all of them.
#[derive(Debug)]
pub(crate) struct Gaps {
    /// The gap that runs: accesses from the last sample to the next one.
    gap: i64,
    random: u64,
    /// The second of the last sample.
    second: i64,
    step: u32,
    /// Samples with this step.
    samples: u32,
}

impl Gaps {
    pub(crate) fn new(seed: u64) -> Self {
        // The generator stands still at 0.
        Self { gap: Self::FIRST, random: seed | 1, second: i64::MIN, step: 0, samples: 0 }
    }

    /// The first gap is of one access.
    pub(crate) const FIRST: i64 = 1;

    /// Ends the gap that runs with a sample in the second `now_s`: its length, and the length of the next one.
    pub(crate) fn next(&mut self, now_s: i64) -> (i64, i64) {
        let since_s = now_s.saturating_sub(self.second);
        if since_s > 0 {
            let back = u32::try_from(since_s).unwrap_or(u32::MAX);
            (self.second, self.step, self.samples) = (now_s, self.step.saturating_sub(back), 0);
        }
        self.samples += 1;
        if self.samples >= SAMPLES_PER_STEP {
            (self.step, self.samples) = ((self.step + 1).min(STEPS), 0);
        }
        let mean = 1_u64 << (2 * self.step);
        let next = 1 + self.draw() % (2 * mean - 1);
        debug_assert!(next <= GAP_MAX, "a gap of {next}");
        let ended = std::mem::replace(&mut self.gap, next as i64);
        (ended, self.gap)
    }

    /// A random number: xorshift.
    fn draw(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        // The upper bits are the better ones.
        self.random >> 32
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Each gap is given as the next one and then as the ended one, and none is longer than it may be.
        #[test]
        fn gaps_follow_each_other(seed: u64, seconds in prop::collection::vec(0i64..3, 1..400)) {
            let (mut gaps, mut now_s, mut before) = (Gaps::new(seed), 0, Gaps::FIRST);
            for wait_s in seconds {
                now_s += wait_s;
                let (ended, next) = gaps.next(now_s);
                prop_assert_eq!(ended, before);
                prop_assert!(1 <= next && next.unsigned_abs() <= GAP_MAX);
                before = next;
            }
        }
    }

    #[test]
    fn the_mean_gap_of_many_is_64_and_that_of_few_1() {
        let mut gaps = Gaps::new(3);
        (0..100).for_each(|_| {
            gaps.next(0);
        });
        let sum: i64 = (0..10_000).map(|_| gaps.next(0).0).sum();
        assert!((60..68).contains(&(sum / 10_000)), "{sum}");
        gaps.next(1000);
        assert!((2000..2100).all(|now_s| gaps.next(now_s).1 == 1));
    }
}
