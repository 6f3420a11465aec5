//! Jumping from one key prefix to the next.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, UInt32Array};
use arrow::compute::take;
use saltwing_access::{Buckets, Direction, KeySet, ScanContext, ScanRoute, ScanSpec, Snapshot, TableError};
use saltwing_planner::TableAccess;
use saltwing_rowkey::{KeyRange, KeySlices, RowKeyError};
use saltwing_types::Value;

use crate::ExecError;

/// Jumps after which it is looked whether they pay.
const LOOK_EVERY: u32 = 16;
/// Most rows read on without a jump.
const ROWS_MAX: u64 = 8192;

/// How many rows are read from one jump to the next.
#[derive(Clone, Copy)]
struct Pace {
    /// Rows of a scan while jumps pay.
    least: u64,
    /// Rows that are read to see whether they do.
    look: u64,
    /// Rows of a prefix that are as well read as jumped over.
    per_prefix: u64,
}

impl Pace {
    /// A jump is a search in memory.
    const IN_MEMORY: Self = Self { least: 1, look: 8, per_prefix: 4 };
    /// A jump is a call of a server, in whose time it could send this many rows, and perhaps more.
    const BY_CALLS: Self = Self { least: 1024, look: 1024, per_prefix: 512 };

    fn of(snapshot: &dyn Snapshot) -> Self {
        if snapshot.reads_wait() { Self::BY_CALLS } else { Self::IN_MEMORY }
    }
}

/// Reads the first row of each key prefix, by consecutive scans: each skips the rows that share their leading key columns
/// with the last row of the one before.
///
/// A jump costs as much as many rows. So every now and then a few rows are read on, and as
/// long as nearly each of them has another prefix, reading goes on without jumps.
///
/// Where equal prefixes may lie in several buckets, the access must be in key order, one way or the other:
/// the buckets are then merged. Else each bucket is read to its end.
pub(crate) struct Prefixes {
    snapshot: Arc<dyn Snapshot>,
    context: ScanContext,
    access: TableAccess,
    spec: ScanSpec,
    /// Leading key columns that count.
    prefix: usize,
    /// Buckets that are read together, last ones first.
    parts: Vec<Buckets>,
    /// Where rows may still lie in the current part.
    rest: Option<KeyRange>,
    pace: Pace,
    /// Rows that the next scan reads.
    rows: u64,
    jumps: u32,
}

impl Prefixes {
    /// The scans of these columns, to which the physical key is added as the last one: of rows, or of entries.
    ///
    /// # Errors
    /// [`ExecError::Bug`] if entries do not have all columns; as [`TableAccess::spec`].
    pub(crate) fn new(
        snapshot: Arc<dyn Snapshot>,
        access: &TableAccess,
        prefix: usize,
        columns: &[usize],
        context: &ScanContext,
    ) -> Result<Self, ExecError> {
        let buckets = access.buckets();
        let parts = match access.key().salt {
            Some(_) if !access.is_ordered() => {
                let each = buckets.of(access.key()).into_iter().flatten();
                each.rev().map(|bucket| Buckets::Some(vec![bucket])).collect()
            }
            _ => vec![buckets],
        };
        let spec = access.spec_with_key(columns)?;
        let spec = spec.ok_or(ExecError::Bug("prefixes of an index without the columns of the statement"))?;
        let (context, access, pace) = (context.clone(), access.clone(), Pace::of(&*snapshot));
        let (rest, rows) = (Some(KeyRange::all()), pace.least);
        Ok(Self { snapshot, context, access, spec, prefix, parts, rest, pace, rows, jumps: 0 })
    }

    /// The first rows of the next prefixes; `None` at the end.
    ///
    /// # Errors
    /// The scan's.
    pub(crate) fn next_columns(&mut self) -> Result<Option<(Vec<ArrayRef>, usize)>, TableError> {
        loop {
            self.jumps = self.jumps.wrapping_add(1);
            let Pace { least, look, per_prefix } = self.pace;
            let is_look = self.rows == least && self.jumps.is_multiple_of(LOOK_EVERY);
            let wanted = if is_look { look } else { self.rows };
            let Some(route) = self.next_route(wanted) else { return Ok(None) };
            let mut scan = self.snapshot.scan(&self.spec, route, self.context.clone())?;
            let (mut batches, mut rows) = (Vec::new(), 0);
            while let Some(batch) = scan.next_batch()? {
                rows += batch.num_rows() as u64;
                batches.push(batch);
            }
            let Some(first) = batches.first() else {
                self.end_part();
                continue;
            };
            let read = arrow::compute::concat_batches(&first.schema(), &batches)?;
            let (columns, found) = self.first_rows(&read)?;
            if rows < wanted {
                self.end_part();
            }
            let pays = wanted < look || found as u64 * per_prefix < wanted;
            self.rows = if pays { least } else { (wanted * 2).min(ROWS_MAX) };
            return Ok(Some((columns, found)));
        }
    }

    /// The first row of each prefix, without the row key; the next scan begins after the last one.
    fn first_rows(&mut self, read: &RecordBatch) -> Result<(Vec<ArrayRef>, usize), TableError> {
        let Some((keys, columns)) = read.columns().split_last() else { return Ok((Vec::new(), read.num_rows())) };
        let keys = keys.as_binary::<i32>();
        let firsts = self.first_of_prefixes(keys.iter().flatten())?;
        if let Some(last) = keys.iter().next_back().flatten() {
            self.leave(last)?;
        }
        let firsts = UInt32Array::from(firsts);
        let columns = columns.iter().map(|column| take(column, &firsts, None)).collect::<Result<_, _>>()?;
        Ok((columns, firsts.len()))
    }

    /// The next scan, of at most `rows` rows; `None` when nothing is left.
    fn next_route(&mut self, rows: u64) -> Option<ScanRoute> {
        loop {
            let part = self.parts.last()?;
            if let Some(rest) = &self.rest {
                let ranges = self.access.first_ranges().rest(rest.clone());
                let keys = KeySet::Ranges { ranges, buckets: part.clone() };
                return Some(self.access.route_over(keys, Some(rows)));
            }
            self.end_part();
        }
    }

    /// The scan found nothing: its buckets are done.
    fn end_part(&mut self) {
        self.parts.pop();
        self.rest = Some(KeyRange::all());
    }

    /// The scan's last row had this physical key: goes on after all rows that share its prefix.
    fn leave(&mut self, physical: &[u8]) -> Result<(), TableError> {
        let Some(range) = self.prefix_range(physical)? else { return Ok(()) };
        self.rest = match self.access.direction() {
            Direction::Forward => range.end().and_then(|end| KeyRange::new(end.to_vec(), None)),
            Direction::Reverse => KeyRange::new(Vec::new(), Some(range.start().to_vec())),
        };
        Ok(())
    }

    /// The rows, by number, whose prefix is not that of the row before.
    fn first_of_prefixes<'k>(&self, keys: impl Iterator<Item = &'k [u8]>) -> Result<Vec<u32>, TableError> {
        let codec = self.access.key_table().codec();
        let (mut before, mut here) = (None::<&[u8]>, KeySlices::new());
        let (mut slices_before, mut firsts) = (KeySlices::new(), Vec::new());
        for (row, key) in (0u32..).zip(keys) {
            codec.split_first(key, self.prefix, &mut here)?;
            let same = |before: &[u8]| {
                (0..self.prefix).all(|column| slices_before.get(before, column) == here.get(key, column))
            };
            if !before.is_some_and(same) {
                firsts.push(row);
            }
            before = Some(key);
            std::mem::swap(&mut slices_before, &mut here);
        }
        Ok(firsts)
    }

    fn prefix_range(&self, physical: &[u8]) -> Result<Option<KeyRange>, RowKeyError> {
        let codec = self.access.key_table().codec();
        let mut slices = KeySlices::new();
        codec.split_first(physical, self.prefix, &mut slices)?;
        let values: Result<Vec<Value>, RowKeyError> =
            (0..self.prefix).map(|column| codec.decode_column(physical, &slices, column)).collect();
        codec.prefix_range(&values?)
    }
}
