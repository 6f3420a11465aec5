//! What the merging thread does beside writers: when it asks the store for space, and what happens if it panics.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use saltwing_access::{Budget, ScanContext, StorageCause, TableError, TableStore};
use saltwing_store::{Durability, MemoryStore, OrderedKv, Space, StoreError, WriteBatch, WriteStall};

use crate::world::{World, plain_row, put_all, table, thread_options};

/// The longest wait for the merging thread.
const WAIT: Duration = Duration::from_secs(60);

/// A store that notes the calls that give space back, and runs a hook when a merge ends.
#[derive(Clone, Default)]
struct Noting(Arc<Notes>);

#[derive(Default)]
struct Notes {
    rows: MemoryStore,
    stalls: Mutex<Vec<WriteStall>>,
    at_end: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Noting {
    /// The next request to give space back.
    fn next_stall(&self) -> WriteStall {
        let until = Instant::now() + WAIT;
        while self.0.stalls.lock().is_empty() {
            assert!(Instant::now() < until, "a merge asks for space");
            std::thread::sleep(Duration::from_millis(1));
        }
        self.0.stalls.lock().remove(0)
    }

    /// The end of the next merge tells the receiver, and then waits for the sender.
    fn pause_at_end(&self) -> (Receiver<()>, Sender<()>) {
        let ((ends, at_end), (go_on, goes_on)) = (channel(), channel());
        *self.0.at_end.lock() = Some(Box::new(move || {
            ends.send(()).unwrap();
            goes_on.recv_timeout(WAIT).unwrap();
        }));
        (at_end, go_on)
    }
}

impl OrderedKv for Noting {
    reads_of!(self => self.0.rows);

    fn write(&self, batch: WriteBatch, durability: Durability) -> Result<(), StoreError> {
        self.0.rows.write(batch, durability)
    }

    fn clear(&self, space: Space) -> Result<(), StoreError> {
        let hook = self.0.at_end.lock().take();
        hook.into_iter().for_each(|hook| hook());
        self.0.rows.clear(space)
    }

    fn reclaim(&self, stall: WriteStall) -> Result<(), StoreError> {
        self.0.stalls.lock().push(stall);
        self.0.rows.reclaim(stall)
    }

    fn sync(&self) -> Result<(), StoreError> {
        self.0.rows.sync()
    }
}

/// Rows that come during a merge are probably followed by others, which would wait.
#[test]
fn a_merge_makes_writers_wait_for_space_only_if_there_are_none() {
    let kv = Noting::default();
    let mut world = World::open(Arc::new(kv.clone()), thread_options(), table(100, 0, None)).unwrap();
    put_all(&mut world, (0..50).map(|k| (k, 0)));
    world.store.start_merging().unwrap();
    assert_eq!(kv.next_stall(), WriteStall::Allowed);
    let (at_end, go_on) = kv.pause_at_end();
    put_all(&mut world, (0..50).map(|k| (k, 1)));
    at_end.recv_timeout(WAIT).unwrap();
    put_all(&mut world, (50..51).map(|k| (k, 1)));
    go_on.send(()).unwrap();
    assert_eq!(kv.next_stall(), WriteStall::Avoided);
    put_all(&mut world, (0..50).map(|k| (k, 2)));
    assert_eq!(kv.next_stall(), WriteStall::Allowed);
}

/// The same holds for the removal of expired rows, which runs in the background.
#[test]
fn a_sweep_makes_writers_wait_for_space_only_if_there_are_none() {
    let kv = Noting::default();
    let mut world = World::open(Arc::new(kv.clone()), thread_options(), table(100, 0, Some(1))).unwrap();
    for (value, wanted) in [(0, WriteStall::Allowed), (1, WriteStall::Avoided)] {
        put_all(&mut world, (0..50).map(|k| (k, value)));
        world.store.compact(world.def.id, &ScanContext::new(Budget::default())).unwrap();
        assert_eq!(kv.next_stall(), WriteStall::Allowed);
        put_all(&mut world, (0..1).map(|k| (k, value)));
        world.clock.0.fetch_add(10_000, Ordering::Relaxed);
        let (at_end, go_on) = kv.pause_at_end();
        let world = &world;
        std::thread::scope(|scope| {
            scope.spawn(|| world.store.sweep().unwrap());
            at_end.recv_timeout(WAIT).unwrap();
            if wanted == WriteStall::Avoided {
                let mut writes = world.store.batch();
                writes.put(&world.table, plain_row(50, value)).unwrap();
                writes.commit(Durability::Buffered).unwrap();
            }
            go_on.send(()).unwrap();
        });
        assert_eq!(kv.next_stall(), wanted);
    }
}

/// A panic is a fault of the program. The storage reports it, writers do not wait for the thread, and no row is lost.
#[test]
fn writers_go_on_beside_a_merge_that_panics() {
    let kv = Noting::default();
    let mut world = World::open(Arc::new(kv.clone()), thread_options(), table(100, 0, None)).unwrap();
    *kv.0.at_end.lock() = Some(Box::new(|| panic!("a fault in the program")));
    world.store.start_merging().unwrap();
    for k in 0..200 {
        put_all(&mut world, (k..k + 1).map(|k| (k, 1)));
    }
    let failure = world.store.storage_stats().last_failure.unwrap();
    assert_eq!((failure.task, failure.times), ("merge", 1), "{failure:?}");
    assert!(failure.error.contains("panicked"), "{failure:?}");
    assert!(matches!(world.store.merge(), Err(TableError::Storage(error)) if error.cause == StorageCause::Poisoned));
    assert_eq!(world.read_all().unwrap(), world.rows);
    world.reopen().unwrap();
    assert_eq!(world.read_all().unwrap(), world.rows);
    world.store.merge().unwrap();
    world.assert_nothing_is_left_over();
}
