//! The variable part of a block: chunks of bytes, and references to overflow values.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use saltwing_store::Bytes;
use smallvec::SmallVec;

use crate::format::bits::Reader;
use crate::format::fix_part::VERSION;
use crate::format::overflow::{HEAD_BYTES, OverflowName, OverflowSource};
use crate::format::prefetch::PrefetchStep;

/// Rows whose variable-width bytes are compressed together.
pub(crate) const CHUNK_ROWS: usize = 16;

/// Columns whose places stand in the part itself.
const COLUMNS_INLINE: usize = 2;

/// The variable part of one family of a block.
#[derive(Debug)]
pub(crate) struct VarPart {
    bytes: Bytes,
    columns: SmallVec<[VarColumn; COLUMNS_INLINE]>,
}

/// A column of the variable part.
#[derive(Debug)]
pub(crate) struct VarColumn {
    slot: u16,
    /// Where each row's bytes end, from the start of its chunk on.
    ends: Box<[u32]>,
    chunks: Box<[Chunk]>,
    /// Overflow values, by row; mostly none.
    overflow: Vec<OverflowCell>,
}

struct OverflowCell {
    name: OverflowName,
    /// Where a run of this one row ends.
    end: [u32; 1],
    source: Option<Arc<dyn OverflowSource>>,
    /// Read on demand.
    value: OnceLock<Bytes>,
}

impl std::fmt::Debug for OverflowCell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.name.fmt(f)
    }
}

impl OverflowCell {
    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let (row, id, bytes) = (reader.u32()?, reader.u64()?, reader.u32()?);
        let head = reader.bytes(HEAD_BYTES)?.try_into().ok()?;
        let name = OverflowName { row, id, bytes, head };
        Some(Self { name, end: [bytes], source: None, value: OnceLock::new() })
    }

    fn value(&self) -> Option<&[u8]> {
        if let Some(value) = self.value.get() {
            return Some(value);
        }
        let read = self.source.as_ref()?.read(self.name.bytes)?;
        Some(self.value.get_or_init(|| read))
    }
}

#[derive(Debug)]
struct Chunk {
    at: u32,
    stored_bytes: u32,
    raw_bytes: u32,
    /// Expanded when it is first read, if it is compressed.
    expanded: OnceLock<Box<[u8]>>,
}

impl VarPart {
    /// Reads the stored part of a block with `rows` rows; `None` when the bytes are none of this family.
    pub(crate) fn read(bytes: Bytes, family: u8, rows: usize) -> Option<Self> {
        let mut reader = Reader::checked(&bytes)?;
        let (version, found) = (reader.u8()?, reader.u8()?);
        if version != VERSION || found != family {
            return None;
        }
        let count = reader.u16()?;
        let mut columns = SmallVec::with_capacity(count.into());
        for _ in 0..count {
            columns.push(VarColumn::read(&mut reader, &bytes, rows)?);
        }
        reader.is_at_end().then_some(())?;
        Some(Self { bytes, columns })
    }

    /// The part with a source for each of its overflow values; `None` if `source_of` knows none for one of them.
    pub(crate) fn with_sources(mut self, source_of: impl Fn(u64) -> Option<Arc<dyn OverflowSource>>) -> Option<Self> {
        for cell in self.columns.iter_mut().flat_map(|column| &mut column.overflow) {
            cell.source = Some(source_of(cell.name.id)?);
        }
        Some(self)
    }

    /// The ids of the overflow values.
    pub(crate) fn overflow_ids(&self) -> impl Iterator<Item = u64> {
        self.columns.iter().flat_map(|column| &column.overflow).map(|cell| cell.name.id)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The reads of a prefetch in the part.
    #[inline]
    pub(crate) fn prefetch(&self, step: PrefetchStep) -> usize {
        let first_columns = || self.columns.iter().take(COLUMNS_INLINE);
        match step {
            PrefetchStep::KeysAndColumns => {
                self.columns.iter().fold(self.bytes.len(), |read, column| read ^ usize::from(column.slot))
            }
            PrefetchStep::Row(row) => {
                let chunk = |column: &VarColumn| column.chunks.get(row / CHUNK_ROWS).map_or(0, |chunk| chunk.at);
                let place = |column: &VarColumn| column.ends.get(row).copied().unwrap_or(0) ^ chunk(column);
                first_columns().fold(0, |read, column| read ^ place(column) as usize)
            }
            PrefetchStep::Texts(row) => {
                let ends = |column: &VarColumn| {
                    let chunk = column.chunks.get(row / CHUNK_ROWS)?;
                    let expanded = chunk.expanded.get().map(|expanded| &**expanded);
                    let bytes = expanded.or_else(|| self.bytes.get(chunk.at as usize..))?;
                    let start = if row.is_multiple_of(CHUNK_ROWS) { 0 } else { *column.ends.get(row - 1)? };
                    let text = bytes.get(start as usize..*column.ends.get(row)? as usize)?;
                    Some(text.first()? ^ text.last()?)
                };
                first_columns().fold(0, |read, column| read ^ usize::from(ends(column).unwrap_or(0)))
            }
            PrefetchStep::Columns | PrefetchStep::Keys(_) => 0,
        }
    }

    pub(crate) fn column(&self, slot: u16) -> Option<&VarColumn> {
        self.columns.iter().find(|column| column.slot == slot)
    }

    /// Bytes when everything is expanded.
    pub(crate) fn expanded_bytes(&self) -> usize {
        let chunks = self.columns.iter().flat_map(|column| &column.chunks);
        chunks.map(|chunk| if chunk.is_compressed() { chunk.raw_bytes as usize } else { 0 }).sum()
    }
}

impl Chunk {
    fn is_compressed(&self) -> bool {
        self.stored_bytes < self.raw_bytes
    }
}

impl VarColumn {
    fn read(reader: &mut Reader<'_>, part: &[u8], rows: usize) -> Option<Self> {
        let slot = reader.u16()?;
        let lengths = reader.ints(rows)?;
        let mut ends = Vec::with_capacity(rows);
        let mut end = 0u32;
        for row in 0..rows {
            if row.is_multiple_of(CHUNK_ROWS) {
                end = 0;
            }
            end = end.checked_add(u32::try_from(lengths.get(part, row)).ok()?)?;
            ends.push(end);
        }
        let mut overflow: Vec<OverflowCell> = Vec::new();
        for _ in 0..reader.u32()? {
            let cell = OverflowCell::read(reader)?;
            let row = cell.name.row as usize;
            let is_ascending = overflow.last().is_none_or(|before| before.name.row < cell.name.row);
            if !is_ascending || row >= rows || lengths.get(part, row) != 0 {
                return None;
            }
            overflow.push(cell);
        }
        let mut sizes = Vec::with_capacity(rows.div_ceil(CHUNK_ROWS));
        for rows in ends.chunks(CHUNK_ROWS) {
            let (stored, raw) = (reader.u32()?, reader.u32()?);
            if rows.last() != Some(&raw) || stored > raw {
                return None;
            }
            sizes.push((stored, raw));
        }
        let mut chunks = Vec::with_capacity(sizes.len());
        for (stored_bytes, raw_bytes) in sizes {
            let at = reader.place(stored_bytes as usize)?;
            chunks.push(Chunk { at, stored_bytes, raw_bytes, expanded: OnceLock::new() });
        }
        Some(Self { slot, ends: ends.into(), chunks: chunks.into(), overflow })
    }

    /// The reference to a row's overflow value, if it has one.
    pub(crate) fn overflow(&self, row: usize) -> Option<&OverflowName> {
        self.overflow_cell(row).map(|cell| &cell.name)
    }

    fn overflow_cell(&self, row: usize) -> Option<&OverflowCell> {
        let at = self.overflow.binary_search_by(|cell| (cell.name.row as usize).cmp(&row)).ok()?;
        self.overflow.get(at)
    }

    /// The first row from `row` on with an overflow value.
    fn next_overflow(&self, row: usize) -> Option<&OverflowCell> {
        self.overflow.get(self.overflow.partition_point(|cell| (cell.name.row as usize) < row))
    }

    /// A row's bytes; `None` if the chunk is damaged or the value cannot be read.
    #[inline]
    pub(crate) fn value<'a>(&'a self, part: &'a [u8], row: usize) -> Option<&'a [u8]> {
        if let Some(cell) = self.overflow_cell(row) {
            return cell.value();
        }
        let chunk = self.chunk(part, row / CHUNK_ROWS)?;
        let start = if row.is_multiple_of(CHUNK_ROWS) { 0 } else { *self.ends.get(row - 1)? as usize };
        chunk.get(start..*self.ends.get(row)? as usize)
    }

    /// How many bytes a row's value has; they are not read.
    pub(crate) fn value_bytes(&self, row: usize) -> Option<usize> {
        if let Some(overflow) = self.overflow(row) {
            return Some(overflow.bytes as usize);
        }
        let start = if row.is_multiple_of(CHUNK_ROWS) { 0 } else { *self.ends.get(row - 1)? };
        self.ends.get(row)?.checked_sub(start).map(|bytes| bytes as usize)
    }

    /// Bytes of some rows, without overflow values.
    pub(crate) fn bytes_of(&self, rows: &Range<usize>) -> usize {
        let end = |row: usize| self.ends.get(row).map_or(0, |end| *end as usize);
        let before = if rows.start.is_multiple_of(CHUNK_ROWS) { 0 } else { end(rows.start - 1) };
        let chunks = rows.start / CHUNK_ROWS..rows.end.div_ceil(CHUNK_ROWS);
        let ends = chunks.map(|chunk| end(((chunk + 1) * CHUNK_ROWS).min(rows.end) - 1));
        ends.sum::<usize>() - before
    }

    /// For each run of `rows` in one chunk: their bytes, the end of each row's bytes counted from the chunk's start,
    /// and the start of the first row's bytes. A row with an overflow value is a run of its own.
    pub(crate) fn each_run<'a>(
        &'a self,
        part: &'a [u8],
        rows: Range<usize>,
        mut each: impl FnMut(&'a [u8], u32, &'a [u32]) -> Option<()>,
    ) -> Option<()> {
        let mut row = rows.start;
        while row < rows.end {
            let chunk_index = row / CHUNK_ROWS;
            let mut until = rows.end.min((chunk_index + 1) * CHUNK_ROWS);
            if let Some(cell) = self.next_overflow(row) {
                if cell.name.row as usize == row {
                    each(cell.value()?, 0, &cell.end)?;
                    row += 1;
                    continue;
                }
                until = until.min(cell.name.row as usize);
            }
            let ends = self.ends.get(row..until)?;
            let start = if row.is_multiple_of(CHUNK_ROWS) { 0 } else { *self.ends.get(row - 1)? };
            let end = *ends.last()?;
            each(self.chunk(part, chunk_index)?.get(start as usize..end as usize)?, start, ends)?;
            row = until;
        }
        Some(())
    }

    fn chunk<'a>(&'a self, part: &'a [u8], index: usize) -> Option<&'a [u8]> {
        let chunk = self.chunks.get(index)?;
        if let Some(expanded) = chunk.expanded.get() {
            return Some(expanded);
        }
        let at = chunk.at as usize;
        let stored = part.get(at..at + chunk.stored_bytes as usize)?;
        if !chunk.is_compressed() {
            return Some(stored);
        }
        let expanded = lz4_flex::block::decompress(stored, chunk.raw_bytes as usize).ok()?;
        if expanded.len() != chunk.raw_bytes as usize {
            return None;
        }
        Some(chunk.expanded.get_or_init(|| expanded.into()))
    }
}
