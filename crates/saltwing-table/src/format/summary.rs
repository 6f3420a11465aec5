//! The directory's summary of a block.

use saltwing_store::Bytes;

use crate::format::block_columns::BlockColumns;
use crate::format::zone::Zone;

/// The summary of a block, known without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) rows: u32,
    /// Approximate bytes of its rows as a delta stores them; an overflow value counts little.
    pub(crate) bytes: u32,
    pub(crate) last_key: Bytes,
    /// Oldest and newest write time.
    pub(crate) times_ms: (i64, i64),
    /// The families that have parts, and their zones.
    pub(crate) columns: BlockColumns,
}

impl Summary {
    /// The reads of a prefetch in the columns.
    pub(crate) fn prefetch(&self) -> usize {
        self.columns.bytes().first().copied().unwrap_or(0).into()
    }

    /// Families that have parts, ascending; the first always has.
    pub(crate) fn families(&self) -> &[u8] {
        self.columns.families()
    }

    /// The zones of columns that filters can use, each with its family.
    pub(crate) fn zones(&self) -> impl Iterator<Item = (u8, Zone)> {
        self.columns.zones(self.rows)
    }

    /// The zone of one column.
    pub(crate) fn zone(&self, family: u8, slot: u16) -> Option<Zone> {
        self.zones().find(|(of, zone)| (*of, zone.slot) == (family, slot)).map(|(_, zone)| zone)
    }
}
