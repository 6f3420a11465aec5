//! First committer wins: what was written since the oldest transaction began.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;
use saltwing_types::{TableId, text};

use crate::TableError;

/// The number of a commit; they grow by one from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CommitNo(pub u64);

/// Most keys that are remembered for transactions that still run.
const KEYS_REMEMBERED_MAX: usize = 1_000_000;

/// Remembers which keys were committed after the oldest live read, so that a
/// later commit on an older read can be refused.
///
/// # Law
/// A commit that read at `r` succeeds exactly when none of its keys was
/// committed after `r`, or ends in [`TableError::SnapshotTooOld`] when that is no longer known.
#[derive(Debug, Default)]
pub struct CommitLog {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    last: CommitNo,
    /// How many live tokens read at each commit.
    live: BTreeMap<CommitNo, usize>,
    /// The newest commit of each key written while a token was live.
    written: HashMap<(TableId, Vec<u8>), CommitNo>,
    /// Reads older than this can no longer be checked.
    floor: CommitNo,
}

/// A live read: while it exists, what is written after it is remembered.
#[derive(Debug)]
pub struct ReadToken {
    log: Arc<CommitLog>,
    at: CommitNo,
}

impl ReadToken {
    /// The commit that the read sees as the last one.
    pub fn at(&self) -> CommitNo {
        self.at
    }
}

impl Drop for ReadToken {
    fn drop(&mut self) {
        let mut state = self.log.state.lock();
        if let Some(count) = state.live.get_mut(&self.at) {
            *count -= 1;
            if *count == 0 {
                state.live.remove(&self.at);
            }
        }
        match state.live.first_key_value().map(|(at, _)| *at) {
            None => state.written.clear(),
            // What the oldest live read has seen concerns nobody.
            Some(oldest) if state.written.len() > 10_000 => state.written.retain(|_, no| *no > oldest),
            Some(_) => {}
        }
    }
}

impl CommitLog {
    /// Begins a read that sees all commits so far.
    pub fn begin(self: &Arc<Self>) -> ReadToken {
        let mut state = self.state.lock();
        let at = state.last;
        *state.live.entry(at).or_default() += 1;
        ReadToken { log: self.clone(), at }
    }

    /// The newest commit.
    pub fn last(&self) -> CommitNo {
        self.state.lock().last
    }

    /// Checks that no key was committed after `read`. The caller holds the commit
    /// lock from here until [`CommitLog::record`].
    ///
    /// # Errors
    /// [`TableError::Conflict`], [`TableError::SnapshotTooOld`].
    pub fn check<'a>(
        &self,
        read: &ReadToken,
        keys: impl Iterator<Item = (TableId, &'a [u8])>,
        table_name: impl Fn(TableId) -> String,
    ) -> Result<(), TableError> {
        let state = self.state.lock();
        if read.at < state.floor {
            return Err(TableError::SnapshotTooOld);
        }
        if read.at == state.last {
            return Ok(());
        }
        for (table, key) in keys {
            if state.written.get(&(table, key.to_vec())).is_some_and(|no| *no > read.at) {
                return Err(TableError::Conflict { table: table_name(table), key: text::hex(key) });
            }
        }
        Ok(())
    }

    /// Numbers a commit, and remembers its keys if a read lives that may conflict with it.
    pub fn record<'a>(&self, keys: impl Iterator<Item = (TableId, &'a [u8])>) -> CommitNo {
        let mut state = self.state.lock();
        state.last = CommitNo(state.last.0 + 1);
        let last = state.last;
        if !state.live.is_empty() {
            for (table, key) in keys {
                state.written.insert((table, key.to_vec()), last);
            }
            if state.written.len() > KEYS_REMEMBERED_MAX {
                state.written.clear();
                state.floor = last;
            }
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(_: TableId) -> String {
        "t".into()
    }

    proptest! {
        /// Against the full history: a commit succeeds exactly when no key of its was committed after its read.
        #[test]
        fn first_committer_wins(steps in proptest::collection::vec((0u8..3, 0usize..4, proptest::collection::vec(0u8..5, 1..4)), 1..60)) {
            let log = Arc::new(CommitLog::default());
            let mut history: Vec<(CommitNo, Vec<u8>)> = Vec::new();
            let mut open: Vec<Option<ReadToken>> = (0..4).map(|_| None).collect();
            for (what, slot, keys) in steps {
                let pairs = || keys.iter().map(|k| (TableId(1), std::slice::from_ref(k)));
                match (what, open[slot].take()) {
                    (0, _) | (_, None) => open[slot] = Some(log.begin()),
                    (1, Some(token)) => {
                        let clash = history.iter().any(|(no, written)| *no > token.at() && written.iter().any(|k| keys.contains(k)));
                        let checked = log.check(&token, pairs(), name);
                        prop_assert_eq!(checked.is_err(), clash);
                        if checked.is_ok() {
                            history.push((log.record(pairs()), keys));
                        }
                    }
                    (_, Some(token)) => {
                        open[slot] = Some(token);
                        history.push((log.record(pairs()), keys));
                    }
                }
            }
        }
    }
}
