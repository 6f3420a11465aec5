//! SELECTs whose result is small: rows of values, for which no batch is made.

use std::sync::Arc;

use saltwing_table::{RowShape, Scan};
use saltwing_types::Value;

use crate::ExecError;
use crate::totals::{TotalOutput, row_of_totals};

/// Rows up to which a result is one of values: about so many cost as much as a batch.
pub(crate) const FEW_ROWS_MAX: u64 = 64;

/// A SELECT of few rows that are not read yet.
pub struct FewRows(Reading);

enum Reading {
    /// One row of totals, and on how many threads they are added up.
    Totals(Vec<Scan>, Arc<[TotalOutput]>, usize),
    /// Rows as they stand.
    Rows(Box<Scan>, Arc<RowShape>),
}

impl FewRows {
    pub(crate) fn totals(scans: Vec<Scan>, outputs: &Arc<[TotalOutput]>, threads: usize) -> Self {
        Self(Reading::Totals(scans, outputs.clone(), threads))
    }

    pub(crate) fn rows(scan: Scan, shape: &Arc<RowShape>) -> Self {
        Self(Reading::Rows(Box::new(scan), shape.clone()))
    }

    /// Reads them: a value for each column, row after row.
    ///
    /// # Errors
    /// The scan's; a sum that does not fit.
    pub fn values(self) -> Result<Vec<Value>, ExecError> {
        match self.0 {
            Reading::Totals(scans, outputs, threads) => row_of_totals(scans, &outputs, threads),
            Reading::Rows(mut scan, shape) => Ok(scan.values(&shape)?),
        }
    }
}
