//! Results with text columns.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use saltwing_bind::ResultColumn;
use saltwing_exec::select::result_schema;
use saltwing_types::SqlType;
use saltwing_types::like::LikePattern;

use crate::Error;
use crate::outcome::RowsOutcome;

/// A row of texts: `None` is NULL.
pub(crate) type TextRow = Vec<Option<String>>;

/// The text columns of a result.
pub(crate) fn text_columns(labels: &[&str]) -> Vec<ResultColumn> {
    let column = |label: &&str| ResultColumn { label: (*label).into(), ty: SqlType::Varchar(None), nullable: true };
    labels.iter().map(column).collect()
}

/// A result with text columns and these rows.
pub(crate) fn text_rows(columns: Vec<ResultColumn>, rows: &[TextRow]) -> Result<RowsOutcome, Error> {
    let column = |i: usize| -> ArrayRef {
        Arc::new(rows.iter().map(|row| row.get(i).and_then(Option::as_deref)).collect::<StringArray>())
    };
    let arrays = (0..columns.len()).map(column).collect();
    ready(columns, arrays)
}

/// A complete result with these columns.
pub(crate) fn ready(columns: Vec<ResultColumn>, arrays: Vec<ArrayRef>) -> Result<RowsOutcome, Error> {
    let batch = RecordBatch::try_new(result_schema(&columns), arrays).map_err(saltwing_access::TableError::from)?;
    Ok(RowsOutcome::ready(columns.into(), batch))
}

/// The pattern of a LIKE after SHOW.
pub(crate) fn pattern(like: Option<&str>) -> Result<Option<LikePattern>, Error> {
    Ok(like.map(|pattern| LikePattern::parse(pattern, None, true)).transpose()?)
}
