//! A row to read.

use bytes::Bytes;

use super::filter::Filter;
use super::selection::Selection;
use crate::cell::ROW_BYTES_MAX;
use crate::error::Error;
use crate::proto::{self, TimeRange};
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

    /// Reads the columns of this family, beside those that are named otherwise.
    #[must_use]
    pub fn family(mut self, family: impl Into<Bytes>) -> Self {
        self.selection.add_family(family.into());
        self
    }

    /// Reads this column, beside those that are named otherwise.
    #[must_use]
    pub fn column(mut self, family: impl Into<Bytes>, qualifier: impl Into<Bytes>) -> Self {
        self.selection.add_column(family.into(), qualifier.into());
        self
    }

    /// Cells that the filter leaves.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.selection.filter = Some(filter);
        self
    }

    /// Cells whose times are in this range, in milliseconds; its end is excluded.
    #[must_use]
    pub fn time_range(mut self, times: std::ops::Range<u64>) -> Self {
        self.selection.time_range = Some(TimeRange { from: Some(times.start), to: Some(times.end) });
        self
    }

    /// So many versions of each column, the newest first.
    #[must_use]
    pub fn versions(mut self, versions_max: u32) -> Self {
        self.selection.versions = Some(versions_max);
        self
    }

    /// An attribute, which coprocessors read.
    #[must_use]
    pub fn attribute(mut self, name: impl Into<String>, value: impl Into<Bytes>) -> Self {
        self.selection.add_attribute(name, value.into());
        self
    }

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
