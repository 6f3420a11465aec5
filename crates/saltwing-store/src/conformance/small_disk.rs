//! A small device.

use std::path::Path;
use std::process::Command;

/// A small file system in memory.
pub struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// A device of this size; `None` if it cannot be created.
    pub fn mount(bytes: u64) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={bytes}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder.path()).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(folder));
        }
        println!("skipped: no file system of {bytes} bytes can be mounted here");
        None
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(self.0.path()).output());
    }
}
