//! A scan: pages of regions, bucket after bucket or merged.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use saltwing_access::{
    Direction, Projection, RangeIter, RowSource, ScanContext, ScanOrder, ScanRoute, ScanSpec, Table, TableError, Total,
    Totals,
};
use saltwing_expr::{ColumnBuilder, Filter, RowValues, value_at};
use saltwing_types::{Expr, Value};

use crate::client::Link;
use crate::cluster::{CallError, Keys};
use crate::rows::{StoredRow, value};

/// Most ranges that a call reads.
const RANGES_MAX: usize = 1024;
/// Most rows of a batch.
const BATCH_ROWS: usize = 1024;

type Row = (Vec<u8>, Arc<StoredRow>);

pub(crate) struct RemoteScan {
    table: Arc<Table>,
    columns: Vec<usize>,
    /// Columns that the filter reads.
    filtered: Vec<usize>,
    filter: Option<Filter>,
    schema: SchemaRef,
    /// Those to be read, in order; of a merged scan all are read by turns.
    buckets: VecDeque<BucketScan>,
    is_merged: bool,
    direction: Direction,
    remaining: Option<u64>,
    batch_rows: usize,
    context: ScanContext,
}

/// What a scan reads in one bucket.
struct BucketScan {
    link: Link,
    table: Arc<Table>,
    bucket: Option<u8>,
    direction: Direction,
    ranges: RangeIter,
    /// The next ranges, in the order of the scan: a call reads several.
    left: VecDeque<RangeLeft>,
    page: VecDeque<Row>,
    page_rows: usize,
    is_by_region: bool,
    context: ScanContext,
}

impl RemoteScan {
    pub(crate) fn new(
        link: &Link,
        spec: &ScanSpec,
        route: ScanRoute,
        context: ScanContext,
    ) -> Result<Self, TableError> {
        let ScanRoute { keys, direction, order, limit, first_batch } = route;
        let table = spec.table();
        // In the answer to a scan. A call that aggregates reads a whole region.
        let page_rows =
            limit.or(first_batch).map_or(link.page_rows, |rows| rows.clamp(1, link.page_rows as u64) as usize);
        let of_bucket = |bucket: Option<u8>| BucketScan {
            link: link.clone(),
            table: table.clone(),
            bucket,
            direction,
            ranges: keys.ranges(bucket, direction),
            left: VecDeque::new(),
            page: VecDeque::new(),
            page_rows,
            is_by_region: false,
            context: context.clone(),
        };
        let buckets: VecDeque<BucketScan> = keys.buckets(&table.def().key).into_iter().map(of_bucket).collect();
        let filtered = spec.filter().iter().flat_map(Expr::columns).collect();
        let filter = if spec.is_filtered() { Some(Filter::new(spec.filter().to_vec())?) } else { None };
        let batch_rows = first_batch.or(limit).map_or(BATCH_ROWS, |rows| rows.clamp(1, BATCH_ROWS as u64) as usize);
        Ok(Self {
            table: table.clone(),
            columns: spec.columns().to_vec(),
            filtered,
            filter,
            schema: spec.schema().clone(),
            is_merged: order == ScanOrder::Merged && buckets.len() > 1,
            buckets,
            direction,
            remaining: limit,
            batch_rows,
            context,
        })
    }

    /// The same, whose calls read whole regions.
    pub(crate) fn by_region(mut self) -> Self {
        self.buckets.iter_mut().for_each(|bucket| (bucket.page_rows, bucket.is_by_region) = (usize::MAX, true));
        self
    }

    /// The next rows that meet the filter, as values of the scan's columns; `None` at the end.
    pub(crate) fn next_rows_of_values(&mut self) -> Result<Option<Vec<Vec<Value>>>, TableError> {
        let rows = self.next_rows()?;
        let of_row = |(key, row): &Row| self.columns.iter().map(|&c| value(&self.table, c, key, row)).collect();
        Ok(if rows.is_empty() { None } else { Some(rows.iter().map(of_row).collect::<Result<_, _>>()?) })
    }

    /// The next row, whatever the filter says.
    fn next_row(&mut self) -> Result<Option<Row>, TableError> {
        if !self.is_merged {
            while let Some(bucket) = self.buckets.front_mut() {
                match bucket.next()? {
                    Some(row) => return Ok(Some(row)),
                    None => drop(self.buckets.pop_front()),
                }
            }
            return Ok(None);
        }
        let mut first: Option<(usize, Vec<u8>)> = None;
        for (place, bucket) in self.buckets.iter_mut().enumerate() {
            let skipped = usize::from(bucket.bucket.is_some());
            let Some((key, _)) = bucket.peek()? else { continue };
            let logical = key.get(skipped..).unwrap_or_default();
            if first.as_ref().is_none_or(|(_, known)| self.direction.is_before(logical, known)) {
                first = Some((place, logical.to_vec()));
            }
        }
        match first.and_then(|(place, _)| self.buckets.get_mut(place)) {
            Some(bucket) => bucket.next(),
            None => Ok(None),
        }
    }

    /// The next rows that meet the filter; none at the end.
    fn next_rows(&mut self) -> Result<Vec<Row>, TableError> {
        loop {
            self.context.check()?;
            let wanted = match (&self.filter, self.remaining) {
                (None, Some(remaining)) => remaining.min(BATCH_ROWS as u64) as usize,
                _ => self.batch_rows,
            };
            let mut rows = Vec::new();
            while self.remaining != Some(0) && rows.len() < wanted {
                let Some((key, row)) = self.next_row()? else { break };
                self.context.charge(1, (key.len() + row.cells.len()) as u64)?;
                rows.push((key, row));
            }
            let is_end = rows.len() < wanted || wanted == 0;
            self.batch_rows = (self.batch_rows * 2).min(BATCH_ROWS);
            let mut kept = self.filtered(rows)?;
            if let Some(remaining) = &mut self.remaining {
                kept.truncate(usize::try_from(*remaining).unwrap_or(usize::MAX));
                *remaining -= kept.len() as u64;
            }
            if is_end {
                self.buckets.clear();
            }
            if is_end || !kept.is_empty() {
                self.context.counters.rows_out.fetch_add(kept.len() as u64, Relaxed);
                self.context.counters.batches.fetch_add(u64::from(!kept.is_empty()), Relaxed);
                return Ok(kept);
            }
        }
    }

    fn filtered(&self, rows: Vec<Row>) -> Result<Vec<Row>, TableError> {
        let Some(filter) = self.filter.as_ref().filter(|_| !rows.is_empty()) else { return Ok(rows) };
        let mut columns: Vec<Option<ArrayRef>> = vec![None; self.table.width()];
        for &column in &self.filtered {
            if let Some(place) = columns.get_mut(column) {
                *place = Some(self.column(column, &rows)?);
            }
        }
        let mask = filter.mask(&columns, rows.len())?;
        Ok(rows.into_iter().zip(mask.values()).filter_map(|(row, meets)| meets.then_some(row)).collect())
    }

    fn column(&self, column: usize, rows: &[Row]) -> Result<ArrayRef, TableError> {
        let mut builder = ColumnBuilder::new(self.table.column_type(column), rows.len());
        for (key, row) in rows {
            let name = || self.table.def().columns.get(column).map(|c| format!("{}.{}", self.table.def().name, c.name));
            let appended = builder.append_value(&value(&self.table, column, key, row)?);
            appended.map_err(|source| TableError::Value { column: name(), source })?;
        }
        Ok(builder.finish())
    }
}

impl RowSource for RemoteScan {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn next_columns(&mut self) -> Result<Option<(Vec<ArrayRef>, usize)>, TableError> {
        let rows = self.next_rows()?;
        if rows.is_empty() {
            return Ok(None);
        }
        let columns = self.columns.iter().map(|&column| self.column(column, &rows)).collect::<Result<_, _>>()?;
        Ok(Some((columns, rows.len())))
    }

    fn next_values(&mut self, columns: &Projection, values: &mut RowValues) -> Result<bool, TableError> {
        let rows = self.next_rows()?;
        for (key, row) in &rows {
            let of = |&column: &usize| value(&self.table, column, key, row);
            values.push_row(columns.columns().iter().map(of).collect::<Result<Vec<Value>, _>>()?);
        }
        Ok(!rows.is_empty())
    }

    fn totals(&mut self) -> Result<Totals, TableError> {
        let mut totals = Totals { rows: 0, columns: vec![Total::default(); self.columns.len()] };
        while let Some((columns, rows)) = self.next_columns()? {
            totals.rows += rows as u64;
            for ((array, &column), total) in columns.iter().zip(&self.columns).zip(&mut totals.columns) {
                for row in 0..rows {
                    *total = total.with(&value_at(array, row, self.table.column_type(column))?, 1);
                }
            }
        }
        Ok(totals)
    }
}

/// A range of keys that a scan has still to read, or the rest of one.
struct RangeLeft {
    keys: Keys,
    /// Whether the scan begins it by a seek.
    is_seek: bool,
}

impl BucketScan {
    fn next(&mut self) -> Result<Option<Row>, TableError> {
        self.fill()?;
        Ok(self.page.pop_front())
    }

    fn peek(&mut self) -> Result<Option<&Row>, TableError> {
        self.fill()?;
        Ok(self.page.front())
    }

    /// Reads pages until there is a row, or nothing left.
    fn fill(&mut self) -> Result<(), TableError> {
        while self.page.is_empty() {
            self.context.check()?;
            while self.left.len() < RANGES_MAX
                && let Some(range) = self.ranges.next()
            {
                let is_seek = !self.ranges.continues();
                self.left.push_back(RangeLeft { keys: range.in_bucket(self.bucket).into_bounds(), is_seek });
            }
            if self.left.is_empty() {
                return Ok(());
            }
            self.read_page()?;
            if !self.is_by_region {
                self.page_rows = (self.page_rows * 2).min(self.link.page_rows);
            }
        }
        Ok(())
    }

    /// Reads a page of the ranges that are left, in one region, however often that takes.
    fn read_page(&mut self) -> Result<(), TableError> {
        let id = self.table.def().id;
        let keys: Vec<Keys> = self.left.iter().map(|left| left.keys.clone()).collect();
        let Some((start, end)) = keys.first() else { return Ok(()) };
        let (region, (page, is_last)) = self.link.call_in(&self.context, &self.table, || {
            let place = match self.direction {
                Direction::Forward => Some(&start[..]),
                Direction::Reverse => end.as_deref(),
            };
            let region = self.link.cluster.locate(id, place, self.direction);
            let page = self.link.cluster.page(&region, &keys, self.direction, self.link.at, self.page_rows)?;
            Ok::<_, CallError>((region, page))
        })?;
        let last = page.last().map(|(key, _)| key.clone());
        // The keys of the scan up to here are read; `None` is all of them.
        let read_to = match (self.direction, is_last) {
            (Direction::Forward, false) => last.map(|last| [&last[..], &[0]].concat()),
            (Direction::Reverse, false) => last,
            (Direction::Forward, true) => region.end,
            (Direction::Reverse, true) => Some(region.start).filter(|start| !start.is_empty()),
        };
        let mut rows: BTreeMap<Vec<u8>, Arc<StoredRow>> = page.into_iter().collect();
        for (start, end) in self.pass(read_to.as_deref()) {
            for (key, row) in self.link.own_between(&self.table, &start, end.as_deref()) {
                match row {
                    Some(row) => drop(rows.insert(key.clone(), row.clone())),
                    None => drop(rows.remove(key)),
                }
            }
        }
        let alive = rows.into_iter().filter(|(_, row)| self.link.is_alive(&self.table, row));
        match self.direction {
            Direction::Forward => self.page.extend(alive),
            Direction::Reverse => self.page.extend(alive.rev()),
        }
        Ok(())
    }

    /// Takes the keys up to `read_to` away from the ranges that are left; gives them.
    fn pass(&mut self, read_to: Option<&[u8]>) -> Vec<Keys> {
        let mut passed = Vec::new();
        while let Some(RangeLeft { keys: (start, end), is_seek }) = self.left.pop_front() {
            let (read, rest) = match (self.direction, read_to) {
                (_, None) => (Some((start, end)), None),
                (Direction::Forward, Some(to)) if *start >= *to => (None, Some((start, end))),
                (Direction::Forward, Some(to)) if end.as_deref().is_none_or(|end| end > to) => {
                    (Some((start, Some(to.to_vec()))), Some((to.to_vec(), end)))
                }
                (Direction::Reverse, Some(to)) if end.as_deref().is_some_and(|end| end <= to) => {
                    (None, Some((start, end)))
                }
                (Direction::Reverse, Some(to)) if *start < *to => {
                    (Some((to.to_vec(), end)), Some((start, Some(to.to_vec()))))
                }
                (_, Some(_)) => (Some((start, end)), None),
            };
            if read.is_some() {
                self.context.counters.touch_bucket(self.bucket.unwrap_or(0));
                if is_seek {
                    self.context.counters.count_seek();
                }
            }
            let was_begun = read.is_some();
            passed.extend(read);
            if let Some(keys) = rest {
                self.left.push_front(RangeLeft { keys, is_seek: is_seek && !was_begun });
                break;
            }
        }
        passed
    }
}
