//! A directory of a reader's own, in which fjall opens a database that must not be written to.
//!
//! ```text
//! TEMPORARY/saltwing-reader-XXXXXX/
//!   WATERMARK                      made
//!   data/lock                      made
//!   data/version                   copied
//!   data/N.jnl                     copied, as far as there are batches that are needed
//!   data/keyspaces/N/current, vM   copied
//!   data/keyspaces/N/tables/M      link
//!   data/keyspaces/N/blobs/M       link
//! ```
//!
//! fjall cannot open a database read-only: it locks a file, cuts and creates journals, writes lists of tables, and
//! deletes tables and keyspaces that a crash has left. All of that happens in this directory. Tables and value files
//! never change once written, so links to them suffice; deleting one here deletes the link. The copied files are small:
//! journals, up to about 130 MB, and lists of tables.
//!
//! Only the user can read the directory, and the store deletes it on close. The next reader deletes those of killed
//! processes.

use std::fs::{self, DirEntry, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use saltwing_store::StoreError;
use saltwing_store::directory::Directory;
use tempfile::TempDir;

/// The start of the directory's name.
const PREFIX: &str = "saltwing-reader-";

/// The file by which fjall locks its directory.
const LOCK: &str = "lock";

/// How old a place must be that nobody has locked before it counts as left: a new one is not locked yet.
const LEFT_AGE_MIN: Duration = Duration::from_secs(600);

/// Folders of files that never change.
const LINKED: [&str; 2] = ["tables", "blobs"];

/// The directory; deleted when this is dropped.
pub(crate) struct ReadingPlace(TempDir);

impl ReadingPlace {
    /// Makes the place for a database, with those parts of its journals.
    ///
    /// # Errors
    /// [`StoreError::Io`], [`StoreError::DiskFull`], with the path that they are about.
    pub(crate) fn make(directory: &Directory, journals: &[(PathBuf, Vec<Range<u64>>)]) -> Result<Self, StoreError> {
        let home = std::env::temp_dir();
        remove_left(&home);
        let place = tempfile::Builder::new().prefix(PREFIX).tempdir_in(&home);
        let place = place.map_err(|error| StoreError::io("make a directory for reading in", &home, error))?;
        // Links must not hang on the process's own directory.
        let from = directory.data_path();
        let from = std::path::absolute(&from).map_err(|error| StoreError::io("find", &from, error))?;
        let to = place.path().join("data");
        let made = Self(place);
        make_folder(&to)?;
        make(&to.join(LOCK), io::empty())?;
        fill(&from, &to, false)?;
        for (journal, parts) in journals {
            journal.file_name().map_or(Ok(()), |name| copy_parts(journal, parts, &to.join(name)))?;
        }
        Ok(made)
    }

    /// The directory used in place of the database's.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Fills a folder with copies or links of another one's files, but for the lock and the journals, and with its folders.
fn fill(from: &Path, to: &Path, are_linked: bool) -> Result<(), StoreError> {
    let failed = |error| StoreError::io("list", from, error);
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (name, source) = (entry.file_name(), entry.path());
        let target = to.join(&name);
        if entry.file_type().map_err(failed)?.is_dir() {
            make_folder(&target)?;
            fill(&source, &target, LINKED.iter().any(|linked| name == *linked))?;
        } else if are_linked {
            link(&source, &target).map_err(|error| StoreError::io("make a link", &target, error))?;
        } else if name != LOCK && source.extension().is_none_or(|extension| extension != "jnl") {
            make(&target, open(&source)?)?;
        }
    }
    Ok(())
}

/// Deletes the directories of killed readers. One that cannot be deleted is in use, or belongs to another user.
fn remove_left(home: &Path) {
    let Ok(entries) = fs::read_dir(home) else { return };
    let places = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    for place in places.filter(|place| is_old(place).unwrap_or(false)) {
        if let Ok(lock) = File::open(place.path().join("data").join(LOCK))
            && lock.try_lock().is_ok()
        {
            let _ = fs::remove_dir_all(place.path());
        }
    }
}

fn is_old(place: &DirEntry) -> io::Result<bool> {
    let made = place.metadata()?.modified()?;
    Ok(made.elapsed().is_ok_and(|age| age >= LEFT_AGE_MIN))
}

fn open(path: &Path) -> Result<File, StoreError> {
    File::open(path).map_err(|error| StoreError::io("read", path, error))
}

fn make_folder(path: &Path) -> Result<(), StoreError> {
    fs::create_dir(path).map_err(|error| StoreError::io("create the directory", path, error))
}

/// Copies parts of a file one behind the other.
fn copy_parts(from: &Path, parts: &[Range<u64>], to: &Path) -> Result<(), StoreError> {
    make(to, io::empty())?;
    let copy = |part: &Range<u64>| -> io::Result<()> {
        let (mut source, mut target) = (File::open(from)?, File::options().append(true).open(to)?);
        source.seek(SeekFrom::Start(part.start))?;
        io::copy(&mut source.take(part.end - part.start), &mut target).map(drop)
    };
    let mut parts = parts.iter().filter(|part| !part.is_empty());
    parts.try_for_each(copy).map_err(|error| StoreError::io("make a copy of", from, error))
}

/// Makes a file; without the permissions of the one that is copied, which may be for reading alone.
fn make(path: &Path, mut bytes: impl Read) -> Result<(), StoreError> {
    let copied = File::create_new(path).and_then(|mut file| io::copy(&mut bytes, &mut file));
    copied.map(drop).map_err(|error| StoreError::io("make a copy", path, error))
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

/// Other systems let only privileged users make symbolic links. Hard links serve as well, within one volume.
#[cfg(not(unix))]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    fs::hard_link(from, to)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::SystemTime;

    use super::{LEFT_AGE_MIN, LOCK, PREFIX, make_folder, remove_left};

    #[test]
    fn what_killed_readers_left_is_deleted_and_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let place = |name: &str, is_old: bool| {
            let path = home.path().join(name);
            make_folder(&path).unwrap();
            make_folder(&path.join("data")).unwrap();
            let lock = File::create(path.join("data").join(LOCK)).unwrap();
            lock.lock().unwrap();
            let age = if is_old { LEFT_AGE_MIN } else { LEFT_AGE_MIN / 2 };
            File::open(path).unwrap().set_modified(SystemTime::now() - age).unwrap();
            lock
        };
        let name = |name: &str| format!("{PREFIX}{name}");
        let in_use = place(&name("in-use"), true);
        drop(place(&name("left"), true));
        drop(place(&name("new"), false));
        drop(place("other", true));
        fs::write(home.path().join(name("file")), "").unwrap();
        remove_left(home.path());
        let left = || {
            let entries = fs::read_dir(home.path()).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        assert_eq!(left(), ["other".to_owned(), name("file"), name("in-use"), name("new")]);
        drop(in_use);
        remove_left(home.path());
        assert_eq!(left(), ["other".to_owned(), name("file"), name("new")]);
    }
}
