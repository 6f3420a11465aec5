//! Result batches in our types.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions, StringBuilder};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::execution::SendableRecordBatchStream;
use futures::{Stream, StreamExt};
use saltwing_access::ScanContext;
use saltwing_bind::ResultColumn;
use saltwing_expr::{arrow_type, text_at};
use saltwing_types::SqlType;

use crate::RelationalError;

/// The schema of a result's batches.
pub(crate) fn result_schema(columns: &[ResultColumn]) -> SchemaRef {
    let fields = columns.iter().map(|c| Field::new(&c.label, arrow_type(c.ty), c.nullable));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Batches of a result as they are made; each column has the Arrow type of its SQL type.
///
/// To be polled within a tokio runtime: DataFusion starts tasks of its own.
pub struct ResultStream {
    inner: SendableRecordBatchStream,
    types: Vec<SqlType>,
    schema: SchemaRef,
    context: ScanContext,
}

impl ResultStream {
    pub(crate) fn new(inner: SendableRecordBatchStream, columns: &[ResultColumn], context: ScanContext) -> Self {
        let types = columns.iter().map(|c| c.ty).collect();
        Self { inner, types, schema: result_schema(columns), context }
    }

    /// The schema of the batches: labels and Arrow types.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn convert(&self, batch: RecordBatch) -> Result<RecordBatch, RelationalError> {
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let columns = batch
            .columns()
            .iter()
            .zip(&self.types)
            .map(|(column, ty)| put_out(column, *ty))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?)
    }
}

impl Stream for ResultStream {
    type Item = Result<RecordBatch, RelationalError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        // Also while no scan is read any more.
        if let Err(stopped) = self.context.check() {
            return Poll::Ready(Some(Err(stopped.into())));
        }
        let next = std::task::ready!(self.inner.poll_next_unpin(context));
        Poll::Ready(next.map(|batch| self.convert(batch?)))
    }
}

/// A column in the Arrow type of an SQL type.
fn put_out(column: &ArrayRef, ty: SqlType) -> Result<ArrayRef, RelationalError> {
    let wanted = arrow_type(ty);
    match column.data_type() {
        same if *same == wanted => Ok(column.clone()),
        other if saltwing_expr::sql_type(other).is_some() => {
            let strict = CastOptions { safe: false, ..CastOptions::default() };
            Ok(cast_with_options(column, &wanted, &strict).map_err(|error| overflow(&error, ty))?)
        }
        _ => texts(column),
    }
}

/// A native value that its SQL type does not hold.
fn overflow(error: &arrow::error::ArrowError, ty: SqlType) -> RelationalError {
    saltwing_types::ValueError::OutOfRange { value: error.to_string(), target: ty.to_string() }.into()
}

/// Values that SQL has no type for as text: lists as JSON, others as Arrow shows them.
fn texts(column: &ArrayRef) -> Result<ArrayRef, RelationalError> {
    let mut texts = StringBuilder::with_capacity(column.len(), column.len() * 16);
    for row in 0..column.len() {
        if column.is_null(row) {
            texts.append_null();
        } else {
            let mut text = String::new();
            write_json(&mut text, column, row, false)?;
            texts.append_value(text);
        }
    }
    Ok(Arc::new(texts.finish()))
}

fn write_json(out: &mut String, column: &dyn Array, row: usize, quoted: bool) -> Result<(), RelationalError> {
    if column.is_null(row) {
        out.push_str("null");
        return Ok(());
    }
    let list = match column.data_type() {
        DataType::List(_) => Some(column.as_list::<i32>().value(row)),
        DataType::LargeList(_) => Some(column.as_list::<i64>().value(row)),
        DataType::FixedSizeList(..) => Some(column.as_fixed_size_list().value(row)),
        _ => None,
    };
    if let Some(items) = list {
        out.push('[');
        for i in 0..items.len() {
            out.push_str(if i == 0 { "" } else { "," });
            write_json(out, &items, i, true)?;
        }
        out.push(']');
        return Ok(());
    }
    let (text, plain) = match saltwing_expr::sql_type(column.data_type()) {
        Some(ty) => {
            let plain = ty == SqlType::Boolean || ty.family() == saltwing_types::sql_type::TypeFamily::Number;
            (text_at(column, row, ty)?.unwrap_or_default(), plain)
        }
        None => {
            let options = FormatOptions::default();
            (ArrayFormatter::try_new(column, &options)?.value(row).to_string(), false)
        }
    };
    if plain || !quoted {
        out.push_str(&text);
    } else {
        saltwing_types::text::push_quoted(out, &text);
    }
    Ok(())
}
