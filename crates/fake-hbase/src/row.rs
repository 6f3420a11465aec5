//! A row: the newest value of each column, and markers of deletions.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use hbase_client::WireError;
use hbase_client::cell::{Cell, CellKind, CellParts, LATEST_TIMESTAMP};

/// A column: family and qualifier.
pub(crate) type Column = (Bytes, Bytes);

/// A row. A column has one version; an older one that a deletion would bring to light again is forgotten.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    cells: BTreeMap<Column, Cell>,
    // Markers hide what has their time or an older one, even if it comes later.
    deleted_families: BTreeMap<Bytes, u64>,
    deleted_columns: BTreeMap<Column, u64>,
    // These hide what has exactly their time.
    deleted_versions: BTreeSet<(Column, u64)>,
    deleted_family_versions: BTreeSet<(Bytes, u64)>,
}

impl Row {
    /// The cells, in the order of families and qualifiers.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.cells.values()
    }

    /// The cell of a column.
    pub(crate) fn cell(&self, family: &[u8], qualifier: &[u8]) -> Option<&Cell> {
        self.cells.get(&(Bytes::copy_from_slice(family), Bytes::copy_from_slice(qualifier)))
    }

    /// Applies a value or a marker; the server's time takes the place of [`LATEST_TIMESTAMP`].
    pub(crate) fn apply(&mut self, cell: &Cell, now: u64) -> Result<(), WireError> {
        let parts = cell.parts();
        let timestamp = if parts.timestamp == LATEST_TIMESTAMP { now } else { parts.timestamp };
        let column = (Bytes::copy_from_slice(parts.family), Bytes::copy_from_slice(parts.qualifier));
        match parts.kind {
            CellKind::DELETE_FAMILY => {
                self.cells.retain(|(family, _), cell| *family != column.0 || cell.timestamp() > timestamp);
                let marker = self.deleted_families.entry(column.0).or_default();
                *marker = timestamp.max(*marker);
            }
            CellKind::DELETE_COLUMN => {
                self.cells.retain(|of, cell| *of != column || cell.timestamp() > timestamp);
                let marker = self.deleted_columns.entry(column).or_default();
                *marker = timestamp.max(*marker);
            }
            CellKind::DELETE_FAMILY_VERSION => {
                self.cells.retain(|(family, _), cell| *family != column.0 || cell.timestamp() != timestamp);
                self.deleted_family_versions.insert((column.0, timestamp));
            }
            CellKind::DELETE => {
                // Without a time it is the newest version, whatever its time.
                let newest = self.cells.get(&column).map(Cell::timestamp);
                let deleted = if parts.timestamp == LATEST_TIMESTAMP { newest.unwrap_or(now) } else { timestamp };
                if newest == Some(deleted) {
                    self.cells.remove(&column);
                }
                self.deleted_versions.insert((column, deleted));
            }
            _ => self.put(column, Cell::new(CellParts { timestamp, ..parts })?),
        }
        Ok(())
    }

    fn put(&mut self, column: Column, cell: Cell) {
        let time = cell.timestamp();
        let is_hidden = self.deleted_families.get(&column.0).is_some_and(|marker| time <= *marker)
            || self.deleted_columns.get(&column).is_some_and(|marker| time <= *marker)
            || self.deleted_family_versions.contains(&(column.0.clone(), time))
            || self.deleted_versions.contains(&(column.clone(), time))
            || self.cells.get(&column).is_some_and(|newer| time < newer.timestamp());
        if !is_hidden {
            self.cells.insert(column, cell);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(qualifier: &str, timestamp: u64, kind: CellKind, value: &str) -> Cell {
        let (qualifier, value) = (qualifier.as_bytes(), value.as_bytes());
        Cell::new(CellParts { row: b"r", family: b"f", qualifier, timestamp, kind, value }).unwrap()
    }

    #[test]
    fn a_marker_hides_what_comes_later_with_its_time() {
        for kind in [CellKind::DELETE_FAMILY, CellKind::DELETE_COLUMN] {
            let mut row = Row::default();
            row.apply(&cell("q", LATEST_TIMESTAMP, CellKind::PUT, "1"), 5).unwrap();
            row.apply(&cell("q", LATEST_TIMESTAMP, kind, ""), 6).unwrap();
            assert!(row.cell(b"f", b"q").is_none());
            row.apply(&cell("q", 6, CellKind::PUT, "2"), 7).unwrap();
            assert!(row.cell(b"f", b"q").is_none());
            row.apply(&cell("q", 7, CellKind::PUT, "3"), 7).unwrap();
            row.apply(&cell("q", 6, kind, ""), 8).unwrap();
            assert_eq!(row.cell(b"f", b"q").unwrap().value(), b"3");
        }
    }

    #[test]
    fn a_put_with_an_older_time_loses() {
        let mut row = Row::default();
        for (time, value) in [(5, "a"), (4, "b"), (5, "c")] {
            row.apply(&cell("q", time, CellKind::PUT, value), 9).unwrap();
        }
        assert_eq!(row.cell(b"f", b"q").unwrap().value(), b"c");
    }
}
