//! Opens fjall's files: after checks of the files that fjall would trust, and for a reader in a directory of its own.

use std::ops::Range;
use std::path::{Path, PathBuf};

use fjall::{CompressionType, Database, Keyspace};
use saltwing_store::directory::{Directory, guard_opening};
use saltwing_store::torn::{CutCopy, SALVAGE};
use saltwing_store::watermark::Found;
use saltwing_store::{Access, LeftOut, OpenOptions, StoreError};

use crate::error::storage_error;
use crate::journals;
use crate::keyspaces::Keyspaces;
use crate::reading_place::ReadingPlace;
use crate::{commits, damaged_files, version_lists};

/// Once closed journals take this many bytes, fjall flushes the memtables that keep the oldest of them. Otherwise small
/// spaces would keep all journals, up to fjall's 512 MiB.
const JOURNAL_BYTES_MAX: u64 = 64 << 20;

/// The opened parts of fjall.
pub(crate) struct Files {
    pub(crate) database: Database,
    pub(crate) keyspaces: Keyspaces,
    /// The keyspace of marks.
    pub(crate) marks: Keyspace,
    /// The newest number in it.
    pub(crate) newest: u64,
}

/// The open files, and the findings of the checks.
pub(crate) struct Opened {
    pub(crate) files: Files,
    /// Where a reader's fjall has its files.
    pub(crate) place: Option<ReadingPlace>,
    /// The newest number in the journals.
    pub(crate) journaled: Option<u64>,
    pub(crate) notice: Option<String>,
    pub(crate) left_out: Vec<LeftOut>,
}

/// Opens a database that must be whole.
///
/// # Errors
/// [`StoreError::Corrupt`], [`StoreError::Io`]; nothing is changed then.
pub(crate) fn open_whole(directory: &Directory, found: Found, options: &OpenOptions) -> Result<Opened, StoreError> {
    let verdict = match directory.is_ready() {
        true => {
            version_lists::check(&directory.data_path())?;
            journals::check(&directory.data_path(), found.marks())?
        }
        false => journals::Verdict::default(),
    };
    let (required, journaled) = (verdict.required, verdict.newest);
    let name = |error| damaged_files::named(&directory.data_path(), error);
    let (files, place, cuts, notice) = if options.access == Access::ReadOnly {
        let (place, files) = open_copy(directory, &verdict.parts(), options).map_err(name)?;
        (files, Some(place), Vec::new(), verdict.notice())
    } else {
        let (cuts, notice) = verdict.cut(directory.path())?;
        (open_files(directory, directory.path(), options).map_err(name)?, None, cuts, notice)
    };
    let newest = files.newest;
    if newest < required {
        // fjall must not write to files that are to be salvaged.
        drop(files);
        cuts.iter().rev().try_for_each(CutCopy::undo)?;
        let why = format!(
            "commits up to {required} were acknowledged, and the newest one there is {newest}. \
             Nothing was changed; {SALVAGE}"
        );
        return Err(StoreError::Corrupt { path: directory.data_path(), why });
    }
    Ok(Opened { files, place, journaled, notice, left_out: Vec::new() })
}

/// Opens the readable parts of a database.
///
/// # Errors
/// [`StoreError::Corrupt`] where nothing can be; [`StoreError::Io`].
pub(crate) fn open_salvage(directory: &Directory, found: Found, options: &OpenOptions) -> Result<Opened, StoreError> {
    let data = directory.data_path();
    version_lists::check(&data)?;
    match journals::check(&data, found.marks()) {
        Ok(verdict) => {
            let (place, files, left_out) = open_what_opens(directory, &verdict.parts(), options)?;
            // Else what looks like a torn end is damage.
            if files.newest >= verdict.required {
                let notice = verdict.notice();
                return Ok(Opened { files, place: Some(place), journaled: None, notice, left_out });
            }
        }
        Err(StoreError::Corrupt { .. }) => {}
        Err(error) => return Err(error),
    }
    let saved = journals::salvage(&data, found.marks())?;
    let (place, files, tables) = open_what_opens(directory, &saved.journals, options)?;
    let left_out = saved.left_out.into_iter().chain(tables).collect();
    Ok(Opened { files, place: Some(place), journaled: None, notice: None, left_out })
}

/// As [`open_copy`], without damaged tables: if that is not enough without those that are damaged inside, too.
fn open_what_opens(
    directory: &Directory,
    journals: &[(PathBuf, Vec<Range<u64>>)],
    options: &OpenOptions,
) -> Result<(ReadingPlace, Files, Vec<LeftOut>), StoreError> {
    let mut all = false;
    loop {
        let place = ReadingPlace::make(directory, journals)?;
        let left_out = damaged_files::leave_out(&place.path().join("data"), all).map_err(|error| match error {
            StoreError::Corrupt { why, .. } => StoreError::Corrupt { path: directory.path().to_path_buf(), why },
            error => error,
        })?;
        match open_files(directory, place.path(), options) {
            Ok(files) => return Ok((place, files, left_out)),
            Err(StoreError::Corrupt { .. }) if !all => all = true,
            Err(error) => return Err(damaged_files::named(&directory.data_path(), error)),
        }
    }
}

/// Opens a reader's own directory, with those parts of the journals.
fn open_copy(
    directory: &Directory,
    journals: &[(PathBuf, Vec<Range<u64>>)],
    options: &OpenOptions,
) -> Result<(ReadingPlace, Files), StoreError> {
    let place = ReadingPlace::make(directory, journals)?;
    let files = open_files(directory, place.path(), options)?;
    Ok((place, files))
}

/// Has fjall open its files in `home`, which is the directory or a reader's own.
fn open_files(directory: &Directory, home: &Path, options: &OpenOptions) -> Result<Files, StoreError> {
    let data = home.join("data");
    guard_opening(directory.path(), || {
        let open = || -> fjall::Result<_> {
            let mut builder = Database::builder(&data).cache_size(options.cache_bytes);
            if options.access.is_readonly() {
                // Nobody to write memory out, or to merge tables, into a place that goes.
                builder = builder.worker_threads_unchecked(0);
            }
            // Large values are already compressed.
            let database =
                builder.max_journaling_size(JOURNAL_BYTES_MAX).journal_compression(CompressionType::None).open()?;
            let keyspaces = Keyspaces::load(&database, &data)?;
            let (marks, newest) = commits::newest(&database)?;
            keyspaces.sync_new()?;
            Ok(Files { database, keyspaces, marks, newest })
        };
        open().map_err(|error| storage_error("open", directory.path(), &error))
    })
}
