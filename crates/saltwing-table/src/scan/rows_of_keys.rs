//! Rows of many physical keys, as values.

use std::sync::atomic::Ordering::Relaxed;

use saltwing_access::{ScanContext, TableError};
use saltwing_expr::RowValues;

use crate::engine::table_rows::TableRows;
use crate::scan::lookup::{Found, KEYS_AT_ONCE, find, find_all};
use crate::scan::row_values::{RowReader, RowShape};

/// Adds the rows of some physical keys, in their order; how many there are. Without a context they are not counted.
pub(crate) fn append_all(
    (rows, expired_ms): (&TableRows, Option<i64>),
    shape: &RowShape,
    keys: &[Vec<u8>],
    values: &mut RowValues,
    context: Option<&ScanContext>,
) -> Result<usize, TableError> {
    let (mut reader, mut all) = (RowReader::default(), 0);
    values.reserve(keys.len());
    for part in keys.chunks(KEYS_AT_ONCE) {
        let mut read = Read::default();
        let mut append = |key: &Vec<u8>, found: Option<Found>| {
            let Some(found) = found else { return Ok(()) };
            read.add(&found);
            shape.append_found(key, found, &mut reader, values)
        };
        match part {
            [key] => append(key, find(rows, key, expired_ms)?)?,
            _ => {
                let found = find_all(rows, part.iter().map(Vec::as_slice), expired_ms)?;
                part.iter().zip(found).try_for_each(|(key, found)| append(key, found))?;
            }
        }
        all += read.rows as usize;
        if let Some(context) = context {
            let is_salted = shape.table().codec().bucket_bytes() > 0;
            read.count_in(context, part, is_salted)?;
        }
    }
    if let Some(context) = context.filter(|_| all > 0) {
        context.counters.batches.fetch_add(1, Relaxed);
    }
    Ok(all)
}

/// Rows that were read by their keys.
#[derive(Default)]
struct Read {
    rows: u64,
    bytes: u64,
    blocks: u64,
}

impl Read {
    fn add(&mut self, found: &Found) {
        self.rows += 1;
        self.bytes += found.segment.bytes();
        self.blocks += u64::from(found.lead.is_some());
    }

    /// Counts the rows, and the seeks for `keys`.
    fn count_in(&self, context: &ScanContext, keys: &[Vec<u8>], is_salted: bool) -> Result<(), TableError> {
        let counters = &context.counters;
        for key in keys {
            counters.count_seek();
            counters.touch_bucket(key.first().copied().filter(|_| is_salted).unwrap_or(0));
        }
        counters.count_blocks(self.blocks);
        counters.rows_out.fetch_add(self.rows, Relaxed);
        context.charge(self.rows, self.bytes)
    }
}
