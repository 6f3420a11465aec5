//! lsm-tree's list of a keyspace's files, with the checksums that it has recorded of them and does not compare.
//!
//! ```text
//! vM           sections of the container format sfa, among them
//!   tables     levels 1 | each: runs 1 | each: tables 4 | each: number 8 | checksum type 1 | XXH3 (128 bits) 16 | order number 8
//!   blob_files files 4 | each: number 8 | checksum type 1 | XXH3 (128 bits) 16
//! ```
//!
//! Lists are read only after [`crate::version_lists::check`], because sfa allocates by unchecked lengths.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use crate::version_lists::{CURRENT, checksum_of, list_path};

const TABLES: &[u8] = b"tables";
const BLOB_FILES: &[u8] = b"blob_files";
/// What ends a file of sfa: magic 4 | version 1 | checksum type 1 | XXH3 (128 bits) of the contents 16 | their place 8, bytes 8.
const TRAILER_BYTES: u64 = 38;

/// A table or a file of values whose bytes are not those that were written.
#[derive(Debug)]
pub(crate) struct DamagedFile {
    pub(crate) path: PathBuf,
    number: u64,
    pub(crate) is_table: bool,
    /// Whether the list of its sections holds. Without it lsm-tree cannot open the file, and may allocate any length.
    pub(crate) has_contents: bool,
}

/// The list that is in force in the folder of a keyspace.
pub(crate) struct FileList {
    number: u64,
    sections: Vec<(Vec<u8>, Vec<u8>)>,
}

type TableEntry = (u64, Vec<u8>);

fn broken() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a list of tables cannot be read")
}

impl FileList {
    /// Reads a keyspace's list; `None` where the folder has none.
    pub(crate) fn read(folder: &Path) -> io::Result<Option<Self>> {
        let current = match fs::read(folder.join(CURRENT)) {
            Ok(current) => current,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let number = u64::from_le_bytes(*current.first_chunk().ok_or_else(broken)?);
        let bytes = match fs::read(list_path(folder, number)) {
            Ok(bytes) => bytes,
            // A keyspace that was being dropped.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let reader = sfa::Reader::from_reader(&mut io::Cursor::new(&bytes)).map_err(|_| broken())?;
        let section = |entry: &sfa::TocEntry| {
            let (at, end) = (entry.pos() as usize, entry.pos().saturating_add(entry.len()) as usize);
            Ok((entry.name().to_vec(), bytes.get(at..end).ok_or_else(broken)?.to_vec()))
        };
        let sections = reader.toc().iter().map(section).collect::<io::Result<_>>()?;
        Ok(Some(Self { number, sections }))
    }

    /// The files that are missing, or do not have the checksums that were recorded.
    pub(crate) fn damaged(&self, folder: &Path) -> io::Result<Vec<DamagedFile>> {
        let tables = self.tables()?.into_iter().flatten().flatten().map(|(number, entry)| (true, number, entry));
        let mut found = Vec::new();
        for (is_table, number, entry) in tables.chain(self.blob_files()?) {
            let path = folder.join(if is_table { "tables" } else { "blobs" }).join(number.to_string());
            let recorded = entry.get(1..17).and_then(|bytes| bytes.try_into().ok()).map(u128::from_le_bytes);
            match checksum_of(&path) {
                Ok(checksum) if Some(checksum) == recorded => {}
                Ok(_) => {
                    let has_contents = has_contents(&path)?;
                    found.push(DamagedFile { path, number, is_table, has_contents });
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    found.push(DamagedFile { path, number, is_table, has_contents: false });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Writes the list again, without some tables.
    pub(crate) fn write_without(&self, folder: &Path, tables: &[&DamagedFile]) -> io::Result<()> {
        let mut levels = self.tables()?;
        for runs in &mut levels {
            runs.iter_mut()
                .for_each(|run| run.retain(|(number, _)| tables.iter().all(|table| table.number != *number)));
            // lsm-tree panics on a run without tables.
            runs.retain(|run| !run.is_empty());
        }
        let mut bytes = io::Cursor::new(Vec::new());
        let mut writer = sfa::Writer::from_writer(&mut bytes);
        for (name, section) in &self.sections {
            writer.start(name.clone())?;
            match name == TABLES {
                true => writer.write_all(&encoded(&levels)?)?,
                false => writer.write_all(section)?,
            }
        }
        writer.finish().map_err(|_| broken())?;
        let bytes = bytes.into_inner();
        fs::write(list_path(folder, self.number), &bytes)?;
        let current = [&self.number.to_le_bytes()[..], &xxh3_128(&bytes).to_le_bytes(), &[0]].concat();
        fs::write(folder.join(CURRENT), current)
    }

    fn section(&self, name: &[u8]) -> io::Result<&[u8]> {
        let found = self.sections.iter().find(|(of, _)| of == name);
        found.map(|(_, bytes)| &bytes[..]).ok_or_else(broken)
    }

    /// Levels of runs of tables.
    fn tables(&self) -> io::Result<Vec<Vec<Vec<TableEntry>>>> {
        let mut bytes = self.section(TABLES)?;
        let [levels] = take(&mut bytes)?;
        let level = |bytes: &mut &[u8]| {
            let [runs] = take(bytes)?;
            (0..runs).map(|_| entries::<25>(bytes)).collect::<io::Result<Vec<_>>>()
        };
        (0..levels).map(|_| level(&mut bytes)).collect()
    }

    fn blob_files(&self) -> io::Result<impl Iterator<Item = (bool, u64, Vec<u8>)> + use<>> {
        let files = entries::<17>(&mut self.section(BLOB_FILES)?)?;
        Ok(files.into_iter().map(|(number, entry)| (false, number, entry)))
    }
}

fn take<const N: usize>(bytes: &mut &[u8]) -> io::Result<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk().ok_or_else(broken)?;
    *bytes = rest;
    Ok(*taken)
}

/// Reads a count of 4 bytes, and that many entries: each a file's number and `N` bytes more.
fn entries<const N: usize>(bytes: &mut &[u8]) -> io::Result<Vec<TableEntry>> {
    let count = u32::from_le_bytes(take(bytes)?);
    (0..count).map(|_| Ok((u64::from_le_bytes(take(bytes)?), take::<N>(bytes)?.to_vec()))).collect()
}

fn encoded(levels: &[Vec<Vec<TableEntry>>]) -> io::Result<Vec<u8>> {
    let too_many = |what: &str, count: usize| io::Error::other(format!("{count} {what} do not fit the list of files"));
    let mut bytes = vec![u8::try_from(levels.len()).map_err(|_| too_many("levels", levels.len()))?];
    for runs in levels {
        bytes.push(u8::try_from(runs.len()).map_err(|_| too_many("runs of a level", runs.len()))?);
        for run in runs {
            let count = u32::try_from(run.len()).map_err(|_| too_many("tables of a run", run.len()))?;
            bytes.extend(count.to_le_bytes());
            for (number, entry) in run {
                bytes.extend(number.to_le_bytes());
                bytes.extend(entry);
            }
        }
    }
    Ok(bytes)
}

/// Whether a file's list of sections has its checksum.
fn has_contents(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let Some(trailer_at) = file.metadata()?.len().checked_sub(TRAILER_BYTES) else { return Ok(false) };
    let mut trailer = [0; TRAILER_BYTES as usize];
    file.seek(SeekFrom::Start(trailer_at))?;
    file.read_exact(&mut trailer)?;
    let mut fields = &trailer[6..];
    let checksum = u128::from_le_bytes(take(&mut fields)?);
    let (at, bytes) = (u64::from_le_bytes(take(&mut fields)?), u64::from_le_bytes(take(&mut fields)?));
    if at.checked_add(bytes) != Some(trailer_at) {
        return Ok(false);
    }
    let mut contents = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.take(bytes).read_to_end(&mut contents)?;
    Ok(xxh3_128(&contents) == checksum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_do_not_fit_are_refused() {
        let levels = |levels: usize, runs: usize| vec![vec![vec![(7, vec![0; 25])]; runs]; levels];
        let fits = encoded(&levels(7, 255)).unwrap();
        assert_eq!((fits[0], fits[1], fits.len()), (7, 255, 1 + 7 * (1 + 255 * (4 + 8 + 25))));
        assert_eq!(encoded(&levels(256, 1)).unwrap_err().to_string(), "256 levels do not fit the list of files");
        let runs = encoded(&levels(1, 256)).unwrap_err();
        assert_eq!(runs.to_string(), "256 runs of a level do not fit the list of files");
    }
}
