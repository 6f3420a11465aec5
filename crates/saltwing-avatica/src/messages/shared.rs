//! The parts that requests and responses have in common.

use bytes::Bytes;
use prost::{Enumeration, Message};

/// What every body is: the name of a message, and its bytes.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct WireMessage {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) wrapped_message: Bytes,
}

/// The settings of a connection. The two flags say whether `auto_commit` and `read_only` are given at all.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ConnectionProperties {
    #[prost(bool, tag = "1")]
    pub(crate) is_dirty: bool,
    #[prost(bool, tag = "2")]
    pub(crate) auto_commit: bool,
    #[prost(bool, tag = "3")]
    pub(crate) read_only: bool,
    #[prost(uint32, tag = "4")]
    pub(crate) transaction_isolation: u32,
    #[prost(string, tag = "5")]
    pub(crate) catalog: String,
    #[prost(string, tag = "6")]
    pub(crate) schema: String,
    #[prost(bool, tag = "7")]
    pub(crate) has_auto_commit: bool,
    #[prost(bool, tag = "8")]
    pub(crate) has_read_only: bool,
}

/// A prepared statement as its client knows it.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct StatementHandle {
    #[prost(string, tag = "1")]
    pub(crate) connection_id: String,
    #[prost(uint32, tag = "2")]
    pub(crate) id: u32,
    #[prost(message, optional, tag = "3")]
    pub(crate) signature: Option<Signature>,
}

/// The columns and parameters of a statement.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Signature {
    #[prost(message, repeated, tag = "1")]
    pub(crate) columns: Vec<ColumnMetaData>,
    #[prost(string, tag = "2")]
    pub(crate) sql: String,
    #[prost(message, repeated, tag = "3")]
    pub(crate) parameters: Vec<AvaticaParameter>,
    #[prost(message, optional, tag = "4")]
    pub(crate) cursor_factory: Option<CursorFactory>,
    #[prost(enumeration = "StatementType", tag = "5")]
    pub(crate) statement_type: i32,
}

/// A column of a result.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ColumnMetaData {
    #[prost(uint32, tag = "1")]
    pub(crate) ordinal: u32,
    #[prost(bool, tag = "2")]
    pub(crate) auto_increment: bool,
    #[prost(bool, tag = "3")]
    pub(crate) case_sensitive: bool,
    #[prost(bool, tag = "4")]
    pub(crate) searchable: bool,
    #[prost(bool, tag = "5")]
    pub(crate) currency: bool,
    /// 0 for NOT NULL, 1 for nullable, 2 for unknown.
    #[prost(uint32, tag = "6")]
    pub(crate) nullable: u32,
    #[prost(bool, tag = "7")]
    pub(crate) signed: bool,
    #[prost(uint32, tag = "8")]
    pub(crate) display_size: u32,
    #[prost(string, tag = "9")]
    pub(crate) label: String,
    #[prost(string, tag = "10")]
    pub(crate) column_name: String,
    #[prost(string, tag = "11")]
    pub(crate) schema_name: String,
    #[prost(uint32, tag = "12")]
    pub(crate) precision: u32,
    #[prost(uint32, tag = "13")]
    pub(crate) scale: u32,
    #[prost(string, tag = "14")]
    pub(crate) table_name: String,
    #[prost(string, tag = "15")]
    pub(crate) catalog_name: String,
    #[prost(bool, tag = "16")]
    pub(crate) read_only: bool,
    #[prost(bool, tag = "17")]
    pub(crate) writable: bool,
    #[prost(bool, tag = "18")]
    pub(crate) definitely_writable: bool,
    #[prost(string, tag = "19")]
    pub(crate) column_class_name: String,
    #[prost(message, optional, tag = "20")]
    pub(crate) r#type: Option<AvaticaType>,
}

/// A type of JDBC, with the form of its values.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct AvaticaType {
    /// A number of `java.sql.Types`, which may be negative there: its 32 bits.
    #[prost(uint32, tag = "1")]
    pub(crate) id: u32,
    #[prost(string, tag = "2")]
    pub(crate) name: String,
    #[prost(enumeration = "Rep", tag = "3")]
    pub(crate) rep: i32,
    #[prost(message, repeated, tag = "4")]
    pub(crate) columns: Vec<ColumnMetaData>,
    #[prost(message, optional, boxed, tag = "5")]
    pub(crate) component: Option<Box<AvaticaType>>,
}

/// A parameter of a statement.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct AvaticaParameter {
    #[prost(bool, tag = "1")]
    pub(crate) signed: bool,
    #[prost(uint32, tag = "2")]
    pub(crate) precision: u32,
    #[prost(uint32, tag = "3")]
    pub(crate) scale: u32,
    /// A number of `java.sql.Types` or of Phoenix: its 32 bits.
    #[prost(uint32, tag = "4")]
    pub(crate) parameter_type: u32,
    #[prost(string, tag = "5")]
    pub(crate) type_name: String,
    #[prost(string, tag = "6")]
    pub(crate) class_name: String,
    #[prost(string, tag = "7")]
    pub(crate) name: String,
}

/// How a client makes rows of values.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct CursorFactory {
    #[prost(enumeration = "Style", tag = "1")]
    pub(crate) style: i32,
    #[prost(string, tag = "2")]
    pub(crate) class_name: String,
    #[prost(string, repeated, tag = "3")]
    pub(crate) field_names: Vec<String>,
}

/// The styles of a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Enumeration)]
#[repr(i32)]
pub(crate) enum Style {
    Object = 0,
    Record = 1,
    RecordProjection = 2,
    Array = 3,
    List = 4,
    Map = 5,
}

/// Rows of a result that come together.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Frame {
    /// The place of the first row in the result, from 0.
    #[prost(uint64, tag = "1")]
    pub(crate) offset: u64,
    /// Whether no rows follow.
    #[prost(bool, tag = "2")]
    pub(crate) done: bool,
    #[prost(message, repeated, tag = "3")]
    pub(crate) rows: Vec<Row>,
}

/// A row.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Row {
    #[prost(message, repeated, tag = "1")]
    pub(crate) value: Vec<ColumnValue>,
}

/// A value of a row. Field 1, the form that old clients read, is never written.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ColumnValue {
    #[prost(message, repeated, tag = "2")]
    pub(crate) array_value: Vec<TypedValue>,
    #[prost(bool, tag = "3")]
    pub(crate) has_array_value: bool,
    #[prost(message, optional, tag = "4")]
    pub(crate) scalar_value: Option<TypedValue>,
}

/// A value with the form that it has in Java.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TypedValue {
    #[prost(enumeration = "Rep", tag = "1")]
    pub(crate) r#type: i32,
    #[prost(bool, tag = "2")]
    pub(crate) bool_value: bool,
    #[prost(string, tag = "3")]
    pub(crate) string_value: String,
    #[prost(sint64, tag = "4")]
    pub(crate) number_value: i64,
    #[prost(bytes = "bytes", tag = "5")]
    pub(crate) bytes_value: Bytes,
    #[prost(double, tag = "6")]
    pub(crate) double_value: f64,
    #[prost(bool, tag = "7")]
    pub(crate) null: bool,
    #[prost(message, repeated, tag = "8")]
    pub(crate) array_value: Vec<TypedValue>,
    #[prost(enumeration = "Rep", tag = "9")]
    pub(crate) component_type: i32,
    #[prost(bool, tag = "10")]
    pub(crate) implicitly_null: bool,
}

/// The forms of values in Java.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Enumeration)]
#[repr(i32)]
pub(crate) enum Rep {
    PrimitiveBoolean = 0,
    PrimitiveByte = 1,
    PrimitiveChar = 2,
    PrimitiveShort = 3,
    PrimitiveInt = 4,
    PrimitiveLong = 5,
    PrimitiveFloat = 6,
    PrimitiveDouble = 7,
    Boolean = 8,
    Byte = 9,
    Character = 10,
    Short = 11,
    Integer = 12,
    Long = 13,
    Float = 14,
    Double = 15,
    JavaSqlTime = 16,
    JavaSqlTimestamp = 17,
    JavaSqlDate = 18,
    JavaUtilDate = 19,
    ByteString = 20,
    String = 21,
    Number = 22,
    Object = 23,
    Null = 24,
    BigInteger = 25,
    BigDecimal = 26,
    Array = 27,
    Struct = 28,
    Multiset = 29,
}

/// What a statement does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Enumeration)]
#[repr(i32)]
pub(crate) enum StatementType {
    Select = 0,
    Insert = 1,
    Update = 2,
    Delete = 3,
    Upsert = 4,
    Merge = 5,
    OtherDml = 6,
    Create = 7,
    Drop = 8,
    Alter = 9,
    OtherDdl = 10,
    Call = 11,
}

/// How a result came about, so that it can be made again.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct QueryState {
    #[prost(enumeration = "StateType", tag = "1")]
    pub(crate) r#type: i32,
    #[prost(string, tag = "2")]
    pub(crate) sql: String,
    #[prost(enumeration = "MetaDataOperation", tag = "3")]
    pub(crate) op: i32,
    #[prost(message, repeated, tag = "4")]
    pub(crate) args: Vec<MetaDataOperationArgument>,
    #[prost(bool, tag = "5")]
    pub(crate) has_args: bool,
    #[prost(bool, tag = "6")]
    pub(crate) has_sql: bool,
    #[prost(bool, tag = "7")]
    pub(crate) has_op: bool,
}

/// Whether a result is that of a statement, or of a call for metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Enumeration)]
#[repr(i32)]
pub(crate) enum StateType {
    Sql = 0,
    Metadata = 1,
}

/// An argument of a call for metadata.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct MetaDataOperationArgument {
    #[prost(string, tag = "1")]
    pub(crate) string_value: String,
    #[prost(bool, tag = "2")]
    pub(crate) bool_value: bool,
    #[prost(sint32, tag = "3")]
    pub(crate) int_value: i32,
    #[prost(string, repeated, tag = "4")]
    pub(crate) string_array_values: Vec<String>,
    #[prost(sint32, repeated, tag = "5")]
    pub(crate) int_array_values: Vec<i32>,
    #[prost(enumeration = "ArgumentType", tag = "6")]
    pub(crate) r#type: i32,
}

/// The field that an argument has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Enumeration)]
#[repr(i32)]
pub(crate) enum ArgumentType {
    String = 0,
    Bool = 1,
    Int = 2,
    RepeatedString = 3,
    RepeatedInt = 4,
    Null = 5,
}

/// The calls for metadata that this server answers; it refuses the other numbers up to 25.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Enumeration)]
#[repr(i32)]
pub(crate) enum MetaDataOperation {
    /// `GET_ATTRIBUTES`: the value of a message without one.
    Attributes = 0,
    Catalogs = 2,
    Columns = 5,
    IndexInfo = 11,
    PrimaryKeys = 12,
    Schemas = 16,
    SchemasWithArgs = 17,
    Tables = 21,
    TableTypes = 22,
    TypeInfo = 23,
}
