//! Random steps on a store and on a `BTreeMap`; the answers must be equal.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRunner};

use crate::{Cursor, Direction, Durability, KeyBounds, OrderedKv, Snapshot, Space, StoreError, WriteBatch, WriteStall};

const STEPS_MAX: usize = 40;
const SPACES: u8 = 3;

type Key = Vec<u8>;
type Model = BTreeMap<u8, BTreeMap<Key, Vec<u8>>>;
type Check<T = ()> = Result<T, TestCaseError>;

#[derive(Clone, Debug)]
enum Step {
    Write {
        mutations: Vec<(u8, Key, Option<Vec<u8>>)>,
        durability: Durability,
    },
    Get {
        space: u8,
        key: Key,
        from: Source,
    },
    Walk {
        walk: Walk,
        moves: Vec<Move>,
        from: Source,
    },
    /// Keeps a cursor over later writes.
    Hold {
        walk: Walk,
    },
    MoveHeld {
        moves: Vec<Move>,
    },
    TakeSnapshot,
    Clear {
        space: u8,
    },
    Reclaim {
        stall: WriteStall,
    },
    Sync,
    Close,
    Reopen,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    Newest,
    /// The snapshot taken last, where there is one.
    Snapshot,
}

#[derive(Clone, Debug)]
struct Walk {
    space: u8,
    bounds: KeyBounds,
    direction: Direction,
}

#[derive(Clone, Debug)]
enum Move {
    Next,
    Seek(Key),
}

/// Runs random lists of steps, each on a fresh store.
pub(super) fn run<O>(fresh: &impl Fn() -> O)
where
    O: Fn() -> Arc<dyn OrderedKv>,
{
    // The generator that is quick in a debug build.
    let rng_algorithm = RngAlgorithm::XorShift;
    let cases = Config::default().cases.div_ceil(3);
    let config = Config { rng_algorithm, failure_persistence: None, ..Config::with_cases(cases) };
    let outcome = TestRunner::new(config).run(&vec(step(), 1..STEPS_MAX), |steps| {
        let open = fresh();
        let mut bed = Bed::new(&open);
        steps.into_iter().try_for_each(|step| bed.take(step))?;
        bed.reopen()
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

/// A store and its model.
struct Bed<'a> {
    // Dropped in order: handles into the store before the store.
    held: Option<(Box<dyn Cursor>, ModelCursor)>,
    snapshot: Option<(Box<dyn Snapshot>, Model)>,
    store: Option<Arc<dyn OrderedKv>>,
    model: Model,
    open: &'a dyn Fn() -> Arc<dyn OrderedKv>,
}

impl<'a> Bed<'a> {
    fn new(open: &'a dyn Fn() -> Arc<dyn OrderedKv>) -> Self {
        Self { held: None, snapshot: None, store: Some(open()), model: Model::new(), open }
    }

    fn store(&self) -> Arc<dyn OrderedKv> {
        self.store.clone().unwrap()
    }

    fn take(&mut self, step: Step) -> Check {
        match step {
            Step::Write { mutations, durability } => self.write(mutations, durability),
            Step::Get { space, key, from } => self.get(space, &key, from),
            Step::Walk { walk, moves, from } => self.walk(&walk, &moves, from),
            Step::Hold { walk } => self.hold(&walk),
            Step::MoveHeld { moves } => match &mut self.held {
                Some((cursor, model)) => compare(&mut **cursor, model, &moves),
                None => Ok(()),
            },
            Step::TakeSnapshot => self.take_snapshot(),
            Step::Clear { space } => {
                self.model.remove(&space);
                self.store().clear(Space::new(space)).map_err(failed)
            }
            Step::Reclaim { stall } => self.store().reclaim(stall).map_err(failed),
            Step::Sync => self.store().sync().map_err(failed),
            Step::Close => self.store().close().map_err(failed),
            Step::Reopen => self.reopen(),
        }
    }

    fn write(&mut self, mutations: Vec<(u8, Key, Option<Vec<u8>>)>, durability: Durability) -> Check {
        let mut batch = WriteBatch::new();
        for (id, key, value) in mutations {
            let (space, entries) = (Space::new(id), self.model.entry(id).or_default());
            match value {
                Some(value) => {
                    batch.put(space, &key, &value);
                    entries.insert(key, value);
                }
                None => {
                    batch.delete(space, &key);
                    entries.remove(&key);
                }
            }
        }
        self.store().write(batch, durability).map_err(failed)
    }

    fn get(&self, space: u8, key: &[u8], from: Source) -> Check {
        let (found, model) = match (from, &self.snapshot) {
            (Source::Snapshot, Some((snapshot, model))) => (snapshot.get(Space::new(space), key), model),
            _ => (self.store().get(Space::new(space), key), &self.model),
        };
        let expected = model.get(&space).and_then(|entries| entries.get(key)).cloned();
        prop_assert_eq!(found.map_err(failed)?.map(|value| value.to_vec()), expected);
        Ok(())
    }

    fn walk(&self, walk: &Walk, moves: &[Move], from: Source) -> Check {
        let (space, bounds) = (Space::new(walk.space), walk.bounds.clone());
        let (cursor, model) = match (from, &self.snapshot) {
            (Source::Snapshot, Some((snapshot, model))) => (snapshot.cursor(space, bounds, walk.direction), model),
            _ => (self.store().cursor(space, bounds, walk.direction), &self.model),
        };
        let (mut cursor, mut model) = (cursor.map_err(failed)?, ModelCursor::new(model, walk));
        compare(&mut *cursor, &mut model, moves)?;
        // And to the end, where a cursor stays.
        let rest = vec![Move::Next; model.left.len() + 2];
        compare(&mut *cursor, &mut model, &rest)
    }

    fn hold(&mut self, walk: &Walk) -> Check {
        let store = self.store();
        if store.capabilities().snapshots {
            let cursor = store.cursor(Space::new(walk.space), walk.bounds.clone(), walk.direction).map_err(failed)?;
            self.held = Some((cursor, ModelCursor::new(&self.model, walk)));
        }
        Ok(())
    }

    fn take_snapshot(&mut self) -> Check {
        match (self.store().snapshot(), self.store().capabilities().snapshots) {
            (Ok(snapshot), true) => self.snapshot = Some((snapshot, self.model.clone())),
            (Err(StoreError::NotSupported { .. }), false) => {}
            (outcome, declared) => {
                let outcome = outcome.map(|_| "a snapshot");
                prop_assert!(false, "snapshots: {}, yet {:?}", declared, outcome);
            }
        }
        Ok(())
    }

    /// Reads all of it back after opening again, both ways.
    fn reopen(&mut self) -> Check {
        (self.held, self.snapshot, self.store) = (None, None, None);
        self.store = Some((self.open)());
        for space in 0..=SPACES {
            for direction in [Direction::Forward, Direction::Reverse] {
                let walk = Walk { space, bounds: KeyBounds::all(), direction };
                self.walk(&walk, &[], Source::Newest)?;
            }
        }
        Ok(())
    }
}

/// The entries that a cursor has before it, in the direction of travel.
struct ModelCursor {
    left: std::vec::IntoIter<(Key, Vec<u8>)>,
    direction: Direction,
}

impl ModelCursor {
    fn new(model: &Model, walk: &Walk) -> Self {
        let mut left: Vec<_> = model.get(&walk.space).cloned().unwrap_or_default().into_iter().collect();
        left.retain(|(key, _)| walk.bounds.contains(key));
        if walk.direction == Direction::Reverse {
            left.reverse();
        }
        Self { left: left.into_iter(), direction: walk.direction }
    }

    fn seek(&mut self, to: &[u8]) {
        let ahead = |key: &[u8]| match self.direction {
            Direction::Forward => key >= to,
            Direction::Reverse => key <= to,
        };
        let left: Vec<_> = self.left.as_slice().iter().filter(|(key, _)| ahead(key)).cloned().collect();
        self.left = left.into_iter();
    }
}

fn compare(cursor: &mut dyn Cursor, model: &mut ModelCursor, moves: &[Move]) -> Check {
    for step in moves {
        match step {
            Move::Next => {
                let entry = cursor.next().map_err(failed)?;
                let entry = entry.map(|(key, value)| (key.to_vec(), value.to_vec()));
                prop_assert_eq!(entry, model.left.next());
            }
            Move::Seek(key) => {
                cursor.seek(key).map_err(failed)?;
                model.seek(key);
            }
        }
    }
    Ok(())
}

fn failed(error: StoreError) -> TestCaseError {
    TestCaseError::fail(format!("{error}: {error:?}"))
}

/// Few different keys, so that they meet; zeros and ff, so that prefixes and
/// their ends are tried; some longer than what fits in place.
fn key() -> impl Strategy<Value = Key> {
    let byte = || (0..5_usize).prop_map(|index| [0, 1, b'a', 0xfe, 0xff][index]);
    prop_oneof![
        8 => vec(byte(), 1..4),
        2 => vec(byte(), 4..9),
        1 => vec(byte(), 20..300),
        1 => Just(vec![0xff; 70]),
    ]
}

fn value() -> impl Strategy<Value = Vec<u8>> {
    let len = prop_oneof![1 => Just(0), 8 => 1..40_usize, 1 => 1_000..20_000_usize];
    (any::<u8>(), len).prop_map(|(byte, len)| vec![byte; len])
}

fn walk() -> impl Strategy<Value = Walk> {
    let direction = prop_oneof![Just(Direction::Forward), Just(Direction::Reverse)];
    let bounds = prop_oneof![
        2 => Just(KeyBounds::all()),
        3 => (key(), proptest::option::of(key())).prop_map(|(start, end)| KeyBounds::new(start, end)),
        1 => key().prop_map(|prefix| KeyBounds::prefix(&prefix)),
    ];
    (0..=SPACES, bounds, direction).prop_map(|(space, bounds, direction)| Walk { space, bounds, direction })
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    vec(
        prop_oneof![
            3 => Just(Move::Next),
            2 => key().prop_map(Move::Seek),
            1 => Just(Move::Seek(Vec::new())),
        ],
        0..12,
    )
}

fn step() -> impl Strategy<Value = Step> {
    let source = || prop_oneof![Just(Source::Newest), Just(Source::Snapshot)];
    let durability = prop_oneof![
        4 => Just(Durability::Buffered),
        1 => Just(Durability::Synced),
    ];
    let mutation = (0..SPACES, key(), proptest::option::weighted(0.7, value()));
    prop_oneof![
        8 => (vec(mutation, 0..30), durability)
            .prop_map(|(mutations, durability)| Step::Write { mutations, durability }),
        4 => (0..=SPACES, key(), source()).prop_map(|(space, key, from)| Step::Get { space, key, from }),
        6 => (walk(), moves(), source()).prop_map(|(walk, moves, from)| Step::Walk { walk, moves, from }),
        2 => walk().prop_map(|walk| Step::Hold { walk }),
        4 => moves().prop_map(|moves| Step::MoveHeld { moves }),
        2 => Just(Step::TakeSnapshot),
        1 => (0..=SPACES).prop_map(|space| Step::Clear { space }),
        1 => prop_oneof![Just(WriteStall::Allowed), Just(WriteStall::Avoided)].prop_map(|stall| Step::Reclaim { stall }),
        1 => Just(Step::Sync),
        1 => Just(Step::Close),
        1 => Just(Step::Reopen),
    ]
}
