//! Checks of rows and families that several methods share.

use bytes::Bytes;
use hbase_client::cell::ROW_BYTES_MAX;

use crate::exception::Exception;
use crate::name::RegionId;
use crate::state::Table;

/// Refuses keys that no region can have. Clients are not told that it is no use to try again.
pub(crate) fn check_row_length(row: &[u8]) -> Result<(), Exception> {
    match row.len() {
        0 => Err(Exception::io("Row length is 0")),
        length if length > ROW_BYTES_MAX => Err(Exception::io(format!("Row length {length} is > {ROW_BYTES_MAX}"))),
        _ => Ok(()),
    }
}

/// Refuses rows outside of the region.
pub(crate) fn check_row(region: &RegionId, row: &[u8], operation: &str) -> Result<(), Exception> {
    if region.contains(row) {
        return Ok(());
    }
    Err(Exception::wrong_region(format!(
        "Requested row out of range for {operation} on HRegion {}, startKey='{}', getEndKey()='{}', row='{}'",
        region.name().escape_ascii(),
        region.start.escape_ascii(),
        region.end.escape_ascii(),
        row.escape_ascii(),
    )))
}

/// Refuses families that the table does not have.
pub(crate) fn check_families<'f>(
    table: &Table,
    name: &str,
    families: impl IntoIterator<Item = &'f Bytes>,
) -> Result<(), Exception> {
    match families.into_iter().find(|family| !table.has_family(family)) {
        Some(family) => Err(Exception::no_such_column_family(family, name)),
        None => Ok(()),
    }
}
