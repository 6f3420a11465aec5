//! Backups: all entries of a store's spaces in a directory of two files, which any store can be filled from.
//!
//! ```text
//!   my-backup/
//!     SALTWING-BACKUP   format, state, counts; then a checksum
//!     entries           frames: bytes 4 | checksum 4 | entries: space 1, bytes of key 2, of value 4, key, value
//! ```
//! The first file says `creating` until the second one is on the disk, and is then replaced as a whole: a backup that was
//! not finished cannot be taken for one that was. Numbers are little endian, checksums CRC-32. `entries` begins with
//! [`MAGIC`].
//!
//! # Laws
//! 1. No existing file is overwritten.
//! 2. [`BackupReader::next_entry`] returns only written entries; a reader at the end has returned all of them.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crate::directory::sync_directory;
use crate::{BATCH_BYTES_MAX, Bytes, Space, StoreError};

/// The format that is written, and the newest that is read.
pub const FORMAT: u32 = 1;
/// The first bytes of `entries`.
pub const MAGIC: &[u8; 8] = b"SWBACK01";

const MARKER: &str = "SALTWING-BACKUP";
const MARKER_NEW: &str = "SALTWING-BACKUP.new";
const ENTRIES: &str = "entries";

/// Bytes from which on a frame takes no more entries.
const FRAME_BYTES: usize = 1 << 20;
/// Bytes of the longest frame: a value has 1 GiB at most, and a frame one entry more than [`FRAME_BYTES`].
const FRAME_BYTES_MAX: u32 = (1 << 30) + (2 << 20);

/// How much is in a backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackupSize {
    /// Keys of the store.
    pub entries: u64,
    /// Bytes of these and their values.
    pub bytes: u64,
}

/// A backup that is being made. Dropped before [`BackupWriter::finish`], it is removed.
pub struct BackupWriter {
    path: PathBuf,
    file: BufWriter<File>,
    frame: Vec<u8>,
    /// Of the checksums of all frames.
    checksum: crc32fast::Hasher,
    size: BackupSize,
    is_finished: bool,
}

impl BackupWriter {
    /// Starts a backup in a directory that must not exist yet.
    ///
    /// # Errors
    /// [`StoreError::NotADatabase`] if the path exists; [`StoreError::Missing`] if its parent does not;
    /// [`StoreError::DiskFull`], [`StoreError::Io`].
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        match fs::create_dir(path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let why = "a backup is made in a directory that is not there yet".to_owned();
                return Err(StoreError::NotADatabase { path: path.to_path_buf(), why });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
                return Err(StoreError::Missing { path: parent.unwrap_or(path).to_path_buf() });
            }
            Err(error) => return Err(StoreError::io("create the directory", path, error)),
        }
        let entries = path.join(ENTRIES);
        let file = || -> Result<File, StoreError> {
            write_marker(path, "creating", BackupSize::default(), 0)?;
            let mut file = File::create_new(&entries).map_err(|error| StoreError::io("create", &entries, error))?;
            file.write_all(MAGIC).map_err(|error| StoreError::io("write", &entries, error))?;
            Ok(file)
        };
        match file() {
            Ok(file) => Ok(Self {
                path: path.to_path_buf(),
                file: BufWriter::with_capacity(FRAME_BYTES, file),
                frame: Vec::new(),
                checksum: crc32fast::Hasher::new(),
                size: BackupSize::default(),
                is_finished: false,
            }),
            Err(error) => {
                remove(path);
                Err(error)
            }
        }
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// [`StoreError::KeyTooLong`], [`StoreError::BatchTooLarge`]; [`StoreError::DiskFull`], [`StoreError::Io`].
    pub fn put(&mut self, space: Space, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let too_long = |_| StoreError::KeyTooLong { len: key.len(), max: u16::MAX.into() };
        let key_bytes = u16::try_from(key.len()).map_err(too_long)?;
        let too_large = |_| StoreError::BatchTooLarge { bytes: value.len(), max: BATCH_BYTES_MAX };
        let value_bytes = u32::try_from(value.len()).map_err(too_large)?;
        self.frame.push(space.id());
        self.frame.extend_from_slice(&key_bytes.to_le_bytes());
        self.frame.extend_from_slice(&value_bytes.to_le_bytes());
        self.frame.extend_from_slice(key);
        self.frame.extend_from_slice(value);
        self.size.entries += 1;
        self.size.bytes += (key.len() + value.len()) as u64;
        if self.frame.len() >= FRAME_BYTES { self.end_frame() } else { Ok(()) }
    }

    fn end_frame(&mut self) -> Result<(), StoreError> {
        if self.frame.is_empty() {
            return Ok(());
        }
        // A longer one would be refused when the backup is read.
        let fits = u32::try_from(self.frame.len()).ok().filter(|bytes| *bytes <= FRAME_BYTES_MAX);
        let too_large = || StoreError::BatchTooLarge { bytes: self.frame.len(), max: BATCH_BYTES_MAX };
        let bytes = fits.ok_or_else(too_large)?;
        let head = [bytes.to_le_bytes(), crc32fast::hash(&self.frame).to_le_bytes()].concat();
        self.checksum.update(&head);
        let written = self.file.write_all(&head).and_then(|()| self.file.write_all(&self.frame));
        self.frame.clear();
        written.map_err(|error| StoreError::io("write", &self.path.join(ENTRIES), error))
    }

    /// Brings the backup to the disk; from then on it is one.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`], [`StoreError::Io`]: there is no backup.
    pub fn finish(mut self) -> Result<BackupSize, StoreError> {
        self.end_frame()?;
        let failed = |error| StoreError::io("write", &self.path.join(ENTRIES), error);
        self.file.flush().map_err(failed)?;
        self.file.get_ref().sync_all().map_err(failed)?;
        write_marker(&self.path, "complete", self.size, self.checksum.clone().finalize())?;
        let parent = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        sync_directory(parent.unwrap_or(Path::new(".")))?;
        self.is_finished = true;
        Ok(self.size)
    }
}

impl Drop for BackupWriter {
    fn drop(&mut self) {
        if !self.is_finished {
            remove(&self.path);
        }
    }
}

/// Deletes an unfinished backup; files that cannot be deleted keep the state `creating`.
fn remove(path: &Path) {
    for name in [ENTRIES, MARKER_NEW, MARKER] {
        let _ = fs::remove_file(path.join(name));
    }
    let _ = fs::remove_dir(path);
}

fn write_marker(path: &Path, state: &str, size: BackupSize, checksum: u32) -> Result<(), StoreError> {
    let BackupSize { entries, bytes } = size;
    let text = format!(
        "saltwing backup format {FORMAT}\nstate {state}\nentries {entries}\nbytes {bytes}\nchecksum {checksum:08x}\n"
    );
    let text = format!("{text}marker {:08x}\n", crc32fast::hash(text.as_bytes()));
    let new = path.join(MARKER_NEW);
    let write = || -> io::Result<()> {
        let mut file = File::create(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, path.join(MARKER))
    };
    write().map_err(|error| StoreError::io("write the marker", &new, error))?;
    sync_directory(path)
}

/// A finished backup that is being read.
pub struct BackupReader {
    path: PathBuf,
    file: BufReader<File>,
    /// Bytes of the file that are left.
    left: u64,
    promised: BackupSize,
    promised_checksum: u32,
    checksum: crc32fast::Hasher,
    read: BackupSize,
    frame: Bytes,
    at: usize,
}

impl BackupReader {
    /// Opens a backup.
    ///
    /// # Errors
    /// [`StoreError::Missing`]; [`StoreError::NotADatabase`] for other directories and for a backup that was not finished;
    /// [`StoreError::NewerFormat`]; [`StoreError::Corrupt`]; [`StoreError::Io`].
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if !path.is_dir() {
            return Err(StoreError::Missing { path: path.to_path_buf() });
        }
        let text = match fs::read_to_string(path.join(MARKER)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let why = format!("it is no backup: there is no file {MARKER} in it");
                return Err(StoreError::NotADatabase { path: path.to_path_buf(), why });
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidData => return Err(bad_marker(path)),
            Err(error) => return Err(StoreError::io("read", &path.join(MARKER), error)),
        };
        let (promised, promised_checksum) = read_marker(path, &text)?;
        let entries = path.join(ENTRIES);
        let failed = |error| StoreError::io("read", &entries, error);
        let file = File::open(&entries).map_err(failed)?;
        let left = file.metadata().map_err(failed)?.len();
        let mut reader = Self {
            path: entries.clone(),
            file: BufReader::with_capacity(FRAME_BYTES, file),
            left,
            promised,
            promised_checksum,
            checksum: crc32fast::Hasher::new(),
            read: BackupSize::default(),
            frame: Bytes::default(),
            at: 0,
        };
        match reader.take(MAGIC.len())? == MAGIC {
            true => Ok(reader),
            false => Err(reader.damaged("its first bytes are no backup's")),
        }
    }

    /// How much there is to read.
    pub fn size(&self) -> BackupSize {
        self.promised
    }

    /// The next entry; `None` when all have been read, and all of them are right.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`]; [`StoreError::Io`].
    pub fn next_entry(&mut self) -> Result<Option<(Space, Bytes, Bytes)>, StoreError> {
        if self.at >= self.frame.len() && !self.next_frame()? {
            return Ok(None);
        }
        let frame = self.frame.clone();
        let entry = || -> Option<(Space, Bytes, Bytes, usize)> {
            let head = frame.get(self.at..self.at + 7)?;
            let (space, key, value) = match head {
                [space, a, b, c, d, e, f] => {
                    (*space, u16::from_le_bytes([*a, *b]), u32::from_le_bytes([*c, *d, *e, *f]))
                }
                _ => return None,
            };
            let key_at = self.at + 7;
            let value_at = key_at + usize::from(key);
            let end = value_at.checked_add(value as usize)?;
            (end <= frame.len())
                .then(|| (Space::new(space), frame.slice(key_at..value_at), frame.slice(value_at..end), end))
        };
        let Some((space, key, value, end)) = entry() else {
            return Err(self.damaged("an entry runs out of its frame"));
        };
        self.at = end;
        self.read.entries += 1;
        self.read.bytes += (key.len() + value.len()) as u64;
        Ok(Some((space, key, value)))
    }

    fn next_frame(&mut self) -> Result<bool, StoreError> {
        if self.left == 0 {
            let is_whole = self.read == self.promised && self.checksum.clone().finalize() == self.promised_checksum;
            return if is_whole { Ok(false) } else { Err(self.damaged("frames are missing")) };
        }
        let head = self.take(8)?;
        self.checksum.update(&head);
        let field = |at: usize| head.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
        let (Some(bytes), Some(checksum)) = (field(0), field(4)) else {
            return Err(self.damaged("a frame has no head"));
        };
        if bytes > FRAME_BYTES_MAX || bytes == 0 {
            return Err(self.damaged("a frame has no length that it can have"));
        }
        let frame = self.take(bytes as usize)?;
        if crc32fast::hash(&frame) != checksum {
            return Err(self.damaged("a frame's checksum is wrong"));
        }
        (self.frame, self.at) = (Bytes::from(frame), 0);
        Ok(true)
    }

    fn take(&mut self, bytes: usize) -> Result<Vec<u8>, StoreError> {
        self.left = self.left.checked_sub(bytes as u64).ok_or_else(|| self.damaged("it ends in the middle"))?;
        let mut taken = vec![0; bytes];
        self.file.read_exact(&mut taken).map_err(|error| StoreError::io("read", &self.path, error))?;
        Ok(taken)
    }

    fn damaged(&self, why: &str) -> StoreError {
        let why = format!(
            "the backup cannot be used: {why} (behind entry {} of {})",
            self.read.entries, self.promised.entries
        );
        StoreError::Corrupt { path: self.path.clone(), why }
    }
}

fn bad_marker(path: &Path) -> StoreError {
    StoreError::Corrupt { path: path.join(MARKER), why: "the backup's marker cannot be read".to_owned() }
}

fn read_marker(path: &Path, text: &str) -> Result<(BackupSize, u32), StoreError> {
    let mut lines = text.lines();
    let mut field = |name: &str| lines.next().and_then(|line| line.strip_prefix(name));
    let format = field("saltwing backup format ").and_then(|format| format.parse::<u32>().ok());
    match format {
        None => return Err(bad_marker(path)),
        Some(found) if found > FORMAT => {
            return Err(StoreError::NewerFormat { path: path.to_path_buf(), found, supported: FORMAT });
        }
        Some(_) => {}
    }
    let summed = |before: &str| format!("{:08x}\n", crc32fast::hash(before.as_bytes()));
    let checked = text.split_once("marker ").filter(|(before, sum)| *sum == summed(before));
    let (state, entries, bytes, checksum) = (field("state "), field("entries "), field("bytes "), field("checksum "));
    let numbers = || -> Option<(BackupSize, u32)> {
        checked?;
        let size = BackupSize { entries: entries?.parse().ok()?, bytes: bytes?.parse().ok()? };
        Some((size, u32::from_str_radix(checksum?, 16).ok()?))
    };
    match (state, numbers()) {
        (Some("complete"), Some(numbers)) => Ok(numbers),
        (Some("creating"), Some(_)) => {
            let why = "the backup was not finished: remove it, and make another one".to_owned();
            Err(StoreError::NotADatabase { path: path.to_path_buf(), why })
        }
        _ => Err(bad_marker(path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Space, key, value.
    type Stored = (u8, Vec<u8>, Vec<u8>);

    fn all(path: &Path) -> Result<Vec<Stored>, StoreError> {
        let mut reader = BackupReader::open(path)?;
        let mut entries = Vec::new();
        while let Some((space, key, value)) = reader.next_entry()? {
            entries.push((space.id(), key.to_vec(), value.to_vec()));
        }
        Ok(entries)
    }

    fn written(path: &Path) -> Vec<Stored> {
        let mut writer = BackupWriter::create(path).unwrap();
        let mut entries = vec![(4, b"k".to_vec(), Vec::new()), (5, b"long".to_vec(), vec![7; FRAME_BYTES + 9])];
        entries.extend((0..90u8).map(|n| (n % 3, vec![n], vec![n; usize::from(n)])));
        for (space, key, value) in &entries {
            writer.put(Space::new(*space), key, value).unwrap();
        }
        assert_eq!(writer.finish().unwrap().entries, 92);
        entries
    }

    #[test]
    fn entries_come_back_as_they_were_put() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b");
        let entries = written(&path);
        assert_eq!(all(&path).unwrap(), entries);
        assert!(matches!(BackupWriter::create(&path), Err(StoreError::NotADatabase { .. })));
        assert!(matches!(BackupWriter::create(&folder.path().join("no/b")), Err(StoreError::Missing { .. })));
        assert!(matches!(BackupReader::open(folder.path()), Err(StoreError::NotADatabase { .. })));
        assert_eq!(all(&path).unwrap(), entries, "nothing was written over");
    }

    #[test]
    fn damage_of_either_file_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b");
        let mut writer = BackupWriter::create(&path).unwrap();
        (0..40u8).for_each(|n| writer.put(Space::new(n), &[n], &[n; 9]).unwrap());
        writer.finish().unwrap();
        for name in [ENTRIES, MARKER] {
            let file = path.join(name);
            let right = fs::read(&file).unwrap();
            for at in 0..right.len() {
                let mut wrong = right.clone();
                wrong[at] ^= 1 << (at % 8);
                fs::write(&file, &wrong).unwrap();
                assert!(all(&path).is_err(), "{name}, byte {at}");
                fs::write(&file, &right[..at]).unwrap();
                assert!(all(&path).is_err(), "{name}, cut at {at}");
            }
            fs::write(&file, [&right[..], b"more"].concat()).unwrap();
            assert!(all(&path).is_err(), "{name}, more");
            fs::write(&file, &right).unwrap();
        }
        assert_eq!(all(&path).unwrap().len(), 40);
    }

    #[test]
    fn a_backup_that_was_not_finished_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b");
        let mut writer = BackupWriter::create(&path).unwrap();
        writer.put(Space::new(1), b"k", b"v").unwrap();
        // As a process that was killed leaves it.
        assert!(all(&path).unwrap_err().to_string().contains("not finished"));
        drop(writer);
        assert!(!path.exists());
    }
}
