//! SingleColumnValueFilter.

use hbase_client::cell::Cell;
use hbase_client::proto::{self, CompareType};

use super::comparator::{Comparator, holds};
use crate::exception::Exception;

/// Rows of which one column compares so. A column that the scan does not read is missing.
#[derive(Clone, Debug)]
pub(crate) struct ColumnFilter {
    message: proto::SingleColumnValueFilter,
    comparator: Comparator,
    /// Whether the column was there, and as it should be.
    found: Option<bool>,
}

impl ColumnFilter {
    pub(crate) fn new(message: proto::SingleColumnValueFilter) -> Result<Self, Exception> {
        let comparator = Comparator::decode(&message.comparator)?;
        Ok(Self { message, comparator, found: None })
    }

    pub(crate) fn reset(&mut self) {
        self.found = None;
    }

    /// Whether a cell is left out, because its row is.
    pub(crate) fn drops_cell(&mut self, cell: &Cell) -> bool {
        let is_column = self.message.column_family.as_deref().unwrap_or_default() == cell.family()
            && self.message.column_qualifier.as_deref().unwrap_or_default() == cell.qualifier();
        if is_column && self.found.is_none() {
            let relation = CompareType::try_from(self.message.compare_op).unwrap_or(CompareType::NoOp);
            // The relation is that of the cell to the value.
            self.found = Some(holds(relation, self.comparator.compare(cell.value()).reverse()));
        }
        // Without this word the cells come, and the row is left out at its end.
        self.found == Some(false) && self.message.latest_version_only == Some(true)
    }

    pub(crate) fn drops_row(&self) -> bool {
        match self.found {
            Some(holds) => !holds,
            None => self.message.filter_if_missing == Some(true),
        }
    }
}
