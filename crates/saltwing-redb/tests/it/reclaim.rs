//! What the file takes when keys are deleted.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use saltwing_redb::{Access, OpenOptions, RedbStore};
use saltwing_store::{Direction, Durability, KeyBounds, OrderedKv, Space, WriteBatch, WriteStall};

const SPACE: Space = Space::new(5);

fn open(path: &Path) -> RedbStore {
    saltwing_redb::open(path, OpenOptions { access: Access::Create, cache_bytes: 1 << 20, trace: None }).unwrap()
}

/// In memory where there is such a place.
fn home() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Bytes that the file of pages takes; what was never written of it takes nothing.
fn disk(home: &Path) -> u64 {
    std::fs::metadata(home.join("data").join("pages")).unwrap().blocks() * 512
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
fn the_disk_holds_at_most_three_times_what_lives() {
    // Values of one piece and of several.
    for bytes in [30_000, 8_000, 3_000] {
        let home = home();
        let (mut store, mut model, mut next) = (open(home.path()), Model::new(), numbers(bytes as u64));
        for round in 0..8 {
            replace(&store, &mut model, bytes, 4, &mut next);
            let (before, held) = (store.snapshot().unwrap(), model.clone());
            store.reclaim(WriteStall::Allowed).unwrap();
            assert_holds(&store, &model);
            // A snapshot sees what it saw.
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
        assert!(disk < 3 * live + (1 << 20), "{disk} bytes for {live} of values of {bytes}");
        assert_holds(&store, &model);
        // And a space of dead values gives nearly all back.
        let mut batch = WriteBatch::new();
        model.keys().for_each(|key| batch.delete(SPACE, key.to_be_bytes()));
        store.write(batch, Durability::Buffered).unwrap();
        store.reclaim(WriteStall::Allowed).unwrap();
        assert_holds(&store, &Model::new());
        assert!(self::disk(home.path()) < 2 << 20, "{} bytes for nothing", self::disk(home.path()));
    }
}

#[test]
fn a_file_of_some_dead_data_stays_while_others_write() {
    const BYTES: usize = 8_000;
    let home = home();
    let (store, mut model) = (open(home.path()), Model::new());
    replace(&store, &mut model, BYTES, 20, &mut numbers(7));
    let mut shrink_to = |keys: usize, stall: WriteStall| {
        let mut batch = WriteBatch::new();
        while model.len() > keys {
            model.pop_first().iter().for_each(|(key, _)| batch.delete(SPACE, key.to_be_bytes()));
        }
        store.write(batch, Durability::Buffered).unwrap();
        store.reclaim(stall).unwrap();
        assert_holds(&store, &model);
        (disk(home.path()), (model.len() * BYTES) as u64)
    };
    let (full, _) = shrink_to(300, WriteStall::Avoided);
    let (busy, live) = shrink_to(120, WriteStall::Avoided);
    assert!(busy >= full && busy > 2 * live + (1 << 20), "{busy} bytes of {full} for {live}");
    let (quiet, _) = shrink_to(120, WriteStall::Allowed);
    assert!(quiet < 2 * live + (1 << 20), "{quiet} bytes for {live}");
    let (_, live) = shrink_to(1, WriteStall::Avoided);
    let (dead, _) = shrink_to(1, WriteStall::Avoided);
    assert!(dead < 4 * live + (2 << 20), "{dead} bytes for {live}");
}

/// Writers would wait for as long as it takes to move the data that lives.
#[test]
fn a_file_of_much_live_data_is_compacted_when_nobody_writes() {
    const BYTES: usize = 80_000;
    let home = home();
    let (store, mut model) = (open(home.path()), Model::new());
    for key in 0..1_400_u64 {
        let mut batch = WriteBatch::new();
        let value = vec![key as u8; BYTES];
        batch.put(SPACE, key.to_be_bytes(), value.clone());
        store.write(batch, Durability::Buffered).unwrap();
        model.insert(key, value);
    }
    let mut batch = WriteBatch::new();
    while model.len() > 250 {
        model.pop_first().iter().for_each(|(key, _)| batch.delete(SPACE, key.to_be_bytes()));
    }
    store.write(batch, Durability::Buffered).unwrap();
    let [busy, quiet] = [WriteStall::Avoided, WriteStall::Allowed].map(|stall| {
        store.reclaim(stall).unwrap();
        disk(home.path()) / (model.len() * BYTES) as u64
    });
    assert!(busy >= 5 && quiet <= 2, "{busy} and {quiet} times the live bytes");
    assert_holds(&store, &model);
}

/// The end of a round is short where many writers wait for it, and rare where one writer writes much at once.
#[test]
fn a_round_of_many_small_batches_is_short() {
    const MIB: u64 = 1 << 20;
    let home = home();
    let store = open(home.path());
    let mut next = 0_u64;
    let mut checkpoints_of = |total: u64, batch_bytes: u64| {
        let before = store.checkpoints().count;
        for _ in 0..total / batch_bytes {
            let mut batch = WriteBatch::new();
            for _ in 0..batch_bytes / 1024 {
                next += 1;
                batch.put(SPACE, (next % 5_000).to_be_bytes(), vec![7; 1000]);
            }
            store.write(batch, Durability::Buffered).unwrap();
        }
        store.checkpoints().count - before
    };
    assert_eq!(checkpoints_of(33 * MIB, 4096), 4, "8 MiB each");
    assert_eq!(checkpoints_of(100 * MIB, MIB), 1, "64 MiB");
    store.close().unwrap();
    assert!(store.checkpoints().longest.as_nanos() > 0);
}

/// Values that come to have more pieces, fewer, and none.
#[test]
fn a_value_of_another_length_leaves_nothing_of_the_one_before() {
    let home = home();
    let store = open(home.path());
    for bytes in [0, 5_000, 60_000, 3_000, 30_000, 9_000, 0, 100_000] {
        let value: Vec<u8> = (0..bytes).map(|n| (n % 249) as u8).collect();
        let mut batch = WriteBatch::new();
        batch.put(SPACE, b"key", value.clone());
        batch.put(SPACE, vec![7; 300], value.clone());
        store.write(batch, Durability::Buffered).unwrap();
        for key in [&b"key"[..], &[7; 300]] {
            assert!(store.get(SPACE, key).unwrap().unwrap() == value);
        }
        let mut cursor = store.cursor(SPACE, KeyBounds::all(), Direction::Reverse).unwrap();
        for _ in 0..2 {
            assert!(cursor.next().unwrap().unwrap().1 == value);
        }
        assert!(cursor.next().unwrap().is_none());
    }
}
