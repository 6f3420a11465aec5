//! Runs: small blocks of rows that are newer than the blocks of some neighbouring entries.
//!
//! A merge with few rows for an entry does not rewrite its block: the rows and deletions go into a run, together with
//! those of neighbouring entries. Each of these references the run and its own rows in it.
//!
//! ```text
//!   entries   | a        | b        | c        |
//!   runs      |  r9: a a   b          c c c    |      written by a later merge: counts before r4
//!             |  r4: a                c        |
//!   blocks    | 17       | 21       | 18       |
//! ```
//! # Laws
//! 1. Of one key the newest counts: deltas, then runs from the newest on, then the block.
//! 2. A run names no value of `OVERFLOW`.
//! 3. A run is in the store as long as an entry of the newest directory, or of one that a reader has, names it.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::engine::block_ref::BlockRef;

/// Most runs that an entry names: with the deltas and the block a row is looked for in five places.
pub(crate) const RUNS_MAX: usize = 3;
/// New rows absorb a run that has at most this many times their rows.
const RUN_GROWTH: u64 = 2;
/// A block is folded when its runs have one row for this many of its own.
const FOLD_SHARE: u64 = 2;

/// While nothing is written, it is folded when they have one for this many.
pub(crate) const REST_SHARE: u64 = 16;

/// Rows of neighbouring entries above their blocks.
pub(crate) struct Run {
    pub(crate) block: Arc<BlockRef>,
    /// A byte a row: the bits of an entry's rows say which keys they may have.
    filter: Box<[u8]>,
    /// How many entries of the newest directory name it; merges alone change it.
    entries: AtomicU32,
}

/// The rows of a run that are of one entry; never none.
#[derive(Clone)]
pub(crate) struct RunPart {
    pub(crate) run: Arc<Run>,
    start: u32,
    end: u32,
    /// The oldest run whose rows are among them, by way of others too.
    oldest: u64,
}

impl Run {
    pub(crate) fn new(block: Arc<BlockRef>, filter: Vec<u8>) -> Self {
        Self { block, filter: filter.into(), entries: AtomicU32::new(0) }
    }

    /// More entries name it.
    pub(crate) fn gain(&self, entries: u32) {
        self.entries.fetch_add(entries, Relaxed);
    }

    /// So many entries do not name it any more.
    pub(crate) fn lose(&self, entries: u32) {
        self.entries.fetch_sub(entries, Relaxed);
        if self.entries.load(Relaxed) == 0 {
            self.block.replace();
        }
    }

    /// Whether it would lose its last entry with these.
    pub(crate) fn ends_with(&self, entries: u32) -> bool {
        self.entries.load(Relaxed) <= entries
    }
}

impl RunPart {
    pub(crate) fn new(run: Arc<Run>, rows: Range<u32>, oldest: u64) -> Self {
        Self { run, start: rows.start, end: rows.end, oldest }
    }

    /// The oldest run whose rows are among these: one that went into another before it went into this one counts too,
    /// since the other may be gone when the one is not.
    pub(crate) fn oldest(&self) -> u64 {
        self.oldest
    }

    /// Which rows of the run.
    pub(crate) fn rows(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Bytes of its rows as a delta has them, about.
    pub(crate) fn bytes(&self) -> u64 {
        let summary = &self.run.block.summary;
        self.rows().len() as u64 * u64::from(summary.bytes) / u64::from(summary.rows.max(1))
    }

    /// Whether one of its rows may have the key of this hash: if not, the run need not be read.
    pub(crate) fn may_hold(&self, hash: KeyHash) -> bool {
        self.run
            .filter
            .get(self.rows())
            .is_none_or(|bits| hash.bits(bits.len()).all(|(at, bit)| bits.get(at).is_none_or(|byte| byte & bit != 0)))
    }
}

/// A number of a key by which filters know it. Stores hold filters: it never changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyHash(u64);

impl KeyHash {
    pub(crate) fn new(key: &[u8]) -> Self {
        Self(u64::from(crc32fast::hash(key)).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Its bits in a filter of this many bytes.
    fn bits(self, bytes: usize) -> impl Iterator<Item = (usize, u8)> {
        [self.0 >> 32, self.0 & 0xffff_ffff].into_iter().map(move |number| {
            let bit = (number * (bytes as u64 * 8)) >> 32;
            ((bit / 8) as usize, 1 << (bit % 8))
        })
    }

    /// Adds it to a filter.
    pub(crate) fn mark(self, filter: &mut [u8]) {
        for (at, bit) in self.bits(filter.len()) {
            if let Some(byte) = filter.get_mut(at) {
                *byte |= bit;
            }
        }
    }
}

/// An amount of rows, and their bytes as a delta stores them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amount {
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
}

impl Amount {
    /// Whether this is at least one part in `share` of another amount.
    fn is_share(self, share: u64, of: Self) -> bool {
        self.rows.saturating_mul(share) >= of.rows || self.bytes.saturating_mul(share) >= of.bytes
    }
}

/// How many of an entry's newest runs its new rows absorb; `None` if the block is to be folded with all of its runs.
///
/// Few new rows are written into few runs' company: a run grows before it is written again, so that a row is written
/// about as often as there are runs times the root of that order of the ratio of block to new rows.
pub(crate) fn runs_absorbed(block: Amount, runs: &[Amount], new: Amount, share: u64) -> Option<usize> {
    let sum = |a: Amount, b: &Amount| Amount { rows: a.rows + b.rows, bytes: a.bytes + b.bytes };
    let all = runs.iter().fold(new, sum);
    if new.is_share(share, block) || all.is_share(FOLD_SHARE, block) {
        return None;
    }
    let (mut taken, mut rows) = (0, new.rows);
    for run in runs {
        if run.rows > RUN_GROWTH * rows && runs.len() - taken < RUNS_MAX {
            break;
        }
        rows += run.rows;
        taken += 1;
    }
    Some(taken)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn amount(rows: u64) -> Amount {
        Amount { rows, bytes: 10 * rows }
    }

    proptest! {
        /// Rows keep coming to an entry: it never has more runs than there may be, they are folded before they
        /// outgrow the block, and a row is written a bounded number of times.
        #[test]
        fn runs_are_few_and_rows_are_written_few_times(new in 1u64..4, seed in prop::collection::vec(0u64..3, 200)) {
            let block = amount(256);
            let (mut runs, mut written, mut added) = (Vec::<Amount>::new(), 0, 0);
            for more in seed {
                let new = amount(new + more);
                added += new.rows;
                match runs_absorbed(block, &runs, new, 8) {
                    None => {
                        let rows: u64 = runs.iter().map(|run| run.rows).sum();
                        prop_assert!(2 * (rows + new.rows) >= block.rows);
                        written += block.rows + rows + new.rows;
                        runs.clear();
                    }
                    Some(taken) => {
                        let rows = new.rows + runs.drain(..taken).map(|run| run.rows).sum::<u64>();
                        written += rows;
                        runs.insert(0, amount(rows));
                    }
                }
                prop_assert!(runs.len() <= RUNS_MAX);
                prop_assert!(2 * runs.iter().map(|run| run.rows).sum::<u64>() < block.rows);
            }
            prop_assert!(written <= 9 * added, "{written} rows written for {added}");
        }

        #[test]
        fn a_filter_has_the_keys_that_were_marked(
            keys in prop::collection::btree_set(prop::collection::vec(any::<u8>(), 0..6), 1..40),
        ) {
            let mut filter = vec![0; keys.len()];
            keys.iter().for_each(|key| KeyHash::new(key).mark(&mut filter));
            for key in &keys {
                prop_assert!(KeyHash::new(key).bits(filter.len()).all(|(at, bit)| filter[at] & bit != 0));
            }
        }
    }

    #[test]
    fn a_filter_rules_most_other_keys_out() {
        let mut filter = vec![0; 32];
        (0u32..32).for_each(|key| KeyHash::new(&key.to_be_bytes()).mark(&mut filter));
        let may = |key: u32| KeyHash::new(&key.to_be_bytes()).bits(32).all(|(at, bit)| filter[at] & bit != 0);
        let found = (1000..11_000).filter(|key| may(*key)).count();
        assert!(found < 1000, "{found} of 10,000");
    }

    #[test]
    fn many_new_rows_and_long_ones_are_written_with_the_block() {
        assert_eq!(runs_absorbed(amount(256), &[], amount(31), 8), Some(0));
        assert_eq!(runs_absorbed(amount(256), &[], amount(32), 8), None);
        assert_eq!(runs_absorbed(amount(256), &[], Amount { rows: 1, bytes: 320 }, 8), None);
        assert_eq!(runs_absorbed(amount(256), &[amount(99)], amount(28), 8), Some(0));
        assert_eq!(runs_absorbed(amount(256), &[amount(100)], amount(28), 8), None);
        assert_eq!(runs_absorbed(amount(256), &[amount(2), amount(5), amount(60)], amount(1), 8), Some(2));
        assert_eq!(runs_absorbed(amount(256), &[amount(9), amount(21), amount(63)], amount(1), 8), Some(1));
        assert_eq!(runs_absorbed(amount(256), &[amount(9), amount(20), amount(60)], amount(1), 8), Some(3));
    }
}
