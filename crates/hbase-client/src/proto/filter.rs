//! Filters and comparators: a class's name beside the bytes of its message.

use bytes::Bytes;
use prost::{Enumeration, Message};

use super::base::CompareType;

/// A filter: the name of its Java class, and the bytes of its message.
#[derive(Clone, PartialEq, Message)]
pub struct Filter {
    #[prost(string, required, tag = "1")]
    pub name: String,
    #[prost(bytes = "bytes", optional, tag = "2")]
    pub serialized_filter: Option<Bytes>,
}

/// A comparator: the name of its Java class, and the bytes of its message.
#[derive(Clone, PartialEq, Message)]
pub struct Comparator {
    #[prost(string, required, tag = "1")]
    pub name: String,
    #[prost(bytes = "bytes", optional, tag = "2")]
    pub serialized_comparator: Option<Bytes>,
}

/// The value of a comparator.
#[derive(Clone, PartialEq, Message)]
pub struct ByteArrayComparable {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub value: Option<Bytes>,
}

/// Compares all bytes.
#[derive(Clone, PartialEq, Message)]
pub struct BinaryComparator {
    #[prost(message, required, tag = "1")]
    pub comparable: ByteArrayComparable,
}

/// Compares as many bytes as the given value has.
#[derive(Clone, PartialEq, Message)]
pub struct BinaryPrefixComparator {
    #[prost(message, required, tag = "1")]
    pub comparable: ByteArrayComparable,
}

/// Is equal to a value that is absent.
#[derive(Clone, PartialEq, Message)]
pub struct NullComparator {}

/// Looks for a text, in any case of letters.
#[derive(Clone, PartialEq, Message)]
pub struct SubstringComparator {
    #[prost(string, required, tag = "1")]
    pub substr: String,
}

/// How a list combines its filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum FilterListOperator {
    MustPassAll = 1,
    MustPassOne = 2,
}

/// Several filters in one.
#[derive(Clone, PartialEq, Message)]
pub struct FilterList {
    #[prost(enumeration = "FilterListOperator", required, tag = "1")]
    pub operator: i32,
    #[prost(message, repeated, tag = "2")]
    pub filters: Vec<Filter>,
}

/// A range of row keys.
#[derive(Clone, PartialEq, Message)]
pub struct RowRange {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub start_row: Option<Bytes>,
    #[prost(bool, optional, tag = "2")]
    pub start_row_inclusive: Option<bool>,
    #[prost(bytes = "bytes", optional, tag = "3")]
    pub stop_row: Option<Bytes>,
    #[prost(bool, optional, tag = "4")]
    pub stop_row_inclusive: Option<bool>,
}

/// Rows in any of several ranges.
#[derive(Clone, PartialEq, Message)]
pub struct MultiRowRangeFilter {
    #[prost(message, repeated, tag = "1")]
    pub row_range_list: Vec<RowRange>,
}

/// The first cell of each row alone.
#[derive(Clone, PartialEq, Message)]
pub struct FirstKeyOnlyFilter {}

/// Cells without their values; with `len_as_val` the value is the length as four bytes.
#[derive(Clone, PartialEq, Message)]
pub struct KeyOnlyFilter {
    #[prost(bool, required, tag = "1")]
    pub len_as_val: bool,
}

/// At most `page_size` rows of each region.
#[derive(Clone, PartialEq, Message)]
pub struct PageFilter {
    #[prost(int64, required, tag = "1")]
    pub page_size: i64,
}

/// Rows whose keys begin so.
#[derive(Clone, PartialEq, Message)]
pub struct PrefixFilter {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub prefix: Option<Bytes>,
}

/// Rows of which one column compares so with a value.
#[derive(Clone, PartialEq, Message)]
pub struct SingleColumnValueFilter {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub column_family: Option<Bytes>,
    #[prost(bytes = "bytes", optional, tag = "2")]
    pub column_qualifier: Option<Bytes>,
    #[prost(enumeration = "CompareType", required, tag = "3")]
    pub compare_op: i32,
    #[prost(message, required, tag = "4")]
    pub comparator: Comparator,
    #[prost(bool, optional, tag = "5")]
    pub filter_if_missing: Option<bool>,
    #[prost(bool, optional, tag = "6")]
    pub latest_version_only: Option<bool>,
}
