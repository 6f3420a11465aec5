//! Directory entries and runs as stored.
//!
//! ```text
//! block  id 8 | rows 4 | bytes of rows 4 | oldest, newest write time 8 + 8 | last key: length 2, bytes
//!        families and zones (`block_columns.rs`) | ids of values in OVERFLOW: count 4, 8 each
//! entry  block | checksum 4
//! run    block | filter: a byte a row | entries: count 4, ids of their blocks (ints), rows of each (ints), oldest run
//!        taken in (ints) | checksum 4
//! ```
//! A run's record is written once. It names the entries whose rows it has by the ids of their blocks, so that an entry
//! is not written when it gets a run: one whose block is written anew has another id, and no run that was before. Where
//! a run has the rows of older ones too, its record says from which on: these count no more for that entry.

use saltwing_store::Bytes;

use crate::format::bits::{Ints, Reader, seal};
use crate::format::block_columns::BlockColumns;
use crate::format::summary::Summary;
use crate::format::zone::Zone;

impl Summary {
    /// The directory entry of a block that names these values, as stored.
    pub(crate) fn write(&self, id: u64, overflow: &[u64]) -> Vec<u8> {
        let mut out = Vec::with_capacity(128);
        self.put(id, overflow, &mut out);
        seal(out)
    }

    fn put(&self, id: u64, overflow: &[u64], out: &mut Vec<u8>) {
        out.extend_from_slice(&id.to_le_bytes());
        out.extend_from_slice(&self.rows.to_le_bytes());
        out.extend_from_slice(&self.bytes.to_le_bytes());
        out.extend_from_slice(&self.times_ms.0.to_le_bytes());
        out.extend_from_slice(&self.times_ms.1.to_le_bytes());
        out.extend_from_slice(&(self.last_key.len() as u16).to_le_bytes());
        out.extend_from_slice(&self.last_key);
        out.extend_from_slice(self.columns.bytes());
        out.extend_from_slice(&(overflow.len() as u32).to_le_bytes());
        overflow.iter().for_each(|id| out.extend_from_slice(&id.to_le_bytes()));
    }
}

/// A stored block whose format was verified, so reading its fields cannot fail.
pub(crate) struct StoredBlock<'a>(&'a [u8]);

/// Where the bytes of the last key stand, and before them how many there are.
const LAST_KEY_AT: usize = 34;

impl<'a> StoredBlock<'a> {
    /// Takes a block; its values in `OVERFLOW` are left.
    fn take(reader: &mut Reader<'a>) -> Option<Self> {
        let bytes = reader.taken(|reader| {
            reader.skip(LAST_KEY_AT - 2)?;
            let key_bytes = reader.u16()?;
            reader.skip(key_bytes.into())?;
            BlockColumns::pass(reader)
        })?;
        Some(Self(bytes))
    }

    pub(crate) fn id(&self) -> u64 {
        u64::from_le_bytes(self.array(0))
    }

    pub(crate) fn rows(&self) -> u32 {
        u32::from_le_bytes(self.array(8))
    }

    pub(crate) fn row_bytes(&self) -> u32 {
        u32::from_le_bytes(self.array(12))
    }

    pub(crate) fn times_ms(&self) -> (i64, i64) {
        (i64::from_le_bytes(self.array(16)), i64::from_le_bytes(self.array(24)))
    }

    /// The zones of its columns, each with its family.
    pub(crate) fn zones(&self) -> impl Iterator<Item = (u8, Zone)> {
        BlockColumns::zones_of(self.columns(), self.rows())
    }

    fn columns(&self) -> &'a [u8] {
        self.0.get(self.last_key_end()..).unwrap_or_default()
    }

    fn last_key_end(&self) -> usize {
        LAST_KEY_AT + usize::from(u16::from_le_bytes(self.array(LAST_KEY_AT - 2)))
    }

    pub(crate) fn summary(&self) -> Summary {
        Summary {
            rows: self.rows(),
            bytes: self.row_bytes(),
            last_key: Bytes::from(self.0.get(LAST_KEY_AT..self.last_key_end()).unwrap_or_default()),
            times_ms: self.times_ms(),
            columns: BlockColumns::of_passed(self.columns()),
        }
    }

    /// `N` bytes at an offset that the format guarantees.
    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        self.0.get(at..at + N).and_then(|bytes| bytes.try_into().ok()).unwrap_or([0; N])
    }
}

/// A directory entry as stored, without its fence, whose checksum and form are right: making the entry of it cannot fail.
pub(crate) struct StoredEntry<'a> {
    pub(crate) block: StoredBlock<'a>,
    /// Ids of the block's values in `OVERFLOW`.
    overflow: &'a [u8],
}

impl<'a> StoredEntry<'a> {
    /// An entry as stored; `None` when the bytes are none.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::checked(bytes)?;
        let block = StoredBlock::take(&mut reader)?;
        let overflow_count = usize::try_from(reader.u32()?).ok()?;
        let overflow = reader.bytes(overflow_count.checked_mul(8)?)?;
        reader.is_at_end().then_some(Self { block, overflow })
    }

    /// Those of an entry that was read, of the same bytes: the first so many are the block's, and those from another place
    /// on the ids of its values.
    pub(crate) fn of_read(block: &'a [u8], overflow: &'a [u8]) -> Self {
        Self { block: StoredBlock(block), overflow }
    }

    /// The bytes that make it again.
    pub(crate) fn bytes(&self) -> (&'a [u8], &'a [u8]) {
        (self.block.0, self.overflow)
    }

    /// Ids of the block's values in `OVERFLOW`.
    pub(crate) fn overflow_ids(&self) -> impl Iterator<Item = u64> {
        self.overflow.as_chunks().0.iter().map(|id| u64::from_le_bytes(*id))
    }
}

/// Which rows of a run are of one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartRecord {
    /// The entry's block.
    pub(crate) block: u64,
    /// The number of its rows; they follow those of the entries before.
    pub(crate) rows: u32,
    /// The oldest run whose rows are among them; the run itself where it took none in.
    pub(crate) oldest: u64,
}

/// A run as stored.
pub(crate) fn write_run(id: u64, summary: &Summary, filter: &[u8], parts: &[PartRecord]) -> Vec<u8> {
    let mut out = Vec::with_capacity(256 + filter.len() + 12 * parts.len());
    summary.put(id, &[], &mut out);
    out.extend_from_slice(filter);
    out.extend_from_slice(&(parts.len() as u32).to_le_bytes());
    let fields: [fn(&PartRecord) -> u64; 3] = [|part| part.block, |part| part.rows.into(), |part| part.oldest];
    for field in fields {
        Ints::write(&parts.iter().map(|part| field(part) as i64).collect::<Vec<_>>(), &mut out);
    }
    seal(out)
}

/// Reads what [`write_run`] wrote; `None` when the bytes are no run.
pub(crate) fn read_run(bytes: &[u8]) -> Option<(u64, Summary, Vec<u8>, Vec<PartRecord>)> {
    let mut reader = Reader::checked(bytes)?;
    let block = StoredBlock::take(&mut reader)?;
    // It has no values in `OVERFLOW`.
    reader.u32().filter(|overflow| *overflow == 0)?;
    let (id, summary) = (block.id(), block.summary());
    let filter = reader.bytes(summary.rows as usize)?.to_vec();
    // Each has a row at least.
    let count = Some(reader.u32()?).filter(|count| *count <= summary.rows)? as usize;
    let [blocks, rows, oldest] = [reader.ints(count)?, reader.ints(count)?, reader.ints(count)?];
    let part = |at| PartRecord {
        block: blocks.get(bytes, at) as u64,
        rows: rows.get(bytes, at) as u32,
        oldest: oldest.get(bytes, at) as u64,
    };
    let parts: Vec<PartRecord> = (0..count).map(part).collect();
    let all = parts.iter().try_fold(0u32, |all, part| all.checked_add(part.rows))?;
    (reader.is_at_end() && all == summary.rows).then_some((id, summary, filter, parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_reads_as_it_was_written() {
        let zone = Zone { slot: 3, bounds: Some((7, u128::MAX)), has_null: true, sum: Some((250, i64::MIN)) };
        let summary = Summary {
            rows: 256,
            bytes: 1000,
            last_key: Bytes::from(b"last key of more than twenty bytes"),
            times_ms: (-1, i64::MAX),
            columns: BlockColumns::new(&[0, 2], &[(2, zone)]),
        };
        let stored = summary.write(7, &[9, u64::MAX]);
        for at in 0..stored.len() {
            assert!(StoredEntry::read(&stored[..at]).is_none());
        }
        let read = StoredEntry::read(&stored).unwrap();
        let (block, overflow) = read.bytes();
        for entry in [StoredEntry::of_read(block, overflow), read] {
            assert_eq!((entry.block.id(), entry.block.rows(), entry.block.row_bytes()), (7, 256, 1000));
            assert_eq!((entry.block.times_ms(), entry.block.zones().collect()), ((-1, i64::MAX), vec![(2, zone)]));
            assert_eq!(entry.block.summary(), summary);
            assert_eq!(entry.overflow_ids().collect::<Vec<_>>(), [9, u64::MAX]);
        }
        let part = |block, rows, oldest| PartRecord { block, rows, oldest };
        let parts = vec![part(900, 1, 7), part(3, 250, 5), part(u64::MAX, 5, 0)];
        let stored = write_run(7, &summary, &[8; 256], &parts);
        assert_eq!(read_run(&stored), Some((7, summary.clone(), vec![8; 256], parts.clone())));
        assert!((0..stored.len()).all(|at| read_run(&stored[..at]).is_none()));
        assert_eq!(read_run(&write_run(7, &summary, &[8; 256], &parts[1..])), None, "all rows are of an entry");
    }
}
