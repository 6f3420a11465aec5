//! Few rows of one block, which are read at once.

use std::ops::Range;
use std::sync::Arc;

use saltwing_access::{SHORT_RANGE_ROWS, ShortRange, TableError};
use saltwing_expr::RowValues;
use saltwing_heat::KeyPrefix;
use saltwing_types::Direction;

use crate::engine::block_ref::{BlockRef, LeadParts};
use crate::engine::directory::ends_in_entry;
use crate::engine::table_rows::TableRows;
use crate::format::prefetch::{PrefetchStep, prefetch};
use crate::format::row_order::nth;
use crate::scan::row_values::RowShape;

/// Rows of a range that one block has alone.
pub(crate) struct RowsOfBlock<'b> {
    block: &'b Arc<BlockRef>,
    lead: LeadParts,
    rows: Range<usize>,
}

impl RowsOfBlock<'_> {
    /// The key of the first row in the direction of the read; the start of the range if there is none.
    pub(crate) fn first_key(&self, range: &ShortRange<'_>) -> KeyPrefix {
        if self.rows.is_empty() {
            return KeyPrefix::of(range.keys.range.start());
        }
        let mut key = Vec::new();
        self.lead.fix.key_into(nth(&self.rows, range.direction, 0), &mut key);
        KeyPrefix::of(&key)
    }

    /// Adds the values of the rows; how many there are.
    pub(crate) fn append_to(
        self,
        values: &mut RowValues,
        shape: &RowShape,
        direction: Direction,
    ) -> Result<usize, TableError> {
        let Self { block, lead, rows } = self;
        if !rows.is_empty() {
            shape.append_together(block, lead, &rows, direction, values)?;
        }
        Ok(rows.len())
    }

    /// Gives the physical key of each row to `each`.
    pub(crate) fn each_key(
        self,
        direction: Direction,
        each: &mut dyn FnMut(&[u8]) -> Result<(), TableError>,
    ) -> Result<(), TableError> {
        let mut key = Vec::new();
        for i in 0..self.rows.len() {
            self.lead.fix.key_into(nth(&self.rows, direction, i), &mut key);
            each(&key)?;
        }
        Ok(())
    }
}

/// The rows that [`Snapshot::few`](saltwing_access::Snapshot::few) reads; `None` if a scan must read them: they are many, or
/// recent, or perhaps expired, or in several blocks, or not in memory.
pub(crate) fn few_rows<'r>(
    rows: &'r TableRows,
    expired_ms: Option<i64>,
    ShortRange { keys, direction, limit }: ShortRange<'_>,
) -> Option<RowsOfBlock<'r>> {
    let (start, end) = (keys.range.start(), keys.range.end());
    let owner = rows.directory.owner(start)?;
    prefetch(std::iter::once(owner.prefetch()));
    let block = owner.block.filter(|_| owner.entry.runs.is_empty())?;
    let parts = block.in_memory();
    prefetch(parts.iter().map(|parts| parts.prefetch(PrefetchStep::KeysAndColumns)));
    let lead = parts?.lead_parts()?;
    let has_recent = owner.entry.is_dirty() && rows.has_recent_between(start, end);
    if has_recent || expired_ms.is_some_and(|limit_ms| block.summary.times_ms.0 <= limit_ms) {
        return None;
    }
    let count = block.summary.rows as usize;
    let first = lead.fix.lower_bound(start);
    let wanted = limit.map_or(SHORT_RANGE_ROWS + 1, |limit| limit.min(SHORT_RANGE_ROWS as u64 + 1) as usize);
    let most = match direction {
        Direction::Forward => count.min(first + wanted),
        Direction::Reverse => count,
    };
    let until = end.map_or(most, |end| lead.fix.lower_bound_from(end, first..most));
    let found = match direction {
        Direction::Forward => first..until,
        Direction::Reverse => first.max(until.saturating_sub(wanted))..until,
    };
    // The next block may have rows of the range.
    let is_open = until == count && (found.len() < wanted || direction == Direction::Reverse);
    if is_open {
        let (_, entry_end) = rows.directory.owned(rows.directory.floor(start))?;
        ends_in_entry(end, entry_end.map(|end| &**end)).then_some(())?;
    }
    (found.len() <= SHORT_RANGE_ROWS).then_some(RowsOfBlock { block, lead, rows: found })
}
