//! A store that fails on demand.
//!
//! A crash test runs once with [`Fault::None`] to count, then once for each number
//! with a fault there, opens the store below again, and looks: what was
//! acknowledged before is there, nothing is there in part, a retry succeeds.

use std::io;
use std::path::Path;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use crate::trace::Event;
use crate::{
    Bytes, Capabilities, Cursor, Direction, Durability, KeyBounds, MemoryStore, OrderedKv, Snapshot, Space, StoreError,
    Trace, WriteBatch,
};

/// What goes wrong, and when. All numbers count from 0 over the wrapper's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing: for counting and tracing.
    None,
    /// The write with this mutation fails, and changes nothing; a clear, which counts as one mutation, fails when
    /// every other key is gone. Later ones succeed.
    FailMutation(u64),
    /// A crash: the batch with this mutation and all later ones are acknowledged
    /// and can be read, but the store below never gets them.
    LoseMutation(u64),
    /// The cursor that comes to this entry yields an error in its place. Entries
    /// are counted over all cursors. Later cursors succeed.
    CutScan(u64),
    /// The read with this number of one key fails, as [`OrderedKv::get`] does it. Later ones succeed.
    FailGet(u64),
    /// The sync with this number fails, as [`OrderedKv::sync`] does it. Later ones succeed.
    FailSync(u64),
    /// The call of [`OrderedKv::reclaim`] with this number fails, and gives nothing back. Later ones succeed.
    FailReclaim(u64),
    /// The commit with this number is answered with [`StoreError::CommitUnknown`].
    UnknownCommit {
        /// Which commit.
        commit: u64,
        /// Whether it took effect all the same.
        applied: bool,
    },
}

/// How much has passed through a wrapper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls of [`OrderedKv::write`] and [`OrderedKv::clear`], failed ones included.
    pub commits: u64,
    /// Mutations in them; a clear is one.
    pub mutations: u64,
    /// Entries that cursors yielded, of snapshots too.
    pub entries: u64,
    /// Calls of [`OrderedKv::get`], failed ones included.
    pub gets: u64,
    /// Calls of [`OrderedKv::sync`], failed ones included.
    pub syncs: u64,
    /// Calls of [`OrderedKv::reclaim`], failed ones included.
    pub reclaims: u64,
}

/// A store with one fault in it. Clones share it.
#[derive(Clone)]
pub struct FaultStore<S> {
    inner: S,
    faults: Arc<Faults>,
}

struct Faults {
    fault: Fault,
    counts: Mutex<Counts>,
    trace: Option<Trace>,
    /// After a crash: what the process believes until it opens the store again.
    /// The store below keeps what survived.
    belief: RwLock<Option<MemoryStore>>,
}

impl<S: OrderedKv> FaultStore<S> {
    /// Puts `fault` into `inner`.
    pub fn new(inner: S, fault: Fault) -> Self {
        Self::with(inner, fault, None)
    }

    /// Without a fault; writes go to `trace` as [`Event::Began`] and
    /// [`Event::Acknowledged`].
    pub fn traced(inner: S, trace: Trace) -> Self {
        Self::with(inner, Fault::None, Some(trace))
    }

    fn with(inner: S, fault: Fault, trace: Option<Trace>) -> Self {
        let faults = Faults { fault, counts: Mutex::default(), trace, belief: RwLock::new(None) };
        Self { inner, faults: Arc::new(faults) }
    }

    /// What passed through so far.
    pub fn counts(&self) -> Counts {
        *self.faults.counts.lock()
    }

    /// Whether the crash has happened: what was acknowledged since is lost.
    pub fn crashed(&self) -> bool {
        self.faults.belief.read().is_some()
    }

    /// The store below, which has what survives.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    /// The store that reads and writes go to now.
    fn current<T>(&self, call: impl FnOnce(&dyn OrderedKv) -> Result<T, StoreError>) -> Result<T, StoreError> {
        match &*self.faults.belief.read() {
            Some(belief) => call(belief),
            None => call(&self.inner),
        }
    }

    /// Copies the store: later writes go to the copy, and the store keeps what it has.
    fn crash(&self) -> Result<(), StoreError> {
        let mut belief = self.faults.belief.write();
        if belief.is_some() {
            return Ok(());
        }
        let copy = MemoryStore::new();
        for space in (0..=u8::MAX).map(Space::new) {
            let mut batch = WriteBatch::new();
            let mut cursor = self.inner.cursor(space, KeyBounds::all(), Direction::Forward)?;
            while let Some((key, value)) = cursor.next()? {
                batch.put(space, key, value);
            }
            copy.write(batch, Durability::Buffered)?;
        }
        *belief = Some(copy);
        Ok(())
    }

    /// Numbers a commit of so many mutations, and does it with `act`, or what the fault says instead. Where it says
    /// that the commit fails, `fail` leaves behind what a commit that failed may leave.
    fn commit(
        &self,
        mutations: u64,
        act: impl FnOnce(&dyn OrderedKv) -> Result<(), StoreError>,
        fail: impl FnOnce(&dyn OrderedKv) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let before = {
            let mut counts = self.faults.counts.lock();
            let before = *counts;
            counts.commits += 1;
            counts.mutations += mutations;
            before
        };
        let commit = before.commits;
        self.faults.record(Event::Began { commit });
        let mutations = before.mutations..before.mutations + mutations;
        match self.faults.fault {
            Fault::FailMutation(n) if mutations.contains(&n) => {
                self.current(fail)?;
                return Err(injected("write"));
            }
            Fault::LoseMutation(n) if mutations.contains(&n) => self.crash()?,
            Fault::UnknownCommit { commit: n, applied } if n == commit => {
                if applied {
                    act(&self.inner)?;
                }
                return Err(StoreError::CommitUnknown { source: injected_cause() });
            }
            _ => {}
        }
        self.current(act)?;
        self.faults.record(Event::Acknowledged { commit });
        Ok(())
    }
}

/// Deletes every other key of a space: a clear that came half-way.
fn clear_half(store: &dyn OrderedKv, space: Space) -> Result<(), StoreError> {
    let mut batch = WriteBatch::new();
    let mut cursor = store.cursor(space, KeyBounds::all(), Direction::Forward)?;
    let mut is_taken = true;
    while let Some((key, _)) = cursor.next()? {
        if is_taken {
            batch.delete(space, key);
        }
        is_taken = !is_taken;
    }
    store.write(batch, Durability::Buffered)
}

impl<S: OrderedKv> OrderedKv for FaultStore<S> {
    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        if self.faults.fault == Fault::FailGet(self.faults.number(|counts| &mut counts.gets)) {
            return Err(injected("read"));
        }
        self.current(|store| store.get(space, key))
    }

    fn cursor(&self, space: Space, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError> {
        let cursor = self.current(|store| store.cursor(space, bounds, direction))?;
        Ok(self.faults.wrap_cursor(cursor))
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        if !self.capabilities().snapshots {
            return self.inner.snapshot();
        }
        let snapshot = self.current(|store| store.snapshot())?;
        Ok(Box::new(FaultSnapshot { snapshot, faults: self.faults.clone() }))
    }

    fn write(&self, batch: WriteBatch, durability: Durability) -> Result<(), StoreError> {
        self.commit(batch.len() as u64, |store| store.write(batch, durability), |_| Ok(()))
    }

    fn clear(&self, space: Space) -> Result<(), StoreError> {
        self.commit(1, |store| store.clear(space), |store| clear_half(store, space))
    }

    fn reclaim(&self) -> Result<(), StoreError> {
        if self.faults.fault == Fault::FailReclaim(self.faults.number(|counts| &mut counts.reclaims)) {
            return Err(injected("reclaim"));
        }
        self.current(|store| store.reclaim())
    }

    fn sync(&self) -> Result<(), StoreError> {
        if self.faults.fault == Fault::FailSync(self.faults.number(|counts| &mut counts.syncs)) {
            return Err(injected("sync"));
        }
        self.current(|store| store.sync())
    }

    fn close(&self) -> Result<(), StoreError> {
        self.current(|store| store.close())
    }
}

impl Faults {
    fn wrap_cursor(self: &Arc<Self>, cursor: Box<dyn Cursor>) -> Box<dyn Cursor> {
        Box::new(FaultCursor { cursor, faults: self.clone(), cut: false })
    }

    /// The number of a call or an entry, and counts it.
    fn number(&self, count: impl FnOnce(&mut Counts) -> &mut u64) -> u64 {
        let mut counts = self.counts.lock();
        let count = count(&mut counts);
        *count += 1;
        *count - 1
    }

    fn record(&self, event: Event) {
        if let Some(trace) = &self.trace {
            trace.record(event);
        }
    }
}

struct FaultSnapshot {
    snapshot: Box<dyn Snapshot>,
    faults: Arc<Faults>,
}

impl Snapshot for FaultSnapshot {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        self.snapshot.get(space, key)
    }

    fn cursor(&self, space: Space, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError> {
        Ok(self.faults.wrap_cursor(self.snapshot.cursor(space, bounds, direction)?))
    }
}

struct FaultCursor {
    cursor: Box<dyn Cursor>,
    faults: Arc<Faults>,
    cut: bool,
}

impl Cursor for FaultCursor {
    fn next(&mut self) -> Result<Option<(Bytes, Bytes)>, StoreError> {
        if self.cut {
            return Ok(None);
        }
        let Some(entry) = self.cursor.next()? else {
            return Ok(None);
        };
        if self.faults.fault == Fault::CutScan(self.faults.number(|counts| &mut counts.entries)) {
            self.cut = true;
            return Err(injected("read"));
        }
        Ok(Some(entry))
    }

    fn seek(&mut self, key: &[u8]) -> Result<(), StoreError> {
        self.cursor.seek(key)
    }
}

fn injected(op: &'static str) -> StoreError {
    StoreError::io(op, Path::new("(fault)"), injected_cause())
}

fn injected_cause() -> io::Error {
    io::Error::other("injected by a test")
}
