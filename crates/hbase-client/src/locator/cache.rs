//! The regions of a table that are known, by their ends.

use std::collections::BTreeMap;
use std::ops::Bound;

use bytes::Bytes;

use crate::address::Address;
use crate::region::Region;

/// Which region of a row key is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The region of the row key itself.
    At,
    /// The region of the row keys just before it; of an empty row key the last region. Reversed scans begin there.
    Before,
}

impl Side {
    /// Whether a region is the wanted one.
    pub(crate) fn is_in(self, region: &Region, row: &[u8]) -> bool {
        match self {
            Self::At => region.contains(row),
            Self::Before => region.contains_before(row),
        }
    }
}

/// The end of a region: that of the last one is after all keys.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Key(Bytes),
    Table,
}

impl End {
    fn of(region: &Region) -> Self {
        if region.end().is_empty() { Self::Table } else { Self::Key(region.end().clone()) }
    }
}

/// The regions of a table that are known. No two of them overlap.
#[derive(Default)]
pub(super) struct Regions {
    by_end: BTreeMap<End, Region>,
}

impl Regions {
    pub(super) fn find(&self, row: &[u8], side: Side) -> Option<Region> {
        let key = Bytes::copy_from_slice(row);
        let from = match side {
            Side::At => Bound::Excluded(End::Key(key)),
            Side::Before if row.is_empty() => Bound::Included(End::Table),
            Side::Before => Bound::Included(End::Key(key)),
        };
        let (_, region) = self.by_end.range((from, Bound::Unbounded)).next()?;
        side.is_in(region, row).then(|| region.clone())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_end.is_empty()
    }

    /// Adds a region. What overlaps it and is not newer goes; if something that overlaps it is newer, the region is left out.
    pub(super) fn insert(&mut self, region: Region) {
        let from = Bound::Excluded(End::Key(region.start().clone()));
        let overlap = |other: &Region| region.end().is_empty() || other.start() < region.end();
        let overlapping = self.by_end.range((from, Bound::Unbounded)).take_while(|(_, other)| overlap(other));
        let overlapping: Vec<End> =
            match overlapping.map(|(end, other)| (other.id() <= region.id()).then(|| end.clone())).collect() {
                Some(ends) => ends,
                None => return,
            };
        for end in overlapping {
            self.by_end.remove(&end);
        }
        self.by_end.insert(End::of(&region), region);
    }

    /// Removes the region if it is still known at the place where it failed: another caller may have found its new place.
    pub(super) fn evict(&mut self, failed: &Region) {
        let end = End::of(failed);
        if self.by_end.get(&end) == Some(failed) {
            self.by_end.remove(&end);
        }
    }

    /// Notes where a region has moved, if it is still known at the place where it failed.
    pub(super) fn moved(&mut self, failed: &Region, server: Address) {
        if let Some(known) = self.by_end.get_mut(&End::of(failed))
            && known == failed
        {
            *known = failed.moved_to(server);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::region::Place;

    fn region(start: u8, end: u8, id: u64) -> Region {
        let key = |byte: u8| if byte == 0 { Bytes::new() } else { Bytes::copy_from_slice(&[byte]) };
        let place = Place { server: Address::new("h", 1), start_code: 1, open_sequence: 1 };
        let name = Bytes::from(format!("t,{start},{id}"));
        Region::new(name, id, key(start), key(end), place)
    }

    #[test]
    fn only_the_entry_that_failed_is_evicted() {
        let mut regions = Regions::default();
        let old = region(0, 5, 1);
        regions.insert(old.clone());
        regions.moved(&old, Address::new("h", 2));
        regions.evict(&old);
        let found = regions.find(&[1], Side::At).unwrap();
        assert_eq!(found.server().port, 2);
        regions.evict(&found);
        assert_eq!(regions.find(&[1], Side::At), None);
    }

    #[test]
    fn an_older_region_does_not_displace_newer_ones() {
        let mut regions = Regions::default();
        regions.insert(region(0, 5, 2));
        regions.insert(region(5, 0, 2));
        regions.insert(region(0, 0, 1));
        assert_eq!(regions.find(&[7], Side::At).unwrap().id(), 2);
        regions.insert(region(0, 0, 3));
        assert_eq!(regions.by_end.len(), 1);
    }

    proptest! {
        #[test]
        fn a_found_region_has_the_row(
            inserted in prop::collection::vec((0_u8..10, 0_u8..10, 0_u64..20), 0..20),
            row in prop::collection::vec(0_u8..10, 0..2),
        ) {
            let mut regions = Regions::default();
            for (start, end, id) in inserted {
                if end == 0 || start < end {
                    regions.insert(region(start, end, id));
                }
            }
            for side in [Side::At, Side::Before] {
                if let Some(found) = regions.find(&row, side) {
                    prop_assert!(side.is_in(&found, &row));
                }
            }
            let all: Vec<&Region> = regions.by_end.values().collect();
            for two in all.windows(2) {
                prop_assert!(!two[0].end().is_empty() && two[0].end() <= two[1].start());
            }
        }
    }
}
