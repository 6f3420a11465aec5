//! Group commit: writers at the same time share one sync.
//!
//! ```text
//!  round 7   A writes, B writes │ A leads: one sync for both │
//!  round 8        C writes .. D writes ......................│ C leads: one sync for both
//! ```
//!
//! A writer enters the open round before it writes. When no sync is under way, the
//! first writer of a round that has written leads it: it closes the round, waits
//! for those in it that are still writing (microseconds), and syncs once for all.
//! Without that wait, a store that holds its journal's lock while it syncs would
//! let one writer at a time through, and sync once for each.
//!
//! # Laws
//! 1. [`Round::wait`] returns `Ok` only after a sync that began when the round's
//!    write had ended.
//! 2. After a sync that failed every wait fails: what the disk holds is unknown.

use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

use parking_lot::{Condvar, Mutex};

use crate::StoreError;
use crate::trace::{Event, Trace};

/// The writers of one store that want their writes on the disk.
#[derive(Default)]
pub struct GroupSync {
    rounds: Mutex<Rounds>,
    changed: Condvar,
    /// The error of the first failed write.
    gave_up: OnceLock<String>,
    trace: Option<Trace>,
}

#[derive(Default)]
struct Rounds {
    /// The round that new writers enter; those below it are closed.
    open: u64,
    writing_open: usize,
    /// Writers of the last closed round that have not written yet.
    writing_closed: usize,
    /// Rounds below this number are on the disk.
    synced: u64,
    leading: bool,
    failed: Option<(io::ErrorKind, String)>,
}

impl GroupSync {
    /// A group that records [`Event::Written`], [`Event::SyncBegan`] and
    /// [`Event::Synced`] in `trace`.
    pub fn new(trace: Option<Trace>) -> Self {
        Self { trace, ..Self::default() }
    }

    /// Enters the open round. Call it right before the write.
    pub fn enter(&self) -> Round<'_> {
        let mut rounds = self.rounds.lock();
        rounds.writing_open += 1;
        Round { group: self, number: rounds.open, writing: true }
    }

    /// Enters the open round for a write whose sync is waited for later; `sync` brings the store's log to the disk.
    pub fn announce<'s>(&'s self, path: &'s Path, sync: impl FnOnce() -> io::Result<()> + Send + 's) -> Announced<'s> {
        Announced::in_round(self.enter(), move |round| {
            self.refuse_failed(path)?;
            round.wait(sync).map_err(|error| StoreError::io("sync", path, error))
        })
    }

    /// Records that a write has failed, and why. From then on the state of the disk is unknown until the store is
    /// opened again.
    pub fn give_up(&self, error: &dyn Error) {
        self.gave_up.get_or_init(|| match error.source() {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        });
    }

    /// Whether a write has failed.
    pub fn has_given_up(&self) -> bool {
        self.gave_up.get().is_some()
    }

    /// The error of the first failed write or sync.
    pub fn failure(&self) -> Option<String> {
        let of_sync = || self.rounds.lock().failed.as_ref().map(|(_, why)| why.clone());
        self.gave_up.get().cloned().or_else(of_sync)
    }

    /// Refuses all calls after the first failure, until the store is opened again: the state of the disk is unknown.
    ///
    /// # Errors
    /// [`StoreError::Poisoned`].
    pub fn refuse_failed(&self, path: &Path) -> Result<(), StoreError> {
        match self.failure() {
            Some(why) => Err(StoreError::Poisoned { path: path.to_path_buf(), why: Some(why) }),
            None => Ok(()),
        }
    }

    fn record(&self, event: Event) {
        if let Some(trace) = &self.trace {
            trace.record(event);
        }
    }
}

/// A writer's place in a round. Dropped without [`Round::wait`], when the write
/// failed, it leaves the round to the others.
#[must_use]
pub struct Round<'a> {
    group: &'a GroupSync,
    number: u64,
    writing: bool,
}

impl Round<'_> {
    /// Reports that the write has ended, if that is well before [`Round::wait`]: the leader of the sync need not wait for it.
    pub fn written(&mut self) {
        if self.writing {
            self.group.record(Event::Written);
            self.end_write();
        }
    }

    /// Waits until the write is on the disk, or calls `sync` for the whole round.
    /// Call it right after the write.
    ///
    /// # Errors
    /// The error of the sync, also of one that another writer led.
    pub fn wait(mut self, sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        self.written();
        let group = self.group;
        let mut rounds = group.rounds.lock();
        loop {
            if let Some((kind, why)) = &rounds.failed {
                return Err(io::Error::new(*kind, why.clone()));
            }
            if rounds.synced > self.number {
                return Ok(());
            }
            if !rounds.leading {
                break;
            }
            group.changed.wait(&mut rounds);
        }
        rounds.leading = true;
        let closed = rounds.open;
        rounds.open += 1;
        rounds.writing_closed = std::mem::take(&mut rounds.writing_open);
        while rounds.writing_closed > 0 {
            group.changed.wait(&mut rounds);
        }
        drop(rounds);
        Lead { group, closed, outcome: None }.sync(sync)
    }

    fn end_write(&mut self) {
        if !std::mem::take(&mut self.writing) {
            return;
        }
        let mut rounds = self.group.rounds.lock();
        if self.number == rounds.open {
            rounds.writing_open -= 1;
        } else {
            rounds.writing_closed -= 1;
            self.group.changed.notify_all();
        }
    }
}

impl Drop for Round<'_> {
    fn drop(&mut self) {
        self.end_write();
    }
}

/// A write that was [announced](crate::OrderedKv::announce). Dropped without [`Announced::wait`], when the write failed, it
/// leaves the sync to the others.
#[must_use]
pub struct Announced<'s> {
    round: Option<Round<'s>>,
    wait: Wait<'s>,
}

type Wait<'s> = Box<dyn FnOnce(Option<Round<'s>>) -> Result<(), StoreError> + Send + 's>;

impl<'s> Announced<'s> {
    /// A write whose sync nobody shares.
    pub fn alone(sync: impl FnOnce() -> Result<(), StoreError> + Send + 's) -> Self {
        Self { round: None, wait: Box::new(|_| sync()) }
    }

    /// A write in a round of others; `wait` waits for its sync.
    pub fn in_round(round: Round<'s>, wait: impl FnOnce(Round<'s>) -> Result<(), StoreError> + Send + 's) -> Self {
        Self { round: Some(round), wait: Box::new(|round| round.map_or(Ok(()), wait)) }
    }

    /// The same with another error of the wait.
    pub fn map_err(self, translate: impl FnOnce(StoreError) -> StoreError + Send + 's) -> Self {
        let wait = self.wait;
        Self { round: self.round, wait: Box::new(|round| wait(round).map_err(translate)) }
    }

    /// Says that the write has ended: nobody waits for it any more.
    pub fn written(&mut self) {
        self.round.iter_mut().for_each(Round::written);
    }

    /// Waits until the write is on the disk.
    ///
    /// # Errors
    /// As [`OrderedKv::sync`](crate::OrderedKv::sync).
    pub fn wait(self) -> Result<(), StoreError> {
        (self.wait)(self.round)
    }
}

/// The lead of a closed round. Its drop reports the outcome, so that a panic
/// inside the sync does not leave the others waiting for ever.
struct Lead<'a> {
    group: &'a GroupSync,
    closed: u64,
    outcome: Option<io::Result<()>>,
}

impl Lead<'_> {
    fn sync(mut self, sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        self.group.record(Event::SyncBegan);
        let result = sync();
        let outcome = match &result {
            Ok(()) => {
                self.group.record(Event::Synced);
                Ok(())
            }
            Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
        };
        self.outcome = Some(outcome);
        result
    }
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        let mut rounds = self.group.rounds.lock();
        rounds.leading = false;
        match self.outcome.take() {
            Some(Ok(())) => rounds.synced = self.closed + 1,
            Some(Err(error)) => rounds.failed = Some((error.kind(), error.to_string())),
            None => rounds.failed = Some((io::ErrorKind::Other, "the sync panicked".to_owned())),
        }
        self.group.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Barrier, Mutex};

    use super::GroupSync;
    use crate::StoreError;

    /// A journal as bad as can be: it lets nobody write while it syncs.
    #[derive(Default)]
    struct Journal {
        written: Mutex<u64>,
        on_disk: AtomicU64,
        syncs: AtomicU64,
    }

    impl Journal {
        fn write(&self) -> u64 {
            let mut written = self.written.lock().unwrap();
            *written += 1;
            *written
        }

        fn sync(&self) -> io::Result<()> {
            let written = self.written.lock().unwrap();
            std::thread::yield_now();
            self.on_disk.store(*written, Ordering::SeqCst);
            self.syncs.fetch_add(1, Ordering::SeqCst);
            Ok(())
        }
    }

    #[test]
    fn a_write_is_on_the_disk_when_its_wait_is_over() {
        let (journal, group) = (Journal::default(), GroupSync::default());
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let round = group.enter();
                        let position = journal.write();
                        round.wait(|| journal.sync()).unwrap();
                        assert!(journal.on_disk.load(Ordering::SeqCst) >= position);
                    }
                });
            }
        });
        assert!(journal.syncs.load(Ordering::SeqCst) <= 1600);
    }

    #[test]
    fn writers_of_one_round_share_one_sync() {
        let (journal, group) = (Journal::default(), GroupSync::default());
        let all_entered = Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let round = group.enter();
                    all_entered.wait();
                    journal.write();
                    round.wait(|| journal.sync()).unwrap();
                });
            }
        });
        assert_eq!(journal.syncs.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_failed_sync_fails_every_wait() {
        let group = GroupSync::default();
        let full = || Err(io::Error::from(io::ErrorKind::StorageFull));
        assert!(group.enter().wait(full).is_err());
        let later = group.enter().wait(|| Ok(())).unwrap_err();
        assert_eq!(later.kind(), io::ErrorKind::StorageFull);
        assert!(group.failure().is_some());
    }

    #[test]
    fn no_sync_is_reported_after_a_write_that_failed() {
        let (group, path) = (GroupSync::default(), std::path::Path::new("db"));
        group.announce(path, || Ok(())).wait().unwrap();
        group.refuse_failed(path).unwrap();
        group.give_up(&StoreError::io("write", path, io::Error::other("the cable is out")));
        group.give_up(&StoreError::EmptyKey);
        let announced = group.announce(path, || panic!("it syncs"));
        let message =
            "db: an earlier write failed (db: cannot write: the cable is out); close the database and open it again";
        for refused in [announced.wait(), group.refuse_failed(path)] {
            assert_eq!(refused.unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn a_write_that_failed_holds_nobody_up() {
        let group = GroupSync::default();
        let failed = group.enter();
        let good = group.enter();
        drop(failed);
        good.wait(|| Ok(())).unwrap();
    }
}
