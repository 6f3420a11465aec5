//! Scans: ranges of a table into batches.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use saltwing_access::{KeySet, Projection, RowSource, ScanContext, ScanOrder, ScanRoute, TableError, Totals};
use saltwing_expr::RowValues;
use saltwing_heat::KeyPrefix;
use saltwing_store::Direction;
use tracing::Span;

use crate::engine::table_rows::TableRows;
use crate::format::row_order::RowSelection;
use crate::format::summary::Summary;
use crate::scan::bucket::BucketScan;
use crate::scan::conditions::Conditions;
use crate::scan::cursor::WalkContext;
use crate::scan::cursor::segment::{RowSegment, RowSegments};
use crate::scan::decode::RowDecoder;
use crate::scan::merged::Merge;
use crate::scan::row_values::{RowReader, RowShape};
use crate::scan::selector::Selector;
use crate::scan::shape::ScanShape;
use crate::scan::skip::Skipper;

/// Rows of a full batch.
pub(crate) const BATCH_ROWS_MAX: usize = 8192;
/// Rows between checks of budget and cancel, inside a batch.
pub(crate) const CHECK_ROWS: usize = 1024;

/// A running scan.
pub(crate) struct Scan {
    pub(crate) shape: Arc<ScanShape>,
    pub(crate) rows: Rows,
    decoder: Option<Box<RowDecoder>>,
    pub(crate) direction: Direction,
    pub(crate) remaining: Option<u64>,
    /// Tests rows by conditions before they are decoded.
    pub(crate) selector: Option<Box<Selector>>,
    /// The rows of the decoded batch for which a condition is unknown.
    unknown: Vec<usize>,
    pub(crate) batch_rows: usize,
    /// Rows of the batch before.
    rows_before: usize,
    pub(crate) context: ScanContext,
    pub(crate) done: bool,
    /// The state between rows, if rows are read as values.
    pub(crate) reader: RowReader,
    /// Lasts as long as the scan.
    _span: Span,
}

pub(crate) enum Rows {
    ByBucket(Vec<BucketScan>),
    Merged(Merge),
}

impl Scan {
    /// A scan of a table's rows in a snapshot. Rows expire by the time `now_ms`.
    pub(crate) fn new(
        rows: TableRows,
        now_ms: i64,
        shape: Arc<ScanShape>,
        route: ScanRoute,
        context: ScanContext,
    ) -> Result<Self, TableError> {
        let ScanRoute { keys, direction, order, limit, first_batch } = route;
        let table = shape.table();
        let expired_ms = table.expired_ms(now_ms);
        let walk_context = |zones: Option<Arc<Conditions>>| {
            Arc::new(WalkContext { rows, scan: context.clone(), direction, expired_ms, zones })
        };
        let rows = match keys {
            KeySet::Range(_) if limit == Some(0) => Rows::ByBucket(Vec::new()),
            KeySet::Range(range) => {
                let walks = walk_context(shape.conditions().cloned());
                Rows::ByBucket(vec![BucketScan::over(range, walks)])
            }
            KeySet::Ranges { ranges, buckets } => {
                // If buckets are merged and the reader may stop early, rows skipped in advance would show in the
                // counters.
                let is_merged = order == ScanOrder::Merged && limit.or(first_batch).is_some();
                let walks = walk_context(shape.conditions().filter(|_| !is_merged).cloned());
                let bucket_scan = |bucket| {
                    let skipper = ranges
                        .skip_filter(direction)
                        .map(|known| Skipper::new(known, direction, bucket, context.clone()));
                    let ranges = ranges.ranges(bucket, direction);
                    BucketScan::new(walks.clone(), bucket, ranges, skipper, is_merged)
                };
                let mut scans: Vec<BucketScan> = buckets.of(&table.def().key).into_iter().map(bucket_scan).collect();
                match order {
                    ScanOrder::Merged if scans.len() > 1 => Rows::Merged(Merge::new(scans, direction)),
                    _ => {
                        scans.reverse();
                        Rows::ByBucket(scans)
                    }
                }
            }
        };
        Ok(Self::of(shape, rows, (direction, limit, first_batch), context))
    }

    fn of(
        shape: Arc<ScanShape>,
        rows: Rows,
        (direction, limit, first_batch): (Direction, Option<u64>, Option<u64>),
        context: ScanContext,
    ) -> Self {
        // With a filter, the first batch is as small as the limit, so that few rows are read for few.
        let batch_rows = first_batch.or(limit).map_or(BATCH_ROWS_MAX, |n| n.clamp(1, BATCH_ROWS_MAX as u64) as usize);
        let (remaining, done) = (limit, limit == Some(0));
        let selector = shape.conditions_of_rows().map(|all| Box::new(Selector::new(all.clone())));
        let (decoder, unknown, rows_before, reader) = (None, Vec::new(), 0, RowReader::default());
        let name = &shape.table().def().name;
        let _span = tracing::debug_span!(target: "saltwing::scan", "scan", table = %name, limit);
        Self {
            shape,
            rows,
            decoder,
            direction,
            remaining,
            selector,
            unknown,
            batch_rows,
            rows_before,
            context,
            done,
            reader,
            _span,
        }
    }

    /// The decoder of columns, created at the first use.
    pub(crate) fn decoder(&mut self) -> &mut RowDecoder {
        decoder(&mut self.decoder, &self.shape)
    }

    pub(crate) fn read_columns(&mut self) -> Result<Option<(Vec<ArrayRef>, usize)>, TableError> {
        while !self.done {
            self.context.check()?;
            let wanted = match (self.shape.is_filtered(), self.remaining) {
                (false, Some(remaining)) => remaining.min(BATCH_ROWS_MAX as u64) as usize,
                _ => self.batch_rows,
            };
            let (read, decoded) = self.decode_rows(wanted)?;
            self.done = read < wanted;
            self.batch_rows = (self.batch_rows * 2).min(BATCH_ROWS_MAX);
            if decoded == 0 {
                continue;
            }
            let columns = self.decoder().finish()?;
            let (columns, rows) = self.shape.put_out(columns, decoded, &self.unknown)?;
            if rows > 0 {
                return Ok(Some(self.limited(columns, rows)));
            }
        }
        Ok(None)
    }

    /// Reads up to `wanted` rows, and decodes those that conditions do not rule out: how many were read, fewer only at
    /// the end, and how many of them decoded.
    fn decode_rows(&mut self, wanted: usize) -> Result<(usize, usize), TableError> {
        let (mut read, mut decoded) = (0, 0);
        self.unknown.clear();
        let mut segments = RowSegments::new();
        while read < wanted {
            self.rows.next_several((wanted - read).min(CHECK_ROWS), &mut segments)?;
            if segments.is_empty() {
                break;
            }
            decoded += match self.selector {
                None => self.decode_all(&segments, decoded, wanted)?,
                Some(_) => self.decode_selected(&segments, decoded, wanted)?,
            };
            self.count_blocks(&segments, self.shape.reads_columns());
            read += self.book(&segments, self.shape.reads_columns())?;
        }
        self.rows_before = decoded;
        Ok((read, decoded))
    }

    /// Decodes the rows of segments, together: how many.
    fn decode_all(&mut self, segments: &[RowSegment], decoded: usize, wanted: usize) -> Result<usize, TableError> {
        let kept =
            segments.iter().filter(|segment| !matches!(segment, RowSegment::Pruned(_))).map(RowSegment::len).sum();
        self.make_room(decoded, kept, wanted);
        decoder(&mut self.decoder, &self.shape).append(self.shape.table(), segments, self.direction)?;
        Ok(kept)
    }

    /// Decodes those rows of segments that conditions do not rule out: how many.
    fn decode_selected(&mut self, segments: &[RowSegment], decoded: usize, wanted: usize) -> Result<usize, TableError> {
        let mut all_kept = 0;
        for segment in segments {
            let kept = self.select(segment)?;
            if kept == 0 {
                continue;
            }
            self.make_room(decoded + all_kept, kept, wanted);
            if let Some(selector) = &self.selector {
                selector.unknown(segment, self.direction, decoded + all_kept, &mut self.unknown);
            }
            self.decode(segment)?;
            all_kept += kept;
        }
        Ok(all_kept)
    }

    /// Makes room for the batch that `kept` rows are the first of, where none is decoded yet.
    fn make_room(&mut self, decoded: usize, kept: usize, wanted: usize) {
        if decoded == 0 && kept > 0 {
            // A point reserves space for one row; a range for at most the wanted rows, if there is a limit; a continued
            // range for the rows of the last batch.
            let most = if kept > 1 && self.remaining.is_some() { CHECK_ROWS } else { self.rows_before };
            let expected = kept.max(most.min(wanted));
            self.decoder().begin(expected);
        }
    }

    /// Counts the blocks of segments, if parts of them were read outside the cursor.
    pub(crate) fn count_blocks(&self, segments: &[RowSegment], is_read: bool) {
        if is_read {
            let blocks = segments.iter().filter(|segment| segment.is_uncounted()).count();
            self.context.counters.count_blocks(blocks as u64);
        }
    }

    /// Books segments: how many rows they have.
    pub(crate) fn book(&self, segments: &[RowSegment], is_read: bool) -> Result<usize, TableError> {
        let (mut rows, mut bytes) = (0, 0);
        for segment in segments {
            rows += segment.len();
            bytes += if is_read { segment.bytes() } else { 0 };
        }
        self.count_read(segments);
        self.context.charge(rows as u64, bytes)?;
        Ok(rows)
    }

    /// Counts an access for rows that were read together, by the first of their keys that is known: the last key of a block is in the
    /// directory, and no block is read to be counted. Pruned rows are no access.
    fn count_read(&self, segments: &[RowSegment]) {
        let known = |segment: &RowSegment| match segment {
            RowSegment::Row { key, .. } => Some(KeyPrefix::of(key)),
            RowSegment::Block { block, .. } => Some(KeyPrefix::of(&block.summary.last_key)),
            RowSegment::Pruned(_) => None,
        };
        if segments.iter().any(|segment| !matches!(segment, RowSegment::Pruned(_))) {
            self.shape.table().count_reads(1, |_| segments.iter().find_map(known));
        }
    }

    /// How many rows of a segment are not ruled out before they are decoded.
    pub(crate) fn select(&mut self, segment: &RowSegment) -> Result<usize, TableError> {
        match (segment, &mut self.selector) {
            (RowSegment::Pruned(_), _) => Ok(0),
            (segment, None) => Ok(segment.len()),
            (segment, Some(selector)) => selector.select(self.shape.table(), segment),
        }
    }

    /// Decodes those rows of a segment that were selected of it, which are some.
    pub(crate) fn decode(&mut self, segment: &RowSegment) -> Result<(), TableError> {
        let decoder = decoder(&mut self.decoder, &self.shape);
        let list = self.selector.as_mut().and_then(|selector| selector.list(segment, self.direction));
        match (segment, list) {
            (RowSegment::Block { block, .. }, Some(list)) => {
                decoder.append_picked(self.shape.table(), block, RowSelection::List(list))
            }
            _ => decoder.append(self.shape.table(), std::slice::from_ref(segment), self.direction),
        }
    }

    fn limited(&mut self, columns: Vec<ArrayRef>, rows: usize) -> (Vec<ArrayRef>, usize) {
        let Some(remaining) = self.remaining else { return (columns, rows) };
        let taken = (rows as u64).min(remaining);
        self.remaining = Some(remaining - taken);
        self.done |= remaining == taken;
        let taken = taken as usize;
        if taken == rows {
            return (columns, rows);
        }
        (columns.iter().map(|column| column.slice(0, taken)).collect(), taken)
    }
}

impl RowSource for Scan {
    fn schema(&self) -> &SchemaRef {
        self.shape.schema()
    }

    fn next_columns(&mut self) -> Result<Option<(Vec<ArrayRef>, usize)>, TableError> {
        let started = Instant::now();
        let columns = self.read_columns();
        let micros = started.elapsed().as_micros() as u64;
        self.context.counters.micros.fetch_add(micros, Relaxed);
        if let Ok(Some((_, rows))) = &columns {
            self.context.counters.batches.fetch_add(1, Relaxed);
            self.context.counters.rows_out.fetch_add(*rows as u64, Relaxed);
        }
        columns
    }

    fn next_values(&mut self, columns: &Projection, values: &mut RowValues) -> Result<bool, TableError> {
        let table = self.shape.table();
        let shape =
            columns.compiled().get_or_compile(|| Ok(RowShape::new(table, columns.columns().iter().copied())))?;
        self.next_row_values(&shape, values)
    }

    fn totals(&mut self) -> Result<Totals, TableError> {
        let started = Instant::now();
        let totals = self.add_up();
        let counters = &self.context.counters;
        counters.micros.fetch_add(started.elapsed().as_micros() as u64, Relaxed);
        if let Ok(totals) = &totals {
            counters.batches.fetch_add(1, Relaxed);
            counters.rows_out.fetch_add(totals.rows, Relaxed);
        }
        totals
    }
}

/// The decoder of a scan, created at the first use.
fn decoder<'d>(known: &'d mut Option<Box<RowDecoder>>, shape: &ScanShape) -> &'d mut RowDecoder {
    known.get_or_insert_with(|| Box::new(RowDecoder::new(shape.columns())))
}

impl Rows {
    /// As [`Walk::pass_blocks`](crate::scan::cursor::Walk::pass_blocks), where buckets are read one after the other.
    pub(crate) fn pass_blocks(&mut self, takes: impl FnMut(&Summary) -> bool) -> u64 {
        match self {
            Rows::ByBucket(scans) => scans.last_mut().map_or(0, |scan| scan.pass_blocks(takes)),
            Rows::Merged(_) => 0,
        }
    }

    /// The next rows in place of what `out` held, `most` at most and none at the end.
    pub(crate) fn next_several(&mut self, most: usize, out: &mut RowSegments) -> Result<(), TableError> {
        out.clear();
        match self {
            Rows::Merged(merge) => out.extend(merge.next(most)?),
            Rows::ByBucket(scans) => {
                while let Some(scan) = scans.last_mut()
                    && !scan.next_several(most, out)?
                {
                    scans.pop();
                }
            }
        }
        Ok(())
    }
}
