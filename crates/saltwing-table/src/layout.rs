//! Which store keys belong to which table.

use saltwing_rowkey::KeyRange;
use saltwing_store::{KeyBounds, Space};
use saltwing_types::TableId;

/// The space of all rows.
pub(crate) const ROWS: Space = Space::new(1);

/// Bytes before the row key: table id and family.
pub(crate) const PREFIX_BYTES: usize = 5;

/// The bytes that begin every store key of a table's family.
pub(crate) fn family_prefix(table: TableId, family: u8) -> [u8; PREFIX_BYTES] {
    let [a, b, c, d] = table.0.to_be_bytes();
    [a, b, c, d, family]
}

/// The store key of a row's family.
pub(crate) fn store_key(table: TableId, family: u8, row_key: &[u8]) -> Vec<u8> {
    [&family_prefix(table, family), row_key].concat()
}

/// All rows of a table, every family.
pub(crate) fn table_bounds(table: TableId) -> KeyBounds {
    KeyBounds::prefix(&table.0.to_be_bytes())
}

/// The rows of one family with `bucket` in front (none for a table without salt) and the rest of the key in `range`.
pub(crate) fn range_bounds(table: TableId, family: u8, bucket: Option<u8>, range: &KeyRange) -> KeyBounds {
    let prefix: Vec<u8> = family_prefix(table, family).into_iter().chain(bucket).collect();
    let start = [&prefix[..], range.start()].concat();
    match range.end() {
        Some(end) => KeyBounds::new(start, Some([&prefix[..], end].concat())),
        None => KeyBounds::new(start, KeyBounds::prefix(&prefix).end().map(<[u8]>::to_vec)),
    }
}
