//! A scan: pages of regions, bucket after bucket, merged, or as they come.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};

use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use saltwing_access::{Projection, RowSource, ScanContext, ScanOrder, ScanRoute, ScanSpec, Table, TableError, Totals};
use saltwing_expr::{ColumnBuilder, Filter, RowValues};
use saltwing_types::{Expr, Value};

use crate::bucket_scan::{BucketScan, Row};
use crate::buckets::{Buckets, Next};
use crate::client::Link;
use crate::rows::value;

/// Most rows of a batch.
const BATCH_ROWS: usize = 1024;

pub(crate) struct RemoteScan {
    table: Arc<Table>,
    columns: Vec<usize>,
    /// Columns that the filter reads.
    filtered: Vec<usize>,
    filter: Option<Filter>,
    schema: SchemaRef,
    buckets: Buckets,
    remaining: Option<u64>,
    batch_rows: usize,
    context: ScanContext,
}

impl RemoteScan {
    pub(crate) fn new(
        link: &Link,
        spec: &ScanSpec,
        route: ScanRoute,
        context: ScanContext,
    ) -> Result<Self, TableError> {
        Self::with_pages(link, spec, route, context, link.page_rows)
    }

    /// A scan whose calls read whole regions.
    pub(crate) fn by_region(
        link: &Link,
        spec: &ScanSpec,
        route: ScanRoute,
        context: ScanContext,
    ) -> Result<Self, TableError> {
        Self::with_pages(link, spec, route, context, usize::MAX)
    }

    fn with_pages(
        link: &Link,
        spec: &ScanSpec,
        route: ScanRoute,
        context: ScanContext,
        page_rows_max: usize,
    ) -> Result<Self, TableError> {
        let ScanRoute { keys, direction, order, limit, first_batch } = route;
        let table = spec.table();
        let page_rows =
            limit.or(first_batch).map_or(page_rows_max, |rows| rows.clamp(1, page_rows_max as u64) as usize);
        let of_bucket = |bucket: Option<u8>| BucketScan {
            link: link.clone(),
            table: table.clone(),
            bucket,
            direction,
            ranges: keys.ranges(bucket, direction),
            left: VecDeque::new(),
            page_rows,
            page_rows_max,
            context: context.clone(),
        };
        let scans = keys.buckets(&table.def().key).into_iter().map(of_bucket);
        // Rows of later buckets may not be needed.
        let at_once = if order == ScanOrder::ByBucket && limit.is_some() { 1 } else { link.scans_at_once };
        let buckets = Buckets::new(scans, (order, direction), at_once, link.answer_max);
        let filtered = spec.filter().iter().flat_map(Expr::columns).collect();
        let filter = if spec.is_filtered() { Some(Filter::new(spec.filter().to_vec())?) } else { None };
        let batch_rows = first_batch.or(limit).map_or(BATCH_ROWS, |rows| rows.clamp(1, BATCH_ROWS as u64) as usize);
        Ok(Self {
            table: table.clone(),
            columns: spec.columns().to_vec(),
            filtered,
            filter,
            schema: spec.schema().clone(),
            buckets,
            remaining: limit,
            batch_rows,
            context,
        })
    }

    /// The next rows that meet the filter, as values of the scan's columns; `None` at the end.
    pub(crate) fn next_rows_of_values(&mut self) -> Result<Option<Vec<Vec<Value>>>, TableError> {
        let rows = self.next_rows()?;
        let of_row = |(key, row): &Row| self.columns.iter().map(|&c| value(&self.table, c, key, row)).collect();
        Ok(if rows.is_empty() { None } else { Some(rows.iter().map(of_row).collect::<Result<_, _>>()?) })
    }

    /// The next rows that meet the filter; none at the end.
    fn next_rows(&mut self) -> Result<Vec<Row>, TableError> {
        loop {
            self.context.check()?;
            let wanted = match (&self.filter, self.remaining) {
                (None, Some(remaining)) => remaining.min(BATCH_ROWS as u64) as usize,
                _ => self.batch_rows,
            };
            let (mut rows, mut is_end) = (Vec::new(), wanted == 0 || self.remaining == Some(0));
            while !is_end && rows.len() < wanted {
                match self.buckets.next(&self.context, rows.is_empty())? {
                    Next::Row((key, row)) => {
                        self.context.charge(1, (key.len() + row.cells.len()) as u64)?;
                        rows.push((key, row));
                    }
                    // The rows that are there need not wait for the others.
                    Next::Waits => break,
                    Next::End => is_end = true,
                }
            }
            self.batch_rows = (self.batch_rows * 2).min(BATCH_ROWS);
            let mut kept = self.filtered(rows)?;
            if let Some(remaining) = &mut self.remaining {
                kept.truncate(usize::try_from(*remaining).unwrap_or(usize::MAX));
                *remaining -= kept.len() as u64;
            }
            if is_end {
                self.buckets.end();
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

    fn poll_ready(&mut self, task: &mut Context<'_>) -> Option<Poll<()>> {
        self.buckets.poll_ready(task)
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
        let (table, columns) = (self.table.clone(), self.columns.clone());
        (self as &mut dyn RowSource).totals_of_columns(&table, &columns)
    }
}
