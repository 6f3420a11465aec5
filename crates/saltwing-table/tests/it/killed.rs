//! Processes that are killed in a phase of a merge that has a name: nothing acknowledged is lost, and the next one
//! goes on.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use saltwing_access::{Direction, Durability, TableStore};
use saltwing_store::conformance::Files;
use saltwing_store::{Access, Bytes, KeyBounds, Mutation, OpenOptions, OrderedKv, Space, StoreError, WriteBatch};
use saltwing_table::LayoutOptions;
use saltwing_types::Value;

use crate::world::{Rows, World, plain_row, run_options, table};

const CHILD: &str = "SALTWING_TEST_DIE_IN";
const ROUNDS: i64 = 60;
/// Which time the phase is come to: others have gone before.
const OCCURRENCE: u32 = 3;

const DELTAS: [u8; 2] = [2, 3];
const DIR: u8 = 4;
/// After the table's number in a key of `DIR`.
const DIR_RUN: u8 = 1;
const REPLACED: u8 = 7;
const OVERFLOW: u8 = 9;
const META: u8 = 8;

/// What a merge does to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The record names a new generation.
    Rotate,
    /// Values that lie by themselves, of a step to come.
    Ahead,
    /// Blocks, their directory entries, and how far the merge has come.
    Step,
    /// The same with a run.
    Append,
    /// A step of a compaction, which has no delta to merge.
    Compact,
    /// The record names the merged generation no more.
    End,
    /// Its space is cleared.
    Clear,
    /// Replaced blocks are deleted.
    Bury,
}

const PHASES: [(&str, Phase); 8] = [
    ("rotate", Phase::Rotate),
    ("ahead", Phase::Ahead),
    ("step", Phase::Step),
    ("append", Phase::Append),
    ("compact", Phase::Compact),
    ("end", Phase::End),
    ("clear", Phase::Clear),
    ("bury", Phase::Bury),
];

/// Where in a phase the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Before,
    /// In the middle of a clear.
    Within,
    /// Written, and nothing in memory knows of it yet.
    After,
}

const PLACES: [(&str, Place); 3] = [("before", Place::Before), ("within", Place::Within), ("after", Place::After)];

/// Which phase a batch is; `None` for a commit.
fn phase_of(batch: &WriteBatch) -> Option<Phase> {
    let writes_to = |id: u8| batch.mutations().iter().any(|mutation| mutation.space() == Space::new(id));
    let meta = batch.mutations().iter().find_map(|mutation| match mutation {
        Mutation::Put { space, value, .. } if *space == Space::new(META) => Some(value),
        _ => None,
    });
    let is_run = |mutation: &Mutation| match mutation {
        Mutation::Put { space, key, .. } => *space == Space::new(DIR) && key[4] == DIR_RUN,
        Mutation::Delete { .. } => false,
    };
    match meta {
        _ if DELTAS.into_iter().any(writes_to) => None,
        Some(_) if batch.mutations().iter().any(is_run) => Some(Phase::Append),
        Some(_) if writes_to(DIR) => Some(Phase::Step),
        Some(_) if writes_to(OVERFLOW) => Some(Phase::Ahead),
        Some(record) if record[1] == 1 => Some(Phase::Rotate),
        Some(_) => Some(Phase::End),
        None if writes_to(REPLACED) => Some(Phase::Bury),
        None => None,
    }
}

/// A store whose process dies when it comes to a place.
struct Deadly {
    inner: Arc<dyn OrderedKv>,
    phase: Phase,
    place: Place,
    left: AtomicU32,
    /// Whether steps are those of a compaction.
    is_compacting: AtomicBool,
}

impl Deadly {
    /// Does what a phase does, and dies before or after it when it is time.
    fn pass(
        &self,
        phase: Option<Phase>,
        act: impl FnOnce() -> Result<(), StoreError>,
        part: impl FnOnce(),
    ) -> Result<(), StoreError> {
        let is_time = phase == Some(self.phase) && self.left.fetch_sub(1, Ordering::Relaxed) == 1;
        match self.place {
            Place::Before if is_time => die(),
            Place::Within if is_time => {
                part();
                die()
            }
            _ => {}
        }
        act()?;
        if is_time { die() } else { Ok(()) }
    }
}

/// As `kill -9` does it: nothing is written out, and no destructor runs.
fn die() -> ! {
    let id = std::process::id().to_string();
    Command::new("kill").args(["-9", &id]).status().unwrap();
    loop {
        std::thread::park();
    }
}

impl OrderedKv for Deadly {
    reads_of!(self => self.inner);

    fn write(&self, batch: WriteBatch, durability: Durability) -> Result<(), StoreError> {
        let phase = match phase_of(&batch) {
            Some(Phase::Step) if self.is_compacting.load(Ordering::Relaxed) => Some(Phase::Compact),
            phase => phase,
        };
        self.pass(phase, || self.inner.write(batch, durability), || {})
    }

    fn clear(&self, space: Space) -> Result<(), StoreError> {
        let half = || {
            let mut batch = WriteBatch::new();
            for key in keys(&*self.inner, space).into_iter().step_by(2) {
                batch.delete(space, key);
            }
            self.inner.write(batch, Durability::Synced).unwrap();
        };
        self.pass(Some(Phase::Clear), || self.inner.clear(space), half)
    }

    fn sync(&self) -> Result<(), StoreError> {
        self.inner.sync()
    }
}

fn keys(kv: &dyn OrderedKv, space: Space) -> Vec<Bytes> {
    let mut cursor = kv.cursor(space, KeyBounds::all(), Direction::Forward).unwrap();
    std::iter::from_fn(|| cursor.next().unwrap()).map(|(key, _)| key).collect()
}

fn open(store: &str, path: &Path, access: Access) -> Arc<dyn OrderedKv> {
    let options = OpenOptions { access, cache_bytes: 8 << 20, trace: None };
    match store {
        "redb" => Arc::new(saltwing_redb::open(path, options).unwrap()),
        _ => Arc::new(saltwing_sled::open(path, options).unwrap()),
    }
}

/// Merges by one to three threads, so that each phase is died in with some.
fn options(store: &str, phase: &str, place: &str) -> LayoutOptions {
    let merge_threads = 1 + (store.len() + phase.len() + place.len()) % 3;
    LayoutOptions { merge_threads, ..run_options() }
}

/// What a round writes: rows all over the table, some of them anew, some deleted.
fn round(number: i64) -> Vec<(Vec<Value>, bool)> {
    let row = |i: i64| {
        let mut row = plain_row((number * 7 + i * 13) % 97, number);
        // Some in the block, some by themselves.
        let letter = |j: i64| char::from(b'a' + (number * 31 + i * 17 + j * j * 7 + j * number) as u8 % 26);
        row[3] = Value::Text((0..(number + 5 * i) % 60).map(letter).collect());
        (row, (number + i) % 5 != 0)
    };
    (0..6).map(row).collect()
}

/// Writes rounds, and says which are acknowledged.
fn write_rounds(world: &mut World, rounds: std::ops::Range<i64>) {
    for number in rounds {
        world.commit(&round(number)).unwrap();
        world.store.batch().commit(Durability::Synced).unwrap();
        println!("acknowledged {number}");
    }
}

/// The rows after so many rounds.
fn rows_after(rounds: i64) -> Rows {
    let kv = Arc::new(saltwing_store::MemoryStore::new());
    let mut world = World::open(kv, run_options(), table(100, 2, None)).unwrap();
    (0..rounds).for_each(|number| world.commit(&round(number)).unwrap());
    world.rows
}

/// Not a test of its own: the process that dies.
#[test]
fn dies_in_a_phase() {
    let Ok(orders) = std::env::var(CHILD) else { return };
    let [store, phase, place, path] = orders.splitn(4, ' ').collect::<Vec<_>>()[..] else { panic!("{orders}") };
    let options = options(store, phase, place);
    let phase = PHASES.into_iter().find(|(name, _)| *name == phase).unwrap().1;
    let place = PLACES.into_iter().find(|(name, _)| *name == place).unwrap().1;
    let (left, is_compacting) = (AtomicU32::new(OCCURRENCE), AtomicBool::new(false));
    let deadly =
        Arc::new(Deadly { inner: open(store, Path::new(path), Access::Create), phase, place, left, is_compacting });
    let mut world = World::open(deadly.clone(), options, table(100, 2, None)).unwrap();
    for number in 0..ROUNDS {
        write_rounds(&mut world, number..number + 1);
        if phase == Phase::Compact && number % 6 == 5 {
            world.store.merge().unwrap();
            deadly.is_compacting.store(true, Ordering::Relaxed);
            world.compact();
            deadly.is_compacting.store(false, Ordering::Relaxed);
        }
    }
    panic!("the phase was not come to");
}

fn killed_in(store: &str, phase: &str, place: &str) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("db");
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["killed::dies_in_a_phase", "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, format!("{store} {phase} {place} {}", path.display()))
        .stderr(Stdio::null())
        .output()
        .unwrap();
    let what = format!("{store}, {phase}, {place}");
    assert_eq!(output.status.code(), None, "{what}: it was not killed");
    let printed = String::from_utf8_lossy(&output.stdout);
    let numbers = printed.lines().filter_map(|line| line.split("acknowledged ").nth(1)?.parse::<i64>().ok());
    let acknowledged = numbers.max().unwrap() + 1;

    let options = options(store, phase, place);
    let open = |access| World::open(open(store, &path, access), options.clone(), table(100, 2, None)).unwrap();
    let before = Files::of(&path);
    let seen = open(Access::ReadOnly).read_all().unwrap();
    if store != "sled" {
        before.assert_unchanged();
    }
    let mut world = open(Access::Create);
    let found = world.read_all().unwrap();
    assert_eq!(found, seen, "{what}: a reader sees other rows");
    let rounds = [acknowledged, acknowledged + 1].into_iter().find(|rounds| found == rows_after(*rounds));
    let rounds = rounds.unwrap_or_else(|| panic!("{what}: rows of no round from {acknowledged} on"));
    // It continues, and nothing is left over of the interrupted work.
    world.rows = found;
    write_rounds(&mut world, rounds..rounds + 20);
    world.store.merge().unwrap();
    assert_eq!(world.read_all().unwrap(), world.rows, "{what}");
    world.assert_nothing_is_left_over();
}

#[test]
fn a_process_killed_in_any_phase_of_a_merge_loses_nothing() {
    for store in ["redb", "sled"] {
        for (phase, _) in PHASES {
            for (place, _) in PLACES {
                if place != "within" || phase == "clear" {
                    killed_in(store, phase, place);
                }
            }
        }
    }
}
