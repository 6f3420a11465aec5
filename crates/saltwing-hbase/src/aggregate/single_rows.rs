//! Rows as groups of one row each, where the servers add nothing up.

use arrow::array::{Array, ArrayRef};
use saltwing_access::{
    Aggregation, PartialCall, PartialGroups, PartialSource, PartialValues, RowSource, Table, TableError, Total,
};
use saltwing_expr::value_at;
use saltwing_types::SqlType;

/// The rows of a scan, each as a group.
pub(super) struct SingleRows {
    rows: Box<dyn RowSource>,
    groups: Vec<usize>,
    calls: Vec<PartialCall>,
    /// The types of the scan's columns.
    types: Vec<SqlType>,
}

impl SingleRows {
    /// The rows of the scan of an aggregation.
    pub(super) fn new(rows: Box<dyn RowSource>, aggregation: &Aggregation<'_>) -> Self {
        let types = types_of(aggregation.spec.table(), aggregation.spec.columns());
        Self { rows, groups: aggregation.groups.to_vec(), calls: aggregation.calls.to_vec(), types }
    }

    fn values(&self, call: PartialCall, columns: &[ArrayRef], rows: usize) -> Result<PartialValues, TableError> {
        let column = |place: usize| columns.get(place).cloned().ok_or(TableError::NoSuchTable(0));
        Ok(match call {
            PartialCall::Rows => PartialValues::Counts(vec![1; rows]),
            PartialCall::Known(place) => {
                let column = column(place)?;
                PartialValues::Counts((0..rows).map(|row| u64::from(column.is_valid(row))).collect())
            }
            PartialCall::Total(place) => {
                let (column, ty) = (column(place)?, self.types.get(place).copied().unwrap_or(SqlType::Null));
                let total = |row| Ok(Total::default().with(&value_at(&column, row, ty)?, 1));
                PartialValues::Totals((0..rows).map(total).collect::<Result<_, TableError>>()?)
            }
            PartialCall::Min(place) | PartialCall::Max(place) => PartialValues::Ends(column(place)?),
        })
    }
}

impl PartialSource for SingleRows {
    fn next_groups(&mut self) -> Result<Option<PartialGroups>, TableError> {
        let Some((columns, rows)) = self.rows.next_columns()? else { return Ok(None) };
        let groups = self.groups.iter().filter_map(|place| columns.get(*place).cloned()).collect();
        let calls = self.calls.iter().map(|call| self.values(*call, &columns, rows)).collect::<Result<_, _>>()?;
        Ok(Some(PartialGroups { rows, groups, calls }))
    }
}

/// The types of columns, by index.
pub(super) fn types_of(table: &Table, columns: &[usize]) -> Vec<SqlType> {
    columns.iter().map(|&column| table.column_type(column)).collect()
}
