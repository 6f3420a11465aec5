//! First committer wins: the keys written since the oldest transaction began.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use saltwing_access::{CommitNo, TableError};
use saltwing_types::TableId;

/// Most keys that are remembered for transactions that still run.
const KEYS_REMEMBERED_MAX: usize = 1_000_000;

/// Remembers which keys were committed after the oldest live read, so that a
/// later commit on an older read can be refused.
///
/// # Laws
/// 1. A commit that read at `r` succeeds exactly when none of its keys was
///    committed after `r`, or ends in [`TableError::SnapshotTooOld`] when that is no longer known.
/// 2. A commit is remembered while a live read that is not its own is older than it, and no longer.
/// 3. To remember a key and to forget it costs as many steps as a map's entry, however long a read lives.
#[derive(Debug, Default)]
pub(crate) struct CommitLog {
    state: Mutex<State>,
}

type RowId = (TableId, Vec<u8>);

#[derive(Debug, Default)]
struct State {
    last: CommitNo,
    /// Live tokens, those that read at the oldest commit first.
    live: BTreeSet<TokenId>,
    /// The newest remembered commit of each key.
    written: HashMap<Arc<RowId>, Written>,
    /// The same keys by their commits.
    by_commit: BTreeSet<(CommitNo, Arc<RowId>)>,
    /// Of live tokens that commit in parts: their remembered commits, ascending.
    own: HashMap<TokenId, VecDeque<CommitNo>>,
    /// Reads older than this can no longer be checked.
    floor: CommitNo,
    /// The number of the next token.
    next_token: u64,
}

/// The newest commit of a key.
#[derive(Clone, Copy, Debug)]
struct Written {
    no: CommitNo,
    /// The token that the commit was checked against: for its own later commits it is no conflict.
    owner: Option<TokenId>,
}

/// Which token: the commit that it reads at, and its number, which no other token has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct TokenId {
    at: CommitNo,
    number: u64,
}

/// A live read: while it exists, the keys of later commits are kept.
///
/// Several commits may be checked against one token: the writes of an earlier part of a statement do not conflict with
/// a later part.
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
        state.live.remove(&self.id);
        state.own.remove(&self.id);
        state.forget_unread();
    }
}

impl State {
    /// Forgets the commits that no live token can conflict with.
    fn forget_unread(&mut self) {
        let mut oldest = self.live.iter();
        let Some(first) = oldest.next().copied() else { return self.forget_all() };
        let second = oldest.next().copied();
        while let Some(no) = self.by_commit.first().map(|(no, _)| *no).filter(|no| *no <= first.at) {
            self.forget(no);
        }
        // The oldest read is the only one that is older than these, and they are its own.
        while let Some(no) = self.own.get(&first).and_then(|own| own.front().copied())
            && second.is_none_or(|second| no <= second.at)
        {
            self.own.get_mut(&first).map(VecDeque::pop_front);
            self.forget(no);
        }
    }

    /// Forgets the keys of a commit.
    fn forget(&mut self, no: CommitNo) {
        let from = (no, Arc::new((TableId(0), Vec::new())));
        while let Some(key) = self.by_commit.range(&from..).next().filter(|(of, _)| *of == no).cloned() {
            self.by_commit.remove(&key);
            self.written.remove(&key.1);
        }
    }

    fn forget_all(&mut self) {
        self.written.clear();
        self.by_commit.clear();
        self.own.clear();
    }

    /// Whether a token other than this one is live.
    fn has_others(&self, own: Option<TokenId>) -> bool {
        self.live.len() > usize::from(own.is_some_and(|own| self.live.contains(&own)))
    }

    /// Keeps the keys of a commit. If there are too many, all are discarded, and earlier reads can no longer be
    /// checked.
    fn remember<'a>(&mut self, owner: Option<TokenId>, keys: impl Iterator<Item = (TableId, &'a [u8])>) {
        let written = Written { no: self.last, owner };
        for (table, key) in keys {
            let key = Arc::new((table, key.to_vec()));
            // Of several commits of a key the newest one tells enough.
            if let Some(before) = self.written.insert(key.clone(), written) {
                self.by_commit.remove(&(before.no, key.clone()));
            }
            self.by_commit.insert((self.last, key));
            if self.written.len() > KEYS_REMEMBERED_MAX {
                self.forget_all();
                self.floor = self.last;
                return;
            }
        }
        if let Some(owner) = owner {
            self.own.entry(owner).or_default().push_back(self.last);
        }
    }
}

impl CommitLog {
    /// Begins a read that sees all commits so far.
    pub(crate) fn begin(self: &Arc<Self>) -> ReadToken {
        let mut state = self.state.lock();
        let id = TokenId { at: state.last, number: state.next_token };
        state.next_token += 1;
        state.live.insert(id);
        ReadToken { log: self.clone(), id }
    }

    /// The newest commit.
    pub(crate) fn newest(&self) -> CommitNo {
        self.state.lock().last
    }

    /// Checks that no key was committed after `read`; `conflict` makes the error of one that was. The caller holds the commit
    /// lock from here until [`CommitLog::record`].
    ///
    /// # Errors
    /// [`TableError::Conflict`], [`TableError::SnapshotTooOld`].
    pub(crate) fn check<'a>(
        &self,
        read: &ReadToken,
        keys: impl Iterator<Item = (TableId, &'a [u8])>,
        conflict: impl Fn(TableId, &[u8]) -> TableError,
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
                return Err(conflict(table, key));
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
            state.remember(owner, keys);
        }
        state.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use saltwing_types::text;

    fn conflict(_: TableId, key: &[u8]) -> TableError {
        TableError::Conflict { table: "t".into(), key: text::hex(key) }
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
        ) {
            let log = Arc::new(CommitLog::default());
            // The commits, by statement.
            let mut history: Vec<(CommitNo, Vec<u8>, usize)> = Vec::new();
            let mut open: Vec<Option<(ReadToken, usize)>> = (0..4).map(|_| None).collect();
            for (statement, (what, slot, keys)) in steps.into_iter().enumerate() {
                let pairs = || keys.iter().map(|k| (TableId(1), std::slice::from_ref(k)));
                match (what, open[slot].take()) {
                    (0, _) | (_, None) => open[slot] = Some((log.begin(), statement)),
                    (1 | 2, Some((token, statement))) => {
                        let is_clash = |(no, written, by): &(CommitNo, Vec<u8>, usize)| {
                            *no > token.at() && *by != statement && written.iter().any(|k| keys.contains(k))
                        };
                        let checked = log.check(&token, pairs(), conflict);
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
                let state = log.state.lock();
                prop_assert_eq!(state.by_commit.len(), state.written.len());
                for (no, key) in &state.by_commit {
                    let owner = history.iter().find(|(of, ..)| of == no).map(|(_, _, by)| *by);
                    let reads = open.iter().flatten().filter(|(token, by)| token.at() < *no && Some(*by) != owner);
                    prop_assert!(reads.count() > 0, "{key:?} of {no:?} is remembered for nobody");
                }
            }
        }
    }

    /// A statement that commits many parts does not make its own token too old, regardless of concurrent reads and
    /// writes.
    #[test]
    fn own_parts_do_not_use_up_what_is_remembered() {
        let log = Arc::new(CommitLog::default());
        let token = log.begin();
        for part in 0..2_500_u32 {
            let beside = log.begin();
            let keys: Vec<[u8; 4]> = (0..1_000).map(|k| (part * 1_000 + k).to_be_bytes()).collect();
            let pairs = || keys.iter().map(|k| (TableId(1), &k[..]));
            log.check(&token, pairs(), conflict).unwrap();
            log.record(pairs(), Some(&token));
            let other = || [(TableId(2), &b"k"[..])].into_iter();
            log.check(&beside, other(), conflict).unwrap();
            log.record(other(), Some(&beside));
            drop(beside);
            assert_eq!(log.state.lock().written.len(), 1, "the key that others write");
        }
    }
}
