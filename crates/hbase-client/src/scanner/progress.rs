//! What the answers of a scan have come to.

use bytes::Bytes;

use super::assembler::Assembler;
use super::counts::ScanCounts;
use super::limits::Limits;
use super::open_scanner::OpenScanner;
use super::position::Position;
use crate::cell::Cell;
use crate::connection::{Answer, Server};
use crate::error::Error;
use crate::proto::ScanResponse;
use crate::request::Scan;
use crate::row::{Row, pieces_of};
use crate::table_name::TableName;

/// The most bytes of a row that comes in pieces.
const ROW_BYTES_MAX: usize = 256 << 20;

/// A scan, and what its answers have come to.
pub(super) struct Progress {
    pub(super) table: TableName,
    pub(super) scan: Scan,
    pub(super) position: Position,
    pub(super) limits: Limits,
    pub(super) is_done: bool,
    pub(super) counts: ScanCounts,
    assembler: Assembler,
}

impl Progress {
    pub(super) fn new(table: TableName, scan: Scan) -> Self {
        Self {
            position: Position::new(&scan),
            limits: Limits::new(&scan),
            is_done: scan.rows_max == Some(0),
            counts: ScanCounts::default(),
            assembler: Assembler::default(),
            table,
            scan,
        }
    }

    /// Forgets the pieces of a row that is not complete: another scanner reads the row again.
    pub(super) fn forget_pieces(&mut self) {
        self.assembler.clear();
    }

    /// The rows of an answer, and the scanner if it has more for this scan.
    ///
    /// # Errors
    /// [`Error::Answer`], [`Error::RowTooLarge`], [`Error::RowsOutOfOrder`].
    pub(super) fn take(
        &mut self,
        mut open: OpenScanner,
        answer: Answer<ScanResponse>,
    ) -> Result<(Vec<Row>, Option<OpenScanner>), Error> {
        self.counts.calls += 1;
        let Answer { message, cells } = answer;
        let ends_region = message.more_results_in_region == Some(false);
        let ends_scan = message.more_results == Some(false);
        self.counts.heartbeats += u64::from(message.heartbeat_message == Some(true));
        open.note_end(&message);
        let mut rows = self.assemble(&open.server, &message, cells)?;
        if ends_region || ends_scan {
            self.assembler.complete(&mut rows);
        } else if open.has_ended {
            // The scanner was closed in the middle of a row perhaps: that row is read again.
            self.assembler.clear();
        }
        if self.scan.is_computed {
            rows.retain(|row| row.cells().iter().any(|cell| !is_sign_of_life(cell)));
        }
        if self.position.pass(&self.scan, &open.region, &rows).is_err() {
            self.assembler.clear();
            let (table, server) = (self.table.to_string(), open.server.address().clone());
            return Err(Error::RowsOutOfOrder { table, server });
        }
        self.is_done |= self.limits.take(&mut rows);
        self.counts.rows += rows.len() as u64;
        if ends_scan {
            self.is_done = true;
        } else if ends_region {
            self.is_done |= !self.position.leave(&self.scan, &open.region);
        }
        let has_more = !open.has_ended && !self.is_done;
        Ok((rows, has_more.then_some(open)))
    }

    fn assemble(&mut self, server: &Server, message: &ScanResponse, cells: Bytes) -> Result<Vec<Row>, Error> {
        let pieces = match pieces_of(message, cells) {
            Ok(pieces) => pieces,
            Err(error) => {
                self.assembler.clear();
                return Err(server.damaged("Scan", error));
            }
        };
        let mut rows = Vec::with_capacity(pieces.len());
        for piece in pieces {
            if self.assembler.add(piece, ROW_BYTES_MAX, &mut rows).is_err() {
                self.assembler.clear();
                let (table, row_bytes_max) = (self.table.to_string(), ROW_BYTES_MAX);
                return Err(Error::RowTooLarge { table, row_bytes_max });
            }
        }
        Ok(rows)
    }
}

/// Whether a coprocessor says with a cell that it goes on.
fn is_sign_of_life(cell: &Cell) -> bool {
    cell.family().is_empty() && cell.qualifier().is_empty()
}
