//! Keys into the columns that come from them.

use saltwing_access::{NO_TIME_MS, TableError};
use saltwing_rowkey::{BadBytes, KeySlices, ValueCodec};
use saltwing_store::Direction;

use crate::engine::stored_table::StoredTable;
use crate::format::fix_part::FixPart;
use crate::format::row_order::RowSelection;
use crate::format::stored_column::{Unreadable, ValueSink};
use crate::scan::column_location::ColumnLocation;
use crate::scan::column_writer::ColumnWriter;
use crate::scan::decode::column;
use crate::scan::decode::column::{Column, unreadable};

/// A table's key codec, and the columns decoded from keys.
#[derive(Clone, Copy)]
pub(crate) struct KeyUse {
    /// Whether one of them is a leading column.
    pub(crate) has_leading: bool,
    /// Bytes of the key columns at the end.
    pub(crate) tail_bytes: usize,
}

/// Puts keys into columns.
///
/// Adjacent keys mostly differ only in their last columns, so a key is split again only if its leading bytes change.
pub(crate) struct KeyDecoder {
    uses: KeyUse,
    /// The key that was split last.
    key: Vec<u8>,
    slices: KeySlices,
    /// Whether the leading columns end with that key's values, and all can be repeated.
    is_repeatable: bool,
    scratch: Vec<u8>,
}

impl KeyDecoder {
    pub(crate) fn new(uses: KeyUse) -> Self {
        let (key, slices, scratch) = (Vec::new(), KeySlices::default(), Vec::new());
        Self { uses, key, slices, is_repeatable: false, scratch }
    }

    /// The columns are new ones.
    pub(crate) fn begin(&mut self) {
        self.is_repeatable = false;
    }

    /// Adds one key, of a row with this time.
    pub(crate) fn add_key(
        &mut self,
        table: &StoredTable,
        columns: &mut [Column],
        (key, time_ms): (&[u8], i64),
    ) -> Result<(), TableError> {
        for Column { index, source, sink } in columns.iter_mut() {
            let pushed = match *source {
                ColumnLocation::KeySuffix { codec, from_end, width, .. } => {
                    let end = key.len().checked_sub(from_end).and_then(|at| key.get(at..at + width));
                    sink.push_keys(codec, width, std::iter::once(end.unwrap_or_default()))
                }
                ColumnLocation::RowKey => sink.push_bytes([key, &[]]),
                ColumnLocation::RowTime => push_time(time_ms, sink),
                ColumnLocation::KeyPrefix { .. } | ColumnLocation::Slot { .. } => continue,
            };
            pushed.map_err(|why| unreadable_key(table, (*index, *source), [key, &[]], why))?;
        }
        if self.uses.has_leading { self.add_leading(table, columns, [key, &[]], 1) } else { Ok(()) }
    }

    /// Adds the keys of rows of a block.
    pub(crate) fn add_keys(
        &mut self,
        table: &StoredTable,
        columns: &mut [Column],
        lead: &FixPart,
        mut rows: RowSelection<'_>,
    ) -> Result<(), TableError> {
        if rows.len() == 0 {
            return Ok(());
        }
        for Column { index, source, sink } in columns.iter_mut() {
            let pushed = match *source {
                ColumnLocation::KeySuffix { codec, from_end, width, .. } => {
                    push_tails(lead, &rows, (from_end, width), codec, sink)
                }
                ColumnLocation::RowKey => (0..rows.len()).try_for_each(|i| {
                    let (prefix, suffix) = lead.key(rows.nth(i));
                    sink.push_bytes([prefix, suffix])
                }),
                ColumnLocation::RowTime => (0..rows.len()).try_for_each(|i| push_time(lead.time_ms(rows.nth(i)), sink)),
                ColumnLocation::KeyPrefix { .. } | ColumnLocation::Slot { .. } => continue,
            };
            pushed.map_err(|why| unreadable_key(table, (*index, *source), lead.key(rows.nth(0)).into(), why))?;
        }
        while self.uses.has_leading && rows.len() > 0 {
            let same = rows.take_first(lead.repeats_of(&rows, self.uses.tail_bytes));
            let (prefix, suffix) = lead.key(same.nth(0));
            self.add_leading(table, columns, [prefix, suffix], same.len())?;
        }
        Ok(())
    }

    /// Appends the leading columns of a key, given in two slices, `times` times.
    fn add_leading(
        &mut self,
        table: &StoredTable,
        columns: &mut [Column],
        key: [&[u8]; 2],
        times: usize,
    ) -> Result<(), TableError> {
        let is_known = self.is_repeatable && self.begins_as(key);
        if !is_known {
            self.key.clear();
            key.iter().for_each(|part| self.key.extend_from_slice(part));
            table.codec().split(&self.key, &mut self.slices)?;
            self.is_repeatable = true;
        }
        for Column { index, source, sink } in columns.iter_mut() {
            let ColumnLocation::KeyPrefix { position, codec } = *source else { continue };
            let pushed = if is_known { sink.repeat(times) } else { self.push((position, codec), times, sink) };
            pushed.map_err(|why| unreadable_key(table, (*index, *source), key, why))?;
        }
        Ok(())
    }

    /// Whether a key has the leading columns of the one that was split last.
    fn begins_as(&self, [prefix, suffix]: [&[u8]; 2]) -> bool {
        let Some(leading_bytes) = self.key.len().checked_sub(self.uses.tail_bytes) else { return false };
        let Some(of_suffix) = (prefix.len() + suffix.len()).checked_sub(self.uses.tail_bytes) else { return false };
        let of_prefix = of_suffix.min(prefix.len());
        let leading = self.key.get(..leading_bytes).unwrap_or_default();
        let parts = (prefix.get(..of_prefix), suffix.get(..of_suffix - of_prefix));
        let (Some(prefix), Some(suffix)) = parts else { return false };
        leading.strip_prefix(prefix) == Some(suffix)
    }

    /// Appends a column of the split key, `times` times.
    fn push(
        &mut self,
        (position, codec): (usize, ValueCodec),
        times: usize,
        sink: &mut ColumnWriter,
    ) -> Result<(), Unreadable> {
        let Self { key, slices, scratch, is_repeatable, .. } = self;
        let stored = slices.get(key, position);
        let repeats = sink.repeats() && stored.is_some();
        *is_repeatable &= repeats;
        for _ in 0..if repeats { 1 } else { times } {
            match stored {
                None => sink.null(),
                Some(bytes) => sink.push_key(codec, bytes, scratch)?,
            }
        }
        if repeats && times > 1 { sink.repeat(times - 1) } else { Ok(()) }
    }
}

/// Appends the time of a row; a row from no time has none.
fn push_time(time_ms: i64, sink: &mut ColumnWriter) -> Result<(), Unreadable> {
    if time_ms == NO_TIME_MS {
        sink.null();
        return Ok(());
    }
    sink.int(time_ms)
}

/// Appends a column of fixed width at a fixed offset from the ends of keys.
fn push_tails(
    lead: &FixPart,
    rows: &RowSelection<'_>,
    (from_end, width): (usize, usize),
    codec: ValueCodec,
    sink: &mut ColumnWriter,
) -> Result<(), Unreadable> {
    match (lead.key_tails(rows.cover(), from_end, width), rows) {
        (Some(end), RowSelection::Run(rows, Direction::Forward)) => sink.push_keys(codec, width, rows.clone().map(end)),
        (Some(end), rows) => sink.push_keys(codec, width, (0..rows.len()).map(|i| end(rows.nth(i)))),
        (None, rows) => {
            let ends = (0..rows.len()).map(|i| lead.key_tail(rows.nth(i), from_end, width));
            sink.push_keys(codec, width, ends)
        }
    }
}

/// The error of a column of a key, which comes in two parts, that cannot be read.
fn unreadable_key(
    table: &StoredTable,
    (index, source): (usize, ColumnLocation),
    key: [&[u8]; 2],
    why: Unreadable,
) -> TableError {
    match (why, source) {
        (
            Unreadable::Key(bad),
            ColumnLocation::KeySuffix { position, .. } | ColumnLocation::KeyPrefix { position, .. },
        ) => corrupt(table, &key, position, bad),
        (why, _) => unreadable(table, index, why, || column::corrupt(table, &key.concat(), "key")),
    }
}

/// The error of a column of a key, which comes in two parts, whose bytes are no value.
pub(crate) fn corrupt(table: &StoredTable, key: &[&[u8]; 2], position: usize, bad: BadBytes) -> TableError {
    let (key, mut slices) = (key.concat(), KeySlices::default());
    match table.codec().split(&key, &mut slices) {
        Ok(()) => table.codec().corrupt(position, &key, &slices, bad).into(),
        Err(error) => error.into(),
    }
}
