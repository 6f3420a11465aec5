//! What a scan puts out and checks, made ready once for many scans.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::compute::filter;
use arrow::datatypes::{FieldRef, Schema, SchemaRef};
use saltwing_expr::Filter;
use saltwing_types::Expr;

use crate::decode::DecodedColumns;
use crate::zone_filter::ZoneFilter;
use crate::{Table, TableError};

/// The columns that scans of a table put out, and the conditions that their rows meet.
pub struct ScanShape {
    table: Arc<Table>,
    schema: SchemaRef,
    /// The columns put out, then those that only the filter needs.
    columns: DecodedColumns,
    filter: Option<Filter>,
    zones: Option<Arc<ZoneFilter>>,
}

impl ScanShape {
    /// The shape of scans that put out these columns, by index, of the rows that meet all conditions of `conditions`;
    /// [`Table::row_key_index`] is `_row_key`.
    ///
    /// # Errors
    /// A type mismatch where one is no condition.
    pub fn new(table: &Arc<Table>, columns: &[usize], conditions: Vec<Expr>) -> Result<Self, TableError> {
        let mut decoded = columns.to_vec();
        for column in conditions.iter().flat_map(Expr::columns) {
            if !decoded.contains(&column) {
                decoded.push(column);
            }
        }
        let all = table.schema().fields();
        let fields: Vec<FieldRef> = columns.iter().filter_map(|&column| all.get(column).cloned()).collect();
        let zones = ZoneFilter::new(table, &conditions).map(Arc::new);
        let filter = if conditions.is_empty() { None } else { Some(Filter::new(conditions)?) };
        let columns = DecodedColumns::new(table, &decoded);
        Ok(Self { table: table.clone(), schema: Arc::new(Schema::new(fields)), columns, filter, zones })
    }

    /// The table.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// The schema of the columns put out, named as declared.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Every column that is decoded, those put out first.
    pub(crate) fn columns(&self) -> &DecodedColumns {
        &self.columns
    }

    /// Whether rows are checked.
    pub(crate) fn is_filtered(&self) -> bool {
        self.filter.is_some()
    }

    /// Which blocks need not be read.
    pub(crate) fn zones(&self) -> Option<&Arc<ZoneFilter>> {
        self.zones.as_ref()
    }

    /// Of the decoded columns of some rows those put out, with the rows that meet the conditions, and how many these are.
    pub(crate) fn put_out(
        &self,
        mut columns: Vec<ArrayRef>,
        rows: usize,
    ) -> Result<(Vec<ArrayRef>, usize), TableError> {
        let put_out = self.schema.fields().len();
        let Some(wanted) = self.filter.as_ref().filter(|_| rows > 0) else {
            columns.truncate(put_out);
            return Ok((columns, rows));
        };
        let mut by_index: Vec<Option<ArrayRef>> = vec![None; self.table.row_key_index() + 1];
        for (column, array) in self.columns.all.iter().zip(&columns) {
            if let Some(place) = by_index.get_mut(column.index) {
                *place = Some(array.clone());
            }
        }
        let mask = wanted.mask(&by_index, rows)?;
        columns.truncate(put_out);
        let kept = mask.true_count();
        if kept < rows {
            columns = columns.iter().map(|column| filter(column, &mask)).collect::<Result<_, _>>()?;
        }
        Ok((columns, kept))
    }
}
