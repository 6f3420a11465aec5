//! One page of a SELECT's rows.
//!
//! A page begins after a row that is known by its key: the key bounds the ranges of the plan, so that a page reads its own rows
//! only, wherever it begins.

use std::sync::{Arc, OnceLock};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use saltwing_access::{
    Index, ReadSpec, RowSource, ScanContext, ScanOrder, ScanRoute, Snapshot, TableError, snapshot_of,
};
use saltwing_expr::value_at;
use saltwing_planner::TableAccess;

use crate::ExecError;
use crate::select::SelectPlan;
use crate::source::scan_routes;

/// A row of a SELECT after which a page begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PagePosition {
    /// The scan that the row is read by, of those that the plan reads in turn, from 0.
    pub scan: u8,
    /// The physical key of the row, or of its entry if the plan reads an index.
    pub row_key: Vec<u8>,
}

/// The end of a page after which there may be more rows.
#[derive(Debug)]
pub struct PageEnd {
    /// Its last row.
    pub position: PagePosition,
    /// Whether the statement's budget or timeout ended it, and not its LIMIT.
    pub is_cut: bool,
}

/// A scan that a page reads from.
struct PageScan {
    /// As [`PagePosition::scan`].
    number: u8,
    /// The place of its read among those of the page.
    read: usize,
    rows: Box<dyn RowSource>,
}

/// A scan that a page may still come to.
struct NextScan {
    number: u8,
    read: usize,
    route: ScanRoute,
}

/// The key by which a row was read: of the table, or of the index.
enum ReadKey {
    /// The row key, by its place among the scanned columns.
    Row(usize),
    /// That of the entry: it is computed from its columns, by their places among the scanned ones.
    Entry(Box<Index>, Vec<usize>),
}

impl ReadKey {
    /// Adds the columns that it takes to those that are scanned.
    fn new(access: &TableAccess, scanned: &mut Vec<usize>) -> Self {
        let mut place = |column: usize| {
            scanned.iter().position(|scanned| *scanned == column).unwrap_or_else(|| {
                scanned.push(column);
                scanned.len() - 1
            })
        };
        match access.index() {
            None => Self::Row(place(access.table().row_key_index())),
            Some(index) => {
                Self::Entry(Box::new(index.clone()), index.columns().iter().map(|column| place(*column)).collect())
            }
        }
    }

    /// The key of a row among those of a batch; `None` if the batch does not have it.
    fn of(&self, columns: &[ArrayRef], row: usize) -> Result<Option<Vec<u8>>, TableError> {
        match self {
            Self::Row(place) => {
                let keys = columns.get(*place).and_then(|keys| keys.as_binary_opt::<i32>());
                Ok(keys.filter(|keys| row < keys.len()).map(|keys| keys.value(row).to_vec()))
            }
            Self::Entry(index, places) => {
                let entries = index.entries();
                let mut entry = Vec::with_capacity(places.len());
                for (column, place) in places.iter().enumerate() {
                    let Some(values) = columns.get(*place).filter(|values| row < values.len()) else { return Ok(None) };
                    entry.push(value_at(values, row, entries.column_type(column))?);
                }
                entries.row_key(&entry).map(Some)
            }
        }
    }
}

/// The rows of a page, as they are read.
pub struct PageRows {
    plan: Arc<SelectPlan>,
    snapshot: Arc<dyn Snapshot>,
    context: ScanContext,
    /// The key that is read, or each one of a union, and the key of its rows.
    reads: Vec<(ReadSpec, ReadKey)>,
    /// The scans to come, the next one last.
    scans: Vec<NextScan>,
    scan: Option<PageScan>,
    /// Rows that the page still takes.
    left: Option<u64>,
    /// Whether the budget allows fewer rows than LIMIT.
    is_cut: bool,
    last: Option<PagePosition>,
    end: Arc<OnceLock<PageEnd>>,
}

impl PageRows {
    /// Starts reading a page of a plan of rows, whose access was judged, after the row `from`.
    ///
    /// # Errors
    /// The store's.
    pub fn start(
        plan: &Arc<SelectPlan>,
        snapshot: Arc<dyn Snapshot>,
        from: Option<&PagePosition>,
        context: ScanContext,
    ) -> Result<Self, ExecError> {
        let (planned, access) = (plan.planned(), plan.access());
        let snapshot = snapshot_of(access.table(), snapshot)?;
        // A budget that is used up already is the scan's error.
        let (limit, rows_left) = (planned.limit, context.rows_left().map(|rows| rows.max(1)));
        let is_cut = rows_left.is_some_and(|rows| limit.is_none_or(|limit| rows < limit));
        let left = if is_cut { rows_left } else { limit };
        let (mut reads, mut scans, mut numbers) = (Vec::new(), Vec::new(), 0..);
        for (read, access) in access.parts().enumerate() {
            let mut columns = planned.scanned.clone();
            let key = ReadKey::new(access, &mut columns);
            reads.push((access.spec(columns)?, key));
            for (number, mut route) in numbers.by_ref().zip(scan_routes(access, left)) {
                if access.index().is_some() {
                    // Else rows are in the order of their entries in each batch alone.
                    route.order = ScanOrder::Merged;
                }
                let routes: Vec<ScanRoute> = match from {
                    Some(from) if number < from.scan => Vec::new(),
                    Some(from) if number == from.scan => route.after(access.key_table(), &from.row_key).collect(),
                    _ => vec![route],
                };
                scans.extend(routes.into_iter().map(|route| NextScan { number, read, route }));
            }
        }
        scans.reverse();
        let (plan, end) = (plan.clone(), Arc::default());
        Ok(Self { plan, snapshot, context, reads, scans, scan: None, left, is_cut, last: None, end })
    }

    /// Where the end of the page is found once its last rows are read, if there may be more after it.
    pub fn end(&self) -> Arc<OnceLock<PageEnd>> {
        self.end.clone()
    }

    /// The next batch, never an empty one; `None` at the end of the page.
    ///
    /// # Errors
    /// The scan's; what computing an output fails with. A budget or a timeout that is used up after a row ends the page.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, ExecError> {
        while self.left != Some(0) {
            let Some(PageScan { number, read, rows: scan }) = self.running_scan()? else { break };
            let (number, read) = (*number, *read);
            let (mut columns, rows) = match scan.next_columns() {
                Ok(Some(read)) => read,
                Ok(None) => {
                    self.scan = None;
                    continue;
                }
                Err(TableError::BudgetExceeded { .. } | TableError::Timeout { .. }) if self.last.is_some() => {
                    (self.scan, self.scans) = (None, Vec::new());
                    self.put_end(true);
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            let taken = self.left.map_or(rows, |left| rows.min(usize::try_from(left).unwrap_or(usize::MAX)));
            let key = self.reads.get(read).map(|(_, key)| key);
            let last = key.zip(taken.checked_sub(1)).map(|(key, last)| key.of(&columns, last));
            let last = last.transpose()?.flatten();
            let Some(row_key) = last else {
                debug_assert!(false, "a batch of a page without row keys");
                return Err(ExecError::Bug("a batch of a page without row keys"));
            };
            let position = PagePosition { scan: number, row_key };
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
            && let Some(NextScan { number, read, mut route }) = self.scans.pop()
            && let Some((spec, _)) = self.reads.get(read)
        {
            route.limit = route.limit.min(self.left.or(route.limit));
            let rows = spec.scan(&self.snapshot, route, self.context.clone())?;
            self.scan = Some(PageScan { number, read, rows });
        }
        Ok(self.scan.as_mut())
    }

    fn put_end(&mut self, is_cut: bool) {
        if let Some(position) = self.last.take() {
            // It is set once: nothing is read after it.
            let _ = self.end.set(PageEnd { position, is_cut });
        }
    }
}
