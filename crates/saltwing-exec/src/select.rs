//! SELECT over one table.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema, SchemaRef};
use saltwing_bind::access::{PlannedSelect, Reading};
use saltwing_bind::{AggregateCall, BoundSelect, ResultColumn};
use saltwing_expr::arrow_type;
use saltwing_table::{EmbeddedTables, ReadView, ScanContext, Table};
use saltwing_types::Expr;

use crate::ExecError;
use crate::aggregate::{GroupOptions, GroupedRows};
use crate::output::Output;
use crate::source::Source;

/// A running SELECT: batches with the columns of [`DirectRows::columns`].
pub struct DirectRows {
    columns: Vec<ResultColumn>,
    schema: SchemaRef,
    source: Source,
    table: Arc<Table>,
    /// The table columns of the source's batches, in their order.
    scanned: Vec<usize>,
    shape: Shape,
    context: ScanContext,
    skip: u64,
    take: Option<u64>,
}

enum Shape {
    /// Every output is a scanned column: by place.
    Columns(Vec<usize>),
    /// Computed outputs.
    Computed(Vec<Output>),
    /// Groups; whether the rows are at their end.
    Groups(Box<GroupedRows>, bool),
}

/// The columns of a bound SELECT's result.
pub fn result_columns(bound: &BoundSelect) -> Vec<ResultColumn> {
    let column = |c: &saltwing_bind::OutputColumn| ResultColumn {
        label: c.label.clone(),
        ty: c.ty,
        nullable: c.expr.is_nullable(),
    };
    bound.output.columns().iter().map(column).collect()
}

/// Arrow's schema of a result.
pub fn result_schema(columns: &[ResultColumn]) -> SchemaRef {
    Arc::new(Schema::new(
        columns.iter().map(|c| Field::new(&c.label, arrow_type(c.ty), c.nullable)).collect::<Vec<_>>(),
    ))
}

impl DirectRows {
    /// Starts a SELECT whose access was judged. Groups hold at most `bytes_max` bytes.
    ///
    /// # Errors
    /// The store's.
    pub fn start(
        store: &Arc<EmbeddedTables>,
        view: Arc<ReadView>,
        planned: &PlannedSelect,
        context: ScanContext,
        bytes_max: usize,
    ) -> Result<Self, ExecError> {
        let bound = &planned.bound;
        let columns = result_columns(bound);
        let wanted = bound.limit.map(|n| n.saturating_add(bound.offset));
        let (scanned, shape, limits) = match &bound.output {
            saltwing_bind::Output::Rows(outputs) => {
                let (scanned, shape) = shape_of(outputs.iter().map(|o| &o.expr));
                (scanned, shape, (wanted, None))
            }
            saltwing_bind::Output::Groups(grouping) => {
                let runs = matches!(planned.reading, Reading::Groups | Reading::Prefixes(_));
                let options = GroupOptions {
                    runs,
                    whole: matches!(planned.reading, Reading::Prefixes(_)) && !grouping.keys.is_empty(),
                    in_order: planned.in_order,
                    wanted: wanted.and_then(|n| usize::try_from(n).ok()),
                    bytes_max,
                };
                let scanned = scanned_columns(grouping.keys.iter().chain(grouping.calls.iter().flat_map(arguments)));
                // The first groups that are asked for may be small ones.
                let first_batch = wanted.filter(|_| runs && planned.in_order).map(|groups| groups.saturating_add(1));
                let groups = Box::new(GroupedRows::new(grouping, options)?);
                (scanned, Shape::Groups(groups, false), (None, first_batch))
            }
        };
        let source = Source::start(store, view, planned, &scanned, limits, &context)?;
        let schema = result_schema(&columns);
        let table = bound.table.clone();
        Ok(Self { columns, schema, source, table, scanned, shape, context, skip: bound.offset, take: bound.limit })
    }

    /// The columns of the result.
    pub fn columns(&self) -> &[ResultColumn] {
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
            let columns = columns.into_iter().map(|column| column.slice(from, rows)).collect();
            return Ok(Some(self.batch(columns, rows)?));
        }
        Ok(None)
    }

    /// The outputs of the next rows or groups, and how many.
    fn next_rows(&mut self) -> Result<Option<(Vec<ArrayRef>, usize)>, ExecError> {
        let width = self.table.row_key_index() + 1;
        let scanned = &self.scanned;
        let by_index = |batch: &RecordBatch| {
            let mut by_index: Vec<Option<ArrayRef>> = vec![None; width];
            for (&index, array) in scanned.iter().zip(batch.columns()) {
                if let Some(place) = by_index.get_mut(index) {
                    *place = Some(array.clone());
                }
            }
            by_index
        };
        match &mut self.shape {
            Shape::Columns(places) => Ok(self
                .source
                .next_batch()?
                .map(|batch| (places.iter().map(|&p| batch.column(p).clone()).collect(), batch.num_rows()))),
            Shape::Computed(outputs) => {
                let Some(batch) = self.source.next_batch()? else { return Ok(None) };
                // Rows that are passed over are not computed: they may fail.
                let skipped = (batch.num_rows() as u64).min(self.skip) as usize;
                self.skip -= skipped as u64;
                let batch = batch.slice(skipped, batch.num_rows() - skipped);
                let (columns, rows) = (by_index(&batch), batch.num_rows());
                let named = |(output, c): (&Output, &ResultColumn)| {
                    let values = output.compute(&columns, rows);
                    values.map_err(|source| ExecError::Value { column: Some(c.label.clone()), source })
                };
                let computed = outputs.iter().zip(&self.columns).map(named).collect::<Result<_, _>>()?;
                Ok(Some((computed, rows)))
            }
            Shape::Groups(groups, at_end) => loop {
                if let Some(put_out) = groups.put_out()? {
                    return Ok(Some(put_out));
                }
                if *at_end {
                    return Ok(None);
                }
                match self.source.next_batch()? {
                    Some(batch) => groups.add(&by_index(&batch), batch.num_rows())?,
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

/// The expressions over the table's columns in a call.
fn arguments(call: &AggregateCall) -> impl Iterator<Item = &Expr> {
    call.argument.iter().chain(&call.filter)
}

/// The columns of the table that expressions name, each once, by index.
fn scanned_columns<'a>(exprs: impl Iterator<Item = &'a Expr>) -> Vec<usize> {
    let mut scanned: Vec<usize> = exprs.flat_map(Expr::columns).collect();
    scanned.sort_unstable();
    scanned.dedup();
    scanned
}

/// Which table columns to scan, and how the outputs come from them.
fn shape_of<'a>(outputs: impl Iterator<Item = &'a Expr> + Clone) -> (Vec<usize>, Shape) {
    let scanned = scanned_columns(outputs.clone());
    let place = |e: &Expr| match e {
        Expr::Column(column) => scanned.binary_search(&column.index).ok(),
        _ => None,
    };
    match outputs.clone().map(place).collect::<Option<Vec<_>>>() {
        Some(places) => (scanned, Shape::Columns(places)),
        None => (scanned, Shape::Computed(outputs.cloned().map(Output::new).collect())),
    }
}
