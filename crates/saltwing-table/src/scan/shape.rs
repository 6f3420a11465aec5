//! The output and the filter of a scan, compiled once for many scans.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray};
use arrow::compute::filter;
use arrow::datatypes::SchemaRef;
use saltwing_access::{ScanSpec, TableError};
use saltwing_expr::Filter;
use saltwing_types::Expr;

use crate::engine::stored_table::StoredTable;
use crate::scan::conditions::Conditions;
use crate::scan::decode::DecodedColumns;

/// The columns that scans of a table put out, and the conditions that their rows meet.
pub(crate) struct ScanShape {
    table: Arc<StoredTable>,
    schema: SchemaRef,
    /// The columns put out, then those that only the rest of the filter needs.
    columns: DecodedColumns,
    conditions: Option<Arc<Conditions>>,
    /// The part of the filter that conditions do not decide.
    rest: Option<Filter>,
    /// Whether columns are read, be it for the filter alone.
    reads_columns: bool,
}

impl ScanShape {
    /// The columns and the filter of a scan, over a table's layout.
    pub(crate) fn new(table: &Arc<StoredTable>, spec: &ScanSpec) -> Result<Self, TableError> {
        let (columns, filter) = (spec.columns(), spec.filter());
        let reads_columns = !columns.is_empty() || filter.iter().any(|condition| !condition.columns().is_empty());
        let (conditions, rest) = Conditions::divide(table, filter.to_vec());
        let mut decoded = columns.to_vec();
        for column in rest.iter().flat_map(Expr::columns) {
            if !decoded.contains(&column) {
                decoded.push(column);
            }
        }
        let rest = if rest.is_empty() { None } else { Some(Filter::new(rest)?) };
        Ok(Self {
            table: table.clone(),
            schema: spec.schema().clone(),
            columns: DecodedColumns::new(table, &decoded),
            conditions: conditions.map(Arc::new),
            rest,
            reads_columns,
        })
    }

    /// The table.
    pub(crate) fn table(&self) -> &Arc<StoredTable> {
        &self.table
    }

    /// The schema of the columns put out, named as declared.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Every column that is decoded, those put out first.
    pub(crate) fn columns(&self) -> &DecodedColumns {
        &self.columns
    }

    /// Whether rows are checked.
    pub(crate) fn is_filtered(&self) -> bool {
        self.rest.is_some() || self.conditions_of_rows().is_some()
    }

    /// Whether rows can be summed without decoding them: conditions decide the whole filter. It says nothing about the
    /// columns.
    pub(crate) fn is_decided_early(&self) -> bool {
        self.rest.is_none()
    }

    /// Whether columns are read, be it for the filter alone.
    pub(crate) fn reads_columns(&self) -> bool {
        self.reads_columns
    }

    /// The conditions that blocks' summaries may rule out.
    pub(crate) fn conditions(&self) -> Option<&Arc<Conditions>> {
        self.conditions.as_ref()
    }

    /// The conditions, if any of them tests rows.
    pub(crate) fn conditions_of_rows(&self) -> Option<&Arc<Conditions>> {
        self.conditions().filter(|conditions| conditions.are_of_rows())
    }

    /// Of the decoded columns of some rows those put out, with the rows that meet the rest of the filter, and how many these are.
    /// Of the rows at `unknown` it is known that they do not meet all of it.
    pub(crate) fn put_out(
        &self,
        mut columns: Vec<ArrayRef>,
        rows: usize,
        unknown: &[usize],
    ) -> Result<(Vec<ArrayRef>, usize), TableError> {
        let put_out = self.schema.fields().len();
        let Some(rest) = self.rest.as_ref().filter(|_| rows > 0) else {
            columns.truncate(put_out);
            return Ok((columns, rows));
        };
        let mut by_index: Vec<Option<ArrayRef>> = vec![None; self.table.width()];
        for (column, array) in self.columns.all.iter().zip(&columns) {
            if let Some(place) = by_index.get_mut(column.index) {
                *place = Some(array.clone());
            }
        }
        let mut mask = rest.mask(&by_index, rows)?;
        if !unknown.is_empty() {
            let mut met: Vec<bool> = mask.values().iter().collect();
            for place in unknown {
                if let Some(met) = met.get_mut(*place) {
                    *met = false;
                }
            }
            mask = BooleanArray::from(met);
        }
        columns.truncate(put_out);
        let kept = mask.true_count();
        if kept < rows {
            columns = columns.iter().map(|column| filter(column, &mask)).collect::<Result<_, _>>()?;
        }
        Ok((columns, kept))
    }
}
