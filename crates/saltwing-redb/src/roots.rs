//! Where redb's header and its table of tables say that trees begin.
//!
//! ```text
//!  header   magic 9 │ flags 1 │ 0 2 │ page size 4 │ pages of a region's header 4 │ most pages of a region 4 │ .. │ two commits, at 64 and 192
//!  commit   version 1 │ has a root 1 │ has a root of the system's tables 1 │ 0 5 │ root 32 │ root of the system's tables 32 │ ..
//!  table    kind 1 │ keys 8 │ has a root 1 │ root 32 │ ..
//!  root     page 8 │ checksum 16 │ keys 8
//!  branch   kind 1 │ 0 1 │ keys 2 │ 0 4 │ checksums 16 for each child │ children 8 each, one more than keys │ ..
//! ```

use std::ops::Range;

use crate::positioned::PAGE;

const LEAF: u8 = 1;
const BRANCH: u8 = 2;
/// The name of redb's own table of free pages. redb opens no file of which it cannot read all of this table.
const ALLOCATOR: &[u8] = b"allocator_state";
/// The greatest order of a page that is looked at, 256 KiB: the system's table of free pages has values of some 100 KiB.
const ORDER_MAX: u32 = 6;

/// The places of pages by the layout that a header has.
pub(crate) struct Layout<'h> {
    header: &'h [u8],
}

impl<'h> Layout<'h> {
    pub(crate) fn new(header: &'h [u8]) -> Self {
        Self { header }
    }

    /// The pages of the file that the roots of the tables of tables take: of data, and of the system's.
    pub(crate) fn roots(&self) -> Vec<Range<u64>> {
        let commit = if byte(self.header, 9) & 1 == 0 { 64 } else { 192 };
        let roots = [(1, 8), (2, 40)].into_iter().filter(|(flag, _)| byte(self.header, commit + flag) != 0);
        roots.filter_map(|(_, at)| self.pages(number(self.header, commit + at)?)).collect()
    }

    /// The roots of tables, which a leaf of a table of tables has.
    pub(crate) fn roots_of_tables(&self, page: &[u8]) -> Vec<TableRoot> {
        let count = usize::from(short(page, 2));
        if byte(page, 0) != LEAF || count == 0 {
            return Vec::new();
        }
        let end = |place: usize| word(page, 4 + 4 * place).map(|end| end as usize);
        let root = |entry: usize| {
            // After the ends of the keys come those of the values.
            let keys_at = 4 + 8 * count;
            let key = page.get(if entry == 0 { keys_at } else { end(entry - 1)? }..end(entry)?)?;
            let start = if entry == 0 { end(count - 1)? } else { end(count + entry - 1)? };
            let table = page.get(start..end(count + entry)?).filter(|table| byte(table, 9) == 1)?;
            Some(TableRoot { pages: self.pages(number(table, 10)?)?, is_allocator: key == ALLOCATOR })
        };
        (0..count).filter_map(root).collect()
    }

    /// The pages of the file that the children of a branch take; none of another page.
    pub(crate) fn children(&self, page: &[u8]) -> Vec<Range<u64>> {
        if byte(page, 0) != BRANCH {
            return Vec::new();
        }
        let children = usize::from(short(page, 2)) + 1;
        let child = |place: usize| self.pages(number(page, 8 + 16 * children + 8 * place)?);
        (0..children).filter_map(child).collect()
    }

    /// The pages of the file of a page number.
    fn pages(&self, number: u64) -> Option<Range<u64>> {
        let order = u32::try_from(number >> 59).ok().filter(|order| *order <= ORDER_MAX)?;
        let (index, region) = (number & (0xf_ffff >> order), (number >> 20) & 0xf_ffff);
        let (header_pages, data_pages) = (u64::from(word(self.header, 16)?), u64::from(word(self.header, 20)?));
        let first = 1 + region * (header_pages + data_pages) + header_pages + (index << order);
        Some(first..first + (1 << order))
    }
}

/// The root of a table's tree.
pub(crate) struct TableRoot {
    /// Its pages in the file.
    pub(crate) pages: Range<u64>,
    /// Whether the table is redb's own one of free pages.
    pub(crate) is_allocator: bool,
}

/// The bytes of so many pages.
pub(crate) fn bytes_of(pages: &Range<u64>) -> usize {
    ((pages.end - pages.start) * PAGE) as usize
}

fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

fn short(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([byte(bytes, at), byte(bytes, at + 1)])
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn number(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}
