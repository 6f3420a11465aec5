//! Directory entries and runs as stored.
//!
//! ```text
//! block  id 8 | rows 4 | bytes of rows 4 | oldest, newest write time 8 + 8 | last key: length 2, bytes
//!        families: count 1, numbers | zones: count 2, each: family 1, slot 2, flags 1, min, max, sum 8, count of rows
//!        that are not NULL where others are 4
//!        ids of values in FAR: count 4, 8 each
//! entry  block | checksum 4
//! run    block | filter: a byte a row | entries: count 4, ids of their blocks (ints), rows of each (ints), oldest run
//!        taken in (ints) | checksum 4
//! ```
//! A run's record is written once. It names the entries whose rows it has by the ids of their blocks, so that an entry
//! is not written when it gets a run: one whose block is written anew has another id, and no run that was before. Where
//! a run has the rows of older ones too, its record says from which on: these count no more for that entry.

use std::sync::Arc;

use saltwing_store::Bytes;
use saltwing_types::TableId;

use super::bits::{Ints, Reader, seal};
use super::block_ref::{BlockRef, Shelf, Summary};
use super::directory::Entry;
use super::far::Far;
use super::zone::{Bounds, Zone};

/// Flags of a column: a row is NULL; there are a smallest and a largest value; they take 16 bytes, else 8; the sum is known.
const HAS_NULL: u8 = 1;
const HAS_BOUNDS: u8 = 2;
const HAS_WIDE: u8 = 4;
const HAS_SUM: u8 = 8;

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
        out.push(self.families.len() as u8);
        out.extend_from_slice(&self.families);
        out.extend_from_slice(&(self.zones.len() as u16).to_le_bytes());
        for (family, zone) in &self.zones {
            out.push(*family);
            out.extend_from_slice(&zone.slot.to_le_bytes());
            let has_null = if zone.has_null { HAS_NULL } else { 0 };
            let flags = has_null | if zone.sum.is_some() { HAS_SUM } else { 0 };
            match &zone.bounds {
                None => out.push(flags),
                Some(Bounds::Narrow(min, max)) => {
                    out.push(flags | HAS_BOUNDS);
                    out.extend_from_slice(&min.to_le_bytes());
                    out.extend_from_slice(&max.to_le_bytes());
                }
                Some(Bounds::Wide(bounds)) => {
                    out.push(flags | HAS_BOUNDS | HAS_WIDE);
                    out.extend_from_slice(&bounds.0.to_le_bytes());
                    out.extend_from_slice(&bounds.1.to_le_bytes());
                }
            }
            if let Some((known, sum)) = zone.sum {
                out.extend_from_slice(&sum.to_le_bytes());
                if zone.has_null {
                    out.extend_from_slice(&known.to_le_bytes());
                }
            }
        }
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
        let family_count = reader.u8()?;
        let families = reader.bytes(family_count.into())?.to_vec();
        let zone_count = reader.u16()?;
        let mut zones = Vec::with_capacity(zone_count.into());
        for _ in 0..zone_count {
            let (family, slot, flags) = (reader.u8()?, reader.u16()?, reader.u8()?);
            let bounds = match flags & (HAS_BOUNDS | HAS_WIDE) {
                0 => None,
                HAS_BOUNDS => Some(Bounds::Narrow(reader.u64()?, reader.u64()?)),
                _ => Some(Bounds::Wide(Box::new((reader.u128()?, reader.u128()?)))),
            };
            let has_null = flags & HAS_NULL != 0;
            let sum = match flags & HAS_SUM {
                0 => None,
                _ => {
                    let sum = reader.i64()?;
                    Some((if has_null { reader.u32()? } else { rows }, sum))
                }
            };
            zones.push((family, Zone { slot, bounds, has_null, sum }));
        }
        let far_count = reader.u32()?;
        let far = (0..far_count).map(|_| reader.u64()).collect::<Option<_>>()?;
        Some((id, Self { rows, bytes, last_key, times_ms, families, zones }, far))
    }
}

impl Entry {
    /// An entry as stored; `None` when the bytes are none.
    pub(super) fn read(table: TableId, fence: &[u8], bytes: &[u8], shelf: &Arc<Shelf>) -> Option<Self> {
        let (id, summary, far) = Summary::read(bytes)?;
        let far = far.into_iter().map(|id| Arc::new(Far::new(id, table, shelf.clone()))).collect();
        let block = Arc::new(BlockRef::new(id, table, summary, far, shelf.clone()));
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
    use super::*;

    #[test]
    fn a_summary_reads_as_it_was_written() {
        let zone = |slot, bounds| Zone { slot, bounds, has_null: slot == 1, sum: None };
        let summed = |slot, sum| (0, Zone { sum: Some(sum), ..zone(slot, Some(Bounds::Narrow(3, 4))) });
        let summary = Summary {
            rows: 256,
            bytes: 1000,
            last_key: Bytes::from(b"last key of more than twenty bytes"),
            times_ms: (-1, i64::MAX),
            families: vec![0, 2],
            zones: vec![
                (0, zone(0, Some(Bounds::Narrow(0, 5)))),
                (2, zone(1, None)),
                summed(1, (250, i64::MIN)),
                summed(4, (256, -1)),
                (2, zone(3, Some(Bounds::Wide(Box::new((7, u128::MAX)))))),
            ],
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
