//! Every fault at every number, on a short script.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::conformance::fault::{Call, Counts, Failure, Fault, FaultStore, Faults, Lasting, Outcome};
use crate::{Bytes, Direction, Durability, KeyBounds, OrderedKv, Space, StoreError, WriteBatch, WriteStall};

const SPACES: [Space; 2] = [Space::new(1), Space::new(2)];

type Content = BTreeMap<(Space, Bytes), Bytes>;
type Faulty = FaultStore<Arc<dyn OrderedKv>>;

/// Runs a script once to count, then once for each fault: every kind of call, refused or of unknown outcome; see the
/// [module](crate::conformance::fault). `fresh` as for [`run`](super::run).
pub fn run_faults<O>(fresh: impl Fn() -> O)
where
    O: Fn() -> Arc<dyn OrderedKv>,
{
    let counts = count(&fresh()());
    for number in 0..counts.mutations {
        lost_mutation(&fresh(), number);
    }
    for call in [Call::Write, Call::Clear] {
        for number in 0..counts.of(call) {
            refused_commit(fresh()(), Failure::once(call, number));
            for done in [false, true] {
                unknown_commit(
                    fresh()(),
                    Failure { outcome: Outcome::Unknown { done }, ..Failure::once(call, number) },
                );
            }
        }
    }
    for number in 0..counts.of(Call::Next) {
        failed_read(fresh()(), Call::Next, number);
    }
    for number in 0..counts.of(Call::Cursor) {
        failed_read(fresh()(), Call::Cursor, number);
    }
    failed_get(fresh()());
    failed_seek(fresh()());
    failed_snapshot(fresh()());
    for (call, act) in WORK {
        failed_work(fresh()(), act, Failure::once(call, 1));
    }
    unknown_sync(fresh()());
    lasting_failure(fresh()());
}

/// Calls that leave nothing to read.
const WORK: [(Call, Work); 3] = [
    (Call::Reclaim, |store| store.reclaim(WriteStall::Allowed)),
    (Call::Sync, |store| store.sync()),
    (Call::Close, |store| store.close()),
];

type Work = fn(&dyn OrderedKv) -> Result<(), StoreError>;

/// A step of a script.
#[derive(Clone)]
enum Step {
    Write(WriteBatch),
    Clear(Space),
}

impl Step {
    fn run(self, store: &dyn OrderedKv, durability: Durability) -> Result<(), StoreError> {
        match self {
            Self::Write(batch) => store.write(batch, durability),
            Self::Clear(space) => store.clear(space),
        }
    }
}

/// Puts in both spaces, overwrites, deletes and clears one: no prefix of it looks like another.
fn script() -> Vec<Step> {
    let write = |number: u8| {
        let mut batch = WriteBatch::new();
        batch.put(SPACES[0], [b'n'], [number]);
        batch.put(SPACES[1], [b'r', number], [number]);
        if let Some(before) = number.checked_sub(2) {
            batch.delete(SPACES[1], [b'r', before]);
        }
        Step::Write(batch)
    };
    let mut steps: Vec<Step> = (0..4).map(write).collect();
    steps.push(Step::Clear(SPACES[1]));
    steps.push(write(4));
    steps
}

/// The content of a store after the first `commits` steps of the script.
fn content_after(commits: usize) -> Content {
    let store = crate::MemoryStore::new();
    for step in script().into_iter().take(commits) {
        step.run(&store, Durability::Buffered).unwrap();
    }
    content(&store).unwrap()
}

fn content(store: &dyn OrderedKv) -> Result<Content, StoreError> {
    let mut content = Content::new();
    for space in SPACES {
        let mut cursor = store.cursor(space, KeyBounds::all(), Direction::Forward)?;
        while let Some((key, value)) = cursor.next()? {
            content.insert((space, key), value);
        }
    }
    Ok(content)
}

fn count(store: &Arc<dyn OrderedKv>) -> Counts {
    let store = Faulty::new(store.clone(), Fault::None);
    for step in script() {
        step.run(&store, Durability::Buffered).unwrap();
    }
    assert_eq!(content(&store).unwrap(), content_after(usize::MAX));
    store.counts()
}

/// The batch with the lost mutation and all later ones are gone at reopen, and
/// nothing else; until then the process believes in them.
fn lost_mutation(open: &impl Fn() -> Arc<dyn OrderedKv>, number: u64) {
    let store = Faulty::new(open(), Fault::LoseMutation(number));
    let mut survived = 0;
    for step in script() {
        step.run(&store, Durability::Synced).unwrap();
        survived += usize::from(!store.crashed());
    }
    assert!(store.crashed());
    assert_eq!(content(&store).unwrap(), content_after(usize::MAX));
    drop(store);
    assert_eq!(content(&*open()).unwrap(), content_after(survived));
}

fn refused_commit(store: Arc<dyn OrderedKv>, failure: Failure) {
    let store = Faulty::new(store, Fault::Fail(failure));
    for (commit, step) in script().into_iter().enumerate() {
        if let Err(error) = step.clone().run(&store, Durability::Buffered) {
            assert_eq!(error.code(), "io");
            let mut left = content_after(commit);
            if let Step::Clear(cleared) = step {
                // Any part of the space may be left, and all of the others is.
                let found = content(&store).unwrap();
                left.retain(|key, _| key.0 != cleared || found.contains_key(key));
            }
            assert_eq!(content(&store).unwrap(), left);
            step.run(&store, Durability::Buffered).unwrap();
        }
    }
    assert_eq!(store.faults().failed(), 1);
    assert_eq!(content(&store).unwrap(), content_after(usize::MAX));
}

/// A cursor that fails to open, or ends early with an error.
fn failed_read(store: Arc<dyn OrderedKv>, call: Call, number: u64) {
    let store = Faulty::new(store, Fault::Fail(Failure::once(call, number)));
    for step in script() {
        step.run(&store, Durability::Buffered).unwrap();
    }
    assert_eq!(content(&store).unwrap_err().code(), "io");
    assert_eq!(content(&store).unwrap(), content_after(usize::MAX));
}

fn failed_get(store: Arc<dyn OrderedKv>) {
    let store = Faulty::new(store, Fault::Fail(Failure::once(Call::Get, 1)));
    for step in script() {
        step.run(&store, Durability::Buffered).unwrap();
    }
    let content = content(&store).unwrap();
    for (number, ((space, key), value)) in content.iter().enumerate() {
        match store.get(*space, key) {
            Err(error) => assert_eq!((number, error.code()), (1, "io")),
            Ok(found) => assert_eq!(found.as_ref(), Some(value)),
        }
    }
    assert_eq!(store.counts().of(Call::Get), content.len() as u64);
    let found: u64 = store.faults().reads().values().map(|reads| reads.gets).sum();
    assert_eq!(found, content.len() as u64 - 1);
}

/// After a seek that failed the walk is over.
fn failed_seek(store: Arc<dyn OrderedKv>) {
    let store = Faulty::new(store, Fault::Fail(Failure::once(Call::Seek, 0)));
    for step in script() {
        step.run(&store, Durability::Buffered).unwrap();
    }
    let open = || store.cursor(SPACES[1], KeyBounds::all(), Direction::Forward).unwrap();
    let mut cursor = open();
    assert_eq!(cursor.seek(b"").unwrap_err().code(), "io");
    assert_eq!(cursor.next().unwrap(), None);
    let mut cursor = open();
    cursor.seek(b"").unwrap();
    assert!(cursor.next().unwrap().is_some());
}

fn failed_snapshot(store: Arc<dyn OrderedKv>) {
    let store = Faulty::new(store, Fault::Fail(Failure::once(Call::Snapshot, 0)));
    if store.capabilities().snapshots {
        assert_eq!(store.snapshot().err().unwrap().code(), "io");
        store.snapshot().unwrap();
    }
}

/// Everything is readable, whatever happened before.
fn failed_work(store: Arc<dyn OrderedKv>, act: Work, failure: Failure) {
    let store = Faulty::new(store, Fault::Fail(failure));
    for (number, step) in script().into_iter().enumerate() {
        step.run(&store, Durability::Buffered).unwrap();
        let done = act(&store).map_err(|error| error.code());
        assert_eq!(done, if number == 1 { Err("io") } else { Ok(()) }, "{failure:?}");
    }
    assert_eq!(content(&store).unwrap(), content_after(usize::MAX));
    assert_eq!(store.counts().of(failure.call), script().len() as u64);
}

/// As both stores do: after a failed sync the state of the disk is unknown until the store is opened again.
fn unknown_sync(store: Arc<dyn OrderedKv>) {
    let outcome = Outcome::Unknown { done: true };
    let faults = Faults::new(Fault::Fail(Failure { outcome, ..Failure::once(Call::Sync, 0) }));
    let faulty = faults.store(store.clone());
    let write = |store: &dyn OrderedKv, step: Step| step.run(store, Durability::Buffered);
    let mut steps = script().into_iter();
    write(&faulty, steps.next().unwrap()).unwrap();
    assert_eq!(faulty.sync().unwrap_err().code(), "io");
    let next = steps.next().unwrap();
    assert!(matches!(write(&faulty, next.clone()), Err(StoreError::Poisoned { .. })));
    let faulty = faults.store(store);
    write(&faulty, next).unwrap();
    faulty.sync().unwrap();
    assert_eq!(content(&faulty).unwrap(), content_after(2));
}

/// From some write on none is done, until it is over.
fn lasting_failure(store: Arc<dyn OrderedKv>) {
    let faults = Faults::new(Fault::None);
    let store = faults.store(store);
    let mut done = 0;
    faults.set(Fault::Fail(Failure { lasting: Lasting::UntilSet, ..Failure::once(Call::Write, 2) }));
    for step in script() {
        done += usize::from(step.run(&store, Durability::Buffered).is_ok() && done < 2);
    }
    assert_eq!(done, 2);
    faults.set(Fault::None);
    script().into_iter().skip(done).for_each(|step| step.run(&store, Durability::Buffered).unwrap());
    assert_eq!(content(&store).unwrap(), content_after(usize::MAX));
}

/// Nobody knows whether the commit was done, and the store takes no more before it is opened again.
fn unknown_commit(store: Arc<dyn OrderedKv>, failure: Failure) {
    let faults = Faults::new(Fault::Fail(failure));
    let mut faulty = faults.store(store.clone());
    for (number, step) in script().into_iter().enumerate() {
        let Err(error) = step.clone().run(&faulty, Durability::Buffered) else { continue };
        assert_eq!(error.code(), "commit_unknown");
        let there = number + usize::from(failure.outcome == Outcome::Unknown { done: true });
        assert_eq!(content(&faulty).unwrap(), content_after(there));
        assert!(matches!(step.clone().run(&faulty, Durability::Buffered), Err(StoreError::Poisoned { .. })));
        assert!(matches!(faulty.sync(), Err(StoreError::Poisoned { .. })));
        assert_eq!(content(&faulty).unwrap(), content_after(there));
        faulty = faults.store(store.clone());
        step.run(&faulty, Durability::Buffered).unwrap();
    }
    assert_eq!(faults.failed(), 1);
    assert_eq!(content(&faulty).unwrap(), content_after(usize::MAX));
}
