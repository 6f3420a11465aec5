//! The directory of the temporary files of sorts, joins and groups.

use std::path::PathBuf;
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::execution::disk_manager::{DiskManager, DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::{SpillFile, TempFileFactory};
use parking_lot::Mutex;

/// Makes temporary files in a directory, which is created with the first of them: most databases never spill, and a full device can be
/// opened. The files are removed once they are no longer used.
pub(super) struct SpillDirectory {
    path: PathBuf,
    files: Mutex<Option<Arc<DiskManager>>>,
}

impl SpillDirectory {
    /// The mode of a disk manager for files in this directory.
    pub(super) fn mode(path: PathBuf) -> DiskManagerMode {
        DiskManagerMode::Custom(Arc::new(Self { path, files: Mutex::new(None) }))
    }
}

impl TempFileFactory for SpillDirectory {
    fn create_temp_file(&self, description: &str) -> Result<Arc<dyn SpillFile>> {
        let mut files = self.files.lock();
        let files = match &mut *files {
            Some(files) => files,
            empty => {
                let mode = DiskManagerMode::Directories(vec![self.path.clone()]);
                empty.insert(Arc::new(DiskManagerBuilder::default().with_mode(mode).build()?))
            }
        };
        files.create_tmp_file(description)
    }
}
