//! Names of fjall's files.

use std::path::Path;

/// The path of a file relative to the database's directory; `data` is fjall's part.
pub(crate) fn below(data: &Path, file: &Path) -> String {
    match file.strip_prefix(data) {
        Ok(name) => Path::new("data").join(name).display().to_string(),
        Err(_) => file.display().to_string(),
    }
}
