//! SELECT over one table.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema, SchemaRef};
use saltwing_bind::access::TableAccess;
use saltwing_bind::{BoundSelect, Output, ResultColumn};
use saltwing_expr::{arrow_type, evaluate};
use saltwing_table::{EmbeddedTables, ReadView, Scan, ScanContext, Table};
use saltwing_types::{Expr, SqlType};

use crate::ExecError;

/// A running SELECT: batches with the columns of [`DirectRows::columns`].
pub struct DirectRows {
    columns: Vec<ResultColumn>,
    schema: SchemaRef,
    scan: Scan,
    table: Arc<Table>,
    /// The table columns of the scan's batches, in their order.
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
    Computed(Vec<Expr>),
    /// One row of counts; `None` once it is put out.
    Count(Option<usize>),
}

/// The columns of a bound SELECT's result.
pub fn result_columns(bound: &BoundSelect) -> Vec<ResultColumn> {
    match &bound.output {
        Output::Rows(columns) => columns
            .iter()
            .map(|c| ResultColumn { label: c.label.clone(), ty: c.ty, nullable: c.expr.is_nullable() })
            .collect(),
        Output::Count(labels) => labels
            .iter()
            .map(|label| ResultColumn { label: label.clone(), ty: SqlType::BigInt, nullable: false })
            .collect(),
    }
}

/// Arrow's schema of a result.
pub fn result_schema(columns: &[ResultColumn]) -> SchemaRef {
    Arc::new(Schema::new(
        columns.iter().map(|c| Field::new(&c.label, arrow_type(c.ty), c.nullable)).collect::<Vec<_>>(),
    ))
}

impl DirectRows {
    /// Starts a SELECT whose access was planned and judged.
    ///
    /// # Errors
    /// The store's.
    pub fn start(
        store: &EmbeddedTables,
        view: Arc<ReadView>,
        bound: &BoundSelect,
        access: &TableAccess,
        context: ScanContext,
    ) -> Result<Self, ExecError> {
        let columns = result_columns(bound);
        let (scanned, shape) = match &bound.output {
            Output::Count(labels) => (Vec::new(), Shape::Count(Some(labels.len()))),
            Output::Rows(outputs) => shape_of(outputs.iter().map(|o| &o.expr)),
        };
        // A count is of all rows, whatever LIMIT does to its one row.
        let count = matches!(shape, Shape::Count(_));
        let limit = if count { None } else { bound.limit.map(|n| n.saturating_add(bound.offset)) };
        let request = access.scan_request(scanned.clone(), limit);
        let scan = store.scan(view, request, context.clone())?;
        let schema = result_schema(&columns);
        let table = bound.table.clone();
        Ok(Self { columns, schema, scan, table, scanned, shape, context, skip: bound.offset, take: bound.limit })
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
        if let Shape::Count(left) = &mut self.shape {
            let Some(outputs) = left.take() else { return Ok(None) };
            let mut rows = 0;
            while let Some(batch) = self.scan.next_batch()? {
                rows += batch.num_rows() as i64;
            }
            if self.skip > 0 || self.take == Some(0) {
                return Ok(None);
            }
            let column: ArrayRef = Arc::new(Int64Array::from(vec![rows]));
            return Ok(Some(self.batch(vec![column; outputs], 1)?));
        }
        while let Some(batch) = self.scan.next_batch()? {
            let rows = batch.num_rows() as u64;
            let skipped = rows.min(self.skip);
            self.skip -= skipped;
            if skipped == rows {
                continue;
            }
            let batch = batch.slice(skipped as usize, (rows - skipped) as usize);
            let columns = match &self.shape {
                Shape::Columns(places) => places.iter().map(|&p| batch.column(p).clone()).collect(),
                Shape::Computed(outputs) => self.compute(outputs, &batch)?,
                Shape::Count(_) => Vec::new(),
            };
            return Ok(Some(self.batch(columns, batch.num_rows())?));
        }
        Ok(None)
    }

    fn compute(&self, outputs: &[Expr], batch: &RecordBatch) -> Result<Vec<ArrayRef>, ExecError> {
        let mut by_index: Vec<Option<ArrayRef>> = vec![None; self.table.row_key_index() + 1];
        for (&index, array) in self.scanned.iter().zip(batch.columns()) {
            if let Some(place) = by_index.get_mut(index) {
                *place = Some(array.clone());
            }
        }
        let named = |(e, c): (&Expr, &ResultColumn)| {
            evaluate(e, &by_index, batch.num_rows())
                .map_err(|source| ExecError::Value { column: Some(c.label.clone()), source })
        };
        outputs.iter().zip(&self.columns).map(named).collect()
    }

    fn batch(&self, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch, ExecError> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options);
        Ok(batch.map_err(saltwing_table::TableError::from)?)
    }

    /// Rows read so far.
    pub fn keys_read(&self) -> u64 {
        self.context.counters.keys_read.load(Relaxed)
    }
}

/// Which table columns to scan, and how the outputs come from them.
fn shape_of<'a>(outputs: impl Iterator<Item = &'a Expr> + Clone) -> (Vec<usize>, Shape) {
    let mut scanned: Vec<usize> = outputs.clone().flat_map(Expr::columns).collect();
    scanned.sort_unstable();
    scanned.dedup();
    let place = |e: &Expr| match e {
        Expr::Column(column) => scanned.binary_search(&column.index).ok(),
        _ => None,
    };
    match outputs.clone().map(place).collect::<Option<Vec<_>>>() {
        Some(places) => (scanned, Shape::Columns(places)),
        None => (scanned, Shape::Computed(outputs.cloned().collect())),
    }
}
