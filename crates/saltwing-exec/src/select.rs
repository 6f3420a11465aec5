//! SELECT over one table.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema, SchemaRef};
use saltwing_bind::access::{KeyPart, PlannedSelect, Reading, TableAccess};
use saltwing_bind::{OutputColumn, ResultColumn};
use saltwing_expr::arrow_type;
use saltwing_table::{EmbeddedTables, PointRow, ReadView, RowShape, ScanContext, ScanShape, Table};
use saltwing_types::{Expr, SqlType};

use crate::ExecError;
use crate::aggregate::{GroupOptions, GroupedRows};
use crate::few_rows::{FEW_ROWS_MAX, FewRows};
use crate::output::Output;
use crate::parts::{Parts, scans_of_totals};
use crate::source::Source;
use crate::totals::TotalOutput;

/// A planned SELECT with all that does not change from one run to the next.
pub struct SelectPlan {
    planned: PlannedSelect,
    columns: Arc<[ResultColumn]>,
    schema: SchemaRef,
    /// The table columns that are read, by index.
    scanned: Arc<[usize]>,
    shape: Arc<ScanShape>,
    items: Items,
    /// The columns of a row that are the result as they stand, where they are.
    plain: Option<Arc<RowShape>>,
    /// The outputs, where whole columns are added up.
    totals: Option<Arc<[TotalOutput]>>,
    /// Whether the rows are few, as they stand, and of one scan.
    is_few: bool,
}

/// How items come from what is read.
#[derive(Clone)]
enum Items {
    /// Every output is a scanned column: by place.
    Columns(Arc<[usize]>),
    /// Computed outputs.
    Computed(Arc<[Output]>),
    /// Groups.
    Groups,
}

/// A running SELECT: batches with the columns of [`DirectRows::columns`].
pub struct DirectRows {
    columns: Arc<[ResultColumn]>,
    schema: SchemaRef,
    source: Source,
    /// What is read in its place, where that is many rows and what comes of them is known at their end.
    parts: Option<Parts>,
    table: Arc<Table>,
    /// The table columns of the source's batches, in their order.
    scanned: Arc<[usize]>,
    shape: Shape,
    context: ScanContext,
    skip: u64,
    take: Option<u64>,
}

enum Shape {
    /// An output row for each row read.
    Rows(Items),
    /// Groups; whether the rows are at their end.
    Groups(Box<GroupedRows>, bool),
}

/// Arrow's schema of a result.
pub fn result_schema(columns: &[ResultColumn]) -> SchemaRef {
    Arc::new(Schema::new(
        columns.iter().map(|c| Field::new(&c.label, arrow_type(c.ty), c.nullable)).collect::<Vec<_>>(),
    ))
}

impl SelectPlan {
    /// Makes a planned SELECT ready to be run, any number of times.
    ///
    /// # Errors
    /// A type mismatch where a condition is none.
    pub fn new(planned: PlannedSelect) -> Result<Self, ExecError> {
        let column =
            |c: &OutputColumn| ResultColumn { label: c.label.clone(), ty: c.ty, nullable: c.expr.is_nullable() };
        let columns: Arc<[ResultColumn]> = planned.bound.output.columns().iter().map(column).collect();
        let (scanned, items) = match &planned.bound.output {
            saltwing_bind::Output::Rows(outputs) => items_of(outputs),
            saltwing_bind::Output::Groups(grouping) => {
                let calls = grouping.calls.iter().flat_map(|call| call.argument.iter().chain(&call.filter));
                (scanned_columns(grouping.keys.iter().chain(calls)), Items::Groups)
            }
        };
        let is_plain =
            planned.bound.offset == 0 && planned.bound.limit != Some(0) && columns.iter().all(|c| is_plain(c.ty));
        let plain = match &items {
            Items::Columns(places) if is_plain => {
                let columns = places.iter().filter_map(|&p| scanned.get(p).copied());
                Some(Arc::new(RowShape::new(planned.access.table(), columns)))
            }
            _ => None,
        };
        let residual = planned.access.residual();
        let is_few = plain.is_some()
            && planned.bound.limit.is_some_and(|limit| limit <= FEW_ROWS_MAX)
            && matches!(planned.reading, Reading::Rows)
            && residual.is_empty()
            && planned.access.second_route(None).is_none();
        let shape = Arc::new(ScanShape::new(planned.access.table(), &scanned, residual)?);
        let totals = match &planned.bound.output {
            saltwing_bind::Output::Groups(grouping) => {
                TotalOutput::of(&planned, grouping, &scanned, &shape).map(Arc::from)
            }
            saltwing_bind::Output::Rows(_) => None,
        };
        let (schema, scanned) = (result_schema(&columns), scanned.into());
        Ok(Self { planned, columns, schema, scanned, shape, items, plain, totals, is_few })
    }

    /// The columns of the result.
    pub fn columns(&self) -> &Arc<[ResultColumn]> {
        &self.columns
    }

    /// Whether a row's values are the result as they stand: then [`SelectPlan::point`] can be asked.
    pub fn is_plain(&self) -> bool {
        self.plain.is_some()
    }

    /// The one row of a SELECT that reads the row of this key and [is plain](SelectPlan::is_plain); `None` when the
    /// row is not there.
    ///
    /// # Errors
    /// The store's.
    pub fn point(&self, store: &EmbeddedTables, row_key: &[u8]) -> Result<Option<PointRow>, ExecError> {
        self.plain.as_ref().map_or(Ok(None), |shape| Ok(store.point(shape, row_key)?))
    }

    /// How the table is read.
    pub fn access(&self) -> &TableAccess {
        &self.planned.access
    }

    /// The access, of a plan that is not run any more.
    pub fn into_access(self) -> TableAccess {
        self.planned.access
    }

    /// Starts the SELECT, whose access was judged, where its result is known to be small; `part` is as for
    /// [`SelectPlan::start`], which the others need.
    ///
    /// # Errors
    /// The store's.
    pub fn start_few(
        &self,
        store: &EmbeddedTables,
        view: &ReadView,
        part: Option<&KeyPart>,
        context: &ScanContext,
    ) -> Result<Option<FewRows>, ExecError> {
        let (access, limit) = (&self.planned.access, self.planned.bound.limit);
        let scan = |route| store.scan_shaped(view, &self.shape, route, context.clone());
        if let Some(outputs) = &self.totals {
            let scans = match part {
                // What values in a template ask for is a few rows, mostly.
                Some(part) => vec![scan(part.route(access, None))?],
                None => scans_of_totals(store, view, access, &self.shape, context)?,
            };
            return Ok(Some(FewRows::totals(scans, outputs, context.threads().count)));
        }
        let Some(shape) = self.plain.as_ref().filter(|_| self.is_few) else { return Ok(None) };
        let route = match part {
            Some(part) => part.route(access, limit),
            None => access.route(limit),
        };
        Ok(Some(FewRows::rows(scan(route)?, shape)))
    }

    /// Starts the SELECT, whose access was judged; `part` is what it reads of the key, where that is
    /// known without a plan. Groups hold at most `bytes_max` bytes.
    ///
    /// # Errors
    /// The store's.
    pub fn start(
        &self,
        store: &Arc<EmbeddedTables>,
        view: Arc<ReadView>,
        part: Option<&KeyPart>,
        context: ScanContext,
        bytes_max: usize,
    ) -> Result<DirectRows, ExecError> {
        let (planned, bound) = (&self.planned, &self.planned.bound);
        let wanted = bound.limit.map(|n| n.saturating_add(bound.offset));
        let (shape, limits) = match &bound.output {
            saltwing_bind::Output::Rows(_) => (Shape::Rows(self.items.clone()), (wanted, None)),
            saltwing_bind::Output::Groups(grouping) => {
                let runs = matches!(planned.reading, Reading::Groups | Reading::Prefixes(_));
                let options = GroupOptions {
                    runs,
                    whole: matches!(planned.reading, Reading::Prefixes(_)) && !grouping.keys.is_empty(),
                    in_order: planned.in_order,
                    wanted: wanted.and_then(|n| usize::try_from(n).ok()),
                    bytes_max,
                };
                // The first groups that are asked for may be small ones.
                let first_batch = wanted.filter(|_| runs && planned.in_order).map(|groups| groups.saturating_add(1));
                (Shape::Groups(Box::new(GroupedRows::new(grouping, options)?), false), (None, first_batch))
            }
        };
        let parts = match &shape {
            Shape::Groups(groups, _)
                if part.is_none()
                    && !groups.streams()
                    && matches!(planned.reading, Reading::Rows | Reading::Groups) =>
            {
                Parts::of(store, &view, &planned.access, &self.shape, &context)?
            }
            _ => None,
        };
        Ok(DirectRows {
            columns: self.columns.clone(),
            schema: self.schema.clone(),
            parts,
            source: Source::start(store, view, (planned, part), &self.shape, &self.scanned, limits, &context)?,
            table: bound.table.clone(),
            scanned: self.scanned.clone(),
            shape,
            context,
            skip: bound.offset,
            take: bound.limit,
        })
    }
}

impl DirectRows {
    /// The columns of the result.
    pub fn columns(&self) -> &Arc<[ResultColumn]> {
        &self.columns
    }

    /// The schema of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The statement's context.
    pub fn context(&self) -> &ScanContext {
        &self.context
    }

    /// The next batch, never an empty one; `None` at the end.
    ///
    /// # Errors
    /// The scan's; what computing an output fails with.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, ExecError> {
        while self.take != Some(0) {
            let Some((columns, rows)) = self.next_rows()? else { return Ok(None) };
            let skipped = (rows as u64).min(self.skip);
            self.skip -= skipped;
            let left = rows as u64 - skipped;
            let rows = self.take.map_or(left, |take| take.min(left));
            self.take = self.take.map(|take| take - rows);
            if rows == 0 {
                continue;
            }
            let (from, rows) = (skipped as usize, rows as usize);
            let is_whole = |column: &ArrayRef| from == 0 && column.len() == rows;
            let cut = |column: ArrayRef| if is_whole(&column) { column } else { column.slice(from, rows) };
            let columns = columns.into_iter().map(cut).collect();
            return Ok(Some(self.batch(columns, rows)?));
        }
        Ok(None)
    }

    /// The outputs of the next rows or groups, and how many.
    fn next_rows(&mut self) -> Result<Option<(Vec<ArrayRef>, usize)>, ExecError> {
        let width = self.table.row_key_index() + 1;
        let scanned = &self.scanned;
        let by_index = |columns: Vec<ArrayRef>| {
            let mut by_index: Vec<Option<ArrayRef>> = vec![None; width];
            for (&index, array) in scanned.iter().zip(columns) {
                if let Some(place) = by_index.get_mut(index) {
                    *place = Some(array);
                }
            }
            by_index
        };
        match &mut self.shape {
            Shape::Rows(Items::Columns(places)) => {
                let Some((columns, rows)) = self.source.next_columns()? else { return Ok(None) };
                let is_in_place = places.len() == columns.len() && places.iter().enumerate().all(|(i, p)| i == *p);
                if is_in_place {
                    return Ok(Some((columns, rows)));
                }
                Ok(Some((places.iter().filter_map(|&p| columns.get(p).cloned()).collect(), rows)))
            }
            Shape::Rows(Items::Computed(outputs)) => {
                let Some((columns, rows)) = self.source.next_columns()? else { return Ok(None) };
                // Rows that are passed over are not computed: they may fail.
                let skipped = (rows as u64).min(self.skip) as usize;
                self.skip -= skipped as u64;
                let rows = rows - skipped;
                let columns = by_index(columns.into_iter().map(|column| column.slice(skipped, rows)).collect());
                let named = |(output, c): (&Output, &ResultColumn)| {
                    let values = output.compute(&columns, rows);
                    values.map_err(|source| ExecError::Value { column: Some(c.label.clone()), source })
                };
                let computed = outputs.iter().zip(self.columns.iter()).map(named).collect::<Result<_, _>>()?;
                Ok(Some((computed, rows)))
            }
            Shape::Rows(Items::Groups) => Ok(None),
            Shape::Groups(groups, at_end) => loop {
                if let Some(put_out) = groups.put_out()? {
                    return Ok(Some(put_out));
                }
                if *at_end {
                    return Ok(None);
                }
                if let Some(parts) = self.parts.take() {
                    parts.read(|(columns, rows)| groups.add(&by_index(columns), rows))?;
                    *at_end = true;
                    groups.end()?;
                    continue;
                }
                match self.source.next_columns()? {
                    Some((columns, rows)) => groups.add(&by_index(columns), rows)?,
                    None => {
                        *at_end = true;
                        groups.end()?;
                    }
                }
            },
        }
    }

    fn batch(&self, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch, ExecError> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?)
    }

    /// Rows read so far.
    pub fn keys_read(&self) -> u64 {
        self.context.counters.keys_read.load(Relaxed)
    }
}

/// Whether values of a type are the same in a row as in a batch: not all instants have a place in one, and decimals
/// have a form of their own there.
fn is_plain(ty: SqlType) -> bool {
    !ty.is_timestamp() && !matches!(ty, SqlType::Decimal(_))
}

/// The columns of the table that expressions name, each once, by index.
fn scanned_columns<'a>(exprs: impl Iterator<Item = &'a Expr>) -> Vec<usize> {
    let mut scanned: Vec<usize> = exprs.flat_map(Expr::columns).collect();
    scanned.sort_unstable();
    scanned.dedup();
    scanned
}

/// Which table columns to scan, and how the outputs come from them.
fn items_of(outputs: &[OutputColumn]) -> (Vec<usize>, Items) {
    let scanned = scanned_columns(outputs.iter().map(|output| &output.expr));
    let place = |output: &OutputColumn| match &output.expr {
        Expr::Column(column) => scanned.binary_search(&column.index).ok(),
        _ => None,
    };
    match outputs.iter().map(place).collect::<Option<Arc<[_]>>>() {
        Some(places) => (scanned, Items::Columns(places)),
        None => (scanned, Items::Computed(outputs.iter().map(|output| Output::new(output.expr.clone())).collect())),
    }
}
