//! The file below redb: pages with a checksum each.
//!
//! ```text
//!  group 0                                   group 1
//!  [sums, 4 KiB] [page 0] [page 1] .. [1023] [sums] [page 1024] ..
//!
//!  page 0    redb's header, 320 bytes | zeros | version of the sums 1, at 507 | its checksum 4, at 508
//!  sums      a checksum a page of the group, 4 bytes each, little endian
//! ```
//!
//! A checksum is the CRC-32 of a page, xor that of a page of zeros: pages that were never written have 0, as the file
//! has where it grew. redb reads no page that it has not written, so one with the checksum 0 is damaged: its checksum was
//! overwritten with zeros. In files of version 0, which earlier releases have made, a page of zeros inside a long value
//! has the checksum 0, too; there only the first page of what redb reads at once is never one of zeros. From version 1 on a written
//! page has the checksum 1 where it would have 0.
//!
//! # Laws
//! 1. What [`StorageBackend::read`] returns is what was last written there, or a [stand-in](stand_in), and then
//!    the page is among the [`Damages`]. A header that is damaged is an error.
//! 2. The pages that a header on the disk names are there with their checksums. A header stays in memory until the
//!    next sync, which brings pages and checksums to the disk before it: redb writes both at once when it compacts,
//!    and expects pages that a crash has torn to be readable. A page is not written again while a header on the disk
//!    names it, so that of a torn block of checksums both versions are right for such pages.
//! 3. A page that is damaged, or whose checksum is, is made good by a [copy](crate::copies), if there is one that has the
//!    page's checksum. There are copies of pages that name others, of the roots of all trees, of redb's table of free pages, of the
//!    checksums and of the header.
//!    A header that is a copy may be older than the pages: redb then verifies all of them when it opens the file.
//! 4. The header lies in one sector of 512 bytes, with its checksum: a write of it is there whole or not at all.
//!
//! Memory: 4 bytes for each 4 KiB that were touched since the opening.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use parking_lot::{Mutex, RwLock};
use redb::StorageBackend;

use crate::copies::{Copies, Original};
use crate::damages::{Damages, FILE};
use crate::positioned::PAGE;
use crate::roots::{Layout, bytes_of};
use crate::{positioned, stand_in};

const GROUP_PAGES: u64 = PAGE / 4;
/// Bytes of a group in the file, checksums included.
const GROUP_BYTES: u64 = (1 + GROUP_PAGES) * PAGE;
/// Where the first page lies, which has redb's header.
const HEADER_AT: u64 = PAGE;
/// Bytes of the header's sector that redb may use; the checksum follows them.
pub(crate) const HEADER_BYTES: usize = 508;
/// The version of the checksums, in the header's sector.
const VERSION_AT: usize = 507;
const VERSION: u8 = 1;
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
    /// [`VERSION`], once the header was read or written.
    version: AtomicU8,
    /// Whether pages are restored in the file, too.
    is_writable: bool,
    copies: Copies,
    damages: Arc<Damages>,
}

/// The checksums of a group's pages.
#[derive(Debug)]
struct Group {
    sums: Vec<AtomicU32>,
}

impl Group {
    /// The checksum of one of its pages.
    fn sum(&self, page: u64) -> u32 {
        self.sums.get((page % GROUP_PAGES) as usize).map_or(0, |sum| sum.load(Ordering::Relaxed))
    }
}

/// A page that is read.
struct Place {
    page: u64,
    /// Whether it is the first one of what redb reads at once.
    is_first: bool,
}

impl Place {
    /// Its offset in the file.
    fn at(&self) -> u64 {
        self.page / GROUP_PAGES * GROUP_BYTES + (1 + self.page % GROUP_PAGES) * PAGE
    }
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

/// The first byte of a page of redb's that names others.
const BRANCH: u8 = 2;

/// The greatest depth of the table of free pages. It has an entry for each 4 GiB of the file, and a branch more than a hundred children.
const TREE_DEPTH_MAX: usize = 4;

const NO_CHECKSUM: &str = "does not have its checksum";

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
    /// The pages in a file, with what helps where they are damaged.
    pub(crate) fn new(file: File, is_writable: bool, copies: Copies, damages: Arc<Damages>) -> Self {
        let (version, groups) = (AtomicU8::new(0), RwLock::default());
        let (changed, header) = (Mutex::default(), Mutex::default());
        Self { file, groups, changed, header, version, is_writable, copies, damages }
    }

    /// Reads whole pages; the number of the damage, if one of them is not as it was written. `is_first` says whether they
    /// begin with the first page of what redb reads at once.
    pub(crate) fn read_pages(&self, offset: u64, out: &mut [u8], is_first: bool) -> Result<Option<u32>> {
        let (mut left, first) = (out, is_first.then_some(offset / PAGE));
        for range in page_ranges(offset, left.len())? {
            let (part, rest) = left.split_at_mut(range.bytes());
            let read = positioned::read(&self.file, range.at(), part);
            let group = self.group(range.group);
            for (index, page) in part.chunks_exact_mut(PAGE as usize).enumerate() {
                let place = Place { page: range.page(index), is_first: first == Some(range.page(index)) };
                // Where one page of several cannot be read, the others can.
                let read = read.as_ref().map_or_else(|_| positioned::read(&self.file, place.at(), page), |()| Ok(()));
                let what = match (read, &group) {
                    (Ok(()), Ok(group)) if self.has(page, group.sum(place.page), place.is_first) => continue,
                    (Ok(()), Ok(_)) => NO_CHECKSUM.to_owned(),
                    (Err(error), _) => format!("cannot be read: {error}"),
                    (_, Err(error)) => format!("has a checksum that cannot be read: {error}"),
                };
                if !self.restore(&place, page, group.as_deref().ok()) {
                    return Ok(Some(self.damages.note(place.page, &what)));
                }
                self.damages.note_restored(place.page, &what);
            }
            left = rest;
        }
        Ok(None)
    }

    /// Makes good a page by its copy, which must have the page's checksum; whether it could.
    fn restore(&self, place: &Place, page: &mut [u8], group: Option<&Group>) -> bool {
        let is_right =
            |copy: &Vec<u8>| group.is_some_and(|group| self.has(copy, group.sum(place.page), place.is_first));
        let Some(copy) = self.copies.find(Original::Page(place.page)).filter(is_right) else { return false };
        page.copy_from_slice(&copy);
        if self.is_writable {
            // The same bytes as before. Where this fails, the copy is found again by the next read.
            let _ = positioned::write(&self.file, place.at(), page);
        }
        true
    }

    /// The checksums of a group in the file, made good by their copy: where both differ, that one counts which the page has.
    /// Before anything is written to the group: the next sync writes its checksums, and their copy.
    fn read_sums(&self, number: u64) -> Result<Vec<u32>> {
        let sums_of =
            |bytes: &[u8]| bytes.as_chunks().0.iter().map(|sum| u32::from_le_bytes(*sum)).collect::<Vec<u32>>();
        let copy = self.copies.find(Original::Sums(number)).map(|copy| sums_of(&copy));
        let mut bytes = [0; PAGE as usize];
        let read = match number * GROUP_BYTES < self.file.metadata()?.len() {
            true => positioned::read(&self.file, number * GROUP_BYTES, &mut bytes),
            false => Ok(()),
        };
        let (mut sums, copy) = match (read, copy) {
            (Ok(()), Some(copy)) => (sums_of(&bytes), copy),
            (Ok(()), None) => return Ok(sums_of(&bytes)),
            (Err(_), Some(copy)) => return Ok(copy),
            (Err(error), None) => return Err(error),
        };
        for (page, (sum, copied)) in (number * GROUP_PAGES..).zip(sums.iter_mut().zip(copy)) {
            let (place, mut content) = (Place { page, is_first: false }, [0; PAGE as usize]);
            if *sum == copied {
                continue;
            }
            // A page after the end of the file is zeros.
            if positioned::read(&self.file, place.at(), &mut content).is_err() {
                content.fill(0);
            }
            // A page that has neither is damaged itself. The header has none here.
            let is_unwritten = copied == 0 && (page == 0 || content == [0; PAGE as usize]);
            let is_copy_right = self.has(&content, copied, false) || is_unwritten;
            if !self.has(&content, *sum, false) && is_copy_right {
                *sum = copied;
                self.damages.note_restored(page, NO_CHECKSUM);
                if self.is_writable {
                    self.changed.lock().insert(number);
                }
            }
        }
        Ok(sums)
    }

    /// Whether the header that is read is a copy, which may be older than the pages.
    pub(crate) fn is_header_copied(&self) -> Result<bool> {
        let mut sector = [0; SECTOR];
        let read = positioned::read(&self.file, HEADER_AT, &mut sector);
        Ok(!(read.is_ok() && is_header(&sector)) && self.copies.find(Original::Header).is_some())
    }

    /// Takes copies of the pages at which trees begin, by the header, and of all pages of the table of free pages.
    fn copy_roots(&self, sector: &[u8; SECTOR]) {
        let layout = Layout::new(sector);
        for root in layout.roots() {
            let Some(page) = self.copy_root(&root) else { continue };
            for table in layout.roots_of_tables(&page) {
                match table.is_allocator {
                    true => self.copy_tree(&layout, &table.pages, TREE_DEPTH_MAX),
                    false => drop(self.copy_root(&table.pages)),
                }
            }
        }
    }

    /// Takes copies of the pages of a tree.
    fn copy_tree(&self, layout: &Layout<'_>, root: &Range<u64>, depth_left: usize) {
        if let Some(page) = self.copy_root(root).filter(|_| depth_left > 0) {
            layout.children(&page).iter().for_each(|child| self.copy_tree(layout, child, depth_left - 1));
        }
    }

    /// Takes copies of the pages of a root; its bytes. A branch has copies since it was written.
    fn copy_root(&self, pages: &Range<u64>) -> Option<Vec<u8>> {
        let mut bytes = vec![0; bytes_of(pages)];
        self.read_pages(pages.start * PAGE, &mut bytes, true).ok().filter(Option::is_none)?;
        if bytes.first() != Some(&BRANCH) {
            self.keep(pages.start, &bytes);
        }
        Some(bytes)
    }

    /// Takes copies of pages from the first one on.
    fn keep(&self, first: u64, bytes: &[u8]) {
        for (page, content) in (first..).zip(bytes.chunks_exact(PAGE as usize)) {
            self.copies.keep(Original::Page(page), content);
        }
    }

    /// Whether a page has this checksum.
    fn has(&self, page: &[u8], expected: u32, is_first: bool) -> bool {
        let is_version_0 = self.version.load(Ordering::Relaxed) == 0;
        match expected {
            0 => is_version_0 && !is_first && sum(page) == 0,
            1 => sum(page) <= 1,
            _ => sum(page) == expected,
        }
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
        let sums = self.read_sums(number)?.into_iter().map(AtomicU32::new).collect();
        let group = Arc::new(Group { sums });
        groups.insert(number, group.clone());
        Ok(group)
    }

    fn write_sums(&self, number: u64) -> Result<()> {
        let group = self.group(number)?;
        let bytes: Vec<u8> = group.sums.iter().flat_map(|sum| sum.load(Ordering::Relaxed).to_le_bytes()).collect();
        self.copies.keep(Original::Sums(number), &bytes);
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
        if let Some(waiting) = *self.header.lock() {
            return Ok(waiting);
        }
        let read = positioned::read(&self.file, HEADER_AT, &mut sector);
        if !(read.is_ok() && is_header(&sector))
            && let Some(copy) = self.copies.find(Original::Header)
            && let Some(copy) = copy.first_chunk().filter(|copy| is_header(copy))
        {
            self.damages.note_restored(0, NO_CHECKSUM);
            return Ok(*copy);
        }
        read.map(|()| sector)
    }

    fn read_header(&self, offset: usize, out: &mut [u8]) -> Result<()> {
        let sector = self.header_sector()?;
        let header = &sector[..HEADER_BYTES];
        // Before the first write all of it is zeros.
        if !is_header(&sector) && sector != [0; SECTOR] {
            return Err(Error::new(ErrorKind::InvalidData, format!("page 0 of {FILE} {NO_CHECKSUM}")));
        }
        self.version.store(header[VERSION_AT], Ordering::Relaxed);
        let part = header.get(offset..offset + out.len()).ok_or_else(|| past_header(offset, out.len()))?;
        out.copy_from_slice(part);
        Ok(())
    }

    fn write_header(&self, offset: usize, data: &[u8]) -> Result<()> {
        let mut sector = self.header_sector()?;
        match sector == [0; SECTOR] {
            // A new file.
            true => sector[VERSION_AT] = VERSION,
            false => self.read_header(0, &mut sector[..HEADER_BYTES])?,
        }
        self.version.store(sector[VERSION_AT], Ordering::Relaxed);
        let part = sector[..HEADER_BYTES].get_mut(offset..offset + data.len());
        part.ok_or_else(|| past_header(offset, data.len()))?.copy_from_slice(data);
        let found = crc32fast::hash(&sector[..HEADER_BYTES]).to_le_bytes();
        sector[HEADER_BYTES..].copy_from_slice(&found);
        *self.header.lock() = Some(sector);
        Ok(())
    }
}

/// Whether a sector is a header with its checksum.
fn is_header(sector: &[u8; SECTOR]) -> bool {
    let (header, found) = sector.split_at(HEADER_BYTES);
    found == crc32fast::hash(header).to_le_bytes()
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
        if let Some(damage) = self.read_pages(offset, out, true)? {
            stand_in::fill(out, damage);
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
            self.copies.cut(len / PAGE, len.div_ceil(GROUP_PAGES * PAGE));
        }
        Ok(())
    }

    fn sync_data(&self) -> Result<()> {
        let are_pages_changed = self.write_changed_sums()?;
        let waiting = {
            let mut header = self.header.lock();
            if are_pages_changed || header.is_none() {
                self.file.sync_data()?;
            }
            let waiting = header.take();
            if let Some(sector) = &waiting {
                positioned::write(&self.file, HEADER_AT, sector)?;
                self.file.sync_data()?;
            }
            waiting
        };
        if let Some(sector) = waiting {
            self.copies.keep(Original::Header, &sector);
            self.copy_roots(&sector);
        }
        self.copies.write();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<()> {
        if offset < PAGE {
            return self.write_header(offset as usize, data);
        }
        if self.damages.is_any() && stand_in::is_of_stand_in(data) {
            let why = format!("page {} of {FILE} would name a damaged page", offset / PAGE);
            return Err(Error::new(ErrorKind::InvalidData, why));
        }
        let least = u32::from(self.version.load(Ordering::Relaxed));
        let mut left = data;
        for range in page_ranges(offset, data.len())? {
            let (part, rest) = left.split_at(range.bytes());
            let group = self.group(range.group)?;
            positioned::write(&self.file, range.at(), part)?;
            for (place, page) in group.sums.iter().skip(range.first).zip(part.chunks_exact(PAGE as usize)) {
                place.store(sum(page).max(least), Ordering::Relaxed);
            }
            let pages = range.page(0)..range.page(range.pages);
            match data.first() {
                Some(&BRANCH) => self.keep(pages.start, part),
                _ => self.copies.forget(pages.clone()),
            }
            self.damages.written(pages);
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
mod tests;
