//! The groups of a route's rows, as region servers give them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::array::ArrayRef;
use saltwing_access::{
    Aggregation, Direction, PartialGroups, PartialSource, PartialValues, ScanContext, ScanOrder, ScanRoute, Table,
    TableError, Total,
};
use saltwing_expr::ColumnBuilder;
use saltwing_types::{SqlType, Value};

use super::computed_rows::ComputedRows;
use super::pushed::{Made, Pushed, Sums};
use super::single_rows::{SingleRows, types_of};
use crate::HbaseError;
use crate::cluster::Cluster;
use crate::phoenix_table::PhoenixTable;
use crate::rows::{ReadRow, cells_of};
use crate::scan::{Next, RouteRows, RouteScan};

/// Most groups of a batch.
const BATCH_GROUPS: usize = 4096;
/// As many INTEGERs have a sum of 64 bits, whatever they are.
const SUMMED_MAX: u64 = 1 << 32;

/// The groups of a route's rows.
pub(crate) struct RegionGroups {
    reader: Arc<ComputedRows>,
    rows: RouteRows,
    /// The columns of the groups and calls, as places among those of the scan, and the types of these.
    groups: Vec<usize>,
    ends: Vec<Option<usize>>,
    types: Vec<SqlType>,
    /// The start of another aggregation, if a sum of this one may have wrapped. It is without groups, and its results are few.
    exactly: Option<Exactly>,
    /// The rows, for servers that turn out to add nothing up; `None` when groups were given.
    instead: Option<SingleRows>,
    context: ScanContext,
}

/// What starts an aggregation with sums that do not wrap.
struct Exactly {
    cluster: Arc<Cluster>,
    table: Arc<Table>,
    route: ScanRoute,
    reader: Arc<ComputedRows>,
}

impl RegionGroups {
    /// Starts an aggregation, and does not wait; `None` if its rows have to be read.
    ///
    /// # Errors
    /// If the table is of another store, and errors of its format.
    pub(crate) fn start(
        cluster: &Arc<Cluster>,
        aggregation: &Aggregation<'_>,
        route: ScanRoute,
        context: &ScanContext,
    ) -> Result<Option<Self>, TableError> {
        let spec = aggregation.spec;
        let table = spec.table();
        let phoenix = PhoenixTable::of(table)?;
        let name = table.def().name.to_string();
        let failed = |error| HbaseError::Row { table: name.clone(), error };
        let cells = cells_of(&phoenix, spec.columns());
        let reader = |sums| -> Result<Option<Arc<ComputedRows>>, TableError> {
            let pushed = Pushed::of(aggregation, &phoenix, sums).map_err(failed)?;
            let (table, cells, gave_rows) = (name.clone(), cells.clone(), AtomicBool::new(false));
            Ok(pushed.map(|pushed| Arc::new(ComputedRows { table, pushed, cells, gave_rows })))
        };
        let sums = if aggregation.groups.is_empty() { Sums::Wrapping } else { Sums::Exact };
        let Some(first) = reader(sums)? else { return Ok(None) };
        // Neither an order nor a limit says anything of groups.
        let route = ScanRoute {
            direction: Direction::Forward,
            order: ScanOrder::ByBucket,
            limit: None,
            first_batch: None,
            ..route
        };
        let instead = RouteScan::new(cluster, spec, route.clone(), context.clone())?;
        let rows = RouteRows::start(cluster, table, &route, first.clone(), false, context)?;
        let exact = if first.pushed.may_wrap() { reader(Sums::Exact)? } else { None };
        let exactly = exact.map(|reader| Exactly { cluster: cluster.clone(), table: table.clone(), route, reader });
        Ok(Some(Self {
            reader: first,
            rows,
            exactly,
            groups: aggregation.groups.to_vec(),
            ends: aggregation.calls.iter().map(|call| call.column()).collect(),
            types: types_of(table, spec.columns()),
            instead: Some(SingleRows::new(Box::new(instead), aggregation)),
            context: context.clone(),
        }))
    }

    /// The next groups that are there; none at the end.
    fn next_rows(&mut self) -> Result<Vec<ReadRow>, TableError> {
        let mut rows = Vec::new();
        while rows.len() < BATCH_GROUPS {
            self.context.check()?;
            match self.rows.next(rows.is_empty())? {
                Next::Row(row) => rows.push(row),
                Next::Waits | Next::End => break,
            }
        }
        Ok(rows)
    }

    /// All results, of which there are few.
    fn all_rows(&mut self) -> Result<Vec<ReadRow>, TableError> {
        let mut all = Vec::new();
        loop {
            let rows = self.next_rows()?;
            if rows.is_empty() {
                return Ok(all);
            }
            all.extend(rows);
        }
    }

    /// The results; if a sum may have wrapped, those of another aggregation, whose sums do not.
    fn rows_with_sums(&mut self) -> Result<Vec<ReadRow>, TableError> {
        if self.exactly.is_none() {
            return self.next_rows();
        }
        let rows = self.all_rows()?;
        match self.exactly.take().filter(|_| !rows.iter().all(|row| self.has_exact_sums(row))) {
            None => Ok(rows),
            Some(Exactly { cluster, table, route, reader }) => {
                self.rows = RouteRows::start(&cluster, &table, &route, reader.clone(), false, &self.context)?;
                self.reader = reader;
                self.next_rows()
            }
        }
    }

    /// Whether no sum of a result can have wrapped: the number of values times the greatest of their absolute values is within 64 bits.
    fn has_exact_sums(&self, row: &ReadRow) -> bool {
        let int =
            |at: usize| if let Some(Value::Int(value)) = row.values.get(at) { Some(i128::from(*value)) } else { None };
        self.reader.pushed.made.iter().all(|made| match *made {
            Made::Wrapping { known, least, greatest, .. } => match (int(known), int(least), int(greatest)) {
                (Some(0), ..) => true,
                (Some(known), Some(least), Some(greatest)) => {
                    known * least.abs().max(greatest.abs()) <= i128::from(i64::MAX)
                }
                _ => false,
            },
            _ => true,
        })
    }

    fn groups_of(&self, rows: &[ReadRow]) -> Result<PartialGroups, TableError> {
        let values = |at: usize| rows.iter().map(move |row| row.values.get(at).unwrap_or(&Value::Null));
        let columns = self.groups.iter().enumerate().map(|(at, &place)| self.column(place, values(at)));
        let groups = columns.collect::<Result<_, _>>()?;
        let result = |at: usize| values(self.groups.len() + at);
        let counts =
            |at: usize| -> Result<Vec<u64>, TableError> { result(at).map(|value| self.count(value)).collect() };
        let mut calls = Vec::with_capacity(self.ends.len());
        for (made, end) in self.reader.pushed.made.iter().zip(&self.ends) {
            calls.push(match (*made, *end) {
                (Made::Count(at), _) => PartialValues::Counts(counts(at)?),
                (Made::Total { known, sum } | Made::Wrapping { known, sum, .. }, _) => {
                    let totals = counts(known)?.into_iter().zip(result(sum));
                    // That such a sum has not wrapped was seen before.
                    let is_long = matches!(made, Made::Wrapping { .. });
                    PartialValues::Totals(
                        totals.map(|(known, sum)| self.total(known, sum, is_long)).collect::<Result<_, _>>()?,
                    )
                }
                (Made::End(at), Some(place)) => PartialValues::Ends(self.column(place, result(at))?),
                (Made::End(_), None) => return Err(self.damaged("an end of no column")),
            });
        }
        Ok(PartialGroups { rows: rows.len(), groups, calls })
    }

    fn column<'v>(&self, place: usize, values: impl Iterator<Item = &'v Value>) -> Result<ArrayRef, TableError> {
        let mut builder = ColumnBuilder::new(self.types.get(place).copied().unwrap_or(SqlType::Null), 0);
        for value in values {
            builder.append_value(value).map_err(|source| TableError::Value { column: None, source })?;
        }
        Ok(builder.finish())
    }

    fn count(&self, value: &Value) -> Result<u64, TableError> {
        let count = if let Value::Int(count) = value { u64::try_from(*count).ok() } else { None };
        count.ok_or_else(|| self.damaged("a count that is none"))
    }

    fn total(&self, known: u64, sum: &Value, is_long: bool) -> Result<Total, TableError> {
        let sum = match sum {
            Value::Null if known == 0 => Some(0),
            Value::Int(sum) if is_long || known <= SUMMED_MAX => Some(i128::from(*sum)),
            Value::Decimal(sum) => sum.unscaled_at(0),
            _ => None,
        };
        Ok(Total { known, sum: sum.ok_or_else(|| self.damaged("a sum that is none of so many integers"))? })
    }

    fn damaged(&self, reason: &'static str) -> TableError {
        HbaseError::Aggregate { table: self.reader.table.clone(), reason }.into()
    }
}

impl PartialSource for RegionGroups {
    fn next_groups(&mut self) -> Result<Option<PartialGroups>, TableError> {
        let gave_rows = |reader: &ComputedRows| reader.gave_rows.load(Ordering::Relaxed);
        if let Some(instead) = self.instead.as_mut().filter(|_| gave_rows(&self.reader)) {
            return instead.next_groups();
        }
        let rows = match self.rows_with_sums() {
            Ok(rows) => rows,
            Err(error) => match self.instead.as_mut().filter(|_| gave_rows(&self.reader)) {
                Some(instead) => {
                    self.rows.end();
                    return instead.next_groups();
                }
                None => return Err(error),
            },
        };
        if rows.is_empty() {
            return Ok(None);
        }
        let groups = self.groups_of(&rows)?;
        for row in &rows {
            // The first result is the number of rows, which no filter was between.
            let rows_out = row.values.get(self.groups.len()).map_or(Ok(0), |count| self.count(count))?;
            self.context.counters.rows_out.fetch_add(rows_out, Ordering::Relaxed);
        }
        self.context.counters.batches.fetch_add(1, Ordering::Relaxed);
        self.instead = None;
        Ok(Some(groups))
    }
}
