//! Scans: ranges of a table into batches.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::compute::filter;
use arrow::datatypes::{Schema, SchemaRef};
use futures_core::Stream;
use saltwing_expr::Filter;
use saltwing_rowkey::KeyRange;
use saltwing_store::Direction;
use saltwing_types::Expr;

use crate::bucket::{BucketScan, StoredPair};
use crate::decode::RowDecoder;
use crate::{ReadView, ScanContext, Table, TableError};

/// Rows of a full batch.
const BATCH_ROWS_MAX: usize = 8192;
/// Rows after which budget and cancel are looked at, inside a batch.
const CHECK_ROWS: u64 = 1024;

/// Key ranges in the order of travel.
pub type RangeIter = Box<dyn RangeWalk>;

/// Key ranges in the order of travel, some of which can be left out.
pub trait RangeWalk: Iterator<Item = KeyRange> + Send {
    /// The scan knows that no row lies between the range given last and `key`:
    /// ranges there need not be made. Those that are made all the same are passed over.
    fn skip_to(&mut self, key: &[u8]) {
        let _ = key;
    }
}

impl RangeWalk for std::iter::Once<KeyRange> {}
impl RangeWalk for std::vec::IntoIter<KeyRange> {}
impl RangeWalk for std::iter::Rev<std::vec::IntoIter<KeyRange>> {}

/// Where a scan's ranges come from: made as they are read, so that a product of
/// lists is never held.
pub trait RangeSource: Send + Sync {
    /// The ranges, without the bucket byte, that are read in `bucket` (`None`: the
    /// table has no salt), in key order or against it; disjoint.
    fn ranges(&self, bucket: Option<u8>, direction: Direction) -> RangeIter;
}

/// Which buckets a scan reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Buckets {
    /// All of the table.
    All,
    /// These, ascending.
    Some(Vec<u8>),
}

/// In which order rows come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanOrder {
    /// Bucket after bucket.
    ByBucket,
    /// Row-key order over all buckets, which are merged row by row.
    Merged,
}

/// What to read of a table.
pub struct ScanRequest {
    /// The table.
    pub table: Arc<Table>,
    /// Ranges.
    pub ranges: Arc<dyn RangeSource>,
    /// Buckets.
    pub buckets: Buckets,
    /// Columns put out, by index; [`Table::row_key_index`] is `_row_key`.
    pub columns: Vec<usize>,
    /// Conditions that every row put out meets, over the table's columns.
    pub filter: Vec<Expr>,
    /// Direction.
    pub direction: Direction,
    /// Order.
    pub order: ScanOrder,
    /// Most rows put out.
    pub limit: Option<u64>,
    /// Rows of the first batch, where few may be enough: each later one reads twice as many. `None` leaves it
    /// to the limit.
    pub first_batch: Option<u64>,
}

/// Batches as they are read.
pub type BatchStream = Pin<Box<dyn Stream<Item = Result<RecordBatch, TableError>> + Send>>;

/// A running scan: the synchronous lane.
pub struct Scan {
    table: Arc<Table>,
    rows: Rows,
    decoder: RowDecoder,
    schema: SchemaRef,
    /// Place among the decoded columns of each table column that the filter needs.
    decoded: Vec<usize>,
    put_out: usize,
    filter: Option<Filter>,
    remaining: Option<u64>,
    batch_rows: usize,
    context: ScanContext,
    done: bool,
}

enum Rows {
    ByBucket(Vec<BucketScan>),
    Merged(Merge),
}

impl Scan {
    pub(crate) fn new(view: Arc<ReadView>, request: ScanRequest, context: ScanContext) -> Result<Self, TableError> {
        let ScanRequest { table, ranges, buckets, columns, filter, direction, order, limit, first_batch } = request;
        let mut decoded = columns.clone();
        for column in filter.iter().flat_map(Expr::columns) {
            if !decoded.contains(&column) {
                decoded.push(column);
            }
        }
        // With a filter, the first batch is as small as the limit, so that few rows are read for few.
        let batch_rows = first_batch.or(limit).map_or(BATCH_ROWS_MAX, |n| n.clamp(1, BATCH_ROWS_MAX as u64) as usize);
        let decoder = RowDecoder::new(&table, &decoded, batch_rows.min(1024));
        let fields: Vec<_> = columns.iter().map(|&c| table.schema().field(c).clone()).collect();
        let bucket_scan = |bucket| {
            let ranges = ranges.ranges(bucket, direction);
            let families = decoder.other_families();
            BucketScan::new(view.clone(), table.clone(), bucket, direction, ranges, families, context.clone())
        };
        let mut scans: Vec<BucketScan> = match (table.def().key.salt, buckets) {
            (None, _) => vec![bucket_scan(None)],
            (Some(salt), Buckets::All) => (0..salt.buckets).map(|b| bucket_scan(Some(b as u8))).collect(),
            (Some(_), Buckets::Some(list)) => list.into_iter().map(|b| bucket_scan(Some(b))).collect(),
        };
        let rows = match order {
            ScanOrder::Merged if scans.len() > 1 => Rows::Merged(Merge::new(scans, direction)),
            _ => {
                scans.reverse();
                Rows::ByBucket(scans)
            }
        };
        let schema = Arc::new(Schema::new(fields));
        let put_out = columns.len();
        let done = limit == Some(0);
        let filter = if filter.is_empty() { None } else { Some(Filter::new(filter)?) };
        Ok(Self { table, rows, decoder, schema, decoded, put_out, filter, remaining: limit, batch_rows, context, done })
    }

    /// The schema of the batches: the columns asked for, named as declared.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The next batch, never an empty one; `None` at the end.
    ///
    /// # Errors
    /// What the store or the filter fail with; cancel, timeout and budget.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, TableError> {
        let started = Instant::now();
        let batch = self.read_batch();
        let micros = started.elapsed().as_micros() as u64;
        self.context.counters.micros.fetch_add(micros, Relaxed);
        if let Ok(Some(batch)) = &batch {
            self.context.counters.batches.fetch_add(1, Relaxed);
            self.context.counters.rows_out.fetch_add(batch.num_rows() as u64, Relaxed);
        }
        batch
    }

    fn read_batch(&mut self) -> Result<Option<RecordBatch>, TableError> {
        while !self.done {
            self.context.check()?;
            let wanted = match (&self.filter, self.remaining) {
                (None, Some(remaining)) => remaining.min(BATCH_ROWS_MAX as u64) as usize,
                _ => self.batch_rows,
            };
            let read = self.decode_rows(wanted)?;
            self.done = read < wanted;
            self.batch_rows = (self.batch_rows * 2).min(BATCH_ROWS_MAX);
            let batch = self.filtered(read)?;
            if batch.num_rows() == 0 {
                continue;
            }
            return Ok(Some(self.limited(batch)));
        }
        Ok(None)
    }

    /// Decodes up to `wanted` rows; fewer only at the end.
    fn decode_rows(&mut self, wanted: usize) -> Result<usize, TableError> {
        let (mut read, mut unbooked, mut bytes) = (0, 0, 0);
        while read < wanted {
            let Some(pair) = self.rows.next()? else { break };
            self.decoder.append(&self.table, &pair)?;
            read += 1;
            unbooked += 1;
            bytes += pair.bytes();
            if unbooked == CHECK_ROWS {
                self.context.book(unbooked, bytes)?;
                (unbooked, bytes) = (0, 0);
            }
        }
        self.context.book(unbooked, bytes)?;
        Ok(read)
    }

    /// The decoded rows that meet the filter, with the columns put out.
    fn filtered(&mut self, rows: usize) -> Result<RecordBatch, TableError> {
        let mut columns = self.decoder.finish();
        let mut rows = rows;
        if let Some(wanted) = &self.filter
            && rows > 0
        {
            let mut by_index: Vec<Option<ArrayRef>> = vec![None; self.table.row_key_index() + 1];
            for (&index, array) in self.decoded.iter().zip(&columns) {
                if let Some(place) = by_index.get_mut(index) {
                    *place = Some(array.clone());
                }
            }
            let mask = wanted.mask(&by_index, rows)?;
            columns.truncate(self.put_out);
            if mask.true_count() < rows {
                rows = mask.true_count();
                columns = columns.iter().map(|c| filter(c, &mask)).collect::<Result<_, _>>()?;
            }
        }
        columns.truncate(self.put_out);
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?)
    }

    fn limited(&mut self, batch: RecordBatch) -> RecordBatch {
        let Some(remaining) = self.remaining else { return batch };
        let rows = (batch.num_rows() as u64).min(remaining);
        self.remaining = Some(remaining - rows);
        self.done |= remaining == rows;
        if rows < batch.num_rows() as u64 { batch.slice(0, rows as usize) } else { batch }
    }
}

impl Rows {
    fn next(&mut self) -> Result<Option<StoredPair>, TableError> {
        match self {
            Rows::Merged(merge) => merge.next(),
            Rows::ByBucket(scans) => loop {
                let Some(scan) = scans.last_mut() else { return Ok(None) };
                match scan.next()? {
                    Some(pair) => return Ok(Some(pair)),
                    None => scans.pop(),
                };
            },
        }
    }
}

/// Merges buckets in row-key order: holds one row a bucket, so that the first n
/// rows read at most n + buckets - 1.
struct Merge {
    scans: Vec<BucketScan>,
    heads: BinaryHeap<Head>,
    direction: Direction,
    /// The bucket whose head was put out last and must be filled again; all of them at first.
    to_fill: Vec<usize>,
}

struct Head {
    pair: StoredPair,
    bucket: usize,
    direction: Direction,
}

impl Ord for Head {
    /// The heap puts out its greatest: the first row in the direction of travel.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_key = self.pair.logical_key(true).cmp(other.pair.logical_key(true));
        let by_key = if self.direction == Direction::Forward { by_key.reverse() } else { by_key };
        by_key.then(other.bucket.cmp(&self.bucket))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}

impl Merge {
    fn new(scans: Vec<BucketScan>, direction: Direction) -> Self {
        let to_fill = (0..scans.len()).collect();
        Self { scans, heads: BinaryHeap::new(), direction, to_fill }
    }

    fn next(&mut self) -> Result<Option<StoredPair>, TableError> {
        for bucket in std::mem::take(&mut self.to_fill) {
            if let Some(scan) = self.scans.get_mut(bucket)
                && let Some(pair) = scan.next()?
            {
                self.heads.push(Head { pair, bucket, direction: self.direction });
            }
        }
        Ok(self.heads.pop().map(|head| {
            self.to_fill.push(head.bucket);
            head.pair
        }))
    }
}
