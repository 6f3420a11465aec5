//! Rows of `hbase:meta`, and the region that they name for a row key.

use bytes::Bytes;
use prost::Message;

use super::cache::Side;
use crate::address::Address;
use crate::cell::Cell;
use crate::proto::RegionInfo;
use crate::region::{Place, Region};
use crate::table_name::TableName;

/// A row of `hbase:meta` about a region. A region without a place is not in service: it is being opened, or was split.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// The region; its place means nothing unless `in_service`.
    pub(super) region: Region,
    pub(super) in_service: bool,
}

/// What the rows say of the region of a row key.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Choice {
    Region(Region),
    /// The newest region that has the row is not in service, or none has it.
    NotInService,
    /// There is no row of the table.
    NoTable,
}

impl Entry {
    /// The entry of a row's cells; `None` if they tell of no region of the table, or of a replica.
    pub(crate) fn of_cells(table: &TableName, cells: &[Cell]) -> Option<Self> {
        let value = |qualifier: &[u8]| {
            let is_it = |cell: &&Cell| cell.family() == b"info" && cell.qualifier() == qualifier;
            cells.iter().find(is_it).map(Cell::value_bytes)
        };
        let number = |qualifier: &[u8]| {
            let bytes = value(qualifier)?;
            Some(u64::from_be_bytes(bytes.as_ref().try_into().ok()?))
        };
        let info = RegionInfo::decode(value(b"regioninfo")?.strip_prefix(b"PBUF")?).ok()?;
        if info.table_name != table.message() || info.replica_id.unwrap_or(0) != 0 {
            return None;
        }
        let server = value(b"server").and_then(|text| std::str::from_utf8(&text).ok()?.parse::<Address>().ok());
        let gone = info.offline == Some(true) || info.split == Some(true);
        let in_service = server.is_some() && !gone;
        let place = Place {
            server: server.unwrap_or_else(|| Address::new("", 0)),
            start_code: number(b"serverstartcode").unwrap_or(0),
            open_sequence: number(b"seqnumDuringOpen").unwrap_or(0),
        };
        let key = |key: Option<Bytes>| key.unwrap_or_default();
        let name = cells.first()?.row_bytes();
        let region = Region::new(name, info.region_id, key(info.start_key), key(info.end_key), place);
        Some(Self { region, in_service })
    }
}

/// The region of a row key: of those that have the row the newest one decides, even if it is not in service. In the middle of a split
/// the parent, and the region before it, are still there, and would be wrong.
pub(super) fn choose(entries: &[Entry], row: &[u8], side: Side) -> Choice {
    if entries.is_empty() {
        return Choice::NoTable;
    }
    let having = entries.iter().filter(|entry| side.is_in(&entry.region, row));
    match having.max_by_key(|entry| entry.region.id()) {
        Some(newest) if newest.in_service => Choice::Region(newest.region.clone()),
        _ => Choice::NotInService,
    }
}

/// The regions in service that no newer entry overlaps.
pub(super) fn current(entries: &[Entry]) -> impl Iterator<Item = &Region> {
    let overlap = |one: &Region, other: &Region| {
        let before = |one: &Region, other: &Region| !one.end().is_empty() && one.end() <= other.start();
        !before(one, other) && !before(other, one)
    };
    let is_current = move |entry: &&Entry| {
        let newer = |other: &&Entry| other.region.id() > entry.region.id();
        entry.in_service && !entries.iter().filter(newer).any(|other| overlap(&other.region, &entry.region))
    };
    entries.iter().filter(is_current).map(|entry| &entry.region)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::cell::{CellKind, CellParts};

    fn entry(start: &'static str, end: &'static str, id: u64, in_service: bool) -> Entry {
        let place = Place { server: Address::new("h", 1), start_code: 1, open_sequence: 1 };
        let name = Bytes::from(format!("t,{start},{id}"));
        Entry { region: Region::new(name, id, start.into(), end.into(), place), in_service }
    }

    #[test]
    fn the_newest_region_with_the_row_decides() {
        // `b` to `d` is being split at `c`; its parent is still there.
        let split =
            [entry("c", "d", 7, true), entry("b", "c", 7, false), entry("b", "d", 3, false), entry("", "b", 2, true)];
        let chosen = |row: &str| choose(&split, row.as_bytes(), Side::At);
        assert_eq!(chosen("a"), Choice::Region(split[3].region.clone()));
        assert_eq!(chosen("b"), Choice::NotInService);
        assert_eq!(chosen("c"), Choice::Region(split[0].region.clone()));
        assert_eq!(chosen("x"), Choice::NotInService);
        assert_eq!(choose(&[], b"a", Side::At), Choice::NoTable);
        let regions: Vec<_> = current(&split).map(Region::id).collect();
        assert_eq!(regions, [7, 2]);
    }

    #[test]
    fn a_region_whose_end_is_not_after_the_row_is_never_taken() {
        // A look-up during a split: no daughter is there yet for `b`, and the rows before it lead to the region before.
        let before = [entry("", "b", 2, true)];
        assert_eq!(choose(&before, b"b", Side::At), Choice::NotInService);
        assert_eq!(choose(&before, b"b", Side::Before), Choice::Region(before[0].region.clone()));
    }

    proptest! {
        /// Cells of `hbase:meta` with any values tell of a region or of none.
        #[test]
        fn any_cells_do_no_harm(values in vec((0_usize..5, vec(any::<u8>(), 0..40), any::<bool>()), 0..5)) {
            let table: TableName = "t".parse().unwrap();
            let info = RegionInfo { region_id: 1, table_name: table.message(), ..RegionInfo::default() };
            let cells = values.into_iter().map(|(column, value, is_right)| {
                let names = ["regioninfo", "server", "serverstartcode", "seqnumDuringOpen", "state"];
                let value = if is_right { [b"PBUF".to_vec(), info.encode_to_vec()].concat() } else { value };
                let (family, qualifier) = (&b"info"[..], names[column].as_bytes());
                let kind = CellKind::PUT;
                Cell::new(CellParts { row: b"t,,1.", family, qualifier, timestamp: 1, kind, value: &value }).unwrap()
            });
            let cells: Vec<Cell> = cells.collect();
            if let Some(entry) = Entry::of_cells(&table, &cells) {
                prop_assert_eq!(entry.region.id(), 1);
            }
        }
    }
}
