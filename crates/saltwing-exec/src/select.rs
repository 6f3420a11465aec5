//! SELECT over one table.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema, SchemaRef};
use saltwing_access::{PointRow, Projection, RowSource, ScanContext, ScanSpec, Snapshot, TableStore};
use saltwing_bind::{OutputColumn, ResultColumn};
use saltwing_expr::{RowValues, arrow_type};
use saltwing_planner::{KeyAccess, PlannedSelect, ReadMode, TableAccess};
use saltwing_types::{Expr, SqlType};

use crate::ExecError;
use crate::aggregate::{GroupOptions, GroupedRows};
use crate::output::Output;
use crate::parts::{Parts, scans_of_totals};
use crate::source::Source;
use crate::totals::{TotalOutput, row_of_totals};

/// A planned SELECT with all that does not change from one run to the next.
pub struct SelectPlan {
    planned: PlannedSelect,
    columns: Arc<[ResultColumn]>,
    schema: SchemaRef,
    /// What is read.
    spec: ScanSpec,
    items: Items,
    /// The columns of a row that are the result as they stand, where they are.
    plain: Option<Projection>,
    /// The outputs, where whole columns are added up.
    totals: Option<Box<[TotalOutput]>>,
}

/// How items come from what is read.
enum Items {
    /// Every output is a scanned column: by place.
    Columns(Box<[usize]>),
    /// Computed outputs.
    Computed(Box<[Output]>),
    /// Groups.
    Groups,
}

/// A running SELECT: batches with the columns of [`DirectRows::columns`], or the values of rows.
pub struct DirectRows {
    plan: Arc<SelectPlan>,
    source: Source,
    /// What is read in its place, where that is many rows and what comes of them is known at their end.
    parts: Option<Parts>,
    groups: Option<Box<Groups>>,
    context: ScanContext,
    skip: u64,
    take: Option<u64>,
}

/// Groups, and whether the rows that they are made of are at their end.
struct Groups {
    rows: GroupedRows,
    at_end: bool,
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
                Some(Projection::new(planned.access.table(), columns))
            }
            _ => None,
        };
        let totals = match &planned.bound.output {
            saltwing_bind::Output::Groups(grouping) => TotalOutput::of(&planned, grouping, &scanned),
            saltwing_bind::Output::Rows(_) => None,
        };
        let (schema, spec) = (result_schema(&columns), planned.access.spec(scanned)?);
        Ok(Self { planned, columns, schema, spec, items, plain, totals })
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
    pub fn point(&self, store: &dyn TableStore, row_key: &[u8]) -> Result<Option<PointRow>, ExecError> {
        self.plain.as_ref().map_or(Ok(None), |columns| Ok(store.point(columns, row_key)?))
    }

    /// How the table is read.
    pub fn access(&self) -> &TableAccess {
        &self.planned.access
    }

    /// Starts the SELECT, whose access was judged; `part` is what it reads of the key, where that is
    /// known without a plan.
    ///
    /// # Errors
    /// The store's.
    pub fn start(
        self: &Arc<Self>,
        snapshot: Arc<dyn Snapshot>,
        part: Option<KeyAccess>,
        context: ScanContext,
    ) -> Result<RunningSelect, ExecError> {
        if self.totals.is_some() && snapshot.adds_up(&self.spec)? {
            let access = &self.planned.access;
            let scans = match part {
                // What values in a template ask for is a few rows, mostly.
                Some(part) => vec![snapshot.scan(&self.spec, part.route(access, None), context.clone())?],
                None => scans_of_totals(&*snapshot, access, &self.spec, &context)?,
            };
            return Ok(RunningSelect::Total(TotalRow { plan: self.clone(), scans, threads: context.threads().count }));
        }
        Ok(RunningSelect::Rows(self.start_rows(snapshot, part, context)?))
    }

    fn start_rows(
        self: &Arc<Self>,
        snapshot: Arc<dyn Snapshot>,
        part: Option<KeyAccess>,
        context: ScanContext,
    ) -> Result<DirectRows, ExecError> {
        let (planned, bound) = (&self.planned, &self.planned.bound);
        let wanted = bound.limit.map(|n| n.saturating_add(bound.offset));
        let (groups, limits) = match &bound.output {
            saltwing_bind::Output::Rows(_) => (None, (wanted, None)),
            saltwing_bind::Output::Groups(grouping) => {
                let runs = matches!(planned.reading, ReadMode::Groups | ReadMode::Prefixes(_));
                let options = GroupOptions {
                    runs,
                    whole: matches!(planned.reading, ReadMode::Prefixes(_)) && !grouping.keys.is_empty(),
                    in_order: planned.in_order,
                    wanted: wanted.and_then(|n| usize::try_from(n).ok()),
                    memory: context.memory().clone(),
                };
                // The first groups that are asked for may be small ones.
                let first_batch = wanted.filter(|_| runs && planned.in_order).map(|groups| groups.saturating_add(1));
                let groups = Groups { rows: GroupedRows::new(grouping, options)?, at_end: false };
                (Some(Box::new(groups)), (None, first_batch))
            }
        };
        let parts = match &groups {
            Some(groups)
                if part.is_none()
                    && !groups.rows.streams()
                    && matches!(planned.reading, ReadMode::Rows | ReadMode::Groups) =>
            {
                Parts::of(&snapshot, &planned.access, &context)?
            }
            _ => None,
        };
        Ok(DirectRows {
            source: Source::start(snapshot, (planned, part), &self.spec, limits, &context)?,
            parts,
            groups,
            context,
            skip: bound.offset,
            take: bound.limit,
            plan: self.clone(),
        })
    }
}

/// A SELECT that was started.
pub enum RunningSelect {
    /// Whole columns are added up, or one of them counted: one row.
    Total(TotalRow),
    /// Rows or groups as they are read.
    Rows(DirectRows),
}

/// A SELECT of whole columns' totals that is not read yet.
pub struct TotalRow {
    plan: Arc<SelectPlan>,
    scans: Vec<Box<dyn RowSource>>,
    threads: usize,
}

impl TotalRow {
    /// Adds them up.
    ///
    /// # Errors
    /// The scan's; a sum that does not fit.
    pub fn values(self) -> Result<RowValues, ExecError> {
        let outputs = self.plan.totals.as_deref().unwrap_or_default();
        row_of_totals(self.scans, outputs, self.threads)
    }
}

impl DirectRows {
    /// The columns of the result.
    pub fn columns(&self) -> &Arc<[ResultColumn]> {
        &self.plan.columns
    }

    /// The schema of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.plan.schema
    }

    /// The statement's context.
    pub fn context(&self) -> &ScanContext {
        &self.context
    }

    /// Adds the next rows to `values`, which has no row yet; `false` at the end. `None` where they come in batches only:
    /// then [`DirectRows::next_batch`] has all of them. Where not, who asks for the one does not ask for the other.
    ///
    /// # Errors
    /// The scan's.
    pub fn next_values(&mut self, values: &mut RowValues) -> Result<Option<bool>, ExecError> {
        let (Some(columns), Source::Scans(scans)) = (&self.plan.plain, &mut self.source) else { return Ok(None) };
        if self.groups.is_some() || self.plan.spec.is_filtered() {
            return Ok(None);
        }
        while let Some(scan) = scans.last_mut().filter(|_| self.take != Some(0)) {
            if !scan.next_values(columns, values)? {
                scans.pop();
                continue;
            }
            if let Some(take) = &mut self.take {
                values.truncate(usize::try_from(*take).unwrap_or(usize::MAX));
                *take -= values.rows() as u64;
            }
            return Ok(Some(true));
        }
        Ok(Some(false))
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
        let SelectPlan { planned, spec, items, .. } = &*self.plan;
        let width = planned.bound.table.row_key_index() + 1;
        let by_index = |columns: Vec<ArrayRef>| {
            let mut by_index: Vec<Option<ArrayRef>> = vec![None; width];
            for (&index, array) in spec.columns().iter().zip(columns) {
                if let Some(place) = by_index.get_mut(index) {
                    *place = Some(array);
                }
            }
            by_index
        };
        if let Some(groups) = &mut self.groups {
            let Groups { rows: groups, at_end } = &mut **groups;
            loop {
                if let Some(put_out) = groups.put_out()? {
                    return Ok(Some(put_out));
                }
                if *at_end {
                    return Ok(None);
                }
                if let Some(parts) = self.parts.take() {
                    parts.read(spec, |(columns, rows)| groups.add(&by_index(columns), rows))?;
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
            }
        }
        let Some((columns, rows)) = self.source.next_columns()? else { return Ok(None) };
        match items {
            Items::Columns(places) => {
                let is_in_place = places.len() == columns.len() && places.iter().enumerate().all(|(i, p)| i == *p);
                if is_in_place {
                    return Ok(Some((columns, rows)));
                }
                Ok(Some((places.iter().filter_map(|&p| columns.get(p).cloned()).collect(), rows)))
            }
            Items::Computed(outputs) => {
                // Rows that are passed over are not computed: they may fail.
                let skipped = (rows as u64).min(self.skip) as usize;
                self.skip -= skipped as u64;
                let rows = rows - skipped;
                let columns = by_index(columns.into_iter().map(|column| column.slice(skipped, rows)).collect());
                let named = |(output, c): (&Output, &ResultColumn)| {
                    let values = output.compute(&columns, rows, self.context.memory());
                    values.map_err(|error| error.of_column(&c.label))
                };
                Ok(Some((outputs.iter().zip(self.plan.columns.iter()).map(named).collect::<Result<_, _>>()?, rows)))
            }
            Items::Groups => Ok(None),
        }
    }

    fn batch(&self, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch, ExecError> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(self.schema().clone(), columns, &options)?)
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
    match outputs.iter().map(place).collect::<Option<Box<[_]>>>() {
        Some(places) => (scanned, Items::Columns(places)),
        None => (scanned, Items::Computed(outputs.iter().map(|output| Output::new(output.expr.clone())).collect())),
    }
}
