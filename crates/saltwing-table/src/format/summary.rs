//! What a directory knows of a block without reading it.

use saltwing_store::Bytes;

use crate::format::block_columns::BlockColumns;
use crate::format::zone::Zone;

/// What a directory knows of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) rows: u32,
    /// Bytes of its rows as a delta has them, about; of a value that lies by itself a little.
    pub(crate) bytes: u32,
    pub(crate) last_key: Bytes,
    /// Oldest and newest write time.
    pub(crate) times_ms: (i64, i64),
    /// Families that have parts, and what is known of their columns.
    pub(crate) columns: BlockColumns,
}

impl Summary {
    /// What a prefetch reads of the columns.
    pub(crate) fn prefetch(&self) -> usize {
        self.columns.bytes().first().copied().unwrap_or(0).into()
    }

    /// Families that have parts, ascending; the first always has.
    pub(crate) fn families(&self) -> &[u8] {
        self.columns.families()
    }

    /// What is known of columns that filters can make use of, each with its family.
    pub(crate) fn zones(&self) -> impl Iterator<Item = (u8, Zone)> {
        self.columns.zones(self.rows)
    }

    /// What is known of one column.
    pub(crate) fn zone(&self, family: u8, slot: u16) -> Option<Zone> {
        self.zones().find(|(of, zone)| (*of, zone.slot) == (family, slot)).map(|(_, zone)| zone)
    }
}
