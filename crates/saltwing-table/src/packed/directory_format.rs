//! Directory entries and runs as stored.
//!
//! ```text
//! block  id 8 | rows 4 | bytes of rows 4 | oldest, newest write time 8 + 8 | last key: length 2, bytes
//!        families and zones (`block_columns.rs`) | ids of values in FAR: count 4, 8 each
//! entry  block | checksum 4
//! run    block | filter: a byte a row | entries: count 4, ids of their blocks (ints), rows of each (ints), oldest run
//!        taken in (ints) | checksum 4
//! ```
//! A run's record is written once. It names the entries whose rows it has by the ids of their blocks, so that an entry
//! is not written when it gets a run: one whose block is written anew has another id, and no run that was before. Where
//! a run has the rows of older ones too, its record says from which on: these count no more for that entry.

use std::sync::Arc;

use saltwing_store::Bytes;

use super::bits::{Ints, Reader, seal};
use super::block_columns::BlockColumns;
use super::block_ref::{BlockRef, Home, Summary};
use super::directory::Entry;
use super::far::Far;

impl Summary {
    /// The directory entry of a block that names these values, as stored.
    pub(super) fn write(&self, id: u64, far: &[u64]) -> Vec<u8> {
        let mut out = Vec::with_capacity(128);
        self.put(id, far, &mut out);
        seal(out)
    }

    fn put(&self, id: u64, far: &[u64], out: &mut Vec<u8>) {
        out.extend_from_slice(&id.to_le_bytes());
        out.extend_from_slice(&self.rows.to_le_bytes());
        out.extend_from_slice(&self.bytes.to_le_bytes());
        out.extend_from_slice(&self.times_ms.0.to_le_bytes());
        out.extend_from_slice(&self.times_ms.1.to_le_bytes());
        out.extend_from_slice(&(self.last_key.len() as u16).to_le_bytes());
        out.extend_from_slice(&self.last_key);
        out.extend_from_slice(self.columns.bytes());
        out.extend_from_slice(&(far.len() as u32).to_le_bytes());
        far.iter().for_each(|id| out.extend_from_slice(&id.to_le_bytes()));
    }

    fn read(bytes: &[u8]) -> Option<(u64, Self, Vec<u64>)> {
        let mut reader = Reader::checked(bytes)?;
        let read = Self::take(&mut reader)?;
        reader.is_at_end().then_some(read)
    }

    fn take(reader: &mut Reader<'_>) -> Option<(u64, Self, Vec<u64>)> {
        let (id, rows, bytes) = (reader.u64()?, reader.u32()?, reader.u32()?);
        let times_ms = (reader.i64()?, reader.i64()?);
        let key_bytes = reader.u16()?;
        let last_key = Bytes::from(reader.bytes(key_bytes.into())?);
        let columns = BlockColumns::take(reader)?;
        let far_count = reader.u32()?;
        let far = (0..far_count).map(|_| reader.u64()).collect::<Option<_>>()?;
        Some((id, Self { rows, bytes, last_key, times_ms, columns }, far))
    }
}

impl Entry {
    /// An entry as stored; `None` when the bytes are none.
    pub(super) fn read(fence: &[u8], bytes: &[u8], home: &Arc<Home>) -> Option<Self> {
        let (id, summary, far) = Summary::read(bytes)?;
        let far = far.into_iter().map(|id| Arc::new(Far::new(id, home.clone()))).collect();
        let block = Arc::new(BlockRef::new(id, summary, far, home.clone()));
        Some(Self::new(Bytes::from(fence), Some(block)))
    }
}

/// Which rows of a run are of one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartRecord {
    /// The entry's block.
    pub(super) block: u64,
    /// So many, behind those of the entries before.
    pub(super) rows: u32,
    /// The oldest run whose rows are among them; the run itself where it took none in.
    pub(super) oldest: u64,
}

/// A run as stored.
pub(super) fn write_run(id: u64, summary: &Summary, filter: &[u8], parts: &[PartRecord]) -> Vec<u8> {
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
pub(super) fn read_run(bytes: &[u8]) -> Option<(u64, Summary, Vec<u8>, Vec<PartRecord>)> {
    let mut reader = Reader::checked(bytes)?;
    let (id, summary, _) = Summary::take(&mut reader)?;
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
    use super::super::zone::Zone;
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
        assert_eq!(Summary::read(&stored), Some((7, summary.clone(), vec![9, u64::MAX])));
        for at in 0..stored.len() {
            assert_eq!(Summary::read(&stored[..at]), None);
        }
        let part = |block, rows, oldest| PartRecord { block, rows, oldest };
        let parts = vec![part(900, 1, 7), part(3, 250, 5), part(u64::MAX, 5, 0)];
        let stored = write_run(7, &summary, &[8; 256], &parts);
        assert_eq!(read_run(&stored), Some((7, summary.clone(), vec![8; 256], parts.clone())));
        assert!((0..stored.len()).all(|at| read_run(&stored[..at]).is_none()));
        assert_eq!(read_run(&write_run(7, &summary, &[8; 256], &parts[1..])), None, "all rows are of an entry");
    }
}
