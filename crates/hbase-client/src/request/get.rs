//! A row to read.

use bytes::Bytes;

use super::filter::Filter;
use super::selection::{Selection, selection_methods};
use crate::cell::ROW_BYTES_MAX;
use crate::error::Error;
use crate::proto;
use crate::wire_error::WireError;

/// A row to read.
#[derive(Clone, Debug, PartialEq)]
pub struct Get {
    row: Bytes,
    selection: Selection,
}

impl Get {
    /// All columns of a row, the newest version of each.
    pub fn new(row: impl Into<Bytes>) -> Self {
        Self { row: row.into(), selection: Selection::default() }
    }

    /// The row key.
    pub fn row(&self) -> &Bytes {
        &self.row
    }

    selection_methods!();

    /// Servers answer a wrong row key with an exception that asks for another try.
    ///
    /// # Errors
    /// [`Error::Request`].
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.row.len() {
            1..=ROW_BYTES_MAX => Ok(()),
            row_bytes => Err(WireError::RowLength { row_bytes }.into()),
        }
    }

    pub(crate) fn message(&self) -> proto::Get {
        let Selection { columns, filter, time_range, versions, attributes } = self.selection.clone();
        proto::Get {
            row: self.row.clone(),
            column: columns,
            attribute: attributes,
            filter: filter.map(Filter::into_message),
            time_range,
            max_versions: versions,
            ..proto::Get::default()
        }
    }
}
