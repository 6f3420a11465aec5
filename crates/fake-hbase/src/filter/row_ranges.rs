//! MultiRowRangeFilter.

use bytes::Bytes;
use hbase_client::proto;

/// Ranges of rows.
#[derive(Clone, Debug)]
pub(crate) struct RowRanges {
    ranges: Vec<proto::RowRange>,
    is_done: bool,
}

fn key(key: &Option<Bytes>) -> &[u8] {
    key.as_deref().unwrap_or_default()
}

fn is_after_start(range: &proto::RowRange, row: &[u8]) -> bool {
    let start = key(&range.start_row);
    start.is_empty() || row > start || row == start && range.start_row_inclusive != Some(false)
}

fn is_before_stop(range: &proto::RowRange, row: &[u8]) -> bool {
    let stop = key(&range.stop_row);
    stop.is_empty() || row < stop || row == stop && range.stop_row_inclusive == Some(true)
}

impl RowRanges {
    pub(crate) fn new(message: proto::MultiRowRangeFilter) -> Self {
        Self { ranges: message.row_range_list, is_done: false }
    }

    /// Whether a row was behind all ranges.
    pub(crate) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Whether no range has the row.
    pub(crate) fn drops(&mut self, row: &[u8], is_reversed: bool) -> bool {
        let is_behind = |range: &proto::RowRange| {
            if is_reversed { !is_after_start(range, row) } else { !is_before_stop(range, row) }
        };
        self.is_done = self.ranges.iter().all(is_behind);
        !self.ranges.iter().any(|range| is_after_start(range, row) && is_before_stop(range, row))
    }
}
