//! What became of the rows of a commit, on a store that writes each row by itself.

use crate::TableError;

/// Counts the rows of a commit by their outcomes.
#[derive(Debug, Default)]
pub struct RowOutcomes {
    written: u64,
    refused: u64,
    unknown: u64,
    /// The first error of a row.
    first: Option<TableError>,
}

impl RowOutcomes {
    /// Rows were written.
    pub fn written(&mut self, rows: usize) {
        self.written += rows as u64;
    }

    /// Rows were not written, for this reason.
    pub fn refused(&mut self, rows: usize, reason: TableError) {
        self.refused += rows as u64;
        self.first.get_or_insert(reason);
    }

    /// Rows were sent, and nobody knows whether they are written.
    pub fn unknown(&mut self, rows: usize, reason: TableError) {
        self.unknown += rows as u64;
        self.first.get_or_insert(reason);
    }

    /// The outcome of the commit.
    ///
    /// # Errors
    /// The first error of a row if no row is written, or if there is one row: what it means of the row, it means of the commit. Else
    /// [`TableError::PartlyWritten`].
    pub fn result(self) -> Result<(), TableError> {
        let Self { written, refused, unknown, first } = self;
        match first {
            None => Ok(()),
            Some(first) if written == 0 && unknown == 0 || written + refused + unknown == 1 => Err(first),
            Some(first) => Err(TableError::PartlyWritten { written, refused, unknown, first: Box::new(first) }),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;
    use saltwing_types::ErrorCode;

    use super::*;
    use crate::{StorageCause, StorageError};

    fn conflict(key: usize) -> TableError {
        TableError::Conflict { table: "t".into(), key: key.to_string() }
    }

    fn lost() -> TableError {
        StorageError::new(StorageCause::CommitUnknown, std::io::Error::other("no answer")).into()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 4))]
        #[test]
        fn a_commit_that_wrote_nothing_may_be_tried_again_and_no_other_one(kinds in prop::collection::vec(0..3, 0..6)) {
            let mut outcomes = RowOutcomes::default();
            for (row, kind) in kinds.iter().enumerate() {
                match kind {
                    0 => outcomes.written(1),
                    1 => outcomes.refused(1, conflict(row)),
                    _ => outcomes.unknown(1, lost()),
                }
            }
            let count = |kind| kinds.iter().filter(|of| **of == kind).count() as u64;
            let (all, refused) = (kinds.len() as u64, count(1));
            match outcomes.result() {
                Ok(()) => prop_assert_eq!(count(0), all),
                Err(error @ TableError::Conflict { .. }) => {
                    prop_assert_eq!((refused, error.rows_written()), (all, 0));
                    let first = conflict(0);
                    prop_assert_eq!(error.to_string(), first.to_string());
                }
                Err(error @ TableError::Storage(_)) => prop_assert_eq!((all, error.code()), (1, ErrorCode::CommitUnknown)),
                Err(error) => {
                    let code = if count(2) > 0 { ErrorCode::CommitUnknown } else { ErrorCode::Conflict };
                    prop_assert_eq!((error.code(), error.rows_written()), (code, count(0)));
                    prop_assert!(count(0) > 0 || count(2) > 0);
                }
            }
        }
    }

    #[test]
    fn an_outcome_reads_as_a_sentence() {
        let mut outcomes = RowOutcomes::default();
        outcomes.written(3);
        outcomes.refused(1, conflict(7));
        outcomes.unknown(2, lost());
        assert_eq!(
            outcomes.result().unwrap_err().to_string(),
            "of 6 rows, 3 are written, 1 is not written, 2 are written or not, which is unknown: another transaction wrote the row (7) of t first"
        );
    }
}
