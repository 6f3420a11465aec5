//! The edges that random steps don't come to: limits, refusals, several threads.

use std::sync::Arc;

use crate::{BATCH_BYTES_MAX, Bytes, Direction, Durability, KeyBounds, OrderedKv, Space, StoreError, WriteBatch};

const A: Space = Space::new(0);
const B: Space = Space::new(u8::MAX);

pub(super) fn run<O>(fresh: &impl Fn() -> O)
where
    O: Fn() -> Arc<dyn OrderedKv>,
{
    let open = fresh();
    let store = open();
    refusals_change_nothing(&*store);
    the_last_mutation_of_a_key_counts(&*store);
    keys_up_to_the_limit(&*store);
    many_entries(&*store);
    drop(store);
    // Including the batches that the journal replays.
    let store = open();
    assert_eq!(store.get(A, b"twice").unwrap().unwrap(), b"second");
    assert_eq!(store.get(A, b"gone").unwrap(), None);
    many_entries_are_there(&*store);
    drop(store);

    let open = fresh();
    a_cleared_space_is_empty(&open);
    let open = fresh();
    writers_at_the_same_time(open());
    let open = fresh();
    let store = open();
    if store.capabilities().snapshots {
        batches_are_seen_whole(store);
    }
}

fn refusals_change_nothing(store: &dyn OrderedKv) {
    let max = store.capabilities().key_bytes_max;
    let with = |key: &[u8]| {
        let mut batch = WriteBatch::new();
        batch.put(A, b"innocent", b"value");
        batch.put(A, key, b"value");
        batch
    };
    let empty = store.write(with(b""), Durability::Buffered);
    assert!(matches!(empty, Err(StoreError::EmptyKey)), "{empty:?}");
    let long = store.write(with(&vec![1; max + 1]), Durability::Synced);
    assert!(
        matches!(&long, Err(StoreError::KeyTooLong { len, max: limit }) if *len == max + 1 && *limit == max),
        "{long:?}"
    );
    let mut large = WriteBatch::new();
    let value = Bytes::from(vec![0; 1 << 20]);
    for key in 0..=(BATCH_BYTES_MAX >> 20) as u64 {
        large.put(A, key.to_be_bytes(), value.clone());
    }
    let large = store.write(large, Durability::Buffered);
    assert!(matches!(large, Err(StoreError::BatchTooLarge { .. })), "{large:?}");
    assert_eq!(store.get(A, b"innocent").unwrap(), None);
    assert_eq!(store.get(A, b"").unwrap(), None);
    assert_eq!(store.get(A, &vec![1; max + 1]).unwrap(), None);
    store.write(WriteBatch::new(), Durability::Buffered).unwrap();
    store.write(WriteBatch::new(), Durability::Synced).unwrap();
}

fn the_last_mutation_of_a_key_counts(store: &dyn OrderedKv) {
    let mut batch = WriteBatch::new();
    batch.put(A, b"twice", b"first");
    batch.delete(A, b"twice");
    batch.put(A, b"twice", b"second");
    batch.put(A, b"gone", b"soon");
    batch.delete(A, b"gone");
    batch.delete(A, b"never there");
    store.write(batch, Durability::Buffered).unwrap();
    assert_eq!(store.get(A, b"twice").unwrap().unwrap(), b"second");
    assert_eq!(store.get(A, b"gone").unwrap(), None);
    assert_eq!(entries(store, A, KeyBounds::all(), Direction::Reverse).len(), 1);
}

/// The longest key, bounds beyond it, and seeks beyond it.
fn keys_up_to_the_limit(store: &dyn OrderedKv) {
    let max = store.capabilities().key_bytes_max;
    let longest = vec![7; max];
    let too_long = vec![7; max + 10];
    let mut batch = WriteBatch::new();
    for key in [&longest[..max - 1], &longest[..], &[8]] {
        batch.put(B, key, b"value");
    }
    store.write(batch, Durability::Synced).unwrap();
    assert_eq!(store.get(B, &longest).unwrap().unwrap(), b"value");
    let count = |start: &[u8], end: Option<&[u8]>, direction| {
        entries(store, B, KeyBounds::new(start, end.map(<[u8]>::to_vec)), direction).len()
    };
    for direction in [Direction::Forward, Direction::Reverse] {
        assert_eq!(count(&[], None, direction), 3);
        assert_eq!(count(&longest, None, direction), 2);
        assert_eq!(count(&too_long, None, direction), 1);
        assert_eq!(count(&[], Some(&longest), direction), 1);
        assert_eq!(count(&[], Some(&too_long), direction), 2);
        assert_eq!(count(&too_long, Some(&longest), direction), 0);
    }
    for (direction, expected) in [(Direction::Forward, &[8][..]), (Direction::Reverse, &longest[..])] {
        let mut cursor = store.cursor(B, KeyBounds::all(), direction).unwrap();
        cursor.seek(&too_long).unwrap();
        assert_eq!(cursor.next().unwrap().unwrap().0, expected);
    }
}

/// More than any chunk, page or block holds.
fn many_entries(store: &dyn OrderedKv) {
    for part in 0..20_u32 {
        let mut batch = WriteBatch::new();
        for number in part * 100..(part + 1) * 100 {
            batch.put(Space::new(9), number.to_be_bytes(), vec![number as u8; 50]);
        }
        store.write(batch, Durability::Buffered).unwrap();
    }
    many_entries_are_there(store);
}

fn many_entries_are_there(store: &dyn OrderedKv) {
    let forward = entries(store, Space::new(9), KeyBounds::all(), Direction::Forward);
    assert!(forward.iter().map(|(key, _)| key.to_vec()).eq((0..2_000_u32).map(|n| n.to_be_bytes().to_vec())));
    let mut reverse = entries(store, Space::new(9), KeyBounds::all(), Direction::Reverse);
    reverse.reverse();
    assert_eq!(forward, reverse);
    // A skip scan: every 97th, both ways.
    let mut up = store.cursor(Space::new(9), KeyBounds::all(), Direction::Forward).unwrap();
    let mut down = store.cursor(Space::new(9), KeyBounds::all(), Direction::Reverse).unwrap();
    for number in (0..2_000_u32).step_by(97) {
        up.seek(&number.to_be_bytes()).unwrap();
        assert_eq!(up.next().unwrap().unwrap().0, &number.to_be_bytes());
        down.seek(&(1_999 - number).to_be_bytes()).unwrap();
        assert_eq!(down.next().unwrap().unwrap().0, &(1_999 - number).to_be_bytes());
    }
}

/// Few keys and many, seen from before, written to again, and after opening again.
fn a_cleared_space_is_empty(open: &impl Fn() -> Arc<dyn OrderedKv>) {
    let keys = |store: &dyn OrderedKv, space| entries(store, space, KeyBounds::all(), Direction::Forward).len();
    let fill = |store: &dyn OrderedKv, count: u32| {
        for first in (0..count).step_by(500) {
            let mut batch = WriteBatch::new();
            for number in first..count.min(first + 500) {
                batch.put(A, number.to_be_bytes(), vec![number as u8; 50]);
                batch.put(B, number.to_be_bytes(), b"stays");
            }
            store.write(batch, Durability::Buffered).unwrap();
        }
    };
    for count in [7_u32, 3_000] {
        let store = open();
        store.clear(Space::new(77)).unwrap();
        fill(&*store, count);
        let before = store.capabilities().snapshots.then(|| {
            let mut cursor = store.cursor(A, KeyBounds::all(), Direction::Forward).unwrap();
            cursor.next().unwrap();
            (cursor, store.snapshot().unwrap())
        });
        store.clear(A).unwrap();
        assert_eq!((keys(&*store, A), keys(&*store, B)), (0, count as usize));
        assert_eq!(store.get(A, &0_u32.to_be_bytes()).unwrap(), None);
        let mut batch = WriteBatch::new();
        batch.put(A, b"new", b"value");
        store.write(batch, Durability::Buffered).unwrap();
        if let Some((mut cursor, snapshot)) = before {
            let rest = std::iter::from_fn(|| cursor.next().unwrap()).count();
            assert_eq!(rest + 1, count as usize, "a cursor sees one snapshot");
            let mut cursor = snapshot.cursor(A, KeyBounds::all(), Direction::Reverse).unwrap();
            assert_eq!(std::iter::from_fn(|| cursor.next().unwrap()).count(), count as usize);
            assert!(snapshot.get(A, &1_u32.to_be_bytes()).unwrap().is_some());
            assert!(snapshot.get(A, b"new").unwrap().is_none());
        }
        drop(store);
        let store = open();
        assert_eq!((keys(&*store, A), keys(&*store, B)), (1, count as usize));
        assert_eq!(store.get(A, b"new").unwrap().unwrap(), b"value");
        fill(&*store, count);
        store.close().unwrap();
        store.clear(A).unwrap();
        store.clear(A).unwrap();
        drop(store);
        let store = open();
        assert_eq!((keys(&*store, A), keys(&*store, B)), (0, count as usize));
        store.clear(B).unwrap();
    }
}

/// Synced writers share syncs, and none loses its write.
fn writers_at_the_same_time(store: Arc<dyn OrderedKv>) {
    std::thread::scope(|scope| {
        for writer in 0..4_u8 {
            let store = &store;
            scope.spawn(move || {
                for number in 0..10_u8 {
                    let mut batch = WriteBatch::new();
                    batch.put(A, [writer, number], [number]);
                    batch.put(B, [writer, number], [number]);
                    store.write(batch, Durability::Synced).unwrap();
                    assert_eq!(store.get(B, &[writer, number]).unwrap().unwrap(), &[number]);
                }
            });
        }
    });
    for space in [A, B] {
        assert_eq!(entries(&*store, space, KeyBounds::all(), Direction::Forward).len(), 40);
    }
}

/// A snapshot never sees a part of a batch, nor does a cursor.
fn batches_are_seen_whole(store: Arc<dyn OrderedKv>) {
    const ROUNDS: u64 = 300;
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 1..=ROUNDS {
                let mut batch = WriteBatch::new();
                for key in 0..10_u8 {
                    batch.put(A, [key], round.to_be_bytes());
                    batch.put(B, [key], round.to_be_bytes());
                }
                store.write(batch, Durability::Buffered).unwrap();
            }
        });
        while !writer.is_finished() {
            let snapshot = store.snapshot().unwrap();
            let seen = snapshot.get(A, &[0]).unwrap();
            for (space, direction) in [(B, Direction::Forward), (A, Direction::Reverse)] {
                let mut cursor = snapshot.cursor(space, KeyBounds::all(), direction).unwrap();
                while let Some((_, value)) = cursor.next().unwrap() {
                    assert_eq!(Some(value), seen);
                }
            }
            let mut values = entries(&*store, A, KeyBounds::all(), Direction::Forward);
            values.dedup_by(|(_, a), (_, b)| a == b);
            assert!(values.len() <= 1, "{values:?}");
        }
    });
}

fn entries(store: &dyn OrderedKv, space: Space, bounds: KeyBounds, direction: Direction) -> Vec<(Bytes, Bytes)> {
    let mut cursor = store.cursor(space, bounds, direction).unwrap();
    std::iter::from_fn(|| cursor.next().unwrap()).collect()
}
