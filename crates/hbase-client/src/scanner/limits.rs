//! The limits of a scan.

use crate::proto::ScanRequest;
use crate::request::Scan;
use crate::row::Row;

/// What is left of the limits of a scan.
pub(super) struct Limits {
    rows_per_call: u32,
    rows_left: Option<u64>,
    bytes_left: Option<u64>,
}

impl Limits {
    pub(super) fn new(scan: &Scan) -> Self {
        Self { rows_per_call: scan.rows_per_call, rows_left: scan.rows_max, bytes_left: scan.bytes_max }
    }

    /// Whether all rows that are left may come with one call.
    pub(super) fn fit_one_call(&self) -> bool {
        self.rows_left.is_some_and(|left| left <= u64::from(self.rows_per_call))
    }

    /// A request for rows within the limits.
    pub(super) fn request(&self, request: ScanRequest) -> ScanRequest {
        let left = self.rows_left.map(|left| u32::try_from(left).unwrap_or(u32::MAX).min(i32::MAX as u32));
        ScanRequest {
            number_of_rows: Some(left.map_or(self.rows_per_call, |left| left.min(self.rows_per_call))),
            limit_of_rows: left,
            client_handles_partials: Some(true),
            client_handles_heartbeats: Some(true),
            ..request
        }
    }

    /// Counts rows, and leaves out those beyond the limits; whether a limit is reached.
    pub(super) fn take(&mut self, rows: &mut Vec<Row>) -> bool {
        let mut is_reached = false;
        if let Some(left) = &mut self.rows_left {
            rows.truncate(usize::try_from(*left).unwrap_or(usize::MAX));
            *left -= rows.len() as u64;
            is_reached = *left == 0;
        }
        if let Some(left) = &mut self.bytes_left {
            let mut kept = 0;
            for row in rows.iter() {
                kept += 1;
                let row_bytes: usize = row.cells().iter().map(|cell| cell.key_value().len()).sum();
                *left = left.saturating_sub(row_bytes as u64);
                if *left == 0 {
                    is_reached = true;
                    break;
                }
            }
            // A limit of bytes is that of the rows that are given: more of them may count against the limit of rows, which ends the
            // scan as well.
            rows.truncate(kept);
        }
        is_reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Cell, CellKind, CellParts};

    fn rows(count: u8) -> Vec<Row> {
        let row = |number: u8| {
            let (row, value) = (&[number][..], &[0; 71][..]);
            let parts = CellParts { row, family: b"f", qualifier: b"q", timestamp: 1, kind: CellKind::PUT, value };
            Row::new(vec![Cell::new(parts).unwrap()])
        };
        (0..count).map(row).collect()
    }

    #[test]
    fn the_row_that_reaches_the_limit_of_bytes_is_the_last_one() {
        assert_eq!(rows(1)[0].cells()[0].key_value().len(), 94);
        for (limit, kept) in [(1, 1), (94, 1), (95, 2), (188, 2), (189, 3)] {
            let mut limits = Limits::new(&Scan::all().limit_bytes(limit));
            let mut taken = rows(5);
            assert!(limits.take(&mut taken));
            assert_eq!(taken.len(), kept, "{limit}");
        }
    }

    #[test]
    fn a_limit_of_rows_bounds_the_requests() {
        let mut limits = Limits::new(&Scan::all().limit(7).rows_per_call(5));
        assert!(!limits.fit_one_call());
        let asked = |limits: &Limits| {
            let request = limits.request(ScanRequest::default());
            (request.number_of_rows, request.limit_of_rows)
        };
        assert_eq!(asked(&limits), (Some(5), Some(7)));
        assert!(!limits.take(&mut rows(5)));
        assert_eq!(asked(&limits), (Some(2), Some(2)));
        let mut more = rows(5);
        assert!(limits.take(&mut more));
        assert_eq!(more.len(), 2);
    }
}
