use std::fs;
use std::path::Path;

use super::{Access, Directory, FORMAT, Found, MARKER, guard_opening, inspect};
use crate::StoreError;

fn create(path: &Path) -> Directory {
    let mut directory = Directory::open(path, "fjall", Access::Create).unwrap();
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
    assert_eq!((marker.format, marker.store.as_str(), marker.ready), (FORMAT, "fjall", true));
    let error = refusal(&path, "sled", Access::Existing);
    assert!(matches!(&error, StoreError::OtherStore { found, asked, .. } if found == "fjall" && asked == "sled"));
}

#[test]
fn a_directory_is_open_once_at_a_time() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("db");
    let first = create(&path);
    assert!(matches!(refusal(&path, "fjall", Access::ReadOnly), StoreError::Locked { .. }));
    drop(first);
    assert!(Directory::open(&path, "fjall", Access::ReadOnly).is_ok());
}

#[test]
fn what_is_missing_is_named() {
    let home = tempfile::tempdir().unwrap();
    let parent = home.path().join("no");
    let path = parent.join("db");
    for (access, named) in [(Access::Existing, &path), (Access::ReadOnly, &path), (Access::Create, &parent)] {
        let error = refusal(&path, "fjall", access);
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
            let error = refusal(path, "fjall", access);
            assert!(matches!(error, StoreError::NotADatabase { .. }), "{error}");
        }
    }
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    assert_eq!(refusal(&file.join("db"), "fjall", Access::Create).code(), "io");
}

#[test]
fn an_empty_directory_becomes_a_database_only_when_asked() {
    let home = tempfile::tempdir().unwrap();
    let error = refusal(home.path(), "fjall", Access::Existing);
    assert!(matches!(error, StoreError::NotADatabase { .. }));
    drop(create(home.path()));
    assert!(Directory::open(home.path(), "fjall", Access::Existing).is_ok());
}

#[test]
fn a_newer_format_is_told_whatever_else_it_says() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join(MARKER), "saltwing format 7\nnothing we know\n").unwrap();
    let error = inspect(home.path()).unwrap_err();
    assert!(matches!(error, StoreError::NewerFormat { found: 7, supported: FORMAT, .. }));
    for text in ["", "saltwing format x\n", "saltwing format 1\nstore fjall\nstate odd\n"] {
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
    let directory = Directory::open(&path, "fjall", Access::Create).unwrap();
    fs::write(directory.data_path().join("half"), "x").unwrap();
    drop(directory);
    assert_eq!(refusal(&path, "fjall", Access::ReadOnly).code(), "io");
    let directory = create(&path);
    assert_eq!(fs::read_dir(directory.data_path()).unwrap().count(), 0);
}

#[test]
fn lost_data_is_not_taken_for_an_empty_database() {
    let home = tempfile::tempdir().unwrap();
    let data = create(home.path()).data_path();
    fs::remove_dir(data).unwrap();
    assert_eq!(refusal(home.path(), "fjall", Access::Create).code(), "corrupt");
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    // Permissions don't bind root; this file system refuses anyone.
    if Path::new("/proc/self").is_dir() {
        let error = refusal(Path::new("/proc/self/saltwing"), "fjall", Access::Create);
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
        let error = refusal(&path, "fjall", Access::Create);
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
