//! Damaged tables and value files: named in a report, and omitted by a salvage.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use saltwing_store::torn::{RESTORE, SALVAGE};
use saltwing_store::{LeftOut, StoreError};

use crate::file_list::{DamagedFile, FileList};
use crate::files::below;
use crate::version_lists::{KEYSPACES, is_directory_keyspace};

/// The keyspaces of `data` with damaged files.
pub(crate) fn find(data: &Path) -> Result<Vec<(PathBuf, Vec<DamagedFile>)>, StoreError> {
    let keyspaces = data.join(KEYSPACES);
    let list = || -> io::Result<Vec<PathBuf>> {
        fs::read_dir(&keyspaces)?.map(|entry| entry.map(|entry| entry.path())).collect()
    };
    let mut folders = list().map_err(|error| StoreError::io("list the keyspaces in", &keyspaces, error))?;
    folders.retain(|folder| folder.is_dir());
    let damaged = |folder: PathBuf| {
        let read = || match FileList::read(&folder)? {
            Some(list) => list.damaged(&folder),
            None => Ok(Vec::new()),
        };
        let files = read().map_err(|error| StoreError::io("read", &folder, error))?;
        Ok((folder, files))
    };
    let found: Vec<_> = folders.into_iter().map(damaged).collect::<Result<_, StoreError>>()?;
    Ok(found.into_iter().filter(|(_, files)| !files.is_empty()).collect())
}

/// The same error about the file that is damaged, where fjall's own names only the database; with the way out.
pub(crate) fn named(data: &Path, error: StoreError) -> StoreError {
    let StoreError::Corrupt { why, .. } = &error else { return error };
    let first = find(data).ok().and_then(|found| {
        let (folder, files) = found.into_iter().next()?;
        Some((is_directory_keyspace(&folder), files.into_iter().next()?))
    });
    let Some((is_of_directory, file)) = first else { return error };
    let advice = if file.is_table && !is_of_directory { SALVAGE } else { RESTORE };
    let why = format!("the file does not have the checksum that was recorded ({why}). Nothing was changed; {advice}");
    StoreError::Corrupt { path: file.path, why }
}

/// Writes the lists of keyspaces in `place`, a copy, without damaged tables: those whose sections lsm-tree cannot find,
/// or all. Returns the omitted parts.
///
/// # Errors
/// [`StoreError::Corrupt`] for a table of fjall's directory of keyspaces, without which nothing has a name; [`StoreError::Io`].
pub(crate) fn leave_out(place: &Path, all: bool) -> Result<Vec<LeftOut>, StoreError> {
    let mut left_out = Vec::new();
    for (folder, files) in find(place)? {
        let tables: Vec<_> = files.iter().filter(|file| file.is_table && (all || !file.has_contents)).collect();
        let Some(first) = tables.first() else { continue };
        if is_directory_keyspace(&folder) {
            let file = below(place, &first.path);
            let why = format!("{file} is damaged, in which fjall names its keyspaces; nothing can be saved without it");
            return Err(StoreError::Corrupt { path: place.to_path_buf(), why });
        }
        let write = || FileList::read(&folder)?.map_or(Ok(()), |list| list.write_without(&folder, &tables));
        write().map_err(|error| StoreError::io("write", &folder, error))?;
        left_out.extend(tables.into_iter().map(|table| {
            LeftOut {
                file: below(place, &table.path),
                place: "the file".into(),
                what:
                    "it does not have the checksum that was recorded, and cannot be opened; what it holds is left out"
                        .into(),
            }
        }));
    }
    Ok(left_out)
}
