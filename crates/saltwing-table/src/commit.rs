//! First committer wins: what was written since the oldest transaction began.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;
use saltwing_access::{CommitNo, TableError};
use saltwing_types::{TableId, text};

/// Most keys that are remembered for transactions that still run.
const KEYS_REMEMBERED_MAX: usize = 1_000_000;
/// Keys remembered up to which an ended read is no cause to look for keys that concern nobody any more.
const KEYS_PRUNED_MIN: usize = 10_000;

/// Remembers which keys were committed after the oldest live read, so that a
/// later commit on an older read can be refused.
///
/// # Law
/// A commit that read at `r` succeeds exactly when none of its keys was
/// committed after `r`, or ends in [`TableError::SnapshotTooOld`] when that is no longer known.
#[derive(Debug, Default)]
pub(crate) struct CommitLog {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    last: CommitNo,
    /// How many live tokens read at each commit.
    live: BTreeMap<CommitNo, usize>,
    /// The newest commit of each key written while a token was live that is not the writer's own.
    written: HashMap<(TableId, Vec<u8>), Written>,
    /// Reads older than this can no longer be checked.
    floor: CommitNo,
    /// The number of the next token.
    next_token: u64,
}

/// The newest commit of a key.
#[derive(Clone, Copy, Debug)]
struct Written {
    no: CommitNo,
    /// The token that the commit was checked against, while it lives: for its own later commits it is no conflict.
    owner: Option<TokenId>,
}

/// Which token: its number, and the commit that it reads at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TokenId {
    number: u64,
    at: CommitNo,
}

/// A live read: while it exists, what is written after it is remembered.
///
/// Several commits may be checked against one token: what a statement wrote in an earlier part is no conflict for a
/// later part.
#[derive(Debug)]
pub(crate) struct ReadToken {
    log: Arc<CommitLog>,
    id: TokenId,
}

impl ReadToken {
    /// The commit that the read sees as the last one.
    pub(crate) fn at(&self) -> CommitNo {
        self.id.at
    }
}

impl Drop for ReadToken {
    fn drop(&mut self) {
        let mut state = self.log.state.lock();
        if let Some(count) = state.live.get_mut(&self.id.at) {
            *count -= 1;
            if *count == 0 {
                state.live.remove(&self.id.at);
            }
        }
        if state.live.is_empty() {
            state.written.clear();
            return;
        }
        let owned = state.written.values_mut().filter(|written| written.owner == Some(self.id));
        owned.for_each(|written| written.owner = None);
        if state.written.len() > KEYS_PRUNED_MIN {
            state.prune();
        }
    }
}

impl State {
    /// Forgets what no live token can conflict with.
    fn prune(&mut self) {
        let Self { live, written, .. } = self;
        written.retain(|_, written| {
            // The owner lives, and reads before its own commit.
            let readers: usize = live.range(..written.no).map(|(_, count)| *count).take(2).sum();
            readers > usize::from(written.owner.is_some())
        });
    }

    /// Makes room for keys; `false` where only forgetting all of them did: what reads before now cannot be checked any more.
    fn make_room(&mut self) -> bool {
        self.prune();
        let has_room = self.written.len() < KEYS_REMEMBERED_MAX / 2;
        if !has_room {
            self.written.clear();
            self.floor = self.last;
        }
        has_room
    }

    /// Whether a token other than this one is live.
    fn has_others(&self, own: Option<TokenId>) -> bool {
        match own {
            None => !self.live.is_empty(),
            Some(own) => self.live.len() > 1 || self.live.get(&own.at).is_some_and(|count| *count > 1),
        }
    }
}

impl CommitLog {
    /// Begins a read that sees all commits so far.
    pub(crate) fn begin(self: &Arc<Self>) -> ReadToken {
        let mut state = self.state.lock();
        let id = TokenId { number: state.next_token, at: state.last };
        state.next_token += 1;
        *state.live.entry(id.at).or_default() += 1;
        ReadToken { log: self.clone(), id }
    }

    /// Checks that no key was committed after `read`. The caller holds the commit
    /// lock from here until [`CommitLog::record`].
    ///
    /// # Errors
    /// [`TableError::Conflict`], [`TableError::SnapshotTooOld`].
    pub(crate) fn check<'a>(
        &self,
        read: &ReadToken,
        keys: impl Iterator<Item = (TableId, &'a [u8])>,
        table_name: impl Fn(TableId) -> String,
    ) -> Result<(), TableError> {
        let state = self.state.lock();
        if read.id.at < state.floor {
            return Err(TableError::SnapshotTooOld);
        }
        if read.id.at == state.last || state.written.is_empty() {
            return Ok(());
        }
        let is_newer = |written: &Written| written.no > read.id.at && written.owner != Some(read.id);
        for (table, key) in keys {
            if state.written.get(&(table, key.to_vec())).is_some_and(is_newer) {
                return Err(TableError::Conflict { table: table_name(table), key: text::hex(key) });
            }
        }
        Ok(())
    }

    /// Numbers a commit, and remembers its keys if a read lives that may conflict with it. `read` is the token that the
    /// commit was checked against.
    pub(crate) fn record<'a>(
        &self,
        keys: impl Iterator<Item = (TableId, &'a [u8])>,
        read: Option<&ReadToken>,
    ) -> CommitNo {
        let mut state = self.state.lock();
        state.last = CommitNo(state.last.0 + 1);
        let owner = read.map(|read| read.id);
        if state.has_others(owner) {
            let written = Written { no: state.last, owner };
            for (table, key) in keys {
                if state.written.len() >= KEYS_REMEMBERED_MAX && !state.make_room() {
                    break;
                }
                state.written.insert((table, key.to_vec()), written);
            }
        }
        state.last
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
        /// Against the full history: a commit succeeds exactly when no other statement committed a key of its after its
        /// read. A statement may commit several times.
        #[test]
        fn first_committer_wins(
            steps in proptest::collection::vec(
                (0u8..4, 0usize..4, proptest::collection::vec(0u8..5, 1..4)),
                1..60,
            ),
            prunes: bool,
        ) {
            let log = Arc::new(CommitLog::default());
            // What was committed, by which statement.
            let mut history: Vec<(CommitNo, Vec<u8>, usize)> = Vec::new();
            let mut open: Vec<Option<(ReadToken, usize)>> = (0..4).map(|_| None).collect();
            for (statement, (what, slot, keys)) in steps.into_iter().enumerate() {
                let pairs = || keys.iter().map(|k| (TableId(1), std::slice::from_ref(k)));
                if prunes {
                    log.state.lock().prune();
                }
                match (what, open[slot].take()) {
                    (0, _) | (_, None) => open[slot] = Some((log.begin(), statement)),
                    (1 | 2, Some((token, statement))) => {
                        let is_clash = |(no, written, by): &(CommitNo, Vec<u8>, usize)| {
                            *no > token.at() && *by != statement && written.iter().any(|k| keys.contains(k))
                        };
                        let checked = log.check(&token, pairs(), name);
                        prop_assert_eq!(checked.is_err(), history.iter().any(is_clash));
                        if checked.is_ok() {
                            history.push((log.record(pairs(), Some(&token)), keys, statement));
                            if what == 2 {
                                open[slot] = Some((token, statement));
                            }
                        }
                    }
                    (_, Some(open_one)) => {
                        open[slot] = Some(open_one);
                        history.push((log.record(pairs(), None), keys, usize::MAX));
                    }
                }
            }
        }
    }

    /// A statement that commits many parts does not make itself too old, whoever reads and writes beside it.
    #[test]
    fn own_parts_do_not_use_up_what_is_remembered() {
        let log = Arc::new(CommitLog::default());
        let token = log.begin();
        for part in 0..2_500_u32 {
            let beside = log.begin();
            let keys: Vec<[u8; 4]> = (0..1_000).map(|k| (part * 1_000 + k).to_be_bytes()).collect();
            let pairs = || keys.iter().map(|k| (TableId(1), &k[..]));
            log.check(&token, pairs(), name).unwrap();
            log.record(pairs(), Some(&token));
            let other = || [(TableId(2), &b"k"[..])].into_iter();
            log.check(&beside, other(), name).unwrap();
            log.record(other(), Some(&beside));
            drop(beside);
            assert!(log.state.lock().written.len() <= 2 * KEYS_PRUNED_MIN);
        }
    }
}
