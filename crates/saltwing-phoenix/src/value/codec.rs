//! One value as the bytes of a cell and back: its type is chosen once.

use saltwing_rowkey::ValueCodec;
use saltwing_types::{SortOrder, SqlType, Value};

use super::array::ArrayCodec;
use super::error::{BadCell, CellTypeError, CellValueError};

/// Encodes and decodes the values of one type as cells of a value column.
///
/// A value has the bytes that it has in an ascending key column, without a separator: also in a table whose key is
/// descending. What differs from keys:
///
/// | value | bytes |
/// |---|---|
/// | NULL of any type | none |
/// | a text, bytes or an array that is empty | none: Phoenix reads NULL |
/// | an array of elements that vary in width | an element may hold 00 anywhere but in front |
/// | JSON | the text as it is |
///
/// # Laws
/// 1. `decode(encode(v))` is `v`, but for empty values (NULL), CHAR's trailing blanks (dropped), BINARY's padding (filled
///    up) and -0.0 (stored as 0.0).
/// 2. Any bytes give a value or an error, never a panic; memory is linear in their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellCodec {
    ty: SqlType,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// As in an ascending key column.
    Key(ValueCodec),
    /// An array whose elements have offsets.
    Array(ArrayCodec),
    /// UTF-8.
    Text,
}

impl CellCodec {
    /// A codec of one type.
    ///
    /// # Errors
    /// [`CellTypeError`] for a type that Phoenix has not: NULL, UUID, INTERVAL, a CHAR or BINARY of no width, arrays of these
    /// and of JSON.
    pub fn new(ty: SqlType) -> Result<Self, CellTypeError> {
        let form = match (ty, ty.element()) {
            (SqlType::Null | SqlType::Uuid | SqlType::Interval | SqlType::Opaque, _) => return Err(CellTypeError(ty)),
            (SqlType::Json, _) => Form::Text,
            (_, Some(SqlType::Json)) => return Err(CellTypeError(ty)),
            (_, Some(element)) => {
                Self::new(element).map_err(|_| CellTypeError(ty))?;
                match element.fixed_key_bytes() {
                    Some(_) => Form::Key(ValueCodec::new(ty, SortOrder::Asc)),
                    None => Form::Array(ArrayCodec::new(ty, element)),
                }
            }
            _ if ty.fixed_key_bytes() == Some(0) => return Err(CellTypeError(ty)),
            _ => Form::Key(ValueCodec::new(ty, SortOrder::Asc)),
        };
        Ok(Self { ty, form })
    }

    /// The type.
    pub fn sql_type(&self) -> SqlType {
        self.ty
    }

    /// Appends the bytes of a value; none for NULL and for an empty value. After an error `out` may hold a part of them.
    ///
    /// # Errors
    /// [`CellValueError`] for a value of another kind, or outside the type.
    pub fn encode(&self, value: &Value, out: &mut Vec<u8>) -> Result<(), CellValueError> {
        match (self.form, value) {
            (_, Value::Null) => Ok(()),
            // Blanks would fill up a CHAR: then it would not be NULL.
            (Form::Key(_) | Form::Text, Value::Text(text)) if text.is_empty() => Ok(()),
            (Form::Key(_), Value::Bytes(bytes)) if bytes.is_empty() => Ok(()),
            (Form::Key(codec), value) => Ok(codec.encode(value, out)?),
            (Form::Array(codec), value) => codec.encode(value, out),
            (Form::Text, Value::Text(text)) => {
                out.extend_from_slice(text.as_bytes());
                Ok(())
            }
            // The codec of texts tells what is wrong with it.
            (Form::Text, value) => Ok(ValueCodec::new(SqlType::Varchar(None), SortOrder::Asc).encode(value, out)?),
        }
    }

    /// The value of a cell.
    ///
    /// # Errors
    /// [`BadCell`] if the bytes stand for no value of the type.
    pub fn decode(&self, stored: &[u8]) -> Result<Value, BadCell> {
        match self.form {
            _ if stored.is_empty() => Ok(Value::Null),
            Form::Key(codec) => Ok(codec.decode(stored)?),
            Form::Array(codec) => codec.decode(stored),
            Form::Text => std::str::from_utf8(stored).map(Value::text).map_err(|_| BadCell::Text),
        }
    }
}
