//! Sums of the zones of many blocks.

use crate::engine::entry::Entry;
use crate::format::zone::Zone;

/// The zones of some blocks and runs by family and slot, and how many blocks and runs these are.
#[derive(Debug, Default)]
pub(crate) struct ZoneSums {
    parts: u64,
    columns: Vec<((u8, u16), ZoneSum)>,
}

/// The sum of the zones of one column.
#[derive(Clone, Copy, Debug, Default)]
struct ZoneSum {
    /// How many blocks and runs have a zone of it.
    parts: u64,
    bounds: Option<(u128, u128)>,
    has_null: bool,
}

/// Statistics of a column, if every block and run has a zone of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ColumnZone {
    /// The sort numbers of the smallest and the largest value, or of ones beyond these; `None`: there are only NULLs.
    pub(crate) bounds: Option<(u128, u128)>,
    /// Whether a row is NULL.
    pub(crate) has_null: bool,
}

impl ZoneSums {
    /// Adds those of an entry's block and runs. A run counts with all its rows: bounds may be wider for it.
    pub(crate) fn add_entry(&mut self, entry: &Entry) {
        let Some(block) = &entry.block else { return };
        self.add(block.summary.zones());
        entry.runs.iter().for_each(|part| self.add(part.run.block.summary.zones()));
    }

    /// Adds those of one block or run, each with its family.
    pub(crate) fn add(&mut self, zones: impl Iterator<Item = (u8, Zone)>) {
        self.parts += 1;
        for (family, Zone { slot, bounds, has_null, .. }) in zones {
            self.widen((family, slot), ZoneSum { parts: 1, bounds, has_null });
        }
    }

    /// Adds those of other blocks.
    pub(crate) fn add_all(&mut self, other: &Self) {
        self.parts += other.parts;
        for (column, sum) in &other.columns {
            self.widen(*column, *sum);
        }
    }

    fn widen(&mut self, column: (u8, u16), by: ZoneSum) {
        let known = match self.columns.iter_mut().find(|(known, _)| *known == column) {
            Some((_, known)) => known,
            None => {
                self.columns.push((column, by));
                return;
            }
        };
        known.parts += by.parts;
        known.has_null |= by.has_null;
        known.bounds = match (known.bounds, by.bounds) {
            (Some((low, high)), Some((min, max))) => Some((low.min(min), high.max(max))),
            (known, other) => known.or(other),
        };
    }

    /// The statistics of a column; `None` if a block or run has no zone of it, or if there are none.
    pub(crate) fn column(&self, family: u8, slot: u16) -> Option<ColumnZone> {
        let (_, sum) = self.columns.iter().find(|(known, _)| *known == (family, slot))?;
        (sum.parts == self.parts).then_some(ColumnZone { bounds: sum.bounds, has_null: sum.has_null })
    }
}
