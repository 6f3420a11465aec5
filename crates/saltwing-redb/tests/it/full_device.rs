//! A device that fills up.

use std::path::Path;

use saltwing_redb::{Access, OpenOptions, RedbStore};
use saltwing_store::conformance::SmallDisk;
use saltwing_store::{Direction, Durability, KeyBounds, OrderedKv, Space, WriteBatch, WriteStall};

const SPACE: Space = Space::new(3);
const VALUE_BYTES: usize = 7_000;
const BATCH_VALUES: u64 = 14;

fn open(path: &Path) -> RedbStore {
    saltwing_redb::open(path, OpenOptions { access: Access::Create, cache_bytes: 8 << 20, trace: None }).unwrap()
}

/// Deletions are taken when there is no room for more, their space comes back, and no write meets the end of the device.
#[test]
fn deletions_make_room() {
    let Some(disk) = SmallDisk::mount(64 << 20) else { return };
    let path = disk.path().join("db");
    let store = open(&path);
    let mut next = 0;
    // All, one in two, one in three: the rest lies between what is gone.
    for kept_of in [1_000_000, 2, 3, 1_000_000] {
        let before = next;
        while store.room() != Some(0) {
            let mut batch = WriteBatch::new();
            for key in next..next + BATCH_VALUES {
                batch.put(SPACE, key.to_be_bytes(), value(key));
            }
            next += BATCH_VALUES;
            store.write(batch, Durability::Buffered).unwrap();
            // As merges do.
            if next % (50 * BATCH_VALUES) == 0 {
                store.reclaim(WriteStall::Allowed).unwrap();
            }
        }
        assert!(next > before, "no room came back: {:?}", keys(&store).len());
        for keys in keys(&store).chunks(500) {
            let mut batch = WriteBatch::new();
            let dying = keys.iter().filter(|key| **key % kept_of > 0);
            dying.for_each(|key| batch.delete(SPACE, key.to_be_bytes()));
            store.write(batch, Durability::Synced).unwrap();
        }
        store.reclaim(WriteStall::Allowed).unwrap();
        keys(&store).iter().for_each(|key| assert_eq!(key % kept_of, 0));
    }
    drop(store);
    let store = open(&path);
    assert_eq!(keys(&store), [0]);
    assert_eq!(store.get(SPACE, &0_u64.to_be_bytes()).unwrap().unwrap(), value(0));
}

/// Bytes that look random.
fn value(key: u64) -> Vec<u8> {
    let mut state = key;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    (0..VALUE_BYTES).map(|_| next()).collect()
}

fn keys(store: &dyn OrderedKv) -> Vec<u64> {
    let mut cursor = store.cursor(SPACE, KeyBounds::all(), Direction::Forward).unwrap();
    let mut keys = Vec::new();
    while let Some((key, _)) = cursor.next().unwrap() {
        keys.push(u64::from_be_bytes(key.as_ref().try_into().unwrap()));
    }
    keys
}
