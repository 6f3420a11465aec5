//! One page of a SELECT's rows.
//!
//! A page begins behind a row that is known by its key: the key bounds the ranges of the plan, so that a page reads its own rows
//! only, wherever it begins.

use std::sync::{Arc, OnceLock};

use arrow::array::{Array, AsArray, RecordBatch};
use saltwing_access::{RowSource, ScanContext, ScanRoute, ScanSpec, Snapshot, TableError, snapshot_of};

use crate::ExecError;
use crate::select::SelectPlan;
use crate::source::scan_routes;

/// A row of a SELECT, behind which a page begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PagePosition {
    /// The scan that the row is read by, of those that the plan reads in turn: 0 or 1.
    pub scan: u8,
    /// The row's physical key.
    pub row_key: Vec<u8>,
}

/// The end of a page behind which there may be more rows.
#[derive(Debug)]
pub struct PageEnd {
    /// Its last row.
    pub position: PagePosition,
    /// Whether the statement's budget or timeout ended it, and not its LIMIT.
    pub is_cut: bool,
}

/// The scan that a page reads from.
struct PageScan {
    /// As [`PagePosition::scan`].
    number: u8,
    rows: Box<dyn RowSource>,
}

/// The rows of a page, as they are read.
pub struct PageRows {
    plan: Arc<SelectPlan>,
    snapshot: Arc<dyn Snapshot>,
    context: ScanContext,
    spec: ScanSpec,
    /// The scans to come, the next one last; each with its number for [`PagePosition::scan`].
    routes: Vec<(u8, ScanRoute)>,
    scan: Option<PageScan>,
    /// The place of the row key among the scanned columns.
    key_place: usize,
    /// Rows that the page still takes.
    left: Option<u64>,
    /// Whether the budget allows fewer rows than LIMIT.
    is_cut: bool,
    last: Option<PagePosition>,
    end: Arc<OnceLock<PageEnd>>,
}

impl PageRows {
    /// Starts reading a page of a plan of rows, whose access was judged, behind the row `from`.
    ///
    /// # Errors
    /// The store's.
    pub fn start(
        plan: &Arc<SelectPlan>,
        snapshot: Arc<dyn Snapshot>,
        from: Option<&PagePosition>,
        context: ScanContext,
    ) -> Result<Self, ExecError> {
        let (planned, table) = (plan.planned(), plan.access().table());
        let snapshot = snapshot_of(table, snapshot)?;
        let mut columns = planned.scanned.clone();
        let selected = columns.iter().position(|&column| column == table.row_key_index());
        let key_place = selected.unwrap_or_else(|| {
            columns.push(table.row_key_index());
            columns.len() - 1
        });
        let spec = plan.access().spec(columns)?;
        // A budget that is used up already is the scan's error.
        let (limit, rows_left) = (planned.limit, context.rows_left().map(|rows| rows.max(1)));
        let is_cut = rows_left.is_some_and(|rows| limit.is_none_or(|limit| rows < limit));
        let left = if is_cut { rows_left } else { limit };
        let mut routes = Vec::new();
        for (number, route) in (0..).zip(scan_routes(plan.access(), left)) {
            match from {
                Some(from) if number < from.scan => {}
                Some(from) if number == from.scan => {
                    routes.extend(route.behind(table, &from.row_key).map(|route| (number, route)));
                }
                _ => routes.push((number, route)),
            }
        }
        routes.reverse();
        let (plan, end) = (plan.clone(), Arc::default());
        Ok(Self { plan, snapshot, context, spec, routes, scan: None, key_place, left, is_cut, last: None, end })
    }

    /// Where the end of the page is found once its last rows are read, if there may be more behind it.
    pub fn end(&self) -> Arc<OnceLock<PageEnd>> {
        self.end.clone()
    }

    /// The next batch, never an empty one; `None` at the end of the page.
    ///
    /// # Errors
    /// The scan's; what computing an output fails with. A budget or a timeout that is used up behind a row ends the page.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, ExecError> {
        while self.left != Some(0) {
            let Some(PageScan { number, rows: scan }) = self.running_scan()? else { break };
            let number = *number;
            let (mut columns, rows) = match scan.next_columns() {
                Ok(Some(read)) => read,
                Ok(None) => {
                    self.scan = None;
                    continue;
                }
                Err(TableError::BudgetExceeded { .. } | TableError::Timeout { .. }) if self.last.is_some() => {
                    (self.scan, self.routes) = (None, Vec::new());
                    self.put_end(true);
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            let taken = self.left.map_or(rows, |left| rows.min(usize::try_from(left).unwrap_or(usize::MAX)));
            let keys = columns.get(self.key_place).and_then(|keys| keys.as_binary_opt::<i32>());
            let Some(keys) = keys.filter(|keys| 0 < taken && taken <= keys.len()) else {
                debug_assert!(false, "a batch of a page without row keys");
                return Err(ExecError::Bug("a batch of a page without row keys"));
            };
            let position = PagePosition { scan: number, row_key: keys.value(taken - 1).to_vec() };
            columns.truncate(self.plan.planned().scanned.len());
            if taken < rows {
                columns.iter_mut().for_each(|column| *column = column.slice(0, taken));
            }
            let outputs = self.plan.outputs(columns, taken, self.context.memory())?;
            self.last = Some(position);
            self.left = self.left.map(|left| left - taken as u64);
            if self.left == Some(0) {
                self.put_end(self.is_cut);
            }
            return Ok(Some(self.plan.batch(outputs, taken)?));
        }
        Ok(None)
    }

    /// The scan that has the next rows, if there are more: it is started for the rows that the page still takes.
    fn running_scan(&mut self) -> Result<Option<&mut PageScan>, TableError> {
        if self.scan.is_none()
            && let Some((number, mut route)) = self.routes.pop()
        {
            route.limit = route.limit.min(self.left.or(route.limit));
            let rows = self.snapshot.scan(&self.spec, route, self.context.clone())?;
            self.scan = Some(PageScan { number, rows });
        }
        Ok(self.scan.as_mut())
    }

    fn put_end(&mut self, is_cut: bool) {
        if let Some(position) = self.last.take() {
            // It is set once: nothing is read behind it.
            let _ = self.end.set(PageEnd { position, is_cut });
        }
    }
}
