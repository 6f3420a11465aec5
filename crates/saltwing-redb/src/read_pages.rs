//! The file of pages for a reader: what redb writes stays in memory.
//!
//! Opening makes redb write: it repairs a file that was not closed, applies the journal's batches, and marks the file
//! as open. For a reader these writes go into pages in memory, which overlay those of the file and vanish with the
//! process.

use std::collections::HashMap;
use std::io::{Error, ErrorKind, Result};

use parking_lot::RwLock;
use redb::StorageBackend;

use crate::page_file::{HEADER_BYTES, PageFile};
use crate::positioned::PAGE;
use crate::stand_in;

/// A file of pages with an overlay of written pages.
#[derive(Debug)]
pub(crate) struct ReadPages {
    file: PageFile,
    written: RwLock<Written>,
}

/// The written pages.
#[derive(Debug)]
struct Written {
    /// Bytes that there are.
    len: u64,
    /// Bytes of the file that are still valid; bytes from here to `len` were written, or are zeros.
    file_len: u64,
    /// redb's header, once it is written.
    header: Option<[u8; HEADER_BYTES]>,
    pages: HashMap<u64, Box<[u8]>>,
}

impl ReadPages {
    pub(crate) fn new(file: PageFile) -> Result<Self> {
        let len = file.len()?;
        let written = Written { len, file_len: len, header: None, pages: HashMap::new() };
        Ok(Self { file, written: RwLock::new(written) })
    }

    /// The number of the damage, if it is damaged.
    fn read_page(&self, written: &Written, page: u64, out: &mut [u8]) -> Result<Option<u32>> {
        let end = (page + 1) * PAGE;
        match written.pages.get(&page) {
            Some(bytes) if bytes.len() == out.len() => out.copy_from_slice(bytes),
            _ if end <= written.file_len => return self.file.read_pages(page * PAGE, out, false),
            _ if end <= written.len => out.fill(0),
            _ => return Err(Error::from(ErrorKind::UnexpectedEof)),
        }
        Ok(None)
    }
}

/// Where a part of the header lies.
fn header_part(offset: u64, len: usize) -> Result<std::ops::Range<usize>> {
    let part = offset as usize..offset as usize + len;
    match part.end <= HEADER_BYTES {
        true => Ok(part),
        false => Err(Error::new(ErrorKind::InvalidInput, format!("{len} bytes at {offset} are not in the header"))),
    }
}

/// Refuses a file that is not whole pages.
fn first_page(offset: u64, len: usize) -> Result<u64> {
    match offset.is_multiple_of(PAGE) && (len as u64).is_multiple_of(PAGE) {
        true => Ok(offset / PAGE),
        false => Err(Error::new(ErrorKind::InvalidInput, format!("{len} bytes at {offset} are not whole pages"))),
    }
}

impl StorageBackend for ReadPages {
    fn len(&self) -> Result<u64> {
        Ok(self.written.read().len)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let written = self.written.read();
        if offset < PAGE {
            let Some(header) = &written.header else { return self.file.read(offset, out) };
            out.copy_from_slice(&header[header_part(offset, out.len())?]);
            return Ok(());
        }
        let (first, pages) = (first_page(offset, out.len())?, out.len() as u64 / PAGE);
        let is_of_file = offset + out.len() as u64 <= written.file_len;
        if is_of_file && (first..first + pages).all(|page| !written.pages.contains_key(&page)) {
            drop(written);
            return self.file.read(offset, out);
        }
        for (page, part) in (first..).zip(out.chunks_mut(PAGE as usize)) {
            if let Some(damage) = self.read_page(&written, page, part)? {
                stand_in::fill(out, damage);
                break;
            }
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<()> {
        let mut written = self.written.write();
        (written.len, written.file_len) = (len, written.file_len.min(len));
        written.pages.retain(|page, _| (page + 1) * PAGE <= len);
        Ok(())
    }

    fn sync_data(&self) -> Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<()> {
        let mut written = self.written.write();
        if offset < PAGE {
            let part = header_part(offset, data.len())?;
            let mut header = written.header.unwrap_or([0; HEADER_BYTES]);
            if written.header.is_none() {
                self.file.read(0, &mut header)?;
            }
            header[part].copy_from_slice(data);
            written.header = Some(header);
            return Ok(());
        }
        let first = first_page(offset, data.len())?;
        written.pages.extend((first..).zip(data.chunks(PAGE as usize).map(Box::from)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::ErrorKind;
    use std::sync::Arc;

    use redb::StorageBackend;

    use super::{PAGE, PageFile, ReadPages};
    use crate::copies::Copies;

    fn page(byte: u8) -> Vec<u8> {
        vec![byte; PAGE as usize]
    }

    fn read(pages: &ReadPages, first: u64, count: usize) -> std::io::Result<Vec<u8>> {
        let mut out = vec![9; count * PAGE as usize];
        pages.read(first * PAGE, &mut out).map(|()| out)
    }

    #[test]
    fn what_is_written_lies_over_the_file_and_leaves_it_as_it_is() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("pages");
        let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        let written = PageFile::new(file, true, Copies::default(), Arc::default());
        written.set_len(4 * PAGE).unwrap();
        written.write(0, &[7; 320]).unwrap();
        written.write(PAGE, &[page(1), page(2), page(3)].concat()).unwrap();
        written.sync_data().unwrap();
        let before = fs::read(&path).unwrap();

        let pages = ReadPages::new(PageFile::new(File::open(&path).unwrap(), false, Copies::default(), Arc::default()))
            .unwrap();
        assert_eq!(read(&pages, 1, 3).unwrap(), [page(1), page(2), page(3)].concat());
        pages.write(2 * PAGE, &page(20)).unwrap();
        pages.write(300, &[8; 20]).unwrap();
        assert_eq!(read(&pages, 1, 3).unwrap(), [page(1), page(20), page(3)].concat());
        let mut header = [0; 320];
        pages.read(0, &mut header).unwrap();
        assert_eq!((&header[..300], &header[300..]), (&[7; 300][..], &[8; 20][..]));

        assert_eq!(read(&pages, 4, 1).unwrap_err().kind(), ErrorKind::UnexpectedEof);
        pages.set_len(6 * PAGE).unwrap();
        pages.write(5 * PAGE, &page(5)).unwrap();
        assert_eq!(read(&pages, 3, 3).unwrap(), [page(3), page(0), page(5)].concat());
        // Truncated bytes do not come back.
        pages.set_len(2 * PAGE).unwrap();
        pages.set_len(6 * PAGE).unwrap();
        assert_eq!(read(&pages, 1, 5).unwrap(), [page(1), page(0), page(0), page(0), page(0)].concat());
        pages.sync_data().unwrap();
        pages.close().unwrap();
        assert_eq!(pages.len().unwrap(), 6 * PAGE);
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}
