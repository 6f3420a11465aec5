//! Rows to read.

use std::ops::{Bound, RangeBounds};

use bytes::Bytes;

use super::filter::Filter;
use super::selection::{Selection, selection_methods};
use crate::cell::ROW_BYTES_MAX;
use crate::error::Error;
use crate::proto::{self, ReadType};
use crate::region::Region;
use crate::wire_error::WireError;

/// Rows to read, in the order of their keys or in the reverse.
#[derive(Clone, Debug, PartialEq)]
pub struct Scan {
    selection: Selection,
    pub(crate) start: Bytes,
    pub(crate) includes_start: bool,
    pub(crate) stop: Bytes,
    pub(crate) includes_stop: bool,
    pub(crate) is_reversed: bool,
    pub(crate) rows_max: Option<u64>,
    pub(crate) bytes_max: Option<u64>,
    pub(crate) rows_per_call: u32,
    pub(crate) bytes_per_call: u64,
    pub(crate) is_computed: bool,
    caches_blocks: bool,
}

impl Scan {
    /// The rows of a call, by default.
    pub const ROWS_PER_CALL: u32 = 10_000;
    /// The bytes of a call, by default.
    pub const BYTES_PER_CALL: u64 = 2 << 20;

    /// All rows of a table, all columns, the newest version of each.
    pub fn all() -> Self {
        Self {
            selection: Selection::default(),
            start: Bytes::new(),
            includes_start: true,
            stop: Bytes::new(),
            includes_stop: false,
            is_reversed: false,
            rows_max: None,
            bytes_max: None,
            rows_per_call: Self::ROWS_PER_CALL,
            bytes_per_call: Self::BYTES_PER_CALL,
            is_computed: false,
            caches_blocks: true,
        }
    }

    /// The rows of a range of row keys, such as `"a".."b"` as bytes. An empty bound is none.
    pub fn range<K: AsRef<[u8]>>(rows: impl RangeBounds<K>) -> Self {
        let bound = |bound: Bound<&K>| match bound {
            Bound::Included(key) => (Bytes::copy_from_slice(key.as_ref()), true),
            Bound::Excluded(key) => (Bytes::copy_from_slice(key.as_ref()), false),
            Bound::Unbounded => (Bytes::new(), true),
        };
        let mut scan = Self::all();
        (scan.start, scan.includes_start) = bound(rows.start_bound());
        (scan.stop, scan.includes_stop) = bound(rows.end_bound());
        // An empty stop key is the end of the table: whether it is included means nothing, and servers take one form.
        scan.includes_stop &= !scan.stop.is_empty();
        scan.includes_start |= scan.start.is_empty();
        scan
    }

    /// Gives the same rows from the last one to the first.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.is_reversed = !self.is_reversed;
        std::mem::swap(&mut self.start, &mut self.stop);
        std::mem::swap(&mut self.includes_start, &mut self.includes_stop);
        self.includes_start |= self.start.is_empty();
        self.includes_stop &= !self.stop.is_empty();
        self
    }

    /// Whether rows come from the last one to the first.
    pub fn is_backward(&self) -> bool {
        self.is_reversed
    }

    selection_methods!();

    /// At most `rows_max` rows. If they fit into one call, the scan takes one call for each region.
    #[must_use]
    pub fn limit(mut self, rows_max: u64) -> Self {
        self.rows_max = Some(rows_max);
        self
    }

    /// The scan ends after the row with which its cells reach `bytes_max` bytes.
    #[must_use]
    pub fn limit_bytes(mut self, bytes_max: u64) -> Self {
        self.bytes_max = Some(bytes_max);
        self
    }

    /// At most `rows` rows for each call; [`Self::ROWS_PER_CALL`] by default.
    #[must_use]
    pub fn rows_per_call(mut self, rows: u32) -> Self {
        self.rows_per_call = rows.max(1);
        self
    }

    /// About `bytes` bytes for each call; [`Self::BYTES_PER_CALL`] by default.
    #[must_use]
    pub fn bytes_per_call(mut self, bytes: u64) -> Self {
        self.bytes_per_call = bytes.max(1);
        self
    }

    /// The rows are made by a coprocessor, such as groups with their sums: their keys are not those of the table, and have no order.
    ///
    /// The scan cannot continue after such a row. If a call fails after the scan has given rows of its region, the scan fails; before that, the scan
    /// reads the region anew. Each region is asked for its own part of the range, because coprocessors refuse more. Cells that have neither
    /// family nor qualifier are left out: with them a coprocessor says that it goes on.
    #[must_use]
    pub fn computed_rows(mut self) -> Self {
        self.is_computed = true;
        self
    }

    /// Leaves the servers' cache of blocks as it is, for scans that read much once.
    #[must_use]
    pub fn without_caching_blocks(mut self) -> Self {
        self.caches_blocks = false;
        self
    }

    /// A scan that servers answer with fewer rows than it has is refused.
    ///
    /// # Errors
    /// [`Error::Unsupported`]; [`Error::Request`] if the start or the stop row is too long.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let row_bytes = self.start.len().max(self.stop.len());
        if row_bytes > ROW_BYTES_MAX {
            return Err(WireError::RowLength { row_bytes }.into());
        }
        let filter = self.selection.filter.as_ref();
        if self.is_reversed && filter.is_some_and(Filter::has_endless_range) {
            return Err(Error::Unsupported {
                reason: "servers lose rows of a reversed scan with a row range without end",
            });
        }
        Ok(())
    }

    /// The stop row in a region, and whether it is included.
    fn stop_in(&self, region: &Region) -> (Bytes, bool) {
        let edge = if self.is_reversed { region.start() } else { region.end() };
        let is_beyond = |edge: &Bytes| match (self.stop.is_empty(), self.is_reversed) {
            (true, _) => true,
            (false, true) => self.stop < *edge,
            (false, false) => self.stop >= *edge,
        };
        match self.is_computed && !edge.is_empty() && is_beyond(edge) {
            true => (edge.clone(), self.is_reversed),
            false => (self.stop.clone(), self.includes_stop),
        }
    }

    /// The message for a scanner that begins at a row of a region.
    pub(crate) fn message(&self, region: &Region, start: Bytes, includes_start: bool) -> proto::Scan {
        let Selection { columns, filter, time_range, versions, attributes } = self.selection.clone();
        let (stop, includes_stop) = self.stop_in(region);
        let is_short = self.rows_max.is_some_and(|rows| rows <= u64::from(self.rows_per_call));
        proto::Scan {
            column: columns,
            attribute: attributes,
            start_row: Some(start),
            stop_row: Some(stop),
            filter: filter.map(Filter::into_message),
            time_range,
            max_versions: versions,
            cache_blocks: Some(self.caches_blocks),
            max_result_size: Some(self.bytes_per_call),
            reversed: Some(self.is_reversed),
            caching: Some(self.rows_per_call),
            include_start_row: Some(includes_start),
            include_stop_row: Some(includes_stop),
            // A read by position is quicker for short scans.
            read_type: Some(if is_short { ReadType::Pread } else { ReadType::Default } as i32),
            ..proto::Scan::default()
        }
    }
}
