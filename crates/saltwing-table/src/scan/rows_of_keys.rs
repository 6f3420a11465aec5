//! Rows of many physical keys, as values.

use std::sync::atomic::Ordering::Relaxed;

use saltwing_access::{ScanContext, TableError};
use saltwing_expr::RowValues;

use crate::engine::table_rows::TableRows;
use crate::scan::lookup::{KEYS_AT_ONCE, find_all};
use crate::scan::row_values::{RowReader, RowShape};

/// Adds the rows of some physical keys, in their order; how many there are.
pub(crate) fn append_all(
    (rows, expired_ms): (&TableRows, Option<i64>),
    shape: &RowShape,
    keys: &[Vec<u8>],
    values: &mut RowValues,
    context: &ScanContext,
) -> Result<usize, TableError> {
    let (mut reader, mut all) = (RowReader::default(), 0);
    let is_salted = shape.table().codec().bucket_bytes() > 0;
    let counters = &context.counters;
    values.reserve(keys.len());
    for part in keys.chunks(KEYS_AT_ONCE) {
        for key in part {
            counters.count_seek();
            counters.touch_bucket(key.first().copied().filter(|_| is_salted).unwrap_or(0));
        }
        let (mut count, mut bytes, mut blocks) = (0, 0, 0);
        let found = find_all(rows, part.iter().map(Vec::as_slice), expired_ms)?;
        for (key, found) in part.iter().zip(found) {
            let Some(found) = found else { continue };
            count += 1;
            bytes += found.segment.bytes();
            blocks += u64::from(found.lead.is_some());
            shape.append_found(key, found, &mut reader, values)?;
        }
        counters.count_blocks(blocks);
        counters.rows_out.fetch_add(count, Relaxed);
        context.charge(count, bytes)?;
        all += count as usize;
    }
    counters.batches.fetch_add(u64::from(all > 0), Relaxed);
    Ok(all)
}
