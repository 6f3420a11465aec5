//! Regions: intervals of a table's row keys, each on one server.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::address::Address;
use crate::proto::{RegionSpecifier, RegionSpecifierType};

/// A region at its place. A clone is cheap.
#[derive(Clone, PartialEq, Eq)]
pub struct Region(Arc<Parts>);

#[derive(PartialEq, Eq)]
struct Parts {
    name: Bytes,
    id: u64,
    start: Bytes,
    end: Bytes,
    place: Place,
}

/// Where a region is, and since when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The server.
    pub server: Address,
    /// The start code of the server's process; 0 if it is not known.
    pub start_code: u64,
    /// The sequence number with which the region was opened there; 0 if it is not known.
    pub open_sequence: u64,
}

impl Region {
    /// A region: its whole name, which is its row key in `hbase:meta`; its id, which is higher for newer regions; its first row key;
    /// the row key after its last one. The keys are empty at the ends of the table.
    pub fn new(name: Bytes, id: u64, start: Bytes, end: Bytes, place: Place) -> Self {
        Self(Arc::new(Parts { name, id, start, end, place }))
    }

    /// The whole name, which is the row key in `hbase:meta`.
    pub fn name(&self) -> &Bytes {
        &self.0.name
    }

    /// The 32 digits in the name that stand for all of it; what follows the last dot but one.
    pub fn encoded_name(&self) -> &[u8] {
        let name = self.0.name.strip_suffix(b".").unwrap_or(&self.0.name);
        name.rsplit(|byte| *byte == b'.').next().unwrap_or_default()
    }

    /// Newer regions have higher ids.
    pub fn id(&self) -> u64 {
        self.0.id
    }

    /// The first row key, included; empty at the beginning of the table.
    pub fn start(&self) -> &Bytes {
        &self.0.start
    }

    /// The last row key, excluded; empty at the end of the table.
    pub fn end(&self) -> &Bytes {
        &self.0.end
    }

    /// Where the region is.
    pub fn place(&self) -> &Place {
        &self.0.place
    }

    /// The server that has the region.
    pub fn server(&self) -> &Address {
        &self.0.place.server
    }

    /// Whether a row key lies within the bounds.
    pub fn contains(&self, row: &[u8]) -> bool {
        self.0.start <= row && (self.0.end.is_empty() || row < self.0.end.as_ref())
    }

    /// Whether the row keys just before `row` lie within the bounds; before an empty one those at the end of the table.
    pub fn contains_before(&self, row: &[u8]) -> bool {
        let end = &self.0.end;
        if row.is_empty() { end.is_empty() } else { self.0.start < row && (end.is_empty() || row <= end.as_ref()) }
    }

    /// The same region at another server, of which no more is known than its address.
    pub(crate) fn moved_to(&self, server: Address) -> Self {
        let Parts { name, id, start, end, .. } = &*self.0;
        let place = Place { server, start_code: 0, open_sequence: 0 };
        Self::new(name.clone(), *id, start.clone(), end.clone(), place)
    }

    /// The name in a request.
    pub(crate) fn specifier(&self) -> RegionSpecifier {
        RegionSpecifier { kind: RegionSpecifierType::RegionName as i32, value: self.0.name.clone() }
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.0.name.escape_ascii(), self.0.place.server)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(start: &'static str, end: &'static str) -> Region {
        let place = Place { server: Address::new("h", 1), start_code: 1, open_sequence: 1 };
        let name = Bytes::from_static(b"t,a,17.0123456789abcdef0123456789abcdef.");
        Region::new(name, 17, start.into(), end.into(), place)
    }

    #[test]
    fn bounds_are_half_open() {
        let middle = region("b", "d");
        assert_eq!(["a", "b", "c", "d"].map(|row| middle.contains(row.as_bytes())), [false, true, true, false]);
        assert_eq!(
            ["", "b", "c", "d", "e"].map(|row| middle.contains_before(row.as_bytes())),
            [false, false, true, true, false]
        );
        let last = region("b", "");
        assert!(last.contains(b"z") && last.contains_before(b"") && last.contains_before(b"z"));
        assert!(!last.contains(b"a") && !last.contains_before(b"b"));
    }

    #[test]
    fn the_encoded_name_is_a_part_of_the_name() {
        assert_eq!(region("", "").encoded_name(), b"0123456789abcdef0123456789abcdef");
    }
}
