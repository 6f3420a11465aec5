//! What fjall's files take when keys are deleted.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;

use saltwing_fjall::{Access, FjallStore, OpenOptions};
use saltwing_store::{Direction, Durability, KeyBounds, OrderedKv, Space, WriteBatch, WriteStall};

const SPACE: Space = Space::new(5);

fn open(path: &Path) -> FjallStore {
    saltwing_fjall::open(path, OpenOptions { access: Access::Create, cache_bytes: 1 << 20, trace: None }).unwrap()
}

/// In memory where there is such a place.
fn home() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Bytes of all files that keep what was written, but for journals; they may go meanwhile.
fn disk(home: &Path) -> u64 {
    fn bytes_under(folder: &Path) -> u64 {
        let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
        let bytes = |entry: std::fs::DirEntry| match entry.metadata() {
            Ok(data) if data.is_dir() => bytes_under(&entry.path()),
            Ok(data) => data.len(),
            Err(_) => 0,
        };
        entries.flatten().map(bytes).sum()
    }
    bytes_under(&home.join("data").join("keyspaces"))
}

/// Numbers that look random.
fn numbers(mut state: u64) -> impl FnMut() -> u64 {
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    }
}

type Model = BTreeMap<u64, Vec<u8>>;

fn assert_holds(store: &dyn OrderedKv, model: &Model) {
    let mut cursor = store.cursor(SPACE, KeyBounds::all(), Direction::Forward).unwrap();
    for (key, value) in model {
        let (found_key, found) = cursor.next().unwrap().unwrap();
        assert_eq!(found_key, key.to_be_bytes().to_vec());
        assert!(found == *value, "key {key} has another value");
        assert!(store.get(SPACE, &key.to_be_bytes()).unwrap().unwrap() == *value);
    }
    assert!(cursor.next().unwrap().is_none());
}

/// Puts values of `bytes` under ascending keys, and deletes as many others at random; so many rounds of 50.
fn replace(store: &dyn OrderedKv, model: &mut Model, bytes: usize, rounds: u64, next: &mut impl FnMut() -> u64) {
    for _ in 0..rounds {
        let mut batch = WriteBatch::new();
        for _ in 0..50 {
            let key = model.last_key_value().map_or(0, |(key, _)| key + 1);
            let value: Vec<u8> = (0..bytes).map(|_| next() as u8).collect();
            batch.put(SPACE, key.to_be_bytes(), value.clone());
            model.insert(key, value);
            let dying = model.keys().copied().nth((next() % model.len() as u64) as usize).unwrap();
            // The newest stays, so that no key comes twice.
            if model.len() > 300 && dying != key {
                batch.delete(SPACE, dying.to_be_bytes());
                model.remove(&dying);
            }
        }
        store.write(batch, Durability::Buffered).unwrap();
    }
}

#[test]
fn the_disk_holds_at_most_twice_what_lives() {
    // Values that lie apart, and such that do not.
    for bytes in [8_000, 3_000] {
        let home = home();
        let (mut store, mut model, mut next) = (open(home.path()), Model::new(), numbers(bytes as u64));
        for round in 0..8 {
            replace(&store, &mut model, bytes, 4, &mut next);
            let (before, held) = (store.snapshot().unwrap(), model.clone());
            store.reclaim(WriteStall::Allowed).unwrap();
            assert_holds(&store, &model);
            // A snapshot sees what it saw, and holds no more than what was there.
            replace(&store, &mut model, bytes, 2, &mut next);
            store.reclaim(WriteStall::Allowed).unwrap();
            let key = *held.keys().next().unwrap();
            assert!(before.get(SPACE, &key.to_be_bytes()).unwrap().unwrap() == held[&key]);
            drop(before);
            if round % 4 == 3 {
                drop(store);
                store = open(home.path());
                assert_holds(&store, &model);
            }
        }
        replace(&store, &mut model, bytes, 2, &mut next);
        store.reclaim(WriteStall::Allowed).unwrap();
        let (disk, live) = (disk(home.path()), (model.len() * bytes) as u64);
        assert!(disk < 2 * live + (256 << 10), "{disk} bytes for {live} of values of {bytes}");
        assert_holds(&store, &model);
        // And a space of dead values gives nearly all back.
        let mut batch = WriteBatch::new();
        model.keys().for_each(|key| batch.delete(SPACE, key.to_be_bytes()));
        store.write(batch, Durability::Buffered).unwrap();
        store.reclaim(WriteStall::Allowed).unwrap();
        assert_holds(&store, &Model::new());
        assert!(self::disk(home.path()) < live / 8 + (128 << 10), "{} bytes for nothing", self::disk(home.path()));
    }
}

#[test]
fn little_is_left_alone() {
    let home = home();
    let (store, mut model) = (open(home.path()), Model::new());
    replace(&store, &mut model, 1_000, 4, &mut numbers(1));
    let before = disk(home.path());
    store.reclaim(WriteStall::Allowed).unwrap();
    assert_eq!(disk(home.path()), before);
}
