//! A scan along a route: its rows, filtered, as columns or values.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};

use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use saltwing_access::{Projection, RowSource, ScanContext, ScanRoute, ScanSpec, Table, TableError, Totals};
use saltwing_expr::{ColumnBuilder, Filter, RowValues};
use saltwing_types::{Expr, Value};

use super::route_rows::{Next, RouteRows};
use crate::cluster::Cluster;
use crate::phoenix_table::PhoenixTable;
use crate::rows::{ReadRow, RowReader};

/// Most rows of a batch.
const BATCH_ROWS: usize = 4096;

/// A scan along a route.
pub(crate) struct RouteScan {
    cluster: Arc<Cluster>,
    table: Arc<Table>,
    phoenix: Arc<PhoenixTable>,
    columns: Arc<[usize]>,
    /// Columns that the filter reads.
    filtered: Vec<usize>,
    filter: Option<Filter>,
    schema: SchemaRef,
    route: ScanRoute,
    remaining: Option<u64>,
    batch_rows: usize,
    context: ScanContext,
    /// The rows and what reads them, from the first call on, which tells the columns that are read.
    started: Option<(Arc<RowReader>, RouteRows)>,
}

impl RouteScan {
    /// A scan; nothing is read.
    ///
    /// # Errors
    /// Errors of the filter's compilation.
    pub(crate) fn new(
        cluster: &Arc<Cluster>,
        spec: &ScanSpec,
        route: ScanRoute,
        context: ScanContext,
    ) -> Result<Self, TableError> {
        let table = spec.table();
        let filter = if spec.is_filtered() { Some(Filter::new(spec.filter().to_vec())?) } else { None };
        let few = route.first_batch.or(route.limit);
        Ok(Self {
            cluster: cluster.clone(),
            table: table.clone(),
            phoenix: PhoenixTable::of(table)?,
            columns: spec.columns().into(),
            filtered: spec.filter().iter().flat_map(Expr::columns).collect(),
            filter,
            schema: spec.schema().clone(),
            remaining: route.limit,
            batch_rows: few.map_or(BATCH_ROWS, |rows| rows.clamp(1, BATCH_ROWS as u64) as usize),
            route,
            context,
            started: None,
        })
    }

    /// Starts to read these columns, and those of the filter. Does not wait.
    fn start(&mut self, columns: &[usize]) -> Result<&mut RouteRows, TableError> {
        if self.started.is_none() {
            let all: BTreeSet<usize> = columns.iter().chain(&self.filtered).copied().collect();
            let reader = Arc::new(RowReader::new(&self.table, self.phoenix.clone(), all.into_iter().collect()));
            let is_whole = self.filter.is_none();
            let (table, context) = (&self.table, &self.context);
            let rows = RouteRows::start(&self.cluster, table, &self.route, reader.clone(), is_whole, context)?;
            self.started = Some((reader, rows));
        }
        self.started.as_mut().map(|(_, rows)| rows).ok_or(TableError::NoSuchTable(self.table.def().id.0))
    }

    /// The next rows that meet the filter; none at the end.
    fn next_rows(&mut self, columns: &[usize]) -> Result<Vec<ReadRow>, TableError> {
        loop {
            self.context.check()?;
            let wanted = match (&self.filter, self.remaining) {
                (None, Some(remaining)) => remaining.min(BATCH_ROWS as u64) as usize,
                _ => self.batch_rows,
            };
            let (mut rows, mut is_end) = (Vec::new(), wanted == 0 || self.remaining == Some(0));
            while !is_end && rows.len() < wanted {
                match self.start(columns)?.next(rows.is_empty())? {
                    Next::Row(row) => rows.push(row),
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
            if is_end || self.remaining == Some(0) {
                self.remaining = Some(0);
                if let Some((_, rows)) = &mut self.started {
                    rows.end();
                }
            }
            if is_end || !kept.is_empty() {
                self.context.counters.rows_out.fetch_add(kept.len() as u64, Relaxed);
                self.context.counters.batches.fetch_add(u64::from(!kept.is_empty()), Relaxed);
                return Ok(kept);
            }
        }
    }

    fn filtered(&self, rows: Vec<ReadRow>) -> Result<Vec<ReadRow>, TableError> {
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

    /// Where the values of a column are in the rows that are read.
    fn place(&self, column: usize) -> Result<usize, TableError> {
        let place = self.started.as_ref().and_then(|(reader, _)| reader.place(column));
        debug_assert!(place.is_some(), "column {column} is not read");
        place.ok_or(TableError::NoSuchTable(self.table.def().id.0))
    }

    fn column(&self, column: usize, rows: &[ReadRow]) -> Result<ArrayRef, TableError> {
        let (place, ty) = (self.place(column)?, self.table.column_type(column));
        let mut builder = ColumnBuilder::new(ty, rows.len());
        for row in rows {
            let appended = builder.append_value(row.values.get(place).unwrap_or(&Value::Null));
            appended.map_err(|source| {
                let name = self.table.column_name(column).map(|name| format!("{}.{name}", self.table.def().name));
                TableError::Value { column: name, source }
            })?;
        }
        Ok(builder.finish())
    }
}

impl RowSource for RouteScan {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn poll_ready(&mut self, task: &mut Context<'_>) -> Option<Poll<()>> {
        let columns = self.columns.clone();
        match self.start(&columns) {
            Ok(rows) => Some(rows.poll_ready(task)),
            // The next read gives the error.
            Err(_) => Some(Poll::Ready(())),
        }
    }

    fn next_columns(&mut self) -> Result<Option<(Vec<ArrayRef>, usize)>, TableError> {
        let columns = self.columns.clone();
        let rows = self.next_rows(&columns)?;
        if rows.is_empty() {
            return Ok(None);
        }
        let arrays = columns.iter().map(|&column| self.column(column, &rows)).collect::<Result<_, _>>()?;
        Ok(Some((arrays, rows.len())))
    }

    fn next_values(&mut self, columns: &Projection, values: &mut RowValues) -> Result<bool, TableError> {
        let rows = self.next_rows(columns.columns())?;
        if rows.is_empty() {
            return Ok(false);
        }
        let places = columns.columns().iter().map(|column| self.place(*column)).collect::<Result<Vec<_>, _>>()?;
        for row in &rows {
            values.push_row(places.iter().map(|place| row.values.get(*place).cloned().unwrap_or(Value::Null)));
        }
        Ok(true)
    }

    fn totals(&mut self) -> Result<Totals, TableError> {
        let (table, columns) = (self.table.clone(), self.columns.clone());
        (self as &mut dyn RowSource).totals_of_columns(&table, &columns)
    }
}
