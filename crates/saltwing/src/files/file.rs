//! The files of COPY: which files may be opened, and how.
//!
//! # Laws
//! 1. No file of the database's own directory is opened, whatever name, link or mount leads to it.
//! 2. A file that exists keeps its content, unless the statement has OVERWRITE.
//! 3. Every wait that is not for the disk checks the statement's context: a statement that waits for the other end of a pipe can be
//!    cancelled.
//!
//! # Left to others
//! STDIN and STDOUT, which are not files (`stream.rs`). This module does not defend against a user who changes links while a statement
//! runs: such a user can change the database's files as well.

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use saltwing_access::ScanContext;
use saltwing_sql::statement::CopyOptions;
use saltwing_types::ErrorCode;

use super::paths::matching;
use crate::Error;
use crate::file_access::{FileAccess, refused};

/// The first and the longest wait between two tries of an operation on a pipe or a device.
pub(crate) const PAUSE_MIN: Duration = Duration::from_micros(50);
const PAUSE_MAX: Duration = Duration::from_millis(10);

/// The use of a file by a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Read,
    Write,
}

impl Purpose {
    fn verb(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "written",
        }
    }
}

/// The rules for the files that may be opened.
pub(crate) struct FileRules<'a> {
    pub(crate) access: &'a FileAccess,
    /// The database's own directory, without links.
    pub(crate) own_directory: Option<&'a Path>,
    pub(crate) purpose: Purpose,
}

/// A file that may be opened.
pub(crate) struct AllowedFile {
    /// Without links, except for a pipe or device that has no name of its own.
    path: PathBuf,
    /// `None` if it does not exist yet.
    kind: Option<FileType>,
    purpose: Purpose,
}

impl FileRules<'_> {
    /// The files that a statement names, each with its path: the file at `path`, or else the files that match `path` as a pattern with `*`,
    /// `?`, `[..]` and `**`, in the order of their paths. Directories match no pattern.
    ///
    /// # Errors
    /// As [`FileRules::check`]; [`ErrorCode::Io`] if no file matches; the statement was stopped.
    pub(crate) fn files(
        &self,
        path: &str,
        options: &CopyOptions,
        context: &ScanContext,
    ) -> Result<Vec<(String, AllowedFile)>, Error> {
        let is_pattern = path.contains(['*', '?', '[']) && fs::symlink_metadata(path).is_err();
        if !is_pattern || *self.access == FileAccess::None {
            return Ok(vec![(path.to_owned(), self.check(path, options)?)]);
        }
        self.check_pattern(path)?;
        let not_utf8 = || Error::new(ErrorCode::BadArgument, format!("{path}: the name of a file is not UTF-8"));
        let mut files = Vec::new();
        for found in matching(path, context)? {
            context.check()?;
            let found = found.to_str().ok_or_else(not_utf8)?;
            files.push((found.to_owned(), self.check(found, options)?));
        }
        match files.is_empty() {
            true => Err(Error::new(ErrorCode::Io, format!("no file matches {path}"))),
            false => Ok(files),
        }
    }

    /// Refuses a pattern that would search a forbidden directory.
    fn check_pattern(&self, path: &str) -> Result<(), Error> {
        if !matches!(self.access, FileAccess::Below(_)) {
            return Ok(());
        }
        let fixed = path.split(['*', '?', '[']).next().and_then(|fixed| fixed.rsplit_once('/'));
        let fixed = fixed.map_or(".", |(fixed, _)| if fixed.is_empty() { "/" } else { fixed });
        let fixed = fs::canonicalize(fixed).ok().filter(|_| !path.split('/').any(|part| part == ".."));
        self.access.check_place(path, fixed.as_deref())
    }

    /// Checks the path that a statement names. Opens and changes nothing.
    ///
    /// # Errors
    /// [`ErrorCode::FileAccessRefused`] for a file that may not be used, or only with OVERWRITE or SPECIAL;
    /// [`ErrorCode::Io`] if the file is missing or its metadata cannot be read.
    pub(crate) fn check(&self, path: &str, options: &CopyOptions) -> Result<AllowedFile, Error> {
        let without_files = "use STDIN or STDOUT, or open the database with access to files";
        let allowed = self.access.check_any(path, self.purpose.verb());
        allowed.map_err(|error| error.with_help(Some(without_files)))?;
        let unusable = |error| unusable(path, self.purpose, &error);
        let (resolved, metadata) = self.resolve(Path::new(path)).map_err(unusable)?;
        if self.is_own(&resolved, metadata.as_ref()).map_err(unusable)? {
            let error = refused(format!("{path} belongs to the database's own directory"));
            return Err(error.with_help(Some("COPY uses files outside of it")));
        }
        self.access.check_place(path, Some(&resolved))?;
        let kind = metadata.map(|metadata| metadata.file_type());
        if let Some(kind) = kind {
            self.check_kind(path, kind, options)?;
        }
        Ok(AllowedFile { path: resolved, kind, purpose: self.purpose })
    }

    /// Checks the file or directory that a statement other than COPY names. Opens and changes nothing, and reveals nothing about files outside
    /// the permitted directory.
    ///
    /// # Errors
    /// [`ErrorCode::FileAccessRefused`].
    pub(crate) fn check_named(&self, path: &str, used: &str) -> Result<(), Error> {
        self.access.check_any(path, used)?;
        match self.access {
            FileAccess::Below(_) => {
                let resolved = self.resolve(Path::new(path)).ok();
                self.access.check_place(path, resolved.as_ref().map(|(resolved, _)| resolved.as_path()))
            }
            FileAccess::None | FileAccess::All => Ok(()),
        }
    }

    /// The path without links, and the file there. A file to be written may be missing.
    fn resolve(&self, path: &Path) -> io::Result<(PathBuf, Option<Metadata>)> {
        match fs::metadata(path) {
            // A pipe that another program has opened has only a name below /dev/fd, and that link has no target.
            Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
                Ok((fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()), Some(metadata)))
            }
            Ok(metadata) => Ok((fs::canonicalize(path)?, Some(metadata))),
            // A dangling link exists.
            Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => {
                let (Purpose::Write, Some(name)) = (self.purpose, path.file_name()) else { return Err(error) };
                let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
                Ok((fs::canonicalize(parent.unwrap_or(Path::new(".")))?.join(name), None))
            }
            Err(error) => Err(error),
        }
    }

    fn check_kind(&self, path: &str, kind: FileType, options: &CopyOptions) -> Result<(), Error> {
        if kind.is_dir() {
            let text = format!("{path} cannot be {}: it is a directory", self.purpose.verb());
            return Err(Error::new(ErrorCode::Io, text));
        }
        if !kind.is_file() {
            return match options.special {
                Some(true) => Ok(()),
                _ => Err(refused(format!("{path} is no regular file"))
                    .with_help(Some("WITH (SPECIAL) lets COPY use pipes and devices"))),
            };
        }
        match (self.purpose, options.overwrite) {
            (Purpose::Write, None | Some(false)) => {
                Err(refused(format!("{path} exists"))
                    .with_help(Some("WITH (OVERWRITE) replaces it; or name another file")))
            }
            _ => Ok(()),
        }
    }

    /// Whether a file is in the database's own directory, or is one of its files under another name.
    fn is_own(&self, path: &Path, metadata: Option<&Metadata>) -> io::Result<bool> {
        let Some(own) = self.own_directory else { return Ok(false) };
        if path.starts_with(own) {
            return Ok(true);
        }
        let Some(identity) = fs::metadata(own).ok().as_ref().and_then(identity) else { return Ok(false) };
        // The directory may be mounted in several places.
        let is_own_directory =
            |path: &Path| fs::metadata(path).ok().as_ref().and_then(self::identity) == Some(identity);
        if path.ancestors().skip(1).any(is_own_directory) {
            return Ok(true);
        }
        match metadata.and_then(self::identity) {
            Some(wanted) => holds(own, wanted),
            None => Ok(false),
        }
    }
}

/// Device and inode number of a file, which are the same under all its names. `None` on systems without them.
fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Some((metadata.dev(), metadata.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        None
    }
}

/// Whether the file with this identity is below a directory.
fn holds(directory: &Path, wanted: (u64, u64)) -> io::Result<bool> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        // The store may remove files meanwhile.
        let Ok(metadata) = entry.metadata() else { continue };
        if identity(&metadata) == Some(wanted) || metadata.is_dir() && holds(&entry.path(), wanted)? {
            return Ok(true);
        }
    }
    Ok(false)
}

impl AllowedFile {
    /// Opens the file; an existing file that is opened for writing loses its content.
    ///
    /// For a pipe, waits until its other end is open or the statement is stopped.
    ///
    /// # Errors
    /// [`ErrorCode::Io`]; the statement was stopped.
    pub(crate) fn open(self, context: &ScanContext) -> Result<CopyFile, Error> {
        let unusable = |error| unusable(&self.path.display().to_string(), self.purpose, &error);
        let file = match self.purpose {
            Purpose::Read => options().read(true).open(&self.path).map_err(unusable)?,
            Purpose::Write => self.open_for_writing(context)?,
        };
        // The file may have been replaced since the check.
        let kind = file.metadata().map_err(unusable)?.file_type();
        if self.kind.is_some_and(|expected| expected != kind) {
            return Err(refused(format!("{} was replaced by another kind of file", self.path.display())));
        }
        let is_new = self.kind.is_none();
        if self.purpose == Purpose::Write && kind.is_file() && !is_new {
            file.set_len(0).map_err(unusable)?;
        }
        let awaits_writer = self.purpose == Purpose::Read && is_pipe(kind);
        let created = is_new.then_some(self.path);
        Ok(CopyFile { file, context: context.clone(), awaits_writer, pause: PAUSE_MIN, created })
    }

    fn open_for_writing(&self, context: &ScanContext) -> Result<File, Error> {
        let mut pause = PAUSE_MIN;
        loop {
            let mut options = options();
            match options.write(true).create_new(self.kind.is_none()).open(&self.path) {
                Ok(file) => return Ok(file),
                Err(error) if self.kind.is_some_and(is_pipe) && has_no_reader(&error) => {
                    context.check()?;
                    wait(&mut pause);
                }
                Err(error) => return Err(unusable(&self.path.display().to_string(), self.purpose, &error)),
            }
        }
    }
}

/// Options with which opening never waits for the other end of a pipe, and no terminal becomes the process's controlling terminal.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    }
    options
}

fn is_pipe(kind: FileType) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        kind.is_fifo()
    }
    #[cfg(not(unix))]
    {
        let _ = kind;
        false
    }
}

fn has_no_reader(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        error.raw_os_error() == Some(libc::ENXIO)
    }
    #[cfg(not(unix))]
    {
        let _ = error;
        false
    }
}

pub(crate) fn wait(pause: &mut Duration) {
    std::thread::sleep(*pause);
    *pause = (*pause * 2).min(PAUSE_MAX);
}

fn unusable(path: &str, purpose: Purpose, error: &io::Error) -> Error {
    Error::new(ErrorCode::Io, format!("{path} cannot be {}: {error}", purpose.verb()))
}

/// An open file, pipe or device that stops waiting when its statement is stopped.
pub(crate) struct CopyFile {
    file: File,
    context: ScanContext,
    /// Whether the pipe has no writer yet; reads of such a pipe look like its end.
    awaits_writer: bool,
    pause: Duration,
    /// The path, if this statement created the file.
    created: Option<PathBuf>,
}

impl CopyFile {
    /// The size of a regular file in bytes.
    pub(crate) fn size(&self) -> Option<u64> {
        self.file.metadata().ok().filter(Metadata::is_file).map(|metadata| metadata.len())
    }

    /// The file, for a reader that seeks.
    ///
    /// # Errors
    /// The file is a pipe or a device.
    #[cfg(feature = "parquet")]
    pub(crate) fn into_regular(self) -> Result<File, Error> {
        match self.size() {
            Some(_) => Ok(self.file),
            None => Err(super::format::not_from_stream()),
        }
    }

    /// Removes the file, if this statement created it: the next try must not find the file of a failed statement.
    pub(crate) fn discard(self) {
        if let Some(path) = self.created {
            // The statement's own error is the one to report.
            let _ = fs::remove_file(path);
        }
    }

    fn wait(&mut self) -> io::Result<()> {
        self.context.check().map_err(io::Error::other)?;
        wait(&mut self.pause);
        Ok(())
    }
}

impl Read for CopyFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.context.check().map_err(io::Error::other)?;
        loop {
            match self.file.read(buffer) {
                Ok(0) if self.awaits_writer && !buffer.is_empty() => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.awaits_writer = false,
                done => {
                    (self.awaits_writer, self.pause) = (false, PAUSE_MIN);
                    return done;
                }
            }
            self.wait()?;
        }
    }
}

impl Write for CopyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.file.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait()?,
                done => {
                    self.pause = PAUSE_MIN;
                    return done;
                }
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
