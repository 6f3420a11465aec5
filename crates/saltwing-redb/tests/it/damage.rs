//! Damaged files: a bit, a page, a cut. Each is an error or of no effect: never a missing batch, never another value.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use saltwing_redb::{Access, OpenOptions, RedbStore};
use saltwing_store::{Direction, Durability, KeyBounds, OrderedKv, Space, StoreError, WriteBatch};

const SPACES: [Space; 3] = [Space::new(2), Space::new(5), Space::new(6)];
const PAGE: usize = 4096;
const PAGES: &str = "data/pages";
const JOURNAL: &str = "data/journal";
const COPIES: &str = "data/copies";
/// Damages of each kind to each file.
const TRIALS: usize = 12;

type Content = BTreeMap<(u8, Vec<u8>), Vec<u8>>;

fn open(path: &Path, access: Access) -> Result<RedbStore, StoreError> {
    saltwing_redb::open(path, OpenOptions { access, cache_bytes: 1 << 20, trace: None })
}

/// Numbers that look random.
fn numbers(mut state: u64) -> impl FnMut() -> usize {
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    }
}

/// Synced batches of small and large values, with some that go again.
fn write(store: &RedbStore, content: &mut Content, batches: std::ops::Range<u64>) {
    for number in batches {
        let mut batch = WriteBatch::new();
        for (space, bytes) in SPACES.into_iter().zip([100, 3_000, 11_000]) {
            let (key, value) = (number.to_be_bytes(), vec![number as u8; bytes + number as usize]);
            batch.put(space, key, value.clone());
            content.insert((space.id(), key.to_vec()), value);
            if let Some(old) = number.checked_sub(9).filter(|old| old % 3 > 0) {
                batch.delete(space, old.to_be_bytes());
                content.remove(&(space.id(), old.to_be_bytes().to_vec()));
            }
        }
        store.write(batch, Durability::Synced).unwrap();
    }
}

fn read(path: &Path, access: Access) -> Result<Content, StoreError> {
    let store = open(path, access)?;
    let mut content = Content::new();
    for space in SPACES {
        let mut cursor = store.cursor(space, KeyBounds::all(), Direction::Forward)?;
        while let Some((key, value)) = cursor.next()? {
            content.insert((space.id(), key.to_vec()), value.to_vec());
        }
    }
    for ((space, key), value) in &content {
        assert_eq!(store.get(Space::new(*space), key)?.map(|found| found.to_vec()).as_ref(), Some(value));
    }
    Ok(content)
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to.join("data")).unwrap();
    for name in ["SALTWING", "LOCK", "WATERMARK", PAGES, JOURNAL, COPIES] {
        fs::copy(from.join(name), to.join(name)).unwrap();
    }
}

fn damaged(good: &[u8], kind: &str, next: &mut impl FnMut() -> usize) -> Vec<u8> {
    let mut bad = good.to_vec();
    // What was never written is zeros.
    let used: Vec<usize> =
        (0..good.len()).step_by(PAGE).filter(|at| good[*at..].iter().take(PAGE).any(|b| *b > 0)).collect();
    let page = used[next() % used.len()];
    let at = page + next() % PAGE.min(good.len() - page);
    match kind {
        "bit" => bad[at] ^= 1 << (next() % 8),
        "page" => bad[page..].iter_mut().take(PAGE).for_each(|byte| *byte = 0),
        _ => bad.truncate(at),
    }
    bad
}

/// Damages each file of an image; how many damages were errors, of how many.
fn holds(image: &Path, place: &Path, expected: &Content) -> BTreeMap<&'static str, (usize, usize)> {
    let (mut next, mut outcomes) = (numbers(7), BTreeMap::new());
    for name in [PAGES, JOURNAL, COPIES, "WATERMARK"] {
        let good = fs::read(image.join(name)).unwrap();
        if good.is_empty() {
            continue;
        }
        for kind in ["bit", "page", "cut"] {
            for _ in 0..TRIALS {
                copy(image, place);
                let bad = damaged(&good, kind, &mut next);
                fs::write(place.join(name), &bad).unwrap();
                let seen = read(place, Access::ReadOnly);
                assert!(fs::read(place.join(name)).unwrap() == bad, "{name} was changed by a reader");
                let (errors, all): &mut (usize, usize) = outcomes.entry(name).or_default();
                *all += 1;
                match read(place, Access::Existing) {
                    Ok(found) => {
                        assert!(found == *expected, "{kind} in {name}: {} of {}", found.len(), expected.len());
                        assert!(seen.unwrap() == found, "{kind} in {name}: a reader sees other rows");
                    }
                    Err(error) => {
                        assert_eq!(seen.map_or_else(|seen| seen.to_string(), |_| String::new()), error.to_string());
                        assert!(["corrupt", "io"].contains(&error.code()), "{kind} in {name}: {error:?}");
                        *errors += 1;
                    }
                }
            }
        }
    }
    outcomes
}

#[test]
fn no_damage_is_silent() {
    let home = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let [path, image, place] = ["db", "image", "place"].map(|name| home.path().join(name));
    let options = OpenOptions { access: Access::Create, cache_bytes: 1 << 20, trace: None };
    let store = saltwing_redb::open(&path, options).unwrap();
    let mut content = Content::new();
    write(&store, &mut content, 0..60);
    store.close().unwrap();
    copy(&path, &image);
    assert!(read(&image, Access::ReadOnly).unwrap() == content);
    assert!(read(&image, Access::Existing).unwrap() == content);
    copy(&path, &image);
    let closed = holds(&image, &place, &content);
    // After a close the journal is empty, and no other file records what it should have.
    assert!(!closed.contains_key(JOURNAL), "{closed:?}");
    assert!(closed[PAGES].0 > 0);
    // As a killed process leaves it: what came since is in the journal.
    write(&store, &mut content, 60..100);
    copy(&path, &image);
    drop(store);
    let killed = holds(&image, &place, &content);
    assert!(killed[PAGES].0 > 0 && killed[JOURNAL].0 > TRIALS, "{killed:?}");
    // They help where other files are damaged.
    assert_eq!((closed[COPIES].0, killed[COPIES].0), (0, 0));
    // It only guards the journal.
    assert_eq!((closed["WATERMARK"].0, killed["WATERMARK"].0), (0, 0));
}

/// Two unacknowledged batches of one length: a power cut takes the first one's header, and leaves the second.
fn torn(image: &Path) -> usize {
    let live = image.with_extension("live");
    let options = OpenOptions { access: Access::Create, cache_bytes: 1 << 20, trace: None };
    let store = saltwing_redb::open(&live, options).unwrap();
    ["first", "second"].into_iter().for_each(|key| put(&store, key, Durability::Buffered));
    copy(&live, image);
    let mut journal = fs::read(image.join(JOURNAL)).unwrap();
    // The file is longer than its records.
    let end = journal.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    journal.truncate(end);
    journal[..32].fill(0);
    fs::write(image.join(JOURNAL), &journal).unwrap();
    journal.len()
}

fn put(store: &RedbStore, key: &str, durability: Durability) {
    let mut batch = WriteBatch::new();
    batch.put(SPACES[0], format!("{key:>10}").as_bytes(), [7; 100]);
    store.write(batch, durability).unwrap();
}

fn keys(path: &Path) -> Vec<String> {
    let found = read(path, Access::Existing).unwrap().into_keys();
    found.map(|(_, key)| String::from_utf8(key).unwrap().trim().to_owned()).collect()
}

#[test]
fn a_torn_end_is_reported_and_kept() {
    let home = tempfile::tempdir().unwrap();
    let image = home.path().join("image");
    let bytes = torn(&image);
    let end = fs::read(image.join(JOURNAL)).unwrap();
    let reader = open(&image, Access::ReadOnly).unwrap();
    assert!(reader.notices()[0].contains("left out by this reader"), "{:?}", reader.notices());
    drop(reader);
    assert!(fs::read(image.join(JOURNAL)).unwrap() == end);
    let store = open(&image, Access::Existing).unwrap();
    let [notice] = store.notices() else { panic!("{:?}", store.notices()) };
    for part in ["data/journal from byte 0 on", "never acknowledged", "TORN/journal-from-0.0"] {
        assert!(notice.contains(part), "{notice}");
    }
    let kept = fs::read(image.join("TORN/journal-from-0.0")).unwrap();
    assert!(kept == end && kept.len() == bytes);
    drop(store);
    assert!(open(&image, Access::Existing).unwrap().notices().is_empty());
    assert!(keys(&image).is_empty());
}

/// A whole record after a torn one would follow the record that overwrites the torn one.
#[test]
fn what_was_torn_off_does_not_come_back_after_a_later_write() {
    let home = tempfile::tempdir().unwrap();
    let [image, again] = ["image", "again"].map(|name| home.path().join(name));
    torn(&image);
    let store = open(&image, Access::Existing).unwrap();
    put(&store, "third", Durability::Synced);
    copy(&image, &again);
    assert_eq!(keys(&again), ["third"]);
}

#[test]
fn a_missing_watermark_is_made_anew_and_reported() {
    let home = tempfile::tempdir().unwrap();
    let [live, image] = ["live", "image"].map(|name| home.path().join(name));
    let options = OpenOptions { access: Access::Create, cache_bytes: 1 << 20, trace: None };
    let store = saltwing_redb::open(&live, options).unwrap();
    assert!(store.notices().is_empty());
    put(&store, "first", Durability::Synced);
    copy(&live, &image);
    fs::remove_file(image.join("WATERMARK")).unwrap();
    let store = open(&image, Access::Existing).unwrap();
    assert!(store.notices()[0].contains("WATERMARK"), "{:?}", store.notices());
    drop(store);
    assert!(open(&image, Access::Existing).unwrap().notices().is_empty());
    assert_eq!(keys(&image), ["first"]);
}

/// The bytes of a page that are overwritten: a sector would be more.
const OVERWRITTEN: usize = 40;

/// Overwrites bytes of a file.
fn overwrite(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    let end = bytes.len().min(at + OVERWRITTEN);
    bytes[at..end].fill(0x5a);
    fs::write(path, bytes).unwrap();
}

/// A database of many pages, closed, and its content.
fn many_pages(home: &Path) -> (std::path::PathBuf, Content) {
    let image = home.join("image");
    let options = OpenOptions { access: Access::Create, cache_bytes: 1 << 20, trace: None };
    let store = saltwing_redb::open(home.join("db"), options).unwrap();
    let mut content = Content::new();
    write(&store, &mut content, 0..400);
    store.close().unwrap();
    drop(store);
    copy(&home.join("db"), &image);
    (image, content)
}

/// The keys of a store that can be read, and the errors of the others.
fn readable(store: &RedbStore, content: &Content) -> (Content, Vec<String>) {
    let (mut found, mut errors) = (Content::new(), Vec::new());
    for ((space, key), value) in content {
        match store.get(Space::new(*space), key) {
            Ok(read) => {
                assert_eq!(read.map(|read| read.to_vec()).as_ref(), Some(value), "another value of {key:?}");
                found.insert((*space, key.clone()), value.clone());
            }
            Err(error) => errors.push(error.to_string()),
        }
    }
    (found, errors)
}

/// The entries that a walk comes to, and its errors.
fn walked(store: &RedbStore, direction: Direction) -> (Content, usize) {
    let (mut found, mut errors) = (Content::new(), 0);
    for space in SPACES {
        let Ok(mut cursor) = store.cursor(space, KeyBounds::all(), direction) else {
            errors += 1;
            continue;
        };
        loop {
            match cursor.next() {
                Ok(Some((key, value))) => {
                    found.insert((space.id(), key.to_vec()), value.to_vec());
                }
                Ok(None) => break,
                Err(error) => {
                    assert_eq!(error.code(), "corrupt", "{error}");
                    errors += 1;
                }
            }
        }
    }
    (found, errors)
}

/// The places of an image that are damaged in turn: one in each page of data, or fewer.
fn places(image: &Path, at_most: usize) -> Vec<usize> {
    let bytes = fs::read(image.join(PAGES)).unwrap();
    let used = |at: &usize| bytes[*at..].iter().take(PAGE).any(|byte| *byte > 0);
    let used: Vec<usize> = (0..bytes.len()).step_by(PAGE).filter(used).collect();
    used.iter().step_by(used.len().div_ceil(at_most)).map(|at| at + 1000).collect()
}

/// With a cache that holds nothing, and with one that holds all.
#[test]
fn a_damaged_page_costs_a_reader_its_keys_alone() {
    let home = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let (image, content) = many_pages(home.path());
    let place = home.path().join("place");
    let mut losses = Vec::new();
    for (number, at) in places(&image, 10_000).into_iter().enumerate() {
        copy(&image, &place);
        overwrite(&place.join(PAGES), at);
        let options = OpenOptions { access: Access::Salvage, cache_bytes: [0, 1 << 24][number % 2], trace: None };
        let store = saltwing_redb::open(&place, options).unwrap_or_else(|error| panic!("page at {at}: {error}"));
        let (found, errors) = readable(&store, &content);
        assert!(errors.iter().all(|error| error.contains("of data/pages does not have its checksum")), "{errors:?}");
        for direction in [Direction::Forward, Direction::Reverse] {
            let (walked, errors) = walked(&store, direction);
            assert!(walked == found, "{at} {direction:?}: {} {} {}", walked.len(), found.len(), content.len());
            assert_eq!(errors > 0, found.len() < content.len(), "{at} {direction:?}");
        }
        let is_damaged = store.damages().iter().any(|damage| !damage.what.contains("restored"));
        assert_eq!(is_damaged, found.len() < content.len(), "{at}");
        losses.push(content.len() - found.len());
    }
    losses.sort_unstable();
    println!("losses {losses:?}");
    assert!(losses.iter().filter(|lost| **lost > 40).count() <= 6, "{losses:?}");
}

/// Files of earlier releases have no copies.
#[test]
fn a_damaged_page_without_copies_is_an_error_that_names_it() {
    let home = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let (image, _) = many_pages(home.path());
    let place = home.path().join("place");
    let (places, mut refused) = (places(&image, 10_000), 0);
    for at in &places {
        copy(&image, &place);
        fs::remove_file(place.join(COPIES)).unwrap();
        overwrite(&place.join(PAGES), *at);
        if let Err(error) = open(&place, Access::Salvage) {
            refused += 1;
            let error = error.to_string();
            assert!(error.contains(" of data/pages does not have its checksum"), "{at}: {error}");
            assert!(!error.contains("internal error"), "{at}: {error}");
        }
    }
    assert!(refused > 0 && refused < places.len() / 2, "{refused} of {}", places.len());
}

/// Reads of a running process go on, and writes do: what needs the page is refused as a whole.
#[test]
fn a_damaged_page_leaves_a_running_store_usable() {
    let home = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let (image, content) = many_pages(home.path());
    let place = home.path().join("place");
    let (mut opened, mut refused) = (0, 0);
    for (number, at) in places(&image, 30).into_iter().enumerate() {
        copy(&image, &place);
        let options = OpenOptions { access: Access::Existing, cache_bytes: [0, 1 << 24][number % 2], trace: None };
        let store = saltwing_redb::open(&place, options).unwrap();
        // While it runs: nothing of it is in memory yet, but for the roots.
        overwrite(&place.join(PAGES), at);
        let (found, errors) = readable(&store, &content);
        assert!(errors.iter().all(|error| error.contains("of data/pages does not have its checksum")), "{errors:?}");
        opened += usize::from(!errors.is_empty());
        let (mut expected, mut deleted) = (found.clone(), BTreeSet::new());
        for (number, (space, key)) in found.keys().step_by(5).chain(content.keys().step_by(2)).enumerate() {
            let (mut batch, place) = (WriteBatch::new(), (*space, key.clone()));
            let value = (number % 3 > 0).then(|| format!("new {number}").into_bytes());
            match &value {
                None => batch.delete(Space::new(*space), key.clone()),
                Some(value) => batch.put(Space::new(*space), key.clone(), value.clone()),
            }
            batch.put(Space::new(9), key.clone(), key.clone());
            match (store.write(batch, Durability::Buffered), value) {
                (Ok(()), Some(value)) => drop(expected.insert(place, value)),
                (Ok(()), None) => {
                    expected.remove(&place);
                    deleted.insert(place);
                }
                (Err(error), _) => {
                    refused += 1;
                    assert!(error.code() == "corrupt" && error.to_string().contains("page "), "{error}");
                    continue;
                }
            }
            expected.insert((9, key.clone()), key.clone());
        }
        for place in expected.keys().chain(content.keys()) {
            let Ok(read) = store.get(Space::new(place.0), &place.1) else { continue };
            assert_eq!(read.as_deref(), expected.get(place).map(Vec::as_slice), "{at}: {place:?}");
            assert!(read.is_some() || deleted.contains(place), "{at}: {place:?} is missing without an error");
        }
        store.clear(SPACES[1]).unwrap();
        store.reclaim(saltwing_store::WriteStall::Allowed).unwrap();
        assert!(store.cursor(SPACES[1], KeyBounds::all(), Direction::Forward).unwrap().next().unwrap().is_none());
        expected.retain(|(space, _), _| *space != SPACES[1].id());
        store.close().unwrap();
        drop(store);
        let store = open(&place, Access::Existing).unwrap();
        for ((space, key), value) in &expected {
            if let Ok(read) = store.get(Space::new(*space), key) {
                assert_eq!(read.map(|read| read.to_vec()).as_ref(), Some(value), "{at}: {key:?} after opening again");
            }
        }
    }
    assert!(opened > 10 && refused > 0, "{opened} {refused}");
}
