//! Which accesses are sampled.

/// Samples of a second that are taken at each mean gap, before the next one.
const SAMPLES_PER_GAP: u32 = 16;
/// The mean gap doubles twice from step to step: 1, 4, 16, 64.
const STEPS: u32 = 3;
/// Samples of a second after which the next second begins with a mean gap of 16.
const BUSY: u32 = SAMPLES_PER_GAP * STEPS;

/// Draws the gaps between samples. The first accesses of a second are all sampled, so that a relation with few accesses is known
/// exactly; if more come, one in 64. Gaps are random: a load that goes through keys with any period is sampled at all of them.
#[derive(Debug)]
pub(crate) struct Gaps {
    /// The gap that runs: accesses from the last sample to the next one.
    gap: i64,
    random: u64,
    second: i64,
    /// Samples in this second, or as many as the mean gap takes.
    samples: u32,
}

impl Gaps {
    pub(crate) fn new(seed: u64) -> Self {
        // The generator stands still at 0.
        Self { gap: 1, random: seed | 1, second: i64::MIN, samples: 0 }
    }

    /// The first gap is of one access.
    pub(crate) const FIRST: i64 = 1;

    /// Ends the gap that runs with a sample in the second `now_s`: its length, and the length of the next one.
    pub(crate) fn next(&mut self, now_s: i64) -> (i64, i64) {
        if now_s != self.second {
            let was_busy = self.samples >= BUSY && now_s == self.second.saturating_add(1);
            (self.second, self.samples) = (now_s, if was_busy { BUSY - SAMPLES_PER_GAP } else { 0 });
        }
        self.samples = self.samples.saturating_add(1);
        let step = (self.samples / SAMPLES_PER_GAP).min(STEPS);
        let mean = 1_u64 << (2 * step);
        let next = 1 + self.draw() % (2 * mean - 1);
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
