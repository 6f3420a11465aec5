//! A database's directory: its marker, and its lock.
//!
//! ```text
//! my-database/
//!   SALTWING   the marker: format, store, state; three lines of text
//!   LOCK       locked by a process that has the database open: alone to write, together to read; a writer notes its process
//!   data/      the store's own files
//!   WATERMARK  which commits were on the disk, where the store numbers them (the module `watermark`)
//!   TORN/      ends of logs that a crash has torn, cut off at an opening and kept
//! ```
//!
//! The marker distinguishes a database from other directories, one store from another, and later releases from this
//! one, before a store opens a file. It has the state `creating` until the store has created its files: nothing in
//! `data` was acknowledged by then, and the next opening deletes it.

use std::fs::{self, File, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use saltwing_types::foreign;

use crate::{Holder, StoreError, Trace};

/// The directory format that this release writes, and the newest that it reads.
pub const FORMAT: u32 = 1;

const MARKER: &str = "SALTWING";
const MARKER_NEW: &str = "SALTWING.new";
const LOCK: &str = "LOCK";
const DATA: &str = "data";

/// How long an opening waits for the lock. A process that is being started by this
/// one holds copies of its open files until it runs its own program, so that a
/// lock can outlive its owner for a short time.
const LOCK_WAIT_MAX: Duration = Duration::from_millis(300);

/// How a database may be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads and writes; the database is created where there is none.
    Create,
    /// Reads and writes an existing database.
    Existing,
    /// Refuses writes. If [`Capabilities::reads_without_writing`](crate::Capabilities) is set, others may read at the
    /// same time, and nothing is written into the directory, which may be on a read-only medium.
    ReadOnly,
    /// As [`Self::ReadOnly`], for files that may be damaged: the store omits the parts that it cannot open, and lists
    /// them in [`OrderedKv::left_out`](crate::OrderedKv::left_out). The remaining data need not be consistent.
    Salvage,
}

impl Access {
    /// Whether writes are refused.
    pub fn is_readonly(self) -> bool {
        matches!(self, Self::ReadOnly | Self::Salvage)
    }
}

/// The options of every store on disk.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// Whether writes are accepted, and whether a database may be created.
    pub access: Access,
    /// Memory for the store's own block cache.
    pub cache_bytes: u64,
    /// Where syncs are recorded: for tests.
    pub trace: Option<Trace>,
}

/// The kind of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Missing,
    /// A directory without anything in it that matters.
    Empty,
    /// A database in a format that we read.
    Database(Marker),
}

/// The content of a database's marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// The directory's format, at most [`FORMAT`].
    pub format: u32,
    /// The name of the store that keeps it.
    pub store: String,
    /// Whether it was created to the end.
    pub ready: bool,
}

/// Classifies `path`: reads the marker, takes no lock and changes nothing.
///
/// # Errors
/// [`StoreError::NewerFormat`]; [`StoreError::NotADatabase`] for a file or for a
/// directory with other things in it; [`StoreError::Corrupt`] for a marker that
/// cannot be read; [`StoreError::Io`].
pub fn inspect(path: &Path) -> Result<Found, StoreError> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return Err(not_ours(path, "it is not a directory".to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Missing),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(Found::Missing),
        Err(error) => return Err(StoreError::io("look at it", path, error)),
    }
    match fs::read_to_string(path.join(MARKER)) {
        Ok(text) => parse_marker(path, &text).map(Found::Database),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            refuse_strangers(path)?;
            Ok(Found::Empty)
        }
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(bad_marker(path)),
        Err(error) => Err(StoreError::io("read the marker", &path.join(MARKER), error)),
    }
}

/// A directory that is ours, locked until this is dropped.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    store: &'static str,
    ready: bool,
    access: Access,
    lock: File,
}

impl Directory {
    /// Locks the directory of a database kept by `store`, or creates it. Other readers may have it locked as
    /// well where the access is for reading, and nothing is written then.
    ///
    /// Of a missing path only the last directory is created, not its parents.
    ///
    /// # Errors
    /// Those of [`inspect`]; [`StoreError::Locked`]; [`StoreError::OtherStore`];
    /// [`StoreError::Missing`], for the parent too.
    pub fn open(path: &Path, store: &'static str, access: Access) -> Result<Self, StoreError> {
        Self::open_locked(path, store, access, if access.is_readonly() { lock_shared } else { lock_alone })
    }

    /// The same for a store that must write into its files to read them: the lock is exclusive for every access.
    ///
    /// # Errors
    /// Those of [`Self::open`]; [`StoreError::NotSupported`] if the access is for reading only and the directory cannot be written to.
    pub fn open_alone(path: &Path, store: &'static str, access: Access) -> Result<Self, StoreError> {
        let opened = Self::open_locked(path, store, access, lock_alone);
        opened.map_err(|error| match &error {
            StoreError::Io { source, .. } if access.is_readonly() && is_refused_write(source) => {
                StoreError::NotSupported { what: "way to read a directory that it cannot write to", store }
            }
            _ => error,
        })
    }

    fn open_locked(
        path: &Path,
        store: &'static str,
        access: Access,
        lock: fn(&Path) -> Result<File, StoreError>,
    ) -> Result<Self, StoreError> {
        if check(path, inspect(path)?, store, access)? == Found::Missing {
            create_directory(path)?;
        }
        let lock = lock(path)?;
        // Again, now that nobody else can create it or change the marker.
        let found = check(path, inspect(path)?, store, access)?;
        let ready = matches!(&found, Found::Database(marker) if marker.ready);
        let directory = Self { path: path.to_path_buf(), store, ready, access, lock };
        directory.prepare_data()?;
        Ok(directory)
    }

    /// The database's directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the store keeps its files; exists.
    pub fn data_path(&self) -> PathBuf {
        self.path.join(DATA)
    }

    /// Whether the store has made its files before; if not, there is nothing in [`Self::data_path`].
    pub fn is_ready(&self) -> bool {
        self.ready
    }

    /// Says that the store has made its files. Call it after every opening.
    pub fn set_ready(&mut self) -> Result<(), StoreError> {
        if !self.ready {
            self.write_marker("ready")?;
            self.ready = true;
        }
        if !self.access.is_readonly() {
            self.note_process();
        }
        Ok(())
    }

    /// Notes the number of this process in the lock file, for the error of others. It is no more than advice: a full device must not keep a
    /// database shut, so a failure leaves the file without a number.
    fn note_process(&self) {
        let note = || -> io::Result<()> {
            let mut file = &self.lock;
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            writeln!(file, "{}", std::process::id())
        };
        drop(note());
    }

    fn prepare_data(&self) -> Result<(), StoreError> {
        let data = self.data_path();
        if self.ready {
            return match data.is_dir() {
                true => Ok(()),
                false => Err(StoreError::Corrupt { path: self.path.clone(), why: format!("{DATA} is missing") }),
            };
        }
        self.write_marker("creating")?;
        match fs::remove_dir_all(&data) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::io("remove", &data, error));
            }
            _ => {}
        }
        fs::create_dir(&data).map_err(|error| StoreError::io("create", &data, error))?;
        sync_directory(&self.path)
    }

    /// Replaces the marker as a whole: a reader finds the old one or the new one.
    fn write_marker(&self, state: &str) -> Result<(), StoreError> {
        let new = self.path.join(MARKER_NEW);
        let text = format!("saltwing format {FORMAT}\nstore {}\nstate {state}\n", self.store);
        let write = || -> io::Result<()> {
            let mut file = File::create(&new)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, self.path.join(MARKER))
        };
        write().map_err(|error| StoreError::io("write the marker", &new, error))?;
        sync_directory(&self.path)
    }
}

/// Runs a store's own opening. Some stores panic on damaged files; that becomes
/// [`StoreError::Corrupt`].
pub fn guard_opening<T>(path: &Path, open: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    // Nothing of ours is half changed by an opening that panics: the store's
    // files are the store's, and everything else is made after it.
    foreign::quietly(open).unwrap_or_else(|why| Err(StoreError::Corrupt { path: path.to_path_buf(), why }))
}

/// Compares the marker with the requested store and access.
fn check(path: &Path, found: Found, store: &'static str, access: Access) -> Result<Found, StoreError> {
    match &found {
        Found::Database(marker) if marker.store != store => Err(StoreError::OtherStore {
            path: path.to_path_buf(),
            found: marker.store.clone(),
            requested: store.to_owned(),
        }),
        Found::Missing if access != Access::Create => Err(StoreError::Missing { path: path.to_path_buf() }),
        Found::Empty if access != Access::Create => Err(not_ours(path, "the directory is empty".to_owned())),
        Found::Database(marker) if access.is_readonly() && !marker.ready => {
            Err(not_ours(path, "its creation was not finished".to_owned()))
        }
        _ => Ok(found),
    }
}

fn create_directory(path: &Path) -> Result<(), StoreError> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if !parent.is_dir() {
        return Err(StoreError::Missing { path: parent.to_path_buf() });
    }
    match fs::create_dir(path) {
        // Someone else was as fast: the lock decides.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(StoreError::io("create the directory", path, error)),
        Ok(()) => sync_directory(parent),
    }
}

/// Locks the directory for one that writes; makes the lock file where there is none.
fn lock_alone(path: &Path) -> Result<File, StoreError> {
    let lock_path = path.join(LOCK);
    let file = File::options().create(true).truncate(false).write(true).open(&lock_path);
    let file = file.map_err(|error| StoreError::io("open the lock file for writing", &lock_path, error))?;
    wait_for_lock(
        path,
        || file.try_lock(),
        || match file.try_lock_shared() {
            Ok(()) => Holder::Readers,
            Err(_) => writer(&lock_path),
        },
    )?;
    Ok(file)
}

/// Locks the directory for a reader, which needs no write permission. Without a lock file a writer would be
/// undetectable, and a reader must not create one.
fn lock_shared(path: &Path) -> Result<File, StoreError> {
    let lock_path = path.join(LOCK);
    let file = File::open(&lock_path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            not_ours(path, format!("its file {LOCK} is missing, by which a writer would be known"))
        }
        _ => StoreError::io("open the lock file", &lock_path, error),
    })?;
    wait_for_lock(path, || file.try_lock_shared(), || writer(&lock_path))?;
    Ok(file)
}

/// The writer that holds a lock file, by the number in it.
fn writer(lock_path: &Path) -> Holder {
    let noted = fs::read_to_string(lock_path).unwrap_or_default();
    Holder::Writer { process: noted.trim().parse().ok() }
}

fn wait_for_lock(
    path: &Path,
    try_lock: impl Fn() -> Result<(), TryLockError>,
    holder: impl Fn() -> Holder,
) -> Result<(), StoreError> {
    let started = Instant::now();
    loop {
        match try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if started.elapsed() < LOCK_WAIT_MAX => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Locked { path: path.to_path_buf(), holder: holder() });
            }
            Err(TryLockError::Error(error)) => {
                return Err(StoreError::io("lock", &path.join(LOCK), error));
            }
        }
    }
}

/// Whether the system has refused to write where one may only read.
fn is_refused_write(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// What we may have left ourselves is no stranger: a crash before the first
/// marker leaves the lock file, or half a marker.
fn refuse_strangers(path: &Path) -> Result<(), StoreError> {
    let refused = |error| StoreError::io("list the directory", path, error);
    for entry in fs::read_dir(path).map_err(refused)? {
        let name = entry.map_err(refused)?.file_name();
        if name != LOCK && name != MARKER_NEW {
            let why = format!("the directory holds other things, such as {}", name.display());
            return Err(not_ours(path, why));
        }
    }
    Ok(())
}

/// Reads `saltwing format 1`, `store redb`, `state ready`. Later formats must keep the first line.
fn parse_marker(path: &Path, text: &str) -> Result<Marker, StoreError> {
    let mut lines = text.lines();
    let mut field = |name: &str| lines.next().and_then(|line| line.strip_prefix(name));
    let format = field("saltwing format ").and_then(|number| number.parse().ok());
    let Some(format) = format else {
        return Err(bad_marker(path));
    };
    if format > FORMAT {
        return Err(StoreError::NewerFormat { path: path.to_path_buf(), found: format, supported: FORMAT });
    }
    match (field("store "), field("state ")) {
        (Some(store), Some(state @ ("ready" | "creating"))) => {
            Ok(Marker { format, store: store.to_owned(), ready: state == "ready" })
        }
        _ => Err(bad_marker(path)),
    }
}

fn bad_marker(path: &Path) -> StoreError {
    StoreError::Corrupt { path: path.to_path_buf(), why: format!("its marker file {MARKER} cannot be read") }
}

fn not_ours(path: &Path, why: String) -> StoreError {
    StoreError::NotADatabase { path: path.to_path_buf(), why }
}

/// Makes sure that a directory's entries survive a crash.
///
/// # Errors
/// [`StoreError::Io`].
pub fn sync_directory(path: &Path) -> Result<(), StoreError> {
    sync_names(path).map_err(|error| StoreError::io("sync the directory", path, error))
}

/// As [`sync_directory`], for a caller who says what failed.
///
/// # Errors
/// Those of the system.
pub fn sync_names(path: &Path) -> io::Result<()> {
    // Elsewhere a directory cannot be opened as a file, nor need it be.
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests;
