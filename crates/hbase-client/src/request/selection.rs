//! Which cells of a row are read.

use bytes::Bytes;

use super::filter::Filter;
use crate::proto::{Column, NameBytesPair, TimeRange};

/// Which cells of a row are read. Without columns all of them are.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Selection {
    pub(super) columns: Vec<Column>,
    pub(super) filter: Option<Filter>,
    pub(super) time_range: Option<TimeRange>,
    pub(super) versions: Option<u32>,
    pub(super) attributes: Vec<NameBytesPair>,
}

impl Selection {
    pub(super) fn add_family(&mut self, family: Bytes) {
        match self.columns.iter_mut().find(|column| column.family == family) {
            // No qualifiers are all of them.
            Some(column) => column.qualifier.clear(),
            None => self.columns.push(Column { family, qualifier: Vec::new() }),
        }
    }

    pub(super) fn add_column(&mut self, family: Bytes, qualifier: Bytes) {
        match self.columns.iter_mut().find(|column| column.family == family) {
            Some(column) => column.qualifier.push(qualifier),
            None => self.columns.push(Column { family, qualifier: vec![qualifier] }),
        }
    }

    pub(super) fn add_attribute(&mut self, name: impl Into<String>, value: Bytes) {
        self.attributes.push(NameBytesPair { name: name.into(), value: Some(value) });
    }
}

/// The methods of a request with a field `selection`, which choose what it reads.
macro_rules! selection_methods {
    () => {
        /// Reads the columns of this family, beside those that are named otherwise.
        #[must_use]
        pub fn family(mut self, family: impl Into<bytes::Bytes>) -> Self {
            self.selection.add_family(family.into());
            self
        }

        /// Reads this column, beside those that are named otherwise.
        #[must_use]
        pub fn column(mut self, family: impl Into<bytes::Bytes>, qualifier: impl Into<bytes::Bytes>) -> Self {
            self.selection.add_column(family.into(), qualifier.into());
            self
        }

        /// Rows and cells that the filter leaves.
        #[must_use]
        pub fn filter(mut self, filter: crate::request::Filter) -> Self {
            self.selection.filter = Some(filter);
            self
        }

        /// Cells whose times are in this range, in milliseconds; its end is excluded.
        #[must_use]
        pub fn time_range(mut self, times: std::ops::Range<u64>) -> Self {
            self.selection.time_range = Some(crate::proto::TimeRange { from: Some(times.start), to: Some(times.end) });
            self
        }

        /// At most `versions_max` versions of each column, the newest first.
        #[must_use]
        pub fn versions(mut self, versions_max: u32) -> Self {
            self.selection.versions = Some(versions_max);
            self
        }

        /// An attribute, which coprocessors read.
        #[must_use]
        pub fn attribute(mut self, name: impl Into<String>, value: impl Into<bytes::Bytes>) -> Self {
            self.selection.add_attribute(name, value.into());
            self
        }
    };
}
pub(super) use selection_methods;
