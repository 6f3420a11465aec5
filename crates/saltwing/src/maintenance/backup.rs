//! Making backups, beside everything else.

use std::path::Path;

use saltwing_access::{Budget, ScanContext};
use saltwing_store::backup::BackupWriter;
use saltwing_store::{Direction, KeyBounds, StoreError};
use saltwing_table::{SPACES, is_whole};
use saltwing_types::ErrorCode;

use crate::copy::{Purpose, file_rules};
use crate::error::DAMAGE_HELP;
use crate::outcome::{ExecResult, Outcome};
use crate::run::writable;
use crate::session::Session;
use crate::{Database, Error};

/// How many entries are copied before the statement is asked whether it shall go on.
const ASK_EVERY: u64 = 64;

/// The content of a backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackupReport {
    /// Entries of the store below: blocks, records, directory entries.
    pub entries: u64,
    /// Bytes of these.
    pub bytes: u64,
}

impl Database {
    /// Copies the database as it is at one moment into a new directory, while statements go on: every commit that was
    /// acknowledged before is in it, and each commit whole or not at all. When this returns, the copy is on the disk.
    /// [`crate::Builder::restore`] makes a database of it.
    ///
    /// # Errors
    /// [`ErrorCode::Io`] when something is at `path` already; [`ErrorCode::DiskFull`]; [`ErrorCode::Corrupt`] where what is
    /// copied is damaged. After an error there is nothing at `path`.
    pub fn backup(&self, path: impl AsRef<Path>) -> Result<BackupReport, Error> {
        self.write_backup(path.as_ref(), &ScanContext::new(Budget::default()))
    }

    fn write_backup(&self, path: &Path, context: &ScanContext) -> Result<BackupReport, Error> {
        self.refuse_own_directory(path)?;
        self.shared.storage("a backup")?.at_one_moment(|kv| {
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

    /// A backup among the database's own files would be taken for damage of them.
    fn refuse_own_directory(&self, path: &Path) -> Result<(), Error> {
        let Some(own) = self.shared.options.path.as_ref().and_then(|own| own.canonicalize().ok()) else {
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
}

fn damaged(path: &Path) -> Error {
    let why = "an entry of the database is damaged, and no backup is made of it".to_owned();
    let error: Error = StoreError::Corrupt { path: path.to_path_buf(), why }.into();
    error.with_help(Some(DAMAGE_HELP))
}

/// BACKUP TO. Another connection may write to the database meanwhile, this one waits.
pub(crate) fn run_backup(session: &Session, path: &str) -> Result<Outcome, Error> {
    // It writes files, which a read-only database must not.
    writable(session)?;
    file_rules(session, Purpose::Write).check_named(path, "written")?;
    let database = Database { shared: session.shared().clone() };
    let report = database.write_backup(Path::new(path), &session.begin())?;
    let notice = format!("{} bytes are in {path}", report.bytes);
    Ok(ExecResult::noticed(vec![notice]).into())
}
