//! A filter at a row.

use hbase_client::WireError;
use hbase_client::cell::Cell;

use crate::filter::Filter;

/// The cells of a row that a filter lets through.
pub(crate) fn filtered(
    filter: &mut Filter,
    row: &[u8],
    cells: Vec<Cell>,
    is_reversed: bool,
) -> Result<Vec<Cell>, WireError> {
    filter.reset();
    if filter.drops_key(row, is_reversed) {
        return Ok(Vec::new());
    }
    let mut kept = Vec::with_capacity(cells.len());
    for cell in &cells {
        kept.extend(filter.cell(cell)?);
    }
    if !kept.is_empty() && filter.drops_row() {
        kept.clear();
    }
    Ok(kept)
}
