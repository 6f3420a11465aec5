use std::path::Path;
use std::{fs, io};

use super::{Access, Directory, FORMAT, Found, LOCK, MARKER, guard_opening, inspect, is_refused_write};
use crate::{Holder, StoreError};

fn create(path: &Path) -> Directory {
    let mut directory = Directory::open(path, "redb", Access::Create).unwrap();
    directory.set_ready().unwrap();
    directory
}

fn refusal(path: &Path, store: &'static str, access: Access) -> StoreError {
    Directory::open(path, store, access).unwrap_err()
}

#[test]
fn a_created_directory_says_whose_it_is() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("db");
    assert_eq!(inspect(&path).unwrap(), Found::Missing);
    drop(create(&path));
    let Found::Database(marker) = inspect(&path).unwrap() else { panic!("no database") };
    assert_eq!((marker.format, marker.store.as_str(), marker.ready), (FORMAT, "redb", true));
    let error = refusal(&path, "sled", Access::Existing);
    assert!(
        matches!(&error, StoreError::OtherStore { found, requested, .. } if found == "redb" && requested == "sled")
    );
}

/// The lock because of which an opening with `access` was refused.
fn holder(path: &Path, access: Access) -> Holder {
    match refusal(path, "redb", access) {
        StoreError::Locked { holder, .. } => holder,
        other => panic!("{other}"),
    }
}

#[test]
fn a_writer_is_alone_and_readers_are_together() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("db");
    let writer = create(&path);
    for access in [Access::ReadOnly, Access::Existing, Access::Create] {
        assert_eq!(holder(&path, access), Holder::Writer { process: Some(std::process::id()) });
    }
    drop(writer);
    let reader = Directory::open(&path, "redb", Access::ReadOnly).unwrap();
    let second = Directory::open(&path, "redb", Access::ReadOnly).unwrap();
    drop(reader);
    for access in [Access::Existing, Access::Create] {
        assert_eq!(holder(&path, access), Holder::Readers);
    }
    drop(second);
    assert!(Directory::open(&path, "redb", Access::Existing).is_ok());
}

/// What is no number of a process in the lock file, of an earlier version or damaged, is none.
#[test]
fn a_writer_without_a_number_is_a_writer() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("db");
    let writer = create(&path);
    for text in ["", "x", "-1", "99999999999999999999"] {
        fs::write(path.join(LOCK), text).unwrap();
        assert_eq!(holder(&path, Access::Existing), Holder::Writer { process: None }, "{text}");
    }
    drop(writer);
}

#[test]
fn a_store_that_writes_in_order_to_read_is_alone() {
    let home = tempfile::tempdir().unwrap();
    drop(create(home.path()));
    let alone = Directory::open_alone(home.path(), "redb", Access::ReadOnly).unwrap();
    // It writes into its own files alone.
    assert!(matches!(holder(home.path(), Access::ReadOnly), Holder::Writer { .. }));
    drop(alone);
    let lock = home.path().join(LOCK);
    fs::remove_file(&lock).unwrap();
    // A folder cannot be opened for writing by anybody; that is no refusal of writes.
    fs::create_dir(&lock).unwrap();
    let error = Directory::open_alone(home.path(), "redb", Access::ReadOnly).unwrap_err();
    assert_eq!(error.code(), "io");
    let refused = [io::ErrorKind::PermissionDenied, io::ErrorKind::ReadOnlyFilesystem].map(io::Error::from);
    assert!(refused.iter().all(is_refused_write));
}

#[test]
fn a_reader_makes_no_lock_file() {
    let home = tempfile::tempdir().unwrap();
    drop(create(home.path()));
    fs::remove_file(home.path().join(LOCK)).unwrap();
    let error = refusal(home.path(), "redb", Access::ReadOnly);
    assert!(error.to_string().contains("its file LOCK is missing"), "{error}");
    assert!(!home.path().join(LOCK).exists());
}

#[test]
fn what_is_missing_is_named() {
    let home = tempfile::tempdir().unwrap();
    let parent = home.path().join("no");
    let path = parent.join("db");
    for (access, named) in [(Access::Existing, &path), (Access::ReadOnly, &path), (Access::Create, &parent)] {
        let error = refusal(&path, "redb", access);
        assert!(matches!(&error, StoreError::Missing { path } if path == named), "{error}");
    }
    assert!(!parent.exists());
}

#[test]
fn other_things_are_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("notes.txt");
    fs::write(&file, "mine").unwrap();
    for path in [home.path(), &file] {
        for access in [Access::Create, Access::Existing, Access::ReadOnly] {
            let error = refusal(path, "redb", access);
            assert!(matches!(error, StoreError::NotADatabase { .. }), "{error}");
        }
    }
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    assert_eq!(refusal(&file.join("db"), "redb", Access::Create).code(), "io");
}

#[test]
fn an_empty_directory_becomes_a_database_only_on_request() {
    let home = tempfile::tempdir().unwrap();
    let error = refusal(home.path(), "redb", Access::Existing);
    assert!(matches!(error, StoreError::NotADatabase { .. }));
    drop(create(home.path()));
    assert!(Directory::open(home.path(), "redb", Access::Existing).is_ok());
}

#[test]
fn a_newer_format_is_reported_whatever_the_marker_contains() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join(MARKER), "saltwing format 7\nnothing we know\n").unwrap();
    let error = inspect(home.path()).unwrap_err();
    assert!(matches!(error, StoreError::NewerFormat { found: 7, supported: FORMAT, .. }));
    for text in ["", "saltwing format x\n", "saltwing format 1\nstore redb\nstate odd\n"] {
        fs::write(home.path().join(MARKER), text).unwrap();
        assert_eq!(inspect(home.path()).unwrap_err().code(), "corrupt");
    }
    fs::write(home.path().join(MARKER), [0xff]).unwrap();
    assert_eq!(inspect(home.path()).unwrap_err().code(), "corrupt");
}

#[test]
fn a_creation_cut_short_starts_again() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("db");
    let directory = Directory::open(&path, "redb", Access::Create).unwrap();
    fs::write(directory.data_path().join("half"), "x").unwrap();
    drop(directory);
    assert_eq!(refusal(&path, "redb", Access::ReadOnly).code(), "io");
    let directory = create(&path);
    assert_eq!(fs::read_dir(directory.data_path()).unwrap().count(), 0);
}

#[test]
fn lost_data_is_not_taken_for_an_empty_database() {
    let home = tempfile::tempdir().unwrap();
    let data = create(home.path()).data_path();
    fs::remove_dir(data).unwrap();
    assert_eq!(refusal(home.path(), "redb", Access::Create).code(), "corrupt");
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    // Permissions don't bind root; this file system refuses anyone.
    if Path::new("/proc/self").is_dir() {
        let error = refusal(Path::new("/proc/self/saltwing"), "redb", Access::Create);
        assert_eq!(error.code(), "io");
        assert!(error.to_string().contains("/proc/self/saltwing"), "{error}");
    }
    let home = tempfile::tempdir().unwrap();
    let sealed = home.path().join("sealed");
    fs::create_dir(&sealed).unwrap();
    let mut permissions = fs::metadata(&sealed).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&sealed, permissions).unwrap();
    if fs::write(sealed.join("probe"), "x").is_ok() {
        eprintln!("skipped: this user may write to read-only directories");
        return;
    }
    for path in [sealed.clone(), sealed.join("db")] {
        let error = refusal(&path, "redb", Access::Create);
        assert!(matches!(error, StoreError::Io { .. }), "{error}");
    }
}

#[test]
fn a_panic_while_opening_is_damage() {
    let error = guard_opening(Path::new("db"), || -> Result<(), StoreError> {
        panic!("page 7 is gone");
    })
    .unwrap_err();
    assert!(matches!(&error, StoreError::Corrupt { why, .. } if why == "page 7 is gone"));
}
