//! Every fault at every number, on a short script.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::fault::{Counts, Fault, FaultStore};
use crate::{Bytes, Direction, Durability, KeyBounds, OrderedKv, Space, StoreError, WriteBatch};

const SPACES: [Space; 2] = [Space::new(1), Space::new(2)];

type Content = BTreeMap<(Space, Bytes), Bytes>;
type Faulty = FaultStore<Arc<dyn OrderedKv>>;

/// Runs a script once to count, then once for each fault; see the
/// [module](crate::fault). `fresh` as for [`run`](super::run).
pub fn run_faults<O>(fresh: impl Fn() -> O)
where
    O: Fn() -> Arc<dyn OrderedKv>,
{
    let counts = count(&fresh()());
    for number in 0..counts.mutations {
        lost_mutation(&fresh(), number);
        failed_mutation(fresh()(), number);
    }
    for number in 0..counts.entries {
        cut_scan(fresh()(), number);
    }
    failed_get(fresh()());
    failed_reclaim(fresh()());
    for commit in 0..counts.commits {
        for applied in [false, true] {
            unknown_commit(fresh()(), commit, applied);
        }
    }
}

/// What a script does.
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

/// What a store holds after the first `commits` steps of the script.
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

fn failed_mutation(store: Arc<dyn OrderedKv>, number: u64) {
    let store = Faulty::new(store, Fault::FailMutation(number));
    let mut failures = 0;
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
            failures += 1;
            step.run(&store, Durability::Buffered).unwrap();
        }
    }
    assert_eq!(failures, 1);
    assert_eq!(content(&store).unwrap(), content_after(usize::MAX));
}

fn cut_scan(store: Arc<dyn OrderedKv>, number: u64) {
    let store = Faulty::new(store, Fault::CutScan(number));
    for step in script() {
        step.run(&store, Durability::Buffered).unwrap();
    }
    assert_eq!(content(&store).unwrap_err().code(), "io");
    assert_eq!(content(&store).unwrap(), content_after(usize::MAX));
}

fn failed_get(store: Arc<dyn OrderedKv>) {
    let store = Faulty::new(store, Fault::FailGet(1));
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
    assert_eq!(store.counts().gets, content.len() as u64);
}

fn failed_reclaim(store: Arc<dyn OrderedKv>) {
    let store = Faulty::new(store, Fault::FailReclaim(1));
    for (number, step) in script().into_iter().enumerate() {
        step.run(&store, Durability::Buffered).unwrap();
        let reclaimed = store.reclaim().map_err(|error| error.code());
        assert_eq!(reclaimed, if number == 1 { Err("io") } else { Ok(()) });
    }
    assert_eq!(content(&store).unwrap(), content_after(usize::MAX));
    assert_eq!(store.counts().reclaims, script().len() as u64);
}

fn unknown_commit(store: Arc<dyn OrderedKv>, commit: u64, applied: bool) {
    let store = Faulty::new(store, Fault::UnknownCommit { commit, applied });
    for (number, step) in script().into_iter().enumerate() {
        let outcome = step.clone().run(&store, Durability::Buffered);
        if number as u64 == commit {
            assert_eq!(outcome.unwrap_err().code(), "commit_unknown");
            let there = number + usize::from(applied);
            assert_eq!(content(&store).unwrap(), content_after(there));
            step.run(&store, Durability::Buffered).unwrap();
        } else {
            outcome.unwrap();
        }
    }
    assert_eq!(content(&store).unwrap(), content_after(usize::MAX));
}
