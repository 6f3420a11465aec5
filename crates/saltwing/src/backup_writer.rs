//! Writes backups, while statements run.

use std::path::Path;

use saltwing_access::ScanContext;
use saltwing_store::backup::BackupWriter;
use saltwing_store::{Direction, KeyBounds, StoreError};
use saltwing_table::{SPACES, is_whole};
use saltwing_types::ErrorCode;

use crate::Error;
use crate::error::DAMAGE_HELP;
use crate::shared::Shared;

/// The number of entries that are copied between two checks for a stopped statement.
const ASK_EVERY: u64 = 64;

/// The content of a backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackupReport {
    /// Entries of the key-value store: blocks, records, directory entries.
    pub entries: u64,
    /// Bytes of these entries.
    pub bytes: u64,
}

/// Copies one snapshot of a database: see [`Database::backup`](crate::Database::backup).
///
/// # Errors
/// Those of that method; the statement was stopped.
pub(crate) fn write_backup(shared: &Shared, path: &Path, context: &ScanContext) -> Result<BackupReport, Error> {
    refuse_own_directory(shared, path)?;
    shared.storage("a backup")?.at_one_moment(|kv| {
        let mut writer = BackupWriter::create(path)?;
        let mut count = 0u64;
        for space in SPACES {
            let mut cursor = kv.cursor(space, KeyBounds::all(), Direction::Forward)?;
            while let Some((key, value)) = cursor.next()? {
                if count.is_multiple_of(ASK_EVERY) {
                    context.check()?;
                }
                count += 1;
                if !is_whole(space, &key, &value) {
                    return Err(damaged(path));
                }
                writer.put(space, &key, &value)?;
            }
        }
        let size = writer.finish()?;
        Ok(BackupReport { entries: size.entries, bytes: size.bytes })
    })
}

/// Refuses a backup inside the database's own directory, where its files would look like damage.
fn refuse_own_directory(shared: &Shared, path: &Path) -> Result<(), Error> {
    let Some(own) = shared.options.path.as_ref().and_then(|own| own.canonicalize().ok()) else {
        return Ok(());
    };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match parent.canonicalize() {
        Ok(parent) if parent.starts_with(&own) => {
            let text = format!("{} lies in the directory of the database itself", path.display());
            Err(Error::new(ErrorCode::BadArgument, text).with_help(Some("name a directory beside it")))
        }
        _ => Ok(()),
    }
}

fn damaged(path: &Path) -> Error {
    let why = "an entry of the database is damaged, and no backup is made of it".to_owned();
    let error: Error = StoreError::Corrupt { path: path.to_path_buf(), why }.into();
    error.with_help(Some(DAMAGE_HELP))
}
