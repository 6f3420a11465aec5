//! Random histories in which any call of the store may fail.
//!
//! Two tables get the same rows, each time in one commit; the second one is dropped now and then, and comes anew. After each
//! failure both have the rows before the step that failed or those after it, nothing between, and the same as each other;
//! when the fault is over all goes on; and nothing else is there after opening again.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use proptest::prelude::*;
use saltwing_access::{Budget, Durability, ScanContext, StorageCause, Table, TableError, TableStore};
use saltwing_store::conformance::fault::{Call, Failure, Fault, Faults, Lasting, Outcome};
use saltwing_store::{Access, MemoryStore, OpenOptions, OrderedKv};
use saltwing_table::{LayoutOptions, Merging};
use saltwing_types::{TableId, Value};

use crate::history::{self, assert_whole, row, run};
use crate::world::{OpenFiles, Rows, World, plain_row, rows_of, run_options, table};

/// Seconds that a row lives.
const TTL_S: u64 = 60;

#[derive(Clone, Debug)]
enum Step {
    /// From now on a call fails; before that nothing does any more.
    Set(Option<Failure>),
    Commit(Changes, Durability),
    /// One of a history without faults.
    Plain(history::Step),
    /// Time passes, and rows expire.
    Wait(u64),
    Sweep,
    /// The second table goes, and another one comes.
    Drop,
    Close,
    Reopen,
}

/// Rows written and deleted, shown in few lines.
#[derive(Clone)]
struct Changes(Vec<(Vec<Value>, bool)>);

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|(row, is_alive)| writeln!(f, "{} {row:?}", if *is_alive { "put" } else { "delete" }))
    }
}

fn failure() -> impl Strategy<Value = Failure> {
    // Those that the layout makes: it walks without seeking, and has its own snapshots.
    let of_call = prop_oneof![
        2 => Just((Call::Get, 30u64)),
        2 => Just((Call::Cursor, 8)),
        3 => Just((Call::Next, 100)),
        5 => Just((Call::Write, 16)),
        2 => Just((Call::Clear, 3)),
        1 => Just((Call::Reclaim, 2)),
        1 => Just((Call::Sync, 4)),
        1 => Just((Call::Close, 2)),
    ];
    let number = |(call, most): (Call, u64)| prop_oneof![Just(0), 0..most].prop_map(move |number| (call, number));
    let lasting = prop_oneof![4 => Just(Lasting::Once), 1 => Just(Lasting::UntilSet)];
    let outcome = prop_oneof![
        3 => Just(Outcome::Refused),
        1 => any::<bool>().prop_map(|done| Outcome::Unknown { done }),
    ];
    (of_call.prop_flat_map(number), lasting, outcome).prop_map(|((call, number), lasting, outcome)| Failure {
        call,
        number,
        lasting,
        outcome,
    })
}

fn step() -> impl Strategy<Value = Step> {
    let changes = prop::collection::vec((row(), prop::bool::weighted(0.75)), 1..12).prop_map(Changes);
    let durability = prop_oneof![3 => Just(Durability::Buffered), 1 => Just(Durability::Synced)];
    prop_oneof![
        6 => failure().prop_map(|failure| Step::Set(Some(failure))),
        1 => Just(Step::Set(None)),
        10 => (changes, durability).prop_map(|(changes, durability)| Step::Commit(changes, durability)),
        12 => history::quiet_step().prop_map(Step::Plain),
        1 => (1u64..50).prop_map(Step::Wait),
        1 => Just(Step::Sweep),
        1 => Just(Step::Drop),
        1 => Just(Step::Close),
        3 => Just(Step::Reopen),
    ]
}

/// Both tables and their model, over a store that fails.
struct Bed {
    faults: Faults,
    /// The one that is set.
    failure: Option<Failure>,
    world: World,
    second: Arc<Table>,
    second_rows: Rows,
    /// When the newest row of a key was written.
    written_ms: BTreeMap<Vec<u8>, i64>,
    /// What both tables may have instead after opening again, and the keys that make the difference: nobody knows whether
    /// a commit was made.
    instead: Option<(Rows, Rows, Vec<Vec<u8>>)>,
    /// Tables that are closed, and whose rows may not be gone.
    dropped: Vec<TableId>,
    next_id: u32,
    /// Since the store was opened a failure left its outcome open: it takes no more writes, and nothing is merged.
    is_unknown: bool,
}

impl Bed {
    fn open(faults: Faults, open: OpenFiles, options: LayoutOptions, salt: u16) -> Self {
        let world = World::open_files(open, options, table(100, salt, Some(TTL_S))).unwrap();
        let second = world.store.open_table(Table::new(Arc::new(table(101, salt, Some(TTL_S)))).unwrap());
        let bed = Self {
            faults,
            failure: None,
            world,
            second,
            second_rows: Rows::new(),
            written_ms: BTreeMap::new(),
            instead: None,
            dropped: Vec::new(),
            next_id: 102,
            is_unknown: false,
        };
        bed.start_merging().unwrap();
        bed
    }

    fn start_merging(&self) -> Result<(), TableError> {
        match self.world.options.merging {
            Merging::WithCommits => Ok(()),
            Merging::Background => self.world.store.start_merging(),
        }
    }

    /// Does a step. What fails does so because a call of the store was made to fail.
    fn take(&mut self, step: Step) {
        let shown = format!("{step:?}");
        let failed_before = self.faults.failed();
        let done = match step {
            Step::Set(failure) => {
                self.faults.set(failure.map_or(Fault::None, Fault::Fail));
                self.failure = failure;
                Ok(())
            }
            Step::Commit(changes, durability) => self.commit(&changes.0, durability),
            Step::Plain(step) => run(&mut self.world, step),
            Step::Wait(seconds) => {
                self.wait(seconds);
                Ok(())
            }
            Step::Sweep => self.world.store.sweep().map(drop),
            Step::Drop => self.drop_second(),
            Step::Close => self.world.store.close(),
            Step::Reopen => self.reopen(),
        };
        let has_failed = self.faults.failed() > failed_before;
        self.is_unknown |= has_failed && self.failure.is_some_and(|failure| failure.outcome != Outcome::Refused);
        if let Err(error) = &done {
            // A thread may have met it, too, before this step.
            let is_caused = has_failed || self.is_unknown;
            let is_beside = self.world.options.merging == Merging::Background && self.faults.failed() > 0;
            assert!(is_caused || is_beside, "{shown} fails by itself: {error}");
            self.assert_rows(&shown);
        }
    }

    fn found(&self) -> (Rows, Rows) {
        let read = || (self.world.read_all().unwrap(), rows_of(&self.world, &self.second).unwrap());
        self.faults.suspended(read)
    }

    fn assert_rows(&self, after: &str) {
        let (first, second) = self.found();
        assert_eq!(first, self.world.rows, "after {after}");
        assert_eq!(second, self.second_rows, "of the second table, after {after}");
    }

    fn commit(&mut self, changes: &[(Vec<Value>, bool)], durability: Durability) -> Result<(), TableError> {
        let mut writes = self.world.store.batch();
        let (mut rows, mut second_rows) = (self.world.rows.clone(), self.second_rows.clone());
        for (row, is_alive) in changes {
            let key = self.world.logical(row);
            for (table, rows) in [(&self.world.table, &mut rows), (&self.second, &mut second_rows)] {
                if *is_alive {
                    writes.put(table, row.clone()).unwrap();
                    rows.insert(key.clone(), row.clone());
                } else {
                    writes.delete(table, self.world.physical(row)).unwrap();
                    rows.remove(&key);
                }
            }
        }
        let done = writes.commit(durability);
        // Where only the sync failed, the rows are there.
        let is_made = done.is_ok() || self.found().0 == rows;
        let keys = changes.iter().map(|(row, _)| self.world.logical(row)).collect();
        if is_made {
            self.is_made(rows, second_rows, keys);
        } else if matches!(&done, Err(TableError::Storage(error)) if error.cause == StorageCause::CommitUnknown) {
            self.instead = Some((rows, second_rows, keys));
        }
        done.map(drop)
    }

    /// A commit of these keys was made.
    fn is_made(&mut self, rows: Rows, second_rows: Rows, keys: Vec<Vec<u8>>) {
        let now_ms = self.world.clock.0.load(Ordering::Relaxed);
        self.written_ms.extend(keys.into_iter().map(|key| (key, now_ms)));
        (self.world.rows, self.second_rows) = (rows, second_rows);
    }

    fn wait(&mut self, seconds: u64) {
        // Nobody knows of which time its rows are: it is settled first.
        if self.instead.is_some() {
            return;
        }
        let now_ms = self.world.clock.0.fetch_add(seconds as i64 * 1000, Ordering::Relaxed) + seconds as i64 * 1000;
        let limit_ms = now_ms - TTL_S as i64 * 1000;
        let written_ms = &self.written_ms;
        let is_fresh = |key: &Vec<u8>, _: &mut Vec<Value>| written_ms.get(key).is_none_or(|ms| *ms > limit_ms);
        self.world.rows.retain(is_fresh);
        self.second_rows.retain(is_fresh);
    }

    /// What a dropped table leaves is for later, where it cannot be deleted now.
    fn drop_second(&mut self) -> Result<(), TableError> {
        let id = self.second.def().id;
        self.world.store.close_table(id);
        self.dropped.push(id);
        let salt = self.world.def.key.salt.as_ref().map_or(0, |salt| salt.buckets);
        self.second =
            self.world.store.open_table(Table::new(Arc::new(table(self.next_id, salt, Some(TTL_S)))).unwrap());
        self.next_id += 1;
        self.second_rows.clear();
        if let Some((_, second, _)) = &mut self.instead {
            second.clear();
        }
        self.purge()
    }

    fn purge(&mut self) -> Result<(), TableError> {
        while let Some(id) = self.dropped.first().copied() {
            self.world.store.purge(id)?;
            self.dropped.remove(0);
        }
        Ok(())
    }

    /// Opens again, if need be when nothing fails any more, and finds out what became of a commit.
    fn reopen(&mut self) -> Result<(), TableError> {
        let done = self.world.reopen();
        if done.is_err() {
            self.faults.suspended(|| self.world.reopen()).unwrap();
        }
        self.is_unknown = false;
        self.second = self.world.store.open_table(Table::new(self.second.def().clone()).unwrap());
        let found = self.found();
        if let Some((rows, second_rows, keys)) = self.instead.take()
            && found == (rows.clone(), second_rows.clone())
        {
            self.is_made(rows, second_rows, keys);
        }
        self.assert_rows("opening again");
        self.start_merging()?;
        done
    }

    /// Nothing fails any more: all goes on, and what is left is what the rows need.
    fn finish(mut self) {
        self.faults.set(Fault::None);
        if self.is_unknown || self.instead.is_some() {
            self.reopen().unwrap();
        }
        match self.world.store.merge() {
            // A thread met what stalls it.
            Err(TableError::Storage(error)) if error.cause == StorageCause::Poisoned => self.reopen().unwrap(),
            merged => merged.unwrap(),
        }
        self.commit(&[(plain_row(8, 1), true), (plain_row(-4, 1), false)], Durability::Synced).unwrap();
        self.assert_rows("the fault");
        self.world.views.clear();
        self.drop_second().unwrap();
        self.world.store.sweep().unwrap();
        self.world.store.compact(self.world.def.id, &ScanContext::new(Budget::default())).unwrap();
        self.assert_rows("the drop");
        let last = self.second.def().id;
        self.world.store.close_table(last);
        self.world.store.purge(last).unwrap();
        assert_whole(self.world);
    }
}

fn holds(faults: &Faults, open: OpenFiles, options: LayoutOptions, salt: u16, steps: Vec<Step>) {
    let mut bed = Bed::open(faults.clone(), open, options, salt);
    steps.into_iter().for_each(|step| bed.take(step));
    bed.finish();
}

fn options() -> impl Strategy<Value = LayoutOptions> {
    let sizes = prop_oneof![Just(LayoutOptions::tiny()), Just(run_options())];
    (sizes, 1usize..4).prop_map(|(options, merge_threads)| LayoutOptions { merge_threads, ..options })
}

fn salt() -> impl Strategy<Value = u16> {
    prop_oneof![Just(0u16), Just(3)]
}

fn in_memory(faults: &Faults) -> OpenFiles {
    let (memory, faults) = (MemoryStore::new(), faults.clone());
    Box::new(move || Arc::new(faults.store(memory.clone())))
}

/// Whichever call fails, and whenever.
#[test]
fn a_history_with_faults_is_that_of_a_map() {
    proptest!(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(4)), |(
        steps in prop::collection::vec(step(), 10..60),
        salt in salt(),
        options in options(),
    )| {
        let faults = Faults::new(Fault::None);
        holds(&faults, in_memory(&faults), options, salt, steps);
    });
}

/// The same beside the thread that merges, which meets faults, too.
#[test]
fn a_history_with_faults_is_that_of_a_map_while_a_thread_merges() {
    proptest!(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(16)), |(
        steps in prop::collection::vec(step(), 10..60),
        salt in salt(),
        options in options(),
    )| {
        let faults = Faults::new(Fault::None);
        let options = LayoutOptions { merging: Merging::Background, idle: Duration::from_millis(1), ..options };
        holds(&faults, in_memory(&faults), options, salt, steps);
    });
}

/// The same on the stores that have files, which are closed and opened.
#[test]
fn a_history_with_faults_is_that_of_a_map_on_every_store() {
    proptest!(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(40)), |(
        steps in prop::collection::vec(step(), 10..40),
        salt in salt(),
        options in options(),
    )| {
        for store in ["redb", "sled"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(store);
            let faults = Faults::new(Fault::None);
            let of_store = faults.clone();
            let open: OpenFiles = Box::new(move || {
                let options = OpenOptions { access: Access::Create, cache_bytes: 8 << 20, trace: None };
                let kv: Arc<dyn OrderedKv> = match store {
                    "redb" => Arc::new(saltwing_redb::open(&path, options).unwrap()),
                    _ => Arc::new(saltwing_sled::open(&path, options).unwrap()),
                };
                Arc::new(of_store.store(kv))
            });
            holds(&faults, open, options.clone(), salt, steps.clone());
        }
    });
}
