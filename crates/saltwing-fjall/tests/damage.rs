//! What a crash or a disk may do to fjall's files: each change of them is told of, or of no effect.
//!
//! The files of a killed process are copied from under an open store: what it has written is in the operating system's hands,
//! and nothing that it would do at its end has been done.

#![allow(clippy::panic, clippy::unwrap_used, reason = "these are tests")]

use std::fs;
use std::path::{Path, PathBuf};

use saltwing_fjall::{Access, FjallStore, OpenOptions};
use saltwing_store::{Direction, Durability, KeyBounds, OrderedKv, Space, StoreError, WriteBatch, WriteStall};

const SPACE: Space = Space::new(3);
/// Large values lie in files of their own.
const LARGE: Space = Space::new(5);
const JOURNAL: &str = "data/0.jnl";

fn open(path: &Path) -> Result<FjallStore, StoreError> {
    open_for(path, Access::Create)
}

fn open_for(path: &Path, access: Access) -> Result<FjallStore, StoreError> {
    saltwing_fjall::open(path, OpenOptions { access, cache_bytes: 1 << 20, trace: None })
}

fn home() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn put(store: &FjallStore, number: u64, bytes: usize, durability: Durability) {
    let mut batch = WriteBatch::new();
    batch.put(SPACE, number.to_be_bytes(), vec![number as u8; bytes]);
    store.write(batch, durability).unwrap();
}

fn put_synced(store: &FjallStore, numbers: std::ops::Range<u64>) {
    numbers.for_each(|number| put(store, number, 30, Durability::Synced));
}

/// Copies a database; a journal without the zeros at its end, which take room and time.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            let mut bytes = fs::read(entry.path()).unwrap();
            if target.extension().is_some_and(|extension| extension == "jnl") {
                bytes.truncate(bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1));
            }
            fs::write(target, bytes).unwrap();
        }
    }
}

fn keys(store: &FjallStore) -> Result<Vec<u64>, StoreError> {
    let mut cursor = store.cursor(SPACE, KeyBounds::all(), Direction::Forward)?;
    let mut keys = Vec::new();
    while let Some((key, value)) = cursor.next()? {
        let key = u64::from_be_bytes(key[..].try_into().unwrap());
        assert!(value.iter().all(|byte| *byte == key as u8), "the value of {key} is another one");
        keys.push(key);
    }
    Ok(keys)
}

/// The store's notices and keys in a copy of `base` in which `change` has changed a file; or the error.
fn changed(
    home: &Path,
    base: &Path,
    file: &str,
    change: impl FnOnce(&mut Vec<u8>),
) -> Result<(Vec<String>, Vec<u64>), StoreError> {
    let path = home.join("changed");
    let _ = fs::remove_dir_all(&path);
    copy(base, &path);
    let mut bytes = fs::read(path.join(file)).unwrap();
    change(&mut bytes);
    fs::write(path.join(file), &bytes).unwrap();
    let read = |store: FjallStore| Ok((store.notices().to_vec(), keys(&store)?));
    let seen = open_for(&path, Access::ReadOnly).and_then(read);
    assert_eq!(fs::read(path.join(file)).unwrap(), bytes, "{file} was changed by a reader");
    assert!(!path.join("TORN").exists() || base.join("TORN").exists());
    let outcome = open(&path).and_then(read);
    assert_seen_alike(&seen, &outcome);
    if outcome.is_err() {
        assert!(!path.join("TORN").read_dir().is_ok_and(|mut copies| copies.next().is_some()));
        assert_eq!(
            fs::read(path.join(file)).unwrap(),
            bytes,
            "{file} was changed, and opening was refused all the same"
        );
    }
    outcome
}

/// A reader finds what a writer does, and is told of the same.
fn assert_seen_alike(
    seen: &Result<(Vec<String>, Vec<u64>), StoreError>,
    outcome: &Result<(Vec<String>, Vec<u64>), StoreError>,
) {
    match (seen, outcome) {
        (Ok((notices, keys)), Ok((told, found))) => {
            assert_eq!((keys, notices.len()), (found, told.len()), "{notices:?}, {told:?}");
        }
        (Err(refused), Err(error)) => assert_eq!(refused.to_string(), error.to_string()),
        other => panic!("{other:?}"),
    }
}

/// A database whose writer was killed, of so many acknowledged commits.
fn killed(home: &Path, commits: u64) -> PathBuf {
    let (live, base) = (home.join("live"), home.join("base"));
    let store = open(&live).unwrap();
    put_synced(&store, 0..commits);
    copy(&live, &base);
    base
}

#[test]
fn a_torn_last_batch_is_cut_off() {
    let home = home();
    let (live, base) = (home.path().join("live"), home.path().join("base"));
    let store = open(&live).unwrap();
    put_synced(&store, 0..40);
    let acknowledged = fs::read(live.join("WATERMARK")).unwrap();
    put(&store, 40, 30_000, Durability::Synced);
    copy(&live, &base);
    // Power was lost before the sync: the last batch was acknowledged to nobody.
    fs::write(base.join("WATERMARK"), acknowledged).unwrap();
    let length = fs::read(base.join(JOURNAL)).unwrap().len();
    for page in (length - 30_000) / 4096..=(length - 1) / 4096 {
        let zeroed = changed(home.path(), &base, JOURNAL, |bytes| {
            let end = bytes.len().min((page + 1) * 4096);
            // What stands in the same page before the batch was synced.
            let start = (page * 4096).max(length - 30_100);
            bytes[start..end].fill(0);
        });
        let (notices, keys) = zeroed.unwrap();
        assert_eq!(keys, (0..40).collect::<Vec<_>>(), "page {page}");
        assert!(notices[0].contains("0.jnl from byte"), "{notices:?}");
        assert_eq!(home.path().join("changed/TORN").read_dir().unwrap().count(), 1);
        // Once: what was cut is gone.
        let again = open(&home.path().join("changed")).unwrap();
        assert!(again.notices().is_empty());
        put_synced(&again, 40..42);
    }
}

#[test]
fn the_same_damage_to_an_acknowledged_batch_is_refused() {
    let home = home();
    let base = killed(home.path(), 40);
    let error = changed(home.path(), &base, JOURNAL, |bytes| {
        let length = bytes.len();
        bytes[length - 60..length - 40].fill(0);
    });
    let told = error.unwrap_err().to_string();
    for part in ["0.jnl", "at byte", "in commit 40", "commits up to 40 were acknowledged", "salvage"] {
        assert!(told.contains(part), "{told}");
    }
}

#[test]
fn no_flipped_bit_of_a_journal_takes_rows_in_silence() {
    let home = home();
    let base = killed(home.path(), 12);
    let length = fs::read(base.join(JOURNAL)).unwrap().len();
    let mut refused = 0;
    for at in 0..length {
        let bit = at % 8;
        match changed(home.path(), &base, JOURNAL, |bytes| bytes[at] ^= 1 << bit) {
            Ok((_, keys)) => assert_eq!(keys, (0..12).collect::<Vec<_>>(), "bit {bit} of byte {at}"),
            Err(error) => {
                assert_eq!(error.code(), "corrupt", "{error}");
                refused += 1;
            }
        }
    }
    assert!(refused * 10 > length * 9, "{refused} of {length}");
}

#[test]
fn a_journal_that_was_cut_short_is_refused() {
    let home = home();
    let base = killed(home.path(), 12);
    let length = fs::read(base.join(JOURNAL)).unwrap().len();
    for at in (0..length).step_by(3) {
        let error = changed(home.path(), &base, JOURNAL, |bytes| bytes.truncate(at)).unwrap_err();
        assert_eq!(error.code(), "corrupt", "cut at {at}: {error}");
    }
}

#[test]
fn unsynced_batches_that_a_crash_has_torn_go_together() {
    let home = home();
    let (live, base) = (home.path().join("live"), home.path().join("base"));
    let store = open(&live).unwrap();
    put_synced(&store, 0..5);
    let start = fs::read(live.join(JOURNAL)).unwrap().iter().rposition(|byte| *byte != 0).unwrap() + 1;
    (5..9).for_each(|number| put(&store, number, 30, Durability::Buffered));
    copy(&live, &base);
    let (notices, keys) = changed(home.path(), &base, JOURNAL, |bytes| bytes[start + 3..start + 20].fill(0)).unwrap();
    assert_eq!(keys, (0..5).collect::<Vec<_>>());
    assert_eq!(notices.len(), 1);
}

#[test]
fn no_damage_to_a_list_of_tables_reaches_fjall() {
    let home = home();
    let (live, base) = (home.path().join("live"), home.path().join("base"));
    let store = open(&live).unwrap();
    put_synced(&store, 0..12);
    let mut batch = WriteBatch::new();
    batch.put(LARGE, b"large", vec![7; 10_000]);
    store.write(batch, Durability::Synced).unwrap();
    store.close().unwrap();
    copy(&live, &base);
    let mut lists = 0;
    for keyspace in fs::read_dir(base.join("data/keyspaces")).unwrap().map(|entry| entry.unwrap().path()) {
        let current = fs::read(keyspace.join("current")).unwrap();
        let list = format!("v{}", u64::from_le_bytes(current[..8].try_into().unwrap()));
        for name in ["current", &list] {
            let file = keyspace.join(name).strip_prefix(&base).unwrap().to_str().unwrap().to_owned();
            lists += 1;
            for at in (0..fs::read(base.join(&file)).unwrap().len()).step_by(5) {
                let error = changed(home.path(), &base, &file, |bytes| bytes[at] ^= 1 << (at % 8)).unwrap_err();
                assert!(["corrupt", "io"].contains(&error.code()), "byte {at} of {file}: {error}");
            }
            changed(home.path(), &base, &file, |bytes| bytes.truncate(bytes.len() / 2)).unwrap_err();
            changed(home.path(), &base, &file, Vec::clear).unwrap_err();
        }
    }
    assert!(lists >= 6, "{lists}");
}

#[test]
fn after_a_close_nobody_needs_the_journal() {
    let home = home();
    let (live, base) = (home.path().join("live"), home.path().join("base"));
    let store = open(&live).unwrap();
    put_synced(&store, 0..12);
    store.close().unwrap();
    copy(&live, &base);
    let length = fs::read(base.join(JOURNAL)).unwrap().len();
    for at in (0..length).step_by(7) {
        let (_, keys) = changed(home.path(), &base, JOURNAL, |bytes| bytes[at] ^= 1 << (at % 8)).unwrap();
        assert_eq!(keys, (0..12).collect::<Vec<_>>(), "byte {at}");
        let (_, keys) = changed(home.path(), &base, JOURNAL, |bytes| bytes.truncate(at)).unwrap();
        assert_eq!(keys, (0..12).collect::<Vec<_>>(), "cut at {at}");
    }
    let path = home.path().join("changed");
    fs::remove_file(path.join(JOURNAL)).unwrap();
    let store = open(&path).unwrap();
    assert!(store.notices()[0].contains("is missing"));
    put(&store, 3, 40, Durability::Synced);
    assert_eq!(store.get(SPACE, &3_u64.to_be_bytes()).unwrap().unwrap().len(), 40);
    drop(store);
    // What is written then is held to its number again.
    let store = open(&home.path().join("changed")).unwrap();
    put_synced(&store, 12..15);
    drop(store);
    assert_eq!(keys(&open(&home.path().join("changed")).unwrap()).unwrap(), (0..15).collect::<Vec<_>>());
}

#[test]
fn a_watermark_that_is_damaged_or_missing_is_made_anew() {
    let home = home();
    let base = killed(home.path(), 5);
    let (notices, keys) = changed(home.path(), &base, "WATERMARK", Vec::clear).unwrap();
    assert_eq!(keys, (0..5).collect::<Vec<_>>());
    assert!(notices[0].contains("WATERMARK"), "{notices:?}");
    assert!(open(&home.path().join("changed")).unwrap().notices().is_empty());
    fs::remove_file(base.join("WATERMARK")).unwrap();
    assert_eq!(self::keys(&open(&base).unwrap()).unwrap(), (0..5).collect::<Vec<_>>());
}

/// Tables never have what the journal on the disk has not: after a power cut they would hold parts of batches.
#[test]
fn the_journal_is_synced_before_memory_is_written_out() {
    let home = home();
    let store = open(&home.path().join("db")).unwrap();
    for number in 0..20_u64 {
        let mut batch = WriteBatch::new();
        batch.put(LARGE, number.to_be_bytes(), vec![7; 20_000]);
        store.write(batch, Durability::Buffered).unwrap();
    }
    let on_disk = || saltwing_store::watermark::read(&home.path().join("db")).unwrap().marks().acknowledged;
    assert_eq!(on_disk(), 0);
    store.reclaim(WriteStall::Allowed).unwrap();
    assert_eq!(on_disk(), 20);
}

/// A cleared space is dropped as a whole; numbers go on all the same.
#[test]
fn numbers_survive_a_clear() {
    let home = home();
    let path = home.path().join("db");
    for round in 0..3 {
        let store = open(&path).unwrap();
        assert!(store.notices().is_empty(), "{:?}", store.notices());
        let mut batch = WriteBatch::new();
        (0..17_000_u64).for_each(|number| batch.put(SPACE, number.to_be_bytes(), [number as u8; 20]));
        store.write(batch, Durability::Buffered).unwrap();
        store.clear(SPACE).unwrap();
        put_synced(&store, 0..round);
        let base = home.path().join(format!("base{round}"));
        copy(&path, &base);
        assert_eq!(keys(&open(&base).unwrap()).unwrap(), (0..round).collect::<Vec<_>>());
    }
}

/// The numbers that a salvage finds, and what it has left out.
fn salvaged(path: &Path) -> Result<(Vec<u64>, Vec<String>), StoreError> {
    let store = open_for(path, Access::Salvage)?;
    let told = store.left_out().iter().map(|left| format!("{}, {}: {}", left.file, left.place, left.what));
    Ok((keys(&store)?, told.collect()))
}

#[test]
fn a_salvage_reads_around_the_damage_of_a_journal() {
    let home = home();
    let base = killed(home.path(), 40);
    assert_eq!(salvaged(&base).unwrap(), ((0..40).collect(), Vec::new()));
    let whole = fs::read(base.join(JOURNAL)).unwrap();
    let path = home.path().join("changed");
    for at in (0..whole.len()).step_by(197) {
        let _ = fs::remove_dir_all(&path);
        copy(&base, &path);
        let mut bytes = whole.clone();
        bytes[at] ^= 0x20;
        fs::write(path.join(JOURNAL), &bytes).unwrap();
        let (found, told) = salvaged(&path).unwrap();
        assert!(found.len() >= 39 && found.is_sorted() && found.iter().all(|key| *key < 40), "{at}: {found:?}");
        assert!(found.len() == 40 || told.len() == 1 && told[0].starts_with(JOURNAL), "{at}: {told:?}");
        assert_eq!(fs::read(path.join(JOURNAL)).unwrap(), bytes);
        assert!(!path.join("TORN").exists());
    }
}

/// Every byte of a table is damaged in turn: a refused opening names the file, and a salvage has all other tables.
#[test]
fn a_salvage_leaves_a_damaged_table_out() {
    let home = home();
    let (base, path) = (home.path().join("base"), home.path().join("changed"));
    let store = open(&base).unwrap();
    put_synced(&store, 0..40);
    let mut batch = WriteBatch::new();
    batch.put(Space::new(9), b"key".to_vec(), vec![1; 30]);
    store.write(batch, Durability::Synced).unwrap();
    store.close().unwrap();
    drop(store);
    let tables = |keyspace: u8| {
        let folder = base.join(format!("data/keyspaces/{keyspace}/tables"));
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    // The keyspace of SPACE is the only one of this size.
    let table = (1..4).flat_map(tables).max_by_key(|table| fs::metadata(table).unwrap().len()).unwrap();
    let name = table.strip_prefix(&base).unwrap().to_path_buf();
    let whole = fs::read(&table).unwrap();
    let (mut refused, mut left_out) = (0, 0);
    for at in (0..whole.len()).step_by(41) {
        let _ = fs::remove_dir_all(&path);
        copy(&base, &path);
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        fs::write(path.join(&name), &bytes).unwrap();
        if let Err(error) = open_for(&path, Access::ReadOnly) {
            refused += 1;
            assert!(error.to_string().contains(name.to_str().unwrap()), "{at}: {error}");
        }
        let store = open_for(&path, Access::Salvage).unwrap();
        assert!(store.get(Space::new(9), b"key").unwrap().is_some(), "{at}");
        let told = store.left_out();
        left_out += told.len();
        assert!(told.iter().all(|left| Path::new(&left.file) == name), "{at}: {told:?}");
        if let Ok(found) = keys(&store) {
            assert!(found.len() == 40 || found.is_empty() && told.len() == 1, "{at}: {found:?}");
        }
        assert_eq!(fs::read(path.join(&name)).unwrap(), bytes);
    }
    assert!(refused > 0 && left_out >= refused, "{refused} {left_out}");
}
