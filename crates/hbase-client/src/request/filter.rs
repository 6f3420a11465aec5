//! Filters: conditions that the servers evaluate.

use std::ops::{Bound, RangeBounds};

use bytes::Bytes;
use prost::Message;

use crate::proto::{
    self, BinaryComparator, BinaryPrefixComparator, ByteArrayComparable, CompareType, FilterList, FilterListOperator,
    FirstKeyOnlyFilter, KeyOnlyFilter, MultiRowRangeFilter, NullComparator, PageFilter, PrefixFilter,
    SingleColumnValueFilter, SubstringComparator,
};

const FILTERS: &str = "org.apache.hadoop.hbase.filter.";

/// A condition on rows or cells that the servers evaluate: a Java class and the bytes of its message.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    message: proto::Filter,
    /// Whether it has a range of rows without an end, with which servers lose rows of reversed scans.
    has_endless_range: bool,
}

/// A value with which a filter or a condition compares.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparator(pub(super) proto::Comparator);

/// A range of row keys. An empty bound is none.
#[derive(Clone, Debug, PartialEq)]
pub struct RowRange(proto::RowRange);

impl RowRange {
    /// The row keys of a range, such as `"a".."b"` as bytes.
    pub fn new<K: AsRef<[u8]>>(rows: impl RangeBounds<K>) -> Self {
        let bound = |bound: Bound<&K>| match bound {
            Bound::Included(key) => (Some(Bytes::copy_from_slice(key.as_ref())), true),
            Bound::Excluded(key) => (Some(Bytes::copy_from_slice(key.as_ref())), false),
            Bound::Unbounded => (None, true),
        };
        let (start_row, start_inclusive) = bound(rows.start_bound());
        let (stop_row, stop_inclusive) = bound(rows.end_bound());
        let (start_row_inclusive, stop_row_inclusive) = (Some(start_inclusive), Some(stop_inclusive));
        Self(proto::RowRange { start_row, start_row_inclusive, stop_row, stop_row_inclusive })
    }
}

impl Filter {
    /// A filter by the name of its Java class and the bytes of its message.
    pub fn raw(class: impl Into<String>, message: impl Into<Bytes>) -> Self {
        let message = proto::Filter { name: class.into(), serialized_filter: Some(message.into()) };
        Self { message, has_endless_range: false }
    }

    fn of_hbase(class: &str, message: &impl Message) -> Self {
        Self::raw(format!("{FILTERS}{class}"), message.encode_to_vec())
    }

    /// The rows in any of these ranges. Servers want at least one range, and merge those that overlap.
    ///
    /// In a reversed scan each range must have an end: with a range that has none, servers (HBase 2.6.1) leave out the rows of
    /// all ranges before it, without an error. This client refuses such a scan.
    pub fn row_ranges(ranges: impl IntoIterator<Item = RowRange>) -> Self {
        let row_range_list: Vec<_> = ranges.into_iter().map(|range| range.0).collect();
        let is_endless = |range: &proto::RowRange| range.stop_row.as_ref().is_none_or(Bytes::is_empty);
        let has_endless_range = row_range_list.iter().any(is_endless);
        let filter = Self::of_hbase("MultiRowRangeFilter", &MultiRowRangeFilter { row_range_list });
        Self { has_endless_range, ..filter }
    }

    /// At most `rows_max` rows of each region: a scan over several regions gives more, if [`Scan::limit`](super::Scan::limit) does not
    /// bound it as well.
    pub fn page(rows_max: i64) -> Self {
        Self::of_hbase("PageFilter", &PageFilter { page_size: rows_max })
    }

    /// Cells without their values.
    pub fn key_only() -> Self {
        Self::of_hbase("KeyOnlyFilter", &KeyOnlyFilter { len_as_val: false })
    }

    /// The first cell of each row.
    pub fn first_key_only() -> Self {
        Self::of_hbase("FirstKeyOnlyFilter", &FirstKeyOnlyFilter {})
    }

    /// The rows whose keys begin so. A scan starts at its start row nevertheless: give it the prefix, too.
    pub fn prefix(prefix: impl Into<Bytes>) -> Self {
        Self::of_hbase("PrefixFilter", &PrefixFilter { prefix: Some(prefix.into()) })
    }

    /// What all of the filters leave.
    pub fn all(filters: impl IntoIterator<Item = Filter>) -> Self {
        Self::list(FilterListOperator::MustPassAll, filters)
    }

    /// What any of the filters leaves.
    pub fn any(filters: impl IntoIterator<Item = Filter>) -> Self {
        Self::list(FilterListOperator::MustPassOne, filters)
    }

    fn list(operator: FilterListOperator, filters: impl IntoIterator<Item = Filter>) -> Self {
        let filters: Vec<Filter> = filters.into_iter().collect();
        let has_endless_range = filters.iter().any(|filter| filter.has_endless_range);
        let filters = filters.into_iter().map(|filter| filter.message).collect();
        let list = Self::of_hbase("FilterList", &FilterList { operator: operator as i32, filters });
        Self { has_endless_range, ..list }
    }

    /// The rows whose newest value of a column compares so. Rows without the column stay if `keeps_absent`. The column must be among
    /// those that are read.
    pub fn column_value(
        family: impl Into<Bytes>,
        qualifier: impl Into<Bytes>,
        compare: CompareType,
        comparator: Comparator,
        keeps_absent: bool,
    ) -> Self {
        let message = SingleColumnValueFilter {
            column_family: Some(family.into()),
            column_qualifier: Some(qualifier.into()),
            compare_op: compare as i32,
            comparator: comparator.0,
            filter_if_missing: Some(!keeps_absent),
            latest_version_only: Some(true),
        };
        Self::of_hbase("SingleColumnValueFilter", &message)
    }

    /// The name of the Java class.
    pub fn class(&self) -> &str {
        &self.message.name
    }

    /// Whether it has a range of rows without an end.
    pub(crate) fn has_endless_range(&self) -> bool {
        self.has_endless_range
    }

    pub(crate) fn into_message(self) -> proto::Filter {
        self.message
    }
}

impl Comparator {
    /// A comparator by the name of its Java class and the bytes of its message.
    pub fn raw(class: impl Into<String>, message: impl Into<Bytes>) -> Self {
        Self(proto::Comparator { name: class.into(), serialized_comparator: Some(message.into()) })
    }

    fn of_hbase(class: &str, message: &impl Message) -> Self {
        Self::raw(format!("{FILTERS}{class}"), message.encode_to_vec())
    }

    /// Compares all bytes.
    pub fn bytes(value: impl Into<Bytes>) -> Self {
        let comparable = ByteArrayComparable { value: Some(value.into()) };
        Self::of_hbase("BinaryComparator", &BinaryComparator { comparable })
    }

    /// Compares as many bytes as the value has.
    pub fn prefix(value: impl Into<Bytes>) -> Self {
        let comparable = ByteArrayComparable { value: Some(value.into()) };
        Self::of_hbase("BinaryPrefixComparator", &BinaryPrefixComparator { comparable })
    }

    /// Is equal to a value that is absent.
    pub fn absent() -> Self {
        Self::of_hbase("NullComparator", &NullComparator {})
    }

    /// Is equal to values that contain a text, in any case of letters.
    pub fn substring(text: impl Into<String>) -> Self {
        Self::of_hbase("SubstringComparator", &SubstringComparator { substr: text.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_without_an_end_is_known_in_lists() {
        let with_end = || Filter::row_ranges([RowRange::new(&b"a"[..]..&b"b"[..]), RowRange::new(..&b"c"[..])]);
        let endless = || Filter::row_ranges([RowRange::new(&b"a"[..]..)]);
        assert!(!with_end().has_endless_range());
        assert!(endless().has_endless_range());
        assert!(Filter::any([with_end(), Filter::all([endless()])]).has_endless_range());
        assert!(!Filter::any([with_end(), Filter::page(1)]).has_endless_range());
    }
}
