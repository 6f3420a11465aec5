//! Which files a run takes.

use std::path::{Path, PathBuf};

use crate::Error;

/// What files of a folder are called.
const EXTENSIONS: [&str; 2] = ["slt", "test"];

/// The files of a run, in a fixed order.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Files, each once, by name within their folder.
    pub files: Vec<PathBuf>,
}

/// The files that `paths` name: files as they are, folders with all `.slt` and
/// `.test` files below them but for those that start with `_`.
///
/// # Errors
/// [`Error::File`] for a path that is not there.
pub fn select<P: AsRef<Path>>(paths: &[P]) -> Result<Selection, Error> {
    let mut selection = Selection::default();
    for path in paths {
        add(path.as_ref(), &mut selection.files, true)?;
    }
    Ok(selection)
}

fn add(path: &Path, files: &mut Vec<PathBuf>, is_named: bool) -> Result<(), Error> {
    let wrong = |source| Error::File { path: path.display().to_string(), source };
    if !path.metadata().map_err(wrong)?.is_dir() {
        if (is_named || is_script(path)) && !files.iter().any(|file| file == path) {
            files.push(path.to_owned());
        }
        return Ok(());
    }
    let mut entries: Vec<PathBuf> =
        path.read_dir().map_err(wrong)?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>().map_err(wrong)?;
    entries.sort();
    entries.iter().try_for_each(|entry| add(entry, files, false))
}

fn is_script(path: &Path) -> bool {
    let included = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('_'));
    !included && path.extension().is_some_and(|e| EXTENSIONS.iter().any(|known| e == *known))
}
