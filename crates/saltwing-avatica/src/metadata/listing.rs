//! Rows of metadata, with their columns.

use saltwing::{ResultColumn, SqlType, Value};

/// The answer to a call for metadata.
pub(crate) struct Listing {
    pub(crate) columns: Vec<ResultColumn>,
    pub(crate) rows: Vec<Vec<Value>>,
}

/// A column's label and type.
pub(crate) type Column = (&'static str, SqlType);

/// Text of any length.
pub(crate) const TEXT: SqlType = SqlType::Varchar(None);
/// A number of JDBC.
pub(crate) const INT: SqlType = SqlType::Integer;
/// A small number of JDBC.
pub(crate) const SHORT: SqlType = SqlType::SmallInt;
/// A truth value.
pub(crate) const BOOL: SqlType = SqlType::Boolean;

impl Listing {
    /// These rows, each with a value for each column.
    pub(crate) fn new(columns: &[Column], rows: Vec<Vec<Value>>) -> Self {
        debug_assert!(rows.iter().all(|row| row.len() == columns.len()), "a row has a value for each column");
        let column = |(label, ty): &Column| ResultColumn { label: (*label).to_owned(), ty: *ty, nullable: true };
        Self { columns: columns.iter().map(column).collect(), rows }
    }
}

/// A text that may be absent.
pub(crate) fn text(text: Option<&str>) -> Value {
    text.map_or(Value::Null, Value::text)
}

/// A number that 0 stands for the absence of.
pub(crate) fn nonzero(number: u32) -> Value {
    if number == 0 { Value::Null } else { Value::Int(number.into()) }
}

/// `YES` or `NO`.
pub(crate) fn yes_or_no(is_so: bool) -> Value {
    Value::text(if is_so { "YES" } else { "NO" })
}
