//! The store.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use parking_lot::RwLock;

use super::{Call, Counts, Fault, Faults, Outcome, Ruling, injected, injected_cause};
use crate::trace::Event;
use crate::{
    Announced, Bytes, Capabilities, Cursor, Direction, Durability, KeyBounds, LeftOut, MemoryStore, OrderedKv,
    Snapshot, Space, StoreError, Trace, WriteBatch, WriteStall,
};

/// A store with [`Faults`] in it. Clones share it.
#[derive(Clone)]
pub struct FaultStore<S> {
    inner: S,
    faults: Faults,
    opened: Arc<Opened>,
}

/// State that lasts until the store is opened again.
#[derive(Default)]
struct Opened {
    /// After a crash: the state that the process believes in until then. The store below has the surviving state.
    belief: RwLock<Option<MemoryStore>>,
    /// Nobody knows whether a write was done.
    poisoned: AtomicBool,
}

impl Faults {
    /// These faults in a store that was opened (again): it accepts writes, regardless of earlier failures.
    pub fn store<S: OrderedKv>(&self, inner: S) -> FaultStore<S> {
        FaultStore { inner, faults: self.clone(), opened: Arc::default() }
    }
}

impl<S: OrderedKv> FaultStore<S> {
    /// Puts `fault` into `inner`.
    pub fn new(inner: S, fault: Fault) -> Self {
        Faults::new(fault).store(inner)
    }

    /// Without a fault; writes go to `trace` as [`Event::Began`] and
    /// [`Event::Acknowledged`].
    pub fn traced(inner: S, trace: Trace) -> Self {
        Faults::with(Fault::None, Some(trace)).store(inner)
    }

    /// The faults.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// The calls so far.
    pub fn counts(&self) -> Counts {
        self.faults.counts()
    }

    /// Whether the crash has happened: later acknowledgements are lost.
    pub fn crashed(&self) -> bool {
        self.opened.belief.read().is_some()
    }

    /// The store below, which has what survives.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    /// The store that reads and writes go to now.
    fn current<T>(&self, call: impl FnOnce(&dyn OrderedKv) -> Result<T, StoreError>) -> Result<T, StoreError> {
        match &*self.opened.belief.read() {
            Some(belief) => call(belief),
            None => call(&self.inner),
        }
    }

    /// Copies the store: later writes go to the copy, and the store keeps its content.
    fn crash(&self) -> Result<(), StoreError> {
        let mut belief = self.opened.belief.write();
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

    /// Does a commit of `mutations` mutations with `act`, or the effect of the fault. For a refused commit, `fail`
    /// leaves the state that a refused commit may leave.
    fn commit(
        &self,
        (call, mutations): (Call, u64),
        act: impl FnOnce(&dyn OrderedKv) -> Result<(), StoreError>,
        fail: impl FnOnce(&dyn OrderedKv) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.refuse_poisoned()?;
        let (ruling, commit) = self.faults.rule_numbered(call, mutations);
        self.faults.record(Event::Began { commit });
        match ruling {
            Ruling::Do => {}
            Ruling::Crash => self.crash()?,
            Ruling::Fail(Outcome::Refused) => {
                self.current(fail)?;
                return Err(injected(call));
            }
            Ruling::Fail(Outcome::Unknown { done }) => {
                self.opened.poisoned.store(true, SeqCst);
                if done {
                    self.current(act)?;
                }
                return Err(StoreError::CommitUnknown { source: injected_cause() });
            }
        }
        self.current(act)?;
        self.faults.record(Event::Acknowledged { commit });
        Ok(())
    }

    fn refuse_poisoned(&self) -> Result<(), StoreError> {
        match self.opened.poisoned.load(SeqCst) {
            true => Err(StoreError::Poisoned { path: PathBuf::from("(fault)"), why: None }),
            false => Ok(()),
        }
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

    fn notices(&self) -> &[String] {
        self.inner.notices()
    }

    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        self.faults.get(space, || self.current(|store| store.get(space, key)))
    }

    fn cursor(&self, space: Space, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError> {
        self.faults.cursor(space, || self.current(|store| store.cursor(space, bounds, direction)))
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        if !self.capabilities().snapshots {
            return self.inner.snapshot();
        }
        self.faults.rule_read(Call::Snapshot)?;
        let snapshot = self.current(|store| store.snapshot())?;
        Ok(Box::new(FaultSnapshot { snapshot, faults: self.faults.clone() }))
    }

    fn write(&self, batch: WriteBatch, durability: Durability) -> Result<(), StoreError> {
        self.commit((Call::Write, batch.len() as u64), |store| store.write(batch, durability), |_| Ok(()))
    }

    fn clear(&self, space: Space) -> Result<(), StoreError> {
        self.commit((Call::Clear, 1), |store| store.clear(space), |store| clear_half(store, space))
    }

    fn reclaim(&self, stall: WriteStall) -> Result<(), StoreError> {
        self.refuse_poisoned()?;
        self.faults.rule_work(Call::Reclaim, || self.current(|store| store.reclaim(stall)), || {})
    }

    fn room(&self) -> Option<u64> {
        self.faults.room().or_else(|| self.inner.room())
    }

    fn place(&self) -> PathBuf {
        self.inner.place()
    }

    fn sync(&self) -> Result<(), StoreError> {
        self.refuse_poisoned()?;
        let poison = || self.opened.poisoned.store(true, SeqCst);
        self.faults.rule_work(Call::Sync, || self.current(|store| store.sync()), poison)
    }

    fn close(&self) -> Result<(), StoreError> {
        self.refuse_poisoned()?;
        self.faults.rule_work(Call::Close, || self.current(|store| store.close()), || {})
    }
}

impl Faults {
    fn get(
        &self,
        space: Space,
        act: impl FnOnce() -> Result<Option<Bytes>, StoreError>,
    ) -> Result<Option<Bytes>, StoreError> {
        self.rule_read(Call::Get)?;
        let found = act()?;
        self.count_read(space, |reads| {
            reads.gets += 1;
            reads.bytes += found.as_ref().map_or(0, |value| value.len() as u64);
        });
        Ok(found)
    }

    fn cursor(
        &self,
        space: Space,
        act: impl FnOnce() -> Result<Box<dyn Cursor>, StoreError>,
    ) -> Result<Box<dyn Cursor>, StoreError> {
        self.rule_read(Call::Cursor)?;
        self.count_read(space, |reads| reads.cursors += 1);
        Ok(Box::new(FaultCursor { cursor: act()?, space, faults: self.clone(), cut: false }))
    }
}

struct FaultSnapshot {
    snapshot: Box<dyn Snapshot>,
    faults: Faults,
}

impl Snapshot for FaultSnapshot {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        self.faults.get(space, || self.snapshot.get(space, key))
    }

    fn cursor(&self, space: Space, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError> {
        self.faults.cursor(space, || self.snapshot.cursor(space, bounds, direction))
    }
}

struct FaultCursor {
    cursor: Box<dyn Cursor>,
    space: Space,
    faults: Faults,
    /// It has failed: the walk is over.
    cut: bool,
}

impl FaultCursor {
    fn rule(&mut self, call: Call) -> Result<(), StoreError> {
        self.faults.rule_read(call).inspect_err(|_| self.cut = true)
    }
}

impl Cursor for FaultCursor {
    fn next(&mut self) -> Result<Option<(Bytes, Bytes)>, StoreError> {
        if self.cut {
            return Ok(None);
        }
        self.rule(Call::Next)?;
        let entry = self.cursor.next()?;
        if let Some((key, value)) = &entry {
            self.faults.count_read(self.space, |reads| {
                reads.entries += 1;
                reads.bytes += (key.len() + value.len()) as u64;
            });
        }
        Ok(entry)
    }

    fn seek(&mut self, key: &[u8]) -> Result<(), StoreError> {
        if self.cut {
            return Ok(());
        }
        self.rule(Call::Seek)?;
        self.cursor.seek(key)
    }
}

/// A test wraps a store that it goes on using.
impl<S: OrderedKv + ?Sized> OrderedKv for Arc<S> {
    fn capabilities(&self) -> &Capabilities {
        (**self).capabilities()
    }

    fn notices(&self) -> &[String] {
        (**self).notices()
    }

    fn left_out(&self) -> &[LeftOut] {
        (**self).left_out()
    }

    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        (**self).get(space, key)
    }

    fn cursor(&self, space: Space, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError> {
        (**self).cursor(space, bounds, direction)
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        (**self).snapshot()
    }

    fn write(&self, batch: WriteBatch, durability: Durability) -> Result<(), StoreError> {
        (**self).write(batch, durability)
    }

    fn clear(&self, space: Space) -> Result<(), StoreError> {
        (**self).clear(space)
    }

    fn reclaim(&self, stall: WriteStall) -> Result<(), StoreError> {
        (**self).reclaim(stall)
    }

    fn room(&self) -> Option<u64> {
        (**self).room()
    }

    fn place(&self) -> PathBuf {
        (**self).place()
    }

    fn sync(&self) -> Result<(), StoreError> {
        (**self).sync()
    }

    fn announce(&self) -> Announced<'_> {
        (**self).announce()
    }

    fn close(&self) -> Result<(), StoreError> {
        (**self).close()
    }
}
