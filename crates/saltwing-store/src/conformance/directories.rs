//! Openings that must fail, each with its error.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::directory::{FORMAT, Found, inspect};
use crate::{Access, Direction, Durability, KeyBounds, OpenOptions, OrderedKv, Space, StoreError, WriteBatch};

const SPACE: Space = Space::new(3);

type Opened = Result<Arc<dyn OrderedKv>, StoreError>;

/// Holds a store to the rules of [`crate::directory`], inside the empty directory
/// `home`.
pub fn directories(home: &Path, open: impl Fn(&Path, OpenOptions) -> Opened) {
    let open = |path: &Path, access: Access| open(path, OpenOptions { access, cache_bytes: 1 << 20, trace: None });
    created_once(&home.join("created"), &open);
    locked_while_in_use(&home.join("locked"), &open);
    read_only(&home.join("read-only"), &open);
    not_ours(home, &open);
    damaged(&home.join("damaged"), &open);
}

fn batch() -> WriteBatch {
    let mut batch = WriteBatch::new();
    batch.put(SPACE, b"key", b"value");
    batch
}

fn refused(opened: Opened) -> StoreError {
    match opened {
        Ok(_) => panic!("was opened"),
        Err(error) => error,
    }
}

fn created_once(path: &Path, open: &impl Fn(&Path, Access) -> Opened) {
    for access in [Access::Existing, Access::ReadOnly] {
        assert!(matches!(refused(open(path, access)), StoreError::Missing { .. }));
        assert!(!path.exists());
    }
    let store = open(path, Access::Create).unwrap();
    let name = store.capabilities().name;
    store.write(batch(), Durability::Synced).unwrap();
    drop(store);
    assert!(matches!(inspect(path), Ok(Found::Database(marker)) if marker.store == name && marker.ready));
    for access in [Access::Create, Access::Existing, Access::ReadOnly] {
        let store = open(path, access).unwrap();
        assert_eq!(store.get(SPACE, b"key").unwrap().unwrap(), b"value");
    }
    let orphan = path.join("no/such");
    let error = refused(open(&orphan, Access::Create));
    assert!(matches!(&error, StoreError::Missing { path: named } if *named == path.join("no")), "{error}");
}

/// Twice in one process, and by what outlives the handle.
fn locked_while_in_use(path: &Path, open: &impl Fn(&Path, Access) -> Opened) {
    let store = open(path, Access::Create).unwrap();
    store.write(batch(), Durability::Buffered).unwrap();
    for access in [Access::Create, Access::Existing, Access::ReadOnly] {
        let error = refused(open(path, access));
        assert!(matches!(error, StoreError::Locked { .. }), "{error}");
        assert_eq!(error.code(), "locked");
    }
    let mut cursor = store.cursor(SPACE, KeyBounds::all(), Direction::Forward).unwrap();
    drop(store);
    assert!(matches!(refused(open(path, Access::Existing)), StoreError::Locked { .. }));
    assert!(cursor.next().unwrap().is_some());
    drop(cursor);
    open(path, Access::Existing).unwrap();
}

fn read_only(path: &Path, open: &impl Fn(&Path, Access) -> Opened) {
    open(path, Access::Create).unwrap().write(batch(), Durability::Buffered).unwrap();
    let store = open(path, Access::ReadOnly).unwrap();
    assert_eq!(store.get(SPACE, b"key").unwrap().unwrap(), b"value");
    assert_eq!(store.get(Space::new(200), b"key").unwrap(), None);
    for durability in [Durability::Buffered, Durability::Synced] {
        let mut batch = WriteBatch::new();
        batch.delete(SPACE, b"key");
        let error = store.write(batch, durability).unwrap_err();
        assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    }
    store.sync().unwrap();
    store.close().unwrap();
    assert_eq!(store.get(SPACE, b"key").unwrap().unwrap(), b"value");
}

fn not_ours(home: &Path, open: &impl Fn(&Path, Access) -> Opened) {
    let path = home.join("changed");
    drop(open(&path, Access::Create).unwrap());
    let marker = path.join("SALTWING");
    let newer = format!("saltwing format {}\nwhatever\n", FORMAT + 1);
    fs::write(&marker, newer).unwrap();
    let error = refused(open(&path, Access::Existing));
    assert!(matches!(error, StoreError::NewerFormat { .. }), "{error}");
    fs::write(&marker, "saltwing format 1\nstore abacus\nstate ready\n").unwrap();
    let error = refused(open(&path, Access::Create));
    assert!(matches!(&error, StoreError::OtherStore { found, .. } if found == "abacus"), "{error}");
    fs::remove_file(&marker).unwrap();
    let error = refused(open(&path, Access::Create));
    assert!(matches!(error, StoreError::NotADatabase { .. }), "{error}");
    let error = refused(open(&path.join("LOCK"), Access::Create));
    assert!(matches!(error, StoreError::NotADatabase { .. }), "{error}");
}

/// Any one file overwritten with rubbish: an error, a short database or, where the
/// file doesn't matter, a good one; never a panic, never a hang.
fn damaged(path: &Path, open: &impl Fn(&Path, Access) -> Opened) {
    drop(open(path, Access::Create).unwrap());
    let mut victims = Vec::new();
    data_files(&path.join("data"), &mut victims);
    assert!(!victims.is_empty());
    for victim in victims {
        fs::remove_dir_all(path).unwrap();
        let store = open(path, Access::Create).unwrap();
        store.write(batch(), Durability::Synced).unwrap();
        store.close().unwrap();
        drop(store);
        if victim.exists() {
            fs::write(&victim, [0xa5; 300]).unwrap();
        }
        match open(path, Access::Existing) {
            Ok(store) => {
                // A read may meet the damage; a successful read returns correct data.
                if let Ok(Some(value)) = store.get(SPACE, b"key") {
                    assert_eq!(value, b"value");
                }
            }
            Err(error) => {
                let expected = ["corrupt", "io", "not_supported"];
                assert!(expected.contains(&error.code()), "{}: {error:?}", victim.display());
            }
        }
    }
}

fn data_files(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => data_files(&path, files),
            false => files.push(path),
        }
    }
}
