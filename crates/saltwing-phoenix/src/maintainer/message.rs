//! Messages of Phoenix's index maintainers.

use prost::Message;

/// A column by its cell.
#[derive(Clone, PartialEq, Message)]
pub struct ColumnReference {
    #[prost(bytes = "vec", required, tag = "1")]
    pub family: Vec<u8>,
    #[prost(bytes = "vec", required, tag = "2")]
    pub qualifier: Vec<u8>,
}

/// A column by its name.
#[derive(Clone, PartialEq, Message)]
pub struct ColumnInfo {
    #[prost(string, optional, tag = "1")]
    pub family: Option<String>,
    #[prost(string, required, tag = "2")]
    pub name: String,
}

/// A part of bytes; here always all of them.
#[derive(Clone, PartialEq, Message)]
pub struct ByteSlice {
    #[prost(bytes = "vec", required, tag = "1")]
    pub bytes: Vec<u8>,
    #[prost(int32, required, tag = "2")]
    pub offset: i32,
    #[prost(int32, required, tag = "3")]
    pub length: i32,
}

/// How one index follows from the rows of its table.
#[derive(Clone, PartialEq, Message)]
pub struct IndexMaintainer {
    #[prost(int32, required, tag = "1")]
    pub salt_buckets: i32,
    #[prost(bool, required, tag = "2")]
    pub multi_tenant: bool,
    /// The value columns in the index's key.
    #[prost(message, repeated, tag = "4")]
    pub indexed_columns: Vec<ColumnReference>,
    #[prost(int32, repeated, packed = "false", tag = "5")]
    pub indexed_types: Vec<i32>,
    /// The other columns of the index: cells of rows, and cells of entries.
    #[prost(message, repeated, tag = "6")]
    pub covered_in_rows: Vec<ColumnReference>,
    #[prost(message, repeated, tag = "7")]
    pub covered_in_entries: Vec<ColumnReference>,
    #[prost(bool, required, tag = "8")]
    pub is_local: bool,
    #[prost(bytes = "vec", required, tag = "9")]
    pub index_table: Vec<u8>,
    #[prost(bool, required, tag = "10")]
    pub row_key_order_optimizable: bool,
    #[prost(bytes = "vec", required, tag = "11")]
    pub empty_family_of_rows: Vec<u8>,
    #[prost(message, required, tag = "12")]
    pub empty_family_of_entries: ByteSlice,
    /// The value columns in the key as expressions.
    #[prost(bytes = "vec", optional, tag = "13")]
    pub indexed_expressions: Option<Vec<u8>>,
    #[prost(bytes = "vec", required, tag = "14")]
    pub row_key_metadata: Vec<u8>,
    #[prost(int32, required, tag = "15")]
    pub families_of_table: i32,
    #[prost(bool, required, tag = "16")]
    pub wal_disabled: bool,
    #[prost(int32, required, tag = "17")]
    pub key_bytes_expected: i32,
    #[prost(bool, required, tag = "18")]
    pub immutable: bool,
    #[prost(message, repeated, tag = "19")]
    pub indexed_names: Vec<ColumnInfo>,
    #[prost(int32, required, tag = "20")]
    pub qualifiers: i32,
    #[prost(int32, required, tag = "21")]
    pub storage: i32,
    /// With the salt of the table.
    #[prost(int32, optional, tag = "23")]
    pub key_columns_of_table: Option<i32>,
    #[prost(string, optional, tag = "24")]
    pub parent_type: Option<String>,
    #[prost(string, optional, tag = "25")]
    pub logical_name: Option<String>,
    #[prost(int32, optional, tag = "26")]
    pub qualifiers_of_table: Option<i32>,
    #[prost(int32, optional, tag = "27")]
    pub storage_of_table: Option<i32>,
    #[prost(bool, optional, tag = "28")]
    pub is_uncovered: Option<bool>,
}
