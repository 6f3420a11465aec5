//! Bytes of relations and of the database.

use saltwing::{Error, Volatility, blocking};

use super::shared::{Shared, number, with};
use crate::definitions::Size;
use crate::lookups::Lookups;

pub(super) fn sizes(connection: &blocking::Connection, shared: &Shared) -> Result<(), Error> {
    fn bytes(it: &Lookups, oid: u32) -> Option<i64> {
        it.class(oid)?;
        Some(it.definitions.sizes.get(&oid).map_or(0, |size| size.bytes))
    }
    fn index_bytes(it: &Lookups, oid: u32) -> Option<i64> {
        it.class(oid)?;
        let Some(table) = it.definitions.table(oid) else { return Some(0) };
        let sizes = it.definitions.indexes_of(table).filter_map(|index| bytes(it, index.oid));
        Some(sizes.fold(0, i64::saturating_add))
    }
    let own = with(shared, |it, oid: i64| bytes(it, number(oid)?));
    connection.register_function("relation_bytes", Volatility::Stable, own)?;
    let indexes = with(shared, |it, oid: i64| index_bytes(it, number(oid)?));
    connection.register_function("index_bytes", Volatility::Stable, indexes)?;
    let total = with(shared, |it, oid: i64| {
        let oid = number(oid)?;
        Some(bytes(it, oid)?.saturating_add(index_bytes(it, oid)?))
    });
    connection.register_function("total_bytes", Volatility::Stable, total)?;
    let shared = shared.clone();
    connection.register_function("database_bytes", Volatility::Stable, move || {
        let lookups = shared.read().clone();
        lookups.definitions.sizes.values().map(|size: &Size| size.bytes).fold(0, i64::saturating_add)
    })?;
    connection.register_function("pretty_size", Volatility::Immutable, pretty_size)
}

/// A number of bytes for people: `8192 bytes`, `16 kB`.
fn pretty_size(bytes: i64) -> String {
    const UNITS: [&str; 6] = ["bytes", "kB", "MB", "GB", "TB", "PB"];
    const STEP: i64 = 1024;
    // PostgreSQL goes to the next unit from ten times its size on.
    let limit = 10 * STEP;
    let mut size = bytes;
    let mut last = "bytes";
    for unit in UNITS {
        last = unit;
        if size.abs() < limit || unit == "PB" {
            break;
        }
        size = size.checked_add(STEP / 2).unwrap_or(size).div_euclid(STEP);
    }
    format!("{size} {last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_for_people() {
        let cases =
            [(0, "0 bytes"), (10_239, "10239 bytes"), (10_240, "10 kB"), (10_485_760, "10 MB"), (i64::MAX, "8192 PB")];
        for (bytes, text) in cases {
            assert_eq!(pretty_size(bytes), text);
        }
    }
}
