//! Commits that are to be on the disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use saltwing_access::{TableError, TableStore};
use saltwing_store::conformance::fault::{Call, Failure, Fault, FaultStore};
use saltwing_store::group_sync::GroupSync;
use saltwing_store::{Announced, Durability, MemoryStore, OrderedKv, Space, StoreError, WriteBatch};
use saltwing_types::{StorageCause, Value};

use crate::world::{World, plain_row, table, thread_options};

/// Writers at the same time.
const THREADS: usize = 8;

/// A store whose journal takes no write while it is synced, and where so many writers come at the same time.
#[derive(Clone, Default)]
struct Slow(Arc<Journal>);

#[derive(Default)]
struct Journal {
    rows: MemoryStore,
    lock: Mutex<()>,
    group: GroupSync,
    syncs: AtomicU64,
    announced: Mutex<usize>,
    changed: Condvar,
}

impl Journal {
    /// Waits until as many writers as there are have announced their next write.
    fn meet(&self) {
        let mut announced = self.announced.lock();
        *announced += 1;
        self.changed.notify_all();
        let all = announced.next_multiple_of(THREADS);
        while *announced < all {
            let waited = self.changed.wait_for(&mut announced, Duration::from_secs(60));
            assert!(!waited.timed_out(), "a write is announced before any other one is waited for");
        }
    }
}

impl OrderedKv for Slow {
    reads_of!(self => self.0.rows);

    fn write(&self, batch: WriteBatch, _: Durability) -> Result<(), StoreError> {
        let _journal = self.0.lock.lock();
        self.0.rows.write(batch, Durability::Buffered)
    }

    fn clear(&self, space: Space) -> Result<(), StoreError> {
        self.0.rows.clear(space)
    }

    fn sync(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn announce(&self) -> Announced<'_> {
        let round = self.0.group.enter();
        self.0.meet();
        Announced::in_round(round, |round| {
            let sync = || {
                let _journal = self.0.lock.lock();
                self.0.syncs.fetch_add(1, Ordering::Relaxed);
                Ok(())
            };
            round.wait(sync).map_err(|error| StoreError::io("sync", "memory".as_ref(), error))
        })
    }
}

fn write_set(world: &World, k: i64) -> Box<dyn saltwing_access::WriteBatch> {
    let mut writes = world.store.batch();
    writes.put(&world.table, plain_row(k, k)).unwrap();
    writes
}

/// Commits that come at the same time are in one sync, whoever of them has the lock first.
#[test]
fn commits_at_the_same_time_share_syncs() {
    const COMMITS: usize = 25;
    let kv = Slow::default();
    let world = World::open(Arc::new(kv.clone()), thread_options(), table(100, 0, None)).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let world = &world;
            scope.spawn(move || {
                for commit in 0..COMMITS {
                    let writes = write_set(world, (thread * COMMITS + commit) as i64);
                    writes.commit(Durability::Synced).unwrap();
                }
            });
        }
    });
    assert_eq!(kv.0.syncs.load(Ordering::Relaxed), COMMITS as u64);
    assert_eq!(world.read_all().unwrap().len(), THREADS * COMMITS);
}

/// Nobody knows whether a commit stays whose sync fails; it is there, as others may have seen it, and later ones are made.
#[test]
fn the_outcome_of_a_commit_whose_sync_fails_is_unknown() {
    let kv = FaultStore::new(MemoryStore::new(), Fault::Fail(Failure::once(Call::Sync, 1)));
    let world = World::open(Arc::new(kv.clone()), thread_options(), table(100, 0, None)).unwrap();
    let commit = |k: i64, durability| write_set(&world, k).commit(durability);
    commit(0, Durability::Synced).unwrap();
    commit(1, Durability::Buffered).unwrap();
    let Err(TableError::Storage(error)) = commit(2, Durability::Synced) else { panic!("its sync fails") };
    assert_eq!(error.cause, StorageCause::CommitUnknown);
    commit(3, Durability::Synced).unwrap();
    assert_eq!(kv.counts().of(Call::Sync), 3);
    let keys: Vec<Value> = world.read_all().unwrap().into_values().map(|row| row[0].clone()).collect();
    assert_eq!(keys, (0..4).map(Value::Int).collect::<Vec<_>>());
}
