//! How far a scan has come, and where it goes on.

use bytes::Bytes;

use crate::locator::Side;
use crate::region::Region;
use crate::request::Scan;
use crate::row::Row;

/// How far a scan has come.
pub(super) struct Position {
    /// The next scanner begins here: at the start of the scan, at the edge of a region, or after the last complete row.
    start: Bytes,
    includes_start: bool,
    /// The last complete row of the scan.
    last: Option<Bytes>,
    /// Whether rows of the region were given after which the scan can't go on.
    is_stuck: bool,
}

impl Position {
    pub(super) fn new(scan: &Scan) -> Self {
        Self { start: scan.start.clone(), includes_start: scan.includes_start, last: None, is_stuck: false }
    }

    pub(super) fn start(&self) -> (Bytes, bool) {
        (self.start.clone(), self.includes_start)
    }

    /// Which region has the next rows.
    pub(super) fn side(&self, scan: &Scan) -> Side {
        let before = scan.is_reversed && (self.start.is_empty() || !self.includes_start);
        if before { Side::Before } else { Side::At }
    }

    /// Whether no row is left between here and the stop row.
    pub(super) fn is_at_end(&self, scan: &Scan) -> bool {
        let (start, stop) = (&self.start, &scan.stop);
        if stop.is_empty() || (start.is_empty() && scan.is_reversed) {
            return false;
        }
        let is_past = if scan.is_reversed { start < stop } else { start > stop };
        is_past || (start == stop && !(self.includes_start && scan.includes_stop))
    }

    /// Goes on after complete rows. They must be in order, after those that came before, and within the region.
    ///
    /// # Errors
    /// [`OutOfOrder`], and nothing has changed.
    pub(super) fn pass(&mut self, scan: &Scan, region: &Region, rows: &[Row]) -> Result<(), OutOfOrder> {
        if scan.is_computed {
            self.is_stuck |= !rows.is_empty();
            return Ok(());
        }
        let mut last: Option<&[u8]> = self.last.as_deref();
        for row in rows {
            let key = row.key();
            let is_after = last.is_none_or(|last| if scan.is_reversed { key < last } else { key > last });
            if !is_after || !region.contains(key) {
                return Err(OutOfOrder);
            }
            last = Some(key);
        }
        if let Some(row) = rows.last().and_then(|row| row.cells().first()) {
            let key = Bytes::copy_from_slice(row.row());
            (self.start, self.includes_start, self.last) = (key.clone(), false, Some(key));
        }
        Ok(())
    }

    /// Whether rows of the region were given after which no other scanner can go on.
    pub(super) fn is_stuck(&self) -> bool {
        self.is_stuck
    }

    /// Goes on at the edge of a region that has no more rows; false if the table ends there.
    pub(super) fn leave(&mut self, scan: &Scan, region: &Region) -> bool {
        let edge = if scan.is_reversed { region.start() } else { region.end() };
        (self.start, self.includes_start, self.is_stuck) = (edge.clone(), !scan.is_reversed, false);
        !edge.is_empty()
    }
}

/// Rows are not after each other, or not within their region.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OutOfOrder;
