//! Families and zones of a block, kept encoded: a directory has many, and each is read seldom.
//!
//! ```text
//! families: count 1, numbers | zones: count 2, each: family 1, slot 2, flags 1, min, max, sum 8, count of rows that are
//! not NULL where others are 4
//! ```

use crate::format::bits::Reader;
use crate::format::zone::Zone;

/// Flags of a zone: a row is NULL; there are a smallest and a largest value; they take 16 bytes, else 8; the sum is known.
const HAS_NULL: u8 = 1;
const HAS_BOUNDS: u8 = 2;
const HAS_WIDE: u8 = 4;
const HAS_SUM: u8 = 8;

/// A block's families and zones.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct BlockColumns(Box<[u8]>);

impl BlockColumns {
    /// Families that have parts, ascending, and zones of columns, each with its family.
    pub(crate) fn new(families: &[u8], zones: &[(u8, Zone)]) -> Self {
        let mut out = Vec::with_capacity(128);
        out.push(families.len() as u8);
        out.extend_from_slice(families);
        out.extend_from_slice(&(zones.len() as u16).to_le_bytes());
        zones.iter().for_each(|(family, zone)| put_zone(*family, zone, &mut out));
        Self(out.into())
    }

    /// Passes over them in stored bytes; `None` where these are none.
    pub(crate) fn pass(reader: &mut Reader<'_>) -> Option<()> {
        let families = reader.u8()?;
        reader.skip(families.into())?;
        for _ in 0..reader.u16()? {
            pass_zone(reader)?;
        }
        Some(())
    }

    /// Those of stored bytes that [`BlockColumns::pass`] passed over.
    pub(crate) fn of_passed(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }

    /// As stored.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Families that have parts, ascending; the first always has.
    pub(crate) fn families(&self) -> &[u8] {
        families_of(&self.0)
    }

    /// The zones of a block of `rows` rows, each with its family.
    pub(crate) fn zones(&self, rows: u32) -> impl Iterator<Item = (u8, Zone)> {
        Self::zones_of(&self.0, rows)
    }

    /// The same of stored bytes that [`BlockColumns::pass`] passed over.
    pub(crate) fn zones_of(bytes: &[u8], rows: u32) -> impl Iterator<Item = (u8, Zone)> {
        // After the families' count, the families, and the zones' count.
        let mut reader = Reader::new(bytes.get(1 + families_of(bytes).len() + 2..).unwrap_or_default());
        std::iter::from_fn(move || (!reader.is_at_end()).then(|| take_zone(&mut reader, rows)).flatten())
    }
}

fn families_of(bytes: &[u8]) -> &[u8] {
    bytes.split_first().and_then(|(count, rest)| rest.get(..usize::from(*count))).unwrap_or_default()
}

impl std::fmt::Debug for BlockColumns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entry(&self.families()).entries(self.zones(0)).finish()
    }
}

fn put_zone(family: u8, zone: &Zone, out: &mut Vec<u8>) {
    out.push(family);
    out.extend_from_slice(&zone.slot.to_le_bytes());
    let has_null = if zone.has_null { HAS_NULL } else { 0 };
    let flags = has_null | if zone.sum.is_some() { HAS_SUM } else { 0 };
    match zone.bounds.map(|(min, max)| (min, max, u64::try_from(min), u64::try_from(max))) {
        None => out.push(flags),
        Some((_, _, Ok(min), Ok(max))) => {
            out.push(flags | HAS_BOUNDS);
            out.extend_from_slice(&min.to_le_bytes());
            out.extend_from_slice(&max.to_le_bytes());
        }
        Some((min, max, ..)) => {
            out.push(flags | HAS_BOUNDS | HAS_WIDE);
            out.extend_from_slice(&min.to_le_bytes());
            out.extend_from_slice(&max.to_le_bytes());
        }
    }
    if let Some((known, sum)) = zone.sum {
        out.extend_from_slice(&sum.to_le_bytes());
        if zone.has_null {
            out.extend_from_slice(&known.to_le_bytes());
        }
    }
}

/// Passes over a zone as [`take_zone`] does.
fn pass_zone(reader: &mut Reader<'_>) -> Option<()> {
    reader.skip(3)?;
    let flags = reader.u8()?;
    let bounds = match flags & (HAS_BOUNDS | HAS_WIDE) {
        0 => 0,
        HAS_BOUNDS => 16,
        _ => 32,
    };
    let sum = match flags & (HAS_SUM | HAS_NULL) {
        HAS_SUM => 8,
        0 | HAS_NULL => 0,
        _ => 12,
    };
    reader.skip(bounds + sum).map(drop)
}

/// A zone of a block of `rows` rows, with its family.
fn take_zone(reader: &mut Reader<'_>, rows: u32) -> Option<(u8, Zone)> {
    let (family, slot, flags) = (reader.u8()?, reader.u16()?, reader.u8()?);
    let bounds = match flags & (HAS_BOUNDS | HAS_WIDE) {
        0 => None,
        HAS_BOUNDS => Some((reader.u64()?.into(), reader.u64()?.into())),
        _ => Some((reader.u128()?, reader.u128()?)),
    };
    let has_null = flags & HAS_NULL != 0;
    let sum = match flags & HAS_SUM {
        0 => None,
        _ => {
            let sum = reader.i64()?;
            Some((if has_null { reader.u32()? } else { rows }, sum))
        }
    };
    Some((family, Zone { slot, bounds, has_null, sum }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ROWS: u32 = 256;

    fn zone() -> impl Strategy<Value = (u8, Zone)> {
        let number = || prop_oneof![Just(0), Just(u128::from(u64::MAX)), Just(1 << 64), any::<u128>()];
        let bounds = prop::option::of((number(), number()));
        let sum = prop::option::of((0..ROWS, prop_oneof![any::<i64>(), Just(i64::MIN)]));
        (any::<u8>(), any::<u16>(), bounds, any::<bool>(), sum).prop_map(|(family, slot, bounds, has_null, sum)| {
            // Where no row is NULL, all rows are known.
            let sum = sum.map(|(known, sum)| (if has_null { known } else { ROWS }, sum));
            (family, Zone { slot, bounds, has_null, sum })
        })
    }

    proptest! {
        #[test]
        fn columns_read_as_they_were_written(
            families in prop::collection::vec(any::<u8>(), 0..4),
            zones in prop::collection::vec(zone(), 0..5),
            after in prop::collection::vec(any::<u8>(), 0..3),
        ) {
            let columns = BlockColumns::new(&families, &zones);
            let stored = [columns.bytes(), &after].concat();
            let mut reader = Reader::new(&stored);
            let read = BlockColumns::of_passed(reader.taken(BlockColumns::pass).unwrap());
            prop_assert_eq!(stored.get(reader.rest()).unwrap(), &after);
            prop_assert_eq!(&read, &columns);
            prop_assert_eq!(read.families(), families);
            prop_assert_eq!(read.zones(ROWS).collect::<Vec<_>>(), zones);
            for cut in 0..columns.bytes().len() {
                prop_assert_eq!(BlockColumns::pass(&mut Reader::new(&stored[..cut])), None);
            }
        }
    }
}
