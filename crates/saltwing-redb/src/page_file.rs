//! The file below redb: pages with a checksum each.
//!
//! ```text
//!  group 0                                   group 1
//!  [sums, 4 KiB] [page 0] [page 1] .. [1023] [sums] [page 1024] ..
//!
//!  page 0    redb's header, 320 bytes | zeros | its checksum 4, at 508
//!  sums      a checksum a page of the group, 4 bytes each, little endian
//! ```
//!
//! A checksum is the CRC-32 of a page, xor that of a page of zeros: pages that were never written have 0, as the file
//! has where it grew.
//!
//! # Laws
//! 1. What [`StorageBackend::read`] returns is what was last written there, or it is an error that names the page.
//! 2. The pages that a header on the disk names are there with their checksums. A header stays in memory until the
//!    next sync, which brings pages and checksums to the disk before it: redb writes both at once when it compacts,
//!    and expects pages that a crash has torn to be readable. A page is not written again while a header on the disk
//!    names it, so that of a torn block of checksums both versions are right for such pages.
//! 3. The header lies in one sector of 512 bytes, with its checksum: a write of it is there whole or not at all.
//!
//! Memory: 4 bytes for each 4 KiB that were touched since the opening.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::{Mutex, RwLock};
use redb::StorageBackend;

use crate::positioned;

pub(crate) const PAGE: u64 = 4096;
const GROUP_PAGES: u64 = PAGE / 4;
/// Bytes of a group in the file, checksums included.
const GROUP_BYTES: u64 = (1 + GROUP_PAGES) * PAGE;
/// Where the first page lies, which has redb's header.
const HEADER_AT: u64 = PAGE;
/// Bytes of the header's sector that redb may use, and behind them the checksum.
pub(crate) const HEADER_BYTES: usize = 508;
const SECTOR: usize = 512;
/// The CRC-32 of a page of zeros.
const ZEROS: u32 = 0xc71c_0011;

/// A file of checked pages.
#[derive(Debug)]
pub(crate) struct PageFile {
    file: File,
    /// The groups that were touched, by number.
    groups: RwLock<HashMap<u64, Arc<Group>>>,
    /// Groups whose checksums changed since they were written.
    changed: Mutex<BTreeSet<u64>>,
    /// The header's sector, if it is not in the file yet.
    header: Mutex<Option<[u8; SECTOR]>>,
}

/// The checksums of a group's pages.
#[derive(Debug)]
struct Group {
    sums: Vec<AtomicU32>,
}

/// Pages within one group.
struct PageRange {
    group: u64,
    /// The first page's place in the group.
    first: usize,
    pages: usize,
}

impl PageRange {
    fn bytes(&self) -> usize {
        self.pages * PAGE as usize
    }

    /// Its offset in the file.
    fn at(&self) -> u64 {
        self.group * GROUP_BYTES + (1 + self.first as u64) * PAGE
    }

    fn page(&self, index: usize) -> u64 {
        self.group * GROUP_PAGES + (self.first + index) as u64
    }
}

/// The pages from `offset` on, cut at the borders of groups.
fn page_ranges(offset: u64, len: usize) -> Result<impl Iterator<Item = PageRange>> {
    if !offset.is_multiple_of(PAGE) || !(len as u64).is_multiple_of(PAGE) {
        let what = format!("{len} bytes at {offset} are not whole pages");
        return Err(Error::new(ErrorKind::InvalidInput, what));
    }
    let (mut page, end) = (offset / PAGE, (offset + len as u64) / PAGE);
    Ok(std::iter::from_fn(move || {
        let (group, first) = (page / GROUP_PAGES, page % GROUP_PAGES);
        let pages = (end - page).min(GROUP_PAGES - first);
        page += pages;
        (pages > 0).then_some(PageRange { group, first: first as usize, pages: pages as usize })
    }))
}

fn sum(page: &[u8]) -> u32 {
    crc32fast::hash(page) ^ ZEROS
}

fn damaged(page: u64) -> Error {
    let why = format!("page {page} of data/pages does not have its checksum");
    Error::new(ErrorKind::InvalidData, why)
}

/// Bytes of the file for this many bytes of redb.
fn outer_len(len: u64) -> u64 {
    let (groups, rest) = (len / (GROUP_PAGES * PAGE), len % (GROUP_PAGES * PAGE));
    groups * GROUP_BYTES + if rest > 0 { PAGE + rest } else { 0 }
}

/// Bytes of redb in a file of this size.
fn inner_len(len: u64) -> u64 {
    let (groups, rest) = (len / GROUP_BYTES, len % GROUP_BYTES);
    groups * GROUP_PAGES * PAGE + rest.saturating_sub(PAGE)
}

impl PageFile {
    pub(crate) fn new(file: File) -> Self {
        Self { file, groups: RwLock::default(), changed: Mutex::default(), header: Mutex::default() }
    }

    /// The checksums of a group; read from the file if they were not yet.
    fn group(&self, number: u64) -> Result<Arc<Group>> {
        if let Some(group) = self.groups.read().get(&number) {
            return Ok(group.clone());
        }
        let mut groups = self.groups.write();
        if let Some(group) = groups.get(&number) {
            return Ok(group.clone());
        }
        let mut bytes = [0; PAGE as usize];
        if number * GROUP_BYTES < self.file.metadata()?.len() {
            positioned::read(&self.file, number * GROUP_BYTES, &mut bytes)?;
        }
        let sums = bytes.as_chunks().0.iter().map(|sum| AtomicU32::new(u32::from_le_bytes(*sum))).collect();
        let group = Arc::new(Group { sums });
        groups.insert(number, group.clone());
        Ok(group)
    }

    fn write_sums(&self, number: u64) -> Result<()> {
        let group = self.group(number)?;
        let bytes: Vec<u8> = group.sums.iter().flat_map(|sum| sum.load(Ordering::Relaxed).to_le_bytes()).collect();
        positioned::write(&self.file, number * GROUP_BYTES, &bytes)
    }

    /// Writes the checksums that have changed; whether there were any.
    fn write_changed_sums(&self) -> Result<bool> {
        let changed = std::mem::take(&mut *self.changed.lock());
        changed.iter().try_for_each(|number| self.write_sums(*number))?;
        Ok(!changed.is_empty())
    }

    fn header_sector(&self) -> Result<[u8; SECTOR]> {
        let mut sector = [0; SECTOR];
        match *self.header.lock() {
            Some(waiting) => sector = waiting,
            None => positioned::read(&self.file, HEADER_AT, &mut sector)?,
        }
        Ok(sector)
    }

    fn read_header(&self, offset: usize, out: &mut [u8]) -> Result<()> {
        let sector = self.header_sector()?;
        let (header, found) = sector.split_at(HEADER_BYTES);
        // Before the first write all of it is zeros.
        if found != crc32fast::hash(header).to_le_bytes() && sector != [0; SECTOR] {
            return Err(damaged(0));
        }
        let part = header.get(offset..offset + out.len()).ok_or_else(|| past_header(offset, out.len()))?;
        out.copy_from_slice(part);
        Ok(())
    }

    fn write_header(&self, offset: usize, data: &[u8]) -> Result<()> {
        let mut sector = [0; SECTOR];
        if let Some(header) = sector.get_mut(..HEADER_BYTES).filter(|_| offset > 0 || data.len() < HEADER_BYTES) {
            self.read_header(0, header)?;
        }
        let part = sector[..HEADER_BYTES].get_mut(offset..offset + data.len());
        part.ok_or_else(|| past_header(offset, data.len()))?.copy_from_slice(data);
        let found = crc32fast::hash(&sector[..HEADER_BYTES]).to_le_bytes();
        sector[HEADER_BYTES..].copy_from_slice(&found);
        *self.header.lock() = Some(sector);
        Ok(())
    }
}

fn past_header(offset: usize, len: usize) -> Error {
    Error::new(ErrorKind::InvalidInput, format!("{len} bytes at {offset} are not in the header"))
}

impl StorageBackend for PageFile {
    fn len(&self) -> Result<u64> {
        Ok(inner_len(self.file.metadata()?.len()))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        if offset < PAGE {
            return self.read_header(offset as usize, out);
        }
        let mut left = out;
        for range in page_ranges(offset, left.len())? {
            let (part, rest) = left.split_at_mut(range.bytes());
            positioned::read(&self.file, range.at(), part)?;
            let group = self.group(range.group)?;
            for (index, page) in part.chunks_exact(PAGE as usize).enumerate() {
                let expected = group.sums.get(range.first + index).map(|sum| sum.load(Ordering::Relaxed));
                if expected != Some(sum(page)) {
                    return Err(damaged(range.page(index)));
                }
            }
            left = rest;
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<()> {
        let before = StorageBackend::len(self)?;
        self.file.set_len(outer_len(len))?;
        if len < before {
            // Reads beyond the end return zeros.
            let (last, first) = (len / PAGE / GROUP_PAGES, (len / PAGE % GROUP_PAGES) as usize);
            self.groups.write().retain(|number, _| *number <= last);
            self.changed.lock().retain(|number| *number <= last);
            if outer_len(len) > last * GROUP_BYTES {
                self.group(last)?.sums.iter().skip(first).for_each(|sum| sum.store(0, Ordering::Relaxed));
                self.changed.lock().insert(last);
            } else {
                self.groups.write().remove(&last);
                self.changed.lock().remove(&last);
            }
        }
        Ok(())
    }

    fn sync_data(&self) -> Result<()> {
        let are_pages_changed = self.write_changed_sums()?;
        let mut header = self.header.lock();
        if are_pages_changed || header.is_none() {
            self.file.sync_data()?;
        }
        if let Some(sector) = header.take() {
            positioned::write(&self.file, HEADER_AT, &sector)?;
            self.file.sync_data()?;
        }
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<()> {
        if offset < PAGE {
            return self.write_header(offset as usize, data);
        }
        let mut left = data;
        for range in page_ranges(offset, data.len())? {
            let (part, rest) = left.split_at(range.bytes());
            let group = self.group(range.group)?;
            positioned::write(&self.file, range.at(), part)?;
            for (place, page) in group.sums.iter().skip(range.first).zip(part.chunks_exact(PAGE as usize)) {
                place.store(sum(page), Ordering::Relaxed);
            }
            self.changed.lock().insert(range.group);
            left = rest;
        }
        Ok(())
    }

    fn close(&self) -> Result<()> {
        let is_all_written = self.changed.lock().is_empty() && self.header.lock().is_none();
        if is_all_written { Ok(()) } else { self.sync_data() }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::ErrorKind;
    use std::os::unix::fs::FileExt;

    use redb::StorageBackend;

    use super::{GROUP_PAGES, PAGE, PageFile, ZEROS, inner_len, outer_len};

    fn open(path: &std::path::Path) -> PageFile {
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path).unwrap();
        PageFile::new(file)
    }

    fn read(file: &PageFile, page: u64, pages: usize) -> std::io::Result<Vec<u8>> {
        let mut out = vec![0; pages * PAGE as usize];
        file.read(page * PAGE, &mut out).map(|()| out)
    }

    #[test]
    fn zeros_have_the_checksum_of_zeros() {
        assert_eq!(crc32fast::hash(&[0; PAGE as usize]), ZEROS);
    }

    #[test]
    fn lengths_go_both_ways() {
        for pages in [0, 1, 2, GROUP_PAGES - 1, GROUP_PAGES, GROUP_PAGES + 1, 5 * GROUP_PAGES, 5 * GROUP_PAGES + 7] {
            assert_eq!(inner_len(outer_len(pages * PAGE)), pages * PAGE);
        }
    }

    #[test]
    fn pages_come_back_after_opening_again() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("pages");
        let file = open(&path);
        file.set_len((GROUP_PAGES + 20) * PAGE).unwrap();
        // Over the border of two groups, and a header.
        let pages: Vec<u8> = (0..4 * PAGE).map(|n| (n % 251) as u8).collect();
        file.write((GROUP_PAGES - 2) * PAGE, &pages).unwrap();
        file.write(0, &[7; 320]).unwrap();
        for file in [&file, &{
            file.sync_data().unwrap();
            open(&path)
        }] {
            assert_eq!(read(file, GROUP_PAGES - 2, 4).unwrap(), pages);
            assert_eq!(read(file, 5, 1).unwrap(), vec![0; PAGE as usize]);
            let mut header = [0; 320];
            file.read(0, &mut header).unwrap();
            assert_eq!(header, [7; 320]);
        }
    }

    /// A power cut may keep any subset of the unsynced writes.
    #[test]
    fn a_header_is_not_in_the_file_before_the_pages_that_it_names_were_synced() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("pages");
        let file = open(&path);
        file.set_len(8 * PAGE).unwrap();
        file.write(0, &[1; 320]).unwrap();
        file.sync_data().unwrap();
        let header = || {
            let mut header = [0; 320];
            open(&path).read(0, &mut header).map(|()| header[0]).unwrap()
        };
        file.write(3 * PAGE, &[9; PAGE as usize]).unwrap();
        file.write(0, &[2; 320]).unwrap();
        file.write(4 * PAGE, &[9; PAGE as usize]).unwrap();
        assert_eq!(header(), 1);
        // A write is visible to reads of the same process.
        let mut own = [0; 5];
        file.read(7, &mut own).unwrap();
        assert_eq!(own, [2; 5]);
        file.sync_data().unwrap();
        assert_eq!(header(), 2);
        file.write(300, &[3; 20]).unwrap();
        file.close().unwrap();
        let mut header = [0; 320];
        open(&path).read(0, &mut header).unwrap();
        assert_eq!((header[299], header[300]), (2, 3));
    }

    #[test]
    fn what_was_cut_off_comes_back_as_zeros() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("pages");
        let file = open(&path);
        file.set_len(3 * GROUP_PAGES * PAGE).unwrap();
        for page in [9, 10, GROUP_PAGES + 3, 2 * GROUP_PAGES] {
            file.write(page * PAGE, &[1; PAGE as usize]).unwrap();
        }
        for (pages, gone) in [(2 * GROUP_PAGES, 2 * GROUP_PAGES), (GROUP_PAGES + 3, GROUP_PAGES + 3), (10, 10)] {
            file.set_len(pages * PAGE).unwrap();
            file.set_len(3 * GROUP_PAGES * PAGE).unwrap();
            file.sync_data().unwrap();
            for file in [&file, &open(&path)] {
                assert_eq!(read(file, gone, 1).unwrap(), vec![0; PAGE as usize]);
                assert_eq!(read(file, 9, 1).unwrap(), vec![1; PAGE as usize]);
            }
        }
    }

    #[test]
    fn every_damaged_byte_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("pages");
        let file = open(&path);
        file.set_len(8 * PAGE).unwrap();
        file.write(0, &[7; 320]).unwrap();
        file.write(2 * PAGE, &vec![3; 2 * PAGE as usize]).unwrap();
        file.sync_data().unwrap();
        let raw = File::options().read(true).write(true).open(&path).unwrap();
        let flip = |at: u64| {
            let mut byte = [0];
            raw.read_exact_at(&mut byte, at).unwrap();
            raw.write_all_at(&[byte[0] ^ 16], at).unwrap();
        };
        // The page, its checksum, a page that was never written, the header, its checksum.
        for (at, page) in [(3 * PAGE + 5, 2), (4 * PAGE + 4095, 3), (2 * 4 + 1, 2), (6 * PAGE, 5), (PAGE + 9, 0)] {
            flip(at);
            let mut out = vec![0; if page == 0 { 320 } else { PAGE as usize }];
            let error = open(&path).read(page * PAGE, &mut out).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidData);
            assert!(error.to_string().contains(&format!("page {page} ")), "{error}");
            flip(at);
            open(&path).read(page * PAGE, &mut out).unwrap();
        }
    }
}
