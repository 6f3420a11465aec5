//! The content of a directory, to show that nothing has changed it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The files and folders below a path, with their bytes and the times of their last changes.
pub struct Files {
    path: PathBuf,
    found: BTreeMap<PathBuf, (Vec<u8>, SystemTime)>,
}

impl Files {
    /// All paths below `path`, and `path` itself.
    pub fn of(path: &Path) -> Self {
        let (mut found, mut left) = (BTreeMap::new(), vec![path.to_owned()]);
        while let Some(path) = left.pop() {
            let metadata = fs::symlink_metadata(&path).unwrap();
            let mut bytes = Vec::new();
            match metadata.is_dir() {
                true => left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path())),
                false => bytes = fs::read(&path).unwrap(),
            }
            found.insert(path, (bytes, metadata.modified().unwrap()));
        }
        Self { path: path.to_owned(), found }
    }

    /// Panics unless all is as it was, down to the times.
    pub fn assert_unchanged(&self) {
        let now = Self::of(&self.path).found;
        assert!(self.found.keys().eq(now.keys()), "{:?}\nwas\n{:?}", now.keys(), self.found.keys());
        for (path, found) in &now {
            assert!(self.found[path] == *found, "{} was changed", path.display());
        }
    }
}
