//! The change of one row as it is sent to a server that writes each row by itself.

use std::sync::Arc;

use saltwing_access::{OldRow, Table, TableError};
use saltwing_types::{TableId, Value};

use crate::rows::{Place, StoredRow, value};

/// What a statement has read of a row: it must still be so.
#[derive(Clone, Debug)]
pub(crate) enum Demand {
    Nothing,
    Absent,
    /// A value for each column.
    Equal(Vec<Value>),
}

impl Demand {
    pub(crate) fn of(old: OldRow<'_>) -> Self {
        match old {
            OldRow::Unknown => Self::Nothing,
            OldRow::Absent => Self::Absent,
            OldRow::Present(row) => Self::Equal(row.to_vec()),
        }
    }

    fn is_met(&self, table: &Table, key: &[u8], row: Option<&StoredRow>) -> Result<bool, TableError> {
        match (self, row) {
            (Self::Nothing, _) | (Self::Absent, None) => Ok(true),
            (Self::Absent, Some(_)) | (Self::Equal(_), None) => Ok(false),
            (Self::Equal(old), Some(row)) => {
                for (column, old) in old.iter().enumerate() {
                    if value(table, column, key, row)? != *old {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }
}

/// What is written.
#[derive(Clone, Debug)]
pub(crate) enum Write {
    /// The row whole.
    Whole(Arc<StoredRow>),
    /// Some of its columns.
    Some(i64, Vec<(Place, Value)>),
    /// It is deleted.
    Nothing,
}

/// The change of a row.
#[derive(Clone, Debug)]
pub(crate) struct RowWrite {
    pub(crate) table: TableId,
    pub(crate) key: Vec<u8>,
    pub(crate) demand: Demand,
    pub(crate) write: Write,
}

/// Why a row was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It is not as the statement has read it.
    Conflict,
    /// The table has another definition, or is gone.
    Definition,
    /// The stored row cannot be read.
    Damaged,
}

impl RowWrite {
    /// This change and a later one of the same row as one: it demands what this one demands.
    pub(crate) fn then(self, later: Self) -> Self {
        let write = match (self.write, later.write) {
            (Write::Whole(row), Write::Some(written_ms, cells)) => {
                Write::Whole(Arc::new(StoredRow::clone(&row).with(written_ms, &cells)))
            }
            (Write::Some(_, mut cells), Write::Some(written_ms, later)) => {
                cells.retain(|(place, _)| !later.iter().any(|(of, _)| of == place));
                cells.extend(later);
                Write::Some(written_ms, cells)
            }
            (Write::Nothing, Write::Some(written_ms, cells)) => Write::Whole(Arc::new(StoredRow { written_ms, cells })),
            (_, later) => later,
        };
        Self { write, ..self }
    }

    /// The row after the change, `None` if there is none, over the stored one.
    pub(crate) fn result(
        &self,
        table: &Table,
        old: Option<Arc<StoredRow>>,
        now_ms: i64,
    ) -> Result<Option<Arc<StoredRow>>, Refused> {
        let is_alive = |row: &Arc<StoredRow>| table.expired_ms(now_ms).is_none_or(|limit| row.written_ms > limit);
        let old = old.filter(is_alive);
        match self.demand.is_met(table, &self.key, old.as_deref()) {
            Err(_) => Err(Refused::Damaged),
            Ok(false) => Err(Refused::Conflict),
            Ok(true) => Ok(self.written(table, old)),
        }
    }

    fn written(&self, table: &Table, old: Option<Arc<StoredRow>>) -> Option<Arc<StoredRow>> {
        match (&self.write, old) {
            (Write::Nothing, _) => None,
            (Write::Whole(row), _) => Some(row.clone()),
            (Write::Some(written_ms, cells), Some(old)) => {
                Some(Arc::new(StoredRow::clone(&old).with(*written_ms, cells)))
            }
            // A column without a cell would have the value of rows that are older than the column.
            (Write::Some(written_ms, cells), None) => {
                let columns = table.def().columns.iter();
                let nulls = columns.filter_map(|column| Some(((column.family?, column.slot), Value::Null))).collect();
                Some(Arc::new(StoredRow { written_ms: *written_ms, cells: nulls }.with(*written_ms, cells)))
            }
        }
    }
}
