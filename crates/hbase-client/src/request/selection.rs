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
