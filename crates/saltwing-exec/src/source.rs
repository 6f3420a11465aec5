//! Where a SELECT's rows come from.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::Schema;
use saltwing_access::{RowSource, ScanContext, ScanRoute, ScanSpec, Snapshot, TableError};
use saltwing_planner::{DirectPlan, KeyAccess, PlannedSelect, TableAccess};

use crate::ExecError;
use crate::prefix::PrefixScans;

/// Batches of the columns that a SELECT needs.
pub(crate) enum Source {
    /// Scans one behind the other, the next one last.
    Scans(Vec<Box<dyn RowSource>>),
    /// One row for each prefix of the key.
    Prefixes(Box<Prefixes>),
}

/// The ways of an access in the order in which they are read.
pub(crate) fn scan_routes(access: &TableAccess, limit: Option<u64>) -> Vec<ScanRoute> {
    std::iter::once(access.route(limit)).chain(access.second_route(limit)).collect()
}

/// The columns of a batch, and how many rows they have.
pub(crate) type Columns = (Vec<ArrayRef>, usize);

impl Source {
    /// Starts reading; `limit` rows are enough, and of the first batch perhaps `first_batch`. Of an access's ranges
    /// only `part` is read, where there is one.
    pub(crate) fn start(
        snapshot: Arc<dyn Snapshot>,
        (planned, part): (&PlannedSelect, Option<KeyAccess>),
        spec: &ScanSpec,
        (limit, first_batch): (Option<u64>, Option<u64>),
        context: &ScanContext,
    ) -> Result<Self, ExecError> {
        let access = &planned.access;
        match &planned.plan {
            DirectPlan::KeyEnds { ends, .. } => {
                let end = |access: &TableAccess| {
                    snapshot.scan(&access.spec(spec.columns().to_vec())?, access.route(Some(1)), context.clone())
                };
                let mut scans = ends.iter().map(end).collect::<Result<Vec<_>, _>>()?;
                scans.reverse();
                Ok(Self::Scans(scans))
            }
            DirectPlan::DistinctPrefix { columns, .. } => Ok(Self::Prefixes(Box::new(Prefixes {
                scans: PrefixScans::new(access, *columns, spec.columns())?,
                snapshot,
                context: context.clone(),
                rows: 1,
                jumps: 0,
            }))),
            _ => {
                if let Some(part) = part {
                    let route = ScanRoute { first_batch, ..part.route(access, limit) };
                    return Ok(Self::Scans(vec![snapshot.scan(spec, route, context.clone())?]));
                }
                let scan = |(place, route): (usize, ScanRoute)| {
                    let first_batch = first_batch.filter(|_| place == 0);
                    snapshot.scan(spec, ScanRoute { first_batch, ..route }, context.clone())
                };
                let routes = scan_routes(access, limit).into_iter().enumerate();
                let mut scans = routes.map(scan).collect::<Result<Vec<_>, _>>()?;
                scans.reverse();
                Ok(Self::Scans(scans))
            }
        }
    }

    /// The columns of the next rows, never of none; `None` at the end.
    pub(crate) fn next_columns(&mut self) -> Result<Option<Columns>, TableError> {
        match self {
            Self::Scans(scans) => {
                while let Some(scan) = scans.last_mut() {
                    if let Some(columns) = scan.next_columns()? {
                        return Ok(Some(columns));
                    }
                    scans.pop();
                }
                Ok(None)
            }
            Self::Prefixes(prefixes) => {
                let batch = prefixes.next_batch()?;
                Ok(batch.map(|batch| (batch.columns().to_vec(), batch.num_rows())))
            }
        }
    }
}

/// Jumps after which it is looked whether they pay.
const LOOK_EVERY: u32 = 16;
/// Rows that are read to see.
const LOOK_ROWS: u64 = 8;
/// Most rows read on without a jump.
const ROWS_MAX: u64 = 8192;
/// Rows of a prefix that are as well read as jumped over.
const ROWS_PER_PREFIX: u64 = 4;

/// Reads the first row of each key prefix, and jumps to the next prefix.
///
/// A jump costs as much as many rows. So every now and then a few rows are read on, and as
/// long as nearly each of them has another prefix, reading goes on without jumps.
pub(crate) struct Prefixes {
    scans: PrefixScans,
    snapshot: Arc<dyn Snapshot>,
    context: ScanContext,
    /// Rows that the next scan reads.
    rows: u64,
    jumps: u32,
}

impl Prefixes {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, TableError> {
        loop {
            self.jumps = self.jumps.wrapping_add(1);
            let is_look = self.rows == 1 && self.jumps.is_multiple_of(LOOK_EVERY);
            let wanted = if is_look { LOOK_ROWS } else { self.rows };
            let Some(route) = self.scans.next_route(wanted) else { return Ok(None) };
            let mut scan = self.snapshot.scan(self.scans.spec(), route, self.context.clone())?;
            let (mut batches, mut rows) = (Vec::new(), 0);
            while let Some(batch) = scan.next_batch()? {
                rows += batch.num_rows() as u64;
                batches.push(batch);
            }
            let Some(first) = batches.first() else {
                self.scans.end_part();
                continue;
            };
            let read = arrow::compute::concat_batches(&first.schema(), &batches)?;
            let batch = self.first_rows(&read)?;
            if rows < wanted {
                self.scans.end_part();
            }
            let pays = batch.num_rows() as u64 * ROWS_PER_PREFIX < wanted;
            self.rows = if wanted == 1 || pays { 1 } else { (wanted * 2).min(ROWS_MAX) };
            return Ok(Some(batch));
        }
    }

    /// The first row of each prefix, without the row key; the next scan begins behind the last one.
    fn first_rows(&mut self, read: &RecordBatch) -> Result<RecordBatch, TableError> {
        let (columns, keys) = match read.columns().split_last() {
            Some((keys, columns)) => (columns, keys.as_binary::<i32>()),
            None => return Ok(read.clone()),
        };
        let firsts = self.scans.first_rows(keys.iter().flatten())?;
        if let Some(last) = keys.iter().next_back().flatten() {
            self.scans.leave(last)?;
        }
        let rows = firsts.len();
        let fields: Vec<_> = read.schema().fields().iter().take(columns.len()).cloned().collect();
        let firsts = UInt32Array::from(firsts);
        let columns = columns.iter().map(|column| take(column, &firsts, None)).collect::<Result<_, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)?)
    }
}
