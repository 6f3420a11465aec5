//! Ends of logs that a crash has torn: they are cut off at an opening, and copies of them are kept in the database's
//! directory.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::StoreError;
use crate::directory::sync_directory;

/// Where the cut ends of logs are kept, in the database's directory.
const TORN: &str = "TORN";

/// The way out of damage.
pub const SALVAGE: &str = "restore a backup, or run `saltwing salvage`";
/// Why a torn end is cut off.
pub const NEVER_ACKNOWLEDGED: &str = "not written whole, and never acknowledged";

/// The end of a log, to be cut off.
#[derive(Debug)]
pub struct Cut {
    /// The log's file.
    pub log: PathBuf,
    /// Bytes that stay.
    pub at: u64,
    /// Where the torn end ends.
    pub end: u64,
}

/// A cut in the words of a notice.
pub fn why(log: &Path, at: u64, why: &str) -> String {
    format!("{} from byte {at} on: {why}", log.display())
}

/// The notice of a torn end for a reader, which leaves the log as it is.
pub fn left_out(why: &str) -> String {
    format!("{why}; left out by this reader, which changes nothing")
}

/// The notice of a cut that was made, with the copy of what was cut off.
pub fn notice(why: &str, copy: Option<&Path>) -> String {
    let kept = copy.map_or(String::new(), |copy| format!("; what was cut off is kept as {}", copy.display()));
    format!("{why}{kept}")
}

impl Cut {
    /// Cuts the end off, having copied it: the place of the copy, `None` if the end was zeros.
    ///
    /// # Errors
    /// [`StoreError::Io`], [`StoreError::DiskFull`].
    pub fn make(&self, directory: &Path) -> Result<Option<PathBuf>, StoreError> {
        let failed = |error| StoreError::io("cut", &self.log, error);
        let mut log = OpenOptions::new().read(true).write(true).open(&self.log).map_err(failed)?;
        let copy = copy_end(&mut log, self, directory)?;
        log.set_len(self.at).and_then(|()| log.sync_all()).map_err(failed)?;
        Ok(copy)
    }
}

/// Copies the bytes after a cut, without zeros at the end; the copy is on the disk on return.
fn copy_end(log: &mut File, cut: &Cut, directory: &Path) -> Result<Option<PathBuf>, StoreError> {
    let folder = directory.join(TORN);
    let name = cut.log.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let copy = |log: &mut File| -> io::Result<Option<PathBuf>> {
        let length = length_without_zeros(log, cut.at)?.min(cut.end);
        if length <= cut.at {
            return Ok(None);
        }
        fs::create_dir_all(&folder)?;
        let free = (0..).map(|n: u32| folder.join(format!("{name}-from-{}.{n}", cut.at))).find(|path| !path.exists());
        let Some(path) = free else { return Ok(None) };
        let mut copy = File::create_new(&path)?;
        log.seek(SeekFrom::Start(cut.at))?;
        io::copy(&mut log.take(length - cut.at), &mut copy)?;
        copy.sync_all()?;
        Ok(Some(path))
    };
    let copy = copy(log).map_err(|error| StoreError::io("copy the torn end of", &cut.log, error))?;
    if copy.is_some() {
        sync_directory(&folder)?;
        sync_directory(directory)?;
    }
    Ok(copy)
}

/// Bytes of a file without the zeros at its end, at least `from`.
fn length_without_zeros(file: &mut File, from: u64) -> io::Result<u64> {
    file.seek(SeekFrom::Start(from))?;
    let (mut at, mut length, mut buffer) = (from, from, vec![0; 1 << 20]);
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(length);
        }
        if let Some(last) = buffer.get(..read).and_then(|bytes| bytes.iter().rposition(|byte| *byte != 0)) {
            length = at + last as u64 + 1;
        }
        at += read as u64;
    }
}
