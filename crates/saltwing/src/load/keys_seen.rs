//! Counts the rows of a load that have the key of an earlier row.

use std::hash::{Hash, Hasher};

/// Most rows whose keys are remembered: 128 MB of hashes.
const ROWS_REMEMBERED_MAX: usize = 16 << 20;

/// The hashes of a load's keys. If the rows are in key order, the hashes are not used, and any number of rows is possible.
pub(crate) struct KeysSeen {
    /// The hashes of the first `rows_max` rows.
    hashes: Vec<u64>,
    rows_max: usize,
    rows: usize,
    /// The greatest key; `None` after a key that was not greater than all earlier ones.
    greatest: Option<Vec<u8>>,
}

/// The number of rows that have the key of an earlier row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Repeats {
    pub(crate) rows: u64,
    /// Whether there may be more such rows, because the load has more rows than are remembered.
    pub(crate) at_least: bool,
}

impl KeysSeen {
    pub(crate) fn new() -> Self {
        Self::remembering(ROWS_REMEMBERED_MAX)
    }

    fn remembering(rows_max: usize) -> Self {
        Self { hashes: Vec::new(), rows_max, rows: 0, greatest: Some(Vec::new()) }
    }

    /// Adds the key of the next row.
    pub(crate) fn add(&mut self, key: &[u8]) {
        if self.rows < self.rows_max {
            let mut hasher = std::hash::DefaultHasher::new();
            key.hash(&mut hasher);
            self.hashes.push(hasher.finish());
        }
        self.rows += 1;
        match &mut self.greatest {
            Some(greatest) if key > greatest.as_slice() => {
                greatest.clear();
                greatest.extend_from_slice(key);
            }
            _ => self.greatest = None,
        }
    }

    /// The result at the end of the load.
    pub(crate) fn repeats(mut self) -> Repeats {
        if self.greatest.is_some() {
            return Repeats { rows: 0, at_least: false };
        }
        self.hashes.sort_unstable();
        let rows = self.hashes.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64;
        Repeats { rows, at_least: self.rows > self.rows_max }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn repeats_are_rows_less_keys(keys in prop::collection::vec(0u8..40, 0..60), sorted: bool, rows_max in 1usize..80) {
            let mut keys = keys;
            if sorted {
                keys.sort_unstable();
                keys.dedup();
            }
            let mut seen = KeysSeen::remembering(rows_max);
            keys.iter().for_each(|key| seen.add(&[*key, 1]));
            let repeats = |keys: &[u8]| (keys.len() - keys.iter().collect::<HashSet<_>>().len()) as u64;
            let is_sorted = keys.windows(2).all(|pair| pair[0] < pair[1]);
            let at_least = !is_sorted && keys.len() > rows_max;
            let known = if at_least { &keys[..rows_max] } else { &keys[..] };
            prop_assert_eq!(seen.repeats(), Repeats { rows: repeats(known), at_least });
        }
    }
}
