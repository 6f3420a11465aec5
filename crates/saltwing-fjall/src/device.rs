//! How much room the device of a database has.

use std::path::Path;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Bytes that are kept for deletions and for what gives their space back: a share of the device, within limits.
const RESERVE_SHARE: u64 = 16;
const RESERVE_BYTES_MIN: u64 = 4 << 20;
const RESERVE_BYTES_MAX: u64 = 64 << 20;
/// Bytes below which a device counts as full.
const FULL_BYTES: u64 = 1 << 20;
/// How long an answer of the system is good for.
const ASK_EVERY: Duration = Duration::from_millis(10);

/// The device, with what the system said of it last.
#[derive(Default)]
pub(crate) struct Device {
    asked: Mutex<Option<(Instant, Option<u64>)>>,
}

impl Device {
    /// Bytes free beside the reserve; `None` where the system does not say.
    pub(crate) fn room(&self, path: &Path) -> Option<u64> {
        let mut asked = self.asked.lock();
        match *asked {
            Some((at, room)) if at.elapsed() < ASK_EVERY => room,
            _ => {
                let room = free_and_all(path).map(|(free, all)| free.saturating_sub(reserve(all)));
                *asked = Some((Instant::now(), room));
                room
            }
        }
    }

    /// Whether nothing more can be written.
    pub(crate) fn is_full(&self, path: &Path) -> bool {
        free_and_all(path).is_some_and(|(free, _)| free < FULL_BYTES)
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
