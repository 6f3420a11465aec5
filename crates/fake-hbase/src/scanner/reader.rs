//! A scanner over the rows of a region, as they were when it was opened.

use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use hbase_client::WireError;
use hbase_client::cell::Cell;
use imbl::OrdMap;

use super::batch::{Batch, Limits, Part, Range};
use super::filtered::filtered;
use crate::columns::Columns;
use crate::filter::Filter;
use crate::row::Row;
use crate::row_key::RowKey;

/// A scanner.
#[derive(Debug)]
pub(crate) struct Scanner {
    rows: OrdMap<RowKey, Arc<Row>>,
    range: Range,
    columns: Columns,
    filter: Option<Filter>,
    /// The most cells of a part; 0 is no bound.
    batch_cells: usize,
    /// The cells of the row that was begun, which have not been handed out.
    begun: Vec<Cell>,
}

/// How far a call is.
struct Progress {
    bytes: u64,
    cells: usize,
}

/// Why the cells of a part end.
enum Ending {
    /// The row ends; no more rows follow if this is false.
    Row(bool),
    /// The part has enough cells.
    Inside,
    /// No row is there any more.
    Nothing,
}

impl Scanner {
    pub(crate) fn new(
        rows: OrdMap<RowKey, Arc<Row>>,
        range: Range,
        columns: Columns,
        filter: Option<Filter>,
        batch_cells: usize,
    ) -> Self {
        Self { rows, range, columns, filter, batch_cells, begun: Vec::new() }
    }

    /// Whether the filter lets nothing more through.
    pub(crate) fn is_filter_done(&self) -> bool {
        self.filter.as_ref().is_some_and(Filter::is_done)
    }

    /// Reads until a limit is reached or the region ends. `partial_row` is the row of which the call before gave a part last.
    pub(crate) fn read(&mut self, limits: &Limits, partial_row: Option<&Bytes>) -> Result<Batch, WireError> {
        let mut batch = Batch::default();
        let mut progress = Progress { bytes: 0, cells: 0 };
        let mut complete = 0;
        while batch.parts.len() < limits.results {
            if self.is_stopped(limits, &progress) {
                batch.more_in_region = !self.begun.is_empty() || self.more(self.cuts_rows(limits));
                self.stop(limits, &mut batch);
                break;
            }
            let (cells, ending) = self.part(limits, &mut progress)?;
            batch.more_in_region = matches!(ending, Ending::Inside | Ending::Row(true));
            let Some(first) = cells.first() else {
                // A row whose rest was filtered away is complete after all.
                if let Some(last) = batch.parts.last_mut() {
                    last.is_partial = false;
                }
                break;
            };
            // A row of which a part came is complete when another one comes.
            let before = match batch.parts.last() {
                Some(last) if last.is_partial => last.cells.first().map(Cell::row),
                Some(_) => None,
                None => partial_row.map(|row| &row[..]),
            };
            if before.is_some_and(|row| row != first.row()) {
                complete += 1;
            }
            let is_partial = matches!(ending, Ending::Inside);
            batch.is_enough = limits.is_enough(complete);
            if batch.is_enough {
                break;
            }
            batch.parts.push(Part { cells, is_partial });
            complete += usize::from(!is_partial);
            batch.is_enough = limits.is_enough(complete);
            if batch.is_enough || !batch.more_in_region || progress.bytes >= limits.bytes {
                break;
            }
            if self.is_stopped(limits, &progress) {
                self.stop(limits, &mut batch);
                break;
            }
        }
        Ok(batch)
    }

    /// Whether the test stops the call here. The time of a call is bounded for clients that handle heartbeats alone.
    fn is_stopped(&self, limits: &Limits, progress: &Progress) -> bool {
        let stop = limits.stop.filter(|stop| !stop.is_heartbeat || limits.heartbeats && limits.partials);
        stop.is_some_and(|stop| progress.cells >= stop.cells)
    }

    /// Says that the time was over. A call that stops for its size says so, too, if it gave nothing.
    fn stop(&self, limits: &Limits, batch: &mut Batch) {
        let is_heartbeat = limits.stop.is_some_and(|stop| stop.is_heartbeat);
        batch.is_heartbeat = batch.more_in_region && (is_heartbeat || batch.parts.is_empty());
        batch.cursor = self.peek();
    }

    /// Whether limits hold between the cells of a row.
    fn cuts_rows(&self, limits: &Limits) -> bool {
        limits.partials && !self.filter.as_ref().is_some_and(Filter::is_of_rows)
    }

    /// Whether more rows follow, as far as the server tells. A limit that was reached hides that none do, if it holds between cells.
    fn more(&self, is_cut: bool) -> bool {
        !self.is_filter_done() && (is_cut || self.next_row().is_some())
    }

    /// The row that comes next, before the filter.
    fn peek(&self) -> Option<Bytes> {
        self.begun.first().map(Cell::row_bytes).or_else(|| self.next_row().map(|(key, _)| key.bytes))
    }

    fn next_row(&self) -> Option<(RowKey, Arc<Row>)> {
        if self.range.is_empty() {
            return None;
        }
        let (low, high) = (self.range.low.clone(), self.range.high.clone());
        let mut rows = self.rows.range((low, high));
        let next =
            |(key, row): (&RowKey, &Arc<Row>)| (self.columns.has_any(row)).then(|| (key.clone(), Arc::clone(row)));
        if self.range.is_reversed { rows.by_ref().rev().find_map(next) } else { rows.find_map(next) }
    }

    /// The next cells that the filter lets through: a row, or a part of one.
    fn part(&mut self, limits: &Limits, progress: &mut Progress) -> Result<(Vec<Cell>, Ending), WireError> {
        if self.begun.is_empty() && !self.begin_row()? {
            return Ok((Vec::new(), Ending::Nothing));
        }
        let cuts_rows = self.cuts_rows(limits);
        let (mut taken, mut is_cut) = (0, false);
        for cell in &self.begun {
            taken += 1;
            progress.bytes += cell.key_value().len() as u64;
            progress.cells += 1;
            let is_over = progress.bytes >= limits.bytes || self.is_stopped(limits, progress);
            is_cut = taken == self.batch_cells || cuts_rows && is_over;
            if is_cut {
                break;
            }
        }
        let rest = self.begun.split_off(taken);
        let cells = std::mem::replace(&mut self.begun, rest);
        if !self.begun.is_empty() {
            return Ok((cells, Ending::Inside));
        }
        Ok((cells, Ending::Row(self.more(is_cut))))
    }

    /// Goes to the next row of which the filter lets cells through.
    fn begin_row(&mut self) -> Result<bool, WireError> {
        while !self.is_filter_done() {
            let Some((key, row)) = self.next_row() else { return Ok(false) };
            if self.range.is_reversed {
                self.range.high = Bound::Excluded(key.clone());
            } else {
                self.range.low = Bound::Excluded(key.clone());
            }
            let cells = self.columns.cells(&row);
            self.begun = match &mut self.filter {
                None => cells,
                Some(filter) => filtered(filter, &key.bytes, cells, self.range.is_reversed)?,
            };
            if !self.begun.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
