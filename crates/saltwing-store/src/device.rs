//! How much room the device of a database has.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Bytes that are kept for deletions and for what gives their space back: a share of the device, within limits.
const RESERVE_SHARE: u64 = 16;
const RESERVE_BYTES_MIN: u64 = 4 << 20;
const RESERVE_BYTES_MAX: u64 = 64 << 20;
/// The most that a batch is expected to take: a share of the device.
const BATCH_SHARE: u64 = 8;
/// Bytes below which a device counts as full.
const FULL_BYTES: u64 = 1 << 20;
/// How long an answer of the system is good for.
const ASK_EVERY: Duration = Duration::from_millis(10);

/// The device, with the last answer of the system.
#[derive(Debug, Default)]
pub struct Device {
    /// Bytes that a store takes for a large batch, once it has begun.
    batch_bytes: u64,
    last_answer: Mutex<Option<(Instant, Option<u64>)>>,
}

impl Device {
    /// A device that reserves `batch_bytes` for a batch in flight, but at most an eighth of the device. The reserve is
    /// not counted as room.
    pub fn with_batches_of(batch_bytes: u64) -> Self {
        Self { batch_bytes, ..Self::default() }
    }

    /// Bytes free in addition to the reserve; `None` if the system does not report them.
    pub fn room(&self, path: &Path) -> Option<u64> {
        let mut last_answer = self.last_answer.lock();
        match *last_answer {
            Some((at, room)) if at.elapsed() < ASK_EVERY => room,
            _ => {
                let room = free_and_all(path)
                    .map(|(free, all)| free.saturating_sub(reserve(all) + self.batch_bytes.min(all / BATCH_SHARE)));
                *last_answer = Some((Instant::now(), room));
                room
            }
        }
    }

    /// Discards the cached answer after much space was freed.
    pub fn ask_anew(&self) {
        *self.last_answer.lock() = None;
    }

    /// Bytes free, the reserve among them; `None` where the system does not say.
    pub fn free(&self, path: &Path) -> Option<u64> {
        free_and_all(path).map(|(free, _)| free)
    }

    /// Whether nothing more can be written.
    pub fn is_full(&self, path: &Path) -> bool {
        self.free(path).is_some_and(|free| free < FULL_BYTES)
    }
}

fn reserve(all: u64) -> u64 {
    (all / RESERVE_SHARE).clamp(RESERVE_BYTES_MIN, RESERVE_BYTES_MAX)
}

/// Bytes that are free on a path's device, and all that it has.
#[cfg(unix)]
fn free_and_all(path: &Path) -> Option<(u64, u64)> {
    let stat = rustix::fs::statvfs(path).ok()?;
    Some((stat.f_bavail.saturating_mul(stat.f_frsize), stat.f_blocks.saturating_mul(stat.f_frsize)))
}

#[cfg(not(unix))]
fn free_and_all(_: &Path) -> Option<(u64, u64)> {
    None
}

/// Bytes that a file takes on the device, without its holes.
///
/// # Errors
/// The system's.
pub fn taken(file: &File) -> io::Result<u64> {
    let data = file.metadata()?;
    #[cfg(unix)]
    return Ok(std::os::unix::fs::MetadataExt::blocks(&data) * 512);
    #[cfg(not(unix))]
    Ok(data.len())
}

/// Bytes before `end` that were never written, as far as the system says; else those of the whole file. Moves the
/// file's position.
///
/// # Errors
/// The system's.
pub fn unwritten(file: &File, end: u64) -> io::Result<u64> {
    #[cfg(target_os = "linux")]
    if let Some(bytes) = holes(file, end) {
        return Ok(bytes);
    }
    Ok(file.metadata()?.len().saturating_sub(taken(file)?).min(end))
}

#[cfg(target_os = "linux")]
fn holes(file: &File, end: u64) -> Option<u64> {
    use rustix::fs::{SeekFrom, seek};
    use rustix::io::Errno;
    let end = end.min(file.metadata().ok()?.len());
    let (mut at, mut bytes) = (0, 0);
    while at < end {
        let hole = seek(file, SeekFrom::Hole(at)).ok()?.min(end);
        // There is no data after the last hole.
        at = match seek(file, SeekFrom::Data(hole)) {
            Ok(data) => data.min(end),
            Err(Errno::NXIO) => end,
            Err(_) => return None,
        };
        bytes += at - hole;
    }
    Some(bytes)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::{taken, unwritten};

    #[test]
    fn what_was_never_written_is_counted() {
        let home = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let file = std::fs::File::create(home.path().join("file")).unwrap();
        file.set_len(10 << 20).unwrap();
        assert_eq!(unwritten(&file, u64::MAX).unwrap(), 10 << 20);
        file.write_all_at(&vec![1; 1 << 20], 4 << 20).unwrap();
        for (end, expected) in [(u64::MAX, 9), (10, 9), (7, 6), (5, 4), (4, 4), (1, 1), (0, 0)] {
            assert_eq!(unwritten(&file, u64::min(end, 1 << 40) << 20).unwrap(), expected << 20);
        }
        assert_eq!(taken(&file).unwrap(), 1 << 20);
        file.write_all_at(&[1], (10 << 20) - 1).unwrap();
        assert!(unwritten(&file, 10 << 20).unwrap() < 9 << 20);
    }
}
