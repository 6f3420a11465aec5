//! The stored parts of a block, and reads in place.
//!
//! ```text
//! fix   version 1 | family 1 | rows 4 | columns 2
//!       first family only: keys, write times (ints); in version 2 which rows are deleted (as nulls)
//!       a column: slot 2 | kind 1 | nulls | ints, or width bytes a row, or nothing
//!       checksum 4
//! keys  prefix length 2 | prefix | 0, stride 2, suffixes  or  1, suffix ends (ints), suffixes
//! var   version 1 | family 1 | columns 2
//!       a column: slot 2 | lengths (ints) | overflow values | per chunk: stored 4, raw 4 | chunks
//!       checksum 4
//! ```
//! Kind 0 is integers, 255 variable width, else the width of raw bytes. A chunk is
//! 16 rows of one column, lz4 where `stored` is less than `raw`. A value that lies by itself has length 0, and stands
//! among the overflow values: count 4 | each: row 4, id 8, bytes 4, its first 16 bytes.

use std::ops::Range;

use saltwing_store::{Bytes, Direction};
use smallvec::SmallVec;

pub(crate) use crate::format::bits::Ints;
pub(crate) use crate::format::bits::Nulls;
use crate::format::bits::Reader;
use crate::format::prefetch::{PrefetchStep, prefetch};
use crate::format::row_order::RowSelection;
use crate::format::search::search_by;

/// The version that is written.
pub(crate) const VERSION: u8 = 1;
/// That of a first family with rows that say that a row is deleted: runs have such.
pub(crate) const VERSION_DELETED: u8 = 2;
/// Bytes of the widest value of fixed width in a key: a TIMESTAMP.
pub(crate) const KEY_VALUE_BYTES_MAX: usize = 12;
/// Kind of a column of integers.
pub(crate) const KIND_INTS: u8 = 0;
/// Kind of a column of variable width.
pub(crate) const KIND_VAR: u8 = 255;

/// Columns of a part whose places stand in it; those of wider tables are one step further away.
const COLUMNS_INLINE: usize = 8;
/// Bytes of a common prefix of keys that stand in the part itself.
const PREFIX_INLINE: usize = 24;
/// Rows that a search from a row on compares before it becomes a binary search.
const FIRST_ROWS: usize = 4;
/// Rows of a block whose key heads are kept for the search.
const HEADS: usize = 16;

/// The fixed part of one family of a block.
///
/// A random row is seldom in a cache, so the fields that a point read needs first are small and adjacent.
#[derive(Debug)]
pub(crate) struct FixPart {
    bytes: Bytes,
    rows: u32,
    deleted: Nulls,
    keys: Option<Keys>,
    times: Option<Ints>,
    columns: SmallVec<[FixColumn; COLUMNS_INLINE]>,
}

#[derive(Debug)]
struct Keys {
    /// The common prefix of all keys: a copy, because the bytes of the part are seldom in a cache.
    prefix: SmallVec<[u8; PREFIX_INLINE]>,
    suffixes: Suffixes,
    /// How the suffixes of evenly chosen rows begin, and how many rows there are for each: a search looks here first.
    heads: [u64; HEADS],
    head_rows: u32,
}

#[derive(Debug)]
enum Suffixes {
    Stride {
        at: u32,
        stride: u32,
    },
    /// With the mean length of a suffix.
    Ends {
        at: u32,
        mean: u32,
        ends: Vec<u32>,
    },
}

/// A column of the fixed part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FixColumn {
    slot: u16,
    /// Which rows are NULL.
    pub(crate) nulls: Nulls,
    /// The values of the others.
    pub(crate) cells: FixCells,
}

/// Where a column's values stand.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FixCells {
    /// Integers, booleans and milliseconds.
    Ints(Ints),
    /// So many bytes a row, from here on.
    Raw { width: u8, at: u32 },
    /// In the variable part.
    Var,
}

/// The first bytes of a suffix; missing bytes are zero, which keeps the order.
#[inline]
fn head(suffix: &[u8]) -> u64 {
    match suffix.first_chunk() {
        Some(first) => u64::from_be_bytes(*first),
        None => suffix.iter().fold((0, 56), |(head, shift), byte| (head | u64::from(*byte) << shift, shift - 8)).0,
    }
}

/// The [`head`] of a suffix in a part.
#[inline]
fn head_at(part: &[u8], suffix: &Range<usize>) -> u64 {
    match part.get(suffix.start..).and_then(<[u8]>::first_chunk) {
        // The bytes after a short suffix are masked out.
        Some(first) => u64::from_be_bytes(*first) & !u64::MAX.checked_shr(8 * suffix.len() as u32).unwrap_or(0),
        None => head(part.get(suffix.clone()).unwrap_or_default()),
    }
}

impl FixPart {
    /// Reads a stored part; `None` when the bytes are none of this family.
    pub(crate) fn read(bytes: Bytes, family: u8) -> Option<Self> {
        let mut reader = Reader::checked(&bytes)?;
        let (version, found) = (reader.u8()?, reader.u8()?);
        let has_deleted = version == VERSION_DELETED && family == 0;
        if version != VERSION && !has_deleted || found != family {
            return None;
        }
        let rows = reader.u32()? as usize;
        let count = reader.u16()?;
        let keys = if family == 0 { Some(Keys::read(&mut reader, &bytes, rows)?) } else { None };
        let times = if family == 0 { Some(reader.ints(rows)?) } else { None };
        let deleted = if has_deleted { reader.nulls(rows)? } else { Nulls::None };
        let mut columns = SmallVec::with_capacity(count.into());
        for _ in 0..count {
            let (slot, kind, nulls) = (reader.u16()?, reader.u8()?, reader.nulls(rows)?);
            let cells = match kind {
                KIND_INTS => FixCells::Ints(reader.ints(rows)?),
                KIND_VAR => FixCells::Var,
                width => FixCells::Raw { width, at: reader.place(rows.checked_mul(width.into())?)? },
            };
            columns.push(FixColumn { slot, nulls, cells });
        }
        if !reader.is_at_end() {
            return None;
        }
        Some(Self { rows: rows as u32, keys, times, deleted, columns, bytes })
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows as usize
    }

    /// The reads of a prefetch in the part.
    #[inline]
    pub(crate) fn prefetch(&self, step: PrefetchStep) -> usize {
        let columns = || self.columns.iter().fold(self.rows as usize, |read, column| read ^ usize::from(column.slot));
        match step {
            PrefetchStep::Columns => columns(),
            PrefetchStep::KeysAndColumns => {
                let heads = self.keys.iter().flat_map(|keys| keys.heads.iter().step_by(7));
                heads.fold(columns(), |read, head| read ^ *head as usize)
            }
            PrefetchStep::Keys(row) => {
                let reads = |keys: &Keys| keys.reads_near(&self.bytes, row).fold(0, |all, read| all ^ read);
                self.keys.as_ref().map_or(0, reads)
            }
            PrefetchStep::Row(row) => {
                let byte = |at: usize| usize::from(self.bytes.get(at).copied().unwrap_or(0));
                let cell = |column: &FixColumn| match column.cells {
                    FixCells::Ints(ints) => byte(ints.place(row)),
                    FixCells::Raw { at, width } => byte(at as usize + row * usize::from(width)),
                    FixCells::Var => 0,
                };
                self.columns.iter().take(COLUMNS_INLINE).fold(0, |read, column| read ^ cell(column))
            }
            PrefetchStep::Texts(_) => 0,
        }
    }

    /// The bytes that columns point into.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of some rows of a [raw](FixCells::Raw) column.
    #[inline]
    pub(crate) fn raw(&self, width: u8, at: u32, rows: Range<usize>) -> Option<&[u8]> {
        let (at, width) = (at as usize, usize::from(width));
        self.bytes.get(at + rows.start * width..at + rows.end * width)
    }

    /// The column of a slot; `None` where the column is younger than the block.
    pub(crate) fn column(&self, slot: u16) -> Option<&FixColumn> {
        // Slots are mostly dense, so a column is usually at the index of its slot.
        match self.columns.get(usize::from(slot)) {
            Some(column) if column.slot == slot => Some(column),
            _ => self.columns.iter().find(|column| column.slot == slot),
        }
    }

    /// When a row was written.
    pub(crate) fn time_ms(&self, row: usize) -> i64 {
        self.times.map_or(0, |times| times.get(&self.bytes, row))
    }

    /// Whether a row only says that the row of its key is deleted.
    pub(crate) fn is_deleted(&self, row: usize) -> bool {
        self.deleted.is_null(&self.bytes, row)
    }

    /// The common prefix of all row keys, and the rest of one of them.
    #[inline]
    pub(crate) fn key(&self, row: usize) -> (&[u8], &[u8]) {
        self.keys.as_ref().map_or((&[], &[]), |keys| (keys.prefix(), keys.suffix(&self.bytes, row)))
    }

    /// The suffix of another key after the common prefix of the row keys; if it has another prefix, its position among
    /// some rows.
    #[inline]
    pub(crate) fn suffix_of<'k>(&self, key: &'k [u8], rows: &Range<usize>) -> Result<&'k [u8], usize> {
        let prefix = self.keys.as_ref().map_or(&[][..], |keys| keys.prefix());
        key.strip_prefix(prefix).ok_or(if key < prefix { rows.start } else { rows.end })
    }

    /// Where the rest of the first key begins, and how long it is in all of them; `None` where it differs.
    pub(crate) fn suffix_stride(&self) -> Option<(usize, usize)> {
        match self.keys.as_ref()?.suffixes {
            Suffixes::Stride { at, stride } => Some((at as usize, stride as usize)),
            Suffixes::Ends { .. } => None,
        }
    }

    /// One row's key, in place of what `key` held.
    #[inline]
    pub(crate) fn key_into(&self, row: usize, key: &mut Vec<u8>) {
        let (prefix, suffix) = self.key(row);
        key.clear();
        key.reserve(prefix.len() + suffix.len());
        key.extend_from_slice(prefix);
        key.extend_from_slice(suffix);
    }

    /// `width` bytes of a row's key that begin `from_end` bytes before its end.
    #[inline]
    pub(crate) fn key_tail(&self, row: usize, from_end: usize, width: usize) -> [u8; KEY_VALUE_BYTES_MAX] {
        let mut out = [0; KEY_VALUE_BYTES_MAX];
        let (prefix, suffix) = self.key(row);
        match suffix.len().checked_sub(from_end) {
            Some(at) => {
                if let (Some(to), Some(from)) = (out.get_mut(..width), suffix.get(at..at + width)) {
                    to.copy_from_slice(from);
                }
            }
            None => {
                let at = (prefix.len() + suffix.len()).saturating_sub(from_end);
                let first = prefix.get(at..).unwrap_or_default();
                let first = first.get(..width).unwrap_or(first);
                let rest = suffix.get(..width - first.len()).unwrap_or(suffix);
                if let Some(to) = out.get_mut(..first.len()) {
                    to.copy_from_slice(first);
                }
                if let Some(to) = out.get_mut(first.len()..first.len() + rest.len()) {
                    to.copy_from_slice(rest);
                }
            }
        }
        out
    }

    /// As [`FixPart::key_tail`] for any of some rows, where it is quick: of values of up to 8 bytes, in keys of one length.
    pub(crate) fn key_tails(
        &self,
        rows: Range<usize>,
        from_end: usize,
        width: usize,
    ) -> Option<impl Fn(usize) -> [u8; KEY_VALUE_BYTES_MAX]> {
        let number = self.key_numbers(rows, from_end, width)?;
        Some(move |row: usize| {
            let mut out = [0; KEY_VALUE_BYTES_MAX];
            if let Some(to) = out.first_chunk_mut() {
                *to = (number(row) << (64 - 8 * width)).to_be_bytes();
            }
            out
        })
    }

    /// The same, each as the number that the bytes are in big endian.
    pub(crate) fn key_numbers(
        &self,
        rows: Range<usize>,
        from_end: usize,
        width: usize,
    ) -> Option<impl Fn(usize) -> u64> {
        let keys = self.keys.as_ref().filter(|_| (1..=8).contains(&width) && !rows.is_empty())?;
        let Suffixes::Stride { at, stride } = keys.suffixes else { return None };
        let (at, stride) = (at as usize, stride as usize);
        // The bytes of the value in each suffix; the rest is in the common prefix.
        let own_bytes = (stride + width).saturating_sub(from_end).min(width);
        let own = u64::MAX.checked_shr(64 - 8 * own_bytes as u32).unwrap_or(0);
        let first = self.key_tail(rows.start, from_end, width);
        let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let shared = number(first.get(..width)?) & !own;
        let end = move |row: usize| at + (row + 1) * stride + width - from_end;
        // The eight bytes up to the value's end: before a short suffix is the suffix of the row before.
        end(rows.start).checked_sub(8).filter(|_| end(rows.end - 1) <= self.bytes.len())?;
        Some(move |row: usize| {
            let stored = self.bytes.get(end(row) - 8..end(row)).and_then(<[u8]>::first_chunk);
            debug_assert!(stored.is_some(), "the part ends before the key of row {row}");
            stored.map_or(0, |stored| u64::from_be_bytes(*stored)) & own | shared
        })
    }

    /// How many of some rows, from their first on, or in reverse from their last, have its key, but for its last bytes.
    pub(crate) fn repeats(&self, rows: Range<usize>, direction: Direction, tail_bytes: usize) -> usize {
        self.repeats_of(&RowSelection::Run(rows, direction), tail_bytes)
    }

    /// As [`FixPart::repeats`], of rows in the direction of the scan.
    pub(crate) fn repeats_of(&self, rows: &RowSelection<'_>, tail_bytes: usize) -> usize {
        let count = rows.len();
        let Some(keys) = &self.keys else { return count };
        let leading = |i: usize| {
            let suffix = keys.suffix(&self.bytes, rows.nth(i));
            (suffix.len(), suffix.get(..suffix.len().saturating_sub(tail_bytes)).unwrap_or_default())
        };
        let first = leading(0);
        match keys.suffixes {
            // Between two keys of the same length that begin alike are only such.
            Suffixes::Stride { .. } => {
                if leading(count - 1) == first {
                    return count;
                }
                let (mut same, mut other) = (0, count - 1);
                while same + 1 < other {
                    let middle = same.midpoint(other);
                    if leading(middle) == first { same = middle } else { other = middle }
                }
                other
            }
            Suffixes::Ends { .. } => (1..count).find(|i| leading(*i) != first).unwrap_or(count),
        }
    }

    /// The row with this key, or the first one after it.
    pub(crate) fn search(&self, key: &[u8]) -> Result<usize, usize> {
        self.search_in(key, 0..self.rows())
    }

    /// As [`FixPart::search`], among some of the rows.
    pub(crate) fn search_in(&self, key: &[u8], rows: Range<usize>) -> Result<usize, usize> {
        let (bytes, Some(keys)) = (&self.bytes[..], &self.keys) else { return Err(rows.start) };
        let suffix = self.suffix_of(key, &rows)?;
        let wanted = head(suffix);
        let near = keys.near(wanted);
        let near = near.start.clamp(rows.start, rows.end)..near.end.clamp(rows.start, rows.end);
        prefetch(keys.reads_near(bytes, near.start));
        // Heads are compared first, because most differ and a comparison of numbers is no call.
        search_by(near, |row| {
            let of_row = keys.suffix_range(row);
            let order = head_at(bytes, &of_row).cmp(&wanted);
            order.then_with(|| bytes.get(of_row).unwrap_or_default().cmp(suffix))
        })
    }

    /// The first of the rows that a [`FixPart::search`] for a key compares.
    #[inline]
    pub(crate) fn first_near(&self, key: &[u8]) -> usize {
        let suffix = self.suffix_of(key, &(0..0)).ok();
        self.keys.as_ref().zip(suffix).map_or(0, |(keys, suffix)| keys.near(head(suffix)).start)
    }

    /// Rows before the first one whose key is not below `key`.
    pub(crate) fn lower_bound(&self, key: &[u8]) -> usize {
        self.search(key).unwrap_or_else(|row| row)
    }

    /// As [`FixPart::lower_bound_in`], for a row that is probably one of the first: these are compared one by one.
    pub(crate) fn lower_bound_from(&self, key: &[u8], rows: Range<usize>) -> usize {
        let first = rows.start..rows.end.min(rows.start + FIRST_ROWS);
        let is_not_below = |row: &usize| match self.suffix_of(key, &rows) {
            Ok(suffix) => self.key(*row).1 >= suffix,
            Err(at) => *row >= at,
        };
        first.clone().find(is_not_below).unwrap_or_else(|| self.lower_bound_in(key, first.end..rows.end))
    }

    /// The first of some rows whose key is not below `key`, or where they end.
    pub(crate) fn lower_bound_in(&self, key: &[u8], rows: Range<usize>) -> usize {
        self.search_in(key, rows).unwrap_or_else(|row| row)
    }
}

impl Keys {
    fn read(reader: &mut Reader<'_>, part: &[u8], rows: usize) -> Option<Self> {
        let prefix_bytes = reader.u16()?;
        let at = reader.place(prefix_bytes.into())?;
        let prefix = part.get(at as usize..at as usize + usize::from(prefix_bytes))?.into();
        let suffixes = match reader.u8()? {
            0 => {
                let stride = reader.u16()?;
                Suffixes::Stride { at: reader.place(rows.checked_mul(stride.into())?)?, stride: stride.into() }
            }
            1 => {
                let mut ends: Vec<u32> = Vec::with_capacity(rows);
                for _ in 0..rows {
                    ends.push(reader.u32()?);
                }
                if !ends.is_sorted() {
                    return None;
                }
                let total = ends.last().copied().unwrap_or(0) as usize;
                Suffixes::Ends { at: reader.place(total)?, mean: total.checked_div(rows).unwrap_or(0) as u32, ends }
            }
            _ => return None,
        };
        let head_rows = rows.div_ceil(HEADS).max(1);
        let mut keys = Self { prefix, suffixes, heads: [u64::MAX; HEADS], head_rows: head_rows as u32 };
        for place in 0..rows.div_ceil(head_rows) {
            let known = head(keys.suffix(part, place * head_rows));
            keys.heads.get_mut(place).map(|to| *to = known)?;
        }
        Some(keys)
    }

    /// The common prefix of all keys.
    #[inline]
    fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// The bytes after it in a row's key.
    #[inline]
    fn suffix<'p>(&self, part: &'p [u8], row: usize) -> &'p [u8] {
        part.get(self.suffix_range(row)).unwrap_or_default()
    }

    /// Where they stand in the part.
    #[inline]
    fn suffix_range(&self, row: usize) -> Range<usize> {
        match &self.suffixes {
            Suffixes::Stride { at, stride } => {
                let (at, stride) = (*at as usize, *stride as usize);
                at + row * stride..at + (row + 1) * stride
            }
            Suffixes::Ends { at, ends, .. } => {
                let start = row.checked_sub(1).and_then(|before| ends.get(before)).map_or(0, |end| *end as usize);
                let at = *at as usize;
                at + start..at + ends.get(row).map_or(start, |end| *end as usize)
            }
        }
    }

    /// The reads of a prefetch of the suffixes of the rows from `row` on to the next head: a search among them waits for each of
    /// its steps otherwise. If their lengths differ, their places are estimated from the mean, because the search would have to
    /// wait for the ends first; these are prefetched, too.
    #[inline]
    fn reads_near(&self, part: &[u8], row: usize) -> impl Iterator<Item = usize> {
        let quarter = self.head_rows as usize / 4;
        let (at, stride, end) = match &self.suffixes {
            Suffixes::Stride { at, stride } => (*at, *stride as usize, 0),
            Suffixes::Ends { at, mean, ends } => (*at, *mean as usize, ends.get(row).map_or(0, |end| *end as usize)),
        };
        let suffix = move |place: usize| at as usize + (row + place * quarter) * stride;
        (0..4).map(move |place| part.get(suffix(place)).map_or(end, |byte| usize::from(*byte) ^ end))
    }

    /// Rows among which, or directly after which, is the first that is not below a suffix with this head.
    #[inline]
    fn near(&self, wanted: u64) -> Range<usize> {
        let below = self.heads.partition_point(|head| *head < wanted);
        let equal = self.heads.iter().skip(below).take_while(|head| **head == wanted).count();
        let not_above = below + equal;
        let rows = self.head_rows as usize;
        (below.saturating_sub(1) * rows + usize::from(below > 0))..not_above.saturating_mul(rows)
    }
}
